//! The SPIR-V modules of a file: one row each, and all of them together.

use super::shown;
use crate::shipped::completeness;
use answer::Answer;
use evidence::Conclusion;
use inventory::{FileReport, SpirvModule};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Every SPIR-V module of a file, which a Vulkan driver compiles for its GPU.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Modules {
    pub file: String,
    /// Present only if requested.
    pub sha256: Option<String>,
    pub total: ModulesTotal,
    pub modules: Vec<ModuleRow>,
    /// Whether the list is complete.
    pub conclusion: Conclusion,
}

impl Answer for Modules {
    const SCHEMA: &'static str = "whichkernel.inspect-modules/1";
}

/// All modules of a file in total.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModulesTotal {
    pub modules: usize,
    /// The number of modules for each client API: vulkan, opencl (also for Level Zero), unknown.
    pub environments: BTreeMap<&'static str, u64>,
    /// The number of distinct modules, by hash, because a module may occur twice.
    pub different: usize,
    pub bytes: u64,
    /// Modules that the file's symbols name.
    pub named: usize,
    pub instructions: u64,
    /// Modules by required GPU feature: `matrix`, `dot`, `f16`, ...
    pub features: BTreeMap<String, usize>,
    /// The instruction census: the number of each operation in all modules.
    pub operations: BTreeMap<String, u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ModuleRow {
    /// The offset in the file.
    pub offset: u64,
    pub size: u64,
    /// SHA-256 of the module without float controls, which a program may add when it runs.
    pub module: String,
    /// The name of the symbol at its position; null in a stripped file.
    pub name: Option<String>,
    /// The SPIR-V version: `1.5`.
    pub version: String,
    /// The API that the module is for, by its memory model: vulkan, opencl or unknown.
    pub environment: &'static str,
    pub capabilities: Vec<String>,
    pub extensions: Vec<String>,
    /// Required GPU features: `matrix` (cooperative matrices), `dot` (integer dot products), `f16`, `bf16`, `int8`,
    /// `subgroup`.
    pub features: Vec<String>,
    pub entry_points: Vec<EntryPoint>,
    /// Specialization constants that a pipeline may set: number and first word of the default.
    pub constants: BTreeMap<String, u32>,
    pub instructions: u64,
    /// Instructions that multiply with cooperative matrices.
    pub matrix: u64,
    /// Integer dot products.
    pub dot: u64,
    pub operations: BTreeMap<String, u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct EntryPoint {
    pub name: String,
    /// `GLCompute` for a kernel.
    pub model: String,
    /// The work-group size, if the module fixes it.
    pub local_size: Option<[u32; 3]>,
}

impl Modules {
    pub fn new(path: &Path, report: &FileReport) -> Self {
        Modules {
            file: shown(path),
            sha256: report.sha256.map(|sha256| sha256.to_string()),
            total: ModulesTotal::of(&report.modules),
            modules: report.modules.iter().map(row).collect(),
            conclusion: completeness(path, report),
        }
    }
}

impl ModulesTotal {
    pub fn of(modules: &[SpirvModule]) -> Self {
        let mut environments: BTreeMap<&'static str, u64> = BTreeMap::new();
        for of in modules {
            *environments.entry(of.module.environment.key()).or_default() += 1;
        }
        let mut total = ModulesTotal {
            modules: modules.len(),
            environments,
            different: modules.iter().map(|of| &of.identity).collect::<BTreeSet<_>>().len(),
            bytes: modules.iter().map(|of| of.size).sum(),
            named: modules.iter().filter(|of| of.name.is_some()).count(),
            instructions: 0,
            features: BTreeMap::new(),
            operations: BTreeMap::new(),
        };
        for of in modules {
            total.instructions += of.module.instructions();
            for feature in of.module.features() {
                *total.features.entry(feature.to_owned()).or_default() += 1;
            }
            for (operation, count) in &of.module.operations {
                *total.operations.entry(operation.clone()).or_default() += count;
            }
        }
        total
    }
}

fn row(of: &SpirvModule) -> ModuleRow {
    let module = &of.module;
    let (matrix, dot) = module.matrix_and_dot();
    let entry = |entry: &spirv_modules::EntryPoint| EntryPoint {
        name: entry.name.clone(),
        model: entry.model.clone(),
        local_size: entry.local_size,
    };
    ModuleRow {
        offset: of.offset,
        size: of.size,
        module: of.identity.clone(),
        name: of.name.clone(),
        version: format!("{}.{}", module.version.0, module.version.1),
        environment: module.environment.key(),
        capabilities: module.capabilities.clone(),
        extensions: module.extensions.clone(),
        features: module.features().iter().map(|&feature| feature.to_owned()).collect(),
        entry_points: module.entry_points.iter().map(entry).collect(),
        constants: module.constants.iter().map(|(number, constant)| (number.to_string(), constant.default)).collect(),
        instructions: module.instructions(),
        matrix,
        dot,
        operations: module.operations.clone(),
    }
}
