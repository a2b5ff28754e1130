//! The frame of a trace file: its header and its consecutive records, of any kind.
//!
//! A process may have died at any instruction. Records that were reserved but not finished are counted as torn and
//! skipped. The records after them can still be read.

use crate::record::{FIRST, MAGIC};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceError {
    Magic,
    Short { len: usize },
}

say::worded! { TraceError {
    Magic => "launch-trace-magic",
    Short { len } => "launch-trace-short",
}}

/// A finished record: its kind, its body, and the body's offset in the file.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    pub kind: u32,
    pub body: &'a [u8],
    pub at: usize,
}

#[derive(Debug, Clone)]
pub struct Frames<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The writer: 1 is the stand-in GPU, 2 the preload shim, 3 the Vulkan layer.
    pub writer: u32,
    pub pid: u32,
    pub parent: u32,
    pub start_ns: u64,
    /// Records that did not fit.
    pub lost: u64,
    /// Unfinished records among those that were read.
    pub torn: u64,
}

impl<'a> Frames<'a> {
    pub fn of(bytes: &'a [u8]) -> Result<Frames<'a>, TraceError> {
        let short = TraceError::Short { len: bytes.len() };
        if !bytes.starts_with(&MAGIC) {
            return Err(if bytes.len() < MAGIC.len() { short } else { TraceError::Magic });
        }
        if bytes.len() < FIRST as usize {
            return Err(short);
        }
        let used = usize::try_from(long(bytes, 8)).unwrap_or(usize::MAX).min(bytes.len());
        Ok(Frames {
            bytes: bytes.get(..used).unwrap_or(bytes),
            at: FIRST as usize,
            writer: word(bytes, 40),
            pid: word(bytes, 24),
            parent: word(bytes, 28),
            start_ns: long(bytes, 32),
            lost: long(bytes, 16),
            torn: 0,
        })
    }

    fn head(&self) -> Option<(usize, u32)> {
        self.bytes.get(self.at..self.at.checked_add(8)?)?;
        Some((word(self.bytes, self.at) as usize, word(self.bytes, self.at + 4)))
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Frame<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (len, kind) = self.head()?;
            if len == 0 {
                // The record was reserved but never begun. Records are 8-byte aligned, so the next one starts at a
                // multiple of 8.
                self.torn += 1;
                while self.head().is_some_and(|(len, _)| len == 0) {
                    self.at += 8;
                }
                continue;
            }
            let end = self.at.saturating_add(len).min(self.bytes.len());
            let at = self.at + 8;
            let body = self.bytes.get(at..end).unwrap_or_default();
            self.at = end.max(at);
            match kind {
                0 => self.torn += 1,
                kind => return Some(Frame { kind, body, at }),
            }
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |four| u32::from_le_bytes(*four))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |eight| u64::from_le_bytes(*eight))
}
