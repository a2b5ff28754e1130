//! Raw evidence, kept once under the hash of its content: `blobs/ab/cdef...`. Written and read in pieces, so that a
//! trace of gigabytes needs no memory to speak of.

use crate::error::LedgerError;
use evidence::Evidence;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Clone)]
pub struct Blobs {
    dir: PathBuf,
}

const PIECE: usize = 64 * 1024;

impl Blobs {
    pub(crate) fn new(ledger: &Path) -> Self {
        Blobs { dir: ledger.join("blobs") }
    }

    pub fn path(&self, sha256: &str) -> PathBuf {
        let (first, rest) = sha256.split_at_checked(2).unwrap_or(("", sha256));
        self.dir.join(first).join(rest)
    }

    /// Durable when it returns, before any row may name it. What is there already is not written again.
    pub(crate) fn keep(&self, kind: &str, mut from: impl Read) -> Result<Evidence, LedgerError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let unique = format!("tmp-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let temporary = self.dir.join(unique);
        let result = self.write(&temporary, &mut from);
        if result.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        let (sha256, size) = result.map_err(|error| LedgerError::io(&self.dir, "keeping raw evidence", error))?;
        Ok(Evidence { sha256, size, kind: kind.to_owned() })
    }

    /// Keeps what was spooled into `file`, and leaves it empty for the next.
    pub(crate) fn adopt(&self, file: &mut File) -> io::Result<()> {
        file.rewind()?;
        self.keep("", &mut *file).map_err(io::Error::other)?;
        file.rewind()?;
        file.set_len(0)
    }

    fn write(&self, temporary: &Path, from: &mut impl Read) -> io::Result<(String, u64)> {
        fs::create_dir_all(&self.dir)?;
        let mut file = File::create(temporary)?;
        let mut sha = Sha256::new();
        let mut size = 0;
        each_piece(from, |piece| {
            sha.update(piece);
            size += piece.len() as u64;
            file.write_all(piece)
        })?;
        let sha256 = hex::encode(sha.finalize());
        let path = self.path(&sha256);
        if fs::metadata(&path).is_ok_and(|there| there.len() == size) {
            fs::remove_file(temporary)?;
            return Ok((sha256, size));
        }
        file.sync_all()?;
        let folder = path.parent().unwrap_or(&self.dir);
        fs::create_dir_all(folder)?;
        fs::rename(temporary, &path)?;
        for dir in [folder, &self.dir] {
            File::open(dir)?.sync_all()?;
        }
        Ok((sha256, size))
    }

    pub fn open(&self, sha256: &str) -> io::Result<File> {
        File::open(self.path(sha256))
    }

    /// The hash and size that the stored content really has; None where it is missing.
    pub fn measure(&self, sha256: &str) -> io::Result<Option<(String, u64)>> {
        let mut file = match self.open(sha256) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut sha = Sha256::new();
        let mut size = 0;
        each_piece(&mut file, |piece| {
            sha.update(piece);
            size += piece.len() as u64;
            Ok(())
        })?;
        Ok(Some((hex::encode(sha.finalize()), size)))
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
