//! Finds modules in a file. A binary does not state where SPIR-V begins or how long it is. The header is recognised by
//! its magic and valid fields, the end by the logical layout, in which function definitions come last.

use crate::words::{HEADER, Instructions, MAGIC, word};
use spirv::Op;

/// The position of a module. A header without a complete module is reported too: it is present but was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    pub offset: usize,
    /// None for a header without a complete module after it.
    pub length: Option<usize>,
}

/// Every module in the bytes, in order. A header inside the words of another module does not count: the search
/// continues after each module found.
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

/// How many bytes of a header are checked.
pub const HEADER_BYTES: usize = HEADER * 4;

/// Versions 1.0 to 1.6, a valid id bound, and a reserved word of zero.
pub fn is_header(module: &[u8]) -> bool {
    let (Some(version), Some(bound), Some(schema)) = (word(module, 4), word(module, 12), word(module, 16)) else {
        return false;
    };
    let known = version & 0xff00_00ff == 0 && (version >> 16) == 1 && (version >> 8) & 0xff <= 6;
    // Section 2.17, universal limits: 4,194,303 ids at most.
    known && (1..=4_194_304).contains(&bound) && schema == 0
}

/// The end of the last function. Only line information, debug values and similar may come between and after functions;
/// other data after the last `OpFunctionEnd` is not part of the module. None if there is no complete module.
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
            // An operation that is not in the specification is an extension.
            _ if inside || ended.is_none() => {}
            _ => break,
        }
    }
    ended.filter(|end| *end > HEADER * 4 && !inside)
}
