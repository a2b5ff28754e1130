//! Checks everything that a ledger can prove on its own: every row, every blob, the head, the schema, the database. One
//! thread reads rows, a second one hashes them, and a third one runs SQLite's own check and checks the raw evidence.

use crate::blobs::{Blobs, Measured};
use crate::chain::{Hash, Row};
use crate::error::LedgerError;
use crate::head::Slots;
use crate::read::Reader;
use crate::schema::STATEMENTS;
use evidence::Evidence;
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{Receiver, Sender, channel};

/// A deviation from what was written, and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    Altered { seq: u64 },
    Moved { seq: u64, was: u64 },
    Missing { from: u64, to: u64 },
    DoesNotFollow { seq: u64 },
    Unreadable { seq: u64, what: say::Message },
    CutTail { head: u64, last: u64 },
    Head { what: say::Message },
    BlobMissing { sha256: String, seq: u64 },
    BlobAltered { sha256: String, seq: u64, found: String },
    BlobUnreadable { sha256: String, seq: u64, what: say::Message },
    Schema { what: say::Message },
    Database { what: say::Message },
}

say::worded! { Problem {
    Altered { seq } => "ledger-proof-altered",
    Moved { seq, was } => "ledger-proof-moved",
    Missing { from, to } => "ledger-proof-missing",
    DoesNotFollow { seq } => "ledger-proof-does-not-follow",
    Unreadable { seq, what } => "ledger-proof-unreadable",
    CutTail { head, last } => "ledger-proof-cut-tail",
    Head { what } => "ledger-proof-head",
    BlobMissing { sha256, seq } => "ledger-proof-blob-missing",
    BlobAltered { sha256, seq, found } => "ledger-proof-blob-altered",
    BlobUnreadable { sha256, seq, what } => "ledger-proof-blob-unreadable",
    Schema { what } => "ledger-proof-schema",
    Database { what } => "ledger-proof-database",
}}

/// The result of a check. Anyone who can write to the directory can also cut off the last rows and set the head back,
/// or write a new chain. Only a hash that is kept elsewhere ([`Proof::row_of`]) detects that.
#[derive(Debug, Clone, Default)]
pub struct Proof {
    pub ledger: Option<String>,
    pub rows: u64,
    pub blobs: u64,
    pub blob_bytes: u64,
    /// The hash of the last row. With a copy of it, a later check can prove that this is the same ledger with rows
    /// added.
    pub head: Option<Hash>,
    /// Complete rows whose writer died before it updated the head, so the append was never acknowledged.
    pub unacknowledged: u64,
    pub problems: Vec<Problem>,
    chain: Vec<(u64, Hash)>,
}

impl Proof {
    /// The row with this hash, or 0 for the start of the chain. If there are no problems, that row and all rows before
    /// it are unchanged since the hash was copied.
    pub fn row_of(&self, hash: Hash) -> Option<u64> {
        if Hash::genesis(self.ledger.as_deref().unwrap_or("")) == hash {
            return Some(0);
        }
        self.chain.iter().find(|(_, found)| *found == hash).map(|(seq, _)| *seq)
    }
}

impl Reader {
    /// Checks everything and collects the problems. An error means that the check itself could not run.
    pub fn verify(&self, progress: &mut dyn FnMut(u64)) -> Result<Proof, LedgerError> {
        self.prove(true, progress)
    }

    /// Checks everything except the raw evidence.
    pub(crate) fn verify_rows_only(&self) -> Result<Proof, LedgerError> {
        self.prove(false, &mut |_| {})
    }

    fn prove(&self, blobs: bool, progress: &mut dyn FnMut(u64)) -> Result<Proof, LedgerError> {
        // Read the head first. A concurrent writer can then only be ahead of it, which is not a problem.
        let slots = Slots::read(&self.dir.join("head"))?;
        let mut proof = Proof { ledger: self.id().unwrap_or_default(), ..Proof::default() };
        let Some(connection) = &self.connection else {
            if slots.as_ref().and_then(Slots::newest).is_some_and(|head| head.seq > 0) {
                proof.problems.push(Problem::Database { what: say::say!("ledger-gone-with-rows") });
            }
            return Ok(proof);
        };
        proof.problems = verify_schema(connection);
        // Tables that we did not create may be anything, for example endless views.
        if !self.sound {
            return Ok(proof);
        }
        let second = self.connect_again()?;
        let (send, receive) = channel();
        let store = self.blobs();
        let whole = proof.problems.is_empty();
        let (walk, beside) = std::thread::scope(|scope| {
            let beside = scope.spawn(move || {
                let mut beside = Beside::default();
                if whole {
                    beside.problems = integrity(&second);
                }
                beside.measure(&store, receive);
                beside
            });
            let genesis = Hash::genesis(proof.ledger.as_deref().unwrap_or(""));
            let walk = self.verify_rows(Walk::new(genesis, blobs.then_some(send)), progress);
            match beside.join() {
                Ok(beside) => (walk, beside),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        });
        let walk = walk?;
        proof.rows = walk.chain.len() as u64;
        proof.problems.extend(walk.problems);
        proof.problems.extend(beside.problems);
        (proof.blobs, proof.blob_bytes) = (beside.blobs, beside.bytes);
        name_suspects(&mut proof, &walk.suspects, &walk.chain);
        verify_head(&mut proof, slots.as_ref(), &walk.chain);
        proof.head = walk.chain.last().map(|(_, hash)| *hash);
        proof.chain = walk.chain;
        Ok(proof)
    }

    fn verify_rows(&self, mut walk: Walk, progress: &mut dyn FnMut(u64)) -> Result<Walk, LedgerError> {
        loop {
            let from = walk.next;
            let work = |batches: &mut dyn Iterator<Item = Vec<Row>>| {
                batches.flatten().for_each(|row| {
                    let expected = row.expected_hash();
                    walk.row(row, expected);
                });
            };
            let ((), read) = self.stream(from, work, progress);
            let after = walk.next - 1;
            match read {
                Ok(()) => break,
                Err(LedgerError::Row { seq, what, .. }) if seq >= walk.next => {
                    walk.problems.push(Problem::Unreadable { seq, what });
                    walk.next = seq + 1;
                }
                Err(LedgerError::Row { what, .. }) => {
                    walk.problems.push(Problem::Database { what: say::say!("ledger-after-row", after, what) });
                    break;
                }
                Err(error @ (LedgerError::Damaged { .. } | LedgerError::Database { .. })) => {
                    walk.problems.push(Problem::Database { what: say::say!("ledger-after-row-error", after, error) });
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        walk.send = None;
        Ok(walk)
    }
}

fn verify_schema(connection: &Connection) -> Vec<Problem> {
    let found: Result<Vec<String>, rusqlite::Error> = connection
        .prepare("SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY rowid")
        .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect());
    match found {
        Ok(found) if found == STATEMENTS => Vec::new(),
        Ok(found) => {
            let odd = found.iter().zip(STATEMENTS).find(|(a, b)| a != b);
            let what = odd.map_or_else(
                || say::say!("ledger-statements", found = found.len(), expected = STATEMENTS.len()),
                |(found, expected)| say::say!("ledger-statement", found = crate::blobs::shown(found), expected),
            );
            vec![Problem::Schema { what }]
        }
        Err(error) => vec![Problem::Database { what: say::Message::verbatim(error) }],
    }
}

fn integrity(connection: &Connection) -> Vec<Problem> {
    let all = |sql: &str| -> Result<Vec<String>, rusqlite::Error> {
        connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
    };
    let damage = |error: rusqlite::Error| Problem::Database { what: say::Message::verbatim(error) };
    let mut problems = Vec::new();
    match all("PRAGMA integrity_check(20)") {
        Ok(lines) if lines == ["ok"] => {}
        Ok(lines) => {
            problems.extend(lines.into_iter().map(|what| Problem::Database { what: say::Message::verbatim(what) }))
        }
        Err(error) => problems.push(damage(error)),
    }
    match all("SELECT id FROM ledger LIMIT 2") {
        Ok(ids) if ids.len() == 1 => {}
        Ok(ids) => problems.push(Problem::Schema { what: say::say!("ledger-ids", count = ids.len()) }),
        Err(error) => problems.push(damage(error)),
    }
    problems
}

/// The number of altered rows for which the original position is searched. Further rows are only reported as altered.
const SUSPECTS: usize = 256;

/// The state of the walk along the chain.
struct Walk {
    next: u64,
    prev: Hash,
    /// Number and hash of every row that could be read.
    chain: Vec<(u64, Hash)>,
    suspects: Vec<Row>,
    problems: Vec<Problem>,
    /// Sends each blob that a row refers to, once, to `measure`.
    send: Option<Sender<(u64, Evidence)>>,
    sent: HashSet<(String, u64)>,
}

impl Walk {
    fn new(genesis: Hash, send: Option<Sender<(u64, Evidence)>>) -> Walk {
        let (chain, suspects, problems, sent) = Default::default();
        Walk { next: 1, prev: genesis, chain, suspects, problems, send, sent }
    }

    fn row(&mut self, row: Row, expected: Hash) {
        if row.seq > self.next {
            self.problems.push(Problem::Missing { from: self.next, to: row.seq - 1 });
        } else if row.prev != self.prev {
            self.problems.push(Problem::DoesNotFollow { seq: row.seq });
        }
        self.prev = row.hash;
        self.next = row.seq + 1;
        self.chain.push((row.seq, row.hash));
        self.evidence(&row);
        if row.hash != expected {
            if self.suspects.len() < SUSPECTS {
                self.suspects.push(row);
            } else {
                self.problems.push(Problem::Altered { seq: row.seq });
            }
        }
    }

    fn evidence(&mut self, row: &Row) {
        let Some(send) = &self.send else { return };
        match row.evidence() {
            Ok(list) => {
                for one in list {
                    if self.sent.insert((one.sha256.clone(), one.size)) {
                        // The receiving thread lives longer than this one, so sending cannot fail.
                        let _ = send.send((row.seq, one));
                    }
                }
            }
            Err(error) => {
                let what = say::say!("ledger-no-observation", error);
                self.problems.push(Problem::Unreadable { seq: row.seq, what });
            }
        }
    }
}

/// The results of the checks that run in parallel with the rows.
#[derive(Default)]
struct Beside {
    problems: Vec<Problem>,
    blobs: u64,
    bytes: u64,
}

impl Beside {
    fn measure(&mut self, store: &Blobs, evidence: Receiver<(u64, Evidence)>) {
        for (seq, evidence) in evidence {
            let sha256 = crate::blobs::shown(&evidence.sha256);
            match store.measure(&evidence) {
                Ok(Measured::Same) => {
                    self.blobs += 1;
                    self.bytes += evidence.size;
                }
                Ok(Measured::Other(found)) => self.problems.push(Problem::BlobAltered { sha256, seq, found }),
                Ok(Measured::Missing) => self.problems.push(Problem::BlobMissing { sha256, seq }),
                Err(error) => {
                    self.problems.push(Problem::BlobUnreadable { sha256, seq, what: say::Say::message(&error) })
                }
            }
        }
    }
}
/// Decides whether a row that does not match its hash was altered or moved. A moved row follows from a row that still
/// exists: with the number after that row, it matches its hash.
fn name_suspects(proof: &mut Proof, suspects: &[Row], hashes: &[(u64, Hash)]) {
    if suspects.is_empty() {
        return;
    }
    let mut after: HashMap<[u8; 32], u64> = hashes.iter().map(|(seq, hash)| (hash.0, seq + 1)).collect();
    after.insert(Hash::genesis(proof.ledger.as_deref().unwrap_or("")).0, 1);
    // Rows may have been swapped, so the predecessor may be anywhere. Every position is tried, because there are few
    // suspects.
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
    let mut odd = |what: say::Message| proof.problems.push(Problem::Head { what });
    let Some(slots) = slots else {
        if last > 0 {
            odd(say::say!("ledger-head-file-missing"));
        }
        return;
    };
    let Some(head) = slots.newest() else {
        return odd(say::say!("ledger-no-slot"));
    };
    if Some(head.ledger.as_str()) != proof.ledger.as_deref() {
        odd(say::say!("ledger-head-foreign"));
    }
    // A crash damages a slot only while the database is ahead of the other slot.
    if !slots.both_readable() && last <= head.seq {
        odd(say::say!("ledger-slot-altered"));
    }
    let genesis = Hash::genesis(&head.ledger);
    let at_head = if head.seq == 0 { Some(genesis) } else { hash_at(hashes, head.seq) };
    match at_head {
        None if last < head.seq => proof.problems.push(Problem::CutTail { head: head.seq, last }),
        None => odd(say::say!("ledger-head-nowhere", row = head.seq)),
        Some(hash) if hash != head.hash => odd(say::say!("ledger-head-row", row = head.seq)),
        Some(_) => {}
    }
    proof.unacknowledged = last.saturating_sub(head.seq);
}

fn hash_at(hashes: &[(u64, Hash)], seq: u64) -> Option<Hash> {
    hashes.binary_search_by_key(&seq, |(seq, _)| *seq).ok().and_then(|i| hashes.get(i)).map(|(_, hash)| *hash)
}
