//! Random access to bytes: the only interface that the parsers need.

use crate::error::{Error, Problem, Result};
use std::borrow::Cow;

/// A source of bytes at offsets: a slice, a file read with `pread`, a part of either.
///
/// Implementations must never return more than requested. If a range is not completely available, they must fail
/// instead of shortening it.
pub trait ReadAt: Sync {
    fn len(&self) -> u64;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Exactly `len` bytes from `offset`; `field` names what is being read, for the error.
    fn bytes(&self, offset: u64, len: u64, field: &'static str) -> Result<Cow<'_, [u8]>>;

    /// Fills `buffer` from `offset`, for reading large amounts piece by piece.
    fn read_into(&self, offset: u64, buffer: &mut [u8], field: &'static str) -> Result<()> {
        let bytes = self.bytes(offset, buffer.len() as u64, field)?;
        for (to, from) in buffer.iter_mut().zip(bytes.iter()) {
            *to = *from;
        }
        Ok(())
    }
}

/// An error unless `len` bytes from `offset` are within `total`.
pub fn check(total: u64, offset: u64, len: u64, field: &'static str) -> Result<()> {
    let left = total.saturating_sub(offset);
    if len <= left {
        return Ok(());
    }
    Err(Error::new(offset, field, Problem::Truncated { needed: len, left }))
}

impl ReadAt for [u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn bytes(&self, offset: u64, len: u64, field: &'static str) -> Result<Cow<'_, [u8]>> {
        check(<[u8]>::len(self) as u64, offset, len, field)?;
        // Both fit in usize: the check above has shown that they are within the slice.
        let (start, len) = (offset as usize, len as usize);
        Ok(Cow::Borrowed(self.get(start..start + len).unwrap_or_default()))
    }
}

impl ReadAt for &[u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn bytes(&self, offset: u64, len: u64, field: &'static str) -> Result<Cow<'_, [u8]>> {
        (**self).bytes(offset, len, field)
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn bytes(&self, offset: u64, len: u64, field: &'static str) -> Result<Cow<'_, [u8]>> {
        self.as_slice().bytes(offset, len, field)
    }
}

/// A part of another source, with its own offsets starting at 0.
#[derive(Clone, Copy)]
pub struct Window<'a> {
    source: &'a dyn ReadAt,
    start: u64,
    len: u64,
}

impl<'a> Window<'a> {
    /// A window of `len` bytes from `start`. Fails if the source does not have them.
    pub fn new(source: &'a dyn ReadAt, start: u64, len: u64, field: &'static str) -> Result<Self> {
        check(source.len(), start, len, field)?;
        Ok(Window { source, start, len })
    }

    /// The offset in the source at which this part starts.
    pub fn start(&self) -> u64 {
        self.start
    }
}

impl ReadAt for Window<'_> {
    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self, offset: u64, len: u64, field: &'static str) -> Result<Cow<'_, [u8]>> {
        check(self.len, offset, len, field)?;
        self.source.bytes(self.start + offset, len, field).map_err(|mut error| {
            error.offset = error.offset.saturating_sub(self.start);
            error
        })
    }
}

impl std::fmt::Debug for Window<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Window").field("start", &self.start).field("len", &self.len).finish_non_exhaustive()
    }
}

/// Reads a little-endian integer at an offset in a slice. Returns 0 if the slice is too short, so check the length
/// first.
pub(crate) fn u16_at(data: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(data, at))
}

pub(crate) fn u32_at(data: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(data, at))
}

pub(crate) fn u64_at(data: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(data, at))
}

fn array<const N: usize>(data: &[u8], at: usize) -> [u8; N] {
    data.get(at..).and_then(|rest| rest.first_chunk::<N>()).copied().unwrap_or([0; N])
}
