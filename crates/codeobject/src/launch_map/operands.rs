//! Reads and writes instruction operands: general registers, memory, immediates.

use iced_x86::{Instruction, OpKind, Register};

use super::{
    flags::truncate,
    machine::{Machine, State},
};

/// The base of the thread block. Unwritten bytes there read as zero, so that a stack-protector check succeeds.
pub(super) const THREAD: u64 = 0x7300_0000_0000_0000;

/// The number (0 to 15) of a general register of any width.
pub(super) fn general(register: Register) -> Option<usize> {
    let full = register.full_register();
    full.is_gpr64().then(|| full.number())
}

impl Machine<'_, '_> {
    pub(super) fn register(&self, state: &State, register: Register) -> Option<u64> {
        let value = (*state.registers.get(general(register)?)?)?;
        Some(match register {
            Register::AH | Register::BH | Register::CH | Register::DH => value >> 8 & 0xff,
            _ => truncate(value, register.size()),
        })
    }

    /// Writes like the processor: 32-bit writes clear the upper half, narrower ones keep the rest.
    pub(super) fn set_register(&self, state: &mut State, register: Register, value: Option<u64>) {
        let Some(slot) = general(register).and_then(|n| state.registers.get_mut(n)) else { return };
        let merge =
            |old: Option<u64>, mask: u64, shift: u32| -> Option<u64> { Some(old? & !mask | value? << shift & mask) };
        *slot = match register {
            Register::AH | Register::BH | Register::CH | Register::DH => merge(*slot, 0xff00, 8),
            _ => match register.size() {
                8 => value,
                4 => value.map(|v| truncate(v, 4)),
                2 => merge(*slot, 0xffff, 0),
                _ => merge(*slot, 0xff, 0),
            },
        };
    }

    /// The effective address of the memory operand.
    pub(super) fn address(&self, state: &State, instruction: &Instruction) -> Option<u64> {
        if instruction.is_ip_rel_memory_operand() {
            return Some(instruction.ip_rel_memory_address());
        }
        let mut address = instruction.memory_displacement64();
        match instruction.segment_prefix() {
            Register::FS | Register::GS => address = address.wrapping_add(THREAD),
            _ => {}
        }
        if instruction.memory_base() != Register::None {
            address = address.wrapping_add(self.register(state, instruction.memory_base())?);
        }
        if instruction.memory_index() != Register::None {
            let index = self.register(state, instruction.memory_index())?;
            address = address.wrapping_add(index.wrapping_mul(u64::from(instruction.memory_index_scale())));
        }
        Some(address)
    }

    pub(super) fn load(&self, state: &State, address: u64, bytes: usize) -> Option<u64> {
        let found = state.memory.read(self.image, address, bytes);
        let thread = address.wrapping_sub(THREAD).cast_signed().unsigned_abs() < 1 << 20;
        if thread { Some(found.unwrap_or(0)) } else { found }
    }

    /// Size in bytes of an operand.
    pub(super) fn width(&self, instruction: &Instruction, operand: u32) -> usize {
        match instruction.op_kind(operand) {
            OpKind::Register => instruction.op_register(operand).size(),
            OpKind::Memory => instruction.memory_size().size(),
            _ if operand > 0 => self.width(instruction, 0),
            _ => 8,
        }
    }

    /// The value of an operand of at most 8 bytes.
    pub(super) fn value(&self, state: &State, instruction: &Instruction, operand: u32) -> Option<u64> {
        match instruction.op_kind(operand) {
            OpKind::Register => self.register(state, instruction.op_register(operand)),
            OpKind::Memory => {
                let bytes = instruction.memory_size().size();
                if bytes > 8 {
                    return None;
                }
                self.load(state, self.address(state, instruction)?, bytes)
            }
            OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64 => {
                Some(instruction.near_branch_target())
            }
            OpKind::Immediate8
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64 => Some(instruction.immediate(operand)),
            _ => None,
        }
    }

    pub(super) fn store(&self, state: &mut State, instruction: &Instruction, operand: u32, value: Option<u64>) {
        match instruction.op_kind(operand) {
            OpKind::Register => self.set_register(state, instruction.op_register(operand), value),
            OpKind::Memory => {
                let bytes = instruction.memory_size().size().min(64);
                if let Some(address) = self.address(state, instruction) {
                    for at in (0..bytes).step_by(8) {
                        let value = if bytes <= 8 { value } else { None };
                        state.memory.write(self.image, address.wrapping_add(at as u64), (bytes - at).min(8), value);
                    }
                }
            }
            _ => {}
        }
    }
}
