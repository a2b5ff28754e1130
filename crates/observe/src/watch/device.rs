//! Which device a launch went to: the rung depends on it.

use codeobject::ReadAt;
use evidence::DeviceKind;
use std::path::Path;

/// A runtime library is our stand-in if it has the stand-in's build id; anything else is taken for the real one.
pub fn runtime_kind(library: &Path) -> Option<DeviceKind> {
    let file = inventory::File::open(library).ok()?;
    let source: &dyn ReadAt = &file;
    if source.len() > 4 << 20 {
        // The stand-in is below a megabyte; the real runtime is tens of them and need not be read.
        return Some(DeviceKind::Real);
    }
    let bytes = source.bytes(0, source.len(), "runtime library").ok()?;
    let id = shims::build_id_of(&bytes).unwrap_or_default().to_vec();
    Some(if shims::is_nullgpu(&id) { DeviceKind::StandIn } else { DeviceKind::Real })
}

/// Whether a process has a GPU's device file open now; None where its descriptors cannot be read.
pub fn has_device(pid: u32) -> Option<bool> {
    const NAMES: [&str; 4] = ["/dev/kfd", "/dev/dri/renderD", "/dev/nvidia", "/dev/dxg"];
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let mut links = files.flatten().filter_map(|file| std::fs::read_link(file.path()).ok()).peekable();
    // A process that has just ended has none at all.
    links.peek()?;
    Some(links.any(|link| NAMES.iter().any(|name| link.to_string_lossy().starts_with(name))))
}

/// The device of a set of runtimes: real only if every one of them is, none where there is none.
pub fn device_of(kinds: impl IntoIterator<Item = DeviceKind>) -> DeviceKind {
    let mut found = DeviceKind::None;
    for kind in kinds {
        match kind {
            DeviceKind::StandIn => return DeviceKind::StandIn,
            DeviceKind::Real => found = DeviceKind::Real,
            DeviceKind::None => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stand_in_is_known_by_its_build_id() {
        let dir = tempfile::tempdir().expect("a directory");
        let ours = dir.path().join("libamdhip64.so.6");
        std::fs::write(&ours, shims::NULLGPU_6).expect("written");
        assert_eq!(runtime_kind(&ours), Some(DeviceKind::StandIn));
        let other = dir.path().join("other.so");
        std::fs::write(&other, shims::PRELOAD).expect("written");
        assert_eq!(runtime_kind(&other), Some(DeviceKind::Real));
        assert_eq!(device_of([DeviceKind::Real, DeviceKind::StandIn]), DeviceKind::StandIn);
        assert_eq!(device_of([]), DeviceKind::None);
    }
}
