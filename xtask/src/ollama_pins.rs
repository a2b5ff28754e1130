//! The list of Ollama's pins that comes with the program, read from real clones of Ollama and llama.cpp.
//!
//! `--check` reads them again and compares.

use anyhow::{Context, bail};
use source::pins::{built_in, read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    let value = |name: &str| args.iter().skip_while(|arg| *arg != name).nth(1).map(PathBuf::from);
    let need = |name: &str| value(name).with_context(|| format!("give {name} REPO, a full clone"));
    let (pins, without) = read(&need("--ollama")?, &need("--llama")?)?;
    let text: String = pins.iter().map(|pin| pin.line() + "\n").collect();
    let last = pins.last().map_or("none", |pin| pin.release.as_str());
    println!(
        "{} releases, the last {last}; {without} name a commit that the clone of llama.cpp does not have",
        pins.len()
    );
    if args.iter().any(|arg| arg == "--check") {
        let known: String = built_in().iter().map(|pin| pin.line() + "\n").collect();
        if known != text {
            let known: Vec<&str> = known.lines().collect();
            let differs: Vec<&str> = text.lines().filter(|line| !known.contains(line)).collect();
            bail!("the clones say otherwise (run without --check):\n{}", differs.join("\n"));
        }
        println!("same");
        return Ok(ExitCode::SUCCESS);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/source/tables/ollama-pins.tsv");
    std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    Ok(ExitCode::SUCCESS)
}
