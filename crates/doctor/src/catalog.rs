//! The kernel catalogs of rocBLAS and hipBLASLt: whether this host's copy contains files for this host's GPU.
//!
//! A missing file for the target is noticed late and without a clear message: rocBLAS fails at the first GEMM or falls
//! back, hipBLASLt prints one line. Counting file names by target finds the problem before anything runs.

use crate::{Host, rocm};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Catalog {
    /// `rocblas` or `hipblaslt`.
    pub library: &'static str,
    pub directory: String,
    pub files: usize,
    /// The number of files whose name contains a target, by target.
    pub targets: BTreeMap<String, usize>,
    /// Targets with a lazy index (`TensileLibrary_lazy_TARGET.dat`), the file that is opened first.
    pub indexed: Vec<String>,
}

pub fn read(host: &Host) -> Vec<Catalog> {
    let mut found = Vec::new();
    for (library, variable) in [("rocblas", "ROCBLAS_TENSILE_LIBPATH"), ("hipblaslt", "HIPBLASLT_TENSILE_LIBPATH")] {
        for directory in directories(host, library, variable) {
            if let Some(names) = host.names(&directory).found()
                && !names.is_empty()
            {
                found.push(count(library, directory, names));
            }
        }
    }
    found
}

fn directories(host: &Host, library: &str, variable: &str) -> Vec<String> {
    let mut directories = Vec::new();
    for base in rocm::library_directories(host) {
        let home = format!("{base}/{library}");
        directories.push(format!("{home}/library"));
        // Debian keeps one directory per upstream version between the two.
        directories.extend(host.entries(&home).into_iter().map(|name| format!("{home}/{name}/library")));
    }
    directories.extend(host.environment().get(variable).cloned());
    directories.sort_unstable();
    directories.dedup();
    directories
}

fn count(library: &'static str, directory: String, names: &[String]) -> Catalog {
    let mut targets = BTreeMap::new();
    let mut indexed = Vec::new();
    for name in names {
        if let Some(target) = gpu::processor_in(name) {
            *targets.entry(target.to_owned()).or_insert(0) += 1;
            if name.starts_with("TensileLibrary_lazy_") && !indexed.iter().any(|known| known == target) {
                indexed.push(target.to_owned());
            }
        }
    }
    Catalog { library, directory, files: names.len(), targets, indexed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_counted_by_their_target() {
        let names: Vec<String> = [
            "Kernels.so-000-gfx1201.hsaco",
            "Kernels.so-000-gfx90a-xnack+.hsaco",
            "TensileLibrary_lazy_gfx1201.dat",
            "TensileLibrary_Type_HH_Contraction_l_Ailk_Bljk_Cijk_Dijk_gfx1201.co",
            "TensileLibrary_Type_HH_Contraction_l_Ailk_Bljk_Cijk_Dijk_fallback.dat",
            "Kernels.so-000-gfx9-4-generic-xnack-.hsaco",
        ]
        .map(str::to_owned)
        .to_vec();
        let catalog = count("rocblas", "x".to_owned(), &names);
        assert_eq!(catalog.targets.get("gfx1201"), Some(&3));
        assert_eq!(catalog.targets.get("gfx90a"), Some(&1));
        assert_eq!(catalog.indexed, ["gfx1201"]);
        assert_eq!(catalog.targets.get("gfx9-4-generic"), Some(&1));
        assert_eq!(catalog.files, 6);
    }
}
