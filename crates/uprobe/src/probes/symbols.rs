//! The watched functions of a library, from its dynamic symbols: file offset and first bytes.

use crate::probes::entries::{ENTRIES, Home, Suspect, suspect};
use codeobject::elf::{Elf, SymbolKind};
use codeobject::{ReadAt, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Index in [`ENTRIES`].
    pub entry: usize,
    /// The offset in the file.
    pub offset: u64,
    /// Load address in the file, and length according to the symbol.
    pub address: u64,
    pub size: u64,
    /// The function's bytes.
    pub code: Vec<u8>,
}

/// The number of bytes to read of a function without a size.
const UNSIZED: u64 = 64;
const LONGEST: u64 = 4096;
const DYNSYM: u32 = 11;

/// One entry per address: a second name of the same function would count every call twice.
pub fn entries_of(file: &dyn ReadAt, home: Home) -> Result<Vec<Symbol>> {
    let elf = Elf::parse(file)?;
    let Some(table) = elf.symbols_of_kind(DYNSYM)? else { return Ok(Vec::new()) };
    let mut out: Vec<Symbol> = Vec::new();
    for symbol in table.iter().filter(|symbol| symbol.section != 0 && symbol.kind == SymbolKind::Function) {
        let wanted = |entry: &crate::probes::entries::Entry| entry.home == home && entry.symbol == symbol.name;
        let Some(entry) = ENTRIES.iter().position(wanted) else { continue };
        let Some(offset) = elf.offset_of(symbol.address) else { continue };
        let len = if symbol.size == 0 { UNSIZED } else { symbol.size.min(LONGEST) };
        let len = len.min(file.len().saturating_sub(offset));
        let code = elf.at_address(symbol.address, len, "function")?.into_owned();
        match out.iter_mut().find(|known| known.offset == offset) {
            Some(known) => known.entry = known.entry.min(entry),
            None => out.push(Symbol { entry, offset, address: symbol.address, size: symbol.size, code }),
        }
    }
    out.sort_by_key(|symbol| symbol.entry);
    Ok(out)
}

/// An unknown export that may launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    pub symbol: String,
    pub what: Suspect,
    /// The offset in the file.
    pub offset: u64,
}

/// One entry per address, excluding second names of known functions.
pub fn unknown_of(file: &dyn ReadAt, home: Home, known: &[Symbol]) -> Result<Vec<Unknown>> {
    let elf = Elf::parse(file)?;
    let Some(table) = elf.symbols_of_kind(DYNSYM)? else { return Ok(Vec::new()) };
    let mut out: Vec<Unknown> = Vec::new();
    for symbol in table.iter().filter(|symbol| symbol.section != 0 && symbol.kind == SymbolKind::Function) {
        let Some(what) = suspect(home, symbol.name) else { continue };
        let Some(offset) = elf.offset_of(symbol.address) else { continue };
        let again = known.iter().any(|known| known.offset == offset) || out.iter().any(|other| other.offset == offset);
        if !again {
            out.push(Unknown { symbol: symbol.name.to_string(), what, offset });
        }
    }
    Ok(out)
}
