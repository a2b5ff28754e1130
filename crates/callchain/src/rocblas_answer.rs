//! The facts about a rocBLAS tree, as data for programs.

use crate::rocblas::Rocblas;
use crate::trace::CodeLocation;
use evidence::{Basis, Conclusion, LeftOutWhy, Rung, Unit};
use schemars::JsonSchema;
use serde::Serialize;

/// The output of `source TREE` for a rocBLAS tree: the GPUs that it knows, how it distinguishes them, where it looks
/// for kernels.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RocblasSource {
    pub tree: String,
    pub commit: Option<String>,
    /// Always `declared`: what the source allows, not what ran.
    pub rung: Rung,
    /// The enumerators of `Processor` for the requested targets.
    pub processors: Vec<ProcessorLine>,
    /// The code that maps a device's name to an enumerator.
    pub branches: Vec<BranchLine>,
    /// All targets with an enumerator but no branch.
    pub without_branch: Vec<String>,
    /// The locations at which `rocblas_initialize` is defined.
    pub initialize: Vec<InitializeLine>,
    pub initialize_callers: Vec<CallerLine>,
    /// Whether any code of the library that was read calls `rocblas_initialize`.
    pub initialize_called: Conclusion,
    /// The places where the path of the kernel libraries is built, in source order.
    pub library_path: Vec<PathLine>,
}

impl answer::Answer for RocblasSource {
    const SCHEMA: &'static str = "whichkernel.rocblas-source/1";
}

/// An enumerator of `Processor`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ProcessorLine {
    pub target: String,
    pub value: i64,
    #[serde(flatten)]
    pub at: CodeLocation,
}

/// A branch of the form `if (name contains "gfx1201") return Processor::gfx1201;`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BranchLine {
    /// The text that is searched for in the device's name.
    pub matches: String,
    pub returns: String,
    pub file: String,
    /// The first and the last line.
    pub lines: [u32; 2],
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InitializeLine {
    #[serde(flatten)]
    pub at: CodeLocation,
    /// Whether the body of the function is empty.
    pub empty: bool,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CallerLine {
    pub function: String,
    #[serde(flatten)]
    pub at: CodeLocation,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PathLine {
    #[serde(flatten)]
    pub at: CodeLocation,
    pub text: String,
}

impl Rocblas {
    /// Whether `rocblas_initialize` is called in these files of the library. A call through a value cannot be
    /// recognised.
    pub fn initialize_called(&self, tree: &str, files: usize) -> Conclusion {
        let files = files as u64;
        let basis = Basis::new("source", [tree], Rung::Declared, Unit::Files, files, files);
        let basis = basis.without(crate::answers::THROUGH_A_VALUE, None, LeftOutWhy::OutOfView);
        basis.presence(self.initialize_callers.len() as u64)
    }

    /// The answer for the requested `targets`; empty means all.
    pub fn answer(&self, tree: &str, commit: Option<&str>, targets: &[String], files: usize) -> RocblasSource {
        let wanted = |target: &String| targets.is_empty() || targets.contains(target);
        let processors = self.processors.iter().filter(|processor| wanted(&processor.target));
        let branches = self.branches.iter().filter(|branch| wanted(&branch.returns));
        RocblasSource {
            tree: tree.to_owned(),
            commit: commit.map(str::to_owned),
            rung: Rung::Declared,
            processors: processors
                .map(|one| ProcessorLine { target: one.target.clone(), value: one.value, at: one.at.clone() })
                .collect(),
            branches: branches
                .map(|one| BranchLine {
                    matches: one.matches.clone(),
                    returns: one.returns.clone(),
                    file: one.file.clone(),
                    lines: [one.first_line, one.last_line],
                })
                .collect(),
            without_branch: self.without_branch().into_iter().map(str::to_owned).collect(),
            initialize: self
                .initialize
                .iter()
                .map(|(at, does)| InitializeLine { at: at.clone(), empty: !does })
                .collect(),
            initialize_callers: self
                .initialize_callers
                .iter()
                .map(|(function, at)| CallerLine { function: function.clone(), at: at.clone() })
                .collect(),
            initialize_called: self.initialize_called(tree, files),
            library_path: self
                .paths
                .iter()
                .map(|rule| PathLine { at: rule.at.clone(), text: rule.text.clone() })
                .collect(),
        }
    }
}
