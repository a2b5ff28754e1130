//! One launch as an observer saw it, for whoever wants each.

use crate::Kind;

/// One launch, call, or replay, as it was made.
#[derive(Debug)]
pub struct Seen<'s> {
    pub time_ns: u64,
    pub pid: u32,
    pub thread: u32,
    pub kind: &'s Kind,
    pub stream: u64,
    /// The capture that it was part of; 0: launched at once.
    pub graph: u32,
    /// For a replay: the executable graph.
    pub exec: Option<u64>,
    pub args: Vec<u8>,
    /// How long the device worked on it, where that was asked for and told.
    pub took_ns: Option<u64>,
}
