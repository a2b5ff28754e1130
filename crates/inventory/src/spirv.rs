//! The SPIR-V modules of a file, which a program passes to a Vulkan driver for compilation.
//!
//! Only the module itself contains its end, and a header inside the words of another module does not count. Each module
//! is therefore first read up to the next header, and further only if it is incomplete by then. The amount of rereading
//! is limited.

use codeobject::elf::{Elf, SHT_DYNSYM, SHT_SYMTAB};
use codeobject::{Error, Problem, ReadAt};
use say::say;
use spirv_modules::{HEADER_BYTES, Module, identity, is_header, length};
use std::collections::HashMap;

/// The maximum size of a module; real ones are below a megabyte.
const LONGEST: u64 = 64 << 20;
/// How often an incomplete module is read again, each time twice as far.
const MOST_LOOKS: usize = 8;
const FIELD: &str = "SPIR-V module";

/// One module in a file.
#[derive(Debug, Clone)]
pub struct SpirvModule {
    pub offset: u64,
    pub size: u64,
    /// SHA-256 without float controls, which programs add at run time.
    pub identity: String,
    /// The symbol at the module's address, without ggml's `_data`; None in a stripped file.
    pub name: Option<String>,
    pub module: Module,
}

/// The modules at these positions, which are sorted, and the positions of unreadable ones.
pub(crate) fn gather(source: &dyn ReadAt, places: &[u64], elf: Option<&Elf<'_>>) -> (Vec<SpirvModule>, Vec<Error>) {
    let header = |place: &&u64| {
        let len = (HEADER_BYTES as u64).min(source.len().saturating_sub(**place));
        source.bytes(**place, len, FIELD).is_ok_and(|bytes| is_header(&bytes))
    };
    let headers: Vec<u64> = places.iter().filter(header).copied().collect();
    let (mut modules, mut problems) = (Vec::new(), Vec::new());
    let mut left = source.len().saturating_mul(2).saturating_add(LONGEST);
    let mut end = 0;
    for (at, &offset) in headers.iter().enumerate() {
        if offset < end {
            continue;
        }
        let ends = headers.iter().skip(at + 1).copied().chain([source.len()]);
        match whole(source, offset, ends, &mut left) {
            Ok(Some(bytes)) => {
                end = offset + bytes.len() as u64;
                let (identity, module) = (identity(&bytes), Module::read(&bytes));
                modules.push(SpirvModule { offset, size: bytes.len() as u64, identity, name: None, module });
            }
            Ok(None) => {
                problems.push(Error::new(offset, FIELD, Problem::Other(say!("inventory-spirv-cut"))));
            }
            Err(error) => {
                problems.push(error);
                break;
            }
        }
    }
    if let Some(elf) = elf.filter(|_| !modules.is_empty()) {
        name(&mut modules, elf);
    }
    (modules, problems)
}

/// The end of the module at the start of a source; the end of its header if it is incomplete.
pub(crate) fn end(source: &dyn ReadAt) -> u64 {
    let bytes = source.bytes(0, source.len().min(LONGEST), FIELD);
    bytes.ok().and_then(|bytes| length(&bytes)).map_or(HEADER_BYTES as u64, |length| length as u64).min(source.len())
}

/// The bytes of one module; None if there is none. An error ends the search: the rest was not examined.
fn whole(
    source: &dyn ReadAt,
    offset: u64,
    ends: impl Iterator<Item = u64>,
    left: &mut u64,
) -> Result<Option<Vec<u8>>, Error> {
    let (mut wanted, mut looks) = (0, 0);
    for end in ends {
        let len = (end - offset).min(LONGEST);
        // If headers are close together, only some of them are read again.
        if len < wanted && end != source.len() {
            continue;
        }
        wanted = len.saturating_mul(2);
        *left = left
            .checked_sub(len)
            .ok_or_else(|| Error::new(offset, FIELD, Problem::Other(say!("inventory-spirv-too-many"))))?;
        let mut bytes = source.bytes(offset, len, FIELD)?.into_owned();
        if let Some(length) = length(&bytes) {
            bytes.truncate(length);
            return Ok(Some(bytes));
        }
        looks += 1;
        if len == LONGEST || looks == MOST_LOOKS {
            break;
        }
    }
    Ok(None)
}

/// Names modules after the symbols at their start. A file without symbols has no names, and none are guessed.
fn name(modules: &mut [SpirvModule], elf: &Elf<'_>) {
    let mut names: HashMap<u64, String> = HashMap::new();
    for kind in [SHT_DYNSYM, SHT_SYMTAB] {
        let Ok(Some(table)) = elf.symbols_of_kind(kind) else { continue };
        for symbol in table.iter().filter(|symbol| symbol.section != 0 && !symbol.name.is_empty()) {
            if let Some(offset) = elf.offset_of(symbol.address) {
                // vulkan-shaders-gen.cpp writes each module as `NAME_data`.
                let name = symbol.name.strip_suffix("_data").unwrap_or(symbol.name);
                names.insert(offset, name.to_owned());
            }
        }
    }
    for module in modules {
        module.name = names.get(&module.offset).cloned();
    }
}
