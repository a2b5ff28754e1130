//! The restrictions of an opcode: scalar operands that do not exist, and bits with only one valid value. LLVM has the
//! same restrictions. They do not affect names or lengths. A word that violates them is data, or code for another
//! processor.

use crate::layout::{Bits, Generation, Operand};
use crate::mnemonic::Form;
use crate::table::Slot;

/// Bits with only one valid value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fixed {
    pub mask: u128,
    pub value: u128,
}

impl Fixed {
    pub fn holds(self, word: u128) -> bool {
        word & self.mask == self.value
    }
}

/// The restrictions of one opcode.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The number of registers of each operand of the format, in the order of [`crate::layout::Format::operands`]. 0
    /// accepts any value.
    pub widths: [u8; 4],
    pub plain: Fixed,
    /// The fixed bits of the DPP and SDWA forms of a four-byte instruction.
    pub dpp: Fixed,
    pub sdwa: Fixed,
}

/// The selector fields of an SDWA form: two for the sources, one for the result (which a comparison does not have). The
/// value 7 is invalid.
const SELECTORS: [Bits; 3] = [Bits::new(50, 48), Bits::new(58, 56), Bits::new(42, 40)];

impl Limits {
    /// Whether the opcode accepts this encoding, decoded as `form`.
    pub fn allow(&self, generation: Generation, slot: &Slot, form: Form, word: u128) -> bool {
        let fixed = match form {
            Form::Dpp if word & 0x1ff == 250 => self.dpp,
            Form::Sdwa => self.sdwa,
            _ => self.plain,
        };
        let refused = |(operand, &registers): (&Operand, &u8)| {
            let number = operand.bits.get(word as u64) * operand.unit;
            // A value that announces DPP or SDWA in the first source of a vector instruction is not a register.
            let announces = operand.bits.width == 9 && operand.bits.low % 32 == 0 && is_announcement(number);
            !announces && is_refused(generation, registers, number)
        };
        let selectors = if slot.format.name == "VOPC" { 2 } else { 3 };
        let selects = |selector: &Bits| selector.get(word as u64) < 7;
        fixed.holds(word)
            && !slot.operands.iter().zip(&self.widths).any(refused)
            && (form != Form::Sdwa || SELECTORS.iter().take(selectors).all(selects))
    }
}

const fn is_announcement(number: u64) -> bool {
    matches!(number, 233 | 234 | 249 | 250)
}

/// Whether this number is invalid on all processors of the generation, as the first of `registers` scalar registers or
/// as a constant.
pub(crate) const fn is_refused(generation: Generation, registers: u8, number: u64) -> bool {
    use Generation::{Gfx8, Gfx9, Gfx10, Gfx125};
    let scalars = if matches!(generation, Gfx8 | Gfx9) { 102 } else { 106 };
    let traps = if matches!(generation, Gfx8) { 112 } else { 108 };
    let (m0, null) = if matches!(generation, Gfx8 | Gfx9 | Gfx10) { (124, 125) } else { (125, 124) };
    match (registers, number) {
        (0, _) | (_, 256..) => false,
        (_, 209..=229 | 232..=234 | 249 | 250) => true,
        (1, _) => false,
        // 254 is the 64-bit literal of gfx1250.
        (_, 254) => !matches!(generation, Gfx125),
        // LLVM rounds a misaligned pair of numbered registers down, but refuses a misaligned pair of named ones.
        (2, 231) => true,
        (2, _) => number == m0 || number % 2 == 1 && (number >= scalars && number < traps || number == 127),
        (_, 124..=127) => number != null,
        (_, 230..=239 | 251..=253) => true,
        (_, 128..) => false,
        // The number must be aligned to four, and be below s104 or among the trap registers.
        (_, _) => {
            let end = number / 4 * 4 + registers as u64;
            !(number < scalars && end <= 104 || number >= traps && end <= traps + 16)
        }
    }
}
