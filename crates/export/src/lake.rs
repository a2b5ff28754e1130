//! Writes a ledger to a lake: `observations/STEM.parquet`, `launches/STEM.parquet`, `claims/STEM.parquet` and
//! `manifests/STEM.json`, where STEM names the ledger and the machine.

use crate::manifest::{self, ExportName, Manifest, Sealed};
use crate::parquet::{ParquetTable, Writer};
use crate::rows::{self, Whose};
use evidence::{Reading, Stated};
use ledger::{Hash, LedgerError, Reader, Row};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::files::{self, Access};

/// The number of rows in a row group.
const GROUP: usize = 20_000;
/// An export removes the leftovers of killed exports that are older than this.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug)]
pub enum LakeError {
    Ledger(LedgerError),
    Empty(PathBuf),
    Full(PathBuf),
    Forks { ledger: String, most: usize },
    Io { path: PathBuf, source: io::Error },
}

say::worded! { LakeError {
    Ledger(error) => error,
    Empty(path) => "export-empty",
    Full(path) => "export-full",
    Forks { ledger, most } => "export-forks",
    Io { path, source } => "about-why" (what = path, why = source),
}}

say::wraps! { LakeError { Ledger(LedgerError) }}

/// The information that is written in addition to the rows.
#[derive(Debug)]
pub struct Origin<'a> {
    /// The name of the ledger's machine in the tables; by default the ids of the ledger and the machine.
    pub host: Option<&'a str>,
    /// The machine's id, from [`crate::machine`].
    pub machine: &'a str,
    pub title: &'a str,
    pub claims: &'a [(&'a Stated, &'a Reading)],
}

/// The result of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    pub ledger: String,
    /// The base name of the export's files.
    pub stem: String,
    pub rows: u64,
    pub launches: u64,
    pub claims: u64,
    /// The SHA-256 of the manifest, which covers every byte of every table.
    pub seal: String,
    /// The name of another ledger in the lake with the same id: a clone, or an earlier state of this one.
    pub beside: Option<String>,
    /// Whether a later export of the same rows already exists, so that nothing was written.
    pub kept_later: bool,
}

/// Writes temporary files, then renames all of them under a lock. If two exports run at the same time, one complete
/// export remains.
pub fn write(reader: &Reader, origin: &Origin<'_>, dir: &Path) -> Result<Exported, LakeError> {
    let ledger = reader.id()?.ok_or_else(|| LakeError::Empty(reader.dir().to_owned()))?;
    let own = format!("{ledger}-{}", origin.machine);
    let whose = Whose { host: origin.host.map_or(own, str::to_owned), ledger, machine: origin.machine.to_owned() };
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
    let mut tables = BTreeMap::new();
    for sink in [&mut observations, &mut launches, &mut claims] {
        tables.extend(sink.seal(&head)?.map(|sealed| (sink.table.to_owned(), sealed)));
    }
    let manifest = Manifest {
        schema: manifest::SCHEMA.to_owned(),
        ledger: whose.ledger,
        machine: whose.machine,
        host: whose.host,
        rows,
        head,
        tables,
    };
    publish(reader, dir, &manifest, [observations, launches, claims])
}

/// Moves every file into place, the manifest last.
fn publish(reader: &Reader, dir: &Path, manifest: &Manifest, sinks: [Sink; 3]) -> Result<Exported, LakeError> {
    let io = |error| fail(dir, error);
    let _alone = manifest::lock(dir, true).map_err(io)?;
    let count = |table: &str| manifest.tables.get(table).map_or(0, |sealed| sealed.rows);
    let bytes = manifest.bytes();
    let mut exported = Exported {
        ledger: manifest.ledger.clone(),
        stem: String::new(),
        rows: manifest.rows,
        launches: count("launches"),
        claims: count("claims"),
        seal: manifest::sha256(&bytes),
        beside: None,
        kept_later: false,
    };
    match manifest::place(dir, reader, manifest)? {
        ExportName::Later { stem } => return Ok(Exported { stem, kept_later: true, ..exported }),
        ExportName::At { stem, beside } => (exported.stem, exported.beside) = (stem, beside),
    }
    let mut last = Sink::raw(dir, manifest::FOLDER)?;
    last.write_raw(&bytes).map_err(io)?;
    for sink in sinks {
        sink.keep(&exported.stem)?;
    }
    last.keep(&exported.stem)?;
    for folder in manifest::TABLES.iter().chain([&manifest::FOLDER]) {
        sweep(&dir.join(folder));
    }
    Ok(exported)
}

/// Removes files left by killed exports.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let age = entry.metadata().and_then(|found| found.modified()).ok().and_then(|time| time.elapsed().ok());
        if name.starts_with('.') && name.ends_with(".new") && age.is_some_and(|age| age > ABANDONED) {
            let _ = files::remove(&entry.path());
        }
    }
}

/// Writes bytes to a file and hashes them.
struct Hashed {
    to: BufWriter<File>,
    sha: Sha256,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.sha.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// A file of the lake under a temporary name, until all are complete.
struct Sink {
    table: &'static str,
    folder: PathBuf,
    new: PathBuf,
    writer: Option<Writer<Hashed>>,
    whose: Option<Whose>,
    rows: u64,
}

impl Sink {
    fn new(dir: &Path, table: &'static str, whose: &Whose) -> Result<Sink, LakeError> {
        let mut sink = Sink::raw(dir, table)?;
        let made = || Writer::new(Hashed { to: BufWriter::new(sink.create()?), sha: Sha256::new() });
        let writer = made().map_err(|error| fail(&sink.folder, error))?;
        (sink.writer, sink.whose) = (Some(writer), Some(whose.clone()));
        Ok(sink)
    }

    /// Creates a file with a unique name.
    fn raw(dir: &Path, table: &'static str) -> Result<Sink, LakeError> {
        let folder = dir.join(table);
        let made = files::create_dir_all(&folder, Access::Public).and_then(|()| sys::random::secret::<8>());
        let number = u64::from_ne_bytes(made.map_err(|error| fail(&folder, error))?);
        let new = folder.join(format!(".{}-{number:016x}.new", std::process::id()));
        Ok(Sink { table, folder, new, writer: None, whose: None, rows: 0 })
    }

    fn create(&self) -> io::Result<File> {
        files::create_new(&self.new, Access::Public)
    }

    fn write_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.create()?;
        file.write_all(bytes)?;
        self.rows = 1;
        file.sync_all()
    }

    /// Adds a row group. A group without rows is skipped, unless it is the only one, because columns are known from
    /// rows.
    fn put(&mut self, table: &ParquetTable) -> Result<(), LakeError> {
        self.rows += table.rows() as u64;
        match &mut self.writer {
            Some(writer) if table.rows() > 0 => writer.group(table).map_err(|error| fail(&self.folder, error)),
            _ => Ok(()),
        }
    }

    /// Finishes the file. None if it has no rows.
    fn seal(&mut self, head: &str) -> Result<Option<Sealed>, LakeError> {
        let (Some(writer), Some(whose)) = (self.writer.take(), &self.whose) else { return Ok(None) };
        let about = [
            ("schema", "whichkernel.lake/2"),
            ("ledger", &whose.ledger),
            ("machine", &whose.machine),
            ("host", &whose.host),
            ("head", head),
        ];
        let about = about.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let finished = || {
            let hashed = writer.finish(&about)?;
            hashed.to.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            Ok(Hash(hashed.sha.finalize().into()).to_string())
        };
        let sha256 = finished().map_err(|error| fail(&self.folder, error))?;
        Ok((self.rows > 0).then_some(Sealed { rows: self.rows, sha256 }))
    }

    /// Moves the file into place. A table without rows has no file, so an earlier file is removed.
    fn keep(self, stem: &str) -> Result<(), LakeError> {
        let extension = if self.whose.is_some() { "parquet" } else { "json" };
        let path = self.folder.join(format!("{stem}.{extension}"));
        let kept = match self.rows {
            0 => files::remove(&path)
                .or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }),
            _ => files::rename(&self.new, &path),
        };
        kept.map_err(|error| fail(&path, error))
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        let _ = files::remove(&self.new);
    }
}

pub(crate) fn fail(path: &Path, error: io::Error) -> LakeError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => LakeError::Full(path.to_owned()),
        _ => LakeError::Io { path: path.to_owned(), source: error },
    }
}
