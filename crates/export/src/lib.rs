//! Exports for other tools: a ledger as verifiable Parquet tables, and launches as a trace for Perfetto and the Firefox
//! Profiler.
//!
//! A lake is a directory with a folder for each table. Each folder has a file for each ledger of each machine. So
//! exports of many machines can share a lake, and one query reads all of them. `docs/lake.md` lists the columns.
#![forbid(unsafe_code)]

mod lake;
mod manifest;
pub mod parquet;
mod perfetto;
mod profiler;
mod prove;
mod rows;
mod timeline;

pub use lake::{Exported, LakeError, Origin, write};
pub use manifest::machine;
pub use perfetto::perfetto;
pub use profiler::profiler;
pub use prove::{ExpectedHash, LakeVerdict, ProvedLedger, prove};
pub use timeline::{Launch, Timeline, TimelineError};
