//! Queries LLVM about the opcodes of one format: their names, their lengths, and the words that their source fields
//! announce.

use super::filling::{MATRIX_MODIFIERS, filling};
use super::limits::{self, Accepted};
use super::llvm::{Answer, Oracle, Words};
use isa::layout::{Bits, Format, Generation, Tail};
use std::collections::{BTreeMap, BTreeSet};
use sys::random::Seeded as Random;

/// The table entry of one opcode.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    pub format: &'static str,
    pub opcode: usize,
    /// The name in the plain form, including `_e32` and `_e64`.
    pub name: String,
    /// Length of the plain form in dwords, then one letter per announcement (see `isa::table`).
    pub flags: String,
}

/// The number of fillings tried before an opcode counts as missing. Image instructions need the most.
const TRIES: usize = 64;
/// Only one in a hundred of these decodes; each half is tried with v_dual_fma_f32 (0x13) as the other half.
const DUAL3_TRIES: usize = 2048;
const IMAGE_TRIES: usize = 192;
/// The number of decoded fillings that are kept for trying the announcements.
const GOOD: usize = 8;

const LITERAL: u64 = 255;
const LITERAL64: u64 = 254;
const ANNOUNCEMENTS: [(u64, char); 3] = [(249, 's'), (250, 'd'), (233, 'e')];
/// Words after an announced DPP or SDWA form: several, because not every instruction accepts every control.
const CONTROLS: [u32; 5] = [0, 0x0600_0600, 0xff00_0000, 0x0006_0600, 0xfac6_8800];

/// An opcode that LLVM decodes, and fillings that it decoded.
struct Found {
    opcode: usize,
    plain: Answer,
    good: Vec<Words>,
}

/// The results for a format: rows for the tables, and encodings with LLVM's answers for testing the decoder.
#[derive(Default)]
pub struct Probed {
    pub rows: Vec<Row>,
    pub samples: Vec<(Words, Answer)>,
}

/// A field, the value that may announce more words, and the letter for it in a row.
type Question = (Bits, u64, char);

/// The opcodes of `format` that LLVM decodes. Opcodes that LLVM prints with more than one name or length go to
/// `conflicts`.
pub fn format(
    oracle: &mut Oracle,
    generation: Generation,
    format: &Format,
    conflicts: &mut Vec<String>,
) -> anyhow::Result<Probed> {
    let opcodes: Vec<usize> = (0..format.opcodes())
        .filter(|&op| belongs(generation, format, op))
        .filter(|&op| format.name != "VOPD3" || op >> 6 == 0x13 || op & 63 == 0x13)
        .collect();
    let tries = match format.name {
        "MIMG" | "VIMAGE" | "VSAMPLE" => IMAGE_TRIES,
        "VOPD3" => DUAL3_TRIES,
        _ => TRIES,
    };
    let fill = |opcode, attempt, random: &mut Random| filling(format, opcode, random, attempt);
    // LLVM 22 decodes some image atomics of gfx12 as gfx9's v_fma_mix, whose fixed bits they share.
    let least = if format.name == "VIMAGE" { 12 } else { 4 };
    let found = search(oracle, format.name, &opcodes, (tries, least), fill, conflicts)?;
    if let Tail::Dual { width, .. } = format.tail {
        return dual(oracle, generation, format, width, &found);
    }
    let mut questions: Vec<Question> = Vec::new();
    let wide = format.sources.len() == 3;
    if !wide || takes_literals(oracle, format, &found)? {
        questions.extend(format.sources.iter().zip(['a', 'b', 'c']).map(|(&source, letter)| (source, LITERAL, letter)));
    }
    if generation == Generation::Gfx125 {
        questions
            .extend(format.sources.iter().zip(['p', 'q', 'r']).map(|(&source, letter)| (source, LITERAL64, letter)));
    }
    if let Some(&source) = format.sources.first().filter(|source| source.width == 9) {
        questions.extend(ANNOUNCEMENTS.iter().map(|&(value, letter)| (source, value, letter)));
    }
    let mut probed = Probed::default();
    let flags = announcements(oracle, &found, &questions, &mut probed.samples)?;
    let limits = refusals(oracle, format, &found)?;
    for ((found, flags), limits) in found.iter().zip(flags).zip(limits) {
        let (name, flags) = (found.plain.name.clone(), flags + &limits);
        probed.rows.push(Row { format: format.name, opcode: found.opcode, name, flags });
        probed.samples.extend(found.sample());
    }
    if format.tail == Tail::Pair {
        for found in pairs(oracle, format)? {
            probed.samples.extend(found.sample());
            let row = Row { format: "PAIR", opcode: found.opcode, name: found.plain.name, flags: "4".into() };
            probed.rows.push(row);
        }
    }
    Ok(probed)
}

/// The meaning of the letters of each opcode's flags.
fn refusals(oracle: &mut Oracle, format: &Format, found: &[Found]) -> anyhow::Result<Vec<String>> {
    let mut texts = vec![String::new(); found.len()];
    for dwords in 1..=3 {
        let same = |found: &&Found| (found.plain.length / 4).min(3) == dwords;
        let all: Vec<Accepted<'_>> = found
            .iter()
            .filter(same)
            .map(|found| Accepted { name: &found.plain.name, encodings: found.good.clone() })
            .collect();
        let places = texts.iter_mut().zip(found).filter(|(_, found)| same(found)).map(|(text, _)| text);
        for (place, text) in places.zip(limits::texts(oracle, format, dwords, &all)?) {
            *place = text;
        }
    }
    Ok(texts)
}

impl Found {
    fn sample(&self) -> Option<(Words, Answer)> {
        Some((*self.good.first()?, self.plain.clone()))
    }
}

/// Tries fillings of every opcode and keeps those that LLVM decodes, except readings shorter than `least` bytes.
fn search(
    oracle: &mut Oracle,
    name: &str,
    opcodes: &[usize],
    (tries, least): (usize, usize),
    fill: impl Fn(usize, usize, &mut Random) -> Words,
    conflicts: &mut Vec<String>,
) -> anyhow::Result<Vec<Found>> {
    let mut encodings = Vec::with_capacity(opcodes.len() * tries);
    for &opcode in opcodes {
        let mut random = Random::new((opcode as u64) << 8);
        encodings.extend((0..tries).map(|attempt| fill(opcode, attempt, &mut random)));
    }
    let answers = oracle.ask(&encodings)?;
    let mut all = Vec::new();
    for ((&opcode, encodings), answers) in opcodes.iter().zip(encodings.chunks(tries)).zip(answers.chunks(tries)) {
        let good: Vec<(&Words, &Answer)> = encodings
            .iter()
            .zip(answers)
            .filter_map(|(words, answer)| Some((words, answer.as_ref()?)))
            .filter(|(_, answer)| answer.length >= least && !(name == "VIMAGE" && answer.name.starts_with("v_")))
            .collect();
        let said: BTreeSet<(&str, usize)> =
            good.iter().map(|(_, answer)| (answer.name.as_str(), answer.length)).collect();
        if said.len() > 1 {
            conflicts.push(format!("{name} {opcode:#x}: {said:?}"));
        }
        // The most frequent answer: a random field may hit a value that only LLVM reads as a literal.
        let votes = |wanted: &Answer| good.iter().filter(|(_, answer)| *answer == wanted).count();
        if let Some((_, plain)) = good.iter().max_by_key(|(_, answer)| (votes(answer), answer.length.wrapping_neg())) {
            let good = good.iter().filter(|(_, answer)| answer == plain).take(GOOD).map(|(words, _)| **words).collect();
            all.push(Found { opcode, plain: (*plain).clone(), good });
        }
    }
    Ok(all)
}

/// Whether any opcode of the wide formats accepts a literal here. A few are tried first: if the processor has no such
/// literals, LLVM crashes on each.
fn takes_literals(oracle: &mut Oracle, format: &Format, found: &[Found]) -> anyhow::Result<bool> {
    let mut encodings: Vec<Words> = Vec::new();
    for found in found.iter().step_by(1 + found.len() / 16) {
        encodings.extend(
            found.good.first().into_iter().flat_map(|words| announced(*words, 8, format.sources[0], LITERAL).take(1)),
        );
    }
    Ok(oracle.ask(&encodings)?.iter().flatten().any(|answer| answer.length > 8))
}

/// The flags of each opcode: the plain length, then a letter per announcement. One encoding for each that makes the
/// instruction longer goes to `samples`.
fn announcements(
    oracle: &mut Oracle,
    found: &[Found],
    questions: &[Question],
    samples: &mut Vec<(Words, Answer)>,
) -> anyhow::Result<Vec<String>> {
    let mut encodings = Vec::new();
    for found in found {
        for &(source, value, _) in questions {
            encodings.extend(found.good.iter().flat_map(|words| announced(*words, found.plain.length, source, value)));
        }
    }
    let answers = oracle.ask(&encodings)?;
    let mut answers = encodings.iter().zip(&answers);
    let mut all = Vec::new();
    for found in found {
        let mut flags = (found.plain.length / 4).to_string();
        for &(.., letter) in questions {
            let asked = answers.by_ref().take(found.good.len() * CONTROLS.len());
            let said: Vec<(&Words, &Answer)> =
                asked.filter_map(|(words, answer)| Some((words, answer.as_ref()?))).collect();
            if let Some((words, answer)) = said.iter().find(|(_, answer)| answer.length > found.plain.length) {
                flags.push(letter.to_ascii_uppercase());
                samples.push((**words, (*answer).clone()));
            } else if said.is_empty() {
                flags.push(letter);
            }
        }
        all.push(flags);
    }
    Ok(all)
}

/// The encoding with `value` in `source`, with each of the control words after its plain form.
fn announced(words: Words, length: usize, source: Bits, value: u64) -> impl Iterator<Item = Words> {
    let word = source.put(u64::from(words[0]) | (u64::from(words[1]) << 32), value);
    CONTROLS.iter().map(move |&control| {
        let mut changed = [word as u32, (word >> 32) as u32, words[2], words[3]];
        if let Some(word) = changed.get_mut(length / 4) {
            *word = control;
        }
        changed
    })
}

/// The halves of a dual instruction, each by its own opcode: the name of one half does not depend on the other.
fn dual(
    oracle: &mut Oracle,
    generation: Generation,
    format: &Format,
    width: u8,
    found: &[Found],
) -> anyhow::Result<Probed> {
    let names = if format.name == "VOPD3" { ["VOPD3X", "VOPD3Y"] } else { ["VOPDX", "VOPDY"] };
    let mut probed = Probed::default();
    for (half, name) in names.into_iter().enumerate() {
        let mut questions: Vec<Question> = vec![(format.sources[half], LITERAL, 'a')];
        if generation == Generation::Gfx125 {
            questions.push((format.sources[half], LITERAL64, 'p'));
        }
        let flags = announcements(oracle, found, &questions, &mut Vec::new())?;
        let mut halves: BTreeMap<usize, (String, String)> = BTreeMap::new();
        for (found, flags) in found.iter().zip(flags) {
            let opcode = if half == 0 { found.opcode >> width } else { found.opcode & ((1 << width) - 1) };
            let printed = found.plain.name.split(" :: ").nth(half).unwrap_or_default().to_owned();
            if !halves.contains_key(&opcode) {
                probed.samples.extend(found.sample());
            }
            let known = halves.entry(opcode).or_insert_with(|| (printed.clone(), flags.clone()));
            anyhow::ensure!(known.0 == printed, "{name} {opcode:#x} is both {} and {printed}", known.0);
            // If the other half always has a literal, the shortest length counts.
            known.1 = flags.min(known.1.clone());
        }
        let refused = half_refusals(oracle, format, half, width, found)?;
        let rows = halves.into_iter().map(|(opcode, (printed, flags))| {
            let refused = refused.get(&opcode).map_or("", String::as_str);
            Row { format: name, opcode, name: printed, flags: flags + refused }
        });
        probed.rows.extend(rows);
    }
    Ok(probed)
}

/// The operands of both halves of VOPD: first source, second source, result.
const HALVES: [u64; 2] = [0xff00_0000_0001_ffff, 0x00ff_ffff_0000_0000];

/// The meaning of the letters of each half's flags, by its opcode.
fn half_refusals(
    oracle: &mut Oracle,
    format: &Format,
    half: usize,
    width: u8,
    found: &[Found],
) -> anyhow::Result<BTreeMap<usize, String>> {
    if format.name == "VOPD3" {
        return Ok(BTreeMap::new());
    }
    let mut by_opcode: BTreeMap<usize, &Found> = BTreeMap::new();
    for found in found {
        let opcode = if half == 0 { found.opcode >> width } else { found.opcode & ((1 << width) - 1) };
        let best = by_opcode.entry(opcode).or_insert(found);
        if found.good.len() > best.good.len() {
            *best = found;
        }
    }
    let all: Vec<Accepted<'_>> =
        by_opcode.values().map(|found| Accepted { name: &found.plain.name, encodings: found.good.clone() }).collect();
    let texts = limits::half_texts(oracle, HALVES[half], &all)?;
    Ok(by_opcode.into_keys().zip(texts).collect())
}

/// Two eight-byte encodings that LLVM prints as one instruction.
fn pairs(oracle: &mut Oracle, format: &Format) -> anyhow::Result<Vec<Found>> {
    // Only matrix opcodes are modified by another instruction, and all matrix opcodes are in the upper part of the
    // range.
    let opcodes: Vec<usize> = (0..1 << 16)
        .filter(|both| [both >> 8, both & 255].iter().all(|half| (0x20..format.opcodes()).contains(half)))
        .collect();
    // Nearly all of the first half is fixed: two scales in vector registers, and zeros or VGPR 0 in unused fields.
    let [a, b, c] = [format.sources[0], format.sources[1], format.sources[2]];
    let fill = |both: usize, attempt: usize, random: &mut Random| {
        let mut register = || 256 + (random.number() % 16) * 8;
        let scales = b.put(a.put(0, register()), register());
        let first = format.with_opcode(c.put(scales, [0, 256][attempt % 2]), both >> 8);
        let modifiers = MATRIX_MODIFIERS[attempt / 2 % MATRIX_MODIFIERS.len()];
        let operands = c.put(b.put(a.put(modifiers, register()), register()), register());
        let second = format.with_opcode(operands, both & 255);
        [first as u32, (first >> 32) as u32, second as u32, (second >> 32) as u32]
    };
    search(oracle, "PAIR", &opcodes, (8, 16), fill, &mut Vec::new())
}

/// Whether the opcode is this format's own, or hidden by a format that is tried before it.
fn belongs(generation: Generation, format: &Format, opcode: usize) -> bool {
    let word = format.with_opcode(0, opcode) as u32;
    let first = generation.formats().iter().find(|other| word & other.mask == other.value);
    first.is_some_and(|first| first.name == format.name)
}
