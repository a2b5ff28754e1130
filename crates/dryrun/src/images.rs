//! Finds the file of a loaded image. rocBLAS passes bytes without a name, so the file is identified by the hash of its
//! content.

use crate::RunRoot;
use crate::kernels::of_image;
use crate::loaded::{Loaded, kept};
use gpu::Arch;
use launch::record::{FNV, fnv};
use launch::trace::Trace;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// The files behind the images of a run, by hash. Only files with the size of an image are read. If several files
/// contain an image, all are named.
pub fn name(place: &RunRoot, traces: &[Trace]) -> HashMap<u64, String> {
    let mut wanted: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for module in traces.iter().flat_map(|trace| &trace.modules).filter(|m| m.hash != 0 && m.path.is_empty()) {
        wanted.entry(module.size).or_default().push(module.hash);
    }
    if wanted.is_empty() {
        return HashMap::new();
    }
    let files = catalog_files(place);
    let mut found: HashMap<u64, String> = HashMap::new();
    for file in files {
        let Ok(metadata) = fs::metadata(&file) else { continue };
        // An ELF image ends with its section headers. A file may have a few bytes of padding after them.
        let hashes = wanted.range(..=metadata.len()).next_back().filter(|(size, _)| metadata.len() - **size < 64);
        let Some((size, hashes)) = hashes else { continue };
        let Ok(bytes) = sys::regular_file::whole(&file, metadata.len()) else { continue };
        let hash = fnv(FNV, bytes.get(..*size as usize).unwrap_or(&bytes));
        if hashes.contains(&hash) {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            found.entry(hash).and_modify(|known| *known += &format!("|{name}")).or_insert(name);
        }
    }
    found
}

/// The kernels of images that the program compiled or unpacked itself, by their own metadata.
pub fn kernels(directory: &Path, traces: &[Trace], devices: &[Arch]) -> Loaded {
    let mut found = Loaded::new();
    let hashes: BTreeSet<u64> = traces.iter().flat_map(|trace| &trace.modules).map(|module| module.hash).collect();
    for hash in hashes.into_iter().filter(|hash| *hash != 0) {
        let path = kept(directory, hash);
        let of = |device: &Arch| of_image(&path, device).map(|(_, kernels)| kernels).filter(|list| !list.is_empty());
        for kernel in devices.iter().find_map(of).into_iter().flatten() {
            found.insert((hash, kernel.name.clone()), kernel);
        }
    }
    found
}

/// Every code object in the catalogs of the run's root.
pub fn catalog_files(place: &RunRoot) -> Vec<PathBuf> {
    let mut files = Vec::new();
    match place {
        RunRoot::Tree { root, .. } => {
            catalogs(&root.join("usr/lib"), 5, &mut files);
            catalogs(&root.join("opt/rocm/lib"), 4, &mut files);
        }
        RunRoot::Directory { path } => catalogs(path, 5, &mut files),
        RunRoot::Host => catalogs(Path::new("/opt/rocm/lib"), 4, &mut files),
    }
    files
}

/// Code objects of the `library` directories of rocBLAS and hipBLASLt.
fn catalogs(directory: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => catalogs(&path, depth - 1, found),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|e| e == "co" || e == "hsaco") => {
                found.push(path)
            }
            _ => {}
        }
    }
}
