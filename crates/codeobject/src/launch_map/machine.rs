//! A bounded x86-64 machine for constructors. It executes the integer instructions that compilers emit there. For any
//! other instruction, it asks the decoder which registers and memory are written and marks them as unknown.

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};

use super::{
    flags::{Flags, sign_extend, truncate},
    image::Image,
    memory::Memory,
    operands::general,
    vector::LANES,
};

pub(super) const STACK: u64 = 0x7200_0000_0000_0000;
/// The return address of a constructor: reaching it ends the path.
pub(super) const RETURN: u64 = 0x7400_0000_0000_0000;

pub(super) const RAX: usize = 0;
pub(super) const RCX: usize = 1;
pub(super) const RDX: usize = 2;
pub(super) const RSP: usize = 4;
pub(super) const RSI: usize = 6;
pub(super) const RDI: usize = 7;
pub(super) const R8: usize = 8;
pub(super) const R9: usize = 9;
/// The registers that a call may change (System V x86-64 ABI, section 3.2.1).
const CALLER_SAVED: [usize; 9] = [RAX, RCX, RDX, RSI, RDI, R8, R9, 10, 11];

/// The state of one path through a constructor.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub registers: [Option<u64>; 16],
    pub vectors: [[Option<u64>; LANES]; 32],
    pub flags: Option<Flags>,
    pub memory: Memory,
    pub ip: u64,
    /// The last call or jump outside the procedure linkage table.
    pub site: u64,
    pub depth: u32,
}

impl State {
    pub fn new(entry: u64, memory: Memory) -> Self {
        let mut state = Self {
            registers: [None; 16],
            vectors: [[None; LANES]; 32],
            flags: None,
            memory,
            ip: entry,
            site: entry,
            depth: 0,
        };
        state.registers[RSP] = Some(STACK);
        state
    }

    pub fn argument(&self, register: usize) -> Option<u64> {
        self.registers.get(register).copied().flatten()
    }

    /// After a call into another library, everything that the ABI does not preserve is unknown.
    pub fn clobber(&mut self, result: Option<u64>) {
        for register in CALLER_SAVED {
            self.registers[register] = None;
        }
        self.vectors = [[None; LANES]; 32];
        self.flags = None;
        self.registers[RAX] = result;
    }
}

/// The effect of one instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InstructionEffect {
    Next,
    /// Control moved to an address that may be code of this image or an import.
    Transfer,
    /// A branch whose condition is unknown.
    Fork {
        taken: u64,
        next: u64,
    },
    /// The path cannot be followed further.
    Stop(&'static str),
}

pub(super) struct Machine<'image, 'data> {
    pub image: &'image Image<'data>,
    info: InstructionInfoFactory,
}

impl<'image, 'data> Machine<'image, 'data> {
    pub fn new(image: &'image Image<'data>) -> Self {
        Self { image, info: InstructionInfoFactory::new() }
    }

    pub fn push(&self, state: &mut State, value: Option<u64>) {
        if let Some(top) = state.registers[RSP] {
            let top = top.wrapping_sub(8);
            state.registers[RSP] = Some(top);
            state.memory.write(self.image, top, 8, value);
        }
    }

    pub fn pop(&self, state: &mut State) -> Option<u64> {
        let top = state.registers[RSP]?;
        let value = self.load(state, top, 8);
        state.registers[RSP] = Some(top.wrapping_add(8));
        value
    }

    fn decode(&self, ip: u64) -> Option<Instruction> {
        if !self.image.is_code(ip) {
            return None;
        }
        let bytes = self.image.bytes_at(ip)?;
        let bytes = bytes.get(..bytes.len().min(15))?;
        let instruction = Decoder::with_ip(64, bytes, ip, DecoderOptions::NONE).decode();
        (!instruction.is_invalid()).then_some(instruction)
    }

    /// Whether the instruction is a jump to a computed address, rather than to one that the loader has filled in.
    pub fn jumps_indirectly(&self, ip: u64) -> bool {
        let Some(jump) = self.decode(ip).filter(|one| one.flow_control() == FlowControl::IndirectBranch) else {
            return false;
        };
        let slot = jump.op0_kind() == OpKind::Memory && jump.memory_base() == Register::RIP;
        let filled = || self.image.read_u64(jump.memory_displacement64()).is_some_and(|to| self.image.is_code(to));
        !(slot && filled())
    }

    /// Executes the instruction at the state's address.
    pub fn step(&mut self, state: &mut State) -> InstructionEffect {
        let Some(instruction) = self.decode(state.ip) else { return InstructionEffect::Stop("no instruction there") };
        let (here, next) = (state.ip, instruction.next_ip());
        state.ip = next;
        match instruction.flow_control() {
            FlowControl::Next => {
                self.execute(state, &instruction);
                InstructionEffect::Next
            }
            FlowControl::Call | FlowControl::IndirectCall => {
                let target = self.value(state, &instruction, 0);
                state.site = here;
                match target {
                    Some(target) => {
                        self.push(state, Some(next));
                        state.ip = target;
                        state.depth = state.depth.saturating_add(1);
                        InstructionEffect::Transfer
                    }
                    // A virtual call: assume that it returns.
                    None => {
                        state.clobber(None);
                        InstructionEffect::Next
                    }
                }
            }
            FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => {
                let Some(target) = self.value(state, &instruction, 0) else {
                    return InstructionEffect::Stop("jump to an address that is not known");
                };
                if !self.image.section_of(here).is_some_and(|name| name.starts_with(".plt")) {
                    state.site = here;
                }
                state.ip = target;
                InstructionEffect::Transfer
            }
            FlowControl::ConditionalBranch => {
                let taken = instruction.near_branch_target();
                let condition = instruction.condition_code();
                match state.flags.and_then(|flags| flags.holds(condition)) {
                    Some(true) => state.ip = taken,
                    Some(false) => {}
                    None => return InstructionEffect::Fork { taken, next },
                }
                InstructionEffect::Next
            }
            FlowControl::Return => match self.pop(state) {
                Some(address) => {
                    state.ip = address;
                    state.depth = state.depth.saturating_sub(1);
                    InstructionEffect::Next
                }
                None => InstructionEffect::Stop("return to an address that is not known"),
            },
            _ => InstructionEffect::Stop("trap"),
        }
    }

    fn execute(&mut self, state: &mut State, instruction: &Instruction) {
        use Mnemonic::*;
        let width = self.width(instruction, 0);
        let left = |m: &Self, s: &State| m.value(s, instruction, 0);
        let right = |m: &Self, s: &State| m.value(s, instruction, 1);
        match instruction.mnemonic() {
            Mov | Movzx => {
                let value = right(self, state);
                self.store(state, instruction, 0, value);
            }
            Movsx | Movsxd => {
                let from = self.width(instruction, 1);
                let value = right(self, state).map(|v| truncate(sign_extend(v, from), width));
                self.store(state, instruction, 0, value);
            }
            Lea => {
                let value = self.address(state, instruction).map(|v| truncate(v, width));
                self.store(state, instruction, 0, value);
            }
            Push => {
                let value = left(self, state);
                self.push(state, value);
            }
            Pop => {
                let value = self.pop(state);
                self.store(state, instruction, 0, value);
            }
            Leave => {
                state.registers[RSP] = state.registers[5];
                let value = self.pop(state);
                state.registers[5] = value;
            }
            Xor | Sub
                if instruction.op1_kind() == OpKind::Register
                    && instruction.op0_kind() == OpKind::Register
                    && instruction.op0_register() == instruction.op1_register() =>
            {
                self.store(state, instruction, 0, Some(0));
                state.flags = Some(Flags::of_logic(0, width));
            }
            Add | Sub | Cmp => {
                let both = left(self, state).zip(right(self, state)).map(|(l, r)| match instruction.mnemonic() {
                    Add => Flags::of_add(l, r, width),
                    _ => Flags::of_sub(l, r, width),
                });
                state.flags = both.map(|(_, flags)| flags);
                if instruction.mnemonic() != Cmp {
                    self.store(state, instruction, 0, both.map(|(value, _)| value));
                }
            }
            Inc | Dec => {
                let carry = state.flags.map(|flags| flags.carry);
                let both = left(self, state).map(|l| match instruction.mnemonic() {
                    Inc => Flags::of_add(l, 1, width),
                    _ => Flags::of_sub(l, 1, width),
                });
                state.flags = both.zip(carry).map(|((_, flags), carry)| Flags { carry, ..flags });
                self.store(state, instruction, 0, both.map(|(value, _)| value));
            }
            And | Or | Xor | Test => {
                let value = left(self, state).zip(right(self, state)).map(|(l, r)| match instruction.mnemonic() {
                    Or => l | r,
                    Xor => l ^ r,
                    _ => l & r,
                });
                state.flags = value.map(|v| Flags::of_logic(v, width));
                if instruction.mnemonic() != Test {
                    self.store(state, instruction, 0, value.map(|v| truncate(v, width)));
                }
            }
            Shl | Shr | Sar if instruction.op1_kind() == OpKind::Immediate8 => {
                let by = u32::from(instruction.immediate8()) & if width == 8 { 63 } else { 31 };
                let value = left(self, state).map(|l| match instruction.mnemonic() {
                    Shl => l << by,
                    Shr => truncate(l, width) >> by,
                    _ => (sign_extend(l, width).cast_signed() >> by).cast_unsigned(),
                });
                state.flags = None;
                self.store(state, instruction, 0, value.map(|v| truncate(v, width)));
            }
            Cdqe => state.registers[RAX] = state.registers[RAX].map(|v| sign_extend(v, 4)),
            Xchg => {
                let (l, r) = (left(self, state), right(self, state));
                self.store(state, instruction, 0, r);
                self.store(state, instruction, 1, l);
            }
            Nop | Endbr64 | Prefetcht0 | Mfence | Lfence | Sfence | Pause => {}
            _ if is_conditional_move(instruction) => {
                let holds = state.flags.and_then(|flags| flags.holds(instruction.condition_code()));
                let value = match holds {
                    Some(true) => right(self, state),
                    Some(false) => left(self, state),
                    None => None,
                };
                self.store(state, instruction, 0, value);
            }
            _ if is_set(instruction) => {
                let holds = state.flags.and_then(|flags| flags.holds(instruction.condition_code()));
                self.store(state, instruction, 0, holds.map(u64::from));
            }
            _ if self.vector(state, instruction) => {}
            _ => self.forget(state, instruction),
        }
    }

    /// Handles an unsupported instruction: every register and memory location it writes becomes unknown.
    fn forget(&mut self, state: &mut State, instruction: &Instruction) {
        let info = self.info.info(instruction);
        let writes = |access| {
            matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
        };
        for used in info.used_registers() {
            if writes(used.access()) {
                let register = used.register();
                if let Some(slot) = general(register).and_then(|n| state.registers.get_mut(n)) {
                    *slot = None;
                } else if register.is_vector_register()
                    && let Some(slot) = state.vectors.get_mut(register.number())
                {
                    *slot = [None; LANES];
                }
            }
        }
        let stores = info.used_memory().iter().any(|used| writes(used.access()));
        if stores && (0..instruction.op_count()).any(|i| instruction.op_kind(i) == OpKind::Memory) {
            let operand = (0..instruction.op_count()).find(|i| instruction.op_kind(*i) == OpKind::Memory);
            self.store(state, instruction, operand.unwrap_or(0), None);
        }
        if instruction.rflags_modified() != 0 {
            state.flags = None;
        }
        // If `rsp` became unknown (the `and` that aligns it is handled above), continue on a fresh stack. The path
        // cannot return from it.
        if state.registers[RSP].is_none() && instruction.op0_register() == Register::RSP {
            state.registers[RSP] = Some(STACK - 0x10_0000);
        }
    }
}

fn is_conditional_move(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    matches!(
        instruction.mnemonic(),
        Cmova
            | Cmovae
            | Cmovb
            | Cmovbe
            | Cmove
            | Cmovg
            | Cmovge
            | Cmovl
            | Cmovle
            | Cmovne
            | Cmovno
            | Cmovns
            | Cmovo
            | Cmovs
    )
}

fn is_set(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    matches!(
        instruction.mnemonic(),
        Seta | Setae | Setb | Setbe | Sete | Setg | Setge | Setl | Setle | Setne | Setno | Setns | Seto | Sets
    )
}
