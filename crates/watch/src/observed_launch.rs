//! One launch as an observer saw it, for consumers of single launches.

use crate::{Kind, KindId};

/// One launch, call, or replay, as it was made.
#[derive(Debug)]
pub struct ObservedLaunch<'s> {
    pub time_ns: u64,
    pub pid: u32,
    pub thread: u32,
    pub kind: &'s Kind,
    /// The same for comparing kinds.
    pub id: KindId,
    pub fate: Fate,
    pub stream: u64,
    /// The capture that it was part of; 0: launched at once.
    pub graph: u32,
    /// For a replay: the executable graph.
    pub exec: Option<u64>,
    pub args: Vec<u8>,
    /// How long the device worked on it, where that was asked for and told.
    pub took_ns: Option<u64>,
}

/// The state of a launch. A refused launch does not count as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The launch was called and its result is unknown: [`Fate::Refused`] follows if it is refused and the observer sees results.
    Made,
    /// It was made and returned this; 0: it was accepted.
    Returned(u32),
    /// The last one of this kind that the thread made, which was told as made, was refused.
    Refused(u32),
    /// So many were counted besides, and not told one by one: their moments are unknown. `refused` of this kind turned out to be
    /// none, of these and of those that were told as made.
    Counted { calls: u64, refused: u64 },
}
