//! A directory: its GPU libraries and kernel catalogs, and how they serve a GPU.

use crate::libraries::serves;
use answer::Answer;
use evidence::Conclusion;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use tensile::Service;

/// The GPU libraries and kernel catalogs of a directory or package.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Directory {
    pub directory: String,
    /// The target that was asked about.
    pub target: Option<String>,
    pub libraries: Vec<Library>,
    pub catalogs: Vec<Catalog>,
    /// Is what is listed all there is?
    pub conclusion: Conclusion,
    /// How it serves the GPU that was asked about; null where none was.
    pub serves: Option<Serving>,
    /// What could not be looked at, with the reason.
    pub unread: Vec<String>,
    /// Archives and packages: what is in them was not looked at.
    pub not_looked_into: Vec<Pack>,
}

impl Answer for Directory {
    const SCHEMA: &'static str = "whichkernel.inspect-directory/2";
}

/// Two questions about a directory and one GPU.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Serving {
    /// Would the GPU find kernels in anything that lies there?
    pub any: Conclusion,
    /// Does everything that lies there for GPUs of its vendor serve it?
    pub all: Conclusion,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Library {
    pub path: String,
    /// How many loose code objects and bundles; null for a library.
    pub loose_files: Option<usize>,
    pub size: u64,
    pub soname: Option<String>,
    pub part: Option<&'static str>,
    pub version: Option<String>,
    pub release: Option<String>,
    pub bundles: usize,
    pub kernels: u64,
    /// Kernels per target id.
    pub targets: BTreeMap<String, u64>,
    pub stubs: u64,
    /// SPIR-V modules; looked for in files with device code and in those that need the Vulkan loader, in all where a GPU was asked
    /// about.
    pub spirv_modules: usize,
    /// null where nobody can say, or nobody asked.
    pub serves: Option<bool>,
    /// The target whose code would be taken.
    pub taken: Option<String>,
    pub problem: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Catalog {
    pub path: String,
    pub library: String,
    pub layout: &'static str,
    pub files: usize,
    /// Files per target.
    pub targets: BTreeMap<String, usize>,
    pub service: Option<ServiceAnswer>,
    /// The runtime was fetched for these targets only.
    pub fetched_for: Option<Vec<String>>,
}

/// How a catalog serves one target.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServiceAnswer {
    target: String,
    /// no, not-known, partly, fallback-only or yes.
    verdict: &'static str,
    /// What the verdict rests on.
    conclusion: Conclusion,
    files: usize,
    root: Option<String>,
    helpers: Vec<String>,
    leaves: usize,
    fallback_leaves: usize,
    families: BTreeMap<String, FamilyService>,
    problems: Vec<String>,
    broken_leaves: Vec<BrokenLeaf>,
    unknown_nodes: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct FamilyService {
    leaves: usize,
    fallback_leaves: usize,
    solutions: usize,
    kernels: usize,
    source_kernels: usize,
    macro_tiles: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct BrokenLeaf {
    leaf: String,
    problems: Vec<String>,
    absent_kernels: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Pack {
    pub path: String,
    /// ar, deb, zip, tar, compressed or rpm.
    pub kind: &'static str,
}

impl From<&Service> for ServiceAnswer {
    fn from(service: &Service) -> Self {
        let family = |family: &tensile::Family| FamilyService {
            leaves: family.leaves,
            fallback_leaves: family.fallback_leaves,
            solutions: family.solutions,
            kernels: family.kernels,
            source_kernels: family.source_kernels,
            macro_tiles: family.macro_tiles.iter().map(|(m, n)| format!("{m}x{n}")).collect(),
        };
        let broken = service.leaves.iter().filter(|leaf| !leaf.problems.is_empty() || !leaf.absent.is_empty());
        ServiceAnswer {
            target: service.target.clone(),
            verdict: service.verdict().name(),
            conclusion: serves(service),
            files: service.files,
            root: service.root.clone(),
            helpers: service.helpers.clone(),
            leaves: service.leaves.len(),
            fallback_leaves: service.leaves.iter().filter(|leaf| leaf.fallback).count(),
            families: service.families.iter().map(|(name, value)| (name.clone(), family(value))).collect(),
            problems: service.problems.iter().map(ToString::to_string).collect(),
            broken_leaves: broken
                .map(|leaf| BrokenLeaf {
                    leaf: leaf.name.clone(),
                    problems: leaf.problems.iter().map(ToString::to_string).collect(),
                    absent_kernels: leaf.absent.iter().map(ToString::to_string).collect(),
                })
                .collect(),
            unknown_nodes: service.unknown_nodes.iter().map(ToString::to_string).collect(),
        }
    }
}
