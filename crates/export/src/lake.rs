//! Writing a ledger into a lake: `observations/LEDGER.parquet`, `launches/LEDGER.parquet`, `claims/LEDGER.parquet`.

use crate::parquet::{Table, Writer};
use crate::rows::{self, Whose};
use evidence::{Reading, Stated};
use ledger::{LedgerError, Reader, Row};
use std::io::{self, BufWriter};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use sys::files::{self, Access, Replacement};

/// Rows of a group.
const GROUP: usize = 20_000;

#[derive(Debug, thiserror::Error)]
pub enum LakeError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("the ledger in {} is empty: there is nothing to export", .0.display())]
    Empty(PathBuf),
    #[error("{}: the disk is full; what is there of the lake is as it was", .0.display())]
    Full(PathBuf),
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// What goes into the lake beside the rows.
#[derive(Debug)]
pub struct Origin<'a> {
    /// What the ledger's own machine is called in the tables; else the ledger's id.
    pub host: Option<&'a str>,
    pub title: &'a str,
    pub claims: &'a [(&'a Stated, &'a Reading)],
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    pub ledger: String,
    pub rows: u64,
    pub launches: u64,
    pub claims: u64,
}

/// Writes the three files anew; each is whole or as it was.
pub fn write(reader: &Reader, origin: &Origin<'_>, dir: &Path) -> Result<Exported, LakeError> {
    let ledger = reader.id()?.ok_or_else(|| LakeError::Empty(reader.dir().to_owned()))?;
    let whose = Whose { host: origin.host.unwrap_or(&ledger).to_owned(), ledger: ledger.clone() };
    let mut observations = Sink::new(dir, "observations", &whose)?;
    let mut launches = Sink::new(dir, "launches", &whose)?;
    let (mut batch, mut rows, mut head): (Vec<Row>, u64, String) = (Vec::new(), 0, String::new());
    let mut problem = None;
    let mut flush = |batch: &mut Vec<Row>| {
        let put = observations
            .put(&rows::observations(&whose, batch))
            .and_then(|()| launches.put(&rows::launches(&whose, batch)));
        batch.clear();
        put
    };
    reader.rows(0, |row| {
        rows += 1;
        head = row.hash.to_string();
        batch.push(row);
        if batch.len() < GROUP {
            return Ok(ControlFlow::Continue(()));
        }
        problem = flush(&mut batch).err();
        Ok(if problem.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    problem.map_or(Ok(()), Err)?;
    flush(&mut batch)?;
    let mut claims = Sink::new(dir, "claims", &whose)?;
    claims.put(&rows::claims(&whose, &head, origin.claims, origin.title))?;
    let (launches, claims) = (launches.keep(&head)?, claims.keep(&head)?);
    observations.keep(&head)?;
    Ok(Exported { ledger, rows, launches, claims })
}

/// One file of the lake under another name, until it is whole.
struct Sink {
    path: PathBuf,
    writer: Option<Writer<BufWriter<Replacement>>>,
    whose: Whose,
    rows: u64,
}

impl Sink {
    fn new(dir: &Path, table: &str, whose: &Whose) -> Result<Sink, LakeError> {
        let folder = dir.join(table);
        let path = folder.join(format!("{}.parquet", whose.ledger));
        let made = || {
            files::create_dir_all(&folder, Access::Public)?;
            Writer::new(BufWriter::new(Replacement::new(&path, Access::Public)?))
        };
        let writer = made().map_err(|error| fail(&path, error))?;
        Ok(Sink { path, writer: Some(writer), whose: whose.clone(), rows: 0 })
    }

    /// A table without a row is left out, unless it is the only one: columns are known from rows.
    fn put(&mut self, table: &Table) -> Result<(), LakeError> {
        self.rows += table.rows() as u64;
        match &mut self.writer {
            Some(writer) if table.rows() > 0 => writer.group(table).map_err(|error| fail(&self.path, error)),
            _ => Ok(()),
        }
    }

    /// A table that has no row at all has no file: an earlier one goes.
    fn keep(mut self, head: &str) -> Result<u64, LakeError> {
        let about = [
            ("schema", "whichkernel.lake/1"),
            ("ledger", &self.whose.ledger),
            ("host", &self.whose.host),
            ("head", head),
        ];
        let about = about.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let Some(writer) = self.writer.take() else { return Ok(0) };
        let finished = || {
            if self.rows == 0 {
                let gone = files::remove(&self.path);
                return gone.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) });
            }
            let file = writer.finish(&about)?.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.sync_all()?;
            file.commit()
        };
        finished().map_err(|error| fail(&self.path, error))?;
        Ok(self.rows)
    }
}

fn fail(path: &Path, error: io::Error) -> LakeError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => LakeError::Full(path.to_owned()),
        _ => LakeError::Io { path: path.to_owned(), source: error },
    }
}
