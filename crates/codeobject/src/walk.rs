//! Walks a range of device code: the bundles and the zeros between them.
//!
//! The plain magic also occurs inside compressed bundles and in strings, so the walk does not search for it while it
//! knows where the next bundle starts. Otherwise it searches for the next magic that starts a readable bundle and
//! reports the skipped bytes as not understood.

use crate::bundle::{self, Body, Bundle, BundleTable};
use crate::ccob::{self, Ccob};
use crate::coverage::{Range, first_nonzero};
use crate::error::{Error, Problem, Result};
use crate::read::ReadAt;
use say::key;

/// The next item in a range of device code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Bundle(Bundle),
    /// Bytes that were verified to be zero.
    Padding(Range),
    /// Bytes that do not start a bundle, and the error.
    NotUnderstood(Range, Error),
}

/// Yields the pieces of a range in order, without gaps: their ranges add up to the whole.
pub struct Walk<'a> {
    source: &'a dyn ReadAt,
    at: u64,
    end: u64,
    index: usize,
}

/// Walks the bundles in `range` of `source`. The first bundle gets the number `first_index`.
pub fn walk(source: &dyn ReadAt, range: Range, first_index: usize) -> Walk<'_> {
    Walk { source, at: range.start, end: range.end.min(source.len()), index: first_index }
}

impl Iterator for Walk<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if self.at >= self.end {
            return None;
        }
        let start = self.at;
        let piece = self.step().unwrap_or_else(|error| Piece::NotUnderstood(Range { start, end: self.end }, error));
        self.at = match &piece {
            Piece::Bundle(bundle) => bundle.range().end,
            Piece::Padding(range) | Piece::NotUnderstood(range, _) => range.end,
        };
        Some(piece)
    }
}

impl Walk<'_> {
    fn step(&mut self) -> Result<Piece> {
        let rest = Range { start: self.at, end: self.end };
        match first_nonzero(self.source, rest)? {
            None => return Ok(Piece::Padding(rest)),
            Some(at) if at > self.at => return Ok(Piece::Padding(Range { start: self.at, end: at })),
            Some(_) => {}
        }
        match read_bundle(self.source, self.at, self.end, self.index) {
            Ok(bundle) => {
                self.index += 1;
                Ok(Piece::Bundle(bundle))
            }
            Err(error) => {
                let end = self.resync()?.unwrap_or(self.end);
                Ok(Piece::NotUnderstood(Range { start: self.at, end }, error))
            }
        }
    }

    /// The next position at which a bundle can be read.
    fn resync(&self) -> Result<Option<u64>> {
        const PIECE: u64 = 1 << 20;
        let mut at = self.at + 1;
        while at < self.end {
            let len = (self.end - at).min(PIECE);
            let data = self.source.bytes(at, len, "device code")?;
            for found in candidates(&data) {
                if read_bundle(self.source, at + found, self.end, 0).is_ok() {
                    return Ok(Some(at + found));
                }
            }
            // Overlap the pieces, so that a magic across the boundary is found.
            let overlap = bundle::MAGIC.len() as u64 - 1;
            at += if len == PIECE { len - overlap } else { len };
        }
        Ok(None)
    }
}

fn candidates(data: &[u8]) -> impl Iterator<Item = u64> {
    let starts = |&at: &usize| {
        let rest = data.get(at..).unwrap_or_default();
        rest.starts_with(ccob::MAGIC) || rest.starts_with(bundle::MAGIC)
    };
    (0..data.len()).filter(starts).map(|at| at as u64)
}

/// The bundle that starts at `at`, plain or compressed.
fn read_bundle(source: &dyn ReadAt, at: u64, end: u64, index: usize) -> Result<Bundle> {
    let magic = source.bytes(at, 4.min(end - at), "bundle magic")?;
    if magic.starts_with(ccob::MAGIC) {
        let ccob = Ccob::parse(source, at, end)?;
        return Ok(Bundle { index, offset: at, size: ccob.total_size, body: Body::Compressed(ccob) });
    }
    if bundle::MAGIC.starts_with(&magic) {
        let table = BundleTable::parse(source, at, end)?;
        return Ok(Bundle { index, offset: at, size: table.size, body: Body::Plain(table) });
    }
    let found = magic.iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte));
    let expected = key!("codeobject-expected-any-bundle");
    Err(Error::new(at, "bundle magic", Problem::Unexpected { found, expected }))
}

impl std::fmt::Debug for Walk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Walk").field("at", &self.at).field("end", &self.end).finish_non_exhaustive()
    }
}
