//! `cargo xtask test`: everything the tests need, then the tests, then what was skipped and why, and the sum.

use anyhow::Context;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, io};

pub fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    crate::packages::ensure();
    crate::python::ensure();
    // Offline this names what is missing and goes on: `test_artifacts::need` decides per test.
    crate::fetch::run(false)?;
    let place = tempfile::tempdir()?;
    let log = place.path().join("skipped");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut child = Command::new(cargo)
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(args)
        .env(test_artifacts::LOG, &log)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut sum = Sum::default();
    let mut out = io::stdout();
    let said = child.stdout.take().context("no output to read")?;
    // Bytes: a test may print anything.
    for line in BufReader::new(said).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        sum.add(&line);
        writeln!(out, "{line}")?;
    }
    let status = child.wait()?;
    sum.end_of_program();
    let skipped = skipped(&fs::read_to_string(&log).unwrap_or_default());
    for name in &sum.ignored {
        println!("ignored: {name}");
    }
    for ((_, test), reasons) in &skipped {
        println!("skipped: {test} (needs {})", reasons.join("; "));
    }
    if sum.silent > 0 {
        println!("{} tests count as failed: their program ended without saying how they did", sum.silent);
    }
    let failed = sum.failed + sum.silent;
    println!("{} passed, {failed} failed, {} skipped", sum.passed.saturating_sub(skipped.len()), skipped.len());
    Ok(if status.success() && failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// By test program and test: what each needs. One that lacks several things is one test.
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

/// What the test programs said of themselves.
#[derive(Default)]
struct Sum {
    passed: usize,
    failed: usize,
    /// Tests of programs that ended before they told their result.
    silent: usize,
    ignored: Vec<String>,
    /// Tests of the program that runs now.
    running: usize,
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
                self.failed += before("failed").unwrap_or(0);
                self.running = 0;
            }
            ["test", name, "...", outcome, ..] if outcome.trim_end_matches(',') == "ignored" => {
                let why = line.split_once("ignored, ").map_or("no reason is given", |(_, why)| why);
                self.ignored.push(format!("{name} ({why})"));
            }
            _ => {}
        }
    }

    fn end_of_program(&mut self) {
        self.silent += std::mem::take(&mut self.running);
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
        assert_eq!((sum.passed, sum.failed, sum.silent), (2, 1, 2));
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
