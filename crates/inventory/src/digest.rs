//! The SHA-256 of a file, which identifies it in every observation.

use crate::file::{File, Stamp};
use codeobject::{ReadAt, Result};
use sha2::Digest;
use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, Mutex};

/// Small enough to stay in the cache between reading and hashing.
const PIECE: usize = 256 << 10;

/// Hashes of files in this process, by their metadata before and after reading. An investigation needs the hashes of
/// the same gigabytes again and again.
static KNOWN: LazyLock<Mutex<HashMap<Stamp, Sha256>>> = LazyLock::new(Mutex::default);
/// Shorter files are read again: they may be written twice within one tick of the clock behind their timestamps.
const LONG: u64 = 4 << 20;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha256(pub [u8; 32]);

impl Sha256 {
    /// Reads the file once, in pieces. `also` gets each piece with its offset, so that the file need not be read again.
    pub fn of(source: &dyn ReadAt, mut also: impl FnMut(u64, &[u8])) -> Result<Self> {
        let mut hasher = sha2::Sha256::new();
        let mut buffer = vec![0; PIECE];
        let mut at = 0;
        while at < source.len() {
            let left = usize::try_from(source.len() - at).unwrap_or(PIECE);
            let piece = buffer.get_mut(..left.min(PIECE)).unwrap_or_default();
            source.read_into(at, piece, "file")?;
            hasher.update(&*piece);
            also(at, piece);
            at += piece.len() as u64;
        }
        Ok(Sha256(hasher.finalize().into()))
    }

    /// The hash of a file, from the cache if the file has not changed since it was read.
    pub fn of_file(file: &File) -> Result<Self> {
        match Sha256::known(file) {
            Some(hash) => Ok(hash),
            None => Sha256::of(file, |_, _| ()).inspect(|hash| hash.remember(file)),
        }
    }

    pub(crate) fn known(file: &File) -> Option<Self> {
        KNOWN.lock().ok()?.get(&file.unchanged()?).copied()
    }

    /// Caches the hash of the file that was just read.
    pub(crate) fn remember(&self, file: &File) {
        if let (Some(stamp), Ok(mut known)) = (file.unchanged().filter(|_| file.len() >= LONG), KNOWN.lock()) {
            known.insert(stamp, *self);
        }
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha256({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_is_read_again() {
        let place = tempfile::NamedTempFile::new().expect("a file");
        let write = |byte: u8| std::fs::write(place.path(), vec![byte; LONG as usize]).expect("written");
        let open = || File::open(place.path()).expect("opened");
        let read = |file: &File| Sha256::of(file, |_, _| ()).expect("read");
        write(1);
        let before = open();
        let first = Sha256::of_file(&before).expect("read");
        assert_eq!((first, Sha256::of_file(&open()).expect("read")), (read(&before), first));
        // Wait until the clock of the file system has advanced.
        while before.unchanged().is_some() {
            write(2);
        }
        let now = open();
        assert_eq!(Sha256::of_file(&now).expect("read"), read(&now));
        assert_ne!(Sha256::of_file(&now).expect("read"), first);
    }
}
