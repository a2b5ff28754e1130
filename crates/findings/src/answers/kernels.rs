//! The list of kernels. Rows are written while the file is read; the type of the whole answer exists only for its
//! schema.

use answer::Answer;
use codeobject::nvidia::{CubinKernel, Row};
use codeobject::{CodeObject, Kernel};
use inventory::Found;
use schemars::JsonSchema;
use serde::Serialize;

/// The kernels of a file with their registers, memory and limits.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Kernels {
    pub file: String,
    pub kernels: Vec<KernelRow>,
}

impl Answer for Kernels {
    const SCHEMA: &'static str = "whichkernel.inspect-kernels/1";
}

/// One kernel of one code object. Values that the compiler does not state are null; values that the vendor does not
/// have are omitted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum KernelRow {
    Amd(Box<AmdKernel>),
    Nvidia(NvidiaKernel),
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct AmdKernel {
    name: String,
    mangled: String,
    bundle: Option<usize>,
    target: String,
    sgpr: Option<u32>,
    vgpr: Option<u32>,
    agpr: Option<u32>,
    sgpr_spills: Option<u32>,
    vgpr_spills: Option<u32>,
    lds: Option<u32>,
    scratch: Option<u32>,
    wavefront: Option<u32>,
    kernarg_size: Option<u32>,
    explicit_kernarg_size: Option<u32>,
    max_workgroup: Option<u32>,
    required_workgroup: Option<[u32; 3]>,
    dynamic_stack: Option<bool>,
    stub: bool,
    stub_kind: String,
    code_size: Option<u64>,
    args: Vec<Argument>,
    /// Values for which the descriptor, which the hardware uses, differs from the metadata.
    differences: Vec<Difference>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Argument {
    offset: u32,
    size: u32,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    type_name: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Difference {
    field: &'static str,
    metadata: u32,
    descriptor: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct NvidiaKernel {
    name: String,
    mangled: String,
    /// The index of the container that holds the kernel.
    bundle: usize,
    target: String,
    registers: Option<u32>,
    lds: Option<u64>,
    scratch: Option<u32>,
    stack: Option<u32>,
    wavefront: u32,
    kernarg_size: Option<u32>,
    max_workgroup: Option<u32>,
    /// null: SASS is not decoded.
    stub: Option<bool>,
    stub_kind: &'static str,
    code_size: Option<u64>,
}

impl KernelRow {
    pub fn amd(found: &Found<'_>, object: &CodeObject<'_>, kernel: &Kernel, name: &str) -> Self {
        let m = &kernel.metadata;
        let argument = |a: &codeobject::Argument| Argument {
            offset: a.offset,
            size: a.size,
            kind: a.value_kind.to_string(),
            name: a.name.clone(),
            type_name: a.type_name.clone(),
        };
        let difference =
            |d: &codeobject::Difference| Difference { field: d.field, metadata: d.metadata, descriptor: d.descriptor };
        KernelRow::Amd(Box::new(AmdKernel {
            name: name.to_owned(),
            mangled: m.name.clone(),
            bundle: found.bundle,
            target: found.target.map(ToString::to_string).unwrap_or_default(),
            sgpr: m.sgpr_count,
            vgpr: m.vgpr_count,
            agpr: agprs(object, kernel),
            sgpr_spills: m.sgpr_spill_count,
            vgpr_spills: m.vgpr_spill_count,
            lds: m.group_segment_fixed_size,
            scratch: m.private_segment_fixed_size,
            wavefront: m.wavefront_size,
            kernarg_size: m.kernarg_segment_size,
            explicit_kernarg_size: m.explicit_kernarg_size(),
            max_workgroup: m.max_flat_workgroup_size,
            required_workgroup: m.reqd_workgroup_size,
            dynamic_stack: m.uses_dynamic_stack,
            stub: kernel.stub.is_stub(),
            stub_kind: kernel.stub.to_string(),
            code_size: code_size(kernel),
            args: m.arguments.iter().map(argument).collect(),
            differences: kernel.differences(object.processor()).iter().map(difference).collect(),
        }))
    }

    pub fn nvidia(row: &Row, kernel: Option<&CubinKernel>, mangled: &str, name: &str) -> Self {
        KernelRow::Nvidia(NvidiaKernel {
            name: name.to_owned(),
            mangled: mangled.to_owned(),
            bundle: row.container,
            target: row.target(),
            registers: kernel.and_then(|kernel| kernel.registers),
            lds: kernel.map(|kernel| kernel.shared),
            scratch: kernel.and_then(CubinKernel::stack_bytes),
            stack: kernel.and_then(|kernel| kernel.stack),
            wavefront: 32,
            kernarg_size: kernel.and_then(|kernel| kernel.parameters),
            max_workgroup: kernel.and_then(|kernel| kernel.max_threads),
            stub: None,
            stub_kind: "unknown",
            code_size: kernel.map(|kernel| kernel.code),
        })
    }
}

/// The metadata states AGPRs only for targets that have them; on other targets a kernel uses none.
pub fn agprs(object: &CodeObject<'_>, kernel: &Kernel) -> Option<u32> {
    let processor = object.processor();
    let has_none = !processor.is_empty() && !codeobject::descriptor::has_agprs(processor);
    kernel.metadata.agpr_count.or(has_none.then_some(0))
}

/// None if the symbol does not state the size (assembly).
pub fn code_size(kernel: &Kernel) -> Option<u64> {
    kernel.code.filter(|extent| extent.stated).map(|extent| extent.size)
}
