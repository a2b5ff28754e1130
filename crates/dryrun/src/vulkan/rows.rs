//! What was selected, counted: one row for each pipeline and column count.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use vulkan::{Kernel, Pipeline, Run};

/// One kernel as it was selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VulkanRow {
    /// The pipeline's name as the program gave it; the module's hash where it gave none.
    pub kernel: String,
    /// `mul_mat_vec` or `matmul`; none for what multiplies no weights.
    pub path: Option<String>,
    /// Of the weights.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub columns: Option<u32>,
    /// Experts are chosen by a list.
    pub by_id: bool,
    /// What the module asks of the GPU: `matrix`, `dot`, ...
    pub features: Vec<String>,
    /// Specialization constants, by their number.
    pub constants: BTreeMap<u32, u32>,
    /// Required subgroup size; 0: the driver chose.
    pub subgroup: u32,
    /// SHA-256 of the module without float controls; none where it was too long to keep.
    pub module: Option<String>,
    pub launches: u64,
    /// What the driver compiled it to, where it was asked.
    pub code: Option<Code>,
}

/// A pipeline's machine code, as its driver tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Code {
    pub vgprs: Option<u64>,
    pub sgprs: Option<u64>,
    /// Bytes.
    pub lds: Option<u64>,
    pub spilled_vgprs: Option<u64>,
    pub spilled_sgprs: Option<u64>,
    /// Instructions of the matrix units, by mnemonic.
    pub matrix: BTreeMap<String, u64>,
    /// Dot products, by mnemonic.
    pub dot: BTreeMap<String, u64>,
    pub instructions: u64,
}

/// All rows of all processes, the most launched first.
pub fn rows(runs: &[Run]) -> Vec<VulkanRow> {
    let mut counted: BTreeMap<(String, Option<u32>), VulkanRow> = BTreeMap::new();
    for run in runs {
        for dispatch in &run.dispatches {
            let Some(pipeline) = run.pipeline(dispatch) else {
                let row = counted.entry(("?".to_owned(), None)).or_insert_with(unknown);
                row.launches += 1;
                continue;
            };
            let kernel = Kernel::of(pipeline, &dispatch.push);
            let columns = kernel.multiplies.as_ref().and_then(|of| of.columns);
            let key = (format!("{}/{}", kernel.name, pipeline.identity()), columns);
            counted.entry(key).or_insert_with(|| row(pipeline, kernel)).launches += 1;
        }
    }
    let mut rows: Vec<VulkanRow> = counted.into_values().collect();
    rows.sort_by(|a, b| b.launches.cmp(&a.launches).then_with(|| a.kernel.cmp(&b.kernel)));
    rows
}

fn row(pipeline: &Pipeline, kernel: Kernel) -> VulkanRow {
    let module = pipeline.module.as_deref().and_then(|module| module.identity.clone());
    let unnamed =
        || module.as_deref().and_then(|hash| hash.get(..12)).map_or("?".to_owned(), |hash| format!("module {hash}"));
    let (path, kind, columns, by_id) = match kernel.multiplies {
        Some(of) => (Some(of.path.to_owned()), of.ggml_type, of.columns, of.by_id),
        None => (None, None, None, false),
    };
    VulkanRow {
        kernel: if kernel.name.is_empty() { unnamed() } else { kernel.name },
        path,
        kind,
        columns,
        by_id,
        features: pipeline.features().iter().map(|&name| name.to_owned()).collect(),
        constants: pipeline.constants.clone(),
        subgroup: pipeline.subgroup,
        module,
        launches: 0,
        code: code(pipeline),
    }
}

/// A dispatch of a pipeline that the layer did not see made.
fn unknown() -> VulkanRow {
    VulkanRow {
        kernel: "?".to_owned(),
        path: None,
        kind: None,
        columns: None,
        by_id: false,
        features: Vec::new(),
        constants: BTreeMap::new(),
        subgroup: 0,
        module: None,
        launches: 0,
        code: None,
    }
}

/// RADV's own names of its statistics, and the mnemonics of its assembly.
fn code(pipeline: &Pipeline) -> Option<Code> {
    if pipeline.statistics.is_empty() && pipeline.assembly.is_empty() {
        return None;
    }
    let number = |name: &str| pipeline.statistics.get(name).copied();
    let mut code = Code {
        vgprs: number("VGPRs"),
        sgprs: number("SGPRs"),
        lds: number("LDS size").or_else(|| number("LDS Size")),
        spilled_vgprs: number("Spilled VGPRs"),
        spilled_sgprs: number("Spilled SGPRs"),
        ..Code::default()
    };
    for line in pipeline.assembly.lines() {
        let Some(word) = line.split_whitespace().next().filter(|word| is_mnemonic(word)) else { continue };
        code.instructions += 1;
        if ["v_wmma", "v_swmmac", "v_mfma", "v_smfmac"].iter().any(|start| word.starts_with(start)) {
            *code.matrix.entry(word.to_owned()).or_default() += 1;
        } else if word.starts_with("v_dot") {
            *code.dot.entry(word.to_owned()).or_default() += 1;
        }
    }
    Some(code)
}

/// An instruction, and no label or comment.
fn is_mnemonic(word: &str) -> bool {
    let starts = ["s_", "v_", "ds_", "global_", "buffer_", "scratch_", "flat_", "image_", "exp"];
    starts.iter().any(|start| word.starts_with(start)) && !word.ends_with(':')
}
