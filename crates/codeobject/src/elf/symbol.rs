//! Symbol tables.

use super::{Elf, Section, text_at};
use crate::error::Result;
use crate::read::{u16_at, u32_at, u64_at};
use std::borrow::Cow;

const SYMBOL: usize = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolKind {
    None,
    Object,
    Function,
    Other(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol<'t> {
    pub name: &'t str,
    pub kind: SymbolKind,
    /// The binding: 0 local, 1 global, 2 weak.
    pub binding: u8,
    /// The field `st_other`.
    pub other: u8,
    /// The section that defines the symbol; 0 if it is undefined.
    pub section: u16,
    pub address: u64,
    pub size: u64,
}

/// A symbol table with its string table.
#[derive(Debug, Clone)]
pub struct Symbols<'a> {
    table: Cow<'a, [u8]>,
    names: Cow<'a, [u8]>,
}

impl Symbols<'_> {
    pub fn iter(&self) -> impl Iterator<Item = Symbol<'_>> {
        self.table.chunks_exact(SYMBOL).map(|record| self.symbol(record))
    }

    fn symbol(&self, record: &[u8]) -> Symbol<'_> {
        let info = record.get(4).copied().unwrap_or(0);
        Symbol {
            name: text_at(&self.names, u64::from(u32_at(record, 0))),
            kind: match info & 15 {
                0 => SymbolKind::None,
                1 => SymbolKind::Object,
                2 => SymbolKind::Function,
                other => SymbolKind::Other(other),
            },
            binding: info >> 4,
            other: record.get(5).copied().unwrap_or(0),
            section: u16_at(record, 6),
            address: u64_at(record, 8),
            size: u64_at(record, 16),
        }
    }

    /// The symbol at an index, which is how relocations refer to symbols.
    pub fn get(&self, index: u32) -> Option<Symbol<'_>> {
        self.table.chunks_exact(SYMBOL).nth(index as usize).map(|record| self.symbol(record))
    }
}

impl<'a> Elf<'a> {
    /// The symbols of a section of kind SHT_SYMTAB or SHT_DYNSYM; its strings are found through `sh_link`.
    pub fn symbols(&self, section: &Section) -> Result<Symbols<'a>> {
        let names = self.sections.get(section.link as usize);
        let names = names.map_or(Ok(Cow::Borrowed(&[][..])), |names| self.data(names))?;
        Ok(Symbols { table: self.data(section)?, names })
    }

    /// The symbols of the first section of that kind, if there is one.
    pub fn symbols_of_kind(&self, kind: u32) -> Result<Option<Symbols<'a>>> {
        self.sections.iter().find(|section| section.kind == kind).map(|section| self.symbols(section)).transpose()
    }
}
