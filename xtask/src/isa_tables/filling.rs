//! Creates encodings to ask LLVM about: an opcode with operands that it may accept.

use super::llvm::Words;
use isa::layout::{Bits, Format, Tail};
use sys::random::Seeded as Random;

/// The opcode with everything else random; sources never announce further words.
pub fn filling(format: &Format, opcode: usize, random: &mut Random, attempt: usize) -> Words {
    if let Some(words) = usual(format.name).get(attempt) {
        let word = format.with_opcode(u64::from(words[0]) | (u64::from(words[1]) << 32), opcode);
        return [word as u32, (word >> 32) as u32, words[2], words[3]];
    }
    if format.sources.len() == 3 && attempt % 4 == 3 {
        return matrix(format, opcode, random, attempt / 4);
    }
    let mut word = if attempt == 0 { 0 } else { random.number() };
    if attempt % 4 == 1 {
        word &= random.number();
    }
    for source in format.sources {
        let pick = random.number();
        let value = match (source.width, attempt % 3) {
            (9, 0 | 1) => 256 + pick % 256,
            (_, 2) if pick & (1 << 40) != 0 => 128 + pick % 64,
            _ => (pick % 48) * 2,
        };
        word = source.put(word, value);
    }
    // No scalar address: NULL or "off", whose number and place differ between generations.
    if format.name == "FLAT" && attempt % 8 > 1 {
        let none = [0x7c, 0x7d, 0x7f][attempt % 3];
        word = Bits::new(54, 48).put(Bits::new(6, 0).put(word, none), none);
    }
    if let Tail::Addresses(count) = format.tail {
        word = count.put(word, 0);
    }
    // The low byte is usually a destination or a scalar operand; some opcodes require EXEC, NULL or VCC there.
    if attempt % 5 == 4 {
        word = (word & !0xff) | [0, 0x7e, 0x7c, 0x6a][attempt / 5 % 4];
    }
    // LLVM reads 255 in a scalar offset or destination as a literal, which no processor has there (and crashes if the processor
    // has no such literals at all).
    for byte in [0, 56] {
        if word >> byte & 0xff == 0xff {
            word ^= 1 << byte;
        }
    }
    let word = format.with_opcode(word, opcode);
    let rest = random.number();
    [word as u32, (word >> 32) as u32, rest as u32, (rest >> 32) as u32]
}

/// Operands that an assembler would write, tried first, because random ones are unlikely to be valid.
fn usual(name: &str) -> &'static [Words] {
    match name {
        // All zeros: v_illegal, from gfx10 on.
        "VOP2" => &[[0; 4]],
        // Two sources and no third, three sources; into EXEC (v_cmpx from gfx10 on), into VCC, into a register.
        "VOP3" => &[
            [0x7e, 0x0002_0501, 0, 0],
            [0x7e, 0x0202_0501, 0, 0],
            [0x7e, 0x0000_0102, 0, 0],
            [0x6a, 0x0002_0501, 0, 0],
            [2, 0x0002_0501, 0, 0],
            [2, 0x0402_0501, 0, 0],
        ],
        // A second half with one source leaves the rest of its fields zero.
        "VOPD3" => &[
            [0x80, 0x0000_0100, 0x0100_0003, 0],
            [0x101, 0x0004_0102, 0x0500_0001, 0],
            [0x101, 0x6a04_0102, 0x0500_0001, 0],
            [0x112, 0x2221_0304, 0x2200_0012, 0],
        ],
        // The bit for the global data share, which moved at gfx10, in four forms: without operands, with an address,
        // with data, and with a result.
        "DS" => &[
            [1 << 16, 0, 0, 0],
            [1 << 16, 2, 0, 0],
            [1 << 16, 0x0100_0002, 0, 0],
            [1 << 17, 0, 0, 0],
            [1 << 17, 2, 0, 0],
            [1 << 17, 0x0200, 0, 0],
            [1 << 17, 0x0100_0002, 0, 0],
        ],
        // Ray intersection on gfx10 and gfx11.
        "MIMG" => &[[0x9f00, 0x0001_0409, 0, 0], [0x8f80, 0x0001_0409, 0, 0]],
        // Ray intersection on gfx12, tensor moves on gfx1250, one component of a line.
        "VIMAGE" => &[
            [0x03c0_0010, 0x1100_0804, 0x0e0b_0a09, 0],
            [0x03c0_0010, 0x0900_0000, 0x0603_0b00, 0],
            [0x0040_0001, 0x7c00_0000, 0x7c7c_0400, 0],
            [0x0040_0000, 0, 0, 0],
        ],
        _ => &[],
    }
}

/// Aligned vector registers and the modifiers that matrix instructions require; random ones are refused.
fn matrix(format: &Format, opcode: usize, random: &mut Random, attempt: usize) -> Words {
    let mut word = MATRIX_MODIFIERS[attempt % MATRIX_MODIFIERS.len()];
    for source in format.sources {
        word = source.put(word, 256 + (random.number() % 16) * 8);
    }
    if attempt.is_multiple_of(3) {
        word = format.sources[2].put(word, 256);
    }
    let word = format.with_opcode(word, opcode);
    let rest = random.number();
    [word as u32, (word >> 32) as u32, rest as u32, (rest >> 32) as u32]
}

/// None; op_sel_hi of the first two sources, of all three, of the third: as the assembler sets them.
pub const MATRIX_MODIFIERS: [u64; 4] = [0, 0x1800_0000_0000_0000, 0x1800_0000_0000_4000, 0x0800];
