//! `--trace FILE`: every launch in order, one JSON object per line; at the end the counts and the gaps.

use launch::lines::{Closing, End, Line, Missed};
use say::{Context as _, say};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use sys::files::{self, Access};
use watch::{Fate, KindId, Name, ObservedLaunch, ObserverReport, Tally};

/// The maximum number of threads whose last launch is remembered; beyond that, a refusal is written without a reference
/// to its line.
const MOST_THREADS: usize = 1 << 16;

#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    out: BufWriter<File>,
    sequence: u64,
    /// The line and kind of each thread's last launch, whose return was still unknown when it was written.
    made: HashMap<(u32, u32), (u64, KindId)>,
    /// The first error: a full disk must not stop the watch, but must be reported.
    problem: Option<std::io::Error>,
}

impl Writer {
    pub fn create(path: &Path) -> say::Result<Writer> {
        let file = files::create(path, Access::Private).about(path.display())?;
        let (path, out) = (path.to_owned(), BufWriter::new(file));
        Ok(Writer { path, out, sequence: 0, made: HashMap::new(), problem: None })
    }

    pub fn add(&mut self, seen: &ObservedLaunch<'_>) {
        let thread = (seen.pid, seen.thread);
        let mut line = line(self.sequence, seen);
        match seen.fate {
            Fate::Made => {
                if self.made.len() >= MOST_THREADS {
                    self.made.clear();
                }
                self.made.insert(thread, (self.sequence, seen.id));
            }
            Fate::Refused(_) => {
                line.refuses = self.made.remove(&thread).filter(|(_, kind)| *kind == seen.id).map(|(seq, _)| seq);
            }
            Fate::Returned(_) | Fate::Counted { .. } => {}
        }
        self.sequence += 1;
        self.put(&line);
    }

    fn put(&mut self, line: &impl serde::Serialize) {
        if self.problem.is_none()
            && let Err(error) = serde_json::to_writer(&mut self.out, line)
                .map_err(std::io::Error::from)
                .and_then(|()| writeln!(self.out))
        {
            self.problem = Some(error);
        }
    }

    /// Writes the counts, with which the lines can be compared.
    pub fn finish(&mut self, tally: &Tally, account: &ObserverReport) -> say::Result<()> {
        let missed = |unseen: &watch::Unseen| Missed {
            key: unseen.key().to_owned(),
            open: unseen.gap.open().key().to_owned(),
            count: unseen.count,
            what: unseen.what().to_string(),
            why: unseen.why().to_string(),
        };
        let end = End {
            lines: self.sequence,
            by: account.observer.name().to_owned(),
            launches: tally.launches(),
            calls: tally.calls(),
            refused: tally.rejections(),
            lost: tally.lost,
            unknown_replays: tally.unknown_replays,
            window_ns: (account.seconds * 1e9) as u64,
            gaps: account.gaps.iter().map(missed).collect(),
        };
        self.put(&Closing { end });
        let name = || self.path.display().to_string();
        if let Some(problem) = self.problem.take() {
            return Err(problem).with_context(|| say!("command-trace-incomplete", path = name()));
        }
        self.out.flush().about(name())
    }
}

fn line(seq: u64, seen: &ObservedLaunch<'_>) -> Line {
    let kind = seen.kind;
    let (status, times, times_refused) = match seen.fate {
        Fate::Made => (None, None, None),
        Fate::Returned(status) | Fate::Refused(status) => (Some(status), None, None),
        Fate::Counted { calls, refused } => (None, Some(calls), Some(refused).filter(|refused| *refused > 0)),
    };
    let made = Line {
        seq,
        pid: seen.pid,
        thread: seen.thread,
        stream: seen.stream,
        time_ns: seen.time_ns,
        api: kind.api.to_owned(),
        graph: seen.graph.into(),
        status,
        times,
        times_refused,
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
        ne11: kind.ne11,
        file: Some(kind.file.clone()),
        bundle: kind.bundle,
        took_ns: seen.took_ns,
        args: Some(seen.args.iter().map(|byte| format!("{byte:02x}")).collect()),
        ..named
    }
}
