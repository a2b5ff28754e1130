//! Relocations with addends (as in x86-64 and AMDGPU files) and without.

use super::{Elf, SHT_REL, SHT_RELA, Section};
use crate::error::Result;
use crate::read::u64_at;

pub const R_X86_64_RELATIVE: u32 = 8;
const REL: usize = 16;
const RELA: usize = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relocation {
    pub address: u64,
    pub kind: u32,
    pub symbol: u32,
    /// The addend, or 0 if the table has no addends.
    pub addend: i64,
}

impl Elf<'_> {
    /// The relocations of a section. Empty for a section of another kind.
    pub fn relocations(&self, section: &Section) -> Result<Vec<Relocation>> {
        let size = match section.kind {
            SHT_RELA => RELA,
            SHT_REL => REL,
            _ => return Ok(Vec::new()),
        };
        let relocation = |record: &[u8]| {
            let info = u64_at(record, 8);
            Relocation {
                address: u64_at(record, 0),
                kind: info as u32,
                symbol: (info >> 32) as u32,
                addend: u64_at(record, 16) as i64,
            }
        };
        Ok(self.data(section)?.chunks_exact(size).map(relocation).collect())
    }

    /// Every relocation of the file that applies to an address in `start..end`, in file order.
    pub fn relocations_within(&self, start: u64, end: u64) -> Result<Vec<Relocation>> {
        let mut found = Vec::new();
        for section in self.sections().iter().filter(|section| section.kind == SHT_RELA) {
            let all = self.relocations(section)?;
            found.extend(all.into_iter().filter(|r| (start..end).contains(&r.address)));
        }
        Ok(found)
    }
}
