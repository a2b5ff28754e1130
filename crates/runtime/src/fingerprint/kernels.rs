//! The kernels of a host library, by shape.

use super::{FingerprintTable, Shape};
use codeobject::{
    Piece, ReadAt, Result, ccob, demangle,
    elf::{Elf, SHT_DYNSYM, SHT_SYMTAB},
    host, walk,
};
use std::collections::BTreeSet;

/// Mangled kernel names of the first target of every bundle: all targets share the same source.
pub fn kernel_names(source: &dyn ReadAt) -> Result<BTreeSet<String>> {
    let elf = Elf::parse(source)?;
    let mut out = BTreeSet::new();
    for section in host::fatbin_sections(&elf) {
        for piece in walk(source, host::range_of(&elf, section), 0) {
            let Piece::Bundle(bundle) = piece else { continue };
            let opened = bundle.open(source, ccob::DEFAULT_LIMIT)?;
            let Some(entry) = opened.table.entries.iter().find(|entry| !entry.id.is_host() && entry.size > 0) else {
                continue;
            };
            let object = opened.contents(entry)?;
            let elf = Elf::parse(&object)?;
            let table = match elf.symbols_of_kind(SHT_SYMTAB)? {
                Some(table) => Some(table),
                None => elf.symbols_of_kind(SHT_DYNSYM)?,
            };
            let Some(table) = table else { continue };
            out.extend(table.iter().filter_map(|symbol| symbol.name.strip_suffix(".kd")).map(str::to_owned));
        }
    }
    Ok(out)
}

/// The shapes of those kernels, if the file is ggml's: the table must know at least a few of the names.
pub fn ggml_kernels(names: &BTreeSet<String>, table: &FingerprintTable) -> Option<BTreeSet<Shape>> {
    const TELLING: usize = 3;
    let shapes: BTreeSet<Shape> =
        names.iter().filter_map(|name| demangle(name)).filter_map(|text| Shape::of_demangled(&text)).collect();
    let known: BTreeSet<&str> =
        shapes.iter().map(|shape| shape.name.as_str()).filter(|name| table.knows_name(name)).collect();
    (known.len() >= TELLING).then_some(shapes)
}
