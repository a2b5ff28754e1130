//! The loader-relevant part of an ELF file: its dynamic section.

use codeobject::{
    ReadAt, Result,
    elf::{Elf, PT_DYNAMIC},
};

const PT_INTERP: u32 = 3;
/// Limits for entries, names and bytes of names; no real file exceeds them.
const ENTRIES: u64 = 65_536;
const NAME: u64 = 4096;

// elf(5) and glibc's elf.h.
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_SONAME: u64 = 14;
const DT_RPATH: u64 = 15;
const DT_RUNPATH: u64 = 29;
const DT_FLAGS_1: u64 = 0x6fff_fffb;
const DF_1_NODEFLIB: u64 = 0x800;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dynamic {
    pub machine: u16,
    pub soname: Option<String>,
    pub needed: Vec<String>,
    pub rpath: Vec<String>,
    pub runpath: Vec<String>,
    /// `-z nodefaultlib`: neither the cache nor the default directories are searched.
    pub nodeflib: bool,
    /// None in a library and in a statically linked program.
    pub interpreter: Option<String>,
    /// False if the file is statically linked, or not a program.
    pub is_dynamic: bool,
}

impl Dynamic {
    pub fn read(source: &dyn ReadAt) -> Result<Dynamic> {
        let elf = Elf::parse(source)?;
        let mut out = Dynamic { machine: elf.header.machine, ..Dynamic::default() };
        if let Some(segment) = elf.segments().iter().find(|segment| segment.kind == PT_INTERP) {
            let raw = source.bytes(segment.offset, segment.file_size.min(NAME), "PT_INTERP")?;
            out.interpreter = Some(text(&raw));
        }
        let Some(segment) = elf.segments().iter().find(|segment| segment.kind == PT_DYNAMIC) else { return Ok(out) };
        out.is_dynamic = true;
        let size = segment.file_size.min(ENTRIES * 16);
        let raw = source.bytes(segment.offset, size, "PT_DYNAMIC")?;
        let entries: Vec<(u64, u64)> = raw
            .chunks_exact(16)
            .map(|entry| (word(entry, 0), word(entry, 8)))
            .take_while(|(tag, _)| *tag != 0)
            .collect();
        let strings = entries.iter().find(|(tag, _)| *tag == DT_STRTAB).map(|(_, address)| *address);
        let name = |at: u64| -> Result<String> {
            let Some(start) = strings.and_then(|strings| strings.checked_add(at)).and_then(|a| elf.offset_of(a)) else {
                return Ok(String::new());
            };
            let raw = source.bytes(start, NAME.min(source.len().saturating_sub(start)), "dynamic string")?;
            Ok(text(&raw))
        };
        let list = |text: String| text.split(':').filter(|dir| !dir.is_empty()).map(str::to_owned).collect();
        for (tag, value) in &entries {
            match *tag {
                DT_NEEDED => out.needed.push(name(*value)?),
                DT_SONAME => out.soname = Some(name(*value)?),
                DT_RPATH => out.rpath = list(name(*value)?),
                DT_RUNPATH => out.runpath = list(name(*value)?),
                DT_FLAGS_1 => out.nodeflib = value & DF_1_NODEFLIB != 0,
                _ => {}
            }
        }
        Ok(out)
    }
}

fn text(raw: &[u8]) -> String {
    let end = raw.iter().position(|byte| *byte == 0).unwrap_or(raw.len());
    String::from_utf8_lossy(raw.get(..end).unwrap_or_default()).into_owned()
}

fn word(entry: &[u8], at: usize) -> u64 {
    entry.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
