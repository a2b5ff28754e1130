//! `cargo xtask test`: fetches the tests' inputs, runs the tests, runs failed tests again alone, then lists the skipped
//! tests with reasons, and the totals.

use anyhow::Context;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, io};

pub fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    crate::packages::ensure();
    for package in [test_artifacts::MCP_CLIENT, test_artifacts::DUCKDB] {
        crate::python::ensure(package);
    }
    // Without a network this names the missing artifacts and continues: `test_artifacts::need` decides per test.
    crate::fetch::run(false)?;
    let place = tempfile::tempdir()?;
    let log = place.path().join("skipped");
    let (mut sum, mut good) = tests(args, &log)?;
    if !sum.failed.is_empty() && sum.silent == 0 {
        println!("\n{} failed beside the others: once more, alone", sum.failed.len());
        let names = std::mem::take(&mut sum.failed);
        let mut alone: Vec<String> = ["--", "--exact", "--test-threads=1"].map(str::to_owned).to_vec();
        alone.extend(names.iter().cloned());
        let (again, fine) = tests(&alone, &log)?;
        good = fine && again.silent == 0 && again.passed >= names.len();
        // Named, so that it gets fixed: a test must not depend on concurrent tests.
        for name in names.iter().filter(|name| !again.failed.contains(name)) {
            println!("failed beside the others, passed alone: {name}");
        }
        sum.passed += names.len().saturating_sub(again.failed.len());
        sum.failed = again.failed;
    }
    let skipped = skipped(&fs::read_to_string(&log).unwrap_or_default());
    for name in &sum.ignored {
        println!("ignored: {name}");
    }
    for ((_, test), reasons) in &skipped {
        println!("skipped: {test} (needs {})", reasons.join("; "));
    }
    for name in &sum.failed {
        println!("failed: {name}");
    }
    if sum.silent > 0 {
        println!("{} tests count as failed: their program ended without saying how they did", sum.silent);
    }
    let failed = sum.failed.len() + sum.silent;
    println!("{} passed, {failed} failed, {} skipped", sum.passed.saturating_sub(skipped.len()), skipped.len());
    Ok(if good && failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One call of `cargo test` on the workspace: the output of its programs, and whether it succeeded.
fn tests(args: &[String], log: &Path) -> anyhow::Result<(Sum, bool)> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut child = Command::new(cargo)
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(args)
        .env(test_artifacts::LOG, log)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut sum = Sum::default();
    let mut out = io::stdout();
    let said = child.stdout.take().context("no output to read")?;
    // Bytes, because a test may print anything.
    for line in BufReader::new(said).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        sum.add(&line);
        writeln!(out, "{line}")?;
    }
    let good = child.wait()?.success();
    sum.end_of_program();
    Ok((sum, good))
}

/// The missing requirements, by test program and test. A test that lacks several things counts once.
fn skipped(log: &str) -> BTreeMap<(String, String), Vec<String>> {
    let mut all: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for line in log.lines() {
        let mut fields = line.split('\t').map(str::to_owned);
        let (Some(program), Some(test), Some(what), Some(advice)) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let reasons = all.entry((program, test)).or_default();
        let reason = format!("{what}: {advice}");
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    all
}

/// The test programs' own output.
#[derive(Default)]
struct Sum {
    passed: usize,
    failed: Vec<String>,
    /// Tests of programs that ended without reporting their result.
    silent: usize,
    ignored: Vec<String>,
    /// The number of tests of the current program, and its failed tests.
    running: usize,
    named: Vec<String>,
}

impl Sum {
    fn add(&mut self, line: &str) {
        // `running 3 tests`, `test NAME ... ignored, why`, `test result: ok. 3 passed; 0 failed; ...`
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["running", count, "test" | "tests"] => {
                self.end_of_program();
                self.running = count.parse().unwrap_or(0);
            }
            ["test", "result:", ..] => {
                let before = |what: &str| {
                    let at = words.iter().position(|word| word.trim_end_matches(';') == what)?;
                    words.get(at.checked_sub(1)?)?.parse::<usize>().ok()
                };
                self.passed += before("passed").unwrap_or(0);
                // A test whose line was lost in other output has still failed, and cannot be run again.
                let named = std::mem::take(&mut self.named);
                self.silent += before("failed").unwrap_or(0).saturating_sub(named.len());
                self.failed.extend(named);
                self.running = 0;
            }
            ["test", name, "...", "FAILED"] => self.named.push((*name).to_owned()),
            ["test", name, "...", outcome, ..] if outcome.trim_end_matches(',') == "ignored" => {
                let why = line.split_once("ignored, ").map_or("no reason is given", |(_, why)| why);
                self.ignored.push(format!("{name} ({why})"));
            }
            _ => {}
        }
    }

    fn end_of_program(&mut self) {
        self.silent += std::mem::take(&mut self.running);
        self.named.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_summed_and_one_that_dies_counts_as_failed() {
        let mut sum = Sum::default();
        for line in [
            "running 3 tests",
            "test a ... ok",
            "test b ... FAILED",
            "test c ... ignored, another one starts it",
            "test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "running 2 tests",
            "test d ... ok",
            "running 1 test",
            "test e ... ok",
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ] {
            sum.add(line);
        }
        sum.end_of_program();
        assert_eq!((sum.passed, sum.failed, sum.silent), (2, vec!["b".to_owned()], 2));
        assert_eq!(sum.ignored, ["c (another one starts it)"]);
    }

    #[test]
    fn a_test_that_lacks_two_things_is_skipped_once() {
        let log =
            "/p/a\tone\troot\tuprobes\n/p/a\tone\tgit\tinstall it\n/p/a\tone\troot\tuprobes\n/p/b\tone\troot\tx\n";
        let found = skipped(log);
        assert_eq!(found.len(), 2);
        assert_eq!(found[&("/p/a".to_owned(), "one".to_owned())], ["root: uprobes", "git: install it"]);
    }
}
