//! The code objects of real files: host libraries, bundles, compressed or not, and bare device ELFs.

use anyhow::Context;
use codeobject::elf::{EM_AMDGPU, Elf};
use codeobject::{CodeObject, Piece, Range, ReadAt, ccob, host, walk};
use std::fs;
use std::path::{Path, PathBuf};

/// Called with the origin of a code object, its processor, and its bytes.
pub type Each<'a> = dyn FnMut(&str, &str, &[u8]) -> anyhow::Result<()> + 'a;

/// Passes every code object in `file` to `each`.
pub fn each(file: &Path, each: &mut Each<'_>) -> anyhow::Result<()> {
    let data = fs::read(file).with_context(|| file.display().to_string())?;
    let label = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if let Ok(elf) = Elf::parse(&data) {
        if elf.header.machine == EM_AMDGPU {
            return each(&label, &processor(&data), &data);
        }
        for section in host::fatbin_sections(&elf) {
            bundles(&data, host::range_of(&elf, section), &label, each)?;
        }
        return Ok(());
    }
    bundles(&data, Range { start: 0, end: data.len() as u64 }, &label, each)
}

fn bundles(data: &dyn ReadAt, range: Range, label: &str, each: &mut Each<'_>) -> anyhow::Result<()> {
    for piece in walk(data, range, 0) {
        let Piece::Bundle(bundle) = piece else { continue };
        let opened = bundle.open(data, ccob::DEFAULT_LIMIT)?;
        for entry in opened.table.entries.iter().filter(|entry| !entry.id.is_host() && entry.size > 0) {
            let contents = opened.contents(entry)?;
            let bytes = contents.bytes(0, contents.len(), "code object")?;
            if bytes.starts_with(b"\x7fELF") {
                each(&format!("{label}[{}]", bundle.index), &processor(&bytes), &bytes)?;
            }
        }
    }
    Ok(())
}

fn processor(bytes: &[u8]) -> String {
    CodeObject::parse(&bytes.to_vec()).map(|object| object.processor().to_owned()).unwrap_or_default()
}

/// Files below a directory that may contain code objects, in a fixed order.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![directory.to_owned()];
    while let Some(directory) = todo.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => todo.push(path),
                Ok(kind) if kind.is_file() && likely(&path) => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

fn likely(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    [".co", ".hsaco", ".so"].iter().any(|end| name.ends_with(end)) || name.contains(".so.")
}
