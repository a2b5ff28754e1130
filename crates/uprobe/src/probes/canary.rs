//! The canary: a child process calls our stub function, which has the same probe as the target's launch function.
//!
//! The canary shows that this kernel runs this program under a probe of this kind, and that its event reaches us. It
//! does not show that the probe in the target's file fires; that the probe is in place there is read from the target's
//! memory (`planted`). The child maps our own file and runs no foreign code. We do not wait for it: it exits by itself
//! or with us.

use crate::probes::stub::Stub;
use std::io;
use sys::child::Child;
use sys::mapped_call;

/// The number of calls that the child makes.
pub const CALLS: u64 = 3;

/// A child that makes the calls.
pub fn start(stub: &Stub) -> io::Result<Child> {
    mapped_call::call(stub.function(), CALLS)
}
