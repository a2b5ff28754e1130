//! `--trace FILE`: every launch in order as it was made, one JSON object a line.

use anyhow::Context as _;
use launch::lines::Line;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use watch::{Name, Seen};

#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    out: BufWriter<File>,
    sequence: u64,
    /// The first thing that went wrong: a full disk must not stop the watch, and must be said.
    problem: Option<std::io::Error>,
}

impl Writer {
    pub fn create(path: &Path) -> anyhow::Result<Writer> {
        let file = File::create(path).with_context(|| path.display().to_string())?;
        Ok(Writer { path: path.to_owned(), out: BufWriter::new(file), sequence: 0, problem: None })
    }

    pub fn add(&mut self, seen: &Seen<'_>) {
        let line = line(self.sequence, seen);
        self.sequence += 1;
        if self.problem.is_none()
            && let Err(error) = serde_json::to_writer(&mut self.out, &line)
                .map_err(std::io::Error::from)
                .and_then(|()| writeln!(self.out))
        {
            self.problem = Some(error);
        }
    }

    pub fn finish(&mut self) -> anyhow::Result<()> {
        let name = || self.path.display().to_string();
        if let Some(problem) = self.problem.take() {
            return Err(problem).with_context(|| format!("{}: the trace is not complete", name()));
        }
        self.out.flush().with_context(name)
    }
}

fn line(seq: u64, seen: &Seen<'_>) -> Line {
    let kind = seen.kind;
    let made = Line {
        seq,
        pid: seen.pid,
        thread: seen.thread,
        stream: seen.stream,
        time_ns: seen.time_ns,
        api: kind.api.to_owned(),
        ..Line::default()
    };
    if let Some(call) = kind.call {
        let [m, n, k, batch] = [call.m, call.n, call.k, call.batch].map(Some);
        return Line { m, n, k, batch, ne11: kind.ne11, ..made };
    }
    if let Some(exec) = seen.exec {
        return Line { exec: Some(format!("{exec:#x}")), ..made };
    }
    let named = match &kind.name {
        Name::Kernel(name) | Name::Call(name) => Line { kernel: Some(name.clone()), ..made },
        Name::Unnamed(address) => Line { address: Some(*address), ..made },
        Name::Pipeline(of) => Line {
            kernel: Some(of.name.clone()),
            pipeline: Some(of.identity.clone()),
            weights: of.weights.clone(),
            ..made
        },
    };
    Line {
        grid: kind.grid,
        block: kind.block,
        shmem: kind.shared,
        graph: seen.graph.into(),
        ne11: kind.ne11,
        file: Some(kind.file.clone()),
        bundle: kind.bundle,
        took_ns: seen.took_ns,
        args: Some(seen.args.iter().map(|byte| format!("{byte:02x}")).collect()),
        ..named
    }
}
