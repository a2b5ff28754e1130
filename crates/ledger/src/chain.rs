//! Rows and their hash chain. The hash of each row covers the previous row, every field, and the lengths.

use crate::blobs::is_hash;
use evidence::{Evidence, Recorded};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash before the first row. It includes the ledger's own id, so that rows cannot be moved to another ledger.
    pub fn genesis(ledger: &str) -> Hash {
        let mut sha = Sha256::new();
        sha.update(b"whichkernel ledger 1\0");
        sha.update(ledger.as_bytes());
        Hash(sha.finalize().into())
    }

    pub fn parse(hex: &str) -> Option<Hash> {
        // Accept only one spelling per hash. Otherwise two texts could name the same row.
        let mut bytes = [0; 32];
        is_hash(hex).then(|| hex::decode_to_slice(hex, &mut bytes).ok()).flatten()?;
        Some(Hash(bytes))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum RowKind: name {
        /// The body is an observation's canonical JSON.
        Observation = "observation",
        /// The body is a note by a person. It never affects a grade.
        Note = "note",
    }
}

impl RowKind {
    pub fn parse(name: &str) -> Option<RowKind> {
        [RowKind::Observation, RowKind::Note].into_iter().find(|kind| kind.name() == name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The number of the row, from 1 without gaps.
    pub seq: u64,
    pub kind: RowKind,
    /// The origin of an imported row: `LEDGER#SEQ@HASH` of the ledger that first recorded it, then ` via LEDGER` for
    /// each ledger that passed it on and may have altered it.
    pub origin: Option<String>,
    /// The time at which the row was first recorded, here or in the ledger of origin.
    pub time: String,
    pub body: Vec<u8>,
    pub prev: Hash,
    pub hash: Hash,
}

impl Row {
    /// The row that follows `prev`.
    pub(crate) fn after(
        prev: Hash,
        seq: u64,
        kind: RowKind,
        origin: Option<String>,
        time: String,
        body: Vec<u8>,
    ) -> Row {
        let mut row = Row { seq, kind, origin, time, body, prev, hash: prev };
        row.hash = row.expected_hash();
        row
    }

    pub fn expected_hash(&self) -> Hash {
        let mut sha = Sha256::new();
        sha.update(b"whichkernel row 1\0");
        sha.update(self.prev.0);
        sha.update(self.seq.to_be_bytes());
        let origin = self.origin.as_deref();
        sha.update([u8::from(origin.is_some())]);
        for field in [self.kind.name().as_bytes(), origin.unwrap_or("").as_bytes(), self.time.as_bytes(), &self.body] {
            sha.update((field.len() as u64).to_be_bytes());
            sha.update(field);
        }
        Hash(sha.finalize().into())
    }

    /// The observation in the row, with its origin; None for a note.
    pub fn observation(&self) -> Result<Option<Recorded>, serde_json::Error> {
        match self.kind {
            RowKind::Observation => Ok(Some(Recorded::from_canonical(&self.body)?.imported(self.origin.clone()))),
            RowKind::Note => Ok(None),
        }
    }

    /// The raw evidence that the row names, parsed without the rest of the observation.
    pub fn evidence(&self) -> Result<Vec<Evidence>, serde_json::Error> {
        #[derive(serde::Deserialize)]
        struct Only {
            #[serde(default)]
            evidence: Vec<Evidence>,
        }
        match self.kind {
            RowKind::Observation => Ok(serde_json::from_slice::<Only>(&self.body)?.evidence),
            RowKind::Note => Ok(Vec::new()),
        }
    }

    pub fn note(&self) -> Option<String> {
        (self.kind == RowKind::Note).then(|| String::from_utf8_lossy(&self.body).into_owned())
    }
}
