//! Small files of every kind that the parsers read, built byte by byte.
//!
//! They serve as the fuzzer's corpus and as the well-formed start of tests about malformed input.

mod bundle;
mod containers;
mod elf;
mod kpack;
mod msgpack;
mod registering;

pub use bundle::{bundle, ccob};
pub use containers::{ar, windows};
pub use elf::{Section, elf, host};
pub use kpack::{Split, kpack, kpack_reference, packed_host, split, split_of};
pub use msgpack::{Value, encode};
pub use registering::{cubin, nvidia_container, registering_library};

use elf::{PROGBITS, string_table, symbol};

/// e_flags of gfx1201, code object V5.
pub const GFX1201: u32 = 0x4e;
pub const GFX900: u32 = 0x12c;

/// The description of a kernel in a generated code object.
#[derive(Debug, Clone)]
pub struct Kernel {
    pub name: String,
    pub vgprs: u64,
    pub code: Vec<u32>,
}

impl Kernel {
    /// A kernel that stores something and ends.
    pub fn live(name: &str) -> Self {
        Kernel { name: name.to_owned(), vgprs: 8, code: vec![0x7e00_0280, 0xee06_8000, 0, 0, 0xbfb0_0000] }
    }

    /// A kernel that traps.
    pub fn stub(name: &str) -> Self {
        Kernel { name: name.to_owned(), vgprs: 1, code: vec![0xbf90_0002] }
    }
}

/// The metadata note of some kernels, in the form of a note section.
pub fn note(target: Option<&str>, kernels: &[Kernel]) -> Vec<u8> {
    let argument = |offset: u64, kind: &str| {
        Value::map([(".offset", offset.into()), (".size", 8.into()), (".value_kind", kind.into())])
    };
    let kernel = |kernel: &Kernel| {
        Value::map([
            (".name", kernel.name.as_str().into()),
            (".symbol", format!("{}.kd", kernel.name).as_str().into()),
            (".args", Value::Array(vec![argument(0, "global_buffer"), argument(8, "hidden_block_count_x")])),
            (".sgpr_count", 18.into()),
            (".vgpr_count", kernel.vgprs.into()),
            (".group_segment_fixed_size", 1024.into()),
            (".private_segment_fixed_size", 0.into()),
            (".kernarg_segment_size", 16.into()),
            (".wavefront_size", 32.into()),
            (".max_flat_workgroup_size", 256.into()),
        ])
    };
    let mut top = vec![
        ("amdhsa.kernels", Value::Array(kernels.iter().map(kernel).collect())),
        ("amdhsa.version", Value::Array(vec![1.into(), 2.into()])),
    ];
    if let Some(target) = target {
        top.push(("amdhsa.target", target.into()));
    }
    let contents = encode(&Value::map(top));
    let mut note = Vec::new();
    for word in [7, contents.len() as u32, 32] {
        note.extend_from_slice(&word.to_le_bytes());
    }
    note.extend_from_slice(b"AMDGPU\0\0");
    note.extend_from_slice(&contents);
    note.resize(note.len().next_multiple_of(4), 0);
    note
}

/// A device ELF, V5: notes, dynamic symbols, descriptors, code.
pub fn code_object(flags: u32, target: Option<&str>, kernels: &[Kernel]) -> Vec<u8> {
    const DESCRIPTORS: u64 = 0x1000;
    const CODE: u64 = 0x2000;
    let (mut rodata, mut text, mut symbols) = (Vec::new(), Vec::new(), vec![0; 24]);
    let names: Vec<String> = kernels.iter().flat_map(|k| [k.name.clone(), format!("{}.kd", k.name)]).collect();
    let (strings, offsets) = string_table(&names);
    for (i, kernel) in kernels.iter().enumerate() {
        let (at, entry) = (DESCRIPTORS + rodata.len() as u64, CODE + text.len() as u64);
        let code: Vec<u8> = kernel.code.iter().flat_map(|word| word.to_le_bytes()).collect();
        symbols.extend(symbol(offsets[2 * i], 2, 5, entry, code.len() as u64));
        symbols.extend(symbol(offsets[2 * i + 1], 1, 4, at, 64));
        let mut descriptor = [0; 64];
        descriptor[..4].copy_from_slice(&1024u32.to_le_bytes());
        descriptor[8..12].copy_from_slice(&16u32.to_le_bytes());
        descriptor[16..24].copy_from_slice(&entry.wrapping_sub(at).to_le_bytes());
        descriptor[57] = 4;
        rodata.extend_from_slice(&descriptor);
        text.extend_from_slice(&code);
    }
    let sections = [
        Section::new(".note", 7, note(target, kernels)),
        Section { link: 3, entry_size: 24, ..Section::new(".dynsym", 11, symbols) },
        Section::new(".dynstr", 3, strings),
        Section { address: DESCRIPTORS, ..Section::new(".rodata", PROGBITS, rodata) },
        Section { address: CODE, flags: 6, ..Section::new(".text", PROGBITS, text) },
    ];
    elf(224, 64, 3, flags, &sections)
}

/// A code object of version 2 for gfx900 with one kernel: header and code in sequence, no descriptor, no note.
pub fn old_code_object(name: &str) -> Vec<u8> {
    const CODE: u64 = 0x2000;
    let (strings, offsets) = string_table(&[name.to_owned()]);
    let mut text = vec![0; 256];
    let mut put = |at: usize, bytes: &[u8]| text[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &1u32.to_le_bytes());
    put(16, &256u64.to_le_bytes());
    put(84, &16u16.to_le_bytes());
    put(86, &8u16.to_le_bytes());
    put(103, &[6]);
    // v_mov_b32 v0, 0; s_endpgm
    text.extend([0x7e00_0280u32, 0xbf81_0000].iter().flat_map(|word| word.to_le_bytes()));
    let mut symbols = vec![0; 24];
    symbols.extend(symbol(offsets[0], 10, 1, CODE, text.len() as u64));
    let sections = [
        Section { address: CODE, flags: 6, ..Section::new(".text", PROGBITS, text) },
        Section { link: 3, entry_size: 24, ..Section::new(".dynsym", 11, symbols) },
        Section::new(".dynstr", 3, strings),
    ];
    elf(224, 64, 0, 0x2c, &sections)
}

/// Two kernels for gfx1201, one of them a stub.
pub fn two_kernels() -> Vec<u8> {
    let kernels = [Kernel::live("_Z4livePf"), Kernel::stub("_Z4stubPf")];
    code_object(GFX1201, Some("amdgcn-amd-amdhsa--gfx1201"), &kernels)
}

/// The usual bundle: an empty host entry and one object.
pub fn usual_bundle() -> Vec<u8> {
    bundle(&[("host-x86_64-unknown-linux-gnu-", &[]), ("hipv4-amdgcn-amd-amdhsa--gfx1201", &two_kernels())], 256)
}

/// A SPIR-V kernel without a product: a matrix capability, one entry point, one constant (3, by default `default`).
pub fn spirv(default: u32) -> Vec<u8> {
    let main = u32::from_le_bytes(*b"main");
    let words: [&[u32]; 10] = [
        &[0x0723_0203, 0x0001_0500, 0, 100, 0],
        &[2 << 16 | 17, 6022],
        &[3 << 16 | 14, 0, 1],
        &[5 << 16 | 15, 5, 4, main, 0],
        &[6 << 16 | 16, 4, 17, 64, 1, 1],
        &[4 << 16 | 71, 9, 1, 3],
        &[4 << 16 | 21, 6, 32, 0],
        &[4 << 16 | 50, 6, 9, default],
        &[5 << 16 | 54, 2, 4, 0, 3],
        &[2 << 16 | 248, 5, 1 << 16 | 253, 1 << 16 | 56],
    ];
    words.concat().iter().flat_map(|word| word.to_le_bytes()).collect()
}
