//! The options of a watch.

use crate::bpf::instrument::{Choice, Room};
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct Options {
    /// Record argument bytes with every launch: for a trace, not for a long watch.
    pub arguments: bool,
    pub room: Room,
    pub choice: Choice,
    /// The directory in which tables of kernels are cached.
    pub cache: PathBuf,
    /// Hash the libraries, for the ledger.
    pub hash: bool,
    /// How to receive hits. Without BPF: registers only, through our own or armed probes.
    pub how: How,
    /// Call our own stub function under the same probe, in a child process, and check that the call is seen.
    pub canary: bool,
    /// Check the return values of launches, while something is new and in samples.
    pub returns: bool,
    /// Watch every process that maps a runtime, and count launches regardless of their shape.
    pub machine: bool,
    /// A program that reads libraries instead of this process, whose memory then stays small: it is started with the
    /// arguments of [`crate::read_library`] and the library as its standard input.
    pub reader: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    Bpf,
    Perf,
    /// Probes created by `arm`, opened without privileges.
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
            machine: false,
            reader: None,
        }
    }
}
