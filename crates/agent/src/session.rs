//! One span of watching, from placing the probes to removing them; its counts go into the metrics.

use crate::claims::{self, Server};
use crate::metrics::{Id, Metrics};
use say::Message;
use std::collections::BTreeSet;
use uprobe::{CountedKernel, Home, Options, Room, Watcher};
use watch::{Kind, Maker, Name, Source as _, Tally, WatchError};

/// Beyond these, the probes are removed and placed again: kinds and open files are kept as long as a watch lasts.
const MOST_KINDS: usize = 1 << 13;
const MOST_RUNTIMES: usize = 64;

#[allow(missing_debug_implementations, reason = "a watch holds file descriptors")]
pub struct Session {
    watcher: Watcher,
    tally: Tally,
    server: Option<Server>,
    turned_away: u64,
}

impl Session {
    pub fn start(cache: std::path::PathBuf) -> Result<Session, WatchError> {
        let reader = std::env::current_exe().ok();
        let room = Room { pages: pages(), ..Room::SMALL };
        let watcher = Watcher::machine(Options { room, cache, reader, ..Options::default() })?;
        Ok(Session { watcher, tally: Tally::default(), server: None, turned_away: 0 })
    }

    pub fn step(&mut self) -> Result<Vec<Message>, WatchError> {
        self.watcher.step(&mut self.tally)?;
        Ok(self.watcher.news())
    }

    /// Whether every launch can be looked at now: not while libraries are read, because launches would wait for their
    /// names.
    pub fn is_ready(&self) -> bool {
        !self.watcher.is_reading()
    }

    pub fn look(&mut self, on: bool) -> Result<(), WatchError> {
        self.watcher.set_quiet(!on, &mut self.tally)
    }

    pub fn is_full(&self) -> bool {
        self.tally.kinds() > MOST_KINDS || self.watcher.runtimes().len() > MOST_RUNTIMES
    }

    /// Adds the kernel's counts since the last call.
    pub fn count(&mut self, metrics: &mut Metrics) {
        let mut counted: Vec<CountedKernel> = Vec::new();
        let (replays, lost) = self.watcher.take_kernel_counts(&mut self.tally, |one| counted.push(one));
        for one in counted {
            let backend = backend(one.maker);
            let (path, kind) = labels(&mut self.tally, &one.name);
            metrics.add(Id::Launches, &[backend, &path, &kind], one.calls as f64);
            if one.rejected > 0 {
                metrics.add(Id::Rejected, &[backend], one.rejected as f64);
            }
        }
        metrics.add(Id::UnknownReplays, &[], replays as f64);
        metrics.add(Id::Lost, &[], lost as f64);
        let turned_away = self.watcher.turned_away();
        metrics.add(Id::TurnedAway, &[], (turned_away - self.turned_away) as f64);
        self.turned_away = turned_away;
        metrics.set(Id::Processes, &[], self.watcher.processes() as f64);
        self.describe(metrics);
    }

    /// What is seen and what is not.
    fn describe(&mut self, metrics: &mut Metrics) {
        metrics.clear(Id::Runtime);
        for (home, library) in self.watcher.runtimes() {
            let backend = if home == Home::Cuda { "cuda" } else { "hip" };
            metrics.set(Id::Runtime, &[backend, &library], 1.0);
        }
        metrics.clear(Id::Gaps);
        if let Some((_, account)) = self.watcher.so_far(&self.tally) {
            for gap in &account.gaps {
                metrics.add(Id::Gaps, &[gap.key()], gap.count as f64);
            }
            metrics.set(Id::Canary, &[], f64::from(u8::from(account.canary != evidence::Canary::None)));
        }
    }

    /// Adds the launches of a window that has ended.
    pub fn close(&mut self, metrics: &mut Metrics) {
        let evaluations = self.tally.take_evaluations();
        let processes: BTreeSet<u32> = evaluations.iter().map(|((process, _), _)| *process).collect();
        if !processes.is_empty()
            && let Some((_, account)) = self.watcher.so_far(&self.tally)
        {
            self.tally.put_evaluations(&evaluations);
            let held = claims::compare(&mut self.server, &self.tally, &processes, &account);
            self.tally.take_evaluations();
            claims::publish(metrics, &held.unwrap_or_default());
        }
        for ((_, phase), count) in evaluations {
            metrics.add(Id::Evaluations, &[phase.key()], count as f64);
        }
        for (sign, heard) in self.tally.fallback.take() {
            metrics.add(Id::Fallbacks, &[sign.why.key()], heard.count as f64);
        }
        self.tally.take_counts(|phase, kind, path, weights, count| {
            let labels = [backend(maker(kind)), &path_label(&kind.name, path), &type_label(weights), phase.key()];
            metrics.add(Id::Sampled, &labels, count as f64);
        });
    }
}

/// Pages per CPU for records of processes: at most 4 MB in all, unless there are very many CPUs.
fn pages() -> usize {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    [128, 64, 32].into_iter().find(|pages| pages * cpus <= 1024).unwrap_or(Room::SMALL.pages)
}

fn maker(kind: &Kind) -> Maker {
    Maker::of_call(kind.api)
}

fn backend(maker: Maker) -> &'static str {
    match maker {
        Maker::Amd => "hip",
        Maker::Nvidia => "cuda",
        Maker::Vulkan => "vulkan",
    }
}

fn labels(tally: &mut Tally, name: &Name) -> (String, String) {
    let (path, weights) = tally.path_and_type(name);
    (path_label(name, path), type_label(weights))
}

/// `other`: a kernel that is no matrix product, or of another program; `unknown`: a kernel without a name.
fn path_label(name: &Name, path: Option<launch::grammar::Path>) -> String {
    match (name, path) {
        (Name::Unnamed(_), _) => "unknown".to_owned(),
        (_, Some(path)) => path.name().to_owned(),
        (_, None) => "other".to_owned(),
    }
}

/// Only ggml's types: a name that looks like one could be anything.
fn type_label(weights: Option<String>) -> String {
    match weights {
        Some(name) if gguf::TensorType::parse(&name).is_ok() => name,
        Some(_) => "other".to_owned(),
        None => "none".to_owned(),
    }
}
