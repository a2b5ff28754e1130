//! The minimum of device image parsing to answer whether a symbol exists: rocBLAS relies on the answer "not found".

use crate::nullgpu_input::{Arg, Entry};

/// The size of an image in bytes: an ELF file, a bundle, or a compressed bundle. The loading call passes no size.
///
/// SAFETY: `at` points to an image that the real library would accept.
pub unsafe fn image_size(at: *const u8) -> Option<usize> {
    // SAFETY: every image has a head of at least 64 bytes.
    let head = unsafe { core::slice::from_raw_parts(at, 64) };
    if head.starts_with(b"\x7fELF") {
        let table = u64_at(head, 0x28)?.checked_add(u64::from(u16_at(head, 0x3a)?) * u64::from(u16_at(head, 0x3c)?))?;
        return usize::try_from(table).ok();
    }
    if head.starts_with(b"__CLANG_OFFLOAD_BUNDLE__") {
        let count = u64_at(head, 24)?.min(1024);
        let mut end = 0_u64;
        let mut entry = 32_usize;
        for _ in 0..count {
            // SAFETY: the list of entries is inside the image.
            let fields = unsafe { core::slice::from_raw_parts(at.add(entry), 24) };
            end = end.max(u64_at(fields, 0)?.checked_add(u64_at(fields, 8)?)?);
            entry = entry.checked_add(24)?.checked_add(usize::try_from(u64_at(fields, 16)?).ok()?)?;
        }
        return usize::try_from(end).ok();
    }
    if head.starts_with(b"CCOB") {
        return match u16_at(head, 4)? {
            2 => usize::try_from(u32_at(head, 8)?).ok(),
            3 => usize::try_from(u64_at(head, 8)?).ok(),
            _ => None,
        };
    }
    None
}

pub enum Code<'a> {
    Elf(&'a [u8]),
    /// A bundle without code for the device.
    Absent,
    /// Compressed: its content cannot be determined here.
    Opaque,
}

/// The code object for `target` (in HIP's notation, with features) in an image; if there is none, the one for the
/// generic target that HIP would use.
pub fn code<'a>(image: &'a [u8], target: &[u8], generic: &[u8]) -> Code<'a> {
    if image.starts_with(b"\x7fELF") {
        let runs_here = |name: &[u8]| runs(name, target) || (!generic.is_empty() && serves(name, generic, target));
        return if made_for(image).is_none_or(runs_here) { Code::Elf(image) } else { Code::Absent };
    }
    if !image.starts_with(b"__CLANG_OFFLOAD_BUNDLE__") {
        return Code::Opaque;
    }
    let own = entries(image, |name| runs(name, target));
    let shared = || entries(image, |name| !generic.is_empty() && serves(name, generic, target));
    own.or_else(shared).map_or(Code::Absent, Code::Elf)
}

/// The target that a code object names in its notes (`amdgcn-amd-amdhsa--gfx906:xnack-`), with its features. Objects before
/// version 4 name none.
fn made_for(elf: &[u8]) -> Option<&[u8]> {
    const NOTE: u32 = 4;
    const TRIPLE: &[u8] = b"amdgcn-amd-amdhsa--";
    let table = usize::try_from(u64_at(elf, 0x20)?).ok()?;
    let (size, count) = (usize::from(u16_at(elf, 0x36)?), usize::from(u16_at(elf, 0x38)?));
    for index in 0..count {
        let header = elf.get(table.checked_add(index.checked_mul(size)?)?..)?.get(..56)?;
        if u32_at(header, 0)? != NOTE {
            continue;
        }
        let from = usize::try_from(u64_at(header, 8)?).ok()?;
        let notes = elf.get(from..from.checked_add(usize::try_from(u64_at(header, 0x20)?).ok()?)?)?;
        // The text is in a MessagePack map, whose next byte is not part of a target's name.
        if let Some(at) = notes.windows(TRIPLE.len()).position(|part| part == TRIPLE) {
            let rest = notes.get(at + TRIPLE.len()..)?;
            let len = rest.iter().position(|b| !(b.is_ascii_lowercase() || b.is_ascii_digit() || b"-+:".contains(b)));
            return rest.get(..len.unwrap_or(rest.len()));
        }
    }
    None
}

fn entries(image: &[u8], wanted: impl Fn(&[u8]) -> bool) -> Option<&[u8]> {
    let count = u64_at(image, 24)?.min(1024);
    let mut at = 32_usize;
    for _ in 0..count {
        let (offset, size, len) = (u64_at(image, at)?, u64_at(image, at + 8)?, u64_at(image, at + 16)?);
        let start = at.checked_add(24)?;
        let id = image.get(start..start.checked_add(usize::try_from(len).ok()?)?)?;
        at = start.checked_add(id.len())?;
        let Some(name) = id.windows(3).position(|w| w == b"gfx").and_then(|i| id.get(i..)) else { continue };
        if wanted(name) {
            let from = usize::try_from(offset).ok()?;
            return image.get(from..from.checked_add(usize::try_from(size).ok()?)?);
        }
    }
    None
}

/// Same processor, and every feature that the code fixes has the same value on the device.
fn runs(code: &[u8], device: &[u8]) -> bool {
    serves(code, device.split(|&b| b == b':').next().unwrap_or(&[]), device)
}

fn serves(code: &[u8], processor: &[u8], device: &[u8]) -> bool {
    let mut parts = code.split(|&b| b == b':');
    parts.next() == Some(processor) && parts.all(|feature| device.split(|&b| b == b':').any(|ours| ours == feature))
}

/// Whether the image defines `name` or its descriptor `name.kd`.
pub fn defines(elf: &[u8], name: &[u8]) -> Option<bool> {
    let table = usize::try_from(u64_at(elf, 0x28)?).ok()?;
    let (size, count) = (usize::from(u16_at(elf, 0x3a)?), usize::from(u16_at(elf, 0x3c)?));
    let section = |index: usize| elf.get(table.checked_add(index.checked_mul(size)?)?..)?.get(..64);
    const DYNSYM: u32 = 11;
    for index in 0..count {
        let header = section(index)?;
        if u32_at(header, 4)? != DYNSYM {
            continue;
        }
        let strings = section(usize::try_from(u32_at(header, 0x28)?).ok()?)?;
        let (strings, symbols) = (body(elf, strings)?, body(elf, header)?);
        for symbol in symbols.chunks_exact(24) {
            let start = usize::try_from(u32_at(symbol, 0)?).ok()?;
            let rest = strings.get(start..).and_then(|text| text.strip_prefix(name));
            if rest.is_some_and(|rest| rest.first() == Some(&0) || rest.starts_with(b".kd\0")) {
                return Some(true);
            }
        }
        return Some(false);
    }
    None
}

/// A kernel's resources and arguments, by the image's own metadata.
pub fn kernel(elf: &[u8], name: &[u8]) -> Option<(&'static Entry, &'static [Arg])> {
    crate::metadata::kernel(elf, name)
}

/// The metadata of a code object: the note of type 32 that is named AMDGPU.
pub fn metadata(elf: &[u8]) -> Option<&[u8]> {
    const SEGMENT: u32 = 4;
    const SECTION: u32 = 7;
    let table = usize::try_from(u64_at(elf, 0x20)?).ok()?;
    let (size, count) = (usize::from(u16_at(elf, 0x36)?), usize::from(u16_at(elf, 0x38)?));
    for index in 0..count {
        let header = elf.get(table.checked_add(index.checked_mul(size)?)?..)?.get(..56)?;
        if u32_at(header, 0)? == SEGMENT {
            let from = usize::try_from(u64_at(header, 8)?).ok()?;
            let notes = elf.get(from..from.checked_add(usize::try_from(u64_at(header, 0x20)?).ok()?)?)?;
            if let Some(found) = note(notes) {
                return Some(found);
            }
        }
    }
    let table = usize::try_from(u64_at(elf, 0x28)?).ok()?;
    let (size, count) = (usize::from(u16_at(elf, 0x3a)?), usize::from(u16_at(elf, 0x3c)?));
    let section = |index: usize| elf.get(table.checked_add(index.checked_mul(size)?)?..)?.get(..64);
    let notes = (0..count).filter_map(section).filter(|header| u32_at(header, 4) == Some(SECTION));
    notes.filter_map(|header| body(elf, header)).find_map(note)
}

fn note(mut notes: &[u8]) -> Option<&[u8]> {
    const METADATA: u32 = 32;
    while let (Some(name), Some(len), Some(kind)) = (u32_at(notes, 0), u32_at(notes, 4), u32_at(notes, 8)) {
        let start = 12_usize.checked_add((name as usize).checked_next_multiple_of(4)?)?;
        let end = start.checked_add(len as usize)?;
        let body = notes.get(start..end)?;
        if kind == METADATA && notes.get(12..18) == Some(b"AMDGPU") {
            return Some(body);
        }
        notes = notes.get(end.checked_next_multiple_of(4)?..).unwrap_or(&[]);
    }
    None
}

/// A variable of a code object: its size, and its initial content if the file has it.
pub fn variable<'a>(elf: &'a [u8], name: &[u8]) -> Option<(usize, &'a [u8])> {
    const DYNSYM: u32 = 11;
    const NOBITS: u32 = 8;
    let table = usize::try_from(u64_at(elf, 0x28)?).ok()?;
    let (size, count) = (usize::from(u16_at(elf, 0x3a)?), usize::from(u16_at(elf, 0x3c)?));
    let section = |index: usize| elf.get(table.checked_add(index.checked_mul(size)?)?..)?.get(..64);
    let header = (0..count).filter_map(section).find(|header| u32_at(header, 4) == Some(DYNSYM))?;
    let strings = body(elf, section(usize::try_from(u32_at(header, 0x28)?).ok()?)?)?;
    for symbol in body(elf, header)?.chunks_exact(24) {
        let start = usize::try_from(u32_at(symbol, 0)?).ok()?;
        let rest = strings.get(start..).and_then(|text| text.strip_prefix(name));
        let is_object = symbol.get(4)? & 15 == 1;
        let place = usize::from(u16_at(symbol, 6)?);
        if !is_object || place == 0 || rest.is_none_or(|rest| rest.first() != Some(&0)) {
            continue;
        }
        let len = usize::try_from(u64_at(symbol, 16)?).ok()?;
        let home = section(place)?;
        let offset = u64_at(symbol, 8)?.checked_sub(u64_at(home, 0x10)?)?;
        let content = if u32_at(home, 4)? == NOBITS { None } else { body(elf, home) };
        let start = usize::try_from(offset).ok()?;
        let content = content.and_then(|bytes| bytes.get(start..start.checked_add(len)?));
        return Some((len, content.unwrap_or(&[])));
    }
    None
}

fn body<'a>(elf: &'a [u8], header: &[u8]) -> Option<&'a [u8]> {
    let from = usize::try_from(u64_at(header, 0x18)?).ok()?;
    elf.get(from..from.checked_add(usize::try_from(u64_at(header, 0x20)?).ok()?)?)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
