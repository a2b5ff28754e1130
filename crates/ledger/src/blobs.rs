//! Raw evidence, stored once under the hash of its content: `blobs/ab/cdef...`. It is written and read in pieces, so
//! that a trace of several gigabytes needs little memory.
//!
//! Only this module turns a hash into a path, and only if the hash is valid: 64 lower-case hex digits. A blob is opened
//! only if it is a regular file, and is not read beyond its recorded size.

use crate::error::LedgerError;
use crate::{open_regular, permissions};
use evidence::Evidence;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use sys::files;
use sys::unix::MetadataExt as _;

#[derive(Debug, Clone)]
pub struct Blobs {
    dir: PathBuf,
}

const PIECE: usize = 64 * 1024;

/// The actual state of the stored content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measured {
    Missing,
    /// The content is as recorded.
    Same,
    /// The hash or the size differs. Contains the hash of the bytes that were read. Reading stops one byte after the
    /// recorded size.
    Other(String),
}

/// Whether the text is exactly what `hex::encode` produces for a SHA-256. No other text may name a file.
pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a name has the form `tmp-PROCESS-NUMBER`.
fn is_temporary(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = name.strip_prefix("tmp-").and_then(|rest| rest.split_once('-'));
    numbers.is_some_and(|(process, number)| digits(process) && digits(number))
}

/// A printable form, shortened if the text is long.
pub(crate) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(80).flat_map(char::escape_default).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

impl Blobs {
    pub(crate) fn new(ledger: &Path) -> Self {
        Blobs { dir: ledger.join("blobs") }
    }

    /// The path of a blob. Fails if `sha256` is not a hash, because nothing is stored under other names.
    pub fn path(&self, sha256: &str) -> io::Result<PathBuf> {
        match sha256.split_at_checked(2) {
            Some((first, rest)) if is_hash(sha256) => Ok(self.dir.join(first).join(rest)),
            _ => {
                let what = say::say!("ledger-no-sha256", sha256 = shown(sha256));
                Err(io::Error::new(io::ErrorKind::InvalidData, what))
            }
        }
    }

    /// Stores content. It is durable when this returns, before any row may refer to it. Existing content is not written
    /// again.
    pub(crate) fn keep(&self, kind: &str, mut from: impl Read) -> Result<Evidence, LedgerError> {
        let (sha256, size, _) = self.put(&mut from)?;
        Ok(Evidence { sha256, size, kind: kind.to_owned() })
    }

    /// Returns the hash, the size, and whether the content is new.
    pub(crate) fn put(&self, from: &mut impl Read) -> Result<(String, u64, bool), LedgerError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let unique = format!("tmp-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let temporary = self.dir.join(unique);
        let result = self.write(&temporary, from);
        if result.is_err() {
            let _ = files::remove(&temporary);
        }
        result.map_err(|error| LedgerError::io(&self.dir, say::key!("ledger-doing-keeping"), error))
    }

    /// Undoes a `put` of new content.
    pub(crate) fn remove(&self, sha256: &str) {
        if let Ok(path) = self.path(sha256) {
            let _ = files::remove(&path);
            // Removing the directory fails, without harm, if it has other blobs.
            let _ = path.parent().map(fs::remove_dir);
        }
    }

    fn write(&self, temporary: &Path, from: &mut impl Read) -> io::Result<(String, u64, bool)> {
        permissions::make_dir(&self.dir)?;
        let mut file = self.begin(temporary)?;
        let mut sha = Sha256::new();
        let mut size = 0;
        each_piece(from, |piece| {
            sha.update(piece);
            size += piece.len() as u64;
            file.write_all(piece)
        })?;
        let sha256 = hex::encode(sha.finalize());
        let path = self.path(&sha256)?;
        if fs::symlink_metadata(&path).is_ok_and(|there| there.is_file() && there.len() == size) {
            files::remove(temporary)?;
            return Ok((sha256, size, false));
        }
        file.sync_all()?;
        let folder = path.parent().unwrap_or(&self.dir);
        permissions::make_dir(folder)?;
        files::rename(temporary, &path)?;
        for dir in [folder, &self.dir] {
            files::sync_dir(dir)?;
        }
        Ok((sha256, size, true))
    }

    /// Creates a file that is locked while its writer lives. The lock distinguishes it from the remains of a killed
    /// writer.
    fn begin(&self, temporary: &Path) -> io::Result<File> {
        loop {
            // A killed process with the same process id may have left this file.
            let _ = files::remove(temporary);
            let file = open_regular::create(temporary)?;
            file.lock()?;
            // Another process may have removed the file between creating and locking it.
            if file.metadata()?.nlink() > 0 {
                return Ok(file);
            }
        }
    }

    /// Removes half-written files of killed writers. A living writer holds the lock on its file, so its file stays.
    pub(crate) fn sweep(&self) -> io::Result<()> {
        let inside = match fs::read_dir(&self.dir) {
            Ok(inside) => inside,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        for entry in inside {
            let entry = entry?;
            if !entry.file_name().to_str().is_some_and(is_temporary) {
                continue;
            }
            // A foreign or missing file is left alone.
            let Ok(file) = open_regular::open(&entry.path()) else { continue };
            if file.try_lock().is_ok() {
                let _ = files::remove(&entry.path());
            }
        }
        Ok(())
    }

    pub fn open(&self, sha256: &str) -> io::Result<File> {
        open_regular::open(&self.path(sha256)?)
    }

    /// Passes the content on in pieces, and returns at the end whether it matched the record.
    pub fn read(&self, evidence: &Evidence, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<Measured> {
        let file = match self.open(&evidence.sha256) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Measured::Missing),
            Err(error) => return Err(error),
        };
        let mut sha = Sha256::new();
        let mut size = 0;
        each_piece(&mut file.take(evidence.size.saturating_add(1)), |piece| {
            sha.update(piece);
            size += piece.len() as u64;
            take(piece)
        })?;
        let found = hex::encode(sha.finalize());
        Ok(if found == evidence.sha256 && size == evidence.size { Measured::Same } else { Measured::Other(found) })
    }

    pub fn measure(&self, evidence: &Evidence) -> io::Result<Measured> {
        self.read(evidence, |_| Ok(()))
    }
}

pub(crate) fn each_piece(from: &mut impl Read, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => take(buffer.get(..n).unwrap_or_default())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_hash_becomes_a_path() {
        let blobs = Blobs::new(Path::new("/ledger"));
        let upper = "A".repeat(64);
        let far = format!("../{}", "a".repeat(61));
        for bad in ["", "xx/etc/shadow", "/etc/shadow", "..", &"a".repeat(63), &"a".repeat(65), &upper, &far, "é"] {
            assert!(blobs.path(bad).is_err(), "{bad}");
        }
        assert_eq!(blobs.path(&"ab".repeat(32)).unwrap().parent(), Some(Path::new("/ledger/blobs/ab")));
    }

    /// A writer may wait on a pipe for any length of time, so the age of a file does not show that its writer is dead.
    #[test]
    fn only_what_dead_writers_left_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(dir.path());
        blobs.sweep().unwrap();
        permissions::make_dir(&blobs.dir).unwrap();
        let at = |name: &str| blobs.dir.join(name);
        for name in ["tmp-1-0", "tmp-1-x", "tmp-mine", "note"] {
            fs::write(at(name), "half").unwrap();
        }
        fs::create_dir(at("tmp-2-0")).unwrap();
        std::os::unix::fs::symlink(at("note"), at("tmp-3-0")).unwrap();
        let (mut end, begun) = io::pipe().map(|(read, write)| (write, read)).unwrap();
        let writer = std::thread::spawn({
            let blobs = blobs.clone();
            move || blobs.keep("text", begun).unwrap()
        });
        let alive = |name: &String| is_temporary(name) && !["tmp-1-0", "tmp-2-0", "tmp-3-0"].contains(&name.as_str());
        let names = || fs::read_dir(&blobs.dir).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
        end.write_all(b"first ").unwrap();
        while !names().any(|name| alive(&name)) {
            std::thread::yield_now();
        }
        blobs.sweep().unwrap();
        end.write_all(b"last").unwrap();
        drop(end);
        let kept = writer.join().unwrap();
        assert_eq!(blobs.measure(&kept).unwrap(), Measured::Same);
        let left: std::collections::BTreeSet<String> = names().filter(|name| name.len() > 2).collect();
        assert_eq!(left.into_iter().collect::<Vec<_>>(), ["note", "tmp-1-x", "tmp-2-0", "tmp-3-0", "tmp-mine"]);
    }
}
