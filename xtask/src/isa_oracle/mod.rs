//! Compares the instruction decoder with LLVM. `cargo xtask deep isa` runs all parts; each part can also be run alone:
//!
//! - `cargo xtask isa-oracle random [COUNT] [TARGET...]`: random encodings;
//! - `cargo xtask isa-oracle file FILE [TARGET]`: every instruction of a file's code objects;
//! - `cargo xtask isa-oracle quick`: one object per target of bitsandbytes, as the tests do.

pub mod distinct;
pub mod objdump;
pub mod objects;
pub mod random;
pub mod sets;

use anyhow::{Context, bail};
use objdump::Comparison;
use std::path::Path;
use std::process::ExitCode;

pub fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    let (what, rest) = args.split_first().context("isa-oracle random | file FILE [TARGET] | quick")?;
    let agreed = match what.as_str() {
        "random" => random::run(rest)?,
        "file" => {
            let file = rest.first().context("which file?")?;
            let target = rest.get(1).map(String::as_str);
            every(Path::new(file), &mut |_, processor| target.is_none_or(|target| target == processor))?
        }
        "quick" => {
            // The second bundle is the smaller one: 20,000 instructions for each of its targets.
            let library = "bitsandbytes/libbitsandbytes_rocm715.so";
            let file = test_artifacts::directory("bitsandbytes-0.50.2").join(library);
            every(&file, &mut |label, _| label.ends_with("[1]"))?
        }
        other => bail!("isa-oracle {other}: random, file or quick"),
    };
    Ok(if agreed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Compares the code objects of a file that `wanted` selects by label and processor; prints a line for each.
fn every(file: &Path, wanted: &mut dyn FnMut(&str, &str) -> bool) -> anyhow::Result<bool> {
    let mut agreed = true;
    let mut compared = 0;
    objects::each(file, &mut |label, processor, bytes| {
        if wanted(label, processor) {
            compared += 1;
            let comparison = objdump::compare(label, bytes)?;
            println!("{label} {}", line(&comparison));
            agreed &= comparison.agrees();
        }
        Ok(())
    })?;
    if compared == 0 {
        bail!("{}: no such code object", file.display());
    }
    Ok(agreed)
}

pub fn line(comparison: &Comparison) -> String {
    let mut text = format!(
        "{}: {} instructions, {} words undecoded, {} differences",
        comparison.target,
        comparison.instructions,
        comparison.undecoded,
        comparison.different()
    );
    for (difference, (times, place)) in comparison.differences.iter().take(20) {
        text += &format!("\n    {times} x {difference} at {place}");
    }
    text
}
