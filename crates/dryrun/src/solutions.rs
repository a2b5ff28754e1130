//! Adds solution numbers to kernel names, from the catalog next to the code object.
//!
//! A kernel may serve several solutions, which differ in their split of K or their padding. All of their numbers are
//! then given. hipBLASLt's API takes the number of the catalog. rocBLAS' API (`rocblas_gemm_ex`, `rocblas-bench
//! --solution_index`) takes that number plus one, since 0 leaves the choice to the library. With that number, rocBLAS
//! 4.4 launches the same kernel.

use crate::images;
use crate::run_root::RunRoot;
use launch::trace::Trace;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Solution numbers by kernel name, for the BLAS kernels of a run.
pub fn numbers(place: &RunRoot, traces: &[Trace], images: &HashMap<u64, String>) -> HashMap<String, Vec<i64>> {
    // The kernels that were used from each code object file.
    let mut wanted: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for trace in traces {
        for kernel in trace.kernels.iter().filter(|kernel| kernel.name.starts_with("Cijk_")) {
            let Some(module) = trace.module(kernel.module) else { continue };
            let names = images.get(&module.hash).map_or(module.path.as_str(), String::as_str);
            for name in names.split('|').filter_map(|name| name.rsplit('/').next()) {
                wanted.entry(name.to_owned()).or_default().insert(&kernel.name);
            }
        }
    }
    let mut found: HashMap<String, Vec<i64>> = HashMap::new();
    if wanted.is_empty() {
        return found;
    }
    for object in images::catalog_files(place) {
        let name = object.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(kernels) = wanted.get(&name) else { continue };
        let Some(catalog) = beside(&object).and_then(|path| sys::regular_file::whole(&path, 1 << 30).ok()) else {
            continue;
        };
        let Ok(catalog) = tensile::Catalog::parse(&catalog) else { continue };
        let first = i64::from(!object.components().any(|part| part.as_os_str() == "hipblaslt"));
        for solution in catalog.solutions.iter().filter(|solution| kernels.contains(solution.kernel.as_str())) {
            let numbers = found.entry(solution.kernel.clone()).or_default();
            let number = solution.index.saturating_add(first);
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
    }
    found
}

/// The catalog of a code object: `NAME.dat` next to `NAME.co`. Kernels for any GPU have one catalog for all objects
/// (`NAME_fallback.dat`).
fn beside(object: &Path) -> Option<PathBuf> {
    let own = object.with_extension("dat");
    if own.is_file() {
        return Some(own);
    }
    let stem = object.file_stem()?.to_string_lossy().into_owned();
    let (shared, _) = stem.rsplit_once("_gfx")?;
    Some(object.with_file_name(format!("{shared}.dat"))).filter(|path| path.is_file())
}
