//! One launch as an observer saw it, for whoever wants each.

use crate::{Kind, KindId};

/// One launch, call, or replay, as it was made.
#[derive(Debug)]
pub struct Seen<'s> {
    pub time_ns: u64,
    pub pid: u32,
    pub thread: u32,
    pub kind: &'s Kind,
    /// The same for whoever compares kinds.
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

/// What is told of a launch, and what became of it. A refused launch is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is made now, and what it will return is not known: [`Fate::Refused`] follows where it is refused and somebody looked.
    Made,
    /// It was made and returned this; 0: it was accepted.
    Returned(u32),
    /// The last one of this kind that the thread made, which was told as made, was refused.
    Refused(u32),
    /// So many were counted besides, and not told one by one: their moments are not known. `refused` of this kind turned out to be none,
    /// of these and of those that were told as made.
    Counted { calls: u64, refused: u64 },
}
