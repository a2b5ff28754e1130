//! The 64-byte kernel descriptor `<name>.kd`, which tells the hardware how to set up the kernel.
//!
//! AMDGPUUsage, "Kernel Descriptor"; `llvm/include/llvm/Support/AMDHSAKernelDescriptor.h`.

use crate::elf::Elf;
use crate::read::{u16_at, u32_at, u64_at};
use std::borrow::Cow;

pub const SIZE: u64 = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor {
    pub group_segment_fixed_size: u32,
    pub private_segment_fixed_size: u32,
    pub kernarg_size: u32,
    /// The entry address minus the address of the descriptor.
    pub code_entry_offset: i64,
    pub rsrc1: u32,
    pub rsrc2: u32,
    pub rsrc3: u32,
    pub properties: u16,
    pub kernarg_preload: u16,
}

/// The descriptors of one code object. They are adjacent, so the reader caches a page of them.
#[derive(Debug)]
pub(crate) struct Descriptors<'e, 'a> {
    elf: &'e Elf<'a>,
    address: u64,
    page: Cow<'a, [u8]>,
}

impl<'e, 'a> Descriptors<'e, 'a> {
    const PAGE: u64 = 4096;

    pub fn new(elf: &'e Elf<'a>) -> Self {
        Descriptors { elf, address: 0, page: Cow::Borrowed(&[]) }
    }

    pub fn at(&mut self, address: u64) -> Option<Descriptor> {
        let start = address.checked_sub(self.address).and_then(|start| usize::try_from(start).ok());
        let here = start.and_then(|start| self.page.get(start..)).and_then(Descriptor::parse);
        if here.is_some() {
            return here;
        }
        self.page = self.read(address, Self::PAGE).or_else(|| self.read(address, SIZE))?;
        self.address = address;
        Descriptor::parse(&self.page)
    }

    /// Addresses and offsets correspond only within one segment.
    fn read(&self, address: u64, len: u64) -> Option<Cow<'a, [u8]>> {
        let last = self.elf.offset_of(address.checked_add(len - 1)?)?;
        if last != self.elf.offset_of(address)?.checked_add(len - 1)? {
            return None;
        }
        self.elf.at_address(address, len, "kernel descriptor").ok()
    }
}

impl Descriptor {
    /// Parses a descriptor. None for fewer than 64 bytes.
    pub fn parse(raw: &[u8]) -> Option<Self> {
        let raw = raw.first_chunk::<{ SIZE as usize }>()?;
        Some(Descriptor {
            group_segment_fixed_size: u32_at(raw, 0),
            private_segment_fixed_size: u32_at(raw, 4),
            kernarg_size: u32_at(raw, 8),
            code_entry_offset: u64_at(raw, 16) as i64,
            rsrc3: u32_at(raw, 44),
            rsrc1: u32_at(raw, 48),
            rsrc2: u32_at(raw, 52),
            properties: u16_at(raw, 56),
            kernarg_preload: u16_at(raw, 58),
        })
    }

    /// Waves of 32 lanes (gfx10 and later; the bit is zero before).
    pub fn is_wave32(&self) -> bool {
        self.properties & (1 << 10) != 0
    }

    pub fn uses_dynamic_stack(&self) -> bool {
        self.properties & (1 << 11) != 0
    }

    /// The VGPRs allocated to a wave: a multiple of the target's granule.
    pub fn vgprs(&self, processor: &str) -> u32 {
        ((self.rsrc1 & 0x3f) + 1) * vgpr_granule(processor, self.is_wave32())
    }

    /// Architectural VGPRs before the AGPRs start, on targets with a unified file.
    pub fn accum_offset(&self, processor: &str) -> Option<u32> {
        is_unified(processor).then_some(((self.rsrc3 & 0x3f) + 1) * 4)
    }
}

/// The unit in which the descriptor counts VGPRs: AMDGPUUsage, GRANULATED_WORKITEM_VGPR_COUNT.
pub fn vgpr_granule(processor: &str, wave32: bool) -> u32 {
    if is_unified(processor) {
        return 8;
    }
    let rdna = ["gfx10", "gfx11", "gfx12"].iter().any(|family| processor.starts_with(family));
    match (rdna, wave32) {
        (true, true) if processor.starts_with("gfx125") => 16,
        (true, true) => 8,
        _ => 4,
    }
}

/// Whether VGPRs and AGPRs share one register file.
fn is_unified(processor: &str) -> bool {
    has_agprs(processor) && !processor.starts_with("gfx908")
}

/// Whether a processor has accumulation registers: AMDGPUUsage, "Processors", the MI series from gfx908 on.
pub fn has_agprs(processor: &str) -> bool {
    ["gfx908", "gfx90a", "gfx94", "gfx95", "gfx9-4"].iter().any(|family| processor.starts_with(family))
}
