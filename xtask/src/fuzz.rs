//! `cargo xtask fuzz --seconds N`: mutations of the corpus, for as long as one likes.

use anyhow::{Context, bail};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Every target gets its share of the time; `--target NAME` takes one alone, `--seed N` another row of mutations.
pub fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    let value = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let number = |name: &str, default: u64| value(name).map_or(Ok(default), |text| text.parse::<u64>());
    let seconds = number("--seconds", 60).context("--seconds takes a number")?;
    let seed = number("--seed", 1).context("--seed takes a number")?;
    let wanted = value("--target");
    let targets: Vec<_> =
        fuzz::TARGETS.iter().filter(|target| wanted.is_none_or(|wanted| wanted == target.name)).collect();
    if targets.is_empty() {
        let names: Vec<&str> = fuzz::TARGETS.iter().map(|target| target.name).collect();
        bail!("there is no such target; there are: {}", names.join(", "));
    }
    let share = Duration::from_secs(seconds) / targets.len() as u32;
    let mut failed = false;
    for target in targets {
        let files = fuzz::corpus::load(target.name).with_context(|| format!("dev/fuzz/corpus/{}", target.name))?;
        let begun = Instant::now();
        // A panic is reported below, with the input that made it.
        let result =
            thread::scope(|scope| scope.spawn(|| fuzz::run(target, &files, seed, |_| begun.elapsed() < share)).join());
        match result {
            Ok(Ok(rounds)) => println!("{:<16} {rounds} inputs, no panic", target.name),
            Ok(Err(failure)) => {
                let dir = Path::new("target/fuzz");
                fs::create_dir_all(dir)?;
                let path = dir.join(format!("{}-{seed}-{}", failure.target, failure.round));
                fs::write(&path, &failure.input)?;
                println!("{:<16} PANIC: {}\n  kept as {}", target.name, failure.message, path.display());
                failed = true;
            }
            Err(_) => bail!("the runner itself failed on {}", target.name),
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
