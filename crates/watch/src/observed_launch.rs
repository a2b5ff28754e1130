//! One launch as an observer saw it, for consumers of single launches.

use crate::{Kind, KindId};

/// One launch, call or replay.
#[derive(Debug)]
pub struct ObservedLaunch<'s> {
    pub time_ns: u64,
    pub pid: u32,
    pub thread: u32,
    pub kind: &'s Kind,
    /// The id of the kind, for comparisons.
    pub id: KindId,
    pub fate: Fate,
    pub stream: u64,
    /// The capture that contains the launch; 0 if it was launched directly.
    pub graph: u32,
    /// The executable graph of a replay.
    pub exec: Option<u64>,
    pub args: Vec<u8>,
    /// The device time, if it was requested and reported.
    pub took_ns: Option<u64>,
}

/// The state of a launch. A refused launch does not count as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The launch was called and its result is unknown: [`Fate::Refused`] follows if it is refused and the observer sees results.
    Made,
    /// The call was made and returned this status; 0 means accepted.
    Returned(u32),
    /// The thread's last launch of this kind, which was reported as made, was refused.
    Refused(u32),
    /// Calls that were only counted, without individual records, so their times are unknown. `refused` is how many
    /// calls of this kind failed, including those reported as made.
    Counted { calls: u64, refused: u64 },
}
