//! Files of an export under temporary names, in a hidden folder of the lake, until all of them are complete.

use crate::error::{LakeError, fail};
use crate::manifest::{Manifest, Part, TABLES};
use crate::parquet::{ParquetTable, Writer};
use crate::rows::Whose;
use ledger::Hash;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::files::{self, Access};

const PREFIX: &str = ".export-";
/// An export removes the leftovers of killed exports that are older than this.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// A folder that is removed when it is dropped.
pub struct Staging(PathBuf);

impl Staging {
    pub fn new(dir: &Path) -> Result<Staging, LakeError> {
        let made = || {
            files::create_dir_all(dir, Access::Public)?;
            let number = u64::from_ne_bytes(sys::random::secret::<8>()?);
            let path = dir.join(format!("{PREFIX}{number:016x}"));
            files::create_dir(&path, Access::Public)?;
            Ok(Staging(path))
        };
        made().map_err(|error| fail(dir, error))
    }

    fn path(&self, table: &str, day: &str) -> PathBuf {
        self.0.join(format!("{table}-{day}"))
    }

    pub fn table<'a>(&self, table: &str, day: &str, whose: &'a Whose) -> Result<StagedTable<'a>, LakeError> {
        let path = self.path(table, day);
        let made = files::create_new(&path, Access::Public)
            .and_then(|file| Writer::new(Hashed { to: BufWriter::new(file), sha: Sha256::new() }));
        Ok(StagedTable { writer: made.map_err(|error| fail(&path, error))?, whose, rows: 0, path })
    }

    /// Moves a file to its place. [`Staging::settle`] makes this durable.
    pub fn keep(&self, table: &str, day: &str, to: &Path) -> Result<(), LakeError> {
        files::rename(&self.path(table, day), to).map_err(|error| fail(to, error))
    }

    /// Writes a file and moves it to its place.
    pub fn replace(&self, to: &Path, bytes: &[u8]) -> Result<(), LakeError> {
        let new = self.0.join("new");
        let written = || {
            let mut file = files::create_new(&new, Access::Public)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            files::rename(&new, to)
        };
        written().map_err(|error| fail(to, error))?;
        self.settle([to])
    }

    /// Creates the folder of a file. All folders come before the first file, because this can fail.
    pub fn make_room(&self, to: &Path) -> Result<(), LakeError> {
        files::create_dir_all(to.parent().unwrap_or(to), Access::Public).map_err(|error| fail(to, error))
    }

    /// Waits until the names of files, and of their folders up to the lake, are on disk.
    pub fn settle<'a>(&self, moved: impl IntoIterator<Item = &'a Path>) -> Result<(), LakeError> {
        let lake = self.0.parent().unwrap_or(&self.0);
        let above = |file: &'a Path| file.ancestors().skip(1).take_while(|above| above.starts_with(lake));
        let folders: BTreeSet<&Path> = moved.into_iter().flat_map(above).collect();
        let mut folders = folders.into_iter();
        folders.try_for_each(|folder| files::sync_dir(folder).map_err(|error| fail(folder, error)))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = files::remove_dir_all(&self.0);
    }
}

/// Removes what killed exports left: temporary folders, and files of this ledger that its manifest does not name.
pub fn sweep(dir: &Path, manifest: &Manifest) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|found| found.modified()).ok().and_then(|time| time.elapsed().ok());
        if entry.file_name().to_string_lossy().starts_with(PREFIX) && age.is_some_and(|age| age > ABANDONED) {
            let _ = files::remove_dir_all(&entry.path());
        }
    }
    for table in TABLES {
        for entry in fs::read_dir(dir.join(table)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(day) = name.to_str().and_then(|name| name.strip_prefix("day=")) else { continue };
            if manifest.part(table, day).is_none() {
                let _ = files::remove(&dir.join(manifest.file(table, day)));
            }
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

/// A table that is being written.
pub struct StagedTable<'a> {
    writer: Writer<Hashed>,
    whose: &'a Whose,
    rows: u64,
    path: PathBuf,
}

impl StagedTable<'_> {
    /// Adds a row group, unless it has no rows: columns are known from rows.
    pub fn put(&mut self, table: &ParquetTable) -> Result<(), LakeError> {
        self.rows += table.rows() as u64;
        if table.rows() == 0 {
            return Ok(());
        }
        self.writer.group(table).map_err(|error| fail(&self.path, error))
    }

    /// Finishes the file. None if it has no rows.
    pub fn seal(self) -> Result<Option<Part>, LakeError> {
        let StagedTable { writer, whose, rows, path } = self;
        if rows == 0 {
            return Ok(None);
        }
        let about = [
            ("schema", "whichkernel.lake/3"),
            ("ledger", whose.ledger.as_str()),
            ("machine", &whose.machine),
            ("host", &whose.host),
        ];
        let about = about.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let finished = || {
            let hashed = writer.finish(&about)?;
            hashed.to.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            Ok(Hash(hashed.sha.finalize().into()).to_string())
        };
        let sha256 = finished().map_err(|error| fail(&path, error))?;
        Ok(Some(Part { rows, sha256, runs: Vec::new() }))
    }
}
