//! Every dispatch in order, for the trace file, with all push constants.

use super::VulkanOutcome;
use super::dispatches::seen;
use serde::Serialize;
use std::collections::BTreeMap;

/// One dispatch that was submitted.
#[derive(Debug, Serialize)]
pub struct VulkanStep<'r> {
    pub seq: usize,
    pub pid: u32,
    /// The number of the pass over the graph.
    pub evaluation: usize,
    /// The node of the graph, by ggml's label: `MUL_MAT ffn_gate-0`.
    pub node: Option<&'r str>,
    pub kernel: Option<String>,
    pub path: Option<&'static str>,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub columns: Option<u32>,
    pub m: Option<u32>,
    pub n: Option<u32>,
    pub k: Option<u32>,
    /// Work groups; none if the device reads them from memory.
    pub groups: Option<[u32; 3]>,
    pub constants: Option<&'r BTreeMap<u32, u32>>,
    pub subgroup: Option<u32>,
    pub module: Option<&'r str>,
    /// All push constants, as hexadecimal bytes.
    pub push: String,
}

/// All processes, one after the other.
pub fn steps(outcome: &VulkanOutcome) -> Vec<VulkanStep<'_>> {
    let mut list = Vec::new();
    for run in &outcome.runs {
        for one in seen(run) {
            let of = one.kernel.as_ref().and_then(|kernel| kernel.multiplies.clone());
            let size = one.size();
            let module = one.pipeline.and_then(|pipeline| pipeline.module.as_deref());
            list.push(VulkanStep {
                seq: list.len(),
                pid: run.pid,
                evaluation: one.evaluation,
                node: one.dispatch.node.as_deref(),
                path: of.as_ref().map(|of| of.path.name()),
                kind: of.and_then(|of| of.ggml_type),
                columns: one.columns,
                m: size.map(|[m, _, _]| m),
                n: size.map(|[_, n, _]| n),
                k: size.map(|[_, _, k]| k),
                groups: (!one.dispatch.indirect).then_some(one.dispatch.groups),
                constants: one.pipeline.map(|pipeline| &pipeline.constants),
                subgroup: one.pipeline.map(|pipeline| pipeline.subgroup),
                module: module.and_then(|module| module.identity.as_deref()),
                push: one.dispatch.push.iter().map(|byte| format!("{byte:02x}")).collect(),
                kernel: one.kernel.map(|kernel| kernel.name).filter(|name| !name.is_empty()),
            });
        }
    }
    list
}
