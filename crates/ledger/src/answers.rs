//! Machine-readable forms of a single row and of the result of `verify`.

use crate::{Row, RowKind};
use evidence::{Observation, ObservationId};
use schemars::JsonSchema;
use serde::Serialize;

/// One row of a ledger in full, with its place in the chain.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Shown {
    pub row: u64,
    pub kind: RowKind,
    /// RFC 3339, UTC.
    pub time: String,
    pub origin: Option<String>,
    /// The hash of the previous row.
    pub prev: String,
    pub hash: String,
    pub id: Option<ObservationId>,
    pub observation: Option<Observation>,
    pub note: Option<String>,
}

impl answer::Answer for Shown {
    const SCHEMA: &'static str = "whichkernel.ledger-row/1";
}

impl Shown {
    pub fn of(row: &Row) -> Result<Shown, serde_json::Error> {
        let recorded = row.observation()?;
        Ok(Shown {
            row: row.seq,
            kind: row.kind,
            time: row.time.clone(),
            origin: row.origin.clone(),
            prev: row.prev.to_string(),
            hash: row.hash.to_string(),
            id: recorded.as_ref().map(|recorded| recorded.id().clone()),
            observation: recorded.map(|recorded| (*recorded).clone()),
            note: row.note(),
        })
    }
}

/// The result of verifying a ledger: what was proved, and whether hashes that were kept elsewhere were found in it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    pub ledger: Option<String>,
    pub rows: u64,
    pub blobs: u64,
    pub blob_bytes: u64,
    /// The hash of the last row.
    pub head: Option<String>,
    /// Rows whose writer ended before it could update the head.
    pub unacknowledged: u64,
    /// The rows and raw evidence that were altered, lost or moved: one sentence each. Empty if the ledger is intact.
    pub problems: Vec<String>,
    pub expected: Vec<Expected>,
    /// What this proves, in words; null if there is a problem.
    pub proved: Option<String>,
    /// What this does not prove, in words.
    pub not_proved: String,
}

impl answer::Answer for Verdict {
    const SCHEMA: &'static str = "whichkernel.ledger-verify/1";
}

/// A hash that was kept elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Expected {
    pub hash: String,
    /// The key that signed the checkpoint; null for a plain hash.
    pub signed_by: Option<String>,
    /// The row with the expected hash.
    pub row: Option<u64>,
    /// Why the hash or checkpoint does not match.
    pub problem: Option<String>,
}
