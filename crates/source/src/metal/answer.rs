//! The answers about the Metal backend.

use super::launch::MetalLaunch;
use answer::Answer;
use evidence::{Basis, Conclusion, Rung, Unit};
use say::Kept;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The choices that a tree declares for Metal.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MetalDeclared {
    pub tree: String,
    /// The rung, always `declared`: nothing was observed on an Apple GPU.
    pub rung: Rung,
    pub cells: Vec<MetalChoice>,
    /// The properties of the cards that the rules were evaluated with, and their origins.
    pub properties: BTreeMap<String, MetalProperty>,
    /// Whether every cell has its kernel.
    pub complete: Conclusion,
}

/// A property of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MetalProperty {
    /// The value; several if it is not known, in which case every rule was evaluated with each of them.
    pub values: Vec<i64>,
    pub origin: String,
}

impl MetalDeclared {
    pub fn new(tree: String, cells: Vec<MetalChoice>, properties: BTreeMap<String, MetalProperty>) -> MetalDeclared {
        let named = cells.iter().filter(|cell| cell.kernel.is_some()).count() as u64;
        let asked = cells.len() as u64;
        let complete =
            Basis::listed("source", [tree.as_str()], Rung::Declared, Unit::Cells, asked, named).completeness();
        MetalDeclared { tree, rung: Rung::Declared, cells, properties, complete }
    }
}

impl Answer for MetalDeclared {
    const SCHEMA: &'static str = "whichkernel.source-metal/1";
}

/// The cells in which two trees choose different Metal kernels.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MetalDiff {
    /// The two trees.
    pub a: String,
    pub b: String,
    pub rung: Rung,
    pub conclusion: Conclusion,
    pub differences: Vec<MetalDifference>,
}

/// A cell that differs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MetalDifference {
    pub a: MetalChoice,
    pub b: MetalChoice,
}

impl Answer for MetalDiff {
    const SCHEMA: &'static str = "whichkernel.diff-metal/1";
}

impl MetalDiff {
    /// Compares the answers of two trees to the same questions: the kernels, their constants and their launches. A cell
    /// that only one of them answers is listed, but is not a difference.
    pub fn of(a: &MetalDeclared, b: &MetalDeclared) -> MetalDiff {
        let pairs = a.cells.iter().zip(&b.cells);
        let both = |(a, b): &(&MetalChoice, &MetalChoice)| a.kernel.is_some() && b.kernel.is_some();
        let answered = pairs.clone().filter(both).count() as u64;
        let changed = pairs.filter(|(a, b)| a.launches != b.launches);
        let differing = changed.clone().filter(both).count() as u64;
        let differences = changed.map(|(a, b)| MetalDifference { a: a.clone(), b: b.clone() }).collect();
        let trees = [a.tree.as_str(), b.tree.as_str()];
        let asked = a.cells.len().max(b.cells.len()) as u64;
        let basis = Basis::listed("source", trees, Rung::Declared, Unit::Cells, asked, answered);
        let conclusion = basis.equality(differing);
        MetalDiff { a: a.tree.clone(), b: b.tree.clone(), rung: Rung::Declared, conclusion, differences }
    }
}

/// One card, type and column count.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MetalChoice {
    pub card: String,
    /// The card's GPU family: `Apple9`.
    pub target: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub columns: i64,
    /// `mul_mv`, `mul_mv_ext`, `mul_mm`, `flash_attn_ext_vec`, ...; null if the path is undetermined.
    pub path: Option<String>,
    /// The kernel that computes the result; null if it is undetermined.
    pub kernel: Option<String>,
    /// All launches of the operation, in order.
    pub launches: Vec<MetalLaunch>,
    /// The conditions that led to the launches, in order; empty in answers with more than eight cells.
    pub rule: Vec<MetalCondition>,
    /// The unsettled condition and its position.
    pub undetermined: Option<Kept>,
}

/// A condition on the way to a launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MetalCondition {
    pub file: String,
    pub line: usize,
    pub condition: String,
    pub outcome: String,
    /// The values of the names in the condition.
    pub values: BTreeMap<String, String>,
}

/// The paths of the backend, longest name first, and the part of a kernel's name that follows `kernel_`.
const PATHS: &[&str] =
    &["flash_attn_ext_vec", "flash_attn_ext", "mul_mv_ext", "mul_mv_mma", "mul_mv_id", "mul_mm_id", "mul_mv", "mul_mm"];

/// Kernels that prepare or complete the work of another one.
const HELPERS: &[&str] = &["_map0", "_pad", "_blk", "_reduce", "ext_kv_", "_id_map"];

/// The kernel that computes the result of an operation: the last one that is not a helper.
pub fn main_kernel(launches: &[MetalLaunch]) -> Option<&MetalLaunch> {
    let helper = |launch: &&MetalLaunch| HELPERS.iter().any(|part| launch.kernel.contains(part));
    launches.iter().rev().find(|launch| !helper(launch)).or(launches.last())
}

/// The path that a kernel stands for; its own name without `kernel_` if it is none of the known ones.
pub fn path_of(kernel: &str) -> String {
    let name = kernel.strip_prefix("kernel_").unwrap_or(kernel);
    let path = PATHS.iter().find(|path| name.starts_with(**path));
    path.map_or_else(|| name.to_owned(), |path| (*path).to_owned())
}
