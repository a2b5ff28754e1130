//! Merging somebody else's ledger: its own chain is checked first, where each row comes from is kept, and doing it twice
//! adds nothing.

use crate::archive::{ArchivedPiece, ArchivedRow, SCHEMA};
use crate::chain::{Hash, Row};
use crate::error::LedgerError;
use crate::read::Reader;
use crate::write::{Draft, Ledger};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{BufReader, Write};
use std::ops::ControlFlow;
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The other ledger's id.
    pub from: String,
    pub added: u64,
    /// Rows that were here already.
    pub known: u64,
}

impl Ledger {
    /// `path` is an archive that `export --format json` wrote, or another ledger's directory.
    pub fn import(&mut self, path: &Path) -> Result<Imported, LedgerError> {
        let bad = |what: String| LedgerError::Archive { path: path.to_owned(), what };
        let meta = fs::metadata(path).map_err(|error| bad(error.to_string()))?;
        if !meta.is_dir() {
            let file = File::open(path).map_err(|error| bad(error.to_string()))?;
            let (from, rows) = self.read_archive(BufReader::new(file)).map_err(bad)?;
            return self.merge(from, rows);
        }
        let other = Reader::open_as_it_is(path)?;
        let proof = other.verify(&mut |_| {})?;
        if let Some(problem) = proof.problems.first() {
            return Err(bad(problem.to_string()));
        }
        let Some(from) = proof.ledger else { return Err(bad("there is no ledger in this directory".to_owned())) };
        let mut rows = Vec::new();
        let mut wanted = BTreeSet::new();
        other.rows(0, |row| {
            wanted.extend(blobs_of(&row));
            rows.push(row);
            Ok(ControlFlow::Continue(()))
        })?;
        for sha256 in wanted {
            let file = other.blobs().open(&sha256).map_err(|error| bad(error.to_string()))?;
            self.keep("", file)?;
        }
        self.merge(from, rows)
    }

    fn merge(&mut self, from: String, rows: Vec<Row>) -> Result<Imported, LedgerError> {
        let (own, mut known) = (self.reader().id()?.unwrap_or_default(), 0);
        let mut drafts = Vec::new();
        for row in rows {
            let origin = row.origin.unwrap_or_else(|| format!("{from}#{}@{}", row.seq, row.hash));
            if self.has(&own, &origin)? {
                known += 1;
            } else {
                drafts.push(Draft { kind: row.kind, origin: Some(origin), time: row.time, body: row.body });
            }
        }
        let added = drafts.len() as u64;
        self.write(drafts.into_iter().map(Ok))?;
        Ok(Imported { from, added, known })
    }

    /// Is this row, first recorded at `origin`, here? Our own rows come home with our own id.
    fn has(&self, own: &str, origin: &str) -> Result<bool, LedgerError> {
        let ours =
            origin.strip_prefix(own).and_then(|rest| rest.strip_prefix('#')).and_then(|rest| rest.split_once('@'));
        if let Some((seq, hash)) = ours {
            let row = self.reader().row(seq.parse().unwrap_or(0))?;
            return Ok(row.is_some_and(|row| row.hash.to_string() == hash));
        }
        self.reader().has_origin(origin)
    }

    fn read_archive(&self, input: impl std::io::Read) -> Result<(String, Vec<Row>), String> {
        let mut json = serde_json::Deserializer::from_reader(input);
        let archive = Archive { ledger: self };
        let result = archive.deserialize(&mut json).and_then(|found| json.end().map(|()| found));
        result.map_err(|error| error.to_string())
    }
}

fn blobs_of(row: &Row) -> Vec<String> {
    let observation = row.observation().ok().flatten();
    observation.iter().flat_map(|o| o.raw_evidence()).map(|evidence| evidence.sha256.clone()).collect()
}

/// The archive's rows as a chain of their own.
fn check_chain(ledger: &str, rows: &[Row]) -> Result<(), String> {
    let mut prev = Hash::genesis(ledger);
    for (row, seq) in rows.iter().zip(1..) {
        if row.seq != seq {
            return Err(format!("row {seq} is missing (row {} stands in its place)", row.seq));
        }
        if row.prev != prev || row.hash != row.expected_hash() {
            return Err(format!("row {seq} was altered or moved: the archive's chain breaks there"));
        }
        row.observation().map_err(|error| format!("row {seq} is not an observation: {error}"))?;
        prev = row.hash;
    }
    Ok(())
}

/// Reads the archive as a stream: rows into memory, raw evidence straight into the store, once the chain was checked.
struct Archive<'a> {
    ledger: &'a Ledger,
}

impl<'de> DeserializeSeed<'de> for Archive<'_> {
    type Value = (String, Vec<Row>);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Archive<'_> {
    type Value = (String, Vec<Row>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an archive ({SCHEMA})")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut id, mut rows, mut blobs) = (None, None, false);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "schema" => {
                    let schema: String = map.next_value()?;
                    if schema != SCHEMA {
                        return Err(A::Error::custom(format!(
                            "the schema is '{schema}', this version reads '{SCHEMA}'"
                        )));
                    }
                }
                "ledger" => id = Some(map.next_value::<String>()?),
                "rows" => {
                    let found: Vec<ArchivedRow> = map.next_value()?;
                    let found: Result<Vec<Row>, String> = found.into_iter().map(ArchivedRow::row).collect();
                    rows = Some(found.map_err(A::Error::custom)?);
                }
                "blobs" => {
                    let (Some(id), Some(rows)) = (&id, &rows) else {
                        return Err(A::Error::custom("`ledger` and `rows` must come before `blobs`"));
                    };
                    check_chain(id, rows).map_err(A::Error::custom)?;
                    map.next_value_seed(Pieces { ledger: self.ledger, rows })?;
                    blobs = true;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        match (id, rows) {
            (Some(id), Some(rows)) if blobs => Ok((id, rows)),
            _ => Err(A::Error::custom("`ledger`, `rows` or `blobs` is missing: the archive is not whole")),
        }
    }
}

struct Pieces<'a> {
    ledger: &'a Ledger,
    rows: &'a [Row],
}

impl<'de> DeserializeSeed<'de> for Pieces<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Pieces<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("raw evidence in pieces")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut wanted: BTreeSet<String> = self.rows.iter().flat_map(blobs_of).collect();
        let mut spool = tempfile_in(self.ledger).map_err(A::Error::custom)?;
        let (mut sha, mut part) = (Sha256::new(), 0);
        while let Some(piece) = seq.next_element::<ArchivedPiece>()? {
            if piece.part != part {
                let what = format!("raw evidence {}: piece {part} is missing", piece.sha256);
                return Err(A::Error::custom(what));
            }
            let data = match (piece.text, piece.hex) {
                (Some(text), None) => text.into_bytes(),
                (None, Some(hex)) => hex::decode(hex).map_err(A::Error::custom)?,
                _ => return Err(A::Error::custom("a piece has either `text` or `hex`")),
            };
            sha.update(&data);
            spool.file.write_all(&data).map_err(A::Error::custom)?;
            part += 1;
            if piece.last {
                let found = hex::encode(std::mem::take(&mut sha).finalize());
                if found != piece.sha256 {
                    return Err(A::Error::custom(format!(
                        "raw evidence {} was altered: it has the hash {found}",
                        piece.sha256
                    )));
                }
                wanted.remove(&found);
                self.ledger.reader().blobs().adopt(&mut spool.file).map_err(A::Error::custom)?;
                part = 0;
            }
        }
        match wanted.first() {
            Some(sha256) if self.ledger.reader().blobs().measure(sha256).ok().flatten().is_none() => {
                Err(A::Error::custom(format!("raw evidence {sha256} is missing from the archive")))
            }
            _ => Ok(()),
        }
    }
}

/// A file without a name, in the ledger's directory, where the space will be needed anyway.
struct Spool {
    file: File,
}

fn tempfile_in(ledger: &Ledger) -> std::io::Result<Spool> {
    let path = ledger.reader().dir().join(format!("import-{}", std::process::id()));
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
    fs::remove_file(&path)?;
    Ok(Spool { file })
}
