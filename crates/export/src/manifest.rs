//! The manifest of one export in a lake: the ledger, the machine, and the SHA-256 of each table. It is written last, so
//! the files that it names exist.

use crate::lake::{LakeError, fail};
use ledger::{Hash, Reader};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::regular_file;

pub const FOLDER: &str = "manifests";
pub const SCHEMA: &str = "whichkernel.lake-manifest/1";
pub const TABLES: [&str; 3] = ["observations", "launches", "claims"];
/// The maximum size to read. A manifest has under a thousand bytes.
const LONGEST: u64 = 64 << 10;
/// The maximum number of diverging copies of one ledger on one machine.
const MOST_FORKS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub schema: String,
    pub ledger: String,
    pub machine: String,
    pub host: String,
    pub rows: u64,
    pub head: String,
    /// Tables by name; a table without rows has no file.
    pub tables: BTreeMap<String, Sealed>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    pub rows: u64,
    pub sha256: String,
}

impl Manifest {
    pub fn path(dir: &Path, stem: &str) -> PathBuf {
        dir.join(FOLDER).join(format!("{stem}.json"))
    }

    /// The manifest with the SHA-256 of its bytes; None if there is none.
    pub fn read(path: &Path) -> io::Result<Option<(Manifest, String)>> {
        let file = match regular_file::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut bytes = Vec::new();
        file.take(LONGEST).read_to_end(&mut bytes)?;
        Ok(Some((serde_json::from_slice(&bytes)?, sha256(&bytes))))
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }
}

pub fn sha256(bytes: &[u8]) -> String {
    Hash(Sha256::digest(bytes).into()).to_string()
}

/// Identifies this machine by a hash, because a ledger that was cloned with a disk image has the same id on both
/// machines. The system's own id is confidential (machine-id(5)) and is not shown.
pub fn machine() -> String {
    let number = ["/etc/machine-id", "/var/lib/dbus/machine-id"]
        .iter()
        .find_map(|path| regular_file::text(Path::new(path), 1 << 10).ok());
    let number = number.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let hash = |number: String| sha256(format!("whichkernel lake 1\0{number}").as_bytes());
    number.map(hash).and_then(|hash| hash.get(..12).map(str::to_owned)).unwrap_or_else(|| "unknown".to_owned())
}

/// The name for the files of this export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportName {
    /// The name is free, or it has an earlier export of the same rows.
    At { stem: String, beside: Option<String> },
    /// A later export of the same rows exists, which an older one must not replace.
    Later { stem: String },
}

/// The first name under which no other export is lost. An earlier export is replaced only if its last row is also ours.
pub fn place(dir: &Path, reader: &Reader, new: &Manifest) -> Result<ExportName, LakeError> {
    let mut beside = None;
    for at in 1..=MOST_FORKS {
        let base = format!("{}-{}", new.ledger, new.machine);
        let stem = if at == 1 { base } else { format!("{base}-{at}") };
        let path = Manifest::path(dir, &stem);
        let Some((there, _)) = Manifest::read(&path).map_err(|error| fail(&path, error))? else {
            return Ok(ExportName::At { stem, beside });
        };
        let ours = |row: u64| Ok::<_, LakeError>(reader.row(row)?.map(|row| row.hash.to_string()));
        let same = ours(there.rows)?.as_deref() == Some(&there.head);
        match (same, there.rows <= new.rows) {
            (true, true) => return Ok(ExportName::At { stem, beside }),
            (true, false) => return Ok(ExportName::Later { stem }),
            // The existing rows are not ours: they come from another machine with the same image, or the ledger was
            // restored to an earlier state.
            (false, _) if there.host == new.host && holds(dir, &stem, new) => return Ok(ExportName::Later { stem }),
            (false, _) => beside = Some(stem),
        }
    }
    Err(LakeError::Forks { ledger: new.ledger.clone(), most: MOST_FORKS })
}

/// The maximum size of a table that is read into memory.
const MOST: u64 = 4 << 30;

/// Whether every row of the new export is in the existing table.
fn holds(dir: &Path, stem: &str, new: &Manifest) -> bool {
    let file = dir.join("observations").join(format!("{stem}.parquet"));
    let table = regular_file::whole(&file, MOST).ok().and_then(|bytes| crate::parquet::read(&bytes).ok());
    let hashes = table.as_ref().and_then(|table| crate::rows::texts(table, "hash"));
    let last = usize::try_from(new.rows).ok().and_then(|rows| rows.checked_sub(1));
    hashes.zip(last).is_some_and(|(hashes, last)| hashes.get(last).and_then(Option::as_ref) == Some(&new.head))
}

/// How long an export waits for another one to publish, which renames four files.
const PATIENCE: Duration = Duration::from_secs(60);

/// Locks the lake for one export (`write`) or for readers, until it is dropped.
pub fn lock(dir: &Path, write: bool) -> io::Result<File> {
    let (folder, start) = (sys::files::lockable(dir)?, Instant::now());
    loop {
        match if write { folder.try_lock() } else { folder.try_lock_shared() } {
            Ok(()) => return Ok(folder),
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(10))
            }
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(
                    io::ErrorKind::WouldBlock,
                    "another program has held the lake for a minute",
                ));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}
