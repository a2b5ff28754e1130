//! Reads ELF64 little-endian piece by piece, as far as host libraries and AMD code objects need it.
//!
//! At first, only headers are read. Section contents are read on demand, so opening a library of a gigabyte takes a few
//! kilobytes of memory. See the System V ABI, chapters 4 and 5.

mod relocation;
mod symbol;

pub use relocation::{R_X86_64_RELATIVE, Relocation};
pub use symbol::{Symbol, SymbolKind, Symbols};

use crate::coverage::Range;
use crate::error::{Error, Problem, Result};
use crate::read::{ReadAt, u16_at, u32_at, u64_at};
use say::key;
use std::borrow::Cow;

pub const EM_X86_64: u16 = 62;
pub const EM_CUDA: u16 = 190;
pub const EM_AMDGPU: u16 = 224;
pub const SHT_SYMTAB: u32 = 2;
pub const SHT_RELA: u32 = 4;
pub const SHT_DYNAMIC: u32 = 6;
pub const SHT_NOTE: u32 = 7;
pub const SHT_NOBITS: u32 = 8;
pub const SHT_REL: u32 = 9;
pub const SHT_DYNSYM: u32 = 11;
/// The section is part of the loaded image.
pub const SHF_ALLOC: u64 = 2;
pub const SHF_EXECINSTR: u64 = 4;
pub const ET_REL: u16 = 1;
pub const PT_LOAD: u32 = 1;
pub const PT_DYNAMIC: u32 = 2;
pub const PT_NOTE: u32 = 4;

const HEADER: u64 = 64;
const SECTION: u64 = 64;
const SEGMENT: u64 = 56;
/// The maximum size of tables such as section names in a valid file.
const NAMES_LIMIT: u64 = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub os_abi: u8,
    pub abi_version: u8,
    pub kind: u16,
    pub machine: u16,
    pub flags: u32,
    pub entry: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    pub kind: u32,
    pub flags: u64,
    pub address: u64,
    pub offset: u64,
    pub size: u64,
    pub link: u32,
    pub info: u32,
    pub entry_size: u64,
}

impl Section {
    pub fn is_executable(&self) -> bool {
        self.flags & SHF_EXECINSTR != 0 && self.kind != SHT_NOBITS
    }

    pub fn holds(&self, address: u64) -> bool {
        address >= self.address && address - self.address < self.size
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub address: u64,
    pub file_size: u64,
    pub memory_size: u64,
}

/// The headers of one ELF file and the source to read its contents from.
#[derive(Clone)]
pub struct Elf<'a> {
    source: &'a dyn ReadAt,
    pub header: Header,
    sections: Vec<Section>,
    segments: Vec<Segment>,
    /// The start and end of the segment and section tables.
    tables: [(u64, u64); 2],
}

impl<'a> Elf<'a> {
    pub fn parse(source: &'a dyn ReadAt) -> Result<Self> {
        let raw = source.bytes(0, HEADER, "ELF header")?;
        let expect = |at: usize, field, found: u64, want: u64, expected| {
            let wrong = Error::new(at as u64, field, Problem::Unexpected { found, expected });
            if found == want { Ok(()) } else { Err(wrong) }
        };
        expect(0, "e_ident magic", u64::from(u32_at(&raw, 0)), 0x464c_457f, key!("codeobject-expected-elf"))?;
        expect(4, "EI_CLASS", u64::from(raw.get(4).copied().unwrap_or(0)), 2, key!("codeobject-expected-64-bit"))?;
        expect(
            5,
            "EI_DATA",
            u64::from(raw.get(5).copied().unwrap_or(0)),
            1,
            key!("codeobject-expected-little-endian"),
        )?;
        let header = Header {
            os_abi: raw.get(7).copied().unwrap_or(0),
            abi_version: raw.get(8).copied().unwrap_or(0),
            kind: u16_at(&raw, 16),
            machine: u16_at(&raw, 18),
            flags: u32_at(&raw, 48),
            entry: u64_at(&raw, 24),
        };
        let segments_at = u64_at(&raw, 32);
        let segments = segments(source, segments_at, u16_at(&raw, 54), u16_at(&raw, 56))?;
        let (at, size, count, names) = (u64_at(&raw, 40), u16_at(&raw, 58), u16_at(&raw, 60), u16_at(&raw, 62));
        let sections = sections(source, at, size, count, names)?;
        let tables = [(segments_at, segments.len() as u64 * SEGMENT), (at, sections.len() as u64 * SECTION)];
        let tables = tables.map(|(start, size)| (start, start.saturating_add(size)));
        Ok(Elf { source, header, sections, segments, tables })
    }

    /// The ELF header and the segment and section tables, truncated at the end of the source.
    pub fn headers(&self) -> impl Iterator<Item = Range> {
        let end = self.source.len();
        let cut = move |(start, stop): (u64, u64)| Range { start: start.min(end), end: stop.min(end) };
        [(0, HEADER)].into_iter().chain(self.tables).map(cut)
    }

    /// The end of the file according to its own headers. Data after it is not part of the ELF file.
    pub fn end(&self) -> u64 {
        let held = self.sections.iter().filter(|section| section.kind != SHT_NOBITS);
        let sections = held.map(|section| section.offset.saturating_add(section.size));
        let segments = self.segments.iter().map(|segment| segment.offset.saturating_add(segment.file_size));
        sections.chain(segments).chain(self.tables.map(|(_, end)| end)).chain([HEADER]).max().unwrap_or(HEADER)
    }

    pub fn source(&self) -> &'a dyn ReadAt {
        self.source
    }

    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The first section of that name.
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The section's content in the file; empty for SHT_NOBITS.
    pub fn data(&self, section: &Section) -> Result<Cow<'a, [u8]>> {
        let size = if section.kind == SHT_NOBITS { 0 } else { section.size };
        self.source.bytes(section.offset, size, "section contents")
    }

    /// The file offset of a virtual address. Uses the load segments, or the sections if the file has no load segments.
    pub fn offset_of(&self, address: u64) -> Option<u64> {
        let load = |s: &&Segment| s.kind == PT_LOAD && address >= s.address && address - s.address < s.file_size;
        if let Some(segment) = self.segments.iter().find(load) {
            return segment.offset.checked_add(address - segment.address);
        }
        let section = self.sections.iter().find(|s| s.address != 0 && s.kind != SHT_NOBITS && s.holds(address))?;
        section.offset.checked_add(address - section.address)
    }

    /// Reads `len` bytes at a virtual address.
    pub fn at_address(&self, address: u64, len: u64, field: &'static str) -> Result<Cow<'a, [u8]>> {
        let unmapped = || Error::new(address, field, Problem::Unmapped);
        self.source.bytes(self.offset_of(address).ok_or_else(unmapped)?, len, field)
    }
}

impl std::fmt::Debug for Elf<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Elf").field("header", &self.header).field("sections", &self.sections).finish_non_exhaustive()
    }
}

fn segments(source: &dyn ReadAt, at: u64, size: u16, count: u16) -> Result<Vec<Segment>> {
    if at == 0 || count == 0 {
        return Ok(Vec::new());
    }
    record_size(54, "e_phentsize", size, SEGMENT)?;
    let raw = source.bytes(at, SEGMENT * u64::from(count), "program headers")?;
    let segment = |record: &[u8]| Segment {
        kind: u32_at(record, 0),
        flags: u32_at(record, 4),
        offset: u64_at(record, 8),
        address: u64_at(record, 16),
        file_size: u64_at(record, 32),
        memory_size: u64_at(record, 40),
    };
    Ok(raw.chunks_exact(SEGMENT as usize).map(segment).collect())
}

fn sections(source: &dyn ReadAt, at: u64, size: u16, count: u16, names: u16) -> Result<Vec<Section>> {
    if at == 0 {
        return Ok(Vec::new());
    }
    record_size(58, "e_shentsize", size, SECTION)?;
    let first = source.bytes(at, SECTION, "section header 0")?;
    // Counts that do not fit in the ELF header are in section 0.
    let count = if count == 0 { u64_at(&first, 32) } else { u64::from(count) };
    let names = if names == u16::MAX { u32_at(&first, 40) } else { u32::from(names) };
    let size = count.checked_mul(SECTION).ok_or(Error::new(60, "e_shnum", Problem::Overflow))?;
    let raw = source.bytes(at, size, "section headers")?;
    let mut list: Vec<(u32, Section)> = raw.chunks_exact(SECTION as usize).map(section).collect();
    if let Some((_, table)) = list.get(names as usize).filter(|(_, table)| table.kind != SHT_NOBITS) {
        let limit = Problem::OverLimit { claimed: table.size, limit: NAMES_LIMIT };
        if table.size > NAMES_LIMIT {
            return Err(Error::new(table.offset, "section names", limit));
        }
        let text = source.bytes(table.offset, table.size, "section names")?;
        for (name, section) in &mut list {
            section.name = text_at(&text, u64::from(*name)).to_owned();
        }
    }
    Ok(list.into_iter().map(|(_, section)| section).collect())
}

fn section(record: &[u8]) -> (u32, Section) {
    let section = Section {
        name: String::new(),
        kind: u32_at(record, 4),
        flags: u64_at(record, 8),
        address: u64_at(record, 16),
        offset: u64_at(record, 24),
        size: u64_at(record, 32),
        link: u32_at(record, 40),
        info: u32_at(record, 44),
        entry_size: u64_at(record, 56),
    };
    (u32_at(record, 0), section)
}

fn record_size(at: u64, field: &'static str, size: u16, want: u64) -> Result<()> {
    if u64::from(size) == want {
        return Ok(());
    }
    Err(Error::new(
        at,
        field,
        Problem::Unexpected { found: u64::from(size), expected: key!("codeobject-expected-record-size") },
    ))
}

/// The NUL-terminated text at `at`; empty if there is none or it is not UTF-8.
pub(crate) fn text_at(table: &[u8], at: u64) -> &str {
    let rest = usize::try_from(at).ok().and_then(|at| table.get(at..)).unwrap_or_default();
    let end = rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len());
    std::str::from_utf8(rest.get(..end).unwrap_or_default()).unwrap_or_default()
}
