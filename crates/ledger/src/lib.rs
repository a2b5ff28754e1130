//! The append-only store of observations. It is a hash chain, which proves that nothing was altered or lost.
//!
//! A ledger is a directory with `ledger.sqlite` (the rows), `head` (the end of the chain, kept outside the database to
//! detect rows that were cut off), `blobs/` (raw evidence by content hash) and `lock` (one writer at a time).
//! `docs/ledger.md` lists the failures that a ledger survives. The `evidence` crate does the grading.
#![forbid(unsafe_code)]

mod anonymous;
mod answers;
mod archive;
mod blobs;
mod bundle;
mod chain;
mod checkpoint;
mod error;
mod head;
mod import;
mod listing;
mod note;
mod open_regular;
mod origin;
mod parallel_read;
mod permissions;
mod read;
pub mod redact;
mod schema;
mod spool;
mod verify;
mod worklog_note;
mod write;

pub use anonymous::Anonymous;
pub use answers::{Expected, Shown, Verdict};
pub use blobs::{Blobs, Measured};
pub use bundle::Bundled;
pub use chain::{Hash, Row, RowKind};
pub use checkpoint::{Checkpoint, CheckpointError};
pub use error::LedgerError;
pub use import::{Imported, Limits};
pub use listing::{Filter, Line, Listing, ObservationLine};
pub use note::{NoteError, Signer, Verifier};
pub use open_regular::open as open_regular;
pub use read::Reader;
pub use sys::clock::{now, rfc3339};
pub use verify::{Problem, Proof};
pub use worklog_note::WorklogNote;
pub use write::{Ledger, Receipt};
