//! Determines with LLVM which encodings an opcode refuses: the widths of its scalar operands, and the bits that have
//! only one value.

use super::llvm::{Oracle, Words};
use isa::layout::{Bits, Format, Tail};
use sys::random::Seeded as Random;

/// Encodings of one opcode (or of its DPP or SDWA form) that LLVM decodes.
pub struct Accepted<'a> {
    pub name: &'a str,
    pub encodings: Vec<Words>,
}

/// The number of accepted encodings in which each bit is flipped.
const FLIPPED: usize = 6;
/// The number of words tried after an announced DPP or SDWA form.
const CONTROLS: usize = 32;
/// A number that no processor has, a misaligned pair, VCC (a pair), and the first register of eight and of sixteen that
/// do not fit below s104.
const PROBES: [u64; 5] = [215, 107, 106, 100, 92];

/// The text after the letters of each opcode's flags: `/WIDTHS/FIXED/DPP/SDWA`, without empty parts at the end.
pub fn texts(oracle: &mut Oracle, format: &Format, dwords: usize, all: &[Accepted<'_>]) -> anyhow::Result<Vec<String>> {
    let mut plain = fixed(oracle, varying(format), dwords, all)?;
    free_numbers(oracle, format, all, &mut plain)?;
    let mut parts = vec![plain];
    let widths = widths(oracle, format, all, &parts[0])?;
    if dwords == 1 && format.sources.first().is_some_and(|source| source.width == 9) {
        for value in [250, 249] {
            let forms = announced(oracle, format, value, all)?;
            let forms: Vec<Accepted<'_>> =
                forms.iter().map(|(name, encodings)| Accepted { name, encodings: encodings.clone() }).collect();
            let fixed = fixed(oracle, varying(format) | u128::from(format.sources[0].mask()), 2, &forms)?;
            parts.push(if value == 249 { fixed.into_iter().map(whole_selectors).collect() } else { fixed });
        }
    }
    let text = |(index, widths): (usize, &String)| {
        let mut text = format!("/{widths}");
        for part in &parts {
            text.push('/');
            match part[index] {
                (0, _) => {}
                (mask, 0) => text += &format!("{mask:x}"),
                (mask, value) => text += &format!("{mask:x}={value:x}"),
            }
        }
        text.trim_end_matches('/').to_owned()
    };
    Ok(widths.iter().enumerate().map(text).collect())
}

/// Like [`texts`], for a half of a dual instruction, whose operands are in `half`.
pub fn half_texts(oracle: &mut Oracle, half: u64, all: &[Accepted<'_>]) -> anyhow::Result<Vec<String>> {
    let fixed = fixed(oracle, !u128::from(half), 2, all)?;
    Ok(fixed.iter().map(|(mask, _)| if *mask == 0 { String::new() } else { format!("//{mask:x}") }).collect())
}

/// One character for each of the format's operands: the number of registers that it reads or writes, or `-` if any
/// value is accepted or fixed bits leave it open.
fn widths(
    oracle: &mut Oracle,
    format: &Format,
    all: &[Accepted<'_>],
    fixed: &[(u128, u128)],
) -> anyhow::Result<Vec<String>> {
    let operands: Vec<_> = format.operands().collect();
    let mut encodings = Vec::new();
    for opcode in all {
        for operand in &operands {
            for probe in PROBES {
                let value = probe / operand.unit;
                let put = |words: &Words| with(words, operand.bits.put(joined(words), value));
                encodings.extend(opcode.encodings.iter().take(FLIPPED).map(put));
            }
        }
    }
    let answers = oracle.ask(&encodings)?;
    let mut answers = answers.iter();
    let mut result = Vec::with_capacity(all.len());
    for (opcode, (fixed, value)) in all.iter().zip(fixed) {
        let tried = opcode.encodings.len().min(FLIPPED);
        let mut text = String::new();
        for operand in &operands {
            let taken = PROBES.map(|_| answers.by_ref().take(tried).filter(|answer| answer.is_some()).count() > 0);
            // If a fixed bit is involved, a refusal says nothing about the number.
            let free = PROBES[1..].iter().all(|probe| {
                let bits = operand.bits.mask() & *fixed as u64;
                operand.bits.put(0, probe / operand.unit) & bits == *value as u64 & bits
            });
            text.push(if free { width(operand.bits, taken) } else { '-' });
        }
        result.push(text.trim_end_matches('-').to_owned());
    }
    Ok(result)
}

fn width(bits: Bits, [reserved, odd, pair, eight, sixteen]: [bool; 5]) -> char {
    match bits.width {
        8.. if reserved => '-',
        8.. if odd => '1',
        _ if odd => '-',
        _ if pair => '2',
        _ if eight => '4',
        _ if sixteen => '8',
        _ => 'g',
    }
}

/// For each opcode, the bits among the first `dwords` for which LLVM accepts only one value, and their values.
fn fixed(oracle: &mut Oracle, ignored: u128, dwords: usize, all: &[Accepted<'_>]) -> anyhow::Result<Vec<(u128, u128)>> {
    let bits: Vec<usize> = (0..32 * dwords).filter(|bit| ignored >> bit & 1 == 0).collect();
    let mut free: Vec<u128> = vec![ignored; all.len()];
    let mut pools: Vec<Vec<Words>> = all.iter().map(|opcode| spread(&opcode.encodings, FLIPPED)).collect();
    // The second round starts from the results of the first: a field may refuse some of its values and not others.
    for _ in 0..2 {
        let flips: Vec<Words> =
            pools.iter().flatten().flat_map(|words| bits.iter().map(|bit| flip(words, *bit))).collect();
        let answers = oracle.ask(&flips)?;
        let mut asked = flips.iter().zip(&answers);
        for ((opcode, pool), free) in all.iter().zip(&mut pools).zip(&mut free) {
            let mut reached = Vec::new();
            for (bit, (words, answer)) in bits.iter().cycle().zip(asked.by_ref().take(pool.len() * bits.len())) {
                if answer.as_ref().is_some_and(|answer| answer.name == opcode.name) {
                    *free |= 1 << bit;
                    reached.push(*words);
                }
            }
            *pool = spread(&reached, 2 * FLIPPED);
        }
    }
    let result = all.iter().zip(free).map(|(opcode, free)| {
        let Some(words) = opcode.encodings.first() else { return (0, 0) };
        let mask = !free & ((1 << (32 * dwords)) - 1);
        (mask, mask & (u128::from(joined(words)) | u128::from(words[2]) << 64))
    });
    Ok(result.collect())
}

/// Frees the bits of a scalar operand that LLVM accepts alone: a flipped bit may have produced a number that is not a
/// register.
fn free_numbers(
    oracle: &mut Oracle,
    format: &Format,
    all: &[Accepted<'_>],
    fixed: &mut [(u128, u128)],
) -> anyhow::Result<()> {
    for (opcode, (mask, value)) in all.iter().zip(fixed) {
        let zeros = *mask as u64 & !(*value as u64);
        for operand in format.operands() {
            for bit in (0..64).filter(|bit| zeros & operand.bits.mask() & 1 << bit != 0) {
                let alone = |words: &Words| with(words, operand.bits.put(joined(words), 0) | 1 << bit);
                let encodings: Vec<Words> = opcode.encodings.iter().take(FLIPPED).map(alone).collect();
                if oracle.ask(&encodings)?.iter().flatten().any(|answer| answer.name == opcode.name) {
                    *mask &= !(1 << bit);
                }
            }
        }
    }
    Ok(())
}

/// A selector of an SDWA form is fixed as a whole or not at all: although LLVM refuses 7, none of its bits is fixed.
fn whole_selectors((mut mask, mut value): (u128, u128)) -> (u128, u128) {
    for low in [40, 48, 56] {
        let selector = 7 << low;
        if mask & selector != selector {
            (mask, value) = (mask & !selector, value & !selector);
        }
    }
    (mask, value)
}

/// The bits that determine the opcode and the length: they do not count as fixed bits.
fn varying(format: &Format) -> u128 {
    let count = if let Tail::Addresses(count) = format.tail { count.mask() } else { 0 };
    u128::from(u64::from(format.mask) | format.op[0].mask() | format.op[1].mask() | count)
}

/// The form announced by `value` in the first source: its encodings that LLVM decodes, and its printed name.
fn announced(
    oracle: &mut Oracle,
    format: &Format,
    value: u64,
    all: &[Accepted<'_>],
) -> anyhow::Result<Vec<(String, Vec<Words>)>> {
    let mut encodings = Vec::new();
    let mut random = Random::new(value);
    for opcode in all {
        for index in 0..CONTROLS {
            let Some(words) = opcode.encodings.get(index % opcode.encodings.len().max(1)) else { continue };
            let first = format.sources[0].put(words[0].into(), value) as u32;
            let sparse = random.number() & random.number();
            // Whole dwords in SDWA, all rows and banks in DPP: these are always accepted.
            let usual = [0x0600_0600, 0x0606_0600, 0xff00_0000, 0xff00_e400];
            let control = usual.get(index).copied().unwrap_or(sparse as u32);
            encodings.push([first, control, words[2], words[3]]);
        }
    }
    let answers = oracle.ask(&encodings)?;
    let mut asked = encodings.iter().zip(answers);
    let mut result = Vec::with_capacity(all.len());
    for opcode in all {
        let count = if opcode.encodings.is_empty() { 0 } else { CONTROLS };
        let taken: Vec<_> = asked.by_ref().take(count).filter_map(|(words, answer)| Some((*words, answer?))).collect();
        let name = taken.iter().map(|(_, answer)| answer.name.clone()).find(|name| name != opcode.name);
        let name = name.or_else(|| Some(taken.first()?.1.name.clone())).unwrap_or_default();
        let longer = taken.into_iter().filter(|(_, answer)| answer.name == name && answer.length == 8);
        result.push((name.clone(), longer.map(|(words, _)| words).collect()));
    }
    Ok(result)
}

/// At most `count` of them, evenly spaced.
fn spread(encodings: &[Words], count: usize) -> Vec<Words> {
    encodings.iter().step_by(encodings.len().div_ceil(count).max(1)).copied().collect()
}

fn joined(words: &Words) -> u64 {
    u64::from(words[0]) | u64::from(words[1]) << 32
}

fn with(words: &Words, low: u64) -> Words {
    [low as u32, (low >> 32) as u32, words[2], words[3]]
}

fn flip(words: &Words, bit: usize) -> Words {
    let mut words = *words;
    words[bit / 32] ^= 1 << (bit % 32);
    words
}
