//! A host library whose constructor registers two kernels, and an NVIDIA container: small, but executed and unpacked
//! like real ones.

use super::elf::{PROGBITS, Section, elf, string_table, symbol};

/// Sections are at multiples of 64 in the order given, so that addresses can equal file offsets.
fn places(sizes: &[usize]) -> Vec<u64> {
    let mut at = 64;
    sizes
        .iter()
        .map(|size| {
            let here = at;
            at = (at + size).next_multiple_of(64);
            here as u64
        })
        .collect()
}

/// Registers `names` (two of them) from one constructor: the wrapper's module is kept in `rbx` across the calls.
pub fn registering_library(names: [&str; 2]) -> Vec<u8> {
    let (imports, offsets) = string_table(&["__hipRegisterFatBinary".to_owned(), "__hipRegisterFunction".to_owned()]);
    let strings: Vec<u8> = names.iter().flat_map(|name| name.bytes().chain([0])).collect();
    let sizes = [128, strings.len(), 16, 24, 8, 16, 3 * 24, imports.len(), 5 * 24];
    let place = places(&sizes);
    let [text, rodata, handles, wrapper, array, got, _, _, _] = place[..] else { unreachable!("nine sections") };
    let code = constructor(text, wrapper, got, handles, rodata, names[0].len() as u64 + 1);
    let mut wrapper_bytes = 0x4849_5046u32.to_le_bytes().to_vec();
    wrapper_bytes.extend_from_slice(&1u32.to_le_bytes());
    wrapper_bytes.extend_from_slice(&[0; 16]);
    let mut symbols = vec![0; 24];
    symbols.extend(symbol(offsets[0], 2, 0, 0, 0));
    symbols.extend(symbol(offsets[1], 2, 0, 0, 0));
    let relocations = [
        (wrapper + 8, 8, 0x40),
        (array, 8, text),
        (got, 6 | 1 << 32, 0),
        (got + 8, 6 | 2 << 32, 0),
        (handles, 8, text),
    ];
    let relocations =
        relocations.iter().flat_map(|(at, info, addend)| [*at, *info, *addend]).flat_map(u64::to_le_bytes);
    let at = |i: usize, flags: u64| Section { address: place[i], flags, ..Section::default() };
    let sections = [
        Section { name: ".text", kind: PROGBITS, data: code, ..at(0, 6) },
        Section { name: ".rodata", kind: PROGBITS, data: strings, ..at(1, 2) },
        Section { name: ".data.rel.ro", kind: PROGBITS, data: vec![0; 16], ..at(2, 3) },
        Section { name: ".hipFatBinSegment", kind: PROGBITS, data: wrapper_bytes, ..at(3, 3) },
        Section { name: ".init_array", kind: 14, data: vec![0; 8], ..at(4, 3) },
        Section { name: ".got", kind: PROGBITS, data: vec![0; 16], ..at(5, 3) },
        Section { name: ".dynsym", kind: 11, data: symbols, link: 8, entry_size: 24, ..at(6, 2) },
        Section { name: ".dynstr", kind: 3, data: imports, ..at(7, 2) },
        Section { name: ".rela.dyn", kind: 4, data: relocations.collect(), link: 7, entry_size: 24, ..at(8, 2) },
    ];
    let mut file = elf(62, 0, 0, 0, &sections);
    // One segment over the whole file, readable, writable and executable.
    let header = file.len() as u64;
    let end = header + 56;
    file.extend_from_slice(&1u32.to_le_bytes());
    file.extend_from_slice(&7u32.to_le_bytes());
    for number in [0, 0, 0, end, end, 0x1000] {
        file.extend_from_slice(&u64::to_le_bytes(number));
    }
    file[32..40].copy_from_slice(&header.to_le_bytes());
    file[56..58].copy_from_slice(&1u16.to_le_bytes());
    file
}

fn constructor(text: u64, wrapper: u64, got: u64, handles: u64, names: u64, second: u64) -> Vec<u8> {
    let mut code = vec![0x53];
    let relative = |code: &mut Vec<u8>, opcode: &[u8], target: u64| {
        code.extend_from_slice(opcode);
        let next = text + code.len() as u64 + 4;
        code.extend_from_slice(&(target.wrapping_sub(next) as u32).to_le_bytes());
    };
    relative(&mut code, &[0x48, 0x8d, 0x3d], wrapper);
    relative(&mut code, &[0xff, 0x15], got);
    code.extend_from_slice(&[0x48, 0x89, 0xc3]);
    for (handle, name) in [(handles, names), (handles + 8, names + second)] {
        code.extend_from_slice(&[0x48, 0x89, 0xdf]);
        relative(&mut code, &[0x48, 0x8d, 0x35], handle);
        relative(&mut code, &[0x48, 0x8d, 0x0d], name);
        code.extend_from_slice(&[0x48, 0x89, 0xca, 0x41, 0xb8, 0xff, 0xff, 0xff, 0xff]);
        relative(&mut code, &[0xff, 0x15], got + 8);
    }
    code.extend_from_slice(&[0x5b, 0xc3]);
    code.resize(128, 0xcc);
    code
}

/// A cubin for sm_90 with these kernels: each has a section of code and a symbol with `STO_CUDA_ENTRY`. Each uses 16
/// bytes of stack alone and 80 including its callees.
pub fn cubin(kernels: &[&'static str]) -> Vec<u8> {
    let (strings, offsets) = string_table(&kernels.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    let (mut symbols, mut info) = (vec![0; 24], Vec::new());
    for (i, name) in offsets.iter().enumerate() {
        let mut entry = symbol(*name, 2, i as u16 + 1, 0, 16);
        entry[5] = 0x10;
        symbols.extend(entry);
        for (attribute, value) in [(0x11, 16u32), (0x12, 80), (0x2f, 24)] {
            info.extend_from_slice(&[4, attribute, 8, 0]);
            info.extend_from_slice(&(i as u32 + 1).to_le_bytes());
            info.extend_from_slice(&value.to_le_bytes());
        }
    }
    let text = |name: &&'static str| Section { flags: 6, ..Section::new(section_name(name), PROGBITS, vec![7; 16]) };
    let mut sections: Vec<Section> = kernels.iter().map(text).collect();
    let strings_at = sections.len() as u32 + 2;
    sections.push(Section { link: strings_at, entry_size: 24, ..Section::new(".symtab", 2, symbols) });
    sections.push(Section::new(".strtab", 3, strings));
    sections.push(Section::new(".nv.info", 0x7000_0000, info));
    elf(190, 0x33, 7, 90, &sections)
}

fn section_name(kernel: &str) -> &'static str {
    format!(".text.{kernel}").leak()
}

/// One entry of a container: kind (1 PTX, 2 cubin), compute capability, flags, stored bytes, unpacked size (0 if it is
/// not packed).
pub type Image<'a> = (u16, u32, u64, &'a [u8], u64);

pub fn nvidia_container(images: &[Image<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for (kind, sm, flags, stored, size) in images {
        let padded = stored.len().next_multiple_of(8);
        let mut entry = [0; 64];
        entry[..2].copy_from_slice(&kind.to_le_bytes());
        entry[2..4].copy_from_slice(&0x0101u16.to_le_bytes());
        entry[4..8].copy_from_slice(&64u32.to_le_bytes());
        entry[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
        let packed = if *size == 0 { 0 } else { stored.len() as u32 };
        entry[16..20].copy_from_slice(&packed.to_le_bytes());
        entry[24..26].copy_from_slice(&7u16.to_le_bytes());
        entry[26..28].copy_from_slice(&1u16.to_le_bytes());
        entry[28..32].copy_from_slice(&sm.to_le_bytes());
        entry[40..48].copy_from_slice(&flags.to_le_bytes());
        entry[56..64].copy_from_slice(&size.to_le_bytes());
        body.extend_from_slice(&entry);
        body.extend_from_slice(stored);
        body.resize(body.len() + padded - stored.len(), 0);
    }
    let mut out = 0xba55_ed50u32.to_le_bytes().to_vec();
    out.extend_from_slice(&[1, 0, 16, 0]);
    out.extend_from_slice(&(body.len() as u64).to_le_bytes());
    out.extend_from_slice(&body);
    out
}
