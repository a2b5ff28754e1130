//! Name and length of an instruction, and nothing else: the loop that a census spends its time in.
//!
//! Where the next instruction starts depends on the length of this one, so a walk is one long chain of loads. This
//! keeps the chain short and free of branches that real code would make the processor guess wrong: the top nine bits
//! give the shifts and masks, the opcode gives the row, and the source values are looked up in a table instead of being
//! compared. Whatever is rare (dual instructions, pairs, refused encodings, words that are no instruction) is left to
//! [`Decoder::step`](crate::Decoder::step); that both say the same is tested on any bytes.

use crate::layout::{Bits, Tail};
use crate::mnemonic::Mnemonic;
use crate::table::{DPP8, DPP16, Entry, LITERAL, LITERAL64, REFUSED, SDWA, Slot, ZERO};

/// No instruction is longer.
pub(crate) const LONGEST: usize = 20;

/// Where opcode and sources stand in the words with the same top nine bits. Sources stand in one of three ways, so
/// that all but one of the shifts are constant: in the low word at 0 or at 0 and 8 (scalar), in the high word at 0, 9
/// and 18 (VOP3); a mask of zero is a source that is not there.
#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    base: u32,
    mask: u32,
    shift: u8,
    /// 0 or 32.
    half: u8,
    first: u16,
    second: u16,
    third: u16,
    /// Into the table of second sources.
    at: u16,
}

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    mnemonic: Mnemonic,
    /// 0: ask [`crate::Decoder::step`].
    dwords: u16,
    announced: u16,
    refused: u16,
}

#[derive(Debug)]
pub(crate) struct Quick {
    lanes: Box<[Lane; 512]>,
    rows: Vec<Row>,
}

/// What a value announces in the first, second and third source. The second of VOP3 is looked up doubled, since it
/// stands one bit higher than the scalar one, whose values follow from [`SCALAR`] on.
const FIRST: [u16; 512] = {
    let mut table = reserved::<512>(0, 1, 9, RESERVED);
    table[255] = 1 << LITERAL;
    table[254] = 1 << LITERAL64;
    table[249] = 1 << SDWA;
    table[250] = 1 << DPP16;
    table[233] = 1 << DPP8;
    table[234] = 1 << DPP8;
    table
};
const SCALAR: u16 = 1024;
const SECOND: [u16; 2048] = {
    let mut table = reserved::<2048>(0, 2, 9, RESERVED << 1);
    let scalar = reserved::<2048>(SCALAR as usize, 1, 8, RESERVED << 1);
    let mut at = SCALAR as usize;
    while at < 2048 {
        table[at] = scalar[at];
        at += 1;
    }
    table[2 * 255] = 2 << LITERAL;
    table[2 * 254] = 2 << LITERAL64;
    table[SCALAR as usize + 255] = 2 << LITERAL;
    table[SCALAR as usize + 254] = 2 << LITERAL64;
    table
};
const THIRD: [u16; 512] = {
    let mut table = reserved::<512>(0, 1, 9, RESERVED << 2);
    table[255] = 4 << LITERAL;
    table[254] = 4 << LITERAL64;
    table
};
const WIDE: u16 = 7 << LITERAL64;
/// A value that no source of its width has, in the first; two more bits for the second and third. Refused by every opcode that reads it.
const RESERVED: u16 = 1 << 13;

/// A table with the reserved values of a source of that width marked, every `step` places from `start` on.
const fn reserved<const N: usize>(start: usize, step: usize, width: u8, mark: u16) -> [u16; N] {
    let mut table = [0; N];
    let source = Bits { low: 0, width };
    let mut value = 0;
    while value < 256 {
        if source.is_reserved(value as u64) {
            table[start + value * step] = mark;
        }
        value += 1;
    }
    table
}

impl Quick {
    pub fn new(by_top: &[u8; 512], slots: &[Slot], entries: &[Entry], pairs: bool) -> Self {
        // The row of everything that is not quick stands before all others.
        let mut quick = Quick { lanes: Box::new([Lane::default(); 512]), rows: vec![Row::default()] };
        let lanes: Vec<Lane> = slots.iter().map(|slot| quick.lane(slot, entries, pairs).unwrap_or_default()).collect();
        for (lane, &slot) in quick.lanes.iter_mut().zip(by_top) {
            *lane = lanes.get(usize::from(slot)).copied().unwrap_or_default();
        }
        quick
    }

    /// Mnemonic and length in bytes; None where more has to be looked at.
    #[inline(always)]
    pub fn get(&self, word: u64) -> Option<(Mnemonic, usize)> {
        let lane = self.lanes.get((word as u32 >> 23) as usize)?;
        let opcode = (word as u32 >> (lane.shift & 31)) & lane.mask;
        let row = self.rows.get((lane.base + opcode) as usize)?;
        let sources = (word >> (lane.half & 63)) as u32;
        let value = |shift: u32, mask: u16| ((sources >> shift) as u16 & mask) as usize;
        let announced = FIRST[value(0, lane.first) & 511]
            | SECOND[(value(8, lane.second) + usize::from(lane.at)) & 2047]
            | THIRD[value(18, lane.third) & 511];
        if row.dwords == 0 || announced & row.refused != 0 {
            return None;
        }
        let more = announced & row.announced;
        let dwords = usize::from(row.dwords) + usize::from(more != 0) + usize::from(more & WIDE != 0);
        Some((row.mnemonic, dwords * 4))
    }

    /// The lane of a format; its rows are added. None where it is not one of the quick ones.
    fn lane(&mut self, slot: &Slot, entries: &[Entry], pairs: bool) -> Option<Lane> {
        let format = slot.format;
        match format.tail {
            Tail::None | Tail::Sources => {}
            Tail::Pair if !pairs => {}
            _ => return None,
        }
        // An opcode in two pieces is read in one, with what lies between masked out.
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
                *row = row_of(entry);
                // What announces DPP or SDWA in a vector source means nothing in a scalar one.
                if format.sources.iter().any(|source| source.width == 8) && entry.takes(0) {
                    row.refused |= 1 << SDWA | 1 << DPP16 | 1 << DPP8;
                }
            }
        }
        let lane = Lane { base, mask, shift: shift as u8, ..Lane::default() };
        let bits = |source: &Bits| (source.low, ((1u32 << source.width) - 1) as u16);
        let sources: Vec<(u8, u16)> = format.sources.iter().map(bits).collect();
        match sources.as_slice() {
            [] => Some(lane),
            [(0, first)] => Some(Lane { first: *first, ..lane }),
            [(0, first), (8, second)] => Some(Lane { first: *first, second: *second, at: SCALAR, ..lane }),
            [(32, first), (41, second), (50, third)] => {
                Some(Lane { half: 32, first: *first, second: second << 1, third: *third, ..lane })
            }
            _ => None,
        }
    }
}

fn row_of(entry: &Entry) -> Row {
    if entry.announced >> ZERO & 1 == 1 {
        return Row::default();
    }
    let reads = (0..3).filter(|index| entry.takes(*index)).fold(0, |bits, index| bits | RESERVED << index);
    Row {
        mnemonic: entry.mnemonic,
        dwords: entry.dwords.into(),
        announced: (entry.announced & ((1 << ZERO) - 1)) as u16,
        refused: (entry.announced >> REFUSED & ((1 << ZERO) - 1)) as u16 | reads,
    }
}
