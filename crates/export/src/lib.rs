//! Exports for other tools: a ledger as verifiable Parquet tables, and launches as a trace for Perfetto and the Firefox
//! Profiler.
//!
//! A lake is a directory with a folder for each table, partitioned by day and machine as Hive does it. So exports of
//! many machines can share a lake, and one query of DuckDB, ClickHouse or Spark reads all of them. `docs/lake.md` lists
//! the columns.
#![forbid(unsafe_code)]

mod days;
mod error;
mod files;
pub mod fleet;
mod lake;
mod manifest;
pub mod parquet;
mod perfetto;
mod profiler;
mod prove;
mod rows;
mod staging;
mod timeline;

pub use error::LakeError;
pub use files::Inventory;
pub use lake::{Exported, Origin, is_remote, write};
pub use manifest::machine;
pub use perfetto::perfetto;
pub use profiler::profiler;
pub use prove::{ExpectedHash, LakeVerdict, OwnLedger, ProvedLedger, prove};
pub use timeline::{Launch, Timeline, TimelineError};
