//! The vector instructions that compilers use to copy pointers: moves of whole registers, 8-byte moves into either
//! half, interleaving two pointers, and clearing.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::machine::{Machine, State};

/// The number of 8-byte words kept per vector register (the size of a ymm register).
pub(super) const LANES: usize = 4;
type Lanes = [Option<u64>; LANES];

fn number(register: Register) -> Option<usize> {
    register.is_vector_register().then(|| register.number())
}

impl Machine<'_, '_> {
    fn lanes(&self, state: &State, instruction: &Instruction, operand: u32) -> Lanes {
        let mut lanes = [None; LANES];
        match instruction.op_kind(operand) {
            OpKind::Register => {
                let register = instruction.op_register(operand);
                if let Some(found) = number(register).and_then(|n| state.vectors.get(n)) {
                    lanes = *found;
                } else {
                    lanes[0] = self.register(state, register);
                }
            }
            OpKind::Memory => {
                let bytes = instruction.memory_size().size();
                if let Some(address) = self.address(state, instruction) {
                    for (i, lane) in lanes.iter_mut().enumerate() {
                        let left = bytes.saturating_sub(i * 8).min(8);
                        let at = address.wrapping_add(i as u64 * 8);
                        *lane = if left == 0 { Some(0) } else { self.load(state, at, left) };
                    }
                }
            }
            _ => {}
        }
        lanes
    }

    fn set_lanes(&self, state: &mut State, instruction: &Instruction, lanes: Lanes) {
        match instruction.op0_kind() {
            OpKind::Register => {
                let register = instruction.op0_register();
                match number(register).and_then(|n| state.vectors.get_mut(n)) {
                    Some(slot) => *slot = lanes,
                    None => self.set_register(state, register, lanes[0]),
                }
            }
            OpKind::Memory => {
                let bytes = instruction.memory_size().size();
                if let Some(address) = self.address(state, instruction) {
                    for (i, lane) in lanes.iter().enumerate() {
                        let left = bytes.saturating_sub(i * 8).min(8);
                        if left > 0 {
                            state.memory.write(self.image, address.wrapping_add(i as u64 * 8), left, *lane);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Executes a vector instruction. Returns false if the instruction is not supported.
    pub(super) fn vector(&self, state: &mut State, instruction: &Instruction) -> bool {
        use Mnemonic::*;
        let lanes = match instruction.mnemonic() {
            Movups | Movaps | Movupd | Movapd | Movdqa | Movdqu | Vmovups | Vmovaps | Vmovupd | Vmovapd | Vmovdqa
            | Vmovdqu | Movq | Vmovq | Movd | Vmovd | Movsd | Vmovsd | Movlps | Movlpd
                if instruction.op_count() == 2 =>
            {
                let source = self.lanes(state, instruction, 1);
                let wide = self.width(instruction, 0).max(self.width(instruction, 1));
                match instruction.mnemonic() {
                    // 8-byte forms: loading a register clears its upper half, except for a low move, which keeps it.
                    Movq | Vmovq | Movd | Vmovd => [source[0], Some(0), Some(0), Some(0)],
                    Movlps | Movlpd | Movsd | Vmovsd if instruction.op0_kind() == OpKind::Register => {
                        let old = self.lanes(state, instruction, 0);
                        [source[0], old[1], old[2], old[3]]
                    }
                    _ if wide <= 16 => [source[0], source[1], Some(0), Some(0)],
                    _ => source,
                }
            }
            Xorps | Xorpd | Pxor | Vxorps | Vxorpd | Vpxor => {
                let last = instruction.op_count().saturating_sub(1);
                let same = instruction.op_register(last) == instruction.op_register(last.saturating_sub(1));
                if same && instruction.op_kind(last) == OpKind::Register { [Some(0); LANES] } else { [None; LANES] }
            }
            Punpcklqdq | Movlhps | Movhps | Movhpd | Unpcklpd if instruction.op0_kind() == OpKind::Register => {
                let (low, high) = (self.lanes(state, instruction, 0), self.lanes(state, instruction, 1));
                [low[0], high[0], None, None]
            }
            Movhps | Movhpd => {
                let source = self.lanes(state, instruction, 1);
                [source[1], None, None, None]
            }
            Vpunpcklqdq | Vmovhps | Vmovhpd | Vunpcklpd | Vmovlhps if instruction.op_count() == 3 => {
                let (low, high) = (self.lanes(state, instruction, 1), self.lanes(state, instruction, 2));
                [low[0], high[0], Some(0), Some(0)]
            }
            Vpinsrq | Pinsrq => {
                let last = instruction.op_count().saturating_sub(1);
                let into = if instruction.op_count() == 4 { 1 } else { 0 };
                let mut lanes = self.lanes(state, instruction, into);
                let place = (instruction.immediate8() & 1) as usize;
                lanes[place] = self.value(state, instruction, last.saturating_sub(1));
                lanes
            }
            Vinserti128 | Vinsertf128 if instruction.immediate8() & 1 == 1 => {
                let (low, high) = (self.lanes(state, instruction, 1), self.lanes(state, instruction, 2));
                [low[0], low[1], high[0], high[1]]
            }
            _ => return false,
        };
        self.set_lanes(state, instruction, lanes);
        true
    }
}
