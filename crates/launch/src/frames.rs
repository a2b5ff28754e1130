//! The frame of a trace file: its header, and its records one after another, whatever they are of.
//!
//! A process may have died at any instruction. What it had reserved and not finished is counted as torn and stepped over;
//! nothing behind it is lost.

use crate::record::{FIRST, MAGIC};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    #[error("this is not a launch trace: it does not begin with \"WKTRACE1\"")]
    Magic,
    #[error("the trace has {len} bytes, less than its header")]
    Short { len: usize },
}

/// The finished records of a trace, by kind and body.
#[derive(Debug, Clone)]
pub struct Frames<'a> {
    bytes: &'a [u8],
    at: usize,
    /// 1: the stand-in GPU, 2: the preload shim, 3: the Vulkan layer.
    pub writer: u32,
    pub pid: u32,
    /// Records that found no room.
    pub lost: u64,
    /// Records that were begun and never finished, among those that were gone through.
    pub torn: u64,
}

impl<'a> Frames<'a> {
    pub fn of(bytes: &'a [u8]) -> Result<Frames<'a>, FrameError> {
        let short = FrameError::Short { len: bytes.len() };
        if !bytes.starts_with(&MAGIC) {
            return Err(if bytes.len() < MAGIC.len() { short } else { FrameError::Magic });
        }
        if bytes.len() < FIRST as usize {
            return Err(short);
        }
        let used = usize::try_from(long(bytes, 8)).unwrap_or(usize::MAX).min(bytes.len());
        let (lost, pid, writer) = (long(bytes, 16), word(bytes, 24), word(bytes, 40));
        Ok(Frames { bytes: bytes.get(..used).unwrap_or(bytes), at: FIRST as usize, writer, pid, lost, torn: 0 })
    }

    fn head(&self) -> Option<(usize, u32)> {
        self.bytes.get(self.at..self.at.checked_add(8)?)?;
        Some((word(self.bytes, self.at) as usize, word(self.bytes, self.at + 4)))
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = (u32, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (len, kind) = self.head()?;
            if len == 0 {
                // Reserved and never begun: records are 8-byte aligned, so the next one stands at some step of 8.
                self.torn += 1;
                while self.head().is_some_and(|(len, _)| len == 0) {
                    self.at += 8;
                }
                continue;
            }
            let end = self.at.saturating_add(len).min(self.bytes.len());
            let body = self.bytes.get(self.at + 8..end).unwrap_or_default();
            self.at = end.max(self.at + 8);
            match kind {
                0 => self.torn += 1,
                kind => return Some((kind, body)),
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
