//! Random encodings for every processor: for everything that LLVM decodes, our decoder must give the same name and
//! length.

use crate::isa_tables::features;
use crate::isa_tables::llvm::{Answer, Llvm, Oracle, Words};
use isa::layout::Generation;
use isa::{DecodeStep, Decoder, TARGETS, Target};
use std::collections::BTreeMap;
use sys::random::Seeded as Random;

pub fn run(args: &[String]) -> anyhow::Result<bool> {
    let count: usize = args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(1 << 16);
    let names: Vec<&String> = args.iter().filter(|arg| arg.starts_with("gfx")).collect();
    let llvm = Llvm::open()?;
    let mut agreed = true;
    for target in TARGETS.iter().filter(|t| names.is_empty() || names.iter().any(|n| *n == t.name)) {
        let tally = compare(llvm, target, count)?;
        println!("{}: {}", target.name, tally.line());
        for (difference, (times, words)) in tally.differences.iter().take(40) {
            println!("    {times} x {difference}   e.g. {words:08x?}");
        }
        agreed &= tally.differences.is_empty();
    }
    Ok(agreed)
}

/// Known errors of LLVM 22, recognised from the encoding alone.
fn known_error(target: &Target, words: &Words, theirs: &Answer) -> bool {
    // The encoding of gfx9's v_fma_mix is accepted on every later processor, where those bits are another format or none.
    let mix =
        target.generation >= Generation::Gfx10 && words[0] >> 26 == 0b110100 && theirs.name.starts_with("v_fma_mix");
    // 255 in a scalar offset, resource, sampler or destination, and in the sources of VINTERP and of a VOP3 DPP form, is read as
    // a literal that follows.
    let format = target.generation.formats().iter().find(|format| words[0] & format.mask == format.value);
    let name = format.map_or("", |format| format.name);
    let literal = matches!(name, "MUBUF" | "MTBUF" | "VBUFFER" | "VSAMPLE" | "VINTERP" | "VOP3" | "VOP3P" | "VOPD3");
    mix || (literal && theirs.length > 8)
}

#[derive(Default)]
struct Tally {
    same: usize,
    /// Neither decoder accepts it.
    refused: usize,
    /// Only our decoder accepts it: LLVM refuses some combination of operands.
    lenient: usize,
    /// LLVM is known to be wrong.
    excused: usize,
    differences: BTreeMap<String, (usize, Words)>,
}

impl Tally {
    fn line(&self) -> String {
        let different: usize = self.differences.values().map(|(times, _)| times).sum();
        format!(
            "{} same, {different} different, {} known errors of LLVM, {} refused by both, {} by LLVM alone",
            self.same, self.excused, self.refused, self.lenient
        )
    }
}

fn compare(llvm: Llvm, target: &Target, count: usize) -> anyhow::Result<Tally> {
    let decoder = Decoder::new(target).ok_or_else(|| anyhow::anyhow!("no table for {}", target.name))?;
    let mut random = Random::new(0x15a);
    let encodings: Vec<Words> = (0..count).map(|_| encoding(target, &mut random)).collect();
    let answers = Oracle::new(llvm, target.name, features(target.generation))?.ask(&encodings)?;
    let mut tally = Tally::default();
    for (words, answer) in encodings.iter().zip(&answers) {
        let ours = ours(&decoder, words);
        match (&ours, answer) {
            (None, None) => tally.refused += 1,
            (Some(_), None) => tally.lenient += 1,
            (ours, Some(theirs)) if ours.as_ref() == Some(theirs) => tally.same += 1,
            (_, Some(theirs)) if known_error(target, words, theirs) => tally.excused += 1,
            (ours, Some(theirs)) => {
                let say = |a: &Answer| format!("{} ({})", a.name, a.length);
                let text = format!("{} we: {}", say(theirs), ours.as_ref().map_or("nothing".into(), say));
                tally.differences.entry(text).or_insert((0, *words)).0 += 1;
            }
        }
    }
    Ok(tally)
}

/// Every format equally often; values that announce further words are much more frequent than by chance.
fn encoding(target: &Target, random: &mut Random) -> Words {
    let top = random.number() % 512;
    let mut word = random.number() & 0xffff_ffff_007f_ffff | top << 23;
    if random.number().is_multiple_of(4) {
        word &= random.number() | 0xff80_0000;
    }
    if random.number().is_multiple_of(8) {
        word = (word & !0xff) | [0, 0x7e, 0x7c, 0x6a][(random.number() % 4) as usize];
    }
    let first = word as u32;
    if let Some(format) = target.generation.formats().iter().find(|format| first & format.mask == format.value) {
        for source in format.sources {
            let pick = random.number();
            if pick.is_multiple_of(4) {
                let values = [255, 254, 249, 250, 233, 234];
                word = source.put(word, values[(pick >> 32) as usize % values.len()]);
            }
        }
    }
    let rest = random.number();
    [word as u32, (word >> 32) as u32, rest as u32, (rest >> 32) as u32]
}

fn ours(decoder: &Decoder, words: &Words) -> Option<Answer> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let DecodeStep::Instruction(instruction) = decoder.step(&bytes) else { return None };
    Some(Answer { length: instruction.length, name: instruction.printed() })
}
