//! One kernel of one code object: its metadata, its descriptor, and the position of its code.

use crate::demangle::demangle;
use crate::descriptor::{Descriptor, vgpr_granule};
use crate::metadata::Metadata;
use crate::stub::Stub;

/// The position of a function's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Virtual address in the code object.
    pub address: u64,
    /// Offset in the code object.
    pub offset: u64,
    pub size: u64,
    /// Whether the symbol states the size. Tensile's assembly does not; the size is then derived from the next symbol.
    pub stated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    pub metadata: Metadata,
    pub descriptor: Option<Descriptor>,
    pub code: Option<Extent>,
    pub stub: Stub,
}

/// A field in which descriptor and metadata differ. The hardware uses the descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    pub field: &'static str,
    pub metadata: u32,
    pub descriptor: u32,
}

impl Kernel {
    /// The mangled name, which identifies the kernel everywhere.
    pub fn mangled(&self) -> &str {
        &self.metadata.name
    }

    /// The display name, demangled if possible.
    pub fn name(&self) -> String {
        demangle(&self.metadata.name).unwrap_or_else(|| self.metadata.name.clone())
    }

    /// The fields in which descriptor and metadata differ. VGPRs are compared after rounding to the descriptor's
    /// granule.
    pub fn differences(&self, processor: &str) -> Vec<Difference> {
        let Some(descriptor) = self.descriptor else { return Vec::new() };
        let m = &self.metadata;
        let granule = vgpr_granule(processor, descriptor.is_wave32());
        let rounded = m.vgpr_count.map(|count| count.max(1).next_multiple_of(granule));
        let wave = if descriptor.is_wave32() { 32 } else { 64 };
        [
            ("lds", m.group_segment_fixed_size, descriptor.group_segment_fixed_size),
            ("scratch", m.private_segment_fixed_size, descriptor.private_segment_fixed_size),
            ("kernarg_size", m.kernarg_segment_size, descriptor.kernarg_size),
            ("vgpr", rounded, descriptor.vgprs(processor)),
            ("wavefront", m.wavefront_size, wave),
        ]
        .into_iter()
        .filter_map(|(field, metadata, descriptor)| {
            let metadata = metadata?;
            (metadata != descriptor).then_some(Difference { field, metadata, descriptor })
        })
        .collect()
    }
}
