//! Reads a ledger. This works in a read-only directory, during writes, and before a ledger exists.

use crate::blobs::Blobs;
use crate::chain::{Hash, Row, RowKind};
use crate::error::LedgerError;
use crate::head::{Head, Slots};
use crate::schema;
use rusqlite::{Connection, OptionalExtension, types::ValueRef};
use say::say;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The maximum number of rows per batch, and the number of bytes at which a batch is full.
const BATCH: usize = 1024;
const BATCH_BYTES: usize = 4 << 20;
/// Batches that may wait for a worker.
const AHEAD: usize = 4;

#[derive(Debug)]
pub struct Reader {
    pub(crate) dir: PathBuf,
    pub(crate) database: PathBuf,
    /// The connection. None if nothing was recorded yet.
    pub(crate) connection: Option<Connection>,
    /// Whether the database is our own copy, which has no writers.
    pub(crate) copy: bool,
    /// Whether the tables are those that this version creates. If not, no row is read.
    pub(crate) sound: bool,
}

/// The direction in which rows are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    On,
    Back,
}

/// Rows, whether there are more rows, and the error that stopped the reading.
type Batch = (Vec<Row>, bool, Option<LedgerError>);

/// The error for a head that names rows while the database is missing.
pub(crate) fn gone(dir: &Path, head: &Head) -> LedgerError {
    let what = say::say!("ledger-database-gone", row = head.seq);
    LedgerError::BrokenChain { path: dir.to_owned(), what }
}

impl Reader {
    /// Opens a ledger for reading. A directory without a ledger reads as an empty ledger, and nothing is created. A
    /// ledger whose last rows were cut off is refused.
    pub fn open(dir: &Path) -> Result<Reader, LedgerError> {
        // Read the head first: a concurrent writer can then only be ahead of it.
        let slots = Slots::read(&dir.join("head"))?;
        let reader = Reader::open_as_it_is(dir)?;
        match slots.as_ref().and_then(Slots::newest) {
            Some(head) if reader.exists() => reader.check_head(head)?,
            Some(head) if head.seq > 0 => return Err(gone(dir, head)),
            _ => {}
        }
        Ok(reader)
    }

    /// Opens the ledger in any state, for `verify`.
    pub fn open_as_it_is(dir: &Path) -> Result<Reader, LedgerError> {
        let database = dir.join("ledger.sqlite");
        let connection = if schema::check_header(&database)? { Some(schema::connect(&database, false)?) } else { None };
        Reader { dir: dir.to_owned(), database, connection, copy: false, sound: true }.checked()
    }

    /// The ledger in `dir`, with the file at `database` as its database.
    pub(crate) fn of_copy(dir: &Path, copy: &std::fs::File, database: &Path) -> Result<Reader, LedgerError> {
        let database = database.to_owned();
        schema::check_copy(copy, &dir.join("ledger.sqlite"))?;
        let connection = Some(schema::connect_copy(&database)?);
        Reader { dir: dir.to_owned(), database, connection, copy: true, sound: true }.checked()
    }

    /// Checks the tables before the first row is read.
    fn checked(mut self) -> Result<Reader, LedgerError> {
        let Some(connection) = &self.connection else { return Ok(self) };
        match schema::is_made(connection, &self.database) {
            Ok(true) => match schema::check_tables(connection, &self.database) {
                // `verify` must report this; all other reads stop here.
                Err(LedgerError::Damaged { .. }) => self.sound = false,
                checked => checked?,
            },
            Ok(false) => self.connection = None,
            Err(LedgerError::Damaged { .. }) => self.sound = false,
            Err(error) => return Err(error),
        }
        Ok(self)
    }

    fn sound(&self) -> Result<(), LedgerError> {
        let what = say::say!("ledger-other-tables");
        if self.sound { Ok(()) } else { Err(LedgerError::Damaged { path: self.database.clone(), what }) }
    }

    /// Opens a second connection, for another thread.
    pub(crate) fn connect_again(&self) -> Result<Connection, LedgerError> {
        if self.copy { schema::connect_copy(&self.database) } else { schema::connect(&self.database, false) }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn blobs(&self) -> Blobs {
        Blobs::new(&self.dir)
    }

    /// Whether anything was ever recorded here.
    pub fn exists(&self) -> bool {
        self.connection.is_some()
    }

    /// The id that the ledger got when it was created; None if there is no ledger.
    pub fn id(&self) -> Result<Option<String>, LedgerError> {
        let Some(connection) = &self.connection else { return Ok(None) };
        self.sound()?;
        connection.query_row("SELECT id FROM ledger", [], |row| row.get(0)).optional().map_err(|e| self.fail(e))
    }

    /// Every row from `from` on, in order. Rows are fetched in batches, so that a slow `take` does not block writers.
    pub fn rows(
        &self,
        from: u64,
        take: impl FnMut(Row) -> Result<ControlFlow<()>, LedgerError>,
    ) -> Result<(), LedgerError> {
        self.walk(from, Way::On, take)
    }

    /// Every row, the last one first.
    pub fn rows_back(&self, take: impl FnMut(Row) -> Result<ControlFlow<()>, LedgerError>) -> Result<(), LedgerError> {
        self.walk(i64::MAX as u64, Way::Back, take)
    }

    fn walk(
        &self,
        from: u64,
        way: Way,
        mut take: impl FnMut(Row) -> Result<ControlFlow<()>, LedgerError>,
    ) -> Result<(), LedgerError> {
        let mut next = from;
        // The first batch is small, so that a request for five rows does not wait for a thousand.
        let mut most = 16;
        loop {
            let (batch, more, error) = self.batch(next, way, most)?;
            most = BATCH;
            for row in batch {
                next = self.follows(next, &row, way)?;
                if take(row)?.is_break() {
                    return Ok(());
                }
            }
            match error {
                Some(error) => return Err(error),
                None if more => {}
                None => return Ok(()),
            }
        }
    }

    /// Checks the order of rows. Only a damaged database returns them out of order.
    fn follows(&self, next: u64, row: &Row, way: Way) -> Result<u64, LedgerError> {
        match way {
            Way::On if row.seq < next => {
                Err(self.bad(row.seq, say::say!("ledger-row-after", row = next.saturating_sub(1))))
            }
            Way::Back if row.seq > next => Err(self.bad(row.seq, say::say!("ledger-row-before", row = next + 1))),
            Way::On => Ok(row.seq + 1),
            Way::Back => Ok(row.seq.saturating_sub(1)),
        }
    }

    /// Passes every row from `from` on, in batches, to a worker in another thread while this thread reads on. If
    /// reading stopped early, the error is the reason, and the worker's result covers the rows up to there.
    pub(crate) fn stream<T: Send>(
        &self,
        from: u64,
        work: impl FnOnce(&mut dyn Iterator<Item = Vec<Row>>) -> T + Send,
        progress: &mut dyn FnMut(u64),
    ) -> (T, Result<(), LedgerError>) {
        std::thread::scope(|scope| {
            let (send, receive) = std::sync::mpsc::sync_channel::<Vec<Row>>(AHEAD);
            let worker = scope.spawn(move || work(&mut receive.into_iter()));
            let read = self.batches(from, |batch| {
                progress(batch.last().map_or(0, |row| row.seq));
                // If a worker stops early, that is not an error of the reader.
                send.send(batch).is_ok()
            });
            drop(send);
            match worker.join() {
                Ok(made) => (made, read),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    /// Passes every row from `from` on to `take`, in batches, until it returns false.
    pub(crate) fn batches(&self, from: u64, mut take: impl FnMut(Vec<Row>) -> bool) -> Result<(), LedgerError> {
        let mut next = from;
        loop {
            let (batch, more, error) = self.batch(next, Way::On, BATCH)?;
            for row in &batch {
                next = self.follows(next, row, Way::On)?;
            }
            if !batch.is_empty() && !take(batch) {
                return Ok(());
            }
            match error {
                Some(error) => return Err(error),
                None if more => {}
                None => return Ok(()),
            }
        }
    }

    fn batch(&self, from: u64, way: Way, most: usize) -> Result<Batch, LedgerError> {
        let Some(connection) = &self.connection else { return Ok((Vec::new(), false, None)) };
        self.sound()?;
        let sql = match way {
            Way::On => {
                "SELECT seq, kind, origin, time, body, prev, hash FROM row WHERE seq >= ?1 ORDER BY seq LIMIT ?2"
            }
            Way::Back => {
                "SELECT seq, kind, origin, time, body, prev, hash FROM row WHERE seq <= ?1 ORDER BY seq DESC LIMIT ?2"
            }
        };
        let mut statement = connection.prepare_cached(sql).map_err(|e| self.fail(e))?;
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        let mut rows = statement.query((from, most as i64)).map_err(|e| self.fail(e))?;
        let (mut batch, mut bytes) = (Vec::new(), 0);
        loop {
            let row = match rows.next() {
                Ok(None) => {
                    let more = batch.len() == most;
                    return Ok((batch, more, None));
                }
                Ok(Some(raw)) => self.decode(raw),
                Err(error) => Err(self.fail(error)),
            };
            match row {
                Ok(row) => {
                    bytes += row.body.len();
                    batch.push(row);
                    if bytes >= BATCH_BYTES {
                        return Ok((batch, true, None));
                    }
                }
                Err(error) => return Ok((batch, false, Some(error))),
            }
        }
    }

    pub fn row(&self, seq: u64) -> Result<Option<Row>, LedgerError> {
        let (batch, _, error) = self.batch(seq, Way::On, 1)?;
        match (batch.into_iter().next(), error) {
            (Some(row), _) => Ok((row.seq == seq).then_some(row)),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(None),
        }
    }

    pub fn last(&self) -> Result<Option<Row>, LedgerError> {
        let Some(connection) = &self.connection else { return Ok(None) };
        self.sound()?;
        let seq: Option<i64> =
            connection.query_row("SELECT max(seq) FROM row", [], |row| row.get(0)).map_err(|e| self.fail(e))?;
        seq.and_then(|seq| u64::try_from(seq).ok()).map_or(Ok(None), |seq| self.row(seq))
    }

    fn check_head(&self, head: &Head) -> Result<(), LedgerError> {
        let id = self.id()?.unwrap_or_default();
        let what = match self.row(head.seq)? {
            _ if id != head.ledger => say!("ledger-head-other", head = head.ledger, ledger = id),
            _ if head.seq == 0 => return Ok(()),
            None => say!("ledger-head-ahead", row = head.seq),
            Some(row) if row.hash != head.hash => say!("ledger-row-not-head", row = head.seq),
            Some(_) => return Ok(()),
        };
        Err(LedgerError::BrokenChain { path: self.database.clone(), what })
    }

    /// Whether this row, first recorded as `first`, is already here, from any ledger. A row with the same origin but
    /// different content does not count.
    pub(crate) fn has_received(&self, first: &str, row: &Row) -> Result<bool, LedgerError> {
        let Some(connection) = &self.connection else { return Ok(false) };
        // The range contains the origin itself and the origin followed by " via ..." ('!' sorts after the space).
        let sql = "SELECT 1 FROM row WHERE origin >= ?1 AND origin < ?1 || '!' AND (origin = ?1 OR origin >= ?1 || ' via ') \
                   AND kind = ?2 AND time = ?3 AND body = ?4 LIMIT 1";
        let mut statement = connection.prepare_cached(sql).map_err(|e| self.fail(e))?;
        let found = statement.query_row((first, row.kind.name(), &row.time, &row.body), |_| Ok(()));
        Ok(found.optional().map_err(|e| self.fail(e))?.is_some())
    }

    fn decode(&self, raw: &rusqlite::Row<'_>) -> Result<Row, LedgerError> {
        let seq = match raw.get_ref(0).map_err(|e| self.fail(e))? {
            ValueRef::Integer(seq) => u64::try_from(seq).unwrap_or(0),
            _ => 0,
        };
        let bytes = |at: usize, name: &str| match raw.get_ref(at).map_err(|e| self.fail(e))? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(bytes),
            _ => Err(self.bad(seq, say::say!("ledger-field-type", name))),
        };
        let text = |at: usize, name: &str| {
            std::str::from_utf8(bytes(at, name)?).map_err(|_| self.bad(seq, say::say!("ledger-field-utf8", name)))
        };
        let hash = |at: usize, name: &str| {
            let bytes = bytes(at, name)?;
            bytes.try_into().map(Hash).map_err(|_| self.bad(seq, say::say!("ledger-field-bytes", name)))
        };
        let kind = text(1, "kind")?;
        let kind = RowKind::parse(kind).ok_or_else(|| self.bad(seq, say::say!("ledger-unknown-kind", kind)))?;
        let origin = match raw.get_ref(2).map_err(|e| self.fail(e))? {
            ValueRef::Null => None,
            _ => Some(text(2, "origin")?.to_owned()),
        };
        Ok(Row {
            seq,
            kind,
            origin,
            time: text(3, "time")?.to_owned(),
            body: bytes(4, "body")?.to_vec(),
            prev: hash(5, "prev")?,
            hash: hash(6, "hash")?,
        })
    }

    pub(crate) fn fail(&self, source: rusqlite::Error) -> LedgerError {
        LedgerError::database(&self.database, source)
    }

    pub(crate) fn bad(&self, seq: u64, what: say::Message) -> LedgerError {
        LedgerError::Row { path: self.database.clone(), seq, what }
    }
}
