//! Counts the bytes of a file that were examined. "Not found" means "not there" only for ranges that were completely
//! understood.

use crate::error::{Error, Problem, Result};
use crate::read::ReadAt;
use say::key;

/// A half-open range of file offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Range {
    pub start: u64,
    pub end: u64,
}

impl Range {
    pub fn len(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Bytes that could not be explained, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    pub range: Range,
    pub why: Error,
}

/// The account of a range of device code. Every byte counts as scanned, as padding or as not understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Read and understood.
    pub scanned: u64,
    /// Between items, and verified to be zero.
    pub padding: u64,
    pub not_understood: Vec<Gap>,
}

impl Coverage {
    pub fn lost(&self) -> u64 {
        self.not_understood.iter().map(|gap| gap.range.len()).sum()
    }

    pub fn total(&self) -> u64 {
        self.scanned.saturating_add(self.padding).saturating_add(self.lost())
    }

    /// Whether every byte was explained. Only then does "not found" mean "not there".
    pub fn is_complete(&self) -> bool {
        self.not_understood.is_empty()
    }

    pub fn lose(&mut self, range: Range, why: Error) {
        self.not_understood.push(Gap { range, why });
    }

    pub fn merge(&mut self, other: Coverage) {
        self.scanned = self.scanned.saturating_add(other.scanned);
        self.padding = self.padding.saturating_add(other.padding);
        self.not_understood.extend(other.not_understood);
    }

    /// Counts `range` as padding if it is all zero, otherwise as not understood.
    pub fn pad(&mut self, source: &dyn ReadAt, range: Range) -> Result<()> {
        match first_nonzero(source, range)? {
            None => self.padding = self.padding.saturating_add(range.len()),
            Some(at) => {
                let found = source.bytes(at, 1, "padding")?.first().copied().unwrap_or(0);
                let problem =
                    Problem::Unexpected { found: found.into(), expected: key!("codeobject-expected-padding") };
                self.lose(range, Error::new(at, "padding", problem));
            }
        }
        Ok(())
    }
}

/// The offset of the first nonzero byte in `range`. Reads in pieces.
pub(crate) fn first_nonzero(source: &dyn ReadAt, range: Range) -> Result<Option<u64>> {
    let mut at = range.start;
    // Start small: most gaps are shorter than a page.
    let mut piece = 4096;
    while at < range.end {
        let len = (range.end - at).min(piece);
        let data = source.bytes(at, len, "padding")?;
        // Compare eight bytes at a time, so that a long run of zeros is read at memory speed.
        let words = data.chunks_exact(8).take_while(|word| **word == [0; 8]).count() * 8;
        if let Some(rest) = data.get(words..).and_then(|rest| rest.iter().position(|&byte| byte != 0)) {
            return Ok(Some(at + (words + rest) as u64));
        }
        at += len;
        piece = 1 << 20;
    }
    Ok(None)
}
