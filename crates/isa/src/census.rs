//! The census: every byte of a code section, counted once.
//!
//! A section is divided at the starts of its functions. Bytes outside functions are padding if they are `s_code_end`,
//! `s_nop` or zeros. Otherwise they are code outside any function. A function whose symbol has no size extends to the
//! next one, and the padding at its end does not count as part of it.

use crate::counts::Counts;
use crate::decode::{DecodeStep, Decoder};
use crate::family::Family;
use crate::mnemonic::Mnemonic;
use std::ops::Range;

/// The range of a function in its section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    pub range: Range<usize>,
    /// Whether the symbol states the size. If not, padding at its end does not belong to it.
    pub stated: bool,
}

/// The counts for one range of code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// A dual instruction counts as one instruction and two operations.
    pub instructions: u64,
    pub operations: u64,
    /// Bytes of decoded instructions.
    pub bytes: u64,
    /// Operations by mnemonic, in the order of their names.
    pub mnemonics: Vec<(Mnemonic, u64)>,
    /// Offsets in the section of words that are not instructions.
    pub undecoded: Vec<usize>,
    /// Instructions that the end of their function or section cuts off: the offset, and the number of bytes that are
    /// present.
    pub cut: Vec<(usize, usize)>,
    /// Bytes of padding.
    pub padding: u64,
}

impl Tally {
    /// Whether every byte was an instruction or padding.
    pub fn is_complete(&self) -> bool {
        self.undecoded.is_empty() && self.cut.is_empty()
    }

    pub fn count(&self, wanted: impl Fn(Mnemonic) -> bool) -> u64 {
        self.mnemonics.iter().filter(|(mnemonic, _)| wanted(*mnemonic)).map(|(_, count)| count).sum()
    }

    pub fn family(&self, family: Family) -> u64 {
        self.count(|mnemonic| Family::of(mnemonic) == family)
    }

    /// The families that occur, with their counts.
    pub fn families(&self) -> Vec<(Family, u64)> {
        let mut counts = vec![0; Family::ALL.len()];
        for (mnemonic, count) in &self.mnemonics {
            if let Some(place) = counts.get_mut(Family::of(*mnemonic) as usize) {
                *place += count;
            }
        }
        Family::ALL.iter().copied().zip(counts).filter(|(_, count)| *count > 0).collect()
    }
}

/// The sum of many tallies.
#[derive(Debug, Clone, Default)]
pub struct Sum {
    counts: Vec<u64>,
    tally: Tally,
    undecoded: u64,
    cut: u64,
}

impl Sum {
    pub fn add(&mut self, tally: &Tally) {
        if self.counts.is_empty() {
            self.counts = vec![0; Mnemonic::count()];
        }
        for (mnemonic, count) in &tally.mnemonics {
            if let Some(place) = self.counts.get_mut(mnemonic.index()) {
                *place += count;
            }
        }
        self.tally.instructions += tally.instructions;
        self.tally.operations += tally.operations;
        self.tally.bytes += tally.bytes;
        self.tally.padding += tally.padding;
        self.undecoded += tally.undecoded.len() as u64;
        self.cut += tally.cut.len() as u64;
    }

    /// The counts. Offsets of undecoded words are left out, because they belong to their sections.
    pub fn tally(&self) -> Tally {
        let mut tally = self.tally.clone();
        tally.mnemonics = sparse(&self.counts);
        tally
    }

    pub fn undecoded(&self) -> u64 {
        self.undecoded
    }

    pub fn cut(&self) -> u64 {
        self.cut
    }

    pub fn is_complete(&self) -> bool {
        self.undecoded == 0 && self.cut == 0
    }
}

/// The counts of a section: one tally for each requested function, one for the rest.
#[derive(Debug, Clone, Default)]
pub struct Section {
    pub functions: Vec<Tally>,
    pub outside: Tally,
}

/// Counts `bytes`. Functions may be in any order. If two overlap, the bytes belong to the one that starts last. If two
/// start at the same place, the second counts as an alias. It gets the same tally, and the caller must add only one of
/// them (`aliases`).
pub fn section(decoder: &Decoder, bytes: &[u8], functions: &[Function]) -> Section {
    let mut order: Vec<usize> = (0..functions.len()).collect();
    order.sort_by_key(|&i| functions.get(i).map_or(0, |function| function.range.start));
    let mut result = Section { functions: vec![Tally::default(); functions.len()], outside: Tally::default() };
    let mut counter = Counter::new(decoder);
    let mut at = 0;
    let mut previous: Option<(usize, usize)> = None;
    for (place, &index) in order.iter().enumerate() {
        let Some(function) = functions.get(index) else { continue };
        let start = function.range.start.min(bytes.len());
        if let Some((first, begin)) = previous.filter(|(_, begin)| *begin == start) {
            previous = Some((first, begin));
            let tally = result.functions.get(first).cloned().unwrap_or_default();
            if let Some(slot) = result.functions.get_mut(index) {
                *slot = tally;
            }
            continue;
        }
        counter.gap(bytes, at..start);
        let rest = order.get(place + 1..).unwrap_or_default();
        let mut starts = rest.iter().filter_map(|&i| functions.get(i)).map(|function| function.range.start);
        let next = starts.find(|&next| next > start).unwrap_or(bytes.len());
        let end = function.range.end.min(next).min(bytes.len()).max(start);
        let tally = counter.function(bytes, start..end, function.stated, &mut result.outside.padding);
        if let Some(slot) = result.functions.get_mut(index) {
            *slot = tally;
        }
        previous = Some((index, start));
        at = end;
    }
    counter.gap(bytes, at..bytes.len());
    let padding = result.outside.padding;
    result.outside = counter.outside();
    result.outside.padding += padding;
    result
}

/// Whether each function shares its start with an earlier one in the list.
pub fn aliases(functions: &[Function]) -> Vec<bool> {
    let mut seen = std::collections::HashSet::new();
    functions.iter().map(|function| !seen.insert(function.range.start)).collect()
}

fn sparse(counts: &[u64]) -> Vec<(Mnemonic, u64)> {
    let indexed = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    indexed.map(|(index, count)| (Mnemonic(index as u16), *count)).collect()
}

struct Counter<'d> {
    decoder: &'d Decoder,
    counts: Counts,
    tally: Tally,
    outside: Counts,
    outside_tally: Tally,
    nop: Option<Mnemonic>,
    code_end: Option<Mnemonic>,
}

impl<'d> Counter<'d> {
    fn new(decoder: &'d Decoder) -> Self {
        Counter {
            decoder,
            counts: Counts::new(),
            tally: Tally::default(),
            outside: Counts::new(),
            outside_tally: Tally::default(),
            nop: Mnemonic::find("s_nop"),
            code_end: Mnemonic::find("s_code_end"),
        }
    }

    fn function(&mut self, bytes: &[u8], range: Range<usize>, stated: bool, padding: &mut u64) -> Tally {
        let end = if stated { range.end } else { self.content_end(bytes, range.clone()) };
        *padding += (range.end - end) as u64;
        self.tally = Tally::default();
        self.count(bytes, range.start..end);
        let mut tally = std::mem::take(&mut self.tally);
        tally.mnemonics = self.counts.take();
        tally
    }

    /// Counts the bytes between functions.
    fn gap(&mut self, bytes: &[u8], range: Range<usize>) {
        if range.start >= range.end {
            return;
        }
        let mut at = range.start;
        while at < range.end {
            let run = self.padding_run(bytes, at..range.end);
            self.outside_tally.padding += run as u64;
            at += run;
            let Some(rest) = bytes.get(at..range.end).filter(|rest| !rest.is_empty()) else { return };
            let length = match self.decoder.step(rest) {
                DecodeStep::Instruction(instruction) => instruction.length,
                DecodeStep::Undecoded => 4,
                DecodeStep::Cut => rest.len(),
            };
            std::mem::swap(&mut self.counts, &mut self.outside);
            std::mem::swap(&mut self.tally, &mut self.outside_tally);
            self.count(bytes, at..at + length);
            std::mem::swap(&mut self.counts, &mut self.outside);
            std::mem::swap(&mut self.tally, &mut self.outside_tally);
            at += length;
        }
    }

    fn outside(&mut self) -> Tally {
        let mut tally = std::mem::take(&mut self.outside_tally);
        tally.mnemonics = self.outside.take();
        tally
    }

    fn count(&mut self, bytes: &[u8], range: Range<usize>) {
        let Some(code) = bytes.get(range.clone()) else { return };
        let mut at = 0;
        while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
            let (counts, tally) = (&mut self.counts, &mut self.tally);
            let mut instructions = 0;
            let done = self.decoder.rush(rest, |_, mnemonic, _| {
                counts.add(mnemonic);
                instructions += 1;
            });
            tally.instructions += instructions;
            tally.operations += instructions;
            tally.bytes += done as u64;
            at += done;
            at += self.count_one(code.get(at..).unwrap_or_default(), range.start + at);
        }
    }

    /// Counts the item at the start of `rest`, and returns its length.
    fn count_one(&mut self, rest: &[u8], offset: usize) -> usize {
        if rest.is_empty() {
            return 0;
        }
        match self.decoder.step(rest) {
            DecodeStep::Instruction(instruction) => {
                self.tally.instructions += 1;
                self.tally.bytes += instruction.length as u64;
                for mnemonic in [Some(instruction.mnemonic), instruction.second].into_iter().flatten() {
                    self.counts.add(mnemonic);
                    self.tally.operations += 1;
                }
                instruction.length
            }
            DecodeStep::Undecoded => {
                self.tally.undecoded.push(offset);
                4
            }
            DecodeStep::Cut => {
                self.tally.cut.push((offset, rest.len()));
                rest.len()
            }
        }
    }

    /// The length of the padding that starts here.
    fn padding_run(&self, bytes: &[u8], range: Range<usize>) -> usize {
        let words = bytes.get(range).unwrap_or_default().chunks_exact(4);
        4 * words.take_while(|word| self.is_padding(word)).count()
    }

    /// The end of a function without a stated size: before the padding after its last instruction.
    fn content_end(&self, bytes: &[u8], range: Range<usize>) -> usize {
        let code = bytes.get(range.clone()).unwrap_or_default();
        let (mut end, mut at) = (0, 0);
        while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
            self.decoder.rush(rest, |word, mnemonic, length| {
                at += length;
                let padding = word == 0 || Some(mnemonic) == self.nop || Some(mnemonic) == self.code_end;
                end = if padding { end } else { at };
            });
            let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) else { break };
            let (length, padding) = match self.decoder.step(rest) {
                DecodeStep::Instruction(instruction) => {
                    (instruction.length, self.is_padding(rest.get(..instruction.length).unwrap_or_default()))
                }
                DecodeStep::Undecoded => (4, false),
                DecodeStep::Cut => (rest.len(), false),
            };
            at += length;
            end = if padding { end } else { at };
        }
        range.start + end
    }

    fn is_padding(&self, word: &[u8]) -> bool {
        if word == [0; 4] {
            return true;
        }
        match self.decoder.step(word) {
            DecodeStep::Instruction(instruction) => {
                Some(instruction.mnemonic) == self.nop || Some(instruction.mnemonic) == self.code_end
            }
            _ => false,
        }
    }
}
