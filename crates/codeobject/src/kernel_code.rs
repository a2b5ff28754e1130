//! `amd_kernel_code_t`: the 256 bytes before the code of a kernel in code objects of version 2 (until 2020, and all
//! from hcc). They contain the information that descriptor and metadata hold in later versions.
//!
//! AMDGPUUsage, "Code Object V2 Metadata"; `llvm/lib/Target/AMDGPU/AMDKernelCodeT.h`.

use crate::metadata::Metadata;
use crate::read::{u16_at, u32_at, u64_at};

pub(crate) const SIZE: u64 = 256;
/// STT_AMDGPU_HSA_KERNEL: the symbol type of these kernels.
pub(crate) const SYMBOL: u8 = 10;

/// The header's content as metadata. None if the bytes are too short or have another major version.
pub(crate) fn metadata(name: &str, raw: &[u8]) -> Option<Metadata> {
    let raw = raw.first_chunk::<{ SIZE as usize }>()?;
    if u32_at(raw, 0) != 1 {
        return None;
    }
    Some(Metadata {
        name: name.to_owned(),
        symbol: name.to_owned(),
        private_segment_fixed_size: Some(u32_at(raw, 60)),
        group_segment_fixed_size: Some(u32_at(raw, 64)),
        kernarg_segment_size: u32::try_from(u64_at(raw, 72)).ok(),
        sgpr_count: Some(u16_at(raw, 84).into()),
        vgpr_count: Some(u16_at(raw, 86).into()),
        wavefront_size: raw.get(103).filter(|power| **power <= 6).map(|power| 1 << power),
        ..Metadata::default()
    })
}

/// The offset of the code from the header.
pub(crate) fn entry(raw: &[u8]) -> u64 {
    u64_at(raw, 16)
}
