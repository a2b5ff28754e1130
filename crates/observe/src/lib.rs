//! The interface of all observers ([`Observer`]), and the observers that only read: source trees, files, libraries and
//! their catalogs, instructions, and the maps of a process.
//!
//! This crate needs no privileges and makes no raw system calls. Observers that run or watch a program are in their own
//! crates (`dryrun`, `uprobe`, `watch`). `investigate` has the list of all observers; `docs/observers.md` explains how
//! to add one.
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
