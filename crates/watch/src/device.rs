//! Determines the device that a process launched on. The rung depends on it, so it must have been observed.
//!
//! Evidence is a device file of the runtime's vendor that the process held open or mapped while it launched. That a
//! runtime is not our stand-in proves nothing: it may be any library, on a machine without a GPU. Only this module
//! combines the evidence, separately for each process and vendor.

use crate::nodes::{Node, Unlooked, held, told};
use codeobject::ReadAt;
use evidence::DeviceKind;
use launch::trace::Held;
use say::{Message, Say, say};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

say::named! {
    /// The vendor of the runtime that a call goes through.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Maker: name {
        Amd = "amd",
        Nvidia = "nvidia",
        /// Vulkan's loader, for cards of any vendor.
        Vulkan = "vulkan",
    }
}

impl Maker {
    /// The maker by the name of the call: `cuLaunchKernel`, `cublasGemmEx`. All others belong to HIP or are built on
    /// it.
    pub fn of_call(api: &str) -> Maker {
        match api {
            _ if api.starts_with("cu") => Maker::Nvidia,
            _ if api.starts_with("vk") => Maker::Vulkan,
            _ => Maker::Amd,
        }
    }

    /// Recognises the maker by the runtime's file name.
    pub fn of_library(path: &str) -> Maker {
        match path.rsplit('/').next() {
            Some(name) if name.starts_with("libcuda") => Maker::Nvidia,
            Some(name) if name.starts_with("libvulkan.so") => Maker::Vulkan,
            _ => Maker::Amd,
        }
    }

    /// A call name for recorded launches that do not name their call, so that they count as launches through this
    /// vendor's runtime.
    pub(crate) fn recorded(self) -> &'static str {
        match self {
            Maker::Amd => "hip",
            Maker::Nvidia => "cuda",
            Maker::Vulkan => "vk",
        }
    }

    /// Whether a process needs this device file to launch on a device of this vendor. A render node alone may belong to
    /// any graphics program.
    fn needs(self, node: &Node) -> bool {
        match self {
            Maker::Amd => matches!(node, Node::Kfd | Node::Dxg),
            Maker::Nvidia => matches!(node, Node::Nvidia(_) | Node::Dxg),
            // The process dispatched through a GPU driver, which needs the card's device node.
            Maker::Vulkan => matches!(node, Node::Render(_) | Node::Nvidia(_) | Node::Dxg),
        }
    }
}

/// A device file that the process holds and can compute through. A render node alone may belong to any graphics
/// program.
pub fn compute_device(pid: u32) -> Option<String> {
    let compute = |node: &Node| Maker::Amd.needs(node) || Maker::Nvidia.needs(node);
    held(pid).ok()?.iter().find(|node| compute(node)).map(ToString::to_string)
}

/// The evidence about the device behind the launches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Device {
    /// The process held these device files while it launched.
    Real { held: BTreeSet<String> },
    /// The runtime is our stand-in, regardless of other files that the process holds.
    StandIn,
    /// The process's files were checked while it launched, and included no device file of the runtime's vendor.
    NoneSeen,
    /// The device was not checked, or the check was not possible.
    Unlooked { why: Message },
    /// Stated by a profile or a log that names the device.
    Told { device: String },
    /// A driver that computes on the CPU (lavapipe): it executes the work, but not on a GPU.
    Processor { name: String },
}

impl Device {
    pub fn kind(&self) -> DeviceKind {
        match self {
            Device::Real { .. } | Device::Told { .. } | Device::Processor { .. } => DeviceKind::Real,
            Device::StandIn => DeviceKind::StandIn,
            Device::NoneSeen | Device::Unlooked { .. } => DeviceKind::Unknown,
        }
    }

    pub fn key(&self) -> &'static str {
        match self {
            Device::Real { .. } => "real",
            Device::StandIn => "stand-in",
            Device::NoneSeen => "none-seen",
            Device::Unlooked { .. } => "unlooked",
            Device::Told { .. } => "told",
            Device::Processor { .. } => "processor",
        }
    }

    /// The observed evidence, or the reason for having none.
    pub fn detail(&self) -> Message {
        match self {
            Device::Real { held } => Message::verbatim(held.iter().cloned().collect::<Vec<_>>().join(", ")),
            Device::StandIn => Message::verbatim(""),
            Device::NoneSeen => say!("watch-device-none-open"),
            Device::Unlooked { why } => why.clone(),
            Device::Told { device } => Message::verbatim(device),
            Device::Processor { name } => Message::verbatim(name),
        }
    }
}

/// The devices of every process; 0 is a process whose id is unknown.
#[derive(Debug, Clone, Default)]
pub struct Devices {
    known: BTreeMap<(u32, Maker), Device>,
    looked: BTreeMap<(u32, Maker), Instant>,
}

/// The interval between checks of a process for which nothing was seen yet.
const PAUSE: Duration = Duration::from_millis(20);

impl Devices {
    /// Call this when a process has just launched through a runtime of this vendor.
    pub fn launched(&mut self, pid: u32, maker: Maker, stand_in: bool) {
        let at = (pid, maker);
        if stand_in {
            self.known.insert(at, Device::StandIn);
        }
        if !self.wants_look(pid, maker) {
            return;
        }
        self.looked.insert(at, Instant::now());
        self.judge(at, held(pid));
    }

    /// Like [`Self::launched`], for a launch without a process id: the process is one that we started, or a descendant.
    pub fn launched_in(&mut self, pids: impl IntoIterator<Item = u32>, maker: Maker) {
        let at = (0, maker);
        for pid in pids {
            if matches!(self.known.get(&at), Some(Device::Real { .. })) {
                return;
            }
            self.judge(at, held(pid));
        }
    }

    fn judge(&mut self, at: (u32, Maker), found: Result<Vec<Node>, Unlooked>) {
        let found = match found {
            Ok(nodes) if nodes.iter().any(|node| at.1.needs(node)) => {
                Device::Real { held: nodes.iter().map(ToString::to_string).collect() }
            }
            Ok(_) => Device::NoneSeen,
            Err(unlooked) => Device::Unlooked { why: unlooked.message() },
        };
        // The better result is kept: a later check may fail because the process has ended.
        let keep = match self.known.get(&at) {
            Some(Device::StandIn | Device::Real { .. }) => true,
            Some(Device::NoneSeen) => matches!(found, Device::Unlooked { .. }),
            _ => false,
        };
        if !keep {
            self.known.insert(at, found);
        }
    }

    /// Records the device files that the process itself reported to have held after it launched.
    pub fn held_by(&mut self, pid: u32, maker: Maker, files: &[Held]) {
        if !files.is_empty() {
            self.judge((pid, maker), Ok(told(files)));
        }
    }

    /// The process dispatched only to drivers that compute on the CPU.
    pub fn computes(&mut self, pid: u32, name: &str) {
        self.known.insert((pid, Maker::Vulkan), Device::Processor { name: name.to_owned() });
    }

    /// A process launched but cannot be checked.
    pub fn unlooked(&mut self, pid: u32, maker: Maker, why: Message) {
        self.known.entry((pid, maker)).or_insert(Device::Unlooked { why });
    }

    #[cfg(test)]
    pub(super) fn seen<const N: usize>(&mut self, pid: u32, files: [&str; N]) {
        self.known.insert((pid, Maker::Amd), Device::Real { held: files.map(str::to_owned).into() });
    }

    /// Whether another check may give more information.
    pub fn wants_look(&self, pid: u32, maker: Maker) -> bool {
        let at = (pid, maker);
        let settled = matches!(self.known.get(&at), Some(Device::StandIn | Device::Real { .. }));
        !settled && self.looked.get(&at).is_none_or(|last| last.elapsed() >= PAUSE)
    }

    /// The device recorded in a file for launches through this vendor's runtime, or that none was recorded.
    pub fn told(&mut self, maker: Maker, device: Device) {
        self.known.insert((0, maker), device);
    }

    pub fn of(&self, pid: u32, maker: Maker) -> Option<&Device> {
        self.known.get(&(pid, maker))
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, Maker, &Device)> {
        self.known.iter().map(|((pid, maker), device)| (*pid, *maker, device))
    }

    /// The combined result for all processes: the weakest of them. None without a launch.
    pub fn kind(&self) -> DeviceKind {
        let kinds: Vec<DeviceKind> = self.known.values().map(Device::kind).collect();
        let worst = [DeviceKind::StandIn, DeviceKind::Unknown, DeviceKind::Real];
        worst.into_iter().find(|kind| kinds.contains(kind)).unwrap_or(DeviceKind::None)
    }
}

/// Whether a runtime library is our stand-in, by its build id; None if it cannot be read.
pub fn is_stand_in(library: &Path) -> Option<bool> {
    let file = inventory::File::open(library).ok()?;
    let source: &dyn ReadAt = &file;
    if source.len() > 4 << 20 {
        // The stand-in is smaller than a megabyte; the real runtime has tens of megabytes and need not be read.
        return Some(false);
    }
    let bytes = source.bytes(0, source.len(), "runtime library").ok()?;
    let id = embedded_shims::build_id_of(&bytes).unwrap_or_default().to_vec();
    Some(embedded_shims::is_nullgpu(&id))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Major numbers of the kernel's list of devices: 1 is memory, 10 (misc) includes WSL's device.
    #[test]
    fn what_a_process_says_it_held_must_be_what_it_is_called() {
        let file = |major: u64, path: &str| Held { number: major << 8 | 3, path: path.to_owned() };
        let mut devices = Devices::default();
        devices.held_by(1, Maker::Amd, &[]);
        assert_eq!(devices.of(1, Maker::Amd), None, "nothing was said");
        devices.held_by(1, Maker::Amd, &[file(1, "/dev/kfd")]);
        assert_eq!(devices.of(1, Maker::Amd), Some(&Device::NoneSeen), "/dev/null under another name");
        devices.held_by(1, Maker::Amd, &[file(10, "/dev/dxg")]);
        assert_eq!(devices.of(1, Maker::Amd).map(Device::kind), Some(DeviceKind::Real));
        devices.launched(1 << 23, Maker::Amd, true);
        devices.held_by(1 << 23, Maker::Amd, &[file(10, "/dev/dxg")]);
        assert_eq!(devices.of(1 << 23, Maker::Amd), Some(&Device::StandIn), "whatever it says");
    }

    #[test]
    fn a_record_is_of_the_maker_whose_calls_it_tells() {
        for maker in [Maker::Amd, Maker::Nvidia, Maker::Vulkan] {
            assert_eq!(Maker::of_call(maker.recorded()), maker);
            let mut devices = Devices::default();
            devices.told(maker, Device::Told { device: "gfx1201".into() });
            assert_eq!(devices.iter().map(|(_, of, _)| of).collect::<Vec<_>>(), [maker], "and of no other");
        }
    }

    #[test]
    fn the_stand_in_is_known_by_its_build_id() {
        let dir = tempfile::tempdir().expect("a directory");
        let ours = dir.path().join("libamdhip64.so.6");
        std::fs::write(&ours, embedded_shims::NULLGPU_6).expect("written");
        assert_eq!(is_stand_in(&ours), Some(true));
        let other = dir.path().join("other.so");
        std::fs::write(&other, embedded_shims::PRELOAD).expect("written");
        assert_eq!(is_stand_in(&other), Some(false));
        assert_eq!(is_stand_in(&dir.path().join("none.so")), None);
    }

    #[test]
    fn a_runtime_that_is_not_ours_is_no_device() {
        let mut devices = Devices::default();
        assert_eq!(devices.kind(), DeviceKind::None, "nobody launched");
        // The test process holds no GPU, whether or not the machine has one.
        devices.launched(std::process::id(), Maker::Amd, false);
        assert_eq!(devices.of(std::process::id(), Maker::Amd), Some(&Device::NoneSeen));
        assert_eq!(devices.kind(), DeviceKind::Unknown);
        // No process has this id: pid_max is at most 2^22.
        devices.launched(1 << 23, Maker::Amd, false);
        let Some(Device::Unlooked { why }) = devices.of(1 << 23, Maker::Amd) else { panic!("{devices:?}") };
        assert_eq!(*why, say!("watch-nodes-ended"));
    }

    #[test]
    fn each_process_and_maker_has_its_own_device() {
        let mut devices = Devices::default();
        let (amd, nvidia) = (vec![Node::Kfd, Node::Render(128)], vec![Node::Nvidia(0)]);
        devices.judge((1, Maker::Amd), Ok(amd.clone()));
        assert_eq!(devices.kind(), DeviceKind::Real);
        devices.judge((1, Maker::Nvidia), Ok(amd));
        assert_eq!(devices.of(1, Maker::Nvidia), Some(&Device::NoneSeen), "an AMD card is none of CUDA's");
        devices.judge((2, Maker::Nvidia), Ok(nvidia));
        devices.judge((3, Maker::Amd), Ok(vec![Node::Render(128)]));
        assert_eq!(devices.of(3, Maker::Amd), Some(&Device::NoneSeen), "any graphics program has one open");
        devices.launched(4, Maker::Amd, true);
        assert_eq!(devices.kind(), DeviceKind::StandIn, "no better than the least");
        let Some(real) = devices.of(1, Maker::Amd) else { panic!("{devices:?}") };
        assert_eq!(
            (real.kind(), real.detail()),
            (DeviceKind::Real, Message::verbatim("/dev/dri/renderD128, /dev/kfd"))
        );
        // A device that was seen once stays known.
        devices.judge((1, Maker::Amd), Err(Unlooked::Ended));
        assert_eq!(devices.of(1, Maker::Amd).map(Device::kind), Some(DeviceKind::Real));
    }
}
