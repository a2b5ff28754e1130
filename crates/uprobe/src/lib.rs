//! Uprobes: every launch of every process that uses a runtime's file, from now on, without entering or stopping anything.
//!
//! Probes sit on the exported launch functions of the HIP and CUDA runtimes, and on Vulkan's loader. With BPF the arguments are read and counted in
//! the kernel; with perf alone the registers come along with each hit. Everything is owned by descriptors of ours, so
//! nothing is left behind however we end.
#![forbid(unsafe_code)]

mod bpf;
mod coverage;
mod events;
mod options;
mod probes;
mod queue;
mod target;
mod vulkan_calls;
mod watcher;

pub use crate::bpf::instrument::{Choice, Probed, Room};
pub use crate::coverage::OBSERVERS;
pub use crate::options::{How, Options};
pub use crate::probes::arm::{Armed, PROBE_GROUP, arm, armed, disarm};
pub use crate::probes::entries::{ENTRIES, Home};
pub use crate::probes::site::{Price, Site, cheapest};
pub use crate::probes::trial::trial;
pub use crate::target::mapped_file::{Reached, runtimes_of};
pub use crate::target::proc::alive;
pub use crate::target::spawn::Started;
pub use crate::watcher::Watcher;
