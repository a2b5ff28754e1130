//! How to watch.

use crate::bpf::instrument::{Choice, Room};
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct Options {
    /// Argument bytes with every launch: for a trace, not for a long watch.
    pub arguments: bool,
    pub room: Room,
    pub choice: Choice,
    /// Where tables of kernels are kept.
    pub cache: PathBuf,
    /// Hash the libraries, for the ledger.
    pub hash: bool,
    /// Without BPF: registers only, through our own or armed probes.
    pub how: How,
    /// Call a function of ours under the same probe, in a child of ours, and see whether that is seen.
    pub canary: bool,
    /// Look at what launches return, while something is new and in samples.
    pub returns: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    Bpf,
    Perf,
    /// Probes that `arm` made, opened without privilege.
    Armed,
}

impl Default for Options {
    fn default() -> Self {
        let cache = runtime::Cache::from_env().dir().to_owned();
        Options {
            arguments: false,
            room: Room::default(),
            choice: Choice::Cheapest,
            cache,
            hash: false,
            how: How::Bpf,
            canary: true,
            returns: true,
        }
    }
}
