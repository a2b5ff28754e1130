//! The generated tables (`tables/*.txt`), read into one dense array per processor.
//!
//! A row is `FORMAT OPCODE NAME FLAGS PROCESSORS`: the opcode in hexadecimal, the name as LLVM prints it in the plain
//! form, and a hexadecimal set of processors, bit n for the n-th of [`TARGETS`]. FLAGS are the length of the plain
//! form in dwords and then a letter for each value that a source field may announce more words with: a, b, c a
//! literal (255) in the first, second and third source; p, q, r a 64-bit literal (254); s SDWA (249), d DPP16 (250) and
//! e DPP8 (233, 234) in the first; Z that only a word of zeros is this instruction. Upper case: more words follow. Lower case: LLVM refuses the encoding. Absent: the
//! opcode does not read that field.

use crate::layout::{Format, Generation, Tail};
use crate::mnemonic::{self, Form, Mnemonic};
use crate::target::{TARGETS, Target};
use std::sync::OnceLock;

pub(crate) const FILES: [&str; 4] = [
    include_str!("../tables/scalar.txt"),
    include_str!("../tables/vector.txt"),
    include_str!("../tables/vop3.txt"),
    include_str!("../tables/memory.txt"),
];

pub(crate) const LITERAL: u32 = 0;
pub(crate) const LITERAL64: u32 = 3;
pub(crate) const SDWA: u32 = 6;
pub(crate) const DPP16: u32 = 7;
pub(crate) const DPP8: u32 = 8;
/// Only the word of zeros.
pub(crate) const ZERO: u32 = 9;
const LETTERS: &[u8] = b"abcpqrsdez";
/// Refusals stand above the extensions, in the same order.
pub(crate) const REFUSED: u32 = 10;

/// One opcode. No length: there is no such opcode.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Entry {
    pub announced: u32,
    pub mnemonic: Mnemonic,
    pub dwords: u8,
    pub form: Form,
    /// LLVM marks no form of v_nop behind the name.
    pub unmarked: bool,
}

/// A format with the place of its opcodes in the array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub format: &'static Format,
    pub base: usize,
    /// LLVM marks no DPP or SDWA form of these behind the name.
    pub unmarked: bool,
}

#[derive(Debug)]
pub(crate) struct Table {
    /// By the top nine bits of the first word: index into `slots`, NONE where no format has them.
    pub by_top: [u8; 512],
    pub slots: Vec<Slot>,
    pub entries: Vec<Entry>,
    /// The two halves of a dual instruction, by their own opcodes.
    pub dual: [Vec<Entry>; 2],
    pub dual3: [Vec<Entry>; 2],
    /// Both opcodes of a pair, and what it is called.
    pub pairs: Vec<(u16, Entry)>,
}

pub(crate) const NONE: u8 = u8::MAX;

/// A parsed line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub format: &'static str,
    pub opcode: usize,
    pub name: &'static str,
    pub flags: &'static str,
    pub processors: u64,
}

pub(crate) fn rows() -> impl Iterator<Item = Row> {
    FILES.iter().flat_map(|file| file.lines()).filter_map(|line| {
        let mut words = line.split(' ');
        Some(Row {
            format: words.next()?,
            opcode: usize::from_str_radix(words.next()?, 16).ok()?,
            name: words.next()?,
            flags: words.next()?,
            processors: u64::from_str_radix(words.next()?, 16).ok()?,
        })
    })
}

static TABLES: [OnceLock<Table>; TARGETS.len()] = [const { OnceLock::new() }; TARGETS.len()];

/// The table of a processor, built at the first use.
pub(crate) fn table(target: &Target) -> Option<&'static Table> {
    let column = target.column()?;
    Some(TABLES.get(column)?.get_or_init(|| build(target, column)))
}

fn build(target: &Target, column: usize) -> Table {
    let formats = target.generation.formats();
    let mut slots = Vec::with_capacity(formats.len());
    let mut size = 0;
    for format in formats {
        let marked = matches!(target.generation, Generation::Gfx9 | Generation::Gfx10);
        slots.push(Slot { format, base: size, unmarked: format.name == "VOPC" && !marked });
        size += format.opcodes();
    }
    let mut by_top = [NONE; 512];
    for (top, place) in (0u32..).zip(&mut by_top) {
        let word = top << 23;
        if let Some(slot) = formats.iter().position(|format| word & format.mask == format.value) {
            *place = slot as u8;
        }
    }
    let mut table = Table {
        by_top,
        slots,
        entries: vec![Entry::default(); size],
        dual: [const { Vec::new() }; 2],
        dual3: [const { Vec::new() }; 2],
        pairs: Vec::new(),
    };
    for row in rows().filter(|row| row.processors >> column & 1 == 1) {
        table.insert(&row);
    }
    table
}

impl Table {
    fn insert(&mut self, row: &Row) {
        let entry = entry(row);
        match row.format {
            "VOPDX" => grow(&mut self.dual[0], row.opcode, entry),
            "VOPDY" => grow(&mut self.dual[1], row.opcode, entry),
            "VOPD3X" => grow(&mut self.dual3[0], row.opcode, entry),
            "VOPD3Y" => grow(&mut self.dual3[1], row.opcode, entry),
            "PAIR" => self.pairs.push((row.opcode as u16, entry)),
            name => {
                if let Some(slot) = self.slots.iter().find(|slot| slot.format.name == name) {
                    set(&mut self.entries, slot.base + row.opcode, entry);
                }
            }
        }
    }

    /// The opcodes of the halves of a dual instruction.
    pub fn dual(&self, dwords: u8, x: usize, y: usize) -> Option<(Entry, Entry)> {
        let [xs, ys] = if dwords == 3 { &self.dual3 } else { &self.dual };
        let (x, y) = (*xs.get(x)?, *ys.get(y)?);
        (x.dwords > 0 && y.dwords > 0).then_some((x, y))
    }

    pub fn pair(&self, first: u32, second: u32) -> Option<Entry> {
        let slot = self.slots.get(usize::from(*self.by_top.get((second >> 23) as usize)?))?;
        if slot.format.tail != Tail::Pair {
            return None;
        }
        let both = (slot.format.opcode(first.into()) << 8 | slot.format.opcode(second.into())) as u16;
        self.pairs.iter().find(|(opcodes, _)| *opcodes == both).map(|(_, entry)| *entry)
    }
}

/// Opcodes of a half have six bits at most.
fn grow(entries: &mut Vec<Entry>, index: usize, entry: Entry) {
    if entries.is_empty() {
        entries.resize(64, Entry::default());
    }
    set(entries, index, entry);
}

fn set(entries: &mut [Entry], index: usize, entry: Entry) {
    if let Some(place) = entries.get_mut(index) {
        *place = entry;
    }
}

fn entry(row: &Row) -> Entry {
    let (canonical, form) = mnemonic::split(row.name);
    let mut announced = 0;
    for letter in row.flags.bytes().skip(1) {
        if let Some(bit) = (0..).zip(LETTERS).find(|(_, l)| l.eq_ignore_ascii_case(&letter)).map(|(bit, _)| bit) {
            let refused = if letter.is_ascii_lowercase() { REFUSED } else { 0 };
            announced |= 1 << (bit + refused);
        }
    }
    let dwords = row.flags.bytes().next().map_or(0, |digit| digit.saturating_sub(b'0'));
    let mnemonic = Mnemonic::find(canonical).unwrap_or_default();
    Entry { announced, mnemonic, dwords, form, unmarked: canonical == "v_nop" }
}
