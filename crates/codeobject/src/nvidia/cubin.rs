//! A cubin: an ELF file for one compute capability, with its kernels and their stated resources.
//!
//! Registers come from the `EIATTR_REGCOUNT` attribute of `.nv.info`; older cubins repeat the number in the upper byte
//! of the code section's `sh_info`. If neither exists, the number is unknown.

use crate::elf::{EM_CUDA, ET_REL, Elf, SHT_SYMTAB, SymbolKind, Symbols};
use std::collections::HashMap;

/// Attributes of `.nv.info`, by the names that NVIDIA's own dumps print.
const REGCOUNT: u8 = 0x2f;
const FRAME_SIZE: u8 = 0x11;
const MIN_STACK_SIZE: u8 = 0x12;
const CBANK_PARAM_SIZE: u8 = 0x19;
const MAX_THREADS: u8 = 0x05;
const REQUIRED_THREADS: u8 = 0x10;
const EXTERNS: u8 = 0x0f;
/// Index, ordinal, offset, and a word with the size in its upper 14 bits.
const PARAMETER: u8 = 0x17;
/// The format of an attribute whose value has a 16-bit length; the shorter formats contain the value in place.
const SIZED: u8 = 4;
/// `STO_CUDA_ENTRY`: the symbol is a kernel, not a device function.
const ENTRY: u8 = 0x10;

/// From compute capability 9.0, every shared section begins with this many bytes that the driver reserves for itself.
const RESERVED: u64 = 1024;

/// One kernel of a cubin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CubinKernel {
    pub name: String,
    pub code: u64,
    pub registers: Option<u32>,
    /// The upper byte of `sh_info`, in the older layout.
    pub registers_section: Option<u32>,
    /// Bytes of stack per thread for the function's own frame.
    pub frame: Option<u32>,
    /// The minimum number of bytes of stack per thread, including the function's callees.
    pub stack: Option<u32>,
    /// Static shared memory as the driver reports it, without the bytes that it reserves for itself.
    pub shared: u64,
    /// The size of the kernel's shared section, with the reserved bytes.
    pub shared_section: Option<u64>,
    pub parameters: Option<u32>,
    pub constant0: u64,
    pub max_threads: Option<u32>,
    /// Whether the kernel refers to functions outside itself.
    pub externs: bool,
    /// Offset and size of each parameter, in order. Empty if the cubin does not state them.
    pub arguments: Vec<(u32, u32)>,
}

impl CubinKernel {
    /// Registers per thread as the driver reports them. It gives every kernel at least 16, and at least 32 to one that calls
    /// functions outside itself (both found by comparing cubins with the CUPTI table of an H200).
    pub fn reported_registers(&self) -> Option<u32> {
        self.registers.map(|registers| registers.max(if self.externs { 32 } else { 16 }))
    }

    /// Bytes of stack per thread, including the frames of called functions if the cubin states them. A value of all
    /// ones means an unknown depth (recursion, calls by pointer).
    pub fn stack_bytes(&self) -> Option<u32> {
        match self.stack {
            Some(u32::MAX) => None,
            Some(stack) => Some(stack.max(self.frame.unwrap_or(0))),
            None => self.frame,
        }
    }
}

/// Kernels of one cubin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cubin {
    pub abi: u8,
    pub flags: u32,
    pub relocatable: bool,
    pub kernels: Vec<CubinKernel>,
}

impl Cubin {
    /// Whether the cubin is for one chip only (`sm_90a`): EF_CUDA_ACCELERATORS of
    /// `llvm/include/llvm/BinaryFormat/ELF.h`, which is another bit since version 8 of the format. CUDA 13 omits it;
    /// then only the fatbin's entry has this information.
    pub fn is_for_one_chip(&self) -> bool {
        self.flags & if self.abi >= 8 { 0x8 } else { 0x800 } != 0
    }
}

/// Reads a cubin; None if the bytes are not an ELF file for the CUDA machine.
pub fn cubin(data: &[u8]) -> Option<Cubin> {
    let elf = Elf::parse(&data).ok()?;
    if elf.header.machine != EM_CUDA {
        return None;
    }
    let symbols = elf.symbols_of_kind(SHT_SYMTAB).ok()?;
    let section = |name: String| elf.section(&name);
    let contents = |name: &str| elf.section(name).and_then(|section| elf.data(section).ok()).unwrap_or_default();
    let common = contents(".nv.info");
    let common = attributes(&common);
    let by_symbol = |attribute: u8| -> HashMap<u32, u32> {
        let pairs = common.iter().filter(|(a, _)| *a == attribute);
        pairs.filter_map(|(_, value)| Some((word(value, 0)?, word(value, 4)?))).collect()
    };
    let (registers, frames, stacks) = (by_symbol(REGCOUNT), by_symbol(FRAME_SIZE), by_symbol(MIN_STACK_SIZE));
    let reserved = if sm(elf.header.abi_version, elf.header.flags) >= 90 { RESERVED } else { 0 };
    let mut kernels = Vec::new();
    for (key, symbol) in (0u32..).zip(symbols.iter().flat_map(Symbols::iter)) {
        if symbol.kind != SymbolKind::Function || symbol.other & ENTRY == 0 || symbol.section == 0 {
            continue;
        }
        let name = symbol.name.to_owned();
        let Some(text) = section(format!(".text.{name}")) else { continue };
        let own = contents(&format!(".nv.info.{name}"));
        let own = attributes(&own);
        let find = |attribute: u8| own.iter().find(|(a, _)| *a == attribute).map(|(_, value)| *value);
        let threads = find(MAX_THREADS)
            .or_else(|| find(REQUIRED_THREADS))
            .and_then(|value| (0..3).try_fold(1u32, |product, i| product.checked_mul(word(value, i * 4)?)));
        let mut arguments: Vec<(u32, u32, u32)> =
            own.iter().filter(|(a, _)| *a == PARAMETER).filter_map(argument).collect();
        arguments.sort_unstable();
        let upper = Some(text.info >> 24).filter(|n| *n != 0);
        let shared_section = section(format!(".nv.shared.{name}")).map(|section| section.size);
        kernels.push(CubinKernel {
            code: text.size,
            registers: registers.get(&key).copied().or(upper),
            registers_section: upper,
            frame: frames.get(&key).copied(),
            stack: stacks.get(&key).copied(),
            shared: shared_section.map_or(0, |size| size.saturating_sub(reserved)),
            shared_section,
            parameters: find(CBANK_PARAM_SIZE).and_then(|v| v.get(..2)).map(|v| u32::from(v[0]) | u32::from(v[1]) << 8),
            constant0: section(format!(".nv.constant0.{name}")).map_or(0, |s| s.size),
            max_threads: threads,
            externs: find(EXTERNS).is_some(),
            arguments: arguments.into_iter().map(|(_, offset, size)| (offset, size)).collect(),
            name,
        });
    }
    let header = elf.header;
    Some(Cubin { abi: header.abi_version, flags: header.flags, relocatable: header.kind == ET_REL, kernels })
}

/// The compute capability in the flags of a cubin's header: 90 for 9.0. Version 8 of the format moved it.
pub(super) fn sm(abi: u8, flags: u32) -> u32 {
    (if abi >= 8 { flags >> 8 } else { flags }) & 0xff
}

/// Ordinal, offset and size of a parameter.
fn argument((_, value): &(u8, &[u8])) -> Option<(u32, u32, u32)> {
    let place = word(value, 4)?;
    Some((place & 0xffff, place >> 16, word(value, 8)? >> 18))
}

fn word(value: &[u8], at: usize) -> Option<u32> {
    value.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

/// Attribute number and value of every record of an `.nv.info` section.
fn attributes(mut rest: &[u8]) -> Vec<(u8, &[u8])> {
    let mut found = Vec::new();
    while let [format, attribute, low, high, after @ ..] = rest {
        if *format == SIZED {
            let size = usize::from(*low) | usize::from(*high) << 8;
            let Some(value) = after.get(..size) else { break };
            found.push((*attribute, value));
            rest = after.get(size..).unwrap_or_default();
        } else {
            found.push((*attribute, rest.get(2..4).unwrap_or_default()));
            rest = after;
        }
    }
    found
}
