//! Decodes only the name and length of an instruction. A census spends most of its time in this loop.
//!
//! The start of the next instruction depends on the length of this one, so a walk is one long chain of loads. This
//! decoder keeps the chain short and free of branches that real code would mispredict: the top nine bits give the
//! shifts and masks, the opcode gives the row, and source values are looked up in a table instead of being compared.
//! Rare cases (dual instructions, pairs, refused encodings, words that are not instructions) are left to
//! [`Decoder::step`](crate::Decoder::step). A test compares both on arbitrary bytes.

use crate::layout::{Bits, Generation, Operand, Tail};
use crate::limits::is_refused;
use crate::mnemonic::Mnemonic;
use crate::table::{DPP8, DPP16, Entry, LITERAL, LITERAL64, REFUSED, SDWA, Slot};

/// The length of the longest instruction.
pub(crate) const LONGEST: usize = 20;

/// The positions of opcode and sources in words with the same top nine bits. There are three layouts of sources, so all
/// shifts except one are constant: in the low word at 0, or at 0 and 8 (scalar), or in the high word at 0, 9 and 18
/// (VOP3). A mask of zero means that this source does not exist. A scalar destination is looked up as the third source.
#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    base: u32,
    mask: u32,
    shift: u8,
    /// The shift to the word with the sources: 0 or 32.
    half: u8,
    first: u16,
    second: u16,
    third: u16,
    /// The index into the tables of second and third sources.
    at: u16,
    third_at: u16,
    third_shift: u8,
}

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    mnemonic: Mnemonic,
    /// 0 means that [`crate::Decoder::step`] must decode the instruction.
    dwords: u16,
    announced: u16,
    refused: u16,
    /// Any other value of these bits is refused. In the third word, any value except zero is refused.
    fixed: u64,
    value: u64,
    third: u32,
    /// If one of these bits and the next lower bit are set, a scalar operand has a number that may be refused.
    high: u64,
}

#[derive(Debug)]
pub(crate) struct Quick {
    lanes: Box<[Lane; 512]>,
    rows: Vec<Row>,
}

/// The operand kinds that a value indicates in the first, second and third source. The second source of VOP3 is one bit
/// higher than the scalar one, so it is looked up doubled. The scalar values start at [`SCALAR`]. In the table of the
/// third source, scalar destinations start at [`DESTINATION`].
const FIRST: [u16; 512] = {
    let mut table = refusals([0; 512], 0, 1, 0);
    table[255] = 1 << LITERAL;
    table[254] |= 1 << LITERAL64;
    table[249] = 1 << SDWA;
    table[250] = 1 << DPP16;
    table[233] = 1 << DPP8;
    table[234] = 1 << DPP8;
    table
};
const SCALAR: u16 = 1024;
const SECOND: [u16; 2048] = {
    let mut table = refusals(refusals([0; 2048], 0, 2, 1), SCALAR as usize, 1, 1);
    table[2 * 255] = 2 << LITERAL;
    table[2 * 254] |= 2 << LITERAL64;
    table[SCALAR as usize + 255] = 2 << LITERAL;
    table[SCALAR as usize + 254] |= 2 << LITERAL64;
    table
};
const DESTINATION: u16 = 512;
const THIRD: [u16; 1024] = {
    let mut table = refusals(refusals([0; 1024], 0, 1, 2), DESTINATION as usize, 1, 2);
    table[255] = 4 << LITERAL;
    table[254] |= 4 << LITERAL64;
    table
};
const WIDE: u16 = 7 << LITERAL64;
/// Marks for values that a generation refuses as a single register, as a pair (one bit for each source), or as more
/// than two registers (in any source). An opcode with an operand of that width takes the slow path.
const SINGLE: u16 = 1 << 13;
const PAIR: u16 = 1 << 10;
const TUPLE: u16 = 1 << 9;

/// Marks the refused values of the `index`-th source, at every `step`-th place from `start` on.
const fn refusals<const N: usize>(mut table: [u16; N], start: usize, step: usize, index: u32) -> [u16; N] {
    let mut value = 0;
    while value < 256 {
        let mut generation = 0;
        while generation < Generation::ALL.len() {
            let marks = [(1, SINGLE << index), (2, PAIR << index), (16, TUPLE)];
            let mut width = 0;
            while width < marks.len() {
                if is_refused(Generation::ALL[generation], marks[width].0, value as u64) {
                    table[start + value * step] |= marks[width].1;
                }
                width += 1;
            }
            generation += 1;
        }
        value += 1;
    }
    table
}

impl Quick {
    pub fn new(by_top: &[u8; 512], slots: &[Slot], entries: &[Entry], pairs: bool) -> Self {
        // The first row is for everything that needs the slow path.
        let mut quick = Quick { lanes: Box::new([Lane::default(); 512]), rows: vec![Row::default()] };
        let lanes: Vec<Lane> = slots.iter().map(|slot| quick.lane(slot, entries, pairs).unwrap_or_default()).collect();
        for (lane, &slot) in quick.lanes.iter_mut().zip(by_top) {
            *lane = lanes.get(usize::from(slot)).copied().unwrap_or_default();
        }
        quick
    }

    /// Mnemonic and length in bytes. None if the slow path is needed.
    #[inline(always)]
    pub fn get(&self, word: u64, third: u32) -> Option<(Mnemonic, usize)> {
        let lane = self.lanes.get((word as u32 >> 23) as usize)?;
        let opcode = (word as u32 >> (lane.shift & 31)) & lane.mask;
        let row = self.rows.get((lane.base + opcode) as usize)?;
        let sources = (word >> (lane.half & 63)) as u32;
        let value = |shift: u32, mask: u16| ((sources >> (shift & 31)) as u16 & mask) as usize;
        let announced = FIRST[value(0, lane.first) & 511]
            | SECOND[(value(8, lane.second) + usize::from(lane.at)) & 2047]
            | THIRD[(value(lane.third_shift.into(), lane.third) + usize::from(lane.third_at)) & 1023];
        let doubtful = word & row.fixed ^ row.value | word & word << 1 & row.high;
        if row.dwords == 0 || announced & row.refused != 0 || doubtful | u64::from(third & row.third) != 0 {
            return None;
        }
        let more = announced & row.announced;
        let dwords = usize::from(row.dwords) + usize::from(more != 0) + usize::from(more & WIDE != 0);
        Some((row.mnemonic, dwords * 4))
    }

    /// The lane of a format. Adds its rows. None if the format needs the slow path.
    fn lane(&mut self, slot: &Slot, entries: &[Entry], pairs: bool) -> Option<Lane> {
        let format = slot.format;
        match format.tail {
            Tail::None | Tail::Sources => {}
            Tail::Pair if !pairs => {}
            _ => return None,
        }
        // An opcode in two pieces is read in one step, with the bits between them masked out.
        let mask = format.op[0].mask() | format.op[1].mask();
        let shift = mask.trailing_zeros().min(31);
        let mask = u32::try_from(mask).ok()? >> shift;
        if mask > 0xfff {
            return None;
        }
        let base = u32::try_from(self.rows.len()).ok()?;
        self.rows.resize(self.rows.len() + mask as usize + 1, Row::default());
        for opcode in 0..format.opcodes() {
            let place = format.with_opcode(0, opcode) as u32 >> shift & mask;
            if let (Some(entry), Some(row)) =
                (entries.get(slot.base + opcode), self.rows.get_mut((base + place) as usize))
            {
                *row = row_of(entry, slot);
            }
        }
        let lane = Lane { base, mask, shift: shift as u8, ..Lane::default() };
        let bits = |source: &Bits| (source.low, ((1u32 << source.width) - 1) as u16);
        let sources: Vec<(u8, u16)> = format.sources.iter().map(bits).collect();
        let scalar = Lane { third: 127, third_shift: 16, third_at: DESTINATION, ..lane };
        match sources.as_slice() {
            [] => Some(scalar),
            [(0, first)] => Some(Lane { first: *first, ..scalar }),
            [(0, first), (8, second)] => Some(Lane { first: *first, second: *second, at: SCALAR, ..scalar }),
            [(32, first), (41, second), (50, third)] => {
                Some(Lane { half: 32, first: *first, second: second << 1, third: *third, third_shift: 18, ..lane })
            }
            _ => None,
        }
    }
}

fn row_of(entry: &Entry, slot: &Slot) -> Row {
    let mut row = Row {
        mnemonic: entry.mnemonic,
        dwords: entry.dwords.into(),
        announced: (entry.announced & ((1 << REFUSED) - 1)) as u16,
        refused: (entry.announced >> REFUSED) as u16,
        ..Row::default()
    };
    let Some(limits) = entry.limits() else { return row };
    // The DPP and SDWA forms have their own fixed bits.
    row.refused |= 1 << SDWA | if limits.dpp.mask == 0 { 0 } else { 1 << DPP16 };
    (row.fixed, row.value, row.third) =
        (limits.plain.mask as u64, limits.plain.value as u64, (limits.plain.mask >> 64) as u32);
    for (index, (operand, &registers)) in slot.operands.iter().zip(&limits.widths).enumerate() {
        let destination = operand.bits.low == 16;
        match registers {
            0 => {}
            _ if index < slot.format.sources.len() || destination => {
                row.refused |= doubts(registers, if destination { 2 } else { index });
                // Values that announce DPP or SDWA in a vector source do not have this meaning in a scalar source.
                if operand.bits.width == 8 && index == 0 {
                    row.refused |= 1 << SDWA | 1 << DPP16 | 1 << DPP8;
                }
            }
            // A 16-register operand is refused from s92 on.
            16 => return Row::default(),
            _ => row.high |= high(operand, registers),
        }
    }
    row
}

/// The marks that require a closer check of an operand with this many registers.
fn doubts(registers: u8, index: usize) -> u16 {
    match registers {
        1 => SINGLE << index,
        2 => SINGLE << index | PAIR << index,
        _ => SINGLE << index | PAIR << index | TUPLE,
    }
}

/// The mask for `Row::high`. A number from 192 on, or from 96 to 127 if the operand is wider than one register, may be
/// refused.
fn high(operand: &Operand, registers: u8) -> u64 {
    let bit = |number: u32| operand.bits.mask() & 1 << (u32::from(operand.bits.low) + number - operand.unit.ilog2());
    bit(7) | if registers > 1 { bit(6) } else { 0 }
}
