//! Writes a ledger: one writer at a time, blobs before rows, rows before the head (see `head`).

use crate::chain::{Hash, Row, RowKind};
use crate::error::LedgerError;
use crate::head::{self, Head, Slots};
use crate::read::{Reader, gone};
use crate::{permissions, redact, schema};
use evidence::{Evidence, Observation, ObservationId};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::clock::now;
use sys::files::{self, Access};

/// A ledger open for writing. Several processes may have it open; each write takes the lock.
#[derive(Debug)]
pub struct Ledger {
    reader: Reader,
    lock: File,
    closed: u64,
}

/// The result of a write: the position in the chain and, for an observation, its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub seq: u64,
    pub hash: Hash,
    pub observation: Option<ObservationId>,
}

/// A row without its position in the chain.
pub(crate) struct Draft {
    pub kind: RowKind,
    pub origin: Option<String>,
    pub time: String,
    pub body: Vec<u8>,
}

impl Ledger {
    /// Opens the ledger and creates it if there is none.
    pub fn open(dir: &Path) -> Result<Ledger, LedgerError> {
        let fail = |error| LedgerError::io(dir, say::key!("ledger-doing-making"), error);
        schema::check_header(&dir.join("ledger.sqlite"))?;
        permissions::make_dir(dir).map_err(fail)?;
        let lock = files::append(&dir.join("lock"), Access::Private).map_err(fail)?;
        let database = dir.join("ledger.sqlite");
        let reader = Reader { dir: dir.to_owned(), database, connection: None, copy: false, sound: true };
        let mut ledger = Ledger { reader, lock, closed: 0 };
        ledger.locked(|ledger| {
            ledger.closed = permissions::tighten(&ledger.reader.dir).map_err(fail)?;
            ledger.connect()?;
            // Leftover files that cannot be removed only use disk space.
            let _ = ledger.reader.blobs().sweep();
            Ok(())
        })?;
        Ok(ledger)
    }

    /// How many files and directories other users could read until this ledger was opened. The caller should report
    /// this to the owner.
    pub fn closed_to_others(&self) -> u64 {
        self.closed
    }

    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Stores raw evidence under its hash, for an observation that will refer to it. Secrets are removed from text
    /// first.
    pub fn keep(&mut self, kind: &str, from: impl Read) -> Result<Evidence, LedgerError> {
        let shown = redact::raw(kind, from)
            .map_err(|error| LedgerError::io(&self.reader.dir, say::key!("ledger-doing-reading-raw"), error))?;
        self.reader.blobs().keep(kind, shown)
    }

    /// Records all of the observations or none. They are on disk when this returns. Secrets are removed first.
    pub fn append(&mut self, observations: &[Observation]) -> Result<Vec<Receipt>, LedgerError> {
        let time = now();
        let draft = |observation: &Observation| Draft {
            kind: RowKind::Observation,
            origin: None,
            time: time.clone(),
            body: redact::observation(observation).canonical(),
        };
        self.locked(|ledger| {
            ledger.check_evidence(observations)?;
            ledger.write_locked(observations.iter().map(|observation| Ok(draft(observation))))
        })
    }

    /// Records a person's words in the worklog. They never affect a grade.
    pub fn note(&mut self, text: &str) -> Result<Receipt, LedgerError> {
        let body = redact::text(text).into_owned().into_bytes();
        let draft = Draft { kind: RowKind::Note, origin: None, time: now(), body };
        let mut receipts = self.locked(|ledger| ledger.write_locked(std::iter::once(Ok(draft))))?;
        receipts.pop().ok_or_else(|| self.broken(say::say!("ledger-note-lost")))
    }

    /// Checks that the evidence exists. A failed import may have removed evidence that this writer had also added.
    fn check_evidence(&self, observations: &[Observation]) -> Result<(), LedgerError> {
        let blobs = self.reader.blobs();
        let mut seen: Option<&str> = None;
        for evidence in observations.iter().flat_map(Observation::raw_evidence) {
            // Most observations name the same evidence as the previous one.
            if seen.replace(&evidence.sha256) == Some(&evidence.sha256) {
                continue;
            }
            let there = blobs.path(&evidence.sha256).and_then(fs::symlink_metadata).is_ok_and(|meta| meta.is_file());
            if !there {
                let what = say::say!("ledger-raw-not-kept", sha256 = crate::blobs::shown(&evidence.sha256));
                return Err(self.broken(what));
            }
        }
        Ok(())
    }

    /// Writes the drafts. The caller holds the lock.
    pub(crate) fn write_locked(
        &mut self,
        drafts: impl Iterator<Item = Result<Draft, LedgerError>>,
    ) -> Result<Vec<Receipt>, LedgerError> {
        let (slots, tail) = self.check_tail()?;
        let receipts = self.transaction(&tail, drafts)?;
        let Some(last) = receipts.last() else { return Ok(receipts) };
        let head = Head { ledger: tail.ledger, seq: last.seq, hash: last.hash };
        let path = self.head_path();
        head::advance(&path, &slots, &head).map_err(|source| LedgerError::HeadNotWritten { path, source })?;
        Ok(receipts)
    }

    fn transaction(
        &mut self,
        tail: &Head,
        drafts: impl Iterator<Item = Result<Draft, LedgerError>>,
    ) -> Result<Vec<Receipt>, LedgerError> {
        let path = self.reader.database.clone();
        let fail = |source| LedgerError::database(&path, source);
        let Some(connection) = self.reader.connection.as_mut() else { return Ok(Vec::new()) };
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(fail)?;
        let mut receipts = Vec::new();
        {
            let mut insert = transaction
                .prepare_cached(
                    "INSERT INTO row (seq, kind, origin, time, body, prev, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )
                .map_err(fail)?;
            let (mut seq, mut prev) = (tail.seq, tail.hash);
            for draft in drafts {
                let Draft { kind, origin, time, body } = draft?;
                if body.len() > schema::LONGEST {
                    return Err(LedgerError::TooLong { path: path.clone(), size: body.len(), most: schema::LONGEST });
                }
                seq += 1;
                let row = Row::after(prev, seq, kind, origin, time, body);
                let number = i64::try_from(seq).unwrap_or(i64::MAX);
                insert
                    .execute((number, kind.name(), &row.origin, &row.time, &row.body, &row.prev.0[..], &row.hash.0[..]))
                    .map_err(fail)?;
                let observation = (kind == RowKind::Observation).then(|| ObservationId::of(&row.body));
                receipts.push(Receipt { seq, hash: row.hash, observation });
                prev = row.hash;
            }
        }
        transaction.commit().map_err(fail)?;
        Ok(receipts)
    }

    /// Opens or creates the database and the head. The caller holds the lock.
    fn connect(&mut self) -> Result<(), LedgerError> {
        let path = self.reader.database.clone();
        let there = schema::check_header(&path)?;
        let slots = Slots::read(&self.head_path())?;
        let head = slots.as_ref().and_then(Slots::newest);
        if let Some(head) = head.filter(|head| !there && head.seq > 0) {
            return Err(gone(&self.reader.dir, head));
        }
        let connection = schema::connect(&path, true)?;
        // If creating the ledger was interrupted, the file may have a header. After the rollback it is empty.
        let made = schema::is_made(&connection, &path)?;
        if let Some(head) = head.filter(|head| !made && head.seq > 0) {
            return Err(gone(&self.reader.dir, head));
        }
        if !made {
            let id = new_id().map_err(|error| LedgerError::io(&path, say::key!("ledger-doing-making"), error))?;
            schema::create(&connection, &path, &id)?;
        }
        schema::check_tables(&connection, &path)?;
        self.reader.connection = Some(connection);
        let ledger = self.ledger_id()?;
        let ours = head.is_some_and(|head| head.ledger == ledger);
        if !ours && head.is_none_or(|head| head.seq == 0) && self.reader.last()?.is_none() {
            let head = Head { hash: Hash::genesis(&ledger), ledger, seq: 0 };
            let made = head::create(&self.head_path(), &head).and_then(|()| files::sync_dir(&self.reader.dir));
            made.map_err(|error| LedgerError::io(&self.reader.dir, say::key!("ledger-doing-making-head"), error))?;
        }
        Ok(())
    }

    /// Returns where the chain ends, after checking that it ends where the head says.
    fn check_tail(&self) -> Result<(Slots, Head), LedgerError> {
        let path = self.head_path();
        let slots = Slots::read(&path)?.ok_or_else(|| self.broken(say::say!("ledger-head-missing")))?;
        let Some(head) = slots.newest().cloned() else {
            return Err(self.broken(say::say!("ledger-head-unread")));
        };
        let ledger = self.ledger_id()?;
        if head.ledger != ledger {
            return Err(self.broken(say::say!("ledger-head-other", head = head.ledger, ledger)));
        }
        let at_head = match head.seq {
            0 => Some(Hash::genesis(&ledger)),
            seq => self.reader.row(seq)?.map(|row| row.hash),
        };
        match at_head {
            None => {
                return Err(self.broken(say::say!("ledger-head-ahead", row = head.seq)));
            }
            Some(hash) if hash != head.hash => {
                return Err(self.broken(say::say!("ledger-row-not-head", row = head.seq)));
            }
            Some(_) => {}
        }
        // The writer of these rows died before it updated the head. They are kept if they follow from the head.
        let mut tail = head;
        self.reader.rows(tail.seq + 1, |row| {
            if row.seq != tail.seq + 1 || row.prev != tail.hash || row.hash != row.expected_hash() {
                return Err(self.broken(say::say!("ledger-row-not-following", row = row.seq, tail = tail.seq)));
            }
            (tail.seq, tail.hash) = (row.seq, row.hash);
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        Ok((slots, tail))
    }

    pub(crate) fn locked<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let path = self.reader.dir.join("lock");
        let begun = Instant::now();
        loop {
            match self.lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if begun.elapsed() < schema::PATIENCE => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(LedgerError::Busy { path, seconds: schema::PATIENCE.as_secs() });
                }
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(TryLockError::Error(error)) => {
                    return Err(LedgerError::io(&path, say::key!("ledger-doing-locking"), error));
                }
            }
        }
        let result = work(self);
        let _ = self.lock.unlock();
        result
    }

    fn ledger_id(&self) -> Result<String, LedgerError> {
        self.reader.id()?.ok_or_else(|| self.broken(say::say!("ledger-no-id")))
    }

    fn head_path(&self) -> PathBuf {
        self.reader.dir.join("head")
    }

    fn broken(&self, what: say::Message) -> LedgerError {
        LedgerError::BrokenChain { path: self.reader.dir.clone(), what }
    }
}

/// 128 random bits from the system.
fn new_id() -> io::Result<String> {
    Ok(hex::encode(sys::random::secret::<16>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::{About, Coverage, Fact, Finding, ObserverId, Shipped, Subject};

    fn observation(n: u64) -> Observation {
        let fact = Fact::new("kernel.count", About::new([("file", "libggml-hip.so")]), n);
        let subject = Subject::file("libggml-hip.so", "0".repeat(64)).target("gfx1201");
        let finding = Finding::Saw(fact);
        Observation::on::<Shipped>(
            ObserverId::new("inspect", "1"),
            subject,
            finding,
            Coverage::complete("bytes", 9),
            now(),
        )
        .unwrap()
    }

    #[test]
    fn what_was_recorded_is_read_back_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("ledger");
        assert!(!Reader::open(&dir).unwrap().exists());
        let mut ledger = Ledger::open(&dir).unwrap();
        let raw = ledger.keep("text/plain", &b"raw"[..]).unwrap();
        let first = observation(1).evidence(raw.clone());
        let receipts = ledger.append(&[first.clone(), observation(2)]).unwrap();
        assert_eq!(receipts.iter().map(|r| r.seq).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(receipts[0].observation, Some(first.id()));
        assert_eq!(ledger.note("watched the log").unwrap().seq, 3);
        drop(ledger);
        let reader = Reader::open(&dir).unwrap();
        let read = reader.observations().unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(*read[0], first);
        assert_eq!(read[0].id(), &first.id());
        assert_eq!(reader.row(3).unwrap().unwrap().note().as_deref(), Some("watched the log"));
        assert_eq!(reader.blobs().measure(&raw).unwrap(), crate::Measured::Same);
    }
}
