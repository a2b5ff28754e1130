//! The one interface of all observers, and those that look at files and processes without entering or watching any.
//!
//! Each stands behind [`Observer`] and in one list (`investigate::registry`), so that `investigate` runs whatever there is.
//! `docs/observers.md` says how to add one. Raw system calls are made in `sys`, never here.
#![forbid(unsafe_code)]

pub mod census;
pub mod declared;
pub mod libraries;
mod observer;
pub mod process;
mod record;
pub mod shipped;

pub use crate::observer::{Blocked, Content, ObserveContext, Observer, Raw, Sighting};
pub use crate::record::record;

/// The time to put on an observation.
pub use ledger::now;
