//! A small assembler for eBPF: just the instructions that the programs here use, with labels.
//!
//! Encodings follow the kernel's Documentation/bpf/standardization/instruction-set.rst: an instruction is eight bytes,
//! `opcode:8 dst:4 src:4 offset:16 imm:32`. No compiler is involved: the instructions written here are loaded
//! unchanged.

/// A register; R10 is the frame pointer and read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reg {
    R0,
    R1,
    R2,
    R3,
    R4,
    R6 = 6,
    R7,
    R8,
    R9,
    R10,
}

/// Bytes of a load or store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    Half,
    Word,
    Long,
}

impl Size {
    fn bits(self) -> u8 {
        match self {
            Size::Word => 0x00,
            Size::Half => 0x08,
            Size::Long => 0x18,
        }
    }
}

/// Conditions of a jump; all compare 64 bits unsigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum If {
    Equal,
    Greater,
    NotEqual,
    LessEqual,
}

impl If {
    fn code(self) -> u8 {
        match self {
            If::Equal => 0x10,
            If::Greater => 0x20,
            If::NotEqual => 0x50,
            If::LessEqual => 0xb0,
        }
    }
}

/// Helper functions by number (include/uapi/linux/bpf.h, `__BPF_FUNC_MAPPER`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Helper {
    MapLookup = 1,
    MapUpdate = 2,
    MapDelete = 3,
    KtimeGetNs = 5,
    GetCurrentPidTgid = 14,
    SendSignal = 109,
    ProbeReadUser = 112,
    ProbeReadKernel = 113,
    ProbeReadUserStr = 114,
    RingbufReserve = 131,
    RingbufSubmit = 132,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(usize);

#[derive(Debug, Default)]
pub struct Asm {
    code: Vec<u64>,
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
}

/// A label that was used but never placed, or a jump of more than 32,767 instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadJump {
    pub at: usize,
}

say::worded! { struct BadJump { at } => "uprobe-bad-jump" }

fn word(opcode: u8, dst: Reg, src: u8, offset: i16, imm: i32) -> u64 {
    u64::from(opcode)
        | (dst as u64) << 8
        | u64::from(src) << 12
        | u64::from(offset.cast_unsigned()) << 16
        | u64::from(imm.cast_unsigned()) << 32
}

impl Asm {
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    pub fn place(&mut self, label: Label) {
        let here = self.code.len();
        if let Some(slot) = self.labels.get_mut(label.0) {
            *slot = Some(here);
        }
    }

    fn emit(&mut self, opcode: u8, dst: Reg, src: u8, offset: i16, imm: i32) {
        self.code.push(word(opcode, dst, src, offset, imm));
    }

    pub fn mov(&mut self, dst: Reg, src: Reg) {
        self.emit(0xbf, dst, src as u8, 0, 0);
    }

    /// Sign-extended to 64 bits.
    pub fn mov_imm(&mut self, dst: Reg, value: i32) {
        self.emit(0xb7, dst, 0, 0, value);
    }

    pub fn add_imm(&mut self, dst: Reg, value: i32) {
        self.emit(0x07, dst, 0, 0, value);
    }

    pub fn add(&mut self, dst: Reg, src: Reg) {
        self.emit(0x0f, dst, src as u8, 0, 0);
    }

    pub fn and_imm(&mut self, dst: Reg, value: i32) {
        self.emit(0x57, dst, 0, 0, value);
    }

    pub fn shl(&mut self, dst: Reg, bits: i32) {
        self.emit(0x67, dst, 0, 0, bits);
    }

    pub fn shr(&mut self, dst: Reg, bits: i32) {
        self.emit(0x77, dst, 0, 0, bits);
    }

    /// `dst = *(size *)(src + offset)`
    pub fn load(&mut self, size: Size, dst: Reg, src: Reg, offset: i16) {
        self.emit(0x61 | size.bits(), dst, src as u8, offset, 0);
    }

    /// `*(size *)(dst + offset) = src`
    pub fn store(&mut self, size: Size, dst: Reg, offset: i16, src: Reg) {
        self.emit(0x63 | size.bits(), dst, src as u8, offset, 0);
    }

    /// `*(size *)(dst + offset) = value`
    pub fn store_imm(&mut self, size: Size, dst: Reg, offset: i16, value: i32) {
        self.emit(0x62 | size.bits(), dst, 0, offset, value);
    }

    /// `lock *(u64 *)(dst + offset) += src`
    pub fn atomic_add(&mut self, dst: Reg, offset: i16, src: Reg) {
        self.emit(0xdb, dst, src as u8, offset, 0);
    }

    /// `lock r = *(u64 *)(dst + offset); *(u64 *)(dst + offset) += src; src = r`
    pub fn atomic_fetch_add(&mut self, dst: Reg, offset: i16, src: Reg) {
        self.emit(0xdb, dst, src as u8, offset, 1);
    }

    /// Loads the map of a descriptor as a pointer: two instructions, BPF_PSEUDO_MAP_FD.
    pub fn map(&mut self, dst: Reg, fd: i32) {
        self.emit(0x18, dst, 1, 0, fd);
        self.code.push(0);
    }

    /// Loads an address inside the only value of an array as a pointer: two instructions, BPF_PSEUDO_MAP_VALUE.
    pub fn map_value(&mut self, dst: Reg, fd: i32, offset: i32) {
        self.emit(0x18, dst, 2, 0, fd);
        self.code.push(u64::from(offset.cast_unsigned()) << 32);
    }

    pub fn call(&mut self, helper: Helper) {
        self.emit(0x85, Reg::R0, 0, 0, helper as i32);
    }

    pub fn exit(&mut self) {
        self.emit(0x95, Reg::R0, 0, 0, 0);
    }

    pub fn jump(&mut self, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.emit(0x05, Reg::R0, 0, 0, 0);
    }

    pub fn jump_if(&mut self, what: If, reg: Reg, value: i32, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.emit(0x05 | what.code(), reg, 0, 0, value);
    }

    pub fn jump_if_not_equal(&mut self, left: Reg, right: Reg, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.emit(0x5d, left, right as u8, 0, 0);
    }

    /// The program with every jump resolved.
    pub fn finish(mut self) -> Result<Vec<u64>, BadJump> {
        for (at, label) in std::mem::take(&mut self.jumps) {
            let target = self.labels.get(label.0).copied().flatten().ok_or(BadJump { at })?;
            let distance = target as i64 - at as i64 - 1;
            let distance = i16::try_from(distance).map_err(|_| BadJump { at })?;
            if let Some(code) = self.code.get_mut(at) {
                *code |= u64::from(distance.cast_unsigned()) << 16;
            }
        }
        Ok(self.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes as `llvm-mc -triple=bpfel` writes them for the same instructions.
    #[test]
    fn encodings_are_those_of_the_specification() {
        let mut asm = Asm::default();
        let out = asm.label();
        asm.mov(Reg::R6, Reg::R1);
        asm.mov_imm(Reg::R0, -1);
        asm.load(Size::Long, Reg::R1, Reg::R6, 112);
        asm.store(Size::Long, Reg::R10, -8, Reg::R1);
        asm.store_imm(Size::Word, Reg::R10, -16, 7);
        asm.jump_if(If::Equal, Reg::R0, 0, out);
        asm.map(Reg::R1, 5);
        asm.call(Helper::MapLookup);
        asm.atomic_add(Reg::R0, 0, Reg::R1);
        asm.place(out);
        asm.exit();
        let code = asm.finish().expect("every jump leads somewhere");
        let bytes: Vec<[u8; 8]> = code.iter().map(|word| word.to_le_bytes()).collect();
        assert_eq!(
            bytes,
            [
                [0xbf, 0x16, 0, 0, 0, 0, 0, 0],
                [0xb7, 0x00, 0, 0, 0xff, 0xff, 0xff, 0xff],
                [0x79, 0x61, 0x70, 0, 0, 0, 0, 0],
                [0x7b, 0x1a, 0xf8, 0xff, 0, 0, 0, 0],
                [0x62, 0x0a, 0xf0, 0xff, 7, 0, 0, 0],
                [0x15, 0x00, 4, 0, 0, 0, 0, 0],
                [0x18, 0x11, 0, 0, 5, 0, 0, 0],
                [0, 0, 0, 0, 0, 0, 0, 0],
                [0x85, 0, 0, 0, 1, 0, 0, 0],
                [0xdb, 0x10, 0, 0, 0, 0, 0, 0],
                [0x95, 0, 0, 0, 0, 0, 0, 0],
            ]
        );
    }

    #[test]
    fn a_label_that_was_never_placed_is_an_error() {
        let mut asm = Asm::default();
        let nowhere = asm.label();
        asm.jump(nowhere);
        assert_eq!(asm.finish(), Err(BadJump { at: 0 }));
    }
}
