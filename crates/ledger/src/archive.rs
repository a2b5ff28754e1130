//! The archive: a whole ledger in one JSON file, rows first, then the raw evidence in pieces. Written and read as a
//! stream. Observations stand in it as JSON; written compactly, in their own order, they give their bytes back, which the
//! chain proves.

use crate::blobs::each_piece;
use crate::chain::{Hash, Row, RowKind};
use crate::error::LedgerError;
use crate::read::Reader;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::ControlFlow;

pub const SCHEMA: &str = "whichkernel.ledger/1";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArchivedRow {
    pub seq: u64,
    pub kind: String,
    pub origin: Option<String>,
    pub time: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub prev: String,
    pub hash: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArchivedPiece {
    pub sha256: String,
    pub part: u64,
    pub last: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hex: Option<String>,
}

impl ArchivedRow {
    pub fn of(row: &Row) -> Result<Self, String> {
        let text = || String::from_utf8_lossy(&row.body).into_owned();
        let observation = match row.kind {
            RowKind::Observation => Some(serde_json::from_slice(&row.body).map_err(|error| error.to_string())?),
            RowKind::Note => None,
        };
        Ok(ArchivedRow {
            seq: row.seq,
            kind: row.kind.name().to_owned(),
            origin: row.origin.clone(),
            time: row.time.clone(),
            observation,
            note: (row.kind == RowKind::Note).then(text),
            prev: row.prev.to_string(),
            hash: row.hash.to_string(),
        })
    }

    pub fn row(self) -> Result<Row, String> {
        let kind = RowKind::parse(&self.kind).ok_or_else(|| format!("unknown kind '{}'", self.kind))?;
        let body = match (kind, self.observation, self.note) {
            (RowKind::Observation, Some(value), None) => {
                serde_json::to_vec(&value).map_err(|error| error.to_string())?
            }
            (RowKind::Note, None, Some(text)) => text.into_bytes(),
            _ => return Err(format!("a row of the kind '{}' holds `{}` and nothing else", self.kind, self.kind)),
        };
        let hash = |hex: &str| Hash::parse(hex).ok_or_else(|| format!("'{hex}' is not a hash"));
        let (prev, hash) = (hash(&self.prev)?, hash(&self.hash)?);
        Ok(Row { seq: self.seq, kind, origin: self.origin, time: self.time, body, prev, hash })
    }
}

impl Reader {
    /// Writes everything, one row and one piece per line.
    pub fn export(&self, out: &mut impl Write) -> Result<(), LedgerError> {
        let fail = |source: io::Error| LedgerError::Io { path: self.dir.clone(), source };
        let id = self.id()?.unwrap_or_default();
        write!(out, "{{\"schema\":\"{SCHEMA}\",\"ledger\":\"{id}\",\"rows\":[").map_err(fail)?;
        let mut wanted: BTreeSet<String> = BTreeSet::new();
        let mut comma = "\n";
        self.rows(0, |row| {
            let bad = |what: String| LedgerError::Row { path: self.database.clone(), seq: row.seq, what };
            let archived = ArchivedRow::of(&row).map_err(bad)?;
            let line = serde_json::to_string(&archived).map_err(|error| bad(error.to_string()))?;
            write!(out, "{comma}{line}").map_err(fail)?;
            comma = ",\n";
            let observation = row.observation().map_err(|error| bad(error.to_string()))?;
            wanted.extend(observation.iter().flat_map(|o| o.raw_evidence()).map(|evidence| evidence.sha256.clone()));
            Ok(ControlFlow::Continue(()))
        })?;
        write!(out, "\n],\"blobs\":[").map_err(fail)?;
        comma = "\n";
        for sha256 in &wanted {
            let path = self.blobs().path(sha256);
            let mut file = self.blobs().open(sha256).map_err(|source| LedgerError::Io { path, source })?;
            let mut part = 0;
            let mut line = |data: &[u8], last: bool| {
                let text = std::str::from_utf8(data).ok().map(str::to_owned);
                let hex = text.is_none().then(|| hex::encode(data));
                let piece = ArchivedPiece { sha256: sha256.clone(), part, last, text, hex };
                part += 1;
                write!(out, "{comma}{}", serde_json::to_string(&piece)?)?;
                comma = ",\n";
                io::Result::Ok(())
            };
            each_piece(&mut file, |data| line(data, false)).and_then(|()| line(b"", true)).map_err(fail)?;
        }
        writeln!(out, "\n]}}").map_err(fail)
    }
}
