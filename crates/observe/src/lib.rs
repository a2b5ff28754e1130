//! The observers. The only room with privileged system calls.
//!
//! Each stands behind one interface ([`Observer`]) and in one list ([`registry`]), so that `investigate` runs whatever
//! there is. `docs/observers.md` says how to add one. `unsafe` is denied here as everywhere; the few modules that must
//! make raw system calls allow it by name, each with its reason, and hold nothing else.

pub mod census;
pub mod certify;
pub mod claims;
pub mod doctor;
pub mod dryrun;
pub mod enter;
pub mod http;
pub mod imports;
pub mod libraries;
pub mod logs;
pub mod nest;
mod observer;
mod perf;
pub mod preload;
pub mod process;
mod record;
mod registry;
pub mod rights;
pub mod rules;
pub mod shipped;
pub mod uprobe;
pub mod watch;

pub use observer::{Blocked, Content, Observer, Raw, Sighting, Surroundings};
pub use record::record;
pub use registry::registry;

/// The time to put on an observation.
pub use ledger::now;
