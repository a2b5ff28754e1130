//! Reads the host side of a HIP library, executable or object file: where its device code is, and which wrappers refer
//! to it.
//!
//! clang puts one bundle per translation unit into `.hip_fatbin` and one 24-byte wrapper into `.hipFatBinSegment`
//! (`clang/lib/CodeGen/CGCUDANV.cpp`, `HIPFatMagic`).

use crate::bundle;
use crate::coverage::Range;
use crate::elf::{Elf, R_X86_64_RELATIVE, SHT_NOBITS, Section};
use crate::error::Result;
use crate::read::{u32_at, u64_at};
use std::collections::HashMap;

pub const FATBIN: &str = ".hip_fatbin";
/// The section of hcc's bundles (until ROCm 3.3). Other files have a section with the same name, so the magic must be
/// checked.
const HCC: &str = ".kernel";
pub const WRAPPERS: &str = ".hipFatBinSegment";
/// "HIPF": a pointer to a bundle.
const MAGIC: u32 = 0x4849_5046;
/// "HIPK": the bundle was moved to an archive, and the pointer leads to a reference that names it.
const MAGIC_KPACK: u32 = 0x4b50_4948;
const WRAPPER: u64 = 24;

/// The sections with offload bundles for HIP. A SYCL library has a section whose *name* is
/// `__CLANG_OFFLOAD_BUNDLE__...`; it does not count.
pub fn fatbin_sections<'e>(elf: &'e Elf<'_>) -> impl Iterator<Item = &'e Section> {
    let hcc = |section: &Section| {
        let magic = elf.source().bytes(section.offset, bundle::MAGIC.len() as u64, "bundle magic");
        section.name == HCC && magic.is_ok_and(|magic| magic.starts_with(bundle::MAGIC))
    };
    let sections = elf.sections().iter().filter(|section| section.kind != SHT_NOBITS && section.size > 0);
    sections.filter(move |section| section.name == FATBIN || hcc(section))
}

/// The file offsets of a section's contents, truncated at the end of the file.
pub fn range_of(elf: &Elf<'_>, section: &Section) -> Range {
    let end = section.offset.saturating_add(section.size).min(elf.source().len());
    Range { start: section.offset.min(end), end }
}

/// One `__hip_fatbin_wrapper`: the argument of `__hipRegisterFatBinary`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrapper {
    /// The virtual address of the wrapper itself.
    pub address: u64,
    pub version: u32,
    /// The virtual address of the bundle that the wrapper points to, after relocation.
    pub bundle_address: u64,
    /// The file offset of the bundle, if it is in the file.
    pub bundle_offset: Option<u64>,
    /// The number of the code in a kpack archive next to the file, if it was moved there. Then the pointer leads to the
    /// reference.
    pub packed: Option<u32>,
}

/// Every wrapper of the file, in order. In a shared library or PIE, the pointer is the addend of a RELATIVE relocation,
/// because linkers need not fill in the bytes. In an executable at a fixed address, the pointer is in the wrapper
/// itself.
pub fn wrappers(elf: &Elf<'_>) -> Result<Vec<Wrapper>> {
    let mut found = Vec::new();
    // There are thousands of relocations and hundreds of wrappers, so they are looked up by address.
    for section in elf.sections().iter().filter(|section| section.name == WRAPPERS && section.kind != SHT_NOBITS) {
        let data = elf.data(section)?;
        let moved = elf.relocations_within(section.address, section.address.saturating_add(section.size))?;
        let relative = moved.iter().filter(|relocation| relocation.kind == R_X86_64_RELATIVE);
        let moved: HashMap<u64, i64> = relative.map(|relocation| (relocation.address, relocation.addend)).collect();
        for (record, i) in data.chunks_exact(WRAPPER as usize).zip(0u64..) {
            let magic = u32_at(record, 0);
            if magic != MAGIC && magic != MAGIC_KPACK {
                continue;
            }
            let address = section.address.saturating_add(i * WRAPPER);
            let place = address.saturating_add(8);
            let bundle_address = moved.get(&place).map_or_else(|| u64_at(record, 8), |addend| *addend as u64);
            let bundle_offset = elf.offset_of(bundle_address);
            let packed = (magic == MAGIC_KPACK).then(|| u32_at(record, 16));
            found.push(Wrapper { address, version: u32_at(record, 4), bundle_address, bundle_offset, packed });
        }
    }
    Ok(found)
}
