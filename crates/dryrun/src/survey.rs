//! The map of a card: for each tensor type and column count, what the real program selects.
//!
//! One process per type runs llama-bench over all lengths on a skeleton model; the host reads a result back once per
//! length, which is where one length ends and the next begins.

use crate::error::{DryrunError, io_at};
use crate::selection::{Selected, select_each};
use crate::session::{Blas, Ending, Outcome, Request, Streams};
use crate::{Described, Place};
use gguf::{Shape, TensorType};
use gpu::Profile;
use launch::grammar::{self, Family, Path};
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use sys::interrupt;
use sys::private_dir::{SessionDir, put};

#[derive(Debug)]
pub struct Survey<'a> {
    pub place: &'a Place,
    pub profile: &'a Profile,
    pub described: &'a Described,
    pub strict: bool,
    pub shape: Shape,
    /// Layers of the skeleton: two hold every kind of matrix, the last one's narrowed rows included.
    pub layers: u32,
    pub blas: Blas,
    pub variables: &'a [(String, String)],
}

/// Of a cell that was not reached.
const INTERRUPTED: &str = "interrupted";

type Cells = Result<Vec<Cell>, DryrunError>;

/// One type and column count.
#[derive(Debug, Clone)]
pub struct Cell {
    pub kind: String,
    pub columns: u64,
    pub rows: Vec<Selected>,
    /// Why there is nothing, in the program's own words.
    pub problem: Option<String>,
}

impl Survey<'_> {
    /// Runs all types, two processes at a time.
    pub fn run(
        &self,
        kinds: &[TensorType],
        columns: &[u64],
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<Vec<Cell>, DryrunError> {
        let results: Vec<Mutex<Option<Cells>>> = kinds.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let (Some(kind), Some(slot)) = (kinds.get(place), results.get(place)) else { break };
                        if interrupt::asked() {
                            break;
                        }
                        progress(&format!("{} {}", self.profile.name, kind.name()));
                        let cells = self.one(*kind, columns);
                        if let Ok(mut slot) = slot.lock() {
                            *slot = Some(cells);
                        }
                    }
                });
            }
        });
        let mut cells = Vec::new();
        for (kind, result) in kinds.iter().zip(results) {
            match result.into_inner().ok().flatten() {
                Some(list) => cells.extend(list?),
                None => cells.extend(failed(&kind.name(), columns, INTERRUPTED)),
            }
        }
        Ok(cells)
    }

    /// One type on a skeleton of its own.
    fn one(&self, kind: TensorType, columns: &[u64]) -> Result<Vec<Cell>, DryrunError> {
        let skeleton = match gguf::skeleton(&self.shape, kind, self.layers, false) {
            Ok(skeleton) => skeleton,
            Err(error) => return Ok(failed(&kind.name(), columns, &error.to_string())),
        };
        let base = std::env::temp_dir();
        let home = SessionDir::new("model", &base).map_err(io_at(base))?;
        let model = home.outer().join("skeleton.gguf");
        put(&model, &skeleton.header).map_err(io_at(&model))?;
        let file = fs::OpenOptions::new().write(true).open(&model).map_err(io_at(&model))?;
        file.set_len(skeleton.file_size).map_err(io_at(&model))?;
        let outcome = self.bench(&model, columns, &[home.outer().to_owned()], true)?;
        Ok(self.cells(&outcome, &kind.name(), columns, true))
    }

    /// A model of the user's: its tensors have types of their own.
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
        let list: Vec<String> = columns.iter().map(u64::to_string).collect();
        let widest = columns.iter().copied().max().unwrap_or(1).max(512).to_string();
        let mut command: Vec<OsString> = vec!["llama-bench".into(), "-m".into(), model.into()];
        for word in
            ["-p", &list.join(","), "-n", "0", "-r", "1", "--no-warmup", "-t", "1", "-b", &widest, "-ub", &widest]
        {
            command.push(word.into());
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
            variables: self.variables,
        }
        .run()
    }

    fn cells(&self, outcome: &Outcome, kind: &str, columns: &[u64], one_type: bool) -> Vec<Cell> {
        let mut lists = select_each(outcome, std::slice::from_ref(self.profile));
        if lists.len() != columns.len() {
            let problem = match outcome.ending {
                _ if outcome.interrupted.is_some() => INTERRUPTED.to_owned(),
                Ending::Code(0) => format!("{} evaluations were seen, {} were asked for", lists.len(), columns.len()),
                _ => last_words(outcome),
            };
            if lists.len() > columns.len() || lists.is_empty() {
                return failed(kind, columns, &problem);
            }
            let rest = columns.get(lists.len()..).unwrap_or(&[]);
            let missing = failed(kind, rest, &problem);
            let mut cells = self.cells_of(lists, kind, columns, one_type);
            cells.extend(missing);
            return cells;
        }
        lists.truncate(columns.len());
        self.cells_of(lists, kind, columns, one_type)
    }

    fn cells_of(&self, lists: Vec<Vec<Selected>>, kind: &str, columns: &[u64], one_type: bool) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (&columns, mut rows) in columns.iter().zip(lists) {
            // Every weight matrix of a skeleton has one type; what a BLAS call was given is its unpacked form.
            if one_type {
                for row in rows.iter_mut().filter(|row| row.is_multiplication()) {
                    row.kind = Some(kind.to_owned());
                }
            }
            cells.push(Cell { kind: kind.to_owned(), columns, rows, problem: None });
        }
        cells
    }
}

fn failed(kind: &str, columns: &[u64], problem: &str) -> Vec<Cell> {
    let cell = |&columns| Cell { kind: kind.to_owned(), columns, rows: Vec::new(), problem: Some(problem.to_owned()) };
    columns.iter().map(cell).collect()
}

/// The line in which a program says why it stopped.
pub fn last_words(outcome: &Outcome) -> String {
    let telling = |line: &&str| {
        let line = line.to_ascii_lowercase();
        ["error", "fail", "abort", "assert", "out of memory", "unsupported", "no kernel image"]
            .iter()
            .any(|w| line.contains(w))
    };
    let lines: Vec<&str> = outcome.said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let line = lines.iter().copied().find(telling).or(lines.last().copied()).unwrap_or("it said nothing");
    match outcome.ending {
        Ending::Code(code) => format!("ended with code {code}: {line}"),
        Ending::Signal(signal) => format!("killed by signal {signal}: {line}"),
    }
}

impl Cell {
    /// The products at the full width, the most frequent first.
    pub fn products(&self) -> Vec<&Selected> {
        let full = |row: &&Selected| row.is_multiplication() && row.ne11 == Some(self.columns);
        let mut rows: Vec<&Selected> = self.rows.iter().filter(full).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        rows
    }

    /// One word for a table: `mmvq8`, `mmq112`, `mmq16/+sk` (a stream-k fix-up follows), `mmvf1/256`, `mmf7`, `BLAS`.
    pub fn label(&self) -> String {
        let products = self.products();
        let Some(main) = products.iter().find(|row| row.family != Family::MmqFixup) else {
            return if self.problem.is_some() { "!".to_owned() } else { "-".to_owned() };
        };
        let facts = grammar::read(&main.mangled);
        let columns = || facts.columns.map(|n| n.to_string()).unwrap_or_default();
        match main.path {
            Some(Path::Mmvq) => format!("mmvq{}", columns()),
            Some(Path::Mmq) => {
                let tile = facts.tile.map(|tile| tile.columns).or(facts.columns).unwrap_or(0);
                let fixup = products.iter().any(|row| row.family == Family::MmqFixup);
                format!("mmq{tile}{}", if fixup { "/+sk" } else { "" })
            }
            Some(Path::Mmvf) => format!("mmvf{}/{}", columns(), main.block.first().copied().unwrap_or(0)),
            Some(Path::Mmf) => {
                let tile = facts.columns.or(facts.tile.map(|tile| tile.columns));
                format!("mmf{}", tile.map(|n| n.to_string()).unwrap_or_default())
            }
            Some(path) => path.to_string(),
            None => "-".to_owned(),
        }
    }
}
