//! The identity of a module. Names do not identify modules: several share one, and a program may change a module before
//! it passes it to the driver. ggml adds float controls at run time (capabilities, execution modes, their extension),
//! so the identity ignores them.

use crate::words::{HEADER, Instructions};
use sha2::{Digest, Sha256};
use spirv::{Capability, ExecutionMode, Op};

/// SHA-256, in hex, of the module's instructions without those that only set float controls.
pub fn identity(module: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(module.get(..HEADER * 4).unwrap_or(module));
    for instruction in Instructions::of(module) {
        let float_control = match Op::from_u32(u32::from(instruction.operation)) {
            Some(Op::Capability) => instruction.operand(0).is_some_and(is_capability),
            Some(Op::ExecutionMode) => instruction.operand(1).is_some_and(is_mode),
            Some(Op::Extension) => instruction.text(0).is_some_and(|(text, _)| text == "SPV_KHR_float_controls"),
            _ => false,
        };
        if !float_control {
            hash.update(instruction.bytes);
        }
    }
    hex::encode(hash.finalize())
}

fn is_capability(code: u32) -> bool {
    (Capability::DenormPreserve as u32..=Capability::RoundingModeRTZ as u32).contains(&code)
}

fn is_mode(code: u32) -> bool {
    (ExecutionMode::DenormPreserve as u32..=ExecutionMode::RoundingModeRTZ as u32).contains(&code)
}
