//! Reading a ledger: works in a read-only directory, while others write, and where there is no ledger yet.

use crate::blobs::Blobs;
use crate::chain::{Hash, Row, RowKind};
use crate::error::LedgerError;
use crate::schema;
use evidence::Recorded;
use rusqlite::{Connection, OptionalExtension, types::ValueRef};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct Reader {
    pub(crate) dir: PathBuf,
    pub(crate) database: PathBuf,
    /// None: nothing was recorded yet.
    pub(crate) connection: Option<Connection>,
}

impl Reader {
    /// A directory without a ledger reads as an empty one; nothing is created.
    pub fn open(dir: &Path) -> Result<Reader, LedgerError> {
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

    /// Every row from `from` on, in order, one at a time.
    pub fn rows(
        &self,
        from: u64,
        mut take: impl FnMut(Row) -> Result<ControlFlow<()>, LedgerError>,
    ) -> Result<(), LedgerError> {
        let Some(connection) = &self.connection else { return Ok(()) };
        let mut statement = connection
            .prepare_cached("SELECT seq, kind, origin, time, body, prev, hash FROM row WHERE seq >= ?1 ORDER BY seq")
            .map_err(|e| self.fail(e))?;
        let mut rows = statement.query([i64::try_from(from).unwrap_or(i64::MAX)]).map_err(|e| self.fail(e))?;
        while let Some(raw) = rows.next().map_err(|e| self.fail(e))? {
            if take(self.decode(raw)?)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    pub fn row(&self, seq: u64) -> Result<Option<Row>, LedgerError> {
        let mut found = None;
        self.rows(seq, |row| {
            found = (row.seq == seq).then_some(row);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    pub fn last(&self) -> Result<Option<Row>, LedgerError> {
        let Some(connection) = &self.connection else { return Ok(None) };
        let seq: Option<i64> =
            connection.query_row("SELECT max(seq) FROM row", [], |row| row.get(0)).map_err(|e| self.fail(e))?;
        seq.and_then(|seq| u64::try_from(seq).ok()).map_or(Ok(None), |seq| self.row(seq))
    }

    /// Every observation, own and imported, in the order of recording.
    pub fn observations(&self) -> Result<Vec<Recorded>, LedgerError> {
        let mut all = Vec::new();
        self.rows(0, |row| {
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
