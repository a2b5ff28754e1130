//! The SHA-256 of a file, which names it in every observation.

use codeobject::{ReadAt, Result};
use sha2::Digest;
use std::fmt;

/// Small enough to stay in the cache between reading and hashing.
const PIECE: usize = 256 << 10;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha256(pub [u8; 32]);

impl Sha256 {
    /// Reads the file once, in pieces. `also` is shown each piece with its offset, so that nobody has to read it again.
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
