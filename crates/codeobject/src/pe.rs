//! Reads Windows libraries and programs (PE32+), as far as needed to find their device code.
//!
//! Section names are limited to eight bytes: `.hip_fatbin` becomes `.hip_fat`, `.nv_fatbin` becomes `.nv_fatb`. See
//! Microsoft's "PE Format", "COFF File Header" and "Section Table".

use crate::coverage::Range;
use crate::error::{Error, Problem, Result};
use crate::read::{ReadAt, u16_at, u32_at, u64_at};
use say::key;

pub const MAGIC: &[u8; 2] = b"MZ";
const SECTION: u64 = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    /// Virtual address, including the image base.
    pub address: u64,
    /// The range in the file, truncated at its end.
    pub range: Range,
    /// The size in the file, according to the header.
    pub size: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pe {
    pub sections: Vec<Section>,
    /// Whether the file is a library rather than a program.
    pub is_dll: bool,
    /// The offset at which the headers and the section table end.
    pub headers_end: u64,
}

impl Pe {
    pub fn parse(source: &dyn ReadAt) -> Result<Self> {
        let dos = source.bytes(0, 64, "DOS header")?;
        let at = u64::from(u32_at(&dos, 60));
        let head = source.bytes(at, 24, "PE header")?;
        if !head.starts_with(b"PE\0\0") {
            let found = u32_at(&head, 0).into();
            return Err(Error::new(
                at,
                "PE signature",
                Problem::Unexpected { found, expected: key!("codeobject-expected-pe") },
            ));
        }
        let (count, optional) = (u64::from(u16_at(&head, 6)), u64::from(u16_at(&head, 20)));
        let options = source.bytes(at + 24, optional, "PE optional header")?;
        // The image base has 64 bits in PE32+ and 32 bits in PE32.
        let base = if u16_at(&options, 0) == 0x20b { u64_at(&options, 24) } else { u32_at(&options, 28).into() };
        let raw = source.bytes(at + 24 + optional, SECTION * count, "PE section table")?;
        let section = |record: &[u8]| {
            let name = record.get(..8).unwrap_or_default();
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            let (size, start) = (u64::from(u32_at(record, 16)), u64::from(u32_at(record, 20)));
            let end = (start + size).min(source.len());
            // The section's size in memory is less than its padded size in the file.
            let used = u64::from(u32_at(record, 8)).min(size);
            Section {
                name: String::from_utf8_lossy(name).into_owned(),
                address: base.saturating_add(u32_at(record, 12).into()),
                range: Range { start: start.min(end), end: (start + used).min(end) },
                size: used,
            }
        };
        let sections = raw.chunks_exact(SECTION as usize).map(section).collect();
        let headers_end = at + 24 + optional + SECTION * count;
        Ok(Pe { sections, is_dll: u16_at(&head, 22) & 0x2000 != 0, headers_end })
    }

    /// Non-empty sections with that name, which is truncated to eight bytes.
    pub fn named<'p>(&'p self, name: &'p str) -> impl Iterator<Item = &'p Section> {
        let short = name.get(..8).unwrap_or(name);
        self.sections.iter().filter(move |section| section.name == short && !section.range.is_empty())
    }

    /// The device sections for HIP.
    pub fn fatbins(&self) -> impl Iterator<Item = &Section> {
        self.named(crate::host::FATBIN)
    }
}
