//! Reading a ledger: works in a read-only directory, while others write, and where there is no ledger yet.

use crate::blobs::Blobs;
use crate::chain::{Hash, Row, RowKind};
use crate::error::LedgerError;
use crate::head::{Head, Slots};
use crate::schema;
use evidence::Recorded;
use rusqlite::{Connection, OptionalExtension, types::ValueRef};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Rows fetched at a time.
const BATCH: usize = 64;

#[derive(Debug)]
pub struct Reader {
    pub(crate) dir: PathBuf,
    pub(crate) database: PathBuf,
    /// None: nothing was recorded yet.
    pub(crate) connection: Option<Connection>,
}

/// The head names rows and there is no database.
pub(crate) fn gone(dir: &Path, head: &Head) -> LedgerError {
    let what = format!("the database is gone; the head is at row {}", head.seq);
    LedgerError::BrokenChain { path: dir.to_owned(), what }
}

impl Reader {
    /// A directory without a ledger reads as an empty one; nothing is created. One whose tail is cut is refused: what
    /// is left may not be all there was.
    pub fn open(dir: &Path) -> Result<Reader, LedgerError> {
        // The head first: a writer at work may then only be ahead of it.
        let slots = Slots::read(&dir.join("head"))?;
        let reader = Reader::open_as_it_is(dir)?;
        match slots.as_ref().and_then(Slots::newest) {
            Some(head) if reader.exists() => reader.check_head(head)?,
            Some(head) if head.seq > 0 => return Err(gone(dir, head)),
            _ => {}
        }
        Ok(reader)
    }

    /// Whatever is there, for `verify`.
    pub fn open_as_it_is(dir: &Path) -> Result<Reader, LedgerError> {
        let database = dir.join("ledger.sqlite");
        let connection = if schema::check_header(&database)? { Some(schema::connect(&database, false)?) } else { None };
        Ok(Reader { dir: dir.to_owned(), database, connection })
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

    /// The ledger's own id, made when it was; None where there is none.
    pub fn id(&self) -> Result<Option<String>, LedgerError> {
        let Some(connection) = &self.connection else { return Ok(None) };
        connection.query_row("SELECT id FROM ledger", [], |row| row.get(0)).optional().map_err(|e| self.fail(e))
    }

    /// Every row from `from` on, in order. They are fetched in batches, so that a slow `take` keeps no writer waiting.
    pub fn rows(
        &self,
        from: u64,
        mut take: impl FnMut(Row) -> Result<ControlFlow<()>, LedgerError>,
    ) -> Result<(), LedgerError> {
        let mut next = from;
        loop {
            let (batch, error) = self.batch(next, BATCH)?;
            let more = batch.len() == BATCH;
            for row in batch {
                // Only a damaged tree gives them out of order.
                if row.seq < next {
                    return Err(self.bad(row.seq, format!("it comes after row {}", next.saturating_sub(1))));
                }
                next = row.seq + 1;
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

    /// Some rows, and what kept it from reading the next.
    fn batch(&self, from: u64, most: usize) -> Result<(Vec<Row>, Option<LedgerError>), LedgerError> {
        let Some(connection) = &self.connection else { return Ok((Vec::new(), None)) };
        let mut statement = connection
            .prepare_cached(
                "SELECT seq, kind, origin, time, body, prev, hash FROM row WHERE seq >= ?1 ORDER BY seq LIMIT ?2",
            )
            .map_err(|e| self.fail(e))?;
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        let mut rows = statement.query((from, most as i64)).map_err(|e| self.fail(e))?;
        let mut batch = Vec::new();
        loop {
            let row = match rows.next() {
                Ok(None) => return Ok((batch, None)),
                Ok(Some(raw)) => self.decode(raw),
                Err(error) => Err(self.fail(error)),
            };
            match row {
                Ok(row) => batch.push(row),
                Err(error) => return Ok((batch, Some(error))),
            }
        }
    }

    pub fn row(&self, seq: u64) -> Result<Option<Row>, LedgerError> {
        let (batch, error) = self.batch(seq, 1)?;
        match (batch.into_iter().next(), error) {
            (Some(row), _) => Ok((row.seq == seq).then_some(row)),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(None),
        }
    }

    pub fn last(&self) -> Result<Option<Row>, LedgerError> {
        let Some(connection) = &self.connection else { return Ok(None) };
        let seq: Option<i64> =
            connection.query_row("SELECT max(seq) FROM row", [], |row| row.get(0)).map_err(|e| self.fail(e))?;
        seq.and_then(|seq| u64::try_from(seq).ok()).map_or(Ok(None), |seq| self.row(seq))
    }

    fn check_head(&self, head: &Head) -> Result<(), LedgerError> {
        let id = self.id()?.unwrap_or_default();
        let what = match self.row(head.seq)? {
            _ if id != head.ledger => format!("the head belongs to the ledger {}, the database is {id}", head.ledger),
            _ if head.seq == 0 => return Ok(()),
            None => format!("the head is at row {}, and the database ends before it", head.seq),
            Some(row) if row.hash != head.hash => format!("row {} is not the one that the head names", head.seq),
            Some(_) => return Ok(()),
        };
        Err(LedgerError::BrokenChain { path: self.database.clone(), what })
    }

    /// Every observation, own and imported, in the order of recording. The chain is followed on the way: what was
    /// altered gives no grade.
    pub fn observations(&self) -> Result<Vec<Recorded>, LedgerError> {
        let mut all = Vec::new();
        let mut prev = Hash::genesis(&self.id()?.unwrap_or_default());
        self.rows(0, |row| {
            if row.prev != prev || row.hash != row.expected_hash() {
                let what = format!("row {} was altered, or does not follow from the row before it", row.seq);
                return Err(LedgerError::BrokenChain { path: self.database.clone(), what });
            }
            prev = row.hash;
            all.extend(row.observation().map_err(|error| self.bad(row.seq, format!("not an observation: {error}")))?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(all)
    }

    pub(crate) fn has_origin(&self, origin: &str) -> Result<bool, LedgerError> {
        let Some(connection) = &self.connection else { return Ok(false) };
        let found = connection.query_row("SELECT 1 FROM row WHERE origin = ?1", [origin], |_| Ok(()));
        Ok(found.optional().map_err(|e| self.fail(e))?.is_some())
    }

    fn decode(&self, raw: &rusqlite::Row<'_>) -> Result<Row, LedgerError> {
        let seq = match raw.get_ref(0).map_err(|e| self.fail(e))? {
            ValueRef::Integer(seq) => u64::try_from(seq).unwrap_or(0),
            _ => 0,
        };
        let bytes = |at: usize, name: &str| match raw.get_ref(at).map_err(|e| self.fail(e))? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(bytes.to_vec()),
            _ => Err(self.bad(seq, format!("the field '{name}' is of the wrong type"))),
        };
        let text = |at: usize, name: &str| {
            String::from_utf8(bytes(at, name)?).map_err(|_| self.bad(seq, format!("the field '{name}' is not UTF-8")))
        };
        let hash = |at: usize, name: &str| {
            let bytes = bytes(at, name)?;
            bytes.try_into().map(Hash).map_err(|_| self.bad(seq, format!("the field '{name}' is not 32 bytes")))
        };
        let kind = text(1, "kind")?;
        let kind = RowKind::parse(&kind).ok_or_else(|| self.bad(seq, format!("unknown kind '{kind}'")))?;
        let origin = match raw.get_ref(2).map_err(|e| self.fail(e))? {
            ValueRef::Null => None,
            _ => Some(text(2, "origin")?),
        };
        Ok(Row {
            seq,
            kind,
            origin,
            time: text(3, "time")?,
            body: bytes(4, "body")?,
            prev: hash(5, "prev")?,
            hash: hash(6, "hash")?,
        })
    }

    pub(crate) fn fail(&self, source: rusqlite::Error) -> LedgerError {
        LedgerError::database(&self.database, source)
    }

    fn bad(&self, seq: u64, what: String) -> LedgerError {
        LedgerError::Row { path: self.database.clone(), seq, what }
    }
}
