//! Decodes bytes to instructions: one table lookup, then the length that the source fields announce.

use crate::fast_decode::LONGEST;
use crate::layout::{Bits, Tail};
use crate::limits::is_refused;
use crate::mnemonic::{Form, Mnemonic};
use crate::table::{self, DPP8, DPP16, Entry, LITERAL, LITERAL64, OpcodeTable, REFUSED, SDWA, Slot};
use crate::target::Target;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    pub mnemonic: Mnemonic,
    /// The other half of a dual instruction.
    pub second: Option<Mnemonic>,
    pub form: Form,
    /// The length in bytes.
    pub length: usize,
}

impl Instruction {
    /// The name as LLVM prints it, with the suffix of its encoding.
    pub fn printed(&self) -> String {
        match self.second {
            Some(second) => format!("{} :: {second}", self.mnemonic),
            None => format!("{}{}", self.mnemonic, self.form.suffix()),
        }
    }
}

/// The item at an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeStep {
    Instruction(Instruction),
    /// A word that is not an instruction of this processor.
    Undecoded,
    /// An instruction that needs more bytes than are present, or less than a word.
    Cut,
}

/// The instructions of one processor.
#[derive(Debug, Clone, Copy)]
pub struct Decoder {
    table: &'static OpcodeTable,
}

impl Decoder {
    /// A decoder for one processor. None if no table covers it.
    pub fn new(target: &Target) -> Option<Self> {
        Some(Decoder { table: table::table(target)? })
    }

    /// The first instruction of `bytes`.
    #[inline]
    pub fn step(&self, bytes: &[u8]) -> DecodeStep {
        let (word, there) = match bytes.first_chunk::<8>() {
            Some(chunk) => (u64::from_le_bytes(*chunk), true),
            None => match bytes.first_chunk::<4>() {
                Some(chunk) => (u32::from_le_bytes(*chunk).into(), false),
                None => return DecodeStep::Cut,
            },
        };
        let top = (word as u32 >> 23) as usize;
        let Some(slot) = self.table.by_top.get(top).and_then(|&slot| self.table.slots.get(usize::from(slot))) else {
            return DecodeStep::Undecoded;
        };
        let single = || self.lookup(slot, word).and_then(|entry| Some((sourced(entry, slot, word)?, entry)));
        let found = match slot.format.tail {
            Tail::None | Tail::Sources | Tail::Addresses(_) => single(),
            Tail::Dual { width, dwords } => self.dual(slot, width, dwords, word).map(|dual| (dual, Entry::default())),
            Tail::Pair => self.pair(bytes, word as u32).map(|pair| (pair, Entry::default())).or_else(single),
        };
        match found {
            Some((instruction, _)) if instruction.length > bytes.len() => DecodeStep::Cut,
            Some((instruction, entry)) if self.allows(slot, entry, instruction.form, word, bytes) => {
                DecodeStep::Instruction(instruction)
            }
            // A part of the opcode may be in the missing word, so it is only certain that bytes are missing.
            None if !there && slot.format.op[1].low >= 32 => DecodeStep::Cut,
            _ => DecodeStep::Undecoded,
        }
    }

    fn allows(&self, slot: &Slot, entry: Entry, form: Form, word: u64, bytes: &[u8]) -> bool {
        let third = bytes.get(8..).and_then(<[u8]>::first_chunk::<4>).map_or(0, |third| u32::from_le_bytes(*third));
        let word = u128::from(word) | u128::from(third) << 64;
        entry.limits().is_none_or(|limits| limits.allow(self.table.generation, slot, form, word))
    }

    /// The name and length of every instruction of `bytes`, in order, until the fast path fails. Returns the offset at
    /// which [`Decoder::step`] has to continue.
    #[inline(always)]
    pub(crate) fn rush(&self, bytes: &[u8], mut each: impl FnMut(u32, Mnemonic, usize)) -> usize {
        let quick = &self.table.quick;
        let mut at = 0;
        while let Some(chunk) = bytes.get(at..).filter(|rest| rest.len() >= LONGEST).and_then(<[u8]>::first_chunk::<16>)
        {
            let word = u128::from_le_bytes(*chunk);
            let Some((mnemonic, length)) = quick.get(word as u64, (word >> 64) as u32) else { break };
            each(word as u32, mnemonic, length);
            at += length;
        }
        at
    }

    /// Every instruction, undecoded word and cut end of `bytes`, with its offset. Together they cover all bytes.
    pub fn walk<'a>(&self, bytes: &'a [u8]) -> Walk<'a> {
        Walk { decoder: *self, bytes, offset: 0 }
    }

    #[inline]
    fn lookup(&self, slot: &Slot, word: u64) -> Option<Entry> {
        let entry = *self.table.entries.get(slot.base + slot.format.opcode(word))?;
        (entry.dwords > 0).then_some(entry)
    }

    fn dual(&self, slot: &Slot, width: u8, dwords: u8, word: u64) -> Option<Instruction> {
        let opcode = slot.format.opcode(word);
        let (x, y) = self.table.dual(dwords, opcode >> width, opcode & ((1 << width) - 1))?;
        let refused = |source: &Bits| is_refused(self.table.generation, 1, source.get(word));
        let fixed = |half: &Entry| half.limits().is_none_or(|limits| limits.plain.holds(word.into()));
        if slot.format.sources.iter().any(refused) || ![x, y].iter().all(fixed) {
            return None;
        }
        let mut instruction = plain(x);
        instruction.second = Some(y.mnemonic);
        let mut announced = 0;
        for (half, source) in [x, y].iter().zip(slot.format.sources) {
            announced |= announcement(0, *source, word) & half.announced;
        }
        // If one half always has a literal, a source that announces a literal refers to the same one.
        let further = match x.dwords > dwords || y.dwords > dwords {
            false if announced >> LITERAL64 & 1 == 1 => 2,
            false if announced == 0 => 0,
            _ => 1,
        };
        instruction.length = 4 * (usize::from(dwords) + further);
        Some(instruction)
    }

    #[inline]
    fn pair(&self, bytes: &[u8], first: u32) -> Option<Instruction> {
        if self.table.pairs.is_empty() {
            return None;
        }
        let second = u32::from_le_bytes(*bytes.get(8..)?.first_chunk::<4>()?);
        self.table.pair(first, second).map(plain)
    }
}

#[inline]
fn plain(entry: Entry) -> Instruction {
    Instruction { mnemonic: entry.mnemonic, second: None, form: entry.form, length: usize::from(entry.dwords) * 4 }
}

/// Adds the words that the source fields announce. None if the opcode does not accept them.
#[inline]
fn sourced(entry: Entry, slot: &Slot, word: u64) -> Option<Instruction> {
    let mut instruction = plain(entry);
    if let Tail::Addresses(count) = slot.format.tail {
        instruction.length += 4 * count.get(word) as usize;
    }
    if entry.announced == 0 {
        return Some(instruction);
    }
    let mut bits = 0u32;
    for (index, source) in (0u32..).zip(slot.format.sources) {
        bits |= announcement(index, *source, word);
    }
    if bits == 0 {
        return Some(instruction);
    }
    if bits & (entry.announced >> REFUSED) != 0 {
        return None;
    }
    let bits = bits & entry.announced;
    let has = |bit: u32| bits >> bit & 1 == 1;
    if bits >> LITERAL64 & 7 != 0 {
        instruction.length += 8;
    } else if bits != 0 {
        instruction.length += 4;
    }
    if (slot.unmarked || entry.unmarked) && bits >> SDWA != 0 {
        instruction.form = Form::Plain;
    } else if has(SDWA) {
        instruction.form = Form::Sdwa;
    } else if has(DPP16) || has(DPP8) {
        instruction.form = if slot.format.sources.len() > 1 { Form::E64Dpp } else { Form::Dpp };
    }
    Some(instruction)
}

/// The flag bit for the value of the `index`-th source, if that value announces more words.
#[inline]
fn announcement(index: u32, source: Bits, word: u64) -> u32 {
    let value = source.get(word);
    // All values that announce more words are between 233 and 255. Most sources are registers.
    if !(233..=255).contains(&value) {
        return 0;
    }
    match (value, index) {
        (255, _) => 1 << (LITERAL + index),
        (254, _) => 1 << (LITERAL64 + index),
        (249, 0) => 1 << SDWA,
        (250, 0) => 1 << DPP16,
        (233 | 234, 0) => 1 << DPP8,
        _ => 0,
    }
}

/// See [`Decoder::walk`].
#[derive(Debug, Clone)]
pub struct Walk<'a> {
    decoder: Decoder,
    bytes: &'a [u8],
    offset: usize,
}

impl Iterator for Walk<'_> {
    /// Offset, length in bytes, and the item.
    type Item = (usize, usize, DecodeStep);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.offset..)?;
        if rest.is_empty() {
            return None;
        }
        let step = self.decoder.step(rest);
        let length = match step {
            DecodeStep::Instruction(instruction) => instruction.length,
            DecodeStep::Undecoded => 4,
            DecodeStep::Cut => rest.len(),
        };
        let offset = self.offset;
        self.offset += length;
        Some((offset, length, step))
    }
}
