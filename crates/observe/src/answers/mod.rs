//! The answers of `inspect` and `isa`: a type for each shape, with its own schema name.
//!
//! This module observes nothing itself; it builds each answer from a directory or a process. Those about one file are in
//! `findings`.

mod directory;
mod fingerprint;
mod needed;
mod process;

pub use directory::{Catalog, Directory, FamilyService, Library, Pack, ServiceAnswer, Serving};
pub use findings::answers::*;
pub use fingerprint::Fingerprinted;
pub use needed::Needed;
pub use process::ProcessAnswer;
