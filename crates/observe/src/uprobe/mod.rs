//! Uprobes: every launch of every process that uses a runtime's file, from now on, without entering or stopping anything.
//!
//! Probes sit on the exported launch functions of the HIP and CUDA runtimes. With BPF the arguments are read and counted in
//! the kernel; with perf alone the registers come along with each hit. Everything is owned by descriptors of ours, so
//! nothing is left behind however we end.

mod account;
mod ahead;
mod arm;
mod asm;
mod backend;
mod bpf;
mod btf;
mod canary;
mod cost;
mod entries;
mod equip;
mod gap;
mod held;
mod hold;
mod instrument;
mod late;
mod library;
mod memory;
mod names;
mod objects;
mod options;
mod order;
mod processes;
mod program;
mod reach;
mod sampled;
mod sampling;
mod site;
mod started;
mod stub;
mod symbols;
mod trial;
mod watcher;
mod wire;

pub use arm::{Armed, arm, armed, disarm};
pub use entries::{ENTRIES, Home};
pub use instrument::{Choice, Probed, Room};
pub use options::{How, Options};
pub use processes::alive;
pub use reach::{Reached, runtimes_of};
pub use site::{Price, Site, cheapest};
pub use started::Started;
pub(crate) use trial::trial;
pub use watcher::{Seen, Watcher};
