//! Classifies every byte of a file. The map uses only headers and none of the code that reads device code, so it
//! independently checks how much the inventory has read.

use crate::embedded::Opaque;
use crate::sniff::Contents;
use codeobject::elf::{Elf, SHF_EXECINSTR, SHT_NOBITS};
use codeobject::{Range, host, nvidia};
use std::collections::BTreeMap;

say::named! {
    /// The kind of a part of a file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Part: key {
        /// Sections of device code, or the whole of a code object, bundle or archive of code.
        Device = "device-code",
        Headers = "headers",
        /// Machine code of the host.
        Code = "host-code",
        /// Symbols, strings, relocations, versions, hash tables, unwind tables, notes: tables whose layout is fixed by
        /// their ELF type.
        Tables = "host-tables",
        Debug = "debug",
        /// Host constants and variables, and sections of unknown type: searched for device code and for noise.
        Data = "host-data",
        /// Bytes between sections, which are searched in the same way.
        Between = "between-sections",
        /// Bytes after the end that the file's headers state, which are searched in the same way.
        Behind = "behind-the-end",
        /// Found in the parts above, but not readable.
        Opaque = "not-readable",
    }
}

/// The parts of a file in order, without gaps or overlaps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByteMap {
    pub parts: Vec<(Range, Part)>,
}

impl ByteMap {
    /// The map of a file of `size` bytes.
    pub(crate) fn new(kind: &codeobject::Result<Contents<'_>>, size: u64) -> Self {
        let whole = |part| vec![(Range { start: 0, end: size }, part)];
        let mut known = match kind {
            Ok(Contents::Host { elf, .. }) => host_parts(elf),
            Ok(Contents::Windows { pe, .. }) => {
                let device = |name: &str| [".hip_fat", ".nv_fatb", "__nv_rel"].contains(&name);
                let part = |name: &str| match name {
                    ".text" => Part::Code,
                    name if device(name) => Part::Device,
                    _ => Part::Data,
                };
                let sections = pe.sections.iter().map(|section| (section.range, part(&section.name)));
                sections.chain([(Range { start: 0, end: pe.headers_end }, Part::Headers)]).collect()
            }
            Ok(Contents::CodeObject { end } | Contents::Nvidia { end } | Contents::Spirv { end }) => {
                vec![(Range { start: 0, end: *end }, Part::Device)]
            }
            Ok(Contents::Kpack(_) | Contents::Bundles) => whole(Part::Device),
            Err(_) => whole(Part::Opaque),
        };
        // Where sections overlap, the first counts; device code takes precedence.
        known.sort_by_key(|(range, part)| (range.start, *part));
        let end = known.iter().map(|(range, _)| range.end).max().unwrap_or(0);
        let mut map = ByteMap::default();
        let mut at = 0;
        for (range, part) in known {
            map.push(Range { start: at, end: range.start.min(size) }, Part::Between);
            at = at.max(range.start.min(size));
            map.push(Range { start: at, end: range.end.min(size) }, part);
            at = at.max(range.end.min(size));
        }
        map.push(Range { start: at, end: size }, if at >= end { Part::Behind } else { Part::Between });
        map
    }

    fn push(&mut self, range: Range, part: Part) {
        if !range.is_empty() {
            self.parts.push((range, part));
        }
    }

    /// Marks the given ranges as opaque.
    pub(crate) fn mark(&mut self, opaque: &[Opaque]) {
        let mut holes: Vec<Range> = opaque.iter().map(|opaque| opaque.range).collect();
        holes.sort_unstable();
        let mut marked = ByteMap::default();
        for &(range, part) in &self.parts {
            let mut at = range.start;
            for hole in holes.iter().filter(|hole| hole.start < range.end && range.start < hole.end) {
                marked.push(Range { start: at, end: hole.start }, part);
                let start = at.max(hole.start);
                marked.push(Range { start, end: hole.end.min(range.end) }, Part::Opaque);
                at = at.max(hole.end.min(range.end));
            }
            marked.push(Range { start: at, end: range.end }, part);
        }
        *self = marked;
    }

    /// The number of bytes in each part. They add up to the file size.
    pub fn totals(&self) -> BTreeMap<Part, u64> {
        let mut totals = BTreeMap::new();
        for (range, part) in &self.parts {
            *totals.entry(*part).or_default() += range.len();
        }
        totals
    }

    pub fn device(&self) -> impl Iterator<Item = Range> {
        self.parts.iter().filter(|(_, part)| *part == Part::Device).map(|(range, _)| *range)
    }
}

fn host_parts(elf: &Elf<'_>) -> Vec<(Range, Part)> {
    let sections = elf.sections().iter().filter(|section| section.kind != SHT_NOBITS && section.size > 0);
    let bundles: Vec<u64> = host::fatbin_sections(elf).map(|section| section.offset).collect();
    let fatbins = [nvidia::Region::Linked, nvidia::Region::Relocatable].map(nvidia::Region::section);
    let part = |section: &codeobject::elf::Section| match section.kind {
        _ if bundles.contains(&section.offset) || fatbins.contains(&section.name.as_str()) => Part::Device,
        1 if section.flags & SHF_EXECINSTR != 0 => Part::Code,
        1 if section.name.starts_with(".debug_") || section.name.starts_with(".zdebug_") => Part::Debug,
        1 if section.name.starts_with(".eh_frame") => Part::Tables,
        // PROGBITS, and every unknown type.
        1 => Part::Data,
        2..=18 | 0x6fff_fff5..=0x6fff_ffff | 0x7000_0001 => Part::Tables,
        _ => Part::Data,
    };
    let mut parts: Vec<(Range, Part)> = sections.map(|section| (host::range_of(elf, section), part(section))).collect();
    parts.extend(elf.headers().map(|range| (range, Part::Headers)));
    parts
}

/// Hash tables and similar, which look like noise but are not.
pub(crate) fn noisy_tables(elf: &Elf<'_>) -> Vec<Range> {
    // SHT_HASH, SHT_GNU_HASH.
    let hash = |section: &&codeobject::elf::Section| matches!(section.kind, 5 | 0x6fff_fff6);
    elf.sections().iter().filter(hash).map(|section| host::range_of(elf, section)).collect()
}
