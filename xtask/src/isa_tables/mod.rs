//! `cargo xtask isa-tables`: extracts the decoder's tables from LLVM, opcode by opcode.
//!
//! `--check` compares with the committed tables instead of writing them; processor names restrict it to these
//! processors. Beside each table is a file of encodings with LLVM's answers, which tests the decoder without LLVM.

mod filling;
mod limits;
pub mod llvm;
mod probe;
mod text;

use anyhow::Context;
use isa::layout::Generation;
use isa::{TARGETS, Target};
use llvm::{Llvm, Oracle};
use std::fs;
use std::process::ExitCode;
use text::{Lines, Sample};

pub fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    let check = args.iter().any(|arg| arg == "--check");
    let names: Vec<&String> = args.iter().filter(|arg| !arg.starts_with("--")).collect();
    let wanted = |target: &&Target| names.is_empty() || names.iter().any(|name| *name == target.name);
    let chosen: Vec<&Target> = TARGETS.iter().filter(wanted).collect();
    anyhow::ensure!(!chosen.is_empty(), "no such processor: {names:?}");
    let llvm = Llvm::open()?;
    let mut fresh = Lines::default();
    for target in &chosen {
        let column = TARGETS.iter().position(|other| other == *target).context("not in TARGETS")?;
        fresh.columns |= 1 << column;
        let count = probe_target(llvm, target, 1 << column, &mut fresh)?;
        eprintln!("{}: {count} opcodes", target.name);
    }
    let mut differences = 0;
    for (path, text) in fresh.files()? {
        if fs::read_to_string(&path).is_ok_and(|committed| committed == text) {
            continue;
        }
        differences += 1;
        if check {
            eprintln!("{}: not what LLVM says; `cargo xtask isa-tables` writes it anew", path.display());
        } else {
            fs::write(&path, &text).with_context(|| path.display().to_string())?;
            eprintln!("{}: {} bytes written", path.display(), text.len());
        }
    }
    Ok(if check && differences > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Wave size and true-16 encodings are not part of the processor name in a code object, so LLVM is queried with each of
/// them.
pub fn features(generation: Generation) -> &'static [&'static str] {
    if generation < Generation::Gfx11 {
        &[""]
    } else {
        &["+real-true16", "-real-true16", "+real-true16,+wavefrontsize64"]
    }
}

fn probe_target(llvm: Llvm, target: &Target, column: u64, lines: &mut Lines) -> anyhow::Result<usize> {
    let mut oracle = Oracle::new(llvm, target.name, features(target.generation))?;
    let mut conflicts = Vec::new();
    let mut count = 0;
    for format in target.generation.formats() {
        let probed = probe::format(&mut oracle, target.generation, format, &mut conflicts)?;
        count += probed.rows.len();
        for row in probed.rows {
            *lines.rows.entry(row).or_default() |= column;
        }
        for (words, answer) in probed.samples {
            let sample = Sample { format: format.name, words: words[..answer.length / 4].to_vec(), name: answer.name };
            *lines.samples.entry(sample).or_default() |= column;
        }
    }
    for conflict in &conflicts {
        eprintln!("{}: more than one reading of {conflict}", target.name);
    }
    Ok(count)
}
