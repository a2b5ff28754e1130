//! What a probed launch costs more than one without: a child of ours calls a function of ours (`stub`), with the same probe in place as the
//! target's launch function has and again when it is gone, and tells what each took.
//!
//! The instruction under the probe sets the price, and is of the same kind; what the runtime itself does is not part of the difference. It
//! is processor time of the calling thread, the kernel's part included, so that other programs on the machine do not count.

use crate::probes::stub::Stub;
use sys::mapped_call::Timing;

const ROUNDS: u32 = 20;
const EACH: u32 = 200;

/// A child that has been asked for its first figure; the ring is emptied until it is there.
pub fn timing(stub: &Stub) -> Option<Timing> {
    Timing::start(stub.function(), ROUNDS, EACH).ok()
}
