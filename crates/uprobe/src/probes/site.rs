//! Finds the cheapest site for a probe in a function: the instruction under it determines the overhead.
//!
//! The kernel emulates a few instructions (arch/x86/kernel/uprobes.c: `push`, one-byte `nop`, relative `call`, `jmp`
//! and conditional jumps) and single-steps the rest, which costs five times as much; a five-byte `nop` becomes a call.
//! From the entry on, every instruction boundary is a legal site as long as the arguments are unchanged: no argument
//! register written, no branch passed, and no jump into the range.

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind, Register,
};

/// How the kernel executes the instruction under the probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Price {
    /// A five-byte nop is replaced by a call (Linux 6.18 and later); older kernels single-step it.
    Optimised,
    Emulated,
    Stepped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// Offset from the function's first byte.
    pub offset: u64,
    /// Bytes by which the stack pointer is below its value at the entry.
    pub pushed: i16,
    pub price: Price,
}

impl Site {
    /// The first instruction: the usual site, and the only one where a return can be hooked.
    pub const ENTRY: Site = Site { offset: 0, pushed: 0, price: Price::Stepped };
}

/// The search limit: prologues are short, and a longer range is harder to prove safe.
const STRETCH: u64 = 96;
/// Registers that contain arguments.
const ARGUMENTS: [Register; 6] =
    [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];

/// The cheapest site of the function with these bytes. `optimises`: whether this kernel replaces a five-byte nop.
pub fn cheapest(code: &[u8], optimises: bool) -> Site {
    let mut best = Site { price: price_of(code, optimises), ..Site::ENTRY };
    let mut info = InstructionInfoFactory::new();
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let (mut instruction, mut pushed) = (Instruction::default(), 0_i16);
    while decoder.can_decode() && decoder.position() as u64 <= STRETCH && best.price != Price::Optimised {
        decoder.decode_out(&mut instruction);
        if instruction.is_invalid() {
            break;
        }
        let here = Site { offset: instruction.ip(), pushed, price: price(&instruction, optimises) };
        if here.price < best.price && !jumped_into(code, here.offset) {
            best = here;
        }
        if instruction.flow_control() != FlowControl::Next {
            break;
        }
        let moved = stack_step(&instruction);
        let used = info.info(&instruction);
        let clobbers = used.used_registers().iter().any(|register| {
            register.access() != iced_x86::OpAccess::Read && ARGUMENTS.contains(&register.register().full_register())
        });
        // A store through the stack pointer may reach the caller's arguments; other changes of the stack pointer are
        // not followed.
        let writes_stack_pointer = used.used_registers().iter().any(|register| {
            register.access() != iced_x86::OpAccess::Read && register.register().full_register() == Register::RSP
        });
        let stores = used.used_memory().iter().any(|memory| {
            memory.access() != iced_x86::OpAccess::Read
                && instruction.mnemonic() != Mnemonic::Push
                && !inside_frame(memory.base(), memory.displacement(), pushed)
        });
        if clobbers || stores || (writes_stack_pointer && moved.is_none()) {
            break;
        }
        pushed += moved.unwrap_or(0);
    }
    best
}

/// A store below the caller's arguments cannot change them.
fn inside_frame(base: Register, displacement: u64, pushed: i16) -> bool {
    base == Register::RSP && i64::try_from(displacement).is_ok_and(|at| (0..i64::from(pushed)).contains(&at))
}

/// How far an instruction lowers the stack pointer, if that is obvious.
fn stack_step(instruction: &Instruction) -> Option<i16> {
    match instruction.mnemonic() {
        Mnemonic::Push => Some(8),
        Mnemonic::Sub if instruction.op0_register() == Register::RSP && is_immediate(instruction.op1_kind()) => {
            i16::try_from(instruction.immediate(1)).ok().filter(|by| *by >= 0)
        }
        _ => None,
    }
}

fn is_immediate(kind: OpKind) -> bool {
    matches!(kind, OpKind::Immediate8to64 | OpKind::Immediate32to64)
}

fn price_of(code: &[u8], optimises: bool) -> Price {
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    if decoder.can_decode() { price(&decoder.decode(), optimises) } else { Price::Stepped }
}

fn price(instruction: &Instruction, optimises: bool) -> Price {
    let plain_push = matches!(instruction.code(), Code::Push_r64);
    let nop5 = instruction.code() == Code::Nop_rm32 && instruction.len() == 5;
    let short_nop = instruction.code() == Code::Nopd && instruction.len() == 1;
    // An indirect call or jump is stepped, as is anything with a prefix that the kernel's decoder does not expect.
    let relative = matches!(
        instruction.flow_control(),
        FlowControl::Call | FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
    ) && instruction.is_jcc_short_or_near()
        || matches!(instruction.code(), Code::Call_rel32_64 | Code::Jmp_rel32_64 | Code::Jmp_rel8_64);
    match () {
        () if nop5 && optimises => Price::Optimised,
        () if plain_push || short_nop || relative => Price::Emulated,
        () => Price::Stepped,
    }
}

/// Whether a branch of the function leads into its first bytes, up to the site: a loop there would be counted twice.
fn jumped_into(code: &[u8], site: u64) -> bool {
    let decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    decoder
        .into_iter()
        .filter(|i| matches!(i.flow_control(), FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch))
        .any(|i| i.near_branch_target() > 0 && i.near_branch_target() <= site)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_push_behind_endbr64_is_taken() {
        // endbr64; push rbp; push rbx; sub rsp, 0x38; mov rbx, [rsp+0x50]
        let code = [0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x53, 0x48, 0x83, 0xec, 0x38, 0x48, 0x8b, 0x5c, 0x24, 0x50];
        assert_eq!(cheapest(&code, true), Site { offset: 4, pushed: 0, price: Price::Emulated });
    }

    #[test]
    fn a_call_behind_spills_is_reached_with_the_frame_counted() {
        // endbr64; sub rsp, 0x18; mov [rsp+8], rdi; mov [rsp], rsi; call +0
        let code = [
            0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x7c, 0x24, 0x08, 0x48, 0x89, 0x34, 0x24, 0xe8,
            0, 0, 0, 0,
        ];
        assert_eq!(cheapest(&code, true), Site { offset: 17, pushed: 0x18, price: Price::Emulated });
    }

    #[test]
    fn arguments_that_are_overwritten_end_the_search() {
        // sub rsp, 8; mov rdi, rsi; push rbx
        assert_eq!(cheapest(&[0x48, 0x83, 0xec, 8, 0x48, 0x89, 0xf7, 0x53], true), Site::ENTRY);
        // sub rsp, 8; mov [rsp+0x20], rax (the caller's stack); push rbx
        assert_eq!(cheapest(&[0x48, 0x83, 0xec, 8, 0x48, 0x89, 0x44, 0x24, 0x20, 0x53], true), Site::ENTRY);
    }

    #[test]
    fn a_place_that_a_loop_returns_to_is_not_taken() {
        // sub rsp, 8; push rbx; jmp back to the push
        assert_eq!(cheapest(&[0x48, 0x83, 0xec, 8, 0x53, 0xeb, 0xfd], true).offset, 0);
    }

    #[test]
    fn a_five_byte_nop_is_best_where_the_kernel_uses_it() {
        let code = [0x0f, 0x1f, 0x44, 0, 0, 0x55];
        assert_eq!(cheapest(&code, true).price, Price::Optimised);
        assert_eq!(cheapest(&code, false), Site { offset: 5, pushed: 0, price: Price::Emulated });
    }
}
