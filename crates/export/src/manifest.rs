//! The manifest of one ledger in a lake: how far it was exported, and the rows and the SHA-256 of each file. An export
//! writes it last, so the files that it names exist, and it is the mark from which the next export continues.

use crate::error::{LakeError, fail};
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
pub const SCHEMA: &str = "whichkernel.lake-manifest/2";
pub const TABLES: [&str; 3] = ["observations", "launches", "claims"];
/// The maximum size to read. A manifest has about 400 bytes for each day.
const LONGEST: u64 = 64 << 20;
/// The maximum number of diverging copies of one ledger on one machine.
const MOST_FORKS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub schema: String,
    pub ledger: String,
    /// The value of the partition `machine`.
    pub machine: String,
    pub host: String,
    /// The number of exported rows; the next export continues after them.
    pub rows: u64,
    pub head: String,
    /// The files by table and day.
    pub tables: BTreeMap<String, BTreeMap<String, Part>>,
}

/// One file of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub rows: u64,
    pub sha256: String,
    /// For observations: the rows of the ledger in this file, as first and last number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<(u64, u64)>,
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
        let manifest: Manifest = serde_json::from_slice(&bytes)?;
        if manifest.schema != SCHEMA {
            let why = say::say!("export-lake-schema", found = manifest.schema, expected = SCHEMA);
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        // These become parts of paths.
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let days = manifest.tables.values().flat_map(BTreeMap::keys);
        if !plain(&manifest.ledger) || !plain(&manifest.machine) || !days.into_iter().all(|day| is_day(day)) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, say::say!("export-lake-names")));
        }
        Ok(Some((manifest, sha256(&bytes))))
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }

    pub fn part(&self, table: &str, day: &str) -> Option<&Part> {
        self.tables.get(table)?.get(day)
    }

    /// The rows in all files of a table.
    pub fn count(&self, table: &str) -> u64 {
        self.tables.get(table).into_iter().flat_map(BTreeMap::values).map(|part| part.rows).sum()
    }

    /// The path of a file, below the lake.
    pub fn file(&self, table: &str, day: &str) -> PathBuf {
        let Manifest { machine, ledger, .. } = self;
        Path::new(table)
            .join(format!("day={day}"))
            .join(format!("machine={machine}"))
            .join(format!("part-{ledger}.parquet"))
    }
}

/// The day of a time, as the partition's value. Only digits and hyphens become part of a path.
pub fn day(time: &str) -> String {
    const UNKNOWN: &str = "1970-01-01";
    let day = time.get(..10).filter(|day| is_day(day));
    day.unwrap_or(UNKNOWN).to_owned()
}

/// Whether a text has the form `2026-11-17`.
pub fn is_day(text: &str) -> bool {
    let fits = |(at, byte): (usize, &u8)| if at == 4 || at == 7 { *byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.as_bytes().iter().enumerate().all(fits)
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

/// Where an export goes, and what is there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The base name of the manifest.
    pub stem: String,
    /// The value of the partition `machine`. It starts with a letter, because engines read digits as a number.
    pub partition: String,
    /// The name of another ledger in the lake with the same id.
    pub beside: Option<String>,
    /// The earlier export that this one continues, with the SHA-256 of its manifest.
    pub earlier: Option<(Manifest, String)>,
    /// Whether the earlier export has all of our rows, and more.
    pub later: bool,
}

/// The ledger's state that is exported: its last row, and whose it is.
#[derive(Debug, Clone, Copy)]
pub struct State<'a> {
    pub ledger: &'a str,
    pub machine: &'a str,
    pub host: &'a str,
    pub rows: u64,
    pub head: Hash,
}

/// The first name under which no other export is lost. An earlier export is continued only if its last row is also ours.
pub fn place(dir: &Path, reader: &Reader, new: &State<'_>) -> Result<Place, LakeError> {
    let mut beside = None;
    for at in 1..=MOST_FORKS {
        let fork = if at == 1 { String::new() } else { format!("-{at}") };
        let stem = format!("{}-{}{fork}", new.ledger, new.machine);
        let partition = format!("m{}{fork}", new.machine);
        let path = Manifest::path(dir, &stem);
        let earlier = Manifest::read(&path).map_err(|error| fail(&path, error))?;
        let Some((there, _)) = &earlier else {
            return Ok(Place { stem, partition, beside, earlier: None, later: false });
        };
        let ours = reader.row(there.rows)?.is_some_and(|row| row.hash.to_string() == there.head);
        // Rows that are not ours come from another machine with the same image, or the ledger was restored to an
        // earlier state.
        let later = there.rows > new.rows && (ours || there.host == new.host && holds(dir, there, new));
        if ours || later {
            return Ok(Place { stem, partition, beside, later, earlier });
        }
        beside = Some(stem);
    }
    Err(LakeError::Forks { ledger: new.ledger.to_owned(), most: MOST_FORKS })
}

/// The maximum size of a table that is read into memory.
const MOST: u64 = 4 << 30;

/// Whether the last row of the new export is in the existing tables. Its hash covers every row before it.
fn holds(dir: &Path, there: &Manifest, new: &State<'_>) -> bool {
    let within = |part: &Part| part.runs.iter().any(|(first, last)| (*first..=*last).contains(&new.rows));
    let days = there.tables.get("observations").into_iter().flatten();
    let Some((day, _)) = days.into_iter().find(|(_, part)| within(part)) else { return false };
    let bytes = regular_file::whole(&dir.join(there.file("observations", day)), MOST);
    let table = bytes.ok().and_then(|bytes| crate::parquet::read(&bytes).ok());
    let hashes = table.as_ref().and_then(|table| crate::rows::texts(table, "hash"));
    hashes.is_some_and(|hashes| hashes.contains(&Some(new.head.to_string())))
}

/// How long an export waits for another one to publish, which renames a few files.
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
