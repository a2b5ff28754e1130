//! Evaluates the rules of ggml's Vulkan backend: the path of a product of weights, and its pipeline if it can be
//! determined.
//!
//! `ggml_vk_mul_mat` is run with a card's properties and the tensors of the question. The function that receives the
//! product is the path. For vectors, the types passed to the tree's own function identify the pipeline, and its name is
//! read from the code that creates it. For matrices, the code that creates all pipelines (`ggml_vk_load_shaders`) is
//! run first: it decides which pairs of types have one, and with which tiles. The tree's own functions then choose
//! among them.

mod device;
mod dialect;
mod profile;
mod reported;
mod unit;

pub use profile::VulkanProfile;
pub use reported::ReportedError;

use crate::op::{Shape, Stage, missing};
use crate::outcome::with_place;
use crate::rules::RulesError;
use crate::session::explain;
use crate::tree::Tree;
use answer::Answer;
use cxx::Program;
use cxx::ast::Base;
use cxx::eval::{Machine, Platform, Run, Stop, Ty, Value};
use dialect::{CHOSEN, VULKAN};
use evidence::{Basis, Conclusion, Rung};
use say::{Kept, Message, say};
use schemars::JsonSchema;
use serde::Serialize;
use std::rc::Rc;
use unit::Unit;

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
pub struct VulkanRules<'t> {
    program: Program,
    /// The unit, with the loop over tiles as a separate function.
    unit: Unit<'t>,
}

const ENTRY: &str = "ggml_vk_mul_mat";
const EXPERTS: &str = "ggml_vk_mul_mat_id";

impl<'t> VulkanRules<'t> {
    pub fn open(tree: &'t Tree) -> Result<VulkanRules<'t>, RulesError> {
        let unit = tree.paths().filter(|path| path.ends_with("/ggml-vulkan.cpp")).min_by_key(|path| path.len());
        let none = || RulesError::NoVulkan { tree: tree.label.clone() };
        let unit = Unit::new(tree, unit.ok_or_else(none)?);
        let mut program = Program::new(&VULKAN.vocabulary, &defines())?;
        program.load(&unit, &unit.path)?;
        Ok(VulkanRules { program, unit })
    }

    /// Evaluates one cell; `shape` must be a product of weights.
    pub fn choice(
        &mut self,
        card: &VulkanProfile,
        shape: &Shape,
        kind: &str,
        columns: i64,
    ) -> Result<VulkanChoice, RulesError> {
        let mut choice = VulkanChoice {
            card: card.card.clone(),
            target: card.target.clone(),
            kind: kind.to_owned(),
            columns,
            path: None,
            kernel: None,
            undetermined: None,
        };
        let stop = loop {
            let mut machine = Machine::new(&self.program, &VULKAN, Platform::default(), |_, _| false);
            match run(&mut machine, card, shape, kind, columns) {
                Err(Stop::Need(name)) => {
                    self.program.define_function(&self.unit, name)?;
                }
                Err(stop) => break stop,
                Ok(()) => break Stop::Decided,
            }
        };
        let words: Vec<&str> = match &stop {
            Stop::Abort { what, .. } => what.strip_prefix(CHOSEN).map(|rest| rest.split(' ').collect()),
            _ => None,
        }
        .unwrap_or_default();
        match words.as_slice() {
            ["matrix", name] => {
                choice.path = Some("matmul".to_owned());
                choice.kernel = Some((*name).to_owned());
            }
            [word @ ("vector" | "vector_id"), _, activations] => {
                choice.path = Some("mul_mat_vec".to_owned());
                choice.kernel = self.vector_name(kind, activations, *word == "vector_id");
                if choice.kernel.is_none() {
                    choice.undetermined = Some(say!("source-open-vulkan-no-name").into());
                }
            }
            ["other", name] => choice.undetermined = Some(say!("source-open-vulkan-other", name).into()),
            _ => choice.undetermined = Some(self.why(&stop).into()),
        }
        Ok(choice)
    }

    /// The name that the tree gives to the pipeline for these types when it creates it.
    fn vector_name(&self, kind: &str, activations: &str, experts: bool) -> Option<String> {
        let mut machine = Machine::new(&self.program, &VULKAN, Platform::default(), |_, _| false);
        let number: i64 = activations.parse().ok()?;
        let of = ["Q8_1", "F32", "F16"]
            .into_iter()
            .find(|name| machine.constant_named(&format!("GGML_TYPE_{name}")) == Some(number))?;
        let array = match (experts, of) {
            (false, of) => format!("pipeline_dequant_mul_mat_vec_{}_f32[", of.to_ascii_lowercase()),
            (true, "F32") => "pipeline_dequant_mul_mat_vec_id_f32[".to_owned(),
            (true, of) => format!("pipeline_dequant_mul_mat_vec_id_{}_f32[", of.to_ascii_lowercase()),
        };
        let text = self.unit.text();
        let here = |line: &&str| {
            let named = line.split_once(&array).map(|(_, rest)| rest);
            named.is_some_and(|rest| {
                let tail = rest.split_once(&format!("[GGML_TYPE_{kind}")).map(|(_, tail)| tail.trim_start());
                tail.is_some_and(|tail| tail.starts_with(']'))
            }) && line.contains("ggml_vk_create_pipeline(")
        };
        let mut names: Vec<&str> = text.lines().filter(here).filter_map(|line| line.split('"').nth(1)).collect();
        names.dedup();
        // Two names for one slot would mean a choice that is not examined.
        if let [only] = names.as_slice() { Some((*only).to_owned()) } else { None }
    }

    fn why(&self, stop: &Stop) -> Message {
        let (place, why) = explain(&self.program, stop);
        with_place(&place, &why)
    }
}

fn run(machine: &mut Machine<'_>, card: &VulkanProfile, shape: &Shape, kind: &str, columns: i64) -> Run<()> {
    machine.reset(columns, columns);
    let mut stage = Stage::new(machine)?;
    let (device, in_the_way) = device::ready(machine, card)?;
    machine.reset(columns, columns);
    let mut context = machine.object("ggml_backend_vk_context")?;
    device::set(machine, &mut context, "device", Value::Ptr(device));
    device::set(machine, &mut context, "num_additional_fused_ops", Value::int(0));
    let context = machine.global(context);
    let result = shape.op(kind, columns).build(machine, &mut stage)?;
    let nodes = machine.global(Value::array(vec![Value::Ptr(result)]));
    let mut graph = machine.object("ggml_cgraph")?;
    let first = nodes.part(0).map_or(Value::Opaque(Default::default()), Value::Ptr);
    device::set(machine, &mut graph, "nodes", first);
    device::set(machine, &mut graph, "n_nodes", Value::int(1));
    let graph = machine.global(graph);
    let program = machine.program;
    let asked = if matches!(shape, Shape::MulMatId { .. }) { EXPERTS } else { ENTRY };
    let entry = program.interner.get(asked).map(|name| program.overloads(name).to_vec()).unwrap_or_default();
    let entry = entry.into_iter().find(|&index| program.function(index).is_some_and(|of| of.body.is_some()));
    let Some(entry) = entry else {
        return Err(missing(asked));
    };
    let params = program.function(entry).map(|of| of.params.as_slice()).unwrap_or_default();
    let mut values = Vec::new();
    for param in params {
        let ty = match &param.ty.base {
            Base::Name(name) => name.path.last().map_or("", |last| program.text(last.sym)),
            _ => "",
        };
        values.push(match ty {
            "ggml_backend_vk_context" => Value::Ptr(context),
            "ggml_cgraph" => Value::Ptr(graph),
            "" if param.ty.pointers == 0 => Value::int(0),
            _ => Value::Pointer(Rc::new(Ty::Unknown), None),
        });
    }
    match (machine.run_function(entry, values), in_the_way) {
        (Err(Stop::Undetermined { .. } | Stop::Fork(_)), Some(earlier)) => Err(earlier),
        (result, _) => result.map(drop),
    }
}

/// The defines of Debian's build: every kind of shader that its glslc supports, and Vulkan headers that know the
/// extensions.
fn defines() -> Vec<(String, Option<String>)> {
    [
        "GGML_VULKAN_COOPMAT_GLSLC_SUPPORT",
        "GGML_VULKAN_COOPMAT2_GLSLC_SUPPORT",
        "GGML_VULKAN_INTEGER_DOT_GLSLC_SUPPORT",
        "GGML_VULKAN_BFLOAT16_GLSLC_SUPPORT",
        "VK_KHR_cooperative_matrix",
        "VK_NV_cooperative_matrix2",
        "VK_KHR_shader_bfloat16",
    ]
    .map(|name| (name.to_owned(), Some("1".to_owned())))
    .to_vec()
}
