//! Compares every distinct encoding of a code object with libLLVM, the library behind llvm-objdump.
//!
//! The name and length of an instruction depend only on its own bytes, so each encoding is compared only once. Real
//! code repeats itself, so this is many times faster than printing all of it. If every encoding agrees in name and
//! length, so does the whole walk from one function's start to the next.

use super::objdump::Comparison;
use crate::isa_tables::features;
use crate::isa_tables::llvm::{Llvm, Oracle, Words};
use anyhow::Context;
use codeobject::CodeObject;
use isa::{DecodeStep, Decoder, Target};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Encodings seen so far, by processor.
#[derive(Default)]
pub struct Distinct {
    seen: HashMap<&'static str, HashSet<u128, BuildHasherDefault<Mix>>>,
}

/// The keys are instructions; one multiplication spreads them.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64((*byte).into());
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_u128(&mut self, value: u128) {
        self.write_u64(value as u64);
        self.write_u64((value >> 64) as u64);
    }
}

impl Distinct {
    /// Compares the new encodings of this code object; also returns their number.
    pub fn compare(&mut self, llvm: Llvm, label: &str, bytes: &[u8]) -> anyhow::Result<(Comparison, u64)> {
        let data = bytes.to_vec();
        let object = CodeObject::parse(&data)?;
        let target =
            Target::find(object.processor()).with_context(|| format!("no table for {}", object.processor()))?;
        let decoder = Decoder::new(target).context("no table")?;
        let seen = self.seen.entry(target.name).or_default();
        let mut comparison = Comparison { target: target.name.to_owned(), ..Comparison::default() };
        let functions = object.functions()?;
        let mut fresh: Vec<(Words, usize, String)> = Vec::new();
        for section in object.text_sections() {
            let code = object.elf().data(section)?;
            let mut starts: Vec<usize> = functions
                .iter()
                .filter(|(_, extent)| section.holds(extent.address))
                .map(|(_, extent)| (extent.address - section.address) as usize)
                .collect();
            starts.extend([0, code.len()]);
            starts.sort_unstable();
            starts.dedup();
            for pair in starts.windows(2) {
                let (from, to) = (pair[0], pair[1].min(code.len()));
                for (offset, length, step) in decoder.walk(&code[from..to]) {
                    comparison.instructions += 1;
                    let DecodeStep::Instruction(instruction) = step else {
                        comparison.undecoded += 1;
                        continue;
                    };
                    let at = from + offset;
                    // For scale loads, the following word distinguishes a single scale from a pair.
                    let own = if instruction.mnemonic.name().contains("ld_scale") { 16 } else { length };
                    let key = word(&code[at..], own) ^ (((length / 4) as u128) << 126);
                    if seen.insert(key) {
                        let all = word(&code[at..], 16);
                        let words = [all as u32, (all >> 32) as u32, (all >> 64) as u32, (all >> 96) as u32];
                        fresh.push((words, length, instruction.printed()));
                    }
                }
            }
        }
        let encodings: Vec<Words> = fresh.iter().map(|(words, ..)| *words).collect();
        // Uses only the first set of features, like the run of llvm-objdump.
        let first = &features(target.generation)[..1];
        let answers = Oracle::new(llvm, target.name, first)?.ask(&encodings)?;
        for ((words, length, ours), theirs) in fresh.iter().zip(answers) {
            let theirs = theirs.map(|answer| (answer.name, answer.length));
            if theirs.as_ref() != Some(&(ours.clone(), *length)) {
                let text = format!("{theirs:?} | {ours} ({length})");
                let place = format!("{label}: {words:08x?}");
                comparison.differences.entry(text).or_insert((0, place)).0 += 1;
            }
        }
        Ok((comparison, encodings.len() as u64))
    }
}

/// The first `length` bytes, sixteen at most, as one number.
fn word(bytes: &[u8], length: usize) -> u128 {
    let mut all = [0; 16];
    let length = length.min(bytes.len()).min(16);
    all[..length].copy_from_slice(&bytes[..length]);
    u128::from_le_bytes(all)
}
