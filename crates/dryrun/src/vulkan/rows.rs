//! Counts the selected dispatches: one row for each pipeline and column count.

use super::dispatches::SeenDispatch;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use vulkan::{Kernel, Pipeline};

/// A selected kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VulkanRow {
    /// The pipeline's name as given by the program; the module's hash if it has no name.
    pub kernel: String,
    /// `mul_mat_vec` or `matmul`; none if the kernel does not multiply weights.
    pub path: Option<String>,
    /// The type of the weights.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The columns. For experts, those of the layer that they serve.
    pub columns: Option<u32>,
    /// Whether a list selects experts.
    pub by_id: bool,
    /// GPU features that the module requires: `matrix`, `dot`, ...
    pub features: Vec<String>,
    /// Specialization constants, by their number.
    pub constants: BTreeMap<u32, u32>,
    /// The required subgroup size; 0 if the driver chose it.
    pub subgroup: u32,
    /// SHA-256 of the module without float controls; none if it was too long to keep.
    pub module: Option<String>,
    /// The distinct numbers of work groups.
    pub groups: Vec<[u32; 3]>,
    /// The distinct values of M, N and K, from the push constants.
    pub sizes: Vec<[u32; 3]>,
    pub launches: u64,
    /// The compiled code, if the driver was asked to return it.
    pub code: Option<Code>,
}

/// A pipeline's machine code, as reported by its driver.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Code {
    pub vgprs: Option<u64>,
    pub sgprs: Option<u64>,
    /// LDS in bytes.
    pub lds: Option<u64>,
    pub spilled_vgprs: Option<u64>,
    pub spilled_sgprs: Option<u64>,
    /// Waves that fit on a SIMD, as the driver counts them. From RDNA on, RADV counts waves of 32 threads.
    pub waves: Option<u64>,
    /// Instructions of the matrix units, by mnemonic.
    pub matrix: BTreeMap<String, u64>,
    /// Dot products, by mnemonic.
    pub dot: BTreeMap<String, u64>,
    pub instructions: u64,
}

/// The rows of these dispatches, most frequent first.
pub fn rows<'s, 'r: 's>(seen: impl IntoIterator<Item = &'s SeenDispatch<'r>>) -> Vec<VulkanRow> {
    let mut counted: BTreeMap<(String, Option<u32>), VulkanRow> = BTreeMap::new();
    for one in seen {
        let (key, made) = match (one.pipeline, &one.kernel) {
            (Some(pipeline), Some(kernel)) => {
                (format!("{}/{}", kernel.name, pipeline.identity()), Some((pipeline, kernel)))
            }
            // The layer did not observe the creation of the pipeline.
            _ => ("?".to_owned(), None),
        };
        let new = || made.map_or_else(unknown, |(pipeline, kernel)| row(pipeline, kernel, one.columns));
        let row = counted.entry((key, one.columns)).or_insert_with(new);
        row.launches += 1;
        let groups = one.dispatch.groups;
        if !one.dispatch.indirect && !row.groups.contains(&groups) {
            row.groups.push(groups);
        }
        if let Some(size) = one.size().filter(|size| !row.sizes.contains(size)) {
            row.sizes.push(size);
        }
    }
    let mut rows: Vec<VulkanRow> = counted.into_values().collect();
    rows.sort_by(|a, b| b.launches.cmp(&a.launches).then_with(|| a.kernel.cmp(&b.kernel)));
    rows
}

fn row(pipeline: &Pipeline, kernel: &Kernel, columns: Option<u32>) -> VulkanRow {
    let module = pipeline.module.as_deref().and_then(|module| module.identity.clone());
    let unnamed =
        || module.as_deref().and_then(|hash| hash.get(..12)).map_or("?".to_owned(), |hash| format!("module {hash}"));
    let of = kernel.multiplies.as_ref();
    VulkanRow {
        kernel: if kernel.name.is_empty() { unnamed() } else { kernel.name.clone() },
        path: of.map(|of| of.path.name().to_owned()),
        kind: of.and_then(|of| of.ggml_type.clone()),
        columns,
        by_id: of.is_some_and(|of| of.by_id),
        features: pipeline.features().iter().map(|&name| name.to_owned()).collect(),
        constants: pipeline.constants.clone(),
        subgroup: pipeline.subgroup,
        module,
        code: code(pipeline),
        ..VulkanRow::default()
    }
}

fn unknown() -> VulkanRow {
    VulkanRow { kernel: "?".to_owned(), ..VulkanRow::default() }
}

/// Reads RADV's statistics by its own names, and the mnemonics of its assembly.
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
        waves: number("Subgroups per SIMD"),
        ..Code::default()
    };
    for line in pipeline.assembly.lines() {
        let Some(word) = line.split_whitespace().next().filter(|word| is_mnemonic(word)) else { continue };
        code.instructions += 1;
        if is_matrix(word) {
            *code.matrix.entry(word.to_owned()).or_default() += 1;
        } else if is_dot(word) {
            *code.dot.entry(word.to_owned()).or_default() += 1;
        }
    }
    Some(code)
}

/// Whether a mnemonic is an instruction of the matrix units, by AMD's names.
pub(crate) fn is_matrix(mnemonic: &str) -> bool {
    ["v_wmma", "v_swmmac", "v_mfma", "v_smfmac"].iter().any(|start| mnemonic.starts_with(start))
}

pub(crate) fn is_dot(mnemonic: &str) -> bool {
    mnemonic.starts_with("v_dot")
}

/// Whether a word is an instruction rather than a label or comment.
fn is_mnemonic(word: &str) -> bool {
    let starts = ["s_", "v_", "ds_", "global_", "buffer_", "scratch_", "flat_", "image_", "exp"];
    starts.iter().any(|start| word.starts_with(start)) && !word.ends_with(':')
}
