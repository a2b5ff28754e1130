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
    /// The requested target.
    pub target: Option<String>,
    pub libraries: Vec<Library>,
    pub catalogs: Vec<Catalog>,
    /// Whether the list is complete.
    pub conclusion: Conclusion,
    /// Whether and how the file supports the requested GPU; null if none was requested.
    pub serves: Option<Serving>,
    /// Files and directories that could not be examined, with the reason.
    pub unread: Vec<String>,
    /// Archives and packages, whose content was not examined.
    pub not_looked_into: Vec<Pack>,
}

impl Answer for Directory {
    const SCHEMA: &'static str = "whichkernel.inspect-directory/2";
}

/// Two answers about a directory and one GPU.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Serving {
    /// Whether any file there has kernels for the GPU.
    pub any: Conclusion,
    /// Whether everything in the directory for GPUs of this vendor supports the GPU.
    pub all: Conclusion,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Library {
    pub path: String,
    /// The number of loose code objects and bundles; null for a library.
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
    /// SPIR-V modules. Searched in files with device code and in files that need the Vulkan loader; in all files if a
    /// GPU was requested.
    pub spirv_modules: usize,
    /// Whether the catalog supports the GPU; null if unknown or not requested.
    pub serves: Option<bool>,
    /// The target whose code would be used.
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
    /// Set if the runtime was fetched for these targets only.
    pub fetched_for: Option<Vec<String>>,
}

/// How a catalog serves one target.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServiceAnswer {
    target: String,
    /// no, not-known, partly, fallback-only or yes.
    verdict: &'static str,
    /// The basis of the verdict.
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
