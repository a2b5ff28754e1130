//! The one interface of whatever sees something ([`Observer`]), and the observers that only read: source trees, files,
//! libraries and their catalogs, instructions, the maps of a process.
//!
//! No rights are needed here and no raw system call is made: what runs a program or watches one has a room of its own
//! (`dryrun`, `uprobe`, `watch`). `investigate` holds the list of them all; `docs/observers.md` says how to add one.
#![forbid(unsafe_code)]

pub mod answers;
pub mod census;
pub mod declared;
pub mod declared_tree;
pub mod directory;
pub mod libraries;
mod observer;
pub mod process;
mod record;
pub mod shipped;

pub use crate::observer::{Blocked, Content, ObserveContext, Observer, Raw, Sighting};
pub use crate::record::record;

/// The time to put on an observation.
pub use ledger::now;
