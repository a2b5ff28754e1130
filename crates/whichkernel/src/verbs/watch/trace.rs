//! `--trace FILE`: every launch in order as it was made, one JSON object a line.

use anyhow::Context as _;
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use watch::Seen;

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
        let kind = seen.kind;
        let args: String = seen.args.iter().map(|byte| format!("{byte:02x}")).collect();
        let line = match kind.call {
            Some(call) => json!({
                "seq": self.sequence, "pid": seen.pid, "thread": seen.thread, "time_ns": seen.time_ns, "api": kind.api,
                "m": call.m, "n": call.n, "k": call.k, "batch": call.batch,
            }),
            None if seen.exec.is_some() => json!({
                "seq": self.sequence, "pid": seen.pid, "thread": seen.thread, "time_ns": seen.time_ns, "api": kind.api,
                "exec": seen.exec.map(|exec| format!("{exec:#x}")),
            }),
            None => json!({
                "seq": self.sequence, "pid": seen.pid, "thread": seen.thread, "stream": seen.stream,
                "time_ns": seen.time_ns, "api": kind.api, "kernel": kind.name.text(), "grid": kind.grid,
                "block": kind.block, "shmem": kind.shared, "graph": seen.graph, "ne11": kind.ne11, "file": kind.file,
                "bundle": kind.bundle, "args": args,
            }),
        };
        self.sequence += 1;
        if self.problem.is_none()
            && let Err(error) = writeln!(self.out, "{line}")
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
