//! `__CLANG_OFFLOAD_BUNDLE__`: a table of entries, then the entries.
//!
//! Layout: `clang/docs/ClangOffloadBundler.rst`. The table has no total size: a bundle ends with its last entry.

use crate::ccob::{Ccob, Compression};
use crate::coverage::Range;
use crate::error::{Error, Problem, Result};
use crate::id::EntryId;
use crate::read::{ReadAt, Window, u64_at};
use say::key;

pub const MAGIC: &[u8; 24] = b"__CLANG_OFFLOAD_BUNDLE__";

/// Real bundles have one entry per target, 28 at most so far.
const ENTRY_LIMIT: u64 = 4096;
const ID_LIMIT: u64 = 4096;

/// An entry of a bundle: its id and the position of its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub id: EntryId,
    /// Counted from the start of the (unpacked) bundle.
    pub offset: u64,
    pub size: u64,
    /// Set if the bytes are incomplete or overlap another entry.
    pub problem: Option<Error>,
}

/// The entry table of one unpacked bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleTable {
    /// The offset in the source at which the bundle starts.
    pub base: u64,
    /// Size of the magic, the count and the entry records together.
    pub header_size: u64,
    /// From `base` to the end of the last entry, or to the end of the source if that comes first.
    pub size: u64,
    pub entries: Vec<Entry>,
    /// The reason if reading the table stopped early. The entries before that are valid.
    pub problem: Option<Error>,
}

impl BundleTable {
    /// Reads the table at `base`; entries may reach up to `end`.
    pub fn parse(source: &dyn ReadAt, base: u64, end: u64) -> Result<Self> {
        let end = end.min(source.len());
        let room = end.saturating_sub(base);
        let part = Window::new(source, base, room, "bundle")?;
        let head = part.bytes(0, 32, "bundle header").map_err(|error| error.at_base(base))?;
        if !head.starts_with(MAGIC) {
            let expected = key!("codeobject-expected-bundle");
            return Err(Error::new(base, "bundle magic", Problem::Unexpected { found: u64_at(&head, 0), expected }));
        }
        let count = u64_at(&head, 24);
        if count > ENTRY_LIMIT {
            let problem = Problem::OverLimit { claimed: count, limit: ENTRY_LIMIT };
            return Err(Error::new(base + 24, "bundle entry count", problem));
        }
        let mut table = BundleTable { base, header_size: 32, size: 32, entries: Vec::new(), problem: None };
        for _ in 0..count {
            if let Err(error) = table.push(source, room) {
                table.problem = Some(error);
                break;
            }
        }
        table.mark_overlaps();
        Ok(table)
    }

    fn push(&mut self, source: &dyn ReadAt, room: u64) -> Result<()> {
        let part = Window::new(source, self.base, room, "bundle")?;
        let at = self.header_size;
        let based = |error: Error| error.at_base(self.base);
        let raw = part.bytes(at, 24, "bundle entry").map_err(based)?;
        let (offset, size, len) = (u64_at(&raw, 0), u64_at(&raw, 8), u64_at(&raw, 16));
        if len > ID_LIMIT {
            let problem = Problem::OverLimit { claimed: len, limit: ID_LIMIT };
            return Err(Error::new(self.base + at + 16, "bundle entry id length", problem));
        }
        let id = part.bytes(at + 24, len, "bundle entry id").map_err(based)?;
        let id = std::str::from_utf8(&id)
            .map_err(|_| Error::new(self.base + at + 24, "bundle entry id", Problem::NotText))?;
        let end = offset.checked_add(size);
        let problem = match end {
            None => Some(Error::new(self.base + at, "bundle entry offset", Problem::Overflow)),
            Some(end) if end > room => {
                let left = room.saturating_sub(offset);
                let problem = Problem::Truncated { needed: size, left };
                Some(Error::new(self.base + at + 8, "bundle entry size", problem))
            }
            Some(_) => None,
        };
        self.entries.push(Entry { id: EntryId::parse(id), offset, size, problem });
        self.header_size = at + 24 + len;
        // The offset of an empty entry (the host's) is meaningless.
        let reach = if size == 0 { 0 } else { end.unwrap_or(room).min(room) };
        self.size = self.size.max(self.header_size).max(reach);
        Ok(())
    }

    /// Marks entries that start inside the table or inside an entry before them (by offset).
    fn mark_overlaps(&mut self) {
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        order.sort_by_key(|&i| self.entries.get(i).map(|e| (e.offset, e.size)));
        let mut end = self.header_size;
        for i in order {
            let base = self.base;
            let Some(entry) = self.entries.get_mut(i).filter(|entry| entry.size > 0) else { continue };
            if entry.offset < end && entry.problem.is_none() {
                let problem = Problem::Overlap { end: base.saturating_add(end) };
                entry.problem = Some(Error::new(base.saturating_add(entry.offset), "bundle entry", problem));
            }
            end = end.max(entry.offset.saturating_add(entry.size));
        }
    }

    /// The parts of the bundle that belong to no entry: between the table and the first entry, and between entries.
    /// Offsets are absolute in the source.
    pub fn gaps(&self) -> Vec<Range> {
        let mut used: Vec<(u64, u64)> =
            self.entries.iter().filter(|e| e.size > 0).map(|e| (e.offset, e.size)).collect();
        used.sort_unstable();
        let mut gaps = Vec::new();
        let mut at = self.header_size;
        for (offset, size) in used {
            let start = offset.min(self.size);
            if start > at {
                gaps.push(Range { start: self.base + at, end: self.base + start });
            }
            at = at.max(offset.saturating_add(size).min(self.size));
        }
        gaps
    }
}

/// One bundle of a file, plain or compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// The number of the bundle in the file, from 0, in the order of the device section.
    pub index: usize,
    /// The offset in the file at which the bundle starts.
    pub offset: u64,
    /// The size of the bundle in the file. A plain bundle ends with its last entry; a CCOB consists of header and
    /// payload.
    pub size: u64,
    pub body: Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    Plain(BundleTable),
    Compressed(Ccob),
}

impl Bundle {
    pub fn compression(&self) -> Compression {
        match &self.body {
            Body::Plain(_) => Compression::None,
            Body::Compressed(ccob) => ccob.compression,
        }
    }

    pub fn ccob_version(&self) -> Option<u16> {
        match &self.body {
            Body::Plain(_) => None,
            Body::Compressed(ccob) => Some(ccob.version),
        }
    }

    /// Bytes of memory needed while this bundle's entries are read: 0 for a plain bundle, which is read in place.
    pub fn cost(&self) -> u64 {
        match &self.body {
            Body::Plain(_) => 0,
            Body::Compressed(ccob) => ccob.unpacked_size.saturating_add(ccob.total_size),
        }
    }

    pub fn range(&self) -> Range {
        Range { start: self.offset, end: self.offset.saturating_add(self.size) }
    }
}

/// A bundle whose entries can be read: in place, or unpacked in memory.
#[derive(Debug)]
pub struct Opened<'a> {
    pub table: BundleTable,
    source: Source<'a>,
}

enum Source<'a> {
    File(&'a dyn ReadAt),
    Memory(Vec<u8>),
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if matches!(self, Source::File(_)) { "File" } else { "Memory" })
    }
}

impl Bundle {
    /// Unpacks the bundle if it is compressed, to `limit` bytes at most, and reads its table.
    pub fn open<'a>(&self, source: &'a dyn ReadAt, limit: u64) -> Result<Opened<'a>> {
        match &self.body {
            Body::Plain(table) => Ok(Opened { table: table.clone(), source: Source::File(source) }),
            Body::Compressed(ccob) => {
                let unpacked = ccob.unpack(source, limit)?;
                let table = BundleTable::parse(&unpacked, 0, unpacked.len() as u64)?;
                Ok(Opened { table, source: Source::Memory(unpacked) })
            }
        }
    }
}

impl Opened<'_> {
    /// The source that the table's offsets refer to: the file, or the unpacked bundle.
    pub fn source(&self) -> &dyn ReadAt {
        match &self.source {
            Source::File(source) => *source,
            Source::Memory(unpacked) => unpacked,
        }
    }

    pub fn is_unpacked(&self) -> bool {
        matches!(self.source, Source::Memory(_))
    }

    /// The bytes of one entry.
    pub fn contents(&self, entry: &Entry) -> Result<Window<'_>> {
        let start = self.table.base.checked_add(entry.offset);
        let start = start.ok_or(Error::new(self.table.base, "bundle entry offset", Problem::Overflow))?;
        Window::new(self.source(), start, entry.size, "bundle entry")
    }
}
