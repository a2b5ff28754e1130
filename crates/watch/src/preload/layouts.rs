//! The file that tells the shim the offset of each kernel argument (see `launch::preload_input`).

use codeobject::{ReadAt, elf::Elf};
use launch::preload_input::{MAGIC, key};
use launch::table::KernelTable;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The GNU build id of a library.
pub fn build_id(library: &Path) -> Option<Vec<u8>> {
    let file = inventory::File::open(library).ok()?;
    let source: &dyn ReadAt = &file;
    let elf = Elf::parse(source).ok()?;
    let note = elf.data(elf.section(".note.gnu.build-id")?).ok()?;
    let size = note.get(4..8)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))?;
    note.get(16..)?.get(..size as usize).map(<[u8]>::to_vec)
}

/// Layouts of every kernel of `table` whose library has a build id. `libraries`: path here, path as the program sees
/// it.
///
/// A name with different layouts in one library is left out, because it is unknown which one a launch means.
pub fn layouts(table: &KernelTable, libraries: &[(PathBuf, String)]) -> Vec<u8> {
    let ids: HashMap<&str, Vec<u8>> =
        libraries.iter().filter_map(|(path, seen_as)| Some((seen_as.as_str(), build_id(path)?))).collect();
    let mut found: HashMap<u64, Option<&[(u32, u32)]>> = HashMap::new();
    for (kernel, place) in table.kernels.iter().zip(&table.of) {
        let id = table.places.get(*place as usize).and_then(|place| ids.get(place.path.as_str()));
        let Some(id) = id else { continue };
        let slot = found.entry(key(id, kernel.name.as_bytes())).or_insert(Some(&kernel.args));
        if *slot != Some(&kernel.args) {
            *slot = None;
        }
    }
    let sure: Vec<(u64, &[(u32, u32)])> = found.into_iter().filter_map(|(key, args)| Some((key, args?))).collect();
    file(&sure)
}

fn file(kernels: &[(u64, &[(u32, u32)])]) -> Vec<u8> {
    let slots = (kernels.len() * 2).next_power_of_two().max(16);
    let mut table = vec![(0_u64, 0_u32, 0_u32); slots];
    let mut args: Vec<(u32, u32)> = Vec::new();
    let mut shared: HashMap<&[(u32, u32)], u32> = HashMap::new();
    for (key, layout) in kernels {
        let first = *shared.entry(layout).or_insert_with(|| {
            args.extend_from_slice(layout);
            (args.len() - layout.len()) as u32
        });
        let mut at = *key as usize & (slots - 1);
        while table.get(at).is_some_and(|slot| slot.0 != 0) {
            at = (at + 1) & (slots - 1);
        }
        if let Some(slot) = table.get_mut(at) {
            *slot = (*key, first, layout.len() as u32);
        }
    }
    let mut out = MAGIC.to_vec();
    out.extend((slots as u32).to_le_bytes());
    out.extend((args.len() as u32).to_le_bytes());
    for (key, first, count) in table {
        out.extend(key.to_le_bytes());
        out.extend(first.to_le_bytes());
        out.extend(count.to_le_bytes());
    }
    for (offset, size) in args {
        out.extend((offset as u16).to_le_bytes());
        out.extend((size as u16).to_le_bytes());
    }
    out
}
