//! The fuzzing loop: mutates inputs and runs the parsers on them.

use crate::targets::Target;
use std::panic::{AssertUnwindSafe, catch_unwind};
use sys::random::Seeded as Random;

/// An input that made a parser panic.
#[derive(Debug, Clone)]
pub struct Failure {
    pub target: &'static str,
    pub seed: u64,
    pub round: u64,
    pub input: Vec<u8>,
    pub message: String,
}

/// Values that parsers get wrong: edges of every width, and plausible sizes.
const EDGES: [u64; 14] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    1 << 32,
    1 << 40,
    i64::MAX as u64,
    u64::MAX - 7,
    u64::MAX,
];

/// Runs the corpus unchanged, then mutations of it while `go_on` returns true, which is asked before each round.
pub fn run(
    target: &Target,
    corpus: &[Vec<u8>],
    seed: u64,
    mut go_on: impl FnMut(u64) -> bool,
) -> Result<u64, Box<Failure>> {
    let mut random = Random::new(seed);
    let mut round = 0;
    while go_on(round) {
        let input = match corpus.get(round as usize) {
            Some(file) => file.clone(),
            None => mutate(corpus, &mut random),
        };
        let tried = catch_unwind(AssertUnwindSafe(|| (target.try_on)(&input)));
        if let Err(panic) = tried {
            let text = panic.downcast_ref::<String>().cloned();
            let message = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            let message = message.unwrap_or_else(|| "a panic without words".to_owned());
            return Err(Box::new(Failure { target: target.name, seed, round, input, message }));
        }
        round += 1;
    }
    Ok(round)
}

fn mutate(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut data = corpus.get(random.below(corpus.len())).cloned().unwrap_or_default();
    for _ in 0..=random.below(6) {
        let at = random.below(data.len());
        match random.below(8) {
            0 => flip(&mut data, at, random),
            1 => write(&mut data, at, EDGES[random.below(EDGES.len())], 1 << random.below(4)),
            2 => data.truncate(at),
            3 => {
                let len = random.below(64);
                let piece: Vec<u8> = data.iter().skip(random.below(data.len())).take(len).copied().collect();
                data.splice(at..at, piece);
            }
            4 => {
                let end = (at + random.below(32)).min(data.len());
                data.drain(at..end);
            }
            // A field that holds a size or an offset is off by a little.
            5 => nudge(&mut data, at, random),
            6 => {
                let other = corpus.get(random.below(corpus.len())).map_or(&[][..], Vec::as_slice);
                let from = random.below(other.len());
                data.truncate(at);
                data.extend_from_slice(other.get(from..).unwrap_or_default());
            }
            _ => {
                let value = random.number();
                write(&mut data, at, value, 4);
            }
        }
    }
    data
}

fn flip(data: &mut [u8], at: usize, random: &mut Random) {
    if let Some(byte) = data.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn write(data: &mut [u8], at: usize, value: u64, len: usize) {
    for (byte, new) in data.iter_mut().skip(at).zip(value.to_le_bytes().into_iter().take(len)) {
        *byte = new;
    }
}

fn nudge(data: &mut [u8], at: usize, random: &mut Random) {
    let at = at & !3;
    let old = data.get(at..).and_then(|rest| rest.first_chunk::<4>()).map(|bytes| u32::from_le_bytes(*bytes));
    if let Some(old) = old {
        let new = old.wrapping_add(random.below(9) as u32).wrapping_sub(4);
        write(data, at, new.into(), 4);
    }
}
