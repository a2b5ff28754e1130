//! Evaluates ggml's Vulkan backend: the pipeline that a product of weights is dispatched to.
//!
//! The tree's own code runs from the backend's registration to the dispatch ([`crate::registered`]). The driver's answers
//! come from a [`VulkanProfile`]. The run ends when a command buffer dispatches a pipeline for a product; the name of that
//! pipeline is the answer.

mod dialect;
mod profile;
mod reported;

pub use profile::VulkanProfile;
pub use reported::ReportedError;

use crate::op::Shape;
use crate::registered::{BackendCode, Registered};
use crate::rules::RulesError;
use crate::tree::Tree;
use answer::Answer;
use dialect::VULKAN;
use evidence::{Basis, Conclusion, Rung};
use say::{Kept, Message};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// The choices that a tree declares for Vulkan.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VulkanDeclared {
    pub tree: String,
    /// The rung, always `declared`.
    pub rung: Rung,
    pub cells: Vec<VulkanChoice>,
    /// Whether every cell has its pipeline.
    pub complete: Conclusion,
}

impl VulkanDeclared {
    pub fn new(tree: String, cells: Vec<VulkanChoice>) -> VulkanDeclared {
        let named = cells.iter().filter(|cell| cell.kernel.is_some()).count() as u64;
        let asked = cells.len() as u64;
        let complete = Basis::listed("source", [tree.as_str()], Rung::Declared, evidence::Unit::Cells, asked, named)
            .completeness();
        VulkanDeclared { tree, rung: Rung::Declared, cells, complete }
    }
}

impl Answer for VulkanDeclared {
    const SCHEMA: &'static str = "whichkernel.source-vulkan/1";
}

/// One card, type and column count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VulkanChoice {
    pub card: String,
    pub target: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub columns: i64,
    /// `mul_mat_vec` or `matmul`; null if the path is undetermined.
    pub path: Option<String>,
    /// The pipeline's name; null if it is undetermined.
    pub kernel: Option<String>,
    /// The unsettled condition and its position.
    pub undetermined: Option<Kept>,
}

/// A tree's Vulkan backend.
#[derive(Debug)]
pub struct VulkanRules<'t>(Registered<'t>);

static CODE: BackendCode = BackendCode {
    dialect: &VULKAN,
    unit: "ggml-vulkan.cpp",
    register: "ggml_backend_vk_reg",
    cmake: &[("GGML_VULKAN", "ON")],
    compiler: &[("__linux__", "1"), ("__x86_64__", "1"), ("NDEBUG", "1")],
    supported: Some("_GLSLC_SUPPORT"),
    units: &["cpp"],
    missing: |tree| RulesError::NoVulkan { tree: tree.label.clone() },
};

impl<'t> VulkanRules<'t> {
    pub fn open(tree: &'t Tree) -> Result<VulkanRules<'t>, RulesError> {
        VulkanRules::open_with(tree, &[], &[])
    }

    /// Opens a tree with CMake options and preprocessor defines of the user; a define without a value is undefined.
    pub fn open_with(
        tree: &'t Tree,
        cmake: &[(String, String)],
        defines: &[(String, Option<String>)],
    ) -> Result<VulkanRules<'t>, RulesError> {
        Registered::open(&CODE, tree, Arc::new(tree), cmake, defines).map(VulkanRules)
    }

    /// Whether the backend's sources name an environment variable.
    pub fn reads(&self, variable: &str) -> bool {
        self.0.reads(variable)
    }

    /// Evaluates one cell; `shape` must be a product of weights.
    pub fn choice(
        &mut self,
        card: &VulkanProfile,
        shape: &Shape,
        kind: &str,
        columns: i64,
    ) -> Result<VulkanChoice, RulesError> {
        let mut cells = self.choices(card, shape, &[(kind.to_owned(), columns)])?;
        Ok(cells.remove(0))
    }

    /// Evaluates several cells of a card, each in a process that has computed nothing before.
    pub fn choices(
        &mut self,
        card: &VulkanProfile,
        shape: &Shape,
        cells: &[(String, i64)],
    ) -> Result<Vec<VulkanChoice>, RulesError> {
        let answers = self.0.ask(&dialect::platform(card), shape, cells, dialect::chosen)?;
        let all = cells.iter().zip(answers);
        Ok(all.map(|((kind, columns), answer)| choice(card, kind, *columns, answer)).collect())
    }
}

fn choice(card: &VulkanProfile, kind: &str, columns: i64, answer: Result<String, Message>) -> VulkanChoice {
    let (kernel, undetermined) = match answer {
        Ok(kernel) => (Some(kernel), None),
        Err(why) => (None, Some(why.into())),
    };
    let path = |name: &String| if name.starts_with("mul_mat_vec") { "mul_mat_vec" } else { "matmul" };
    VulkanChoice {
        card: card.card.clone(),
        target: card.target.clone(),
        kind: kind.to_owned(),
        columns,
        path: kernel.as_ref().map(|name| path(name).to_owned()),
        kernel,
        undetermined,
    }
}
