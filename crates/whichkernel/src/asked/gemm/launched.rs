//! A launched kernel of a BLAS library, looked up in the catalog next to its code object.

use super::{Catalog, Explained, described, section};
use codeobject::processors_in;
use launch::grammar;
use report::Lang;
use runtime::catalogs::{LibraryDir, in_usual_place};
use say::say;
use std::path::{Path, PathBuf};
use tensile::select::{Call, CatalogFile, Choice, Compute, DataType, Library};
use tensile::{Files, kernel_name};

/// The facts about a kernel in its catalog.
#[derive(Debug)]
pub struct Launched {
    pub kernel: String,
    /// The products of the run that lead to the kernel.
    pub products: Vec<Explained>,
    /// The numbers of the kernel's solutions, and how many rows of tables refer to them.
    pub solutions: Vec<i64>,
    pub rows: usize,
    pub leaf: String,
    /// The directory of the catalog.
    pub catalog: String,
}

impl Launched {
    /// `sizes` are M, N, K and batch of the run's BLAS calls. None if no catalog is known that leads to the kernel.
    pub fn find(kernel: &str, file: &Path, sizes: &[[u64; 4]]) -> Option<Launched> {
        Launched::beside(kernel, file, sizes).or_else(|| Launched::elsewhere(kernel, sizes))
    }

    /// Looks the kernel up in the catalog next to the code object.
    fn beside(kernel: &str, file: &Path, sizes: &[[u64; 4]]) -> Option<Launched> {
        let dir = LibraryDir::open(file.parent()?).ok()??;
        let stem = file.file_stem()?.to_str()?.to_owned();
        let target = processors_in(&stem).next()?.to_owned();
        let shared = stem.strip_suffix(&format!("_{target}")).map(str::to_owned);
        let leaf = [Some(stem), shared].into_iter().flatten().find(|leaf| dir.listing().has(&format!("{leaf}.dat")))?;
        Launched::of(&catalog(dir, &target)?, kernel, leaf, sizes)
    }

    /// Libraries load code objects from memory, so the file is often unknown. A catalog on this machine or in the cache
    /// is used if it chooses exactly this kernel for a product of the run.
    fn elsewhere(kernel: &str, sizes: &[[u64; 4]]) -> Option<Launched> {
        let target = format!("gfx{}", kernel_name::parse(kernel)?.parameters.get("ISA")?);
        let cache = runtime::Cache::from_env();
        let entries = std::fs::read_dir(cache.runtimes()).into_iter().flatten().flatten();
        let mut roots: Vec<PathBuf> = entries.map(|entry| entry.path().join("root")).collect();
        roots.sort();
        roots.insert(0, PathBuf::from("/"));
        let libraries = ["rocblas", "hipblaslt"];
        let dirs = roots.iter().flat_map(|root| libraries.map(|library| in_usual_place(root, library))).flatten();
        for dir in dirs.filter(|dir| dir.listing().has(&format!("TensileLibrary_lazy_{target}.dat"))) {
            let catalog = catalog(dir, &target)?;
            let leaf = products(&catalog, kernel, sizes).into_iter().find_map(|found| match found.choice {
                Choice::Determined(chosen) => Some(chosen.leaf),
                _ => None,
            });
            if let Some(found) = leaf.and_then(|leaf| Launched::of(&catalog, kernel, leaf, sizes)) {
                return Some(found);
            }
        }
        None
    }

    fn of(catalog: &Catalog, kernel: &str, leaf: String, sizes: &[[u64; 4]]) -> Option<Launched> {
        let read = CatalogFile::parse(catalog.dir.read_checked(&format!("{leaf}.dat")).ok()?).ok()?;
        let (solutions, rows) = read.naming(kernel);
        let products = products(catalog, kernel, sizes);
        Some(Launched { kernel: kernel.to_owned(), products, solutions, rows, leaf, catalog: catalog.runtime.clone() })
    }

    fn text(&self, lang: &Lang) -> String {
        let numbers: Vec<String> = self.solutions.iter().take(3).map(i64::to_string).collect();
        let more = if self.solutions.len() > 3 { ", ..." } else { "" };
        let line = say!(
            "gemm-launched-row",
            kernel = grammar::read(&self.kernel).readable,
            solutions = format!("{}{more}", numbers.join(", ")),
            rows = self.rows,
            leaf = self.leaf,
            catalog = self.catalog
        );
        format!("  {}\n", lang.say(&line))
    }
}

fn catalog(dir: LibraryDir, target: &str) -> Option<Catalog> {
    let library = if dir.library() == "hipblaslt" { Library::HipBlasLt } else { Library::RocBlas };
    let runtime = dir.dir().display().to_string();
    Some(Catalog { version: dir.version(), dir, library, runtime, profile: gpu::find(target).ok()? })
}

/// The products among the run's sizes for which the catalog gives this kernel. Types and transposes are those of the
/// kernel's name.
fn products(catalog: &Catalog, kernel: &str, sizes: &[[u64; 4]]) -> Vec<Explained> {
    let Some(like) = product_of(kernel) else { return Vec::new() };
    let selector = catalog.selector();
    let mut out = Vec::new();
    for [m, n, k, batch] in sizes {
        let mut call = Call { m: *m, n: *n, k: *k, batch: *batch, ..like.clone() };
        call.ld = call.packed();
        let choice = selector.choose(&call);
        let Choice::Determined(chosen) = &choice else { continue };
        if chosen.kernel == kernel {
            let runner_up = Some(selector.choose_without(&call, &[chosen.index]));
            let (product, launched) = (described(&call), Some(kernel.to_owned()));
            let (library, version) = (catalog.library, catalog.version_text());
            out.push(Explained { library, version, product, choice, runner_up, launched });
        }
    }
    out
}

/// Types and transposes of a Tensile kernel.
fn product_of(kernel: &str) -> Option<Call> {
    let facts = grammar::read(kernel);
    let kind = |role: &str| DataType::from_user(&facts.type_of(role)?.to_ascii_lowercase());
    let (a, b, d) = (kind("A")?, kind("B")?, kind("D")?);
    let mut call = Call::plain(1, 1, 1, a);
    call.types = [a, b, d, d];
    call.compute = Compute::from_user(&facts.type_of("compute")?.to_ascii_lowercase())?;
    call.scale = call.compute.usual_scale();
    let indices = kernel_name::parse(kernel)?.problem;
    call.trans_a = indices.contains("_Alik");
    call.trans_b = indices.contains("_Bjlk");
    Some(call)
}

/// A section about the BLAS kernels of a run, for the terminal.
pub fn launched_section(all: &[Launched], lang: &Lang) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", lang.text("gemm-launched-section"));
    all.iter().for_each(|one| out += &one.text(lang));
    let products: Vec<&Explained> = all.iter().flat_map(|one| &one.products).collect();
    out + &section(&products, lang)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_name_states_types_and_transposes() {
        let call = product_of("Cijk_Alik_Bljk_HHS_BH_MT128x64x32_MI16x16x1_SN_WG32_4_1").unwrap();
        assert_eq!((call.trans_a, call.trans_b, call.compute), (true, false, Compute::F32));
        assert_eq!(call.types, [DataType::Half; 4]);
        let call = product_of("Cijk_Ailk_Bjlk_SB_MT8x8x8_X1").unwrap();
        assert_eq!((call.trans_a, call.trans_b, call.types[0]), (false, true, DataType::Float));
        assert_eq!(product_of("mul_mat_q"), None);
    }

    #[test]
    fn a_file_outside_of_a_catalog_explains_nothing() {
        assert!(Launched::find("Cijk_Ailk_Bljk_SB_MT8x8x8", Path::new("/nonexistent/a_gfx1100.co"), &[]).is_none());
        assert!(Launched::find("Cijk_Ailk_Bljk_SB_MT8x8x8", Path::new(""), &[]).is_none());
    }
}
