//! The container and its entries: headers, compression, bounds.

use std::{borrow::Cow, fmt};

use say::{Key, Message, key, say};

pub const MAGIC: u32 = 0xba55_ed50;
/// The size of the fixed part of an entry header. The rest of the header, up to its stated size, contains options.
const ENTRY_HEADER: usize = 64;
const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;
/// Flags for code for one chip only (`sm_90a`) or for its family (`sm_100f`), as fatbinary of CUDA 13.4 writes them.
const FLAG_CHIP: u64 = 0x10_0000;
const FLAG_FAMILY: u64 = 0x20_0000;

/// An error and its offset from the start of the walked bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FatbinError {
    Bounds { offset: usize, field: Key, value: u64, left: u64 },
    Header { offset: usize, value: u64, minimum: usize },
    Limit { offset: usize, claimed: u64, limit: usize },
    Unpack { offset: usize, method: Compression, why: Message },
    NotACubin { offset: usize },
    Unreadable { offset: usize, error: crate::Error },
}

say::worded! { FatbinError {
    Bounds { offset, field, value, left } => "codeobject-fatbin-bounds" (offset = hex(*offset), field, value = format!("{value:#x}"), left = format!("{left:#x}")),
    Header { offset, value, minimum } => "codeobject-fatbin-header" (offset = hex(*offset), value, minimum),
    Limit { offset, claimed, limit } => "codeobject-fatbin-limit" (offset = hex(*offset), claimed, limit),
    Unpack { offset, method, why } => "codeobject-fatbin-unpack" (offset = hex(*offset), method = method.to_string(), why),
    NotACubin { offset } => "codeobject-fatbin-not-a-cubin" (offset = hex(*offset)),
    Unreadable { offset, error } => "codeobject-fatbin-unreadable" (offset = hex(*offset), error),
}}

fn hex(offset: usize) -> String {
    format!("{offset:#x}")
}

impl FatbinError {
    /// The same error with its offset increased by `by`.
    pub(super) fn shifted(mut self, by: usize) -> Self {
        match &mut self {
            Self::Bounds { offset, .. }
            | Self::Header { offset, .. }
            | Self::Limit { offset, .. }
            | Self::Unpack { offset, .. }
            | Self::NotACubin { offset }
            | Self::Unreadable { offset, .. } => *offset = offset.saturating_add(by),
        }
        self
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compression {
    None,
    Lz4,
    Zstd,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        })
    }
}

/// The content of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    Ptx,
    Cubin,
    /// An unknown kind: listed, but not opened.
    Other(u16),
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ptx => f.write_str("ptx"),
            Self::Cubin => f.write_str("cubin"),
            Self::Other(kind) => write!(f, "kind {kind}"),
        }
    }
}

/// One entry: an image for one compute capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub kind: EntryKind,
    /// Offset of the entry header, and of the payload after it.
    pub offset: usize,
    pub payload: usize,
    /// Stored bytes, including padding.
    pub stored: u64,
    /// Stored bytes without padding, if compressed.
    pub packed: u32,
    /// Size after unpacking; the stored size if it is not compressed.
    pub size: u64,
    pub compression: Compression,
    /// Compute capability, 90 for sm_90.
    pub sm: u32,
    /// PTX ISA version, or for cubins the version of their own format.
    pub version: (u16, u16),
    pub flags: u64,
    /// Bytes after the fixed header: compiler options for PTX (`--compile-only`), attributes for newer cubins.
    pub options: Vec<u8>,
}

impl Entry {
    pub fn letter(&self) -> Option<char> {
        match self.flags {
            flags if flags & FLAG_CHIP != 0 => Some('a'),
            flags if flags & FLAG_FAMILY != 0 => Some('f'),
            _ => None,
        }
    }
}

/// One container: the target of one wrapper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    pub offset: usize,
    pub version: u16,
    /// Header and entries together.
    pub size: usize,
    pub entries: Vec<Entry>,
}

/// The result of walking a section, covering every byte.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walk {
    pub containers: Vec<Container>,
    /// Zero bytes between containers.
    pub padding: usize,
    /// Bytes that are neither container nor padding, as (offset, length).
    pub unknown: Vec<(usize, usize)>,
    pub errors: Vec<FatbinError>,
}

fn bytes<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..at.checked_add(N)?)?.try_into().ok()
}
fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    bytes(data, at).map(u16::from_le_bytes)
}
fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    bytes(data, at).map(u32::from_le_bytes)
}
fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    bytes(data, at).map(u64::from_le_bytes)
}

/// The size of a container, including its header, from its first 16 bytes; None if no container starts there.
pub(super) fn container_size(header: &[u8]) -> Option<u64> {
    let magic = u32_at(header, 0)? == MAGIC;
    let (fixed, body) = (u16_at(header, 6)?, u64_at(header, 8)?);
    (magic && fixed >= 16).then(|| u64::from(fixed).saturating_add(body))
}

/// Walks a section: container after container, padding between them, resynchronising at the next magic.
pub fn walk(data: &[u8]) -> Walk {
    let mut found = Walk::default();
    let mut at = 0;
    while at < data.len() {
        if u32_at(data, at) == Some(MAGIC) {
            match container(data, at, &mut found.errors) {
                Ok(container) => {
                    at += container.size;
                    found.containers.push(container);
                    continue;
                }
                Err(error) => found.errors.push(error),
            }
        }
        let rest = data.get(at + 1..).unwrap_or_default();
        let next = rest.windows(4).position(|w| w == MAGIC.to_le_bytes()).map_or(data.len(), |i| at + 1 + i);
        if data.get(at..next).is_some_and(|gap| gap.iter().all(|b| *b == 0)) {
            found.padding += next - at;
        } else {
            found.unknown.push((at, next - at));
        }
        at = next;
    }
    found
}

fn container(data: &[u8], offset: usize, errors: &mut Vec<FatbinError>) -> Result<Container, FatbinError> {
    let left = data.len().saturating_sub(offset) as u64;
    let short = FatbinError::Bounds { offset, field: key!("codeobject-fatbin-container-header"), value: 16, left };
    let (Some(version), Some(header), Some(body)) =
        (u16_at(data, offset + 4), u16_at(data, offset + 6), u64_at(data, offset + 8))
    else {
        return Err(short);
    };
    if header < 16 {
        return Err(FatbinError::Header { offset, value: u64::from(header), minimum: 16 });
    }
    let total = u64::from(header).saturating_add(body);
    let Some(end) = usize::try_from(total).ok().filter(|_| total <= left).map(|total| offset + total) else {
        return Err(FatbinError::Bounds { offset, field: key!("codeobject-fatbin-container-size"), value: body, left });
    };
    let mut entries = Vec::new();
    let mut at = offset + usize::from(header);
    while at < end {
        match entry(data, at, end) {
            Ok((entry, next)) => {
                entries.push(entry);
                at = next;
            }
            // The container's stated size still gives the start of the next one.
            Err(error) => {
                errors.push(error);
                break;
            }
        }
    }
    Ok(Container { offset, version, size: end - offset, entries })
}

fn entry(data: &[u8], offset: usize, end: usize) -> Result<(Entry, usize), FatbinError> {
    let left = end.saturating_sub(offset) as u64;
    let field = |field, value| FatbinError::Bounds { offset, field, value, left };
    let head = data.get(offset..end).filter(|h| h.len() >= ENTRY_HEADER);
    let head = head.ok_or_else(|| field(key!("codeobject-fatbin-entry-header"), ENTRY_HEADER as u64))?;
    let short = || field(key!("codeobject-fatbin-entry-header"), ENTRY_HEADER as u64);
    let header = u32_at(head, 4).ok_or_else(short)? as usize;
    if header < ENTRY_HEADER {
        return Err(FatbinError::Header { offset, value: header as u64, minimum: ENTRY_HEADER });
    }
    let stored = u64_at(head, 8).ok_or_else(short)?;
    let next = usize::try_from(stored).ok().and_then(|s| s.checked_add(header)).filter(|total| *total as u64 <= left);
    let next = offset + next.ok_or_else(|| field(key!("codeobject-fatbin-payload-size"), stored))?;
    let packed = u32_at(head, 16).ok_or_else(short)?;
    if u64::from(packed) > stored {
        return Err(field(key!("codeobject-fatbin-compressed-size"), u64::from(packed)));
    }
    let flags = u64_at(head, 40).ok_or_else(short)?;
    let unpacked = u64_at(head, 56).ok_or_else(short)?;
    let compression = match (packed, flags & FLAG_ZSTD, flags & FLAG_LZ4) {
        (0, ..) => Compression::None,
        (_, 0, 0) => {
            return Err(FatbinError::Unpack {
                offset,
                method: Compression::None,
                why: say!("codeobject-fatbin-flags", flags = format!("{flags:#x}")),
            });
        }
        (_, 0, _) => Compression::Lz4,
        _ => Compression::Zstd,
    };
    let kind = match u16_at(head, 0).ok_or_else(short)? {
        1 => EntryKind::Ptx,
        2 => EntryKind::Cubin,
        other => EntryKind::Other(other),
    };
    let entry = Entry {
        kind,
        offset,
        payload: offset + header,
        stored,
        packed,
        size: if compression == Compression::None { stored } else { unpacked },
        compression,
        sm: u32_at(head, 28).ok_or_else(short)?,
        version: (u16_at(head, 26).ok_or_else(short)?, u16_at(head, 24).ok_or_else(short)?),
        flags,
        options: head.get(ENTRY_HEADER..header).unwrap_or_default().to_vec(),
    };
    Ok((entry, next))
}

impl Entry {
    /// The image itself, unpacked if necessary, up to `limit` bytes.
    pub fn image<'data>(&self, data: &'data [u8], limit: usize) -> Result<Cow<'data, [u8]>, FatbinError> {
        let offset = self.offset;
        let used = if self.compression == Compression::None { self.stored } else { u64::from(self.packed) };
        let end = usize::try_from(used).ok().and_then(|used| self.payload.checked_add(used));
        let payload = end.and_then(|end| data.get(self.payload..end)).ok_or(FatbinError::Bounds {
            offset,
            field: key!("codeobject-fatbin-payload"),
            value: used,
            left: data.len().saturating_sub(self.payload) as u64,
        })?;
        let unpack = |why: Message| FatbinError::Unpack { offset, method: self.compression, why };
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        if self.compression == Compression::None {
            return Ok(Cow::Borrowed(payload));
        }
        if size > limit {
            return Err(FatbinError::Limit { offset, claimed: self.size, limit });
        }
        // LZ4 expands at most 255 times: a larger size is false and is not allocated.
        let ceiling = payload.len().saturating_mul(if self.compression == Compression::Lz4 { 255 } else { 1 << 16 });
        if size > ceiling.saturating_add(64) {
            return Err(unpack(say!("codeobject-fatbin-claims", size, packed = payload.len())));
        }
        let image = match self.compression {
            Compression::Lz4 => {
                lz4_flex::block::decompress(payload, size).map_err(|error| unpack(Message::verbatim(error)))?
            }
            _ => zstd::bulk::decompress(payload, size).map_err(|error| unpack(Message::verbatim(error)))?,
        };
        if image.len() != size {
            return Err(unpack(say!("codeobject-unpacked-size", got = image.len(), stated = size)));
        }
        Ok(Cow::Owned(image))
    }
}
