//! One file of a rocBLAS or hipBLASLt catalog: its solutions by target and type, and its solutions for one GPU.

use crate::select::amd;
use answer::Answer;
use codeobject::{ReadAt, msgpack::Reader};
use gpu::Arch;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tensile::{Catalog, Solution, limits};

/// The contents of one catalog file (`.dat`): solutions, kernels and references to other catalog files.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogAnswer {
    pub file: String,
    pub size: u64,
    /// The kind of file, always `catalog`.
    pub form: &'static str,
    pub solutions: usize,
    /// Different kernel names. Their code is in other files.
    pub kernels: usize,
    /// The number of other catalog files that this one refers to.
    pub leaves: usize,
    pub targets: Vec<CatalogTarget>,
    pub types: Vec<CatalogTypes>,
    /// Present if a GPU was given.
    pub asked: Option<CatalogAsked>,
    /// Present only with `--kernels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<CatalogRow>>,
}

impl Answer for CatalogAnswer {
    const SCHEMA: &'static str = "whichkernel.inspect-catalog/1";
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogTarget {
    /// The target that the solutions are for; null for any GPU.
    pub target: Option<String>,
    pub solutions: usize,
    pub kernels: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogTypes {
    /// The data types of A, B, C and D, in the library's words.
    pub types: [String; 4],
    pub solutions: usize,
}

/// The part of the catalog that one GPU can use.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogAsked {
    pub target: String,
    pub found: CatalogFound,
    /// Solutions for this target, and solutions for any GPU.
    pub own: usize,
    pub any: usize,
    /// Other catalog files that this one refers to for this target.
    pub leaves: usize,
}

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum CatalogFound: key {
        /// Solutions for this target.
        Own = "own",
        /// Only solutions for any GPU. They work if a code object for this target is next to the catalog.
        Any = "any",
        /// References to other catalog files, which may have solutions.
        Leaves = "leaves",
        Nothing = "nothing",
    }
}

/// One solution.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogRow {
    pub index: i64,
    pub kernel: String,
    /// Null for any GPU.
    pub target: Option<String>,
    pub macro_tile: Vec<i64>,
    pub depth_u: i64,
    pub global_split_u: i64,
    /// The data types of A, B, C and D.
    pub types: [String; 4],
}

/// Whether a file begins like a catalog: a MessagePack map whose first key is one of a catalog's.
pub fn is_catalog(source: &dyn ReadAt) -> bool {
    let Ok(head) = source.bytes(0, source.len().min(16), "magic") else { return false };
    let mut reader = Reader::new(&head, 0);
    let key = reader.expect_map("catalog").and_then(|_| reader.expect_str("catalog key"));
    matches!(key, Ok("solutions" | "library" | "version"))
}

/// Reads a catalog file. A file over the limit is an error before any of it is in memory.
pub fn catalog(source: &dyn ReadAt) -> tensile::Result<Catalog> {
    let size = source.len();
    if size > limits::FILE {
        let problem = tensile::Problem::OverLimit { claimed: size, limit: limits::FILE };
        return Err(tensile::Error::new(0, "catalog size", problem));
    }
    Catalog::parse(&source.bytes(0, size, "catalog")?)
}

impl CatalogAnswer {
    pub fn new(file: String, size: u64, catalog: &Catalog, wanted: Option<&Arch>) -> CatalogAnswer {
        let mut targets: BTreeMap<Option<&str>, (usize, BTreeSet<&str>)> = BTreeMap::new();
        let mut types: BTreeMap<&[String; 4], usize> = BTreeMap::new();
        for solution in &catalog.solutions {
            let of = targets.entry(solution.processor.as_deref()).or_default();
            of.0 += 1;
            of.1.insert(&solution.kernel);
            *types.entry(&solution.types).or_default() += 1;
        }
        let kernels: BTreeSet<&str> = targets.values().flat_map(|(_, kernels)| kernels.iter().copied()).collect();
        CatalogAnswer {
            file,
            size,
            form: "catalog",
            solutions: catalog.solutions.len(),
            kernels: kernels.len(),
            leaves: catalog.leaves(None).len(),
            targets: targets
                .iter()
                .map(|(target, (solutions, kernels))| CatalogTarget {
                    target: target.map(str::to_owned),
                    solutions: *solutions,
                    kernels: kernels.len(),
                })
                .collect(),
            types: types
                .into_iter()
                .map(|(types, solutions)| CatalogTypes { types: types.clone(), solutions })
                .collect(),
            asked: wanted.map(|wanted| CatalogAsked::new(catalog, wanted)),
            rows: None,
        }
    }

    /// Adds the solutions that `keep` accepts.
    pub fn list(&mut self, catalog: &Catalog, keep: impl Fn(&Solution) -> bool) {
        let rows = catalog.solutions.iter().filter(|solution| keep(solution)).map(|solution| CatalogRow {
            index: solution.index,
            kernel: solution.kernel.clone(),
            target: solution.processor.clone(),
            macro_tile: solution.macro_tile.clone(),
            depth_u: solution.depth_u,
            global_split_u: solution.global_split_u,
            types: solution.types.clone(),
        });
        self.rows = Some(rows.collect());
    }
}

impl CatalogAsked {
    fn new(catalog: &Catalog, wanted: &Arch) -> CatalogAsked {
        // Catalogs are AMD's: another vendor's GPU can use none of it.
        let amd = amd(wanted);
        let processor = amd.as_ref().map(|target| target.processor.as_str());
        let count = |of: Option<&str>| catalog.solutions.iter().filter(|one| one.processor.as_deref() == of).count();
        let own = processor.map_or(0, |processor| count(Some(processor)));
        let any = if processor.is_some() { count(None) } else { 0 };
        let leaves = processor.map_or(0, |processor| catalog.leaves(Some(processor)).len());
        let found = match (own, any, leaves) {
            (1.., ..) => CatalogFound::Own,
            (0, 1.., _) => CatalogFound::Any,
            (0, 0, 1..) => CatalogFound::Leaves,
            (0, 0, 0) => CatalogFound::Nothing,
        };
        CatalogAsked { target: wanted.to_string(), found, own, any, leaves }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solution(kernel: &str, processor: Option<&str>) -> Solution {
        Solution { kernel: kernel.into(), processor: processor.map(str::to_owned), ..Solution::default() }
    }

    #[test]
    fn solutions_of_a_target_are_told_from_those_for_any_gpu() {
        let solutions = vec![solution("a", Some("gfx1201")), solution("a", Some("gfx1201")), solution("b", None)];
        let catalog = Catalog { solutions, library: None };
        let asked = |gpu: &str| {
            let wanted = Arch::parse(gpu).expect(gpu);
            let answer = CatalogAnswer::new("x.dat".into(), 1, &catalog, Some(&wanted));
            assert_eq!((answer.solutions, answer.kernels, answer.targets.len()), (3, 2, 2));
            let asked = answer.asked.expect("asked");
            (asked.found, asked.own, asked.any)
        };
        assert_eq!(asked("rx-9070-xt"), (CatalogFound::Own, 2, 1));
        assert_eq!(asked("gfx1100"), (CatalogFound::Any, 0, 1));
        assert_eq!(asked("sm_90"), (CatalogFound::Nothing, 0, 0));
    }

    #[test]
    fn only_a_map_with_a_catalogs_key_is_a_catalog() {
        assert!(is_catalog(&b"\x82\xa9solutions\x90".as_slice()));
        for other in [b"".as_slice(), b"\x81", b"\x81\xa4name\xa1x", b"GGUF\x03", b"\x7fELF", b"\x81\xa9solu"] {
            assert!(!is_catalog(&other), "{other:?}");
        }
    }
}
