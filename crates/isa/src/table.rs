//! The generated tables (`tables/*.txt`, converted to records by `build.rs`), as one dense array per processor.

use crate::fast_decode::Quick;
use crate::layout::{Format, Generation, Operand, Tail};
use crate::limits::{Fixed, Limits};
use crate::mnemonic::{Form, Mnemonic};
use crate::target::{TARGETS, Target};
use std::sync::OnceLock;

include!(concat!(env!("OUT_DIR"), "/names.rs"));
static RECORDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rows.bin"));

pub(crate) const LITERAL: u32 = 0;
pub(crate) const LITERAL64: u32 = 3;
pub(crate) const SDWA: u32 = 6;
pub(crate) const DPP16: u32 = 7;
pub(crate) const DPP8: u32 = 8;
/// The bits for refusals follow the extensions, in the same order.
pub(crate) const REFUSED: u32 = 9;

/// An opcode. A length of zero means that the opcode does not exist.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Entry {
    pub announced: u32,
    pub mnemonic: Mnemonic,
    pub dwords: u8,
    pub form: Form,
    /// Whether LLVM prints the name without a form suffix, as for v_nop.
    pub unmarked: bool,
    limits: u16,
}

impl Entry {
    /// The restrictions of the opcode.
    pub fn limits(&self) -> Option<&'static Limits> {
        LIMITS.get(usize::from(self.limits))
    }
}

/// A format with the position of its opcodes in the array.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub format: &'static Format,
    pub operands: Vec<Operand>,
    pub base: usize,
    /// Whether LLVM prints the DPP and SDWA forms of this format without a suffix.
    pub unmarked: bool,
}

#[derive(Debug)]
pub(crate) struct OpcodeTable {
    pub generation: Generation,
    /// Indices into `slots` by the top nine bits of the first word. NONE if no format has these bits.
    pub by_top: [u8; 512],
    pub slots: Vec<Slot>,
    pub entries: Vec<Entry>,
    /// The two halves of a dual instruction, by their own opcodes.
    pub dual: [Vec<Entry>; 2],
    pub dual3: [Vec<Entry>; 2],
    /// Both opcodes of a pair, and its name.
    pub pairs: Vec<(u16, Entry)>,
    pub quick: Quick,
}

pub(crate) const NONE: u8 = u8::MAX;

/// One row of the tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub format: &'static str,
    pub opcode: usize,
    pub processors: u64,
    pub entry: Entry,
}

pub(crate) fn rows() -> impl Iterator<Item = Row> {
    RECORDS.as_chunks::<20>().0.iter().filter_map(|record| {
        let [p0, p1, p2, p3, p4, p5, p6, p7, a0, a1, a2, a3, m0, m1, o0, o1, packed, form, l0, l1] = *record;
        let mnemonic = Mnemonic(u16::from_le_bytes([m0, m1]));
        Some(Row {
            format: FORMATS.get(usize::from(packed & 31))?,
            opcode: u16::from_le_bytes([o0, o1]).into(),
            processors: u64::from_le_bytes([p0, p1, p2, p3, p4, p5, p6, p7]),
            entry: Entry {
                announced: u32::from_le_bytes([a0, a1, a2, a3]),
                mnemonic,
                dwords: packed >> 5,
                form: *Form::ALL.get(usize::from(form))?,
                unmarked: mnemonic.name() == "v_nop",
                limits: u16::from_le_bytes([l0, l1]),
            },
        })
    })
}

static TABLES: [OnceLock<OpcodeTable>; TARGETS.len()] = [const { OnceLock::new() }; TARGETS.len()];

/// The table of a processor, built at the first use.
pub(crate) fn table(target: &Target) -> Option<&'static OpcodeTable> {
    let column = target.column()?;
    Some(TABLES.get(column)?.get_or_init(|| build(target, column)))
}

fn build(target: &Target, column: usize) -> OpcodeTable {
    let formats = target.generation.formats();
    let mut slots = Vec::with_capacity(formats.len());
    let mut size = 0;
    for format in formats {
        let marked = matches!(target.generation, Generation::Gfx9 | Generation::Gfx10);
        let operands = format.operands().collect();
        slots.push(Slot { format, operands, base: size, unmarked: format.name == "VOPC" && !marked });
        size += format.opcodes();
    }
    let mut by_top = [NONE; 512];
    for (top, place) in (0u32..).zip(&mut by_top) {
        let word = top << 23;
        if let Some(slot) = formats.iter().position(|format| word & format.mask == format.value) {
            *place = slot as u8;
        }
    }
    let mut table = OpcodeTable {
        generation: target.generation,
        by_top,
        slots,
        entries: vec![Entry::default(); size],
        dual: [const { Vec::new() }; 2],
        dual3: [const { Vec::new() }; 2],
        pairs: Vec::new(),
        quick: Quick::new(&[NONE; 512], &[], &[], false),
    };
    for row in rows().filter(|row| row.processors >> column & 1 == 1) {
        table.insert(&row);
    }
    table.quick = Quick::new(&table.by_top, &table.slots, &table.entries, !table.pairs.is_empty());
    table
}

impl OpcodeTable {
    fn insert(&mut self, row: &Row) {
        let entry = row.entry;
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

/// Grows the list to hold `index`. Opcodes of a half have at most six bits.
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
