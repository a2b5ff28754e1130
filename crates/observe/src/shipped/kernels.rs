//! The kernels of one target, as facts.

use codeobject::{CodeObject, Kernel, TargetId};
use inventory::{Found, Look};

/// What a claim can ask about one shipped kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelFact {
    /// In the readable form of the kernel-name grammar: `mul_mat_q<Q4_K,112,false>`.
    pub name: String,
    pub mangled: String,
    pub bundle: Option<usize>,
    pub sgpr: Option<u32>,
    pub vgpr: Option<u32>,
    pub lds: Option<u32>,
    pub scratch: Option<u32>,
    pub wavefront: Option<u32>,
    pub stub: bool,
}

/// Gathers the kernels of the wanted target; none where no target is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Gather<'a> {
    pub target: Option<&'a TargetId>,
}

impl Look for Gather<'_> {
    type Out = Vec<KernelFact>;

    fn entry(&self, found: &Found<'_>, _: &mut Vec<KernelFact>) -> bool {
        matches!((self.target, found.target), (Some(wanted), Some(target)) if target.answers(wanted))
    }

    fn kernel(&self, found: &Found<'_>, _: &CodeObject<'_>, kernel: &Kernel, out: &mut Vec<KernelFact>) {
        let m = &kernel.metadata;
        out.push(KernelFact {
            name: launch::grammar::read(&m.name).readable,
            mangled: m.name.clone(),
            bundle: found.bundle,
            sgpr: m.sgpr_count,
            vgpr: m.vgpr_count,
            lds: m.group_segment_fixed_size,
            scratch: m.private_segment_fixed_size,
            wavefront: m.wavefront_size,
            stub: kernel.stub.is_stub(),
        });
    }
}
