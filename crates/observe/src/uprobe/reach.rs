//! The file behind another process's mapping, whatever root and mounts that process has.

use super::entries::Home;
use super::processes::{Mapping, Processes};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// A path under which this process and the kernel find the very file that is mapped: below the other's root, through
/// `map_files` where it was deleted or replaced, or as it stands. None where the file cannot be reached.
pub fn reachable(pid: u32, mapping: &Mapping) -> Option<PathBuf> {
    let plain = mapping.path.strip_suffix(" (deleted)").unwrap_or(&mapping.path);
    let root = format!("/proc/{pid}/root");
    // maps as we read it names the mount, not the other's root: a chroot's own directory stands in front.
    let inside = fs::read_link(&root).ok().and_then(|link| {
        let rest = plain.strip_prefix(link.to_str()?)?;
        rest.starts_with('/').then(|| format!("{root}{rest}"))
    });
    let range = format!("/proc/{pid}/map_files/{:x}-{:x}", mapping.start, mapping.end);
    let places = [Some(format!("{root}{plain}")), inside, Some(range), Some(plain.to_owned())];
    places
        .into_iter()
        .flatten()
        .map(PathBuf::from)
        .find(|path| fs::metadata(path).is_ok_and(|file| file.is_file() && file.ino() == mapping.inode))
}

/// The GPU runtimes that a process has mapped, as paths of this process.
pub fn runtimes_of(pid: u32) -> Vec<PathBuf> {
    let mut processes = Processes::without();
    processes.join(pid, &mut Vec::new());
    let runtimes = processes.mapped(pid).iter().filter(|mapping| Home::of(mapping.name()).is_some_and(Home::launches));
    runtimes.filter_map(|mapping| reachable(pid, mapping)).collect()
}
