//! Finds modules in a file. Nothing in a binary says where SPIR-V begins or how long it is: the header is recognised by its magic
//! and valid fields, the end by the logical layout, in which function definitions come last.

use crate::words::{HEADER, Instructions, MAGIC, word};
use spirv::Op;

/// A module's place. What begins like one and does not end like one is told apart: it is there, and was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    pub offset: usize,
    /// None: a header, and behind it no whole module.
    pub length: Option<usize>,
}

/// Every module in the bytes, in order. A module inside another's words is none: the search goes on behind what was found.
pub fn find(bytes: &[u8]) -> Vec<Found> {
    let magic = MAGIC.to_le_bytes();
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(rest) = bytes.get(from..) {
        let Some(step) = memchr::memmem::find(rest, &magic) else { break };
        let offset = from + step;
        from = offset + magic.len();
        let module = bytes.get(offset..).unwrap_or_default();
        if !is_header(module) {
            continue;
        }
        let length = length(module);
        from = offset + length.unwrap_or(magic.len());
        found.push(Found { offset, length });
    }
    found
}

/// How many bytes of a header are looked at.
pub const HEADER_BYTES: usize = HEADER * 4;

/// Versions 1.0 to 1.6, a bound that ids can be counted to, the reserved word zero.
pub fn is_header(module: &[u8]) -> bool {
    let (Some(version), Some(bound), Some(schema)) = (word(module, 4), word(module, 12), word(module, 16)) else {
        return false;
    };
    let known = version & 0xff00_00ff == 0 && (version >> 16) == 1 && (version >> 8) & 0xff <= 6;
    // Section 2.17, universal limits: 4,194,303 ids at most.
    known && (1..=4_194_304).contains(&bound) && schema == 0
}

/// The end of the last function. Only lines, debugging values and the like may be between functions and after them; other data
/// after the last `OpFunctionEnd` is not part of the module. None: there is no whole module here.
pub fn length(module: &[u8]) -> Option<usize> {
    let mut ended = None;
    let mut inside = false;
    for instruction in Instructions::of(module) {
        let operation = Op::from_u32(u32::from(instruction.operation));
        match operation {
            Some(Op::Function) if instruction.bytes.len() == 5 * 4 && !inside => inside = true,
            Some(Op::FunctionEnd) if inside && instruction.bytes.len() == 4 => {
                inside = false;
                ended = Some(instruction.at + 4);
            }
            Some(Op::Line | Op::NoLine) => {}
            // An operation that the specification does not have yet is an extension.
            _ if inside || ended.is_none() => {}
            _ => break,
        }
    }
    ended.filter(|end| *end > HEADER * 4 && !inside)
}
