//! Images that a program registers or loads: cubins, fatbins and PTX.

use crate::cubin;
use crate::nullgpu_input::{Arg, Entry};

const FATBIN: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
/// The longest PTX text that is searched for its end.
const LONGEST_PTX: usize = 64 << 20;

/// The size of an image in bytes, which the loading call does not pass.
///
/// SAFETY: `at` points to an image that the real library would accept.
pub unsafe fn image_size(at: *const u8) -> Option<usize> {
    let byte = |offset: usize| {
        // SAFETY: every image is longer than the fields that are read here, in order.
        unsafe { at.add(offset).read() }
    };
    let start = [byte(0), byte(1), byte(2), byte(3)];
    let word = |offset: usize| (0..8).fold(0_u64, |value, i| value | u64::from(byte(offset + i)) << (8 * i));
    let half = |offset: usize| u64::from(byte(offset)) | u64::from(byte(offset + 1)) << 8;
    if start == *b"\x7fELF" {
        // Section headers are last; program headers may follow them.
        let sections = word(0x28).checked_add(half(0x3a) * half(0x3c))?;
        let programs = word(0x20).checked_add(half(0x36) * half(0x38))?;
        return usize::try_from(sections.max(programs)).ok();
    }
    if start == FATBIN {
        return usize::try_from(word(8).checked_add(half(6))?).ok();
    }
    // PTX is a text that ends with NUL.
    (0..LONGEST_PTX).find(|offset| byte(*offset) == 0)
}

pub enum Code<'a> {
    Elf(&'a [u8]),
    /// The image has no code for the device.
    Absent,
    /// A fatbin or PTX: its content cannot be determined here.
    Opaque,
}

/// The machine code for `target` (`sm_90`) in an image.
pub fn code<'a>(image: &'a [u8], target: &[u8], _generic: &[u8]) -> Code<'a> {
    if !cubin::is_cubin(image) {
        return Code::Opaque;
    }
    let digits = target.strip_prefix(b"sm_").unwrap_or(target);
    let device = digits.iter().filter(|b| b.is_ascii_digit()).fold(0_u32, |n, b| n * 10 + u32::from(b - b'0'));
    // Compiled for the same major version, and for no higher minor version.
    match cubin::capability(image) {
        Some(made_for) if made_for / 10 == device / 10 && made_for <= device => Code::Elf(image),
        _ => Code::Absent,
    }
}

pub fn defines(elf: &[u8], name: &[u8]) -> Option<bool> {
    Some(cubin::defines(elf, name))
}

/// Resources come from the parent's table, or from the cubin itself.
pub fn kernel(_image: &[u8], _name: &[u8]) -> Option<(&'static Entry, &'static [Arg])> {
    None
}

pub fn variable<'a>(_image: &'a [u8], _name: &[u8]) -> Option<(usize, &'a [u8])> {
    None
}
