//! Writes ELF files with sections only, which is all that is needed here.

pub const PROGBITS: u32 = 1;

#[derive(Debug, Clone, Default)]
pub struct Section {
    pub name: &'static str,
    pub kind: u32,
    pub flags: u64,
    pub address: u64,
    pub link: u32,
    pub entry_size: u64,
    pub data: Vec<u8>,
}

impl Section {
    pub fn new(name: &'static str, kind: u32, data: Vec<u8>) -> Self {
        Section { name, kind, data, ..Section::default() }
    }
}

/// Contents start at multiples of 64; section headers come last.
pub fn elf(machine: u16, os_abi: u8, abi_version: u8, flags: u32, sections: &[Section]) -> Vec<u8> {
    let names: Vec<String> = sections.iter().map(|s| s.name.to_owned()).chain([".shstrtab".to_owned()]).collect();
    let (strings, offsets) = string_table(&names);
    let table = Section::new(".shstrtab", 3, strings);
    let mut out = vec![0; 64];
    let mut headers = vec![0; 64];
    for (section, name) in sections.iter().chain([&table]).zip(offsets) {
        out.resize(out.len().next_multiple_of(64), 0);
        headers.extend_from_slice(&name.to_le_bytes());
        headers.extend_from_slice(&section.kind.to_le_bytes());
        for number in [section.flags, section.address, out.len() as u64, section.data.len() as u64] {
            headers.extend_from_slice(&number.to_le_bytes());
        }
        headers.extend_from_slice(&section.link.to_le_bytes());
        headers.extend_from_slice(&[0; 4]);
        headers.extend_from_slice(&64u64.to_le_bytes());
        headers.extend_from_slice(&section.entry_size.to_le_bytes());
        out.extend_from_slice(&section.data);
    }
    out.resize(out.len().next_multiple_of(64), 0);
    let at = out.len() as u64;
    out.extend_from_slice(&headers);
    let count = (headers.len() / 64) as u16;
    out[..9].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, os_abi, abi_version]);
    let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
    put(16, &3u16.to_le_bytes());
    put(18, &machine.to_le_bytes());
    put(20, &1u32.to_le_bytes());
    put(40, &at.to_le_bytes());
    put(48, &flags.to_le_bytes());
    put(52, &64u16.to_le_bytes());
    put(54, &56u16.to_le_bytes());
    put(58, &64u16.to_le_bytes());
    put(60, &count.to_le_bytes());
    put(62, &(count - 1).to_le_bytes());
    out
}

/// A host library: `fatbin` as `.hip_fatbin`, and one wrapper for each of the given starts in it.
pub fn host(fatbin: &[u8], starts: &[u64]) -> Vec<u8> {
    const FATBIN: u64 = 0x10_000;
    const WRAPPERS: u64 = 0x8000;
    let (mut wrappers, mut relocations) = (Vec::new(), Vec::new());
    for (start, i) in starts.iter().zip(0u64..) {
        wrappers.extend_from_slice(&0x4849_5046u32.to_le_bytes());
        wrappers.extend_from_slice(&1u32.to_le_bytes());
        wrappers.extend_from_slice(&[0; 16]);
        for number in [WRAPPERS + 24 * i + 8, 8, FATBIN + start] {
            relocations.extend_from_slice(&number.to_le_bytes());
        }
    }
    let sections = [
        Section { address: FATBIN, flags: 2, ..Section::new(".hip_fatbin", PROGBITS, fatbin.to_vec()) },
        Section { address: WRAPPERS, flags: 3, ..Section::new(".hipFatBinSegment", PROGBITS, wrappers) },
        Section { entry_size: 24, ..Section::new(".rela.dyn", 4, relocations) },
    ];
    elf(62, 0, 0, 0, &sections)
}

/// The table, and where each name starts in it.
pub fn string_table(names: &[String]) -> (Vec<u8>, Vec<u32>) {
    let mut table = vec![0];
    let mut offsets = Vec::new();
    for name in names {
        offsets.push(table.len() as u32);
        table.extend_from_slice(name.as_bytes());
        table.push(0);
    }
    (table, offsets)
}

pub fn symbol(name: u32, kind: u8, section: u16, address: u64, size: u64) -> Vec<u8> {
    let mut out = name.to_le_bytes().to_vec();
    out.extend_from_slice(&[0x10 | kind, 0]);
    out.extend_from_slice(&section.to_le_bytes());
    out.extend_from_slice(&address.to_le_bytes());
    out.extend_from_slice(&size.to_le_bytes());
    out
}
