//! `cargo xtask fuzz --seconds N`: runs mutations of the corpus for N seconds; `--guided`: guided by coverage.

use anyhow::{Context, bail};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Every target gets its share of the time; `--target NAME` selects one, `--seed N` another sequence of mutations.
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
    if args.iter().any(|arg| arg == "--guided") {
        let names: Vec<&str> = targets.iter().map(|target| target.name).collect();
        return guided(&names, seconds, seed);
    }
    let share = Duration::from_secs(seconds) / targets.len() as u32;
    let mut failed = false;
    for target in targets {
        let files = fuzz::corpus::load(target.name).with_context(|| format!("dev/fuzz/corpus/{}", target.name))?;
        let begun = Instant::now();
        // A panic is reported below, with its input.
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

/// The flags of cargo-fuzz except for the sanitizers, which require a nightly compiler: counters at every edge, and
/// traced comparisons.
const INSTRUMENTED: &[&str] = &[
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "-Cdebug-assertions",
];

/// libFuzzer on the instrumented crates: starts with the committed corpus, and keeps inputs that reach new code in
/// `target/fuzz/corpus`.
fn guided(names: &[&str], seconds: u64, seed: u64) -> anyhow::Result<ExitCode> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let build = Command::new("cargo")
        .args(["build", "--release", "--target", "x86_64-unknown-linux-gnu", "--target-dir", "target/guided"])
        .args(["--manifest-path", "dev/fuzz/guided/Cargo.toml"])
        .env("RUSTFLAGS", INSTRUMENTED.join(" "))
        .current_dir(&top)
        .status()
        .context("cargo")?;
    anyhow::ensure!(build.success(), "the instrumented build failed");
    let program = top.join("target/guided/x86_64-unknown-linux-gnu/release/any");
    let share = (seconds / names.len() as u64).max(1);
    let mut failed = false;
    for name in names {
        let (found, kept) = (top.join("target/fuzz/corpus").join(name), top.join("target/fuzz"));
        fs::create_dir_all(&found)?;
        let status = Command::new(&program)
            .env("WHICHKERNEL_FUZZ", name)
            .arg(format!("-max_total_time={share}"))
            .arg(format!("-seed={seed}"))
            .arg(format!("-artifact_prefix={}/{name}-", kept.display()))
            .args(["-print_final_stats=1", "-rss_limit_mb=4096", "-timeout=20"])
            .args([&found, &fuzz::corpus::directory(name)])
            .status()
            .with_context(|| program.display().to_string())?;
        println!(
            "{name:<16} {}",
            if status.success() { "nothing found" } else { "FAILED: its input is in target/fuzz" }
        );
        failed |= !status.success();
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
