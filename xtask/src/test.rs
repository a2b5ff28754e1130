//! `cargo xtask test`: everything the tests need, then the tests, then the names of those that were skipped.

use std::process::{Command, ExitCode};
use std::{env, fs};

pub fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    crate::packages::ensure();
    // Offline this names what is missing and goes on: `artifacts::need` decides per test.
    crate::fetch::run(false)?;
    let log = env::temp_dir().join(format!("whichkernel-skipped-{}", std::process::id()));
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(args)
        .env("WHICHKERNEL_SKIP_LOG", &log)
        .status()?;
    let skipped = fs::read_to_string(&log).unwrap_or_default();
    let _ = fs::remove_file(&log);
    for line in skipped.lines() {
        let (test, artifact) = line.split_once('\t').unwrap_or((line, "?"));
        println!("skipped: {test} (needs {artifact})");
    }
    println!("skipped for want of an artifact: {}", skipped.lines().count());
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
