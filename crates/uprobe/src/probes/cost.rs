//! Measures the overhead of a probed launch: a child process calls our stub function (`stub`) with the same probe as
//! the target's launch function, and again after the probe is removed, and reports both times.
//!
//! The instruction under the probe determines the overhead, and the stub has an instruction of the same kind. The
//! runtime's own work is not part of the difference. The measure is CPU time of the calling thread, including the
//! kernel's part, so that other programs on the machine do not matter.

use crate::probes::stub::Stub;
use sys::mapped_call::Timing;

const ROUNDS: u32 = 20;
const EACH: u32 = 200;

/// Starts a child that measures its first figure. The caller drains the ring until the figure is available.
pub fn timing(stub: &Stub) -> Option<Timing> {
    Timing::start(stub.function(), ROUNDS, EACH).ok()
}
