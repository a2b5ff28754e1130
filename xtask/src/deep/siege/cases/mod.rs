//! Constructed cases, one file per observer. Each knows the truth by a count that does not come from our code (the
//! program's own arithmetic, the compiler, the writer of a file), runs the command, and compares its conclusion with
//! that truth.

mod dryrun;
mod inspect;
mod paths;
mod preload;
mod probe;
mod report;
mod source;
mod uprobe;

use anyhow::Context;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub const CASES: [&[Case]; 8] = [
    preload::CASES,
    uprobe::CASES,
    dryrun::CASES,
    inspect::CASES,
    source::CASES,
    probe::CASES,
    report::CASES,
    paths::CASES,
];

/// One constructed case.
pub struct Case {
    pub observer: &'static str,
    pub name: &'static str,
    /// Takes a few seconds and needs only what the tests fetch: runs with every test run.
    pub quick: bool,
    pub run: fn(&Bench) -> anyhow::Result<Outcome>,
}

/// The command's conclusion, compared with the truth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The answer is the truth.
    Equal { truth: String },
    /// The answer differs or is incomplete, and says so.
    Said { truth: String, said: String },
    /// The answer differs, and nothing in it says so: the defect that this siege searches for.
    Silent { truth: String, said: String },
    /// No answer: the command failed and gave the reason.
    Refused { why: String },
    /// The case could not be run here.
    Skipped { why: String },
}

/// The command under test, and a directory for one case.
pub struct Bench {
    pub tool: PathBuf,
    pub dir: PathBuf,
}

impl Bench {
    /// The command with these arguments, an empty home and an empty ledger, in this case's directory.
    pub fn command<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(&self.tool);
        command.args(words).current_dir(&self.dir).env("LANG", "C.UTF-8").env("HOME", &self.dir);
        command.env("WHICHKERNEL_LEDGER", self.dir.join("ledger"));
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> anyhow::Result<Output> {
        self.command(words).output().context("the command does not start")
    }

    /// Writes a source file and compiles it with `cc` and these flags; returns the program's path.
    pub fn compile(&self, name: &str, source: &str, flags: &[&str]) -> anyhow::Result<PathBuf> {
        let (code, program) = (self.dir.join(format!("{name}.c")), self.dir.join(name));
        std::fs::write(&code, source)?;
        let made = Command::new("cc").arg("-o").arg(&program).arg(&code).args(flags).output()?;
        anyhow::ensure!(made.status.success(), "cc {name}.c: {}", String::from_utf8_lossy(&made.stderr));
        Ok(program)
    }
}

/// Runs one case in an empty directory.
pub fn run(tool: &Path, case: &Case) -> anyhow::Result<Outcome> {
    let place = tempfile::tempdir()?;
    (case.run)(&Bench { tool: tool.to_owned(), dir: place.path().to_owned() })
        .with_context(|| format!("{}: {}", case.observer, case.name))
}
