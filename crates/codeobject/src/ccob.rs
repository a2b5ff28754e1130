//! CCOB: a compressed offload bundle. Versions 1, 2 and 3, zlib and zstd.
//!
//! Header layouts: `clang/lib/Driver/OffloadBundler.cpp`, class CompressedOffloadBundle. The hash is the first eight
//! bytes of the MD5 of the unpacked bundle, read as a little-endian integer.

use crate::error::{Error, Problem, Result};
use crate::read::{ReadAt, u16_at, u32_at, u64_at};
use crate::zstd_frame;
use md5::{Digest, Md5};
use say::{Message, key, say};
use std::fmt;

pub const MAGIC: &[u8; 4] = b"CCOB";

/// The default limit for the unpacked size: 2 GiB.
pub const DEFAULT_LIMIT: u64 = 2 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compression {
    None,
    Zlib,
    Zstd,
}

impl Compression {
    /// The maximum number of bytes that one compressed byte can expand to: 1032 for deflate (a run in one-bit codes);
    /// zstd can store 128 KiB in a four-byte RLE block.
    fn ratio(self) -> u64 {
        match self {
            Compression::None => 1,
            Compression::Zlib => 1032,
            Compression::Zstd => (128 << 10) / 4,
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::None => "none",
            Compression::Zlib => "zlib",
            Compression::Zstd => "zstd",
        })
    }
}

/// A CCOB header whose lengths have been checked against the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ccob {
    /// The offset in the source at which the header starts.
    pub offset: u64,
    pub version: u16,
    pub compression: Compression,
    pub header_size: u64,
    /// Size of header and payload. Version 1 does not store it, so it is found by walking the stream.
    pub total_size: u64,
    pub unpacked_size: u64,
    pub hash: u64,
}

impl Ccob {
    /// Reads the header at `offset`; the payload may reach up to `end`.
    pub fn parse(source: &dyn ReadAt, offset: u64, end: u64) -> Result<Self> {
        let fail = |at: u64, field, problem| Err(Error::new(offset + at, field, problem));
        let start = source.bytes(offset, 8, "CCOB header")?;
        if !start.starts_with(MAGIC) {
            let found = u64::from(u32_at(&start, 0));
            return fail(0, "CCOB magic", Problem::Unexpected { found, expected: key!("codeobject-expected-ccob") });
        }
        let version = u16_at(&start, 4);
        let header_size = match version {
            1 => 20,
            2 => 24,
            3 => 32,
            other => {
                return fail(
                    4,
                    "CCOB version",
                    Problem::Unexpected { found: other.into(), expected: key!("codeobject-expected-ccob-version") },
                );
            }
        };
        let compression = match u16_at(&start, 6) {
            0 => Compression::Zlib,
            1 => Compression::Zstd,
            other => {
                let expected = key!("codeobject-expected-ccob-method");
                return fail(6, "CCOB method", Problem::Unexpected { found: other.into(), expected });
            }
        };
        let raw = source.bytes(offset, header_size, "CCOB header")?;
        let (total, unpacked_size, hash) = match version {
            1 => (None, u64::from(u32_at(&raw, 8)), u64_at(&raw, 12)),
            2 => (Some(u64::from(u32_at(&raw, 8))), u64::from(u32_at(&raw, 12)), u64_at(&raw, 16)),
            _ => (Some(u64_at(&raw, 8)), u64_at(&raw, 16), u64_at(&raw, 24)),
        };
        let room = end.min(source.len()).saturating_sub(offset);
        let total_size = match total {
            Some(total) if total < header_size => {
                return fail(
                    8,
                    "CCOB total size",
                    Problem::Unexpected { found: total, expected: key!("codeobject-expected-more-than-header") },
                );
            }
            Some(total) if total > room => {
                return fail(8, "CCOB total size", Problem::Truncated { needed: total, left: room });
            }
            Some(total) => total,
            None => header_size + stream_size(source, offset + header_size, offset + room, compression)?,
        };
        let most = (total_size - header_size).saturating_mul(compression.ratio());
        if unpacked_size > most {
            let problem = Problem::OverLimit { claimed: unpacked_size, limit: most };
            return fail(if version == 1 { 8 } else { 12 }, "CCOB unpacked size", problem);
        }
        Ok(Ccob { offset, version, compression, header_size, total_size, unpacked_size, hash })
    }

    /// The unpacked bundle, with its hash checked. Produces at most `limit` bytes.
    pub fn unpack(&self, source: &dyn ReadAt, limit: u64) -> Result<Vec<u8>> {
        if self.unpacked_size > limit {
            let problem = Problem::OverLimit { claimed: self.unpacked_size, limit };
            return Err(Error::new(self.offset, "CCOB unpacked size", problem));
        }
        let start = self.offset + self.header_size;
        let payload = source.bytes(start, self.total_size - self.header_size, "CCOB payload")?;
        let corrupt = |why: Message| Error::new(start, "CCOB payload", Problem::Corrupt(why));
        let size = usize::try_from(self.unpacked_size).map_err(|_| corrupt(say!("codeobject-too-large")))?;
        let unpacked = match self.compression {
            Compression::Zlib => inflate(&payload, size),
            _ => decompress(&payload, size),
        }
        .map_err(corrupt)?;
        if unpacked.len() as u64 != self.unpacked_size {
            let (got, stated) = (unpacked.len(), self.unpacked_size);
            return Err(corrupt(say!("codeobject-unpacked-size", got, stated)));
        }
        let computed = u64_at(&Md5::digest(&unpacked), 0);
        if computed != self.hash {
            let at = self.offset + if self.version == 1 { 12 } else { 8 * u64::from(self.version) };
            return Err(Error::new(at, "CCOB hash", Problem::Hash { stated: self.hash, computed }));
        }
        Ok(unpacked)
    }
}

/// zstd writes directly into the result, which is also its window, so it allocates no second buffer of that size. A
/// false size costs only address space, because pages that are never written use no memory.
fn decompress(payload: &[u8], size: usize) -> std::result::Result<Vec<u8>, Message> {
    let mut out = Vec::new();
    out.try_reserve_exact(size).map_err(Message::verbatim)?;
    let mut decoder = zstd::bulk::Decompressor::new().map_err(Message::verbatim)?;
    decoder.decompress_to_buffer(payload, &mut out).map_err(Message::verbatim)?;
    Ok(out)
}

fn inflate(payload: &[u8], size: usize) -> std::result::Result<Vec<u8>, Message> {
    let mut out = Vec::new();
    out.try_reserve_exact(size).map_err(Message::verbatim)?;
    let mut stream = flate2::Decompress::new(true);
    let status = stream.decompress_vec(payload, &mut out, flate2::FlushDecompress::Finish);
    match status.map_err(Message::verbatim)? {
        flate2::Status::StreamEnd => Ok(out),
        _ => Err(say!("codeobject-stream-end")),
    }
}

/// The length of the compressed stream at `start`. For zstd, the block headers give it. Deflate has to be decoded; the
/// output is discarded piece by piece.
fn stream_size(source: &dyn ReadAt, start: u64, end: u64, compression: Compression) -> Result<u64> {
    match compression {
        Compression::Zstd => zstd_frame::size(source, start, end),
        _ => deflate_size(source, start, end),
    }
}

fn deflate_size(source: &dyn ReadAt, start: u64, end: u64) -> Result<u64> {
    const PIECE: u64 = 64 << 10;
    let mut stream = flate2::Decompress::new(true);
    let mut scratch = vec![0; PIECE as usize];
    while start + stream.total_in() < end {
        let at = start + stream.total_in();
        let piece = source.bytes(at, PIECE.min(end - at), "CCOB payload")?;
        let corrupt = |why: Message| Error::new(at, "CCOB payload", Problem::Corrupt(why));
        let before = (stream.total_in(), stream.total_out());
        let status = stream.decompress(&piece, &mut scratch, flate2::FlushDecompress::None);
        match status.map_err(|error| corrupt(Message::verbatim(error)))? {
            flate2::Status::StreamEnd => return Ok(stream.total_in()),
            _ if before == (stream.total_in(), stream.total_out()) => {
                return Err(corrupt(say!("codeobject-stream-stalls")));
            }
            _ => {}
        }
    }
    Err(Error::new(end, "CCOB payload", Problem::Truncated { needed: 1, left: 0 }))
}
