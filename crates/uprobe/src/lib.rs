//! Uprobes: sees every later launch of every process that uses a runtime's file, without entering or stopping anything.
//!
//! The probes are on the exported launch functions of the HIP and CUDA runtimes, and on the Vulkan loader. With BPF,
//! the kernel reads and counts the arguments; with perf alone, each hit contains the registers. All resources belong to
//! descriptors of this process, so nothing is left behind, regardless of how the process ends.
#![forbid(unsafe_code)]

mod bpf;
mod coverage;
mod events;
mod looked;
mod machine;
mod options;
mod probes;
mod queue;
mod target;
mod vulkan_calls;
mod watcher;

pub use crate::bpf::instrument::{Choice, Probed, Room};
pub use crate::coverage::OBSERVERS;
pub use crate::machine::CountedKernel;
pub use crate::options::{How, Options};
pub use crate::probes::arm::{Armed, PROBE_GROUP, arm, armed, disarm};
pub use crate::probes::entries::{ENTRIES, Home};
pub use crate::probes::library::{READ_LIBRARY, read_library};
pub use crate::probes::site::{Price, Site, cheapest};
pub use crate::probes::trial::trial;
pub use crate::target::mapped_file::{Reached, mapped, runtimes_of};
pub use crate::target::proc::alive;
pub use crate::target::spawn::Started;
pub use crate::watcher::Watcher;
