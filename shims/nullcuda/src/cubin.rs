//! The minimum of cubin parsing for images that a program loads itself (Triton, NVRTC): whether the image defines a
//! kernel, and which resources it states. The parent reads everything else.

/// Attributes of `.nv.info` by NVIDIA's names for them, as in the parent's reader.
const REGCOUNT: u8 = 0x2f;
const FRAME_SIZE: u8 = 0x11;
const EXTERNS: u8 = 0x0f;
const MAX_THREADS: u8 = 0x05;
const REQUIRED_THREADS: u8 = 0x10;
/// The system's bytes at the start of every shared section from compute capability 9.0 on.
const RESERVED: u64 = 1024;
const SYMBOL: usize = 24;
const ENTRY: u8 = 0x10;

pub struct Kernel {
    pub registers: u32,
    pub shared: u32,
    pub local: u32,
    pub max_threads: u32,
}

#[derive(Clone, Copy)]
struct Section<'a> {
    name: &'a [u8],
    kind: u32,
    data: &'a [u8],
    size: u64,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|two| u16::from_le_bytes(*two))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|four| u32::from_le_bytes(*four))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}

fn text(bytes: &[u8], at: usize) -> &[u8] {
    let rest = bytes.get(at..).unwrap_or(&[]);
    rest.split(|byte| *byte == 0).next().unwrap_or(&[])
}

fn header(elf: &[u8], index: usize) -> Option<&[u8]> {
    let table = usize::try_from(u64_at(elf, 0x28)?).ok()?;
    let size = usize::from(u16_at(elf, 0x3a)?);
    elf.get(table.checked_add(index.checked_mul(size)?)?..)?.get(..64)
}

fn section(elf: &[u8], index: usize) -> Option<Section<'_>> {
    let names = header(elf, usize::from(u16_at(elf, 0x3e)?))?;
    let at = usize::try_from(u64_at(names, 24)?).ok()?.checked_add(usize::try_from(u32_at(header(elf, index)?, 0)?).ok()?)?;
    let of = header(elf, index)?;
    let (kind, size) = (u32_at(of, 4)?, u64_at(of, 32)?);
    let from = usize::try_from(u64_at(of, 24)?).ok()?;
    // NOBITS sections have a size but no bytes.
    let data = if kind == 8 { &[] } else { elf.get(from..from.checked_add(usize::try_from(size).ok()?)?)? };
    Some(Section { name: text(elf, at), kind, data, size })
}

fn sections(elf: &[u8]) -> impl Iterator<Item = Section<'_>> {
    let count = usize::from(u16_at(elf, 0x3c).unwrap_or(0));
    (0..count).filter_map(|index| section(elf, index))
}

fn named<'a>(elf: &'a [u8], prefix: &[u8], name: &[u8]) -> Option<Section<'a>> {
    sections(elf).find(|section| section.name.strip_prefix(prefix).is_some_and(|rest| rest == name))
}

pub fn is_cubin(image: &[u8]) -> bool {
    const EM_CUDA: u16 = 190;
    image.starts_with(b"\x7fELF") && u16_at(image, 18) == Some(EM_CUDA)
}

/// The compute capability that a cubin was made for: 90 for 9.0. Version 8 of the format moved it.
pub fn capability(image: &[u8]) -> Option<u32> {
    let flags = u32_at(image, 0x30).filter(|_| is_cubin(image))?;
    Some((if *image.get(8)? >= 8 { flags >> 8 } else { flags }) & 0xff)
}

/// Index of the kernel's symbol. None if the image does not define it.
fn symbol(elf: &[u8], name: &[u8]) -> Option<u32> {
    const SYMTAB: u32 = 2;
    let table = sections(elf).find(|section| section.kind == SYMTAB)?;
    let strings = sections(elf).find(|section| section.name == b".strtab")?;
    for (index, symbol) in (0_u32..).zip(table.data.chunks_exact(SYMBOL)) {
        let entry = symbol.get(5).is_some_and(|other| other & ENTRY != 0);
        if entry && text(strings.data, u32_at(symbol, 0)? as usize) == name {
            return Some(index);
        }
    }
    None
}

pub fn defines(elf: &[u8], name: &[u8]) -> bool {
    is_cubin(elf) && symbol(elf, name).is_some() && named(elf, b".text.", name).is_some()
}

/// Attribute number and value of every record of an `.nv.info` section.
fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    const SIZED: u8 = 4;
    core::iter::from_fn(move || {
        let [format, attribute, low, high, after @ ..] = rest else { return None };
        if *format != SIZED {
            let value = rest.get(2..4)?;
            rest = after;
            return Some((*attribute, value));
        }
        let size = usize::from(*low) | usize::from(*high) << 8;
        let value = after.get(..size)?;
        rest = after.get(size..)?;
        Some((*attribute, value))
    })
}

/// Registers as the driver reports them: at least 16, and at least 32 where the kernel refers to functions outside itself.
pub fn kernel(elf: &[u8], name: &[u8]) -> Option<Kernel> {
    let index = symbol(elf, name).filter(|_| is_cubin(elf))?;
    let common = named(elf, b".nv.info", b"")?;
    let of = |which: u8| {
        let mut pairs = attributes(common.data).filter(|(attribute, _)| *attribute == which);
        pairs.find(|(_, value)| u32_at(value, 0) == Some(index)).and_then(|(_, value)| u32_at(value, 4))
    };
    let own = named(elf, b".nv.info.", name).map_or(&[][..], |section| section.data);
    let find = |which: u8| attributes(own).find(|(attribute, _)| *attribute == which).map(|(_, value)| value);
    let threads = find(MAX_THREADS).or_else(|| find(REQUIRED_THREADS));
    let product = |value: &[u8]| (0..3).try_fold(1_u32, |product, i| product.checked_mul(u32_at(value, i * 4)?));
    let reserved = if capability(elf)? >= 90 { RESERVED } else { 0 };
    let shared = named(elf, b".nv.shared.", name).map_or(0, |section| section.size.saturating_sub(reserved));
    let least = if find(EXTERNS).is_some() { 32 } else { 16 };
    Some(Kernel {
        registers: of(REGCOUNT)?.max(least),
        shared: shared as u32,
        local: of(FRAME_SIZE).unwrap_or(0),
        max_threads: threads.and_then(product).unwrap_or(0),
    })
}
