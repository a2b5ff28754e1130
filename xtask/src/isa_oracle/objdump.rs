//! llvm-objdump as the oracle: one code object, instruction by instruction.

use anyhow::{Context, bail};
use codeobject::CodeObject;
use isa::{DecodeStep, Decoder, Target};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

pub const OBJDUMP: &str = "llvm-objdump-22";

#[derive(Debug, Default, Clone)]
pub struct Comparison {
    pub target: String,
    pub instructions: u64,
    /// Words that we cannot decode.
    pub undecoded: u64,
    /// Words that LLVM prints as `.long` but we decode.
    pub only_ours: u64,
    /// Each difference, with its count and its first position.
    pub differences: BTreeMap<String, (u64, String)>,
}

impl Comparison {
    pub fn different(&self) -> u64 {
        self.differences.values().map(|(times, _)| times).sum()
    }

    pub fn agrees(&self) -> bool {
        self.differences.is_empty() && self.undecoded == 0
    }
}

/// Compares every instruction of every executable section.
pub fn compare(label: &str, bytes: &[u8]) -> anyhow::Result<Comparison> {
    let data = bytes.to_vec();
    let object = CodeObject::parse(&data)?;
    let mut comparison = Comparison { target: object.processor().to_owned(), ..Comparison::default() };
    let target = Target::find(object.processor()).with_context(|| format!("no table for {}", object.processor()))?;
    let decoder = Decoder::new(target).context("no table")?;
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(bytes)?;
    let mut command = Command::new(OBJDUMP);
    command.args(["-d", "-z", "--no-show-raw-insn", "--no-leading-headers"]);
    if target.generation >= isa::layout::Generation::Gfx11 {
        command.arg("--mattr=+real-true16");
    }
    let mut child = command.arg(file.path()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let output = child.stdout.take().context("no output")?;
    let mut lines = BufReader::with_capacity(1 << 20, output);
    let sections: Vec<(u64, Vec<u8>)> = object
        .text_sections()
        .map(|section| Ok((section.address, object.elf().data(section)?.into_owned())))
        .collect::<Result<_, codeobject::Error>>()?;
    let mut line = String::new();
    // The previous instruction: its length is known once the next address is.
    let mut open: Option<(u64, String)> = None;
    loop {
        line.clear();
        let more = lines.read_line(&mut line)? > 0;
        let parsed = if more { parse(&line) } else { None };
        if more && parsed.is_none() {
            continue;
        }
        if let Some((address, name)) = open.take() {
            judge(
                &mut comparison,
                &decoder,
                &sections,
                label,
                (address, &name),
                parsed.as_ref().map(|(next, _)| *next),
            );
        }
        open = parsed;
        if !more {
            break;
        }
    }
    if !child.wait()?.success() {
        bail!("{label}: {OBJDUMP} failed");
    }
    Ok(comparison)
}

/// `v_add_f32_e32 v0, s0, v1   // 000000001900: 06000200` into address and mnemonic.
fn parse(line: &str) -> Option<(u64, String)> {
    let (text, comment) = line.rsplit_once("// ")?;
    let address = comment.split(':').next()?.trim();
    let address = u64::from_str_radix(address, 16).ok()?;
    Some((address, crate::isa_tables::llvm::mnemonic(text.trim())))
}

fn judge(
    comparison: &mut Comparison,
    decoder: &Decoder,
    sections: &[(u64, Vec<u8>)],
    label: &str,
    (address, theirs): (u64, &str),
    next: Option<u64>,
) {
    let Some((start, bytes)) =
        sections.iter().find(|(start, bytes)| (*start..start + bytes.len() as u64).contains(&address))
    else {
        return;
    };
    let offset = (address - start) as usize;
    let end = bytes.len();
    let length = next.map_or(end, |next| next.saturating_sub(*start) as usize).min(end).saturating_sub(offset);
    comparison.instructions += 1;
    let step = decoder.step(bytes.get(offset..).unwrap_or_default());
    let ours = match step {
        DecodeStep::Instruction(instruction) => {
            if theirs.starts_with(".long") || theirs.starts_with(".byte") {
                comparison.only_ours += 1;
            }
            // The next line may belong to the next section, or follow a range that objdump omits.
            if instruction.length == length || length > 20 {
                instruction.printed()
            } else {
                format!("{} ({} bytes, not {length})", instruction.printed(), instruction.length)
            }
        }
        DecodeStep::Undecoded | DecodeStep::Cut => {
            comparison.undecoded += 1;
            ".long".to_owned()
        }
    };
    if ours != theirs {
        let words: Vec<String> = bytes
            .get(offset..)
            .unwrap_or_default()
            .chunks_exact(4)
            .take(4)
            .map(|word| format!("{:08x}", u32::from_le_bytes(word.try_into().unwrap_or_default())))
            .collect();
        let place = format!("{label} {address:#x}: {}", words.join(" "));
        comparison.differences.entry(format!("{theirs} | {ours}")).or_insert((0, place)).0 += 1;
    }
}
