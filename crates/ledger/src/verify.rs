//! The proof that nothing was altered, lost or moved: every row, every blob, the head, the schema, the database itself.

use crate::chain::{Hash, Row};
use crate::error::LedgerError;
use crate::head::Slots;
use crate::read::Reader;
use crate::schema::STATEMENTS;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// One thing that is not as it was written, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("row {seq} was altered: its content does not give its hash")]
    Altered { seq: u64 },
    #[error("row {seq} was moved: it was row {was}")]
    Moved { seq: u64, was: u64 },
    #[error("rows {from} to {to} are missing")]
    Missing { from: u64, to: u64 },
    #[error("row {seq} does not follow from the row before it")]
    DoesNotFollow { seq: u64 },
    #[error("row {seq} cannot be read: {what}")]
    Unreadable { seq: u64, what: String },
    #[error("the tail is cut: the head is at row {head}, the database ends at row {last}")]
    CutTail { head: u64, last: u64 },
    #[error("head: {what}")]
    Head { what: String },
    #[error("raw evidence {sha256} (row {seq}) is missing")]
    BlobMissing { sha256: String, seq: u64 },
    #[error("raw evidence {sha256} (row {seq}) was altered: its content has the hash {found}")]
    BlobAltered { sha256: String, seq: u64, found: String },
    #[error("raw evidence {sha256} (row {seq}) cannot be read: {what}")]
    BlobUnreadable { sha256: String, seq: u64, what: String },
    #[error("schema: {what}")]
    Schema { what: String },
    #[error("database: {what}")]
    Database { what: String },
}

#[derive(Debug, Clone, Default)]
pub struct Proof {
    pub ledger: Option<String>,
    pub rows: u64,
    pub blobs: u64,
    pub blob_bytes: u64,
    /// The last row's hash: whoever has noted it down can tell that this is the same ledger, grown.
    pub head: Option<Hash>,
    /// Rows whose writer died before it could move the head: whole, and never acknowledged to anybody.
    pub unacknowledged: u64,
    pub problems: Vec<Problem>,
}

impl Reader {
    /// Goes through everything. Problems are collected; an error is what keeps it from looking at all.
    pub fn verify(&self, progress: &mut dyn FnMut(u64)) -> Result<Proof, LedgerError> {
        // The head is read first: a writer at work may then only be ahead of it, which is no problem.
        let slots = Slots::read(&self.dir.join("head"))?;
        let mut proof = Proof { ledger: self.id().unwrap_or_default(), ..Proof::default() };
        if !self.exists() {
            if slots.as_ref().and_then(Slots::newest).is_some_and(|head| head.seq > 0) {
                proof.problems.push(Problem::Database { what: "the database is gone; the head names rows".to_owned() });
            }
            return Ok(proof);
        }
        self.verify_database(&mut proof);
        let hashes = self.verify_rows(&mut proof, progress)?;
        verify_head(&mut proof, slots.as_ref(), &hashes);
        proof.head = hashes.last().map(|(_, hash)| *hash);
        Ok(proof)
    }

    fn verify_database(&self, proof: &mut Proof) {
        let Some(connection) = &self.connection else { return };
        let all = |sql: &str| -> Result<Vec<String>, rusqlite::Error> {
            connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
        };
        let damage = |error: rusqlite::Error| Problem::Database { what: error.to_string() };
        match all("PRAGMA integrity_check(20)") {
            Ok(lines) if lines == ["ok"] => {}
            Ok(lines) => proof.problems.extend(lines.into_iter().map(|what| Problem::Database { what })),
            Err(error) => proof.problems.push(damage(error)),
        }
        match all("SELECT sql FROM sqlite_schema ORDER BY rowid") {
            Ok(found) if found == STATEMENTS => {}
            Ok(found) => {
                let odd = found.iter().zip(STATEMENTS).find(|(a, b)| a != b);
                let what = odd.map_or_else(
                    || format!("{} statements, expected {}", found.len(), STATEMENTS.len()),
                    |(found, expected)| format!("found '{found}', expected '{expected}'"),
                );
                proof.problems.push(Problem::Schema { what });
            }
            Err(error) => proof.problems.push(damage(error)),
        }
        match all("SELECT id FROM ledger") {
            Ok(ids) if ids.len() == 1 => {}
            Ok(ids) => proof.problems.push(Problem::Schema { what: format!("{} ledger ids, expected one", ids.len()) }),
            Err(error) => proof.problems.push(damage(error)),
        }
    }

    /// Every row; gives back sequence number and hash of each that could be read.
    fn verify_rows(&self, proof: &mut Proof, progress: &mut dyn FnMut(u64)) -> Result<Vec<(u64, Hash)>, LedgerError> {
        let mut hashes: Vec<(u64, Hash)> = Vec::new();
        let mut suspects: Vec<Row> = Vec::new();
        let mut blobs = HashSet::new();
        let mut prev = Hash::genesis(proof.ledger.as_deref().unwrap_or(""));
        let mut next = 1;
        loop {
            let result = self.rows(next, |row| {
                if row.seq > next {
                    proof.problems.push(Problem::Missing { from: next, to: row.seq - 1 });
                } else if row.prev != prev {
                    proof.problems.push(Problem::DoesNotFollow { seq: row.seq });
                }
                prev = row.hash;
                next = row.seq + 1;
                proof.rows += 1;
                hashes.push((row.seq, row.hash));
                progress(row.seq);
                self.verify_blobs(proof, &row, &mut blobs);
                if row.hash != row.expected_hash() {
                    suspects.push(row);
                }
                Ok(ControlFlow::Continue(()))
            });
            match result {
                Ok(()) => break,
                Err(LedgerError::Row { seq, what, .. }) if seq >= next => {
                    proof.problems.push(Problem::Unreadable { seq, what });
                    next = seq + 1;
                }
                Err(LedgerError::Row { what, .. }) => {
                    proof.problems.push(Problem::Database { what: format!("after row {}: {what}", next - 1) });
                    break;
                }
                Err(error @ (LedgerError::Damaged { .. } | LedgerError::Database { .. })) => {
                    proof.problems.push(Problem::Database { what: format!("after row {}: {error}", next - 1) });
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        name_suspects(proof, &suspects, &hashes);
        Ok(hashes)
    }

    fn verify_blobs(&self, proof: &mut Proof, row: &Row, seen: &mut HashSet<String>) {
        let observation = match row.observation() {
            Ok(Some(observation)) => observation,
            Ok(None) => return,
            Err(error) => {
                proof.problems.push(Problem::Unreadable { seq: row.seq, what: format!("not an observation: {error}") });
                return;
            }
        };
        let store = self.blobs();
        for evidence in observation.raw_evidence() {
            if !seen.insert(evidence.sha256.clone()) {
                continue;
            }
            let (sha256, seq) = (evidence.sha256.clone(), row.seq);
            match store.measure(&sha256) {
                Ok(Some((found, size))) if found == sha256 => {
                    proof.blobs += 1;
                    proof.blob_bytes += size;
                }
                Ok(Some((found, _))) => proof.problems.push(Problem::BlobAltered { sha256, seq, found }),
                Ok(None) => proof.problems.push(Problem::BlobMissing { sha256, seq }),
                Err(error) => proof.problems.push(Problem::BlobUnreadable { sha256, seq, what: error.to_string() }),
            }
        }
    }
}

/// A row that does not give its hash was altered, or it is a true row in another's place: then it follows from a row
/// that is still there, and gives its hash with the number that comes after that one.
fn name_suspects(proof: &mut Proof, suspects: &[Row], hashes: &[(u64, Hash)]) {
    if suspects.is_empty() {
        return;
    }
    let mut after: HashMap<[u8; 32], u64> = hashes.iter().map(|(seq, hash)| (hash.0, seq + 1)).collect();
    after.insert(Hash::genesis(proof.ledger.as_deref().unwrap_or("")).0, 1);
    // Rows may have changed places with each other, so the row that it followed may stand elsewhere now: every place is
    // tried. There are few suspects.
    let places = hashes.last().map_or(0, |(seq, _)| *seq) + 1;
    for row in suspects {
        let there = after.get(&row.prev.0).copied();
        let fits = |seq: &u64| Row { seq: *seq, ..row.clone() }.expected_hash() == row.hash;
        let was = there.filter(|seq| fits(seq)).or_else(|| (1..=places.min(10_000)).find(fits));
        proof.problems.push(match was {
            Some(was) => Problem::Moved { seq: row.seq, was },
            None => Problem::Altered { seq: row.seq },
        });
    }
}

fn verify_head(proof: &mut Proof, slots: Option<&Slots>, hashes: &[(u64, Hash)]) {
    let last = hashes.last().map_or(0, |(seq, _)| *seq);
    let mut odd = |what: &str| proof.problems.push(Problem::Head { what: what.to_owned() });
    let Some(slots) = slots else {
        if last > 0 {
            odd("the head file is missing; whether the tail is whole cannot be said");
        }
        return;
    };
    let Some(head) = slots.newest() else {
        return odd("neither slot can be read");
    };
    if Some(head.ledger.as_str()) != proof.ledger.as_deref() {
        odd("it belongs to another ledger");
    }
    // A crash tears a slot only while the database is ahead of the other.
    if !slots.both_readable() && last <= head.seq {
        odd("one slot was altered");
    }
    let genesis = Hash::genesis(&head.ledger);
    let at_head = if head.seq == 0 { Some(genesis) } else { hash_at(hashes, head.seq) };
    match at_head {
        None if last < head.seq => proof.problems.push(Problem::CutTail { head: head.seq, last }),
        None => odd(&format!("it is at row {}, which is not there", head.seq)),
        Some(hash) if hash != head.hash => odd(&format!("row {} is not the one that it names", head.seq)),
        Some(_) => {}
    }
    proof.unacknowledged = last.saturating_sub(head.seq);
}

fn hash_at(hashes: &[(u64, Hash)], seq: u64) -> Option<Hash> {
    hashes.binary_search_by_key(&seq, |(seq, _)| *seq).ok().and_then(|i| hashes.get(i)).map(|(_, hash)| *hash)
}
