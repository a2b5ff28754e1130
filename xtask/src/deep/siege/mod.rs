//! `cargo xtask deep siege`: repeatable, counted stress tests of the observers.
//!
//! Programs whose launches are known, under every observer; kills of either side at random moments; hostile files,
//! servers and users; and a folder that compares the first part with CUPTI on a machine with an NVIDIA GPU. The siege
//! uses only the command line.

mod accounts;
mod cases;
mod counts;
mod hostile;
mod kills;
mod known;
mod leftovers;
mod llama;
mod pack;
mod table;

use anyhow::{Context, bail, ensure};
use std::path::PathBuf;
use std::process::Command;

const USAGE: &str = "\
cargo xtask deep siege [PART...] [--tool FILE] [--runs N] [--only WORDS] [--kills N] [--seed N] [--out DIR] | --pack DIR

  PART         accounts, counts, llama, kills, hostile [all of them]
  --tool FILE  the command under test [built here]
  --runs N     runs of each kind under each observer [3]
  --only WORDS kinds, observers and rows whose name has these words
  --kills N    how many [1000]; what was done is remembered in --out, and not done again
  --seed N     of the moments at which is killed [1]
  --out DIR    what was done so far, and the tables [target/siege]
  --pack DIR   write the folder for a machine with an NVIDIA GPU, and end
";

pub struct Options {
    parts: Vec<String>,
    tool: PathBuf,
    runs: u64,
    only: String,
    kills: u64,
    seed: u64,
    out: PathBuf,
}

/// True if nothing differed silently, no process was harmed, and nothing was left behind.
pub fn run(words: &[String]) -> anyhow::Result<bool> {
    let mut options = Options {
        parts: Vec::new(),
        tool: PathBuf::new(),
        runs: 3,
        only: String::new(),
        kills: 1000,
        seed: 1,
        out: PathBuf::from("target/siege"),
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value\n{USAGE}"));
        match word.as_str() {
            "--tool" => options.tool = value()?.into(),
            "--runs" => options.runs = value()?.parse()?,
            "--only" => options.only = value()?.clone(),
            "--kills" => options.kills = value()?.parse()?,
            "--seed" => options.seed = value()?.parse()?,
            "--out" => options.out = value()?.into(),
            "--pack" => return pack::write(value()?.as_ref()).map(|()| true),
            "accounts" | "counts" | "llama" | "kills" | "hostile" => options.parts.push(word.clone()),
            _ => bail!("{word} is no part of it\n{USAGE}"),
        }
    }
    ensure!(
        Command::new("id").arg("-u").output()?.stdout.starts_with(b"0"),
        "uprobes, namespaces and other users need root"
    );
    if options.tool.as_os_str().is_empty() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        ensure!(
            Command::new(cargo).args(["build", "-p", "whichkernel"]).status()?.success(),
            "the command does not build"
        );
        options.tool = "target/debug/whichkernel".into();
    }
    options.tool = options.tool.canonicalize().with_context(|| options.tool.display().to_string())?;
    std::fs::create_dir_all(&options.out)?;
    let wanted = |part: &str| options.parts.is_empty() || options.parts.iter().any(|wanted| wanted == part);
    let mut held = true;
    if wanted("accounts") {
        held &= accounts::run(&options)?;
    }
    if wanted("counts") {
        held &= counts::run(&options)?;
    }
    if wanted("llama") {
        held &= llama::run(&options)?;
    }
    if wanted("hostile") {
        held &= hostile::run(&options)?;
    }
    if wanted("kills") {
        held &= kills::run(&options)?;
    }
    Ok(held)
}

impl Options {
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || name.contains(&self.only)
    }

    /// Identifies this build: results of another build do not count.
    fn build(&self) -> anyhow::Result<String> {
        use std::os::unix::fs::MetadataExt;
        let said = Command::new(&self.tool).arg("--version").output()?;
        let meta = std::fs::metadata(&self.tool)?;
        Ok(format!("{} {} {}", String::from_utf8_lossy(&said.stdout).trim(), meta.len(), meta.mtime()))
    }
}
