//! The observers. The only room with privileged system calls.
//!
//! Each stands behind one interface ([`Observer`]) and in one list ([`registry`]), so that `investigate` runs whatever
//! there is. `docs/observers.md` says how to add one. `unsafe` is denied here as everywhere; the few modules that must
//! make raw system calls allow it by name, each with its reason, and hold nothing else.

pub mod census;
pub mod declared;
pub mod libraries;
mod observer;
pub mod process;
mod record;
pub mod shipped;

pub use crate::observer::{Blocked, Content, Observer, Raw, Sighting, Surroundings};
pub use crate::record::record;

/// The time to put on an observation.
pub use ledger::now;
