//! A known event: a child of ours calls a function of ours that carries the same probe as the target's launch function.
//!
//! It shows that this kernel runs that very program under a probe of that kind and that its event reaches us. That the probe in the target's
//! file fires it does not show; that it is in place there is read from the target's memory (`planted`). The child maps a file of ours
//! and runs no byte of anybody else's; it is not waited for: it dies by itself, or with us.

use crate::probes::stub::Stub;
use std::io;
use sys::child::Child;
use sys::mapped_call;

/// How often the child calls.
pub const CALLS: u64 = 3;

/// A child that makes the calls.
pub fn start(stub: &Stub) -> io::Result<Child> {
    mapped_call::call(stub.function(), CALLS)
}
