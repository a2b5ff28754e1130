//! The result of evaluating a tree, as data for programs: one row for each GPU, type and column count, and the
//! conditions behind it.

use crate::argument::Argument;
use crate::fused_paths::FusedPath;
use crate::launch_shape::ShapeAt;
use crate::outcome::{Launched, Reason};
use crate::preset::Preset;
use crate::survey::Survey;
use crate::tree::Tree;
use evidence::Rung;
use say::Kept;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Which path, tile and kernel a source tree's dispatch code chooses, and why.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Declared {
    pub rung: Rung,
    /// The tree as the user named it.
    pub tree: String,
    pub commit: Option<String>,
    /// The evaluated builds, one per vendor.
    pub presets: Vec<Build>,
    /// Unspecified versions of compilers and SDKs, with their assumed values.
    pub assumed: BTreeMap<String, String>,
    /// Whether other versions were tried; rows that depend on one are then UNDETERMINED. Large tables skip this.
    pub assumed_varied: bool,
    /// Environment variables that the code read; null if not set.
    pub environment: BTreeMap<String, Option<String>>,
    /// Unspecified defines and versions that answers depend on.
    pub open_defines: Vec<String>,
    /// Other builds that were evaluated because of these defines.
    pub tried: Vec<String>,
    /// Files of the tree that could not be read.
    pub skipped: Vec<String>,
    pub rows: Vec<Row>,
    /// The conditions behind rows; each list is stored once.
    pub reasons: Vec<Because>,
    /// The positions at which graphs bypass the dispatcher because operations are fused.
    pub bypasses: Vec<Bypass>,
}

impl answer::Answer for Declared {
    const SCHEMA: &'static str = "whichkernel.source/2";
}

/// One build of the tree.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Build {
    /// HIP or CUDA.
    pub vendor: String,
    /// The source of the build: upstream, ollama, debian, cargo, or assumed.
    pub name: String,
    pub defines: Vec<String>,
    /// The origin of each define.
    pub origin: BTreeMap<String, String>,
}

/// One GPU, type and column count.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    pub target: String,
    /// The compute capability that the tree's own code computes, in hexadecimal.
    pub cc: Option<String>,
    #[serde(rename = "type")]
    pub ty: String,
    pub columns: i64,
    /// MMVF, MMF, MMVQ, MMQ, BLAS, ..., or UNDETERMINED.
    pub path: String,
    /// Columns of a tile, 0 if the path has none.
    pub tile: i64,
    /// The number of tiles over the columns.
    pub ntiles: i64,
    pub need_check: bool,
    /// The kernel with all of its template arguments.
    pub kernel: Option<String>,
    /// The launch; null for libraries, for undetermined rows, and with --no-shape.
    pub shape: Option<ShapeAt>,
    /// Why the choice is not settled.
    pub undetermined: Option<Kept>,
    /// The index in `reasons`.
    pub reasons: usize,
}

/// Conditions, in order of evaluation, and the launch that they led to.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Because {
    pub conditions: Vec<Condition>,
    pub launch: Option<Launch>,
}

/// An evaluated condition, or an environment variable.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Condition {
    pub function: String,
    pub file: String,
    pub line: usize,
    pub condition: String,
    pub outcome: String,
    /// The values of the names in the condition.
    pub values: BTreeMap<String, String>,
}

/// The launch that determined the choice.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Launch {
    pub kernel: String,
    /// Template arguments, by the names of the kernel's parameters.
    pub arguments: Vec<(String, Argument)>,
    pub file: String,
    pub line: usize,
    /// The functions that were active, outermost first.
    pub through: Vec<String>,
}

/// A path around the dispatcher.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Bypass {
    pub function: String,
    pub calls: String,
    pub path: String,
    pub file: String,
    pub lines: Vec<usize>,
    /// The environment variable that disables the fusion.
    pub switch: Option<String>,
}

impl Survey<'_> {
    pub fn declared(&self, tree: &Tree) -> Declared {
        let (rows, reasons) = self.told_rows();
        let assumed = self.backends.iter().flat_map(|backend| backend.preset.assumed());
        Declared {
            rung: Rung::Declared,
            tree: tree.label.clone(),
            commit: tree.commit.clone(),
            presets: self.backends.iter().map(|backend| build(&backend.preset)).collect(),
            assumed: assumed.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            assumed_varied: self.versions_varied,
            environment: self.environment.clone(),
            open_defines: self.open_defines.clone(),
            tried: self.tried.clone(),
            skipped: tree.skipped.told.iter().map(ToString::to_string).collect(),
            rows,
            reasons,
            bypasses: self.fused_paths().into_iter().map(bypass).collect(),
        }
    }

    /// Every row has the conditions of its own column count. Identical lists of conditions are stored once.
    fn told_rows(&self) -> (Vec<Row>, Vec<Because>) {
        let mut reasons: Vec<Because> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut chains = self.reasons_of_rows().into_iter();
        let mut plain = self.rows().into_iter();
        let mut rows = Vec::new();
        for device in 0..self.question.devices.len() {
            for ty in 0..self.question.types.len() {
                for &columns in &self.question.columns {
                    let Some(row) = plain.next() else { break };
                    let answer = self.answer(device, ty, columns);
                    let launch = answer.and_then(|answer| answer.launch.as_ref());
                    let kernel = row.path.and(launch).map(Launched::full);
                    let conditions = chains.next().unwrap_or_default().into_iter().map(Condition::from).collect();
                    let because = Because { conditions, launch: launch.map(Launch::from) };
                    let next = reasons.len();
                    let index = *known.entry(format!("{because:?}")).or_insert(next);
                    if index == next {
                        reasons.push(because);
                    }
                    rows.push(Row {
                        target: row.arch,
                        cc: row.cc.map(|cc| format!("{cc:#x}")),
                        ty: row.ty,
                        columns,
                        path: row.path.map_or("UNDETERMINED", |path| path.name()).to_owned(),
                        tile: row.variant,
                        ntiles: row.tiles,
                        need_check: row.need_check,
                        kernel,
                        shape: row.shape,
                        undetermined: answer.and_then(|answer| answer.outcome.why()).map(Kept::from),
                        reasons: index,
                    });
                }
            }
        }
        (rows, reasons)
    }
}

impl From<Reason> for Condition {
    fn from(reason: Reason) -> Condition {
        Condition {
            function: reason.function,
            file: reason.file,
            line: reason.line,
            condition: reason.condition,
            outcome: reason.outcome,
            values: reason.values.into_iter().collect(),
        }
    }
}

impl From<&Launched> for Launch {
    fn from(launch: &Launched) -> Launch {
        Launch {
            kernel: launch.kernel.clone(),
            arguments: launch.args.clone(),
            file: launch.file.clone(),
            line: launch.line,
            through: launch.stack.clone(),
        }
    }
}

pub(crate) fn build(preset: &Preset) -> Build {
    Build {
        vendor: preset.vendor.name().to_owned(),
        name: preset.builder.name().to_owned(),
        defines: preset.listed(),
        origin: preset.origin.clone(),
    }
}

fn bypass(way: FusedPath) -> Bypass {
    let path = way.path.name().to_owned();
    Bypass { function: way.function, calls: way.calls, path, file: way.file, lines: way.lines, switch: way.switch }
}
