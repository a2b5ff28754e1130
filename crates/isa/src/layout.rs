//! The positions of the fixed bits, the opcode and the sources in each format, by generation.
//!
//! The table generator enumerates opcodes with these descriptions, and the decoder uses the same ones. They follow the
//! "Microcode Formats" chapter of AMD's ISA guides. Every bit is checked against LLVM (`cargo xtask isa-tables`, `cargo
//! xtask deep isa`).

/// A run of bits in the first 64 bits of an instruction. Width 0 means that there is no such field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits {
    pub low: u8,
    pub width: u8,
}

impl Bits {
    pub const NONE: Bits = Bits { low: 0, width: 0 };

    pub const fn new(high: u8, low: u8) -> Self {
        Bits { low, width: high - low + 1 }
    }

    pub const fn mask(self) -> u64 {
        ((1 << self.width) - 1) << self.low
    }

    #[inline]
    pub const fn get(self, word: u64) -> u64 {
        (word >> self.low) & ((1 << self.width) - 1)
    }

    pub const fn put(self, word: u64, value: u64) -> u64 {
        (word & !self.mask()) | ((value << self.low) & self.mask())
    }
}

/// The words that may follow the fixed part of an instruction, in addition to those in its table row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// No further words follow.
    None,
    /// A literal (or, if the row allows it, a DPP or SDWA word) that a source field requires.
    Sources,
    /// Further address words (MIMG, non-sequential addresses). This field gives their number.
    Addresses(Bits),
    /// Two operations in one instruction (VOPD). The first source of each may announce the one literal. The format's
    /// opcode contains both opcodes: the low `width` bits are the second one.
    Dual { width: u8, dwords: u8 },
    /// A second eight-byte instruction that this one modifies (scaled MFMA and WMMA).
    Pair,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    pub name: &'static str,
    /// Fixed bits of the first word; all of them are in its top nine.
    pub mask: u32,
    pub value: u32,
    /// The opcode, in up to two pieces, low piece first.
    pub op: [Bits; 2],
    pub sources: &'static [Bits],
    pub tail: Tail,
}

/// An operand that may be a scalar register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand {
    pub bits: Bits,
    /// The number of registers that one step of the number represents.
    pub unit: u64,
}

impl Format {
    /// The sources, then every other operand that may be a scalar register.
    pub fn operands(&self) -> impl Iterator<Item = Operand> {
        let others: &[(u8, u8, u64)] = match self.name {
            "SOP1" | "SOP2" | "SOPK" => &[(22, 16, 1)],
            "VOP3" => &[(7, 0, 1)],
            "SMEM" => &[(5, 0, 2), (12, 6, 1)],
            "MUBUF" | "MTBUF" => &[(52, 48, 4), (63, 56, 1)],
            // The sampler has another position since gfx11.
            "MIMG" => &[(52, 48, 4), (57, 53, 4), (62, 58, 4)],
            "VBUFFER" | "VIMAGE" => &[(49, 41, 1)],
            "VSAMPLE" => &[(49, 41, 1), (63, 55, 1)],
            _ => &[],
        };
        let others = others.iter().map(|&(high, low, unit)| Operand { bits: Bits::new(high, low), unit });
        self.sources.iter().map(|&bits| Operand { bits, unit: 1 }).chain(others)
    }

    #[inline]
    pub const fn opcode(&self, word: u64) -> usize {
        (self.op[0].get(word) | (self.op[1].get(word) << self.op[0].width)) as usize
    }

    pub const fn opcodes(&self) -> usize {
        1 << (self.op[0].width + self.op[1].width)
    }

    /// The word with the fixed bits and the opcode set.
    pub const fn with_opcode(&self, word: u64, opcode: usize) -> u64 {
        let word = (word & !(self.mask as u64)) | self.value as u64;
        let word = self.op[0].put(word, opcode as u64);
        self.op[1].put(word, (opcode as u64) >> self.op[0].width)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    Gfx8,
    Gfx9,
    Gfx10,
    Gfx11,
    Gfx12,
    Gfx125,
}

const S0: Bits = Bits::new(7, 0);
const S1: Bits = Bits::new(15, 8);
const V0: Bits = Bits::new(8, 0);
const W0: Bits = Bits::new(40, 32);
const W1: Bits = Bits::new(49, 41);
const W2: Bits = Bits::new(58, 50);

/// Describes a format. `fixed` are the leading bits as the guides print them, most significant first.
const fn format(name: &'static str, fixed: &str, op: [Bits; 2], sources: &'static [Bits], tail: Tail) -> Format {
    let bytes = fixed.as_bytes();
    let (mut value, mut i) = (0u32, 0);
    while i < bytes.len() {
        value = (value << 1) | (bytes[i] - b'0') as u32;
        i += 1;
    }
    let shift = 32 - bytes.len() as u32;
    Format { name, mask: u32::MAX << shift, value: value << shift, op, sources, tail }
}

const fn plain(name: &'static str, fixed: &str, high: u8, low: u8) -> Format {
    format(name, fixed, [Bits::new(high, low), Bits::NONE], &[], Tail::None)
}

const fn split(name: &'static str, fixed: &str, low: Bits, high: Bits) -> Format {
    format(name, fixed, [low, high], &[], Tail::None)
}

const fn sourced(name: &'static str, fixed: &str, op: Bits, sources: &'static [Bits]) -> Format {
    format(name, fixed, [op, Bits::NONE], sources, Tail::Sources)
}

const SOP1: Format = sourced("SOP1", "101111101", Bits::new(15, 8), &[S0]);
const SOPC: Format = sourced("SOPC", "101111110", Bits::new(22, 16), &[S0, S1]);
const SOPP: Format = plain("SOPP", "101111111", 22, 16);
const SOPK: Format = plain("SOPK", "1011", 27, 23);
const SOP2: Format = sourced("SOP2", "10", Bits::new(29, 23), &[S0, S1]);
const VOP1: Format = sourced("VOP1", "0111111", Bits::new(16, 9), &[V0]);
const VOPC: Format = sourced("VOPC", "0111110", Bits::new(24, 17), &[V0]);
const VOP2: Format = sourced("VOP2", "0", Bits::new(30, 25), &[V0]);
const VOP3_SOURCES: &[Bits] = &[W0, W1, W2];

const VOP3_GFX8: Format = sourced("VOP3", "110100", Bits::new(25, 16), VOP3_SOURCES);
const VOP3P_GFX9: Format = format("VOP3P", "110100111", [Bits::new(22, 16), Bits::NONE], VOP3_SOURCES, Tail::Pair);
const VOP3_GFX10: Format = sourced("VOP3", "110101", Bits::new(25, 16), VOP3_SOURCES);
const VOP3P_GFX10: Format = sourced("VOP3P", "110011000", Bits::new(22, 16), VOP3_SOURCES);
const VOP3P_GFX11: Format = format("VOP3P", "110011000", [Bits::new(22, 16), Bits::NONE], VOP3_SOURCES, Tail::Sources);
/// The opcode has one bit more, and there is scaled WMMA.
const VOP3P_GFX125: Format = format("VOP3P", "11001100", [Bits::new(23, 16), Bits::NONE], VOP3_SOURCES, Tail::Pair);
const VOPD: Format =
    format("VOPD", "110010", [Bits::new(25, 17), Bits::NONE], &[V0, W0], Tail::Dual { width: 5, dwords: 2 });
const VOPD3: Format =
    format("VOPD3", "11001111", [Bits::new(23, 12), Bits::NONE], &[V0, W0], Tail::Dual { width: 6, dwords: 3 });
const VINTERP: Format = plain("VINTERP", "11001101", 22, 16);
const LDSDIR: Format = plain("LDSDIR", "11001110", 21, 20);
const EXP_GFX8: Format = format("EXP", "110001", [Bits::NONE; 2], &[], Tail::None);
const EXP_GFX10: Format = format("EXP", "111110", [Bits::NONE; 2], &[], Tail::None);
const SMEM_GFX10: Format = plain("SMEM", "111101", 25, 18);
const DS_GFX10: Format = plain("DS", "110110", 25, 18);

const MIMG_OP: [Bits; 2] = [Bits::new(24, 18), Bits::new(0, 0)];

const GFX8: &[Format] = &[
    SOP1,
    SOPC,
    SOPP,
    SOPK,
    SOP2,
    VOP1,
    VOPC,
    VOP2,
    VOP3P_GFX9,
    VOP3_GFX8,
    plain("VINTRP", "110101", 17, 16),
    plain("SMEM", "110000", 25, 18),
    plain("DS", "110110", 24, 17),
    split("FLAT", "110111", Bits::new(24, 18), Bits::new(15, 14)),
    plain("MUBUF", "111000", 24, 18),
    plain("MTBUF", "111010", 18, 15),
    format("MIMG", "111100", MIMG_OP, &[], Tail::None),
    EXP_GFX8,
];

const GFX10: &[Format] = &[
    SOP1,
    SOPC,
    SOPP,
    SOPK,
    SOP2,
    VOP1,
    VOPC,
    VOP2,
    VOP3_GFX10,
    VOP3P_GFX10,
    plain("VINTRP", "110010", 17, 16),
    SMEM_GFX10,
    DS_GFX10,
    split("FLAT", "110111", Bits::new(24, 18), Bits::new(15, 14)),
    plain("MUBUF", "111000", 25, 18),
    split("MTBUF", "111010", Bits::new(18, 16), Bits::new(53, 53)),
    format("MIMG", "111100", MIMG_OP, &[], Tail::Addresses(Bits::new(2, 1))),
    EXP_GFX10,
];

const GFX11: &[Format] = &[
    SOP1,
    SOPC,
    SOPP,
    SOPK,
    SOP2,
    VOP1,
    VOPC,
    VOP2,
    VOP3_GFX10,
    VOP3P_GFX11,
    VINTERP,
    LDSDIR,
    VOPD,
    SMEM_GFX10,
    DS_GFX10,
    split("FLAT", "110111", Bits::new(24, 18), Bits::new(17, 16)),
    plain("MUBUF", "111000", 25, 18),
    plain("MTBUF", "111010", 18, 15),
    format("MIMG", "111100", [Bits::new(25, 18), Bits::NONE], &[], Tail::Addresses(Bits::new(0, 0))),
    EXP_GFX10,
];

const GFX12: &[Format] = &[
    SOP1,
    SOPC,
    SOPP,
    SOPK,
    SOP2,
    VOP1,
    VOPC,
    VOP2,
    VOP3_GFX10,
    VOP3P_GFX11,
    VINTERP,
    LDSDIR,
    VOPD,
    plain("SMEM", "111101", 18, 13),
    DS_GFX10,
    split("FLAT", "111011", Bits::new(21, 14), Bits::new(25, 24)),
    plain("VBUFFER", "110001", 21, 14),
    plain("VIMAGE", "110100", 21, 14),
    plain("VSAMPLE", "111001", 21, 14),
    EXP_GFX10,
];

const GFX125: &[Format] = &[
    SOP1,
    SOPC,
    SOPP,
    SOPK,
    SOP2,
    VOP1,
    VOPC,
    VOP2,
    VOP3_GFX10,
    VOP3P_GFX125,
    VINTERP,
    LDSDIR,
    VOPD3,
    VOPD,
    plain("SMEM", "111101", 18, 13),
    DS_GFX10,
    split("FLAT", "111011", Bits::new(21, 14), Bits::new(25, 24)),
    plain("VBUFFER", "110001", 21, 14),
    plain("VIMAGE", "110100", 21, 14),
    plain("VSAMPLE", "111001", 21, 14),
    EXP_GFX10,
];

impl Generation {
    pub const ALL: [Generation; 6] = [
        Generation::Gfx8,
        Generation::Gfx9,
        Generation::Gfx10,
        Generation::Gfx11,
        Generation::Gfx12,
        Generation::Gfx125,
    ];

    /// The formats in the order in which they are tried. The first format whose fixed bits match is used.
    pub const fn formats(self) -> &'static [Format] {
        match self {
            Generation::Gfx8 | Generation::Gfx9 => GFX8,
            Generation::Gfx10 => GFX10,
            Generation::Gfx11 => GFX11,
            Generation::Gfx12 => GFX12,
            Generation::Gfx125 => GFX125,
        }
    }
}
