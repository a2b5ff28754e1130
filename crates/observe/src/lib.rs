//! The observers. The only room with privileged system calls.
//!
//! Each stands behind one interface ([`Observer`]) and in one list ([`registry`]), so that `investigate` runs whatever
//! there is. `docs/observers.md` says how to add one.

pub mod enter;
mod observer;
mod registry;

pub use observer::{Blocked, Content, Observer, Raw, Sighting, Surroundings};
pub use registry::registry;

/// The time to put on an observation.
pub use ledger::now;
