//! The first bytes of every format that may contain device code outside the device sections: code objects, containers,
//! compressed streams and archives. Each mark is checked against the header after it, so that random bytes do not
//! count.

use crate::dense::Dense;
use codeobject::{Range, ReadAt, Result};
use memchr::{memchr_iter, memmem};
use std::sync::LazyLock;

say::named! {
    /// The format that begins at a position.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(crate) enum Mark: name {
        /// An ELF file for an AMD or NVIDIA GPU.
        Elf = "device ELF",
        Spirv = "SPIR-V",
        Ptx = "PTX",
        Fatbin = "NVIDIA fatbin",
        Ccob = "CCOB",
        Bundle = "offload bundle",
        /// The output of clang's offload packager, in `.llvm.offloading`.
        Offload = "offload package",
        Bitcode = "LLVM bitcode",
        Gzip = "gzip",
        Zlib = "zlib",
        Zstd = "zstd",
        Xz = "xz",
        Lzma = "lzma",
        Bzip2 = "bzip2",
        Lz4 = "lz4",
        Zip = "zip",
        SevenZip = "7z",
        Rar = "rar",
        Cab = "cab",
        Squashfs = "squashfs",
        /// A device ELF as base64 text.
        Base64 = "base64 of a device ELF",
        Png = "PNG",
        /// OpenSSL's table of multiples of the base point of P-256: 148 KiB that look like noise, found in many
        /// libraries.
        P256 = "table of P-256",
    }
}

impl Mark {
    /// Whether the mark is the start of uncompressed device code.
    pub fn is_code(self) -> bool {
        matches!(self, Mark::Elf | Mark::Fatbin | Mark::Ccob | Mark::Bundle | Mark::Ptx)
    }
}

/// How many bytes after a mark are checked.
const AHEAD: usize = 32;
/// No real file has more marks than this.
const MOST: usize = 1 << 20;
pub(crate) const P256: [u8; 16] =
    [0x3c, 0x14, 0xa9, 0x18, 0xd4, 0x30, 0xe7, 0x79, 1, 0xb6, 0xed, 0x5f, 0xfc, 0x95, 0xba, 0x75];

const MAGICS: [(Mark, &[u8]); 22] = [
    (Mark::Elf, b"\x7fELF"),
    (Mark::Spirv, &[3, 2, 0x23, 7]),
    (Mark::Ptx, b".version"),
    (Mark::Fatbin, &[0x50, 0xed, 0x55, 0xba]),
    (Mark::Ccob, codeobject::ccob::MAGIC),
    (Mark::Bundle, codeobject::bundle::MAGIC),
    (Mark::Offload, &[0x10, 0xff, 0x10, 0xad]),
    (Mark::Bitcode, &[b'B', b'C', 0xc0, 0xde]),
    (Mark::Gzip, &[0x1f, 0x8b, 8]),
    (Mark::Zstd, &[0x28, 0xb5, 0x2f, 0xfd]),
    (Mark::Xz, b"\xfd7zXZ\0"),
    (Mark::Lzma, &[0x5d, 0, 0]),
    (Mark::Bzip2, b"BZh"),
    (Mark::Lz4, &[4, 0x22, 0x4d, 0x18]),
    (Mark::Zip, b"PK\x03\x04"),
    (Mark::SevenZip, &[b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c]),
    (Mark::Rar, b"Rar!\x1a\x07"),
    (Mark::Cab, b"MSCF\0\0\0\0"),
    (Mark::Squashfs, b"hsqs"),
    (Mark::Base64, b"f0VMRgIBA"),
    (Mark::Png, b"\x89PNG\r\n\x1a\n"),
    (Mark::P256, &P256),
];

static FINDERS: LazyLock<Vec<(Mark, memmem::Finder<'static>)>> =
    LazyLock::new(|| MAGICS.iter().map(|(mark, magic)| (*mark, memmem::Finder::new(*magic))).collect());

/// Marks outside the ranges that are read elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// Sorted by offset.
    pub found: Vec<(u64, Mark)>,
    /// Long runs of bytes that look like noise, as compressed and encrypted data do.
    pub dense: Vec<Range>,
    /// Whether there are more than were kept.
    pub cut: bool,
}

/// Collects marks piece by piece, in all ranges except `skip`.
#[derive(Debug)]
pub(crate) struct Search {
    skip: Vec<Range>,
    /// The start offset and the bytes of the end of the previous piece.
    held: (u64, Vec<u8>),
    marks: Marks,
    dense: Dense,
}

impl Search {
    pub fn new(skip: Vec<Range>) -> Self {
        Search { dense: Dense::new(skip.clone()), skip, held: (0, Vec::new()), marks: Marks::default() }
    }

    /// Searches a whole source.
    pub fn all(source: &dyn ReadAt) -> Result<Marks> {
        Search::new(Vec::new()).run(source)
    }

    /// Pieces must come in order and without gaps, except for skipped ranges.
    pub fn piece(&mut self, offset: u64, data: &[u8]) {
        let end = offset + data.len() as u64;
        if self.skip.iter().any(|range| range.start <= offset && end <= range.end) {
            self.flush();
            return;
        }
        self.dense.piece(offset, data);
        if self.held.1.is_empty() {
            self.held.0 = offset;
        }
        let start = self.held.0;
        let mut buffer = std::mem::take(&mut self.held.1);
        buffer.extend_from_slice(data);
        // A mark in the last bytes is checked with the next piece, which has the bytes that follow it.
        let keep = buffer.len().saturating_sub(AHEAD);
        self.search(start, &buffer, keep);
        self.held = (start + keep as u64, buffer.split_off(keep));
    }

    fn flush(&mut self) {
        let (start, rest) = std::mem::take(&mut self.held);
        self.search(start, &rest, rest.len());
    }

    fn search(&mut self, offset: u64, data: &[u8], before: usize) {
        if self.marks.cut {
            return;
        }
        let (skip, found) = (&self.skip, &mut self.marks.found);
        let mut take = |at: usize, mark: Mark| {
            let place = offset + at as u64;
            let skipped = || skip.iter().any(|range| (range.start..range.end).contains(&place));
            if at < before && is_header(mark, data.get(at..).unwrap_or_default()) && !skipped() {
                found.push((place, mark));
            }
        };
        for (mark, finder) in FINDERS.iter() {
            finder.find_iter(data).for_each(|at| take(at, *mark));
        }
        memchr_iter(0x78, data).for_each(|at| take(at, Mark::Zlib));
        self.marks.cut = self.marks.found.len() > MOST;
    }

    /// Reads everything that is not skipped, piece by piece, only for the search.
    pub fn run(mut self, source: &dyn ReadAt) -> Result<Marks> {
        const PIECE: u64 = 1 << 20;
        let mut at = 0;
        while at < source.len() {
            if let Some(range) = self.skip.iter().find(|range| range.start <= at && at < range.end) {
                at = range.end;
                self.flush();
                continue;
            }
            let next = self.skip.iter().map(|range| range.start).filter(|start| *start > at).min();
            // Up to a multiple of the piece size, so that blocks are complete.
            let end = next.unwrap_or(u64::MAX).min((at / PIECE + 1) * PIECE).min(source.len());
            let piece = source.bytes(at, end - at, "file")?;
            self.piece(at, &piece);
            at = end;
        }
        Ok(self.finish())
    }

    pub fn finish(mut self) -> Marks {
        self.flush();
        self.marks.found.sort_unstable();
        self.marks.found.dedup();
        self.marks.dense = self.dense.finish();
        self.marks
    }
}

fn byte(head: &[u8], at: usize) -> u8 {
    head.get(at).copied().unwrap_or(0)
}

fn half(head: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([byte(head, at), byte(head, at + 1)])
}

fn word(head: &[u8], at: usize) -> u32 {
    u32::from(half(head, at)) | u32::from(half(head, at + 2)) << 16
}

/// Whether the bytes after a magic number match its format.
fn is_header(mark: Mark, head: &[u8]) -> bool {
    match mark {
        Mark::Elf => matches!(byte(head, 4), 1 | 2) && byte(head, 5) == 1 && matches!(half(head, 18), 190 | 224),
        Mark::Ptx => byte(head, 8).is_ascii_whitespace(),
        Mark::Fatbin => (1..16).contains(&half(head, 4)) && (16..=256).contains(&half(head, 6)),
        Mark::Ccob => (1..16).contains(&half(head, 4)) && half(head, 6) < 16,
        Mark::Bundle => (1..=4096).contains(&word(head, 24)) && word(head, 28) == 0,
        Mark::Offload => (1..16).contains(&word(head, 4)),
        // An identification or a module block.
        Mark::Bitcode => matches!(word(head, 4), 0x1435 | 0x0c21),
        Mark::Gzip => byte(head, 3) & 0xe0 == 0 && matches!(byte(head, 8), 0 | 2 | 4) && os(byte(head, 9)),
        Mark::Zlib => matches!(byte(head, 1), 1 | 0x5e | 0x9c | 0xda) && deflate_block(&head[1..]),
        Mark::Zstd => byte(head, 4) & 8 == 0,
        Mark::Xz => byte(head, 6) == 0 && byte(head, 7) < 16 && crc(head.get(6..8)) == word(head, 8),
        Mark::Lzma => word(head, 1).is_power_of_two() && word(head, 5) == u32::MAX && word(head, 9) == u32::MAX,
        Mark::Bzip2 => {
            (b'1'..=b'9').contains(&byte(head, 3)) && head.get(4..10) == Some(&[0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
        }
        Mark::Lz4 => lz4_frame(head),
        Mark::Zip => {
            byte(head, 5) == 0 && byte(head, 4) <= 63 && half(head, 8) < 100 && (1..=4096).contains(&half(head, 26))
        }
        Mark::SevenZip => byte(head, 6) == 0 && crc(head.get(12..32)) == word(head, 8),
        Mark::Rar => (byte(head, 6) == 0 && byte(head, 9) == 0x73) || (byte(head, 6) == 1 && byte(head, 7) == 0),
        Mark::Cab => byte(head, 24) == 3 && byte(head, 25) == 1,
        Mark::Squashfs => {
            half(head, 28) == 4
                && half(head, 30) == 0
                && 1u32.checked_shl(half(head, 22).into()) == Some(word(head, 12))
        }
        // ELFOSABI_AMDGPU_HSA, and the values of cubins.
        Mark::Base64 => matches!(head.get(9..11), Some(b"UA" | b"Uz" | b"VB" | b"cz")),
        Mark::Spirv | Mark::Png | Mark::P256 => true,
    }
}

fn os(byte: u8) -> bool {
    byte <= 13 || byte == 255
}

/// Whether the first block has a valid type; one with code lengths has at most 286 of them.
fn deflate_block(head: &[u8]) -> bool {
    match (byte(head, 1) >> 1) & 3 {
        0 => half(head, 2) == !half(head, 4),
        1 => true,
        2 => byte(head, 1) >> 3 <= 29,
        _ => false,
    }
}

fn crc(data: Option<&[u8]>) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(data.unwrap_or_default());
    crc.sum()
}

/// FLG, BD and their checksum: the second byte of the descriptor's xxHash32.
fn lz4_frame(head: &[u8]) -> bool {
    let (flags, block) = (byte(head, 4), byte(head, 5));
    if flags >> 6 != 1 || flags & 2 != 0 || block & 0x8f != 0 {
        return false;
    }
    let size = 2 + if flags & 8 != 0 { 8 } else { 0 } + if flags & 1 != 0 { 4 } else { 0 };
    (xxh32(head.get(4..4 + size).unwrap_or_default()) >> 8) as u8 == byte(head, 4 + size)
}

/// xxHash32 with seed 0, for less than 16 bytes.
fn xxh32(data: &[u8]) -> u32 {
    const PRIMES: [u32; 5] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d, 0x27d4_eb2f, 0x1656_67b1];
    let [p1, p2, p3, p4, p5] = PRIMES;
    let mut hash = p5.wrapping_add(data.len() as u32);
    let words = data.chunks_exact(4);
    let tail = words.remainder();
    for chunk in words {
        hash = hash.wrapping_add(word(chunk, 0).wrapping_mul(p3)).rotate_left(17).wrapping_mul(p4);
    }
    for &rest in tail {
        hash = hash.wrapping_add(u32::from(rest).wrapping_mul(p5)).rotate_left(11).wrapping_mul(p1);
    }
    hash = (hash ^ (hash >> 15)).wrapping_mul(p2);
    hash = (hash ^ (hash >> 13)).wrapping_mul(p3);
    hash ^ (hash >> 16)
}
