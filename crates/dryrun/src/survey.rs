//! The map of a card: what the real program selects for each tensor type and column count.
//!
//! One process per type runs llama-bench over all lengths on a skeleton model. The host reads a result back once per
//! length, which separates the lengths.

use crate::cell::Cell;
use crate::ending::Ending;
use crate::error::{DryrunError, io_at};
use crate::parallel::each;
use crate::selection::{Selected, select_each};
use crate::session::{Blas, Outcome, PRODUCTS, Request, Streams};
use crate::{Checked, Described, RunRoot};
use gguf::{Shape, TensorType};
use gpu::Profile;
use say::{Message, Say as _, say};
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use sys::files;
use sys::private_dir::{SessionDir, put};

#[derive(Debug)]
pub struct Survey<'a> {
    pub place: &'a RunRoot,
    pub profile: &'a Profile,
    pub described: &'a Described,
    pub strict: bool,
    pub shape: Shape,
    /// Layers of the skeleton. After the attention of the last layer, only one column remains: see
    /// [`Shape::least_layers`].
    pub layers: u32,
    pub blas: Blas,
    pub variables: &'a [(String, String)],
}

/// How completely a run was observed.
#[derive(Clone, Copy)]
struct SeenRun {
    lost: u64,
    agreed: bool,
}

/// The problem of a cell that the run did not reach because of an interrupt.
pub(crate) fn interrupted() -> Message {
    say!("dryrun-cell-interrupted")
}

impl Survey<'_> {
    /// Runs all types, two processes at a time.
    pub fn run(
        &self,
        kinds: &[TensorType],
        columns: &[u64],
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<Vec<Cell>, DryrunError> {
        let results = each(kinds, |kind| {
            progress(&format!("{} {}", self.profile.name, kind.name()));
            self.one(*kind, columns)
        });
        let mut cells = Vec::new();
        for (kind, result) in kinds.iter().zip(results) {
            match result {
                Some(list) => cells.extend(list?),
                None => cells.extend(failed(&kind.name(), columns, &interrupted())),
            }
        }
        Ok(cells)
    }

    /// Runs one type on its own skeleton.
    fn one(&self, kind: TensorType, columns: &[u64]) -> Result<Vec<Cell>, DryrunError> {
        let skeleton = match gguf::skeleton(&self.shape, kind, self.layers, false) {
            Ok(skeleton) => skeleton,
            Err(error) => return Ok(failed(&kind.name(), columns, &error.message())),
        };
        let (home, model) = laid_out(&skeleton)?;
        let outcome = self.bench(&model, columns, &[home.outer().to_owned()], true)?;
        Ok(self.cells(&outcome, &kind.name(), columns, true))
    }

    /// Runs a user's model, whose tensors have their own types.
    pub fn model(&self, model: &std::path::Path, columns: &[u64]) -> Result<Vec<Cell>, DryrunError> {
        let model = fs::canonicalize(model).map_err(io_at(model))?;
        let outcome = self.bench(&model, columns, std::slice::from_ref(&model), true)?;
        Ok(self.cells(&outcome, "", columns, false))
    }

    fn bench(
        &self,
        model: &std::path::Path,
        columns: &[u64],
        show: &[PathBuf],
        sparse_read: bool,
    ) -> Result<Outcome, DryrunError> {
        let command = bench_command(model, columns);
        let mut variables = self.variables.to_vec();
        variables.push((PRODUCTS.to_owned(), "1".to_owned()));
        // The card of a table is the only one, whatever the caller's variables hide.
        for name in crate::visible::AMD {
            variables.push((name.to_owned(), "0".to_owned()));
        }
        Request {
            place: self.place,
            profiles: std::slice::from_ref(self.profile),
            described: self.described,
            strict: self.strict,
            command: &command,
            show,
            blas: self.blas,
            streams: Streams::Captured,
            preload: false,
            sparse_read,
            variables: &variables,
        }
        .run()
    }

    fn cells(&self, outcome: &Outcome, kind: &str, columns: &[u64], one_type: bool) -> Vec<Cell> {
        let seen = SeenRun { lost: outcome.lost(), agreed: Checked::agrees(outcome) };
        let lists = select_each(outcome, std::slice::from_ref(self.profile));
        if lists.len() != columns.len() {
            let problem = match outcome.ending {
                _ if outcome.interrupted.is_some() => interrupted(),
                Ending::Code(0) => say!("dryrun-evaluations", seen = lists.len(), asked = columns.len()),
                _ => last_words(outcome),
            };
            if lists.len() > columns.len() || lists.is_empty() {
                return failed(kind, columns, &problem);
            }
            let rest = columns.get(lists.len()..).unwrap_or(&[]);
            let missing = failed(kind, rest, &problem);
            let mut cells = self.cells_of(lists, kind, columns, one_type, seen);
            cells.extend(missing);
            return cells;
        }
        self.cells_of(lists, kind, columns, one_type, seen)
    }

    fn cells_of(
        &self,
        lists: Vec<Vec<Selected>>,
        kind: &str,
        columns: &[u64],
        one_type: bool,
        seen: SeenRun,
    ) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (&columns, mut rows) in columns.iter().zip(lists) {
            // All weight matrices of a skeleton have one type, except those that route to experts. Set it here, because
            // a BLAS call gets the unpacked form and does not show the type.
            if one_type && self.shape.experts.is_none() {
                for row in rows.iter_mut().filter(|row| row.is_multiplication()) {
                    row.kind = Some(kind.to_owned());
                }
            }
            let SeenRun { lost, agreed } = seen;
            cells.push(Cell { kind: kind.to_owned(), columns, rows, lost, agreed, problem: None });
        }
        cells
    }
}

/// Writes a skeleton to a file, which exists as long as the directory.
pub(crate) fn laid_out(skeleton: &gguf::Skeleton) -> Result<(SessionDir, PathBuf), DryrunError> {
    let base = std::env::temp_dir();
    let home = SessionDir::new("model", &base).map_err(io_at(base))?;
    let model = home.outer().join("skeleton.gguf");
    put(&model, &skeleton.header).map_err(io_at(&model))?;
    let file = files::update(&model).map_err(io_at(&model))?;
    file.set_len(skeleton.file_size).map_err(io_at(&model))?;
    Ok((home, model))
}

/// The command line of llama-bench for all lengths, each run once in a single micro-batch.
pub(crate) fn bench_command(model: &std::path::Path, columns: &[u64]) -> Vec<OsString> {
    let list: Vec<String> = columns.iter().map(u64::to_string).collect();
    let widest = columns.iter().copied().max().unwrap_or(1).max(512).to_string();
    let mut command: Vec<OsString> = vec!["llama-bench".into(), "-m".into(), model.into()];
    for word in ["-p", &list.join(","), "-n", "0", "-r", "1", "--no-warmup", "-t", "1", "-b", &widest, "-ub", &widest] {
        command.push(word.into());
    }
    command
}

fn failed(kind: &str, columns: &[u64], problem: &Message) -> Vec<Cell> {
    let cell = |&columns| {
        let (kind, problem) = (kind.to_owned(), Some(problem.clone()));
        Cell { kind, columns, rows: Vec::new(), lost: 0, agreed: false, problem }
    };
    columns.iter().map(cell).collect()
}

/// The line in which a program states why it stopped.
pub fn last_words(outcome: &Outcome) -> Message {
    words_of(&outcome.said, outcome.ending)
}

/// Like [`last_words`], from a program's output and its ending.
pub(crate) fn words_of(said: &str, ending: Ending) -> Message {
    let telling = |line: &&str| {
        let line = line.to_ascii_lowercase();
        ["error", "fail", "abort", "assert", "out of memory", "unsupported", "no kernel image"]
            .iter()
            .any(|w| line.contains(w))
    };
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let line = lines.iter().copied().find(telling).or(lines.last().copied());
    let line = line.map_or_else(|| say!("dryrun-no-output"), Message::verbatim);
    match ending {
        Ending::Code(code) => say!("dryrun-ended-code", code, line),
        Ending::Signal(signal) => say!("dryrun-ended-signal", signal, line),
    }
}
