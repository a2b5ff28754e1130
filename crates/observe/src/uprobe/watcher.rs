//! The live observer: what the kernel counted and told, named, and handed to the tally in order.

use super::account::{self, Window};
use super::backend::Backend;
use super::canary;
use super::entries::Home;
use super::late::Tried;
use super::library::Wanted;
use super::names::Names;
use super::options::{How, Options};
use super::processes::{FileId, Happened, Mapping, Processes};
use super::reach::reachable;
use super::wire::{Event, Key};
use crate::watch::{Account, Ended, Flow, Kind, KindId, Source, State, Tally, WatchError, runtime_kind};
use evidence::{Canary, DeviceKind};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// One launch, call, or replay, as it was made.
#[derive(Debug)]
pub struct Seen<'s> {
    pub time_ns: u64,
    pub pid: u32,
    pub thread: u32,
    pub kind: &'s Kind,
    pub stream: u64,
    /// The capture that it was part of; 0: launched at once.
    pub graph: u32,
    /// For a replay: the executable graph.
    pub exec: Option<u64>,
    pub args: Vec<u8>,
}

type Each = Box<dyn FnMut(&Seen<'_>)>;

pub(super) enum Item {
    Record(Vec<u8>),
    Sample(Event<'static>),
    Happened(Happened),
}

pub struct Watcher {
    pub(super) backend: Backend,
    pub(super) processes: Processes,
    pub(super) names: Names,
    pub(super) options: Options,
    pub(super) flows: HashMap<u32, Flow>,
    pub(super) kinds: HashMap<Key, KindId>,
    /// How often each key came over the ring.
    pub(super) shipped: HashMap<Key, u64>,
    pub(super) queue: VecDeque<(u64, Item)>,
    pub(super) probed: HashMap<FileId, Home>,
    /// The files that carry probes.
    pub(super) held: Vec<File>,
    /// Children of ours that call the probed functions, with what was seen of each.
    pub(super) canaries: Vec<(canary::Canary, String, u64)>,
    pub(super) window: Window,
    pub(super) each: Option<Each>,
    pub(super) news: Vec<String>,
    pub(super) started: Instant,
    pub(super) last_new: Instant,
    pub(super) returns_until: Instant,
    /// Until when the runtime's own calls are looked at, for names.
    pub(super) outer_until: Instant,
    /// By process: where names were looked for in its memory.
    pub(super) tried: HashMap<u32, Tried>,
}

/// How long an attach waits for the libraries to be read. What is launched afterwards waits for its name, not the process.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long launches are checked for their return after something new was launched.
const CHECKED: Duration = Duration::from_millis(50);
/// How often a sample is checked again.
const AGAIN: Duration = Duration::from_secs(10);

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watcher").field("probed", &self.probed).finish_non_exhaustive()
    }
}

impl Watcher {
    /// Watches these processes and their children. When it returns, every probe is in place and every library that they had
    /// mapped has been read.
    pub fn attach(pids: &[u32], options: Options) -> Result<Watcher, WatchError> {
        let mut watcher = Watcher::ready(options)?;
        for pid in pids {
            watcher.join(*pid)?;
        }
        watcher.settle(PATIENCE);
        let watched: Vec<u32> = watcher.processes.everyone().collect();
        watcher.read_postponed(&watched);
        watcher.settle(PATIENCE);
        Ok(watcher)
    }

    /// Nothing is watched yet.
    pub fn ready(options: Options) -> Result<Watcher, WatchError> {
        let backend = Backend::new(&options)?;
        let processes = match options.how {
            How::Armed => Processes::without(),
            How::Bpf | How::Perf => Processes::open().map_err(|error| {
                let fix = "run as root, or give the program CAP_PERFMON";
                WatchError::new("the kernel's account of processes (perf_event_open)", error.to_string(), fix)
            })?,
        };
        let now = Instant::now();
        Ok(Watcher {
            backend,
            processes,
            names: Names::new(
                options.cache.clone(),
                Wanted { layouts: options.how == How::Bpf, hash: options.hash, nvidia: false },
            ),
            options,
            flows: HashMap::new(),
            kinds: HashMap::new(),
            shipped: HashMap::new(),
            queue: VecDeque::new(),
            probed: HashMap::new(),
            held: Vec::new(),
            canaries: Vec::new(),
            window: Window::default(),
            each: None,
            news: Vec::new(),
            started: now,
            last_new: now,
            returns_until: now + CHECKED,
            outer_until: now,
            tried: HashMap::new(),
        })
    }

    /// Also watches this process and its children.
    pub fn join(&mut self, pid: u32) -> Result<(), WatchError> {
        let mut happened = Vec::new();
        self.processes.join(pid, &mut happened);
        self.backend.follow(pid, &mut self.window)?;
        self.take(happened)
    }

    /// Called with every launch, in order.
    pub fn on_each(&mut self, each: impl FnMut(&Seen<'_>) + 'static) {
        self.each = Some(Box::new(each));
    }

    /// The runtime libraries that carry probes now, with their files.
    pub fn probed(&self) -> impl Iterator<Item = (&FileId, &Home)> {
        self.probed.iter()
    }

    /// Waits until every library has been read, at most this long.
    fn settle(&mut self, most: Duration) {
        let until = Instant::now() + most;
        while self.names.is_reading() && Instant::now() < until {
            self.arrivals();
            std::thread::sleep(Duration::from_millis(5));
        }
        self.arrivals();
    }

    fn take(&mut self, happened: Vec<(u64, Happened)>) -> Result<(), WatchError> {
        for (time, what) in happened {
            if let Happened::Mapped(pid, mapping) = &what {
                self.mapped(*pid, mapping, time)?;
            }
            self.queue.push_back((time, Item::Happened(what)));
        }
        Ok(())
    }

    /// A library of a watched process: probed at once if it is a runtime, read in the background.
    fn mapped(&mut self, pid: u32, mapping: &Mapping, time: u64) -> Result<(), WatchError> {
        let Some(path) = reachable(pid, mapping) else {
            if Home::of(mapping.name()).is_some() {
                let why = "its file could not be opened through /proc, so it carries no probe";
                self.window.gap(format!("launches through {}", mapping.path), why);
            }
            return Ok(());
        };
        let file = mapping.file();
        if let Some(home) = Home::of(mapping.name())
            && !self.probed.contains_key(&file)
        {
            let opened = inventory::File::open(&path).map_err(|error| {
                WatchError::new(path.display().to_string(), error.to_string(), "run as root, or as the process's user")
            })?;
            // By descriptor: the process, and with it this path, may be gone when a probe is put there again.
            let held = File::open(&path).map_err(broken)?;
            let lasting = PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()));
            self.held.push(held);
            let probed = self.backend.probe(&lasting, home, &opened)?;
            self.probed.insert(file, home);
            self.window.probed(mapping.name(), home, &probed, time);
            if home.launches() {
                let kind = if home == Home::Cuda { Some(DeviceKind::Real) } else { runtime_kind(&path) };
                self.window.devices.extend(kind);
                self.backend.watch_returns(false).map_err(broken)?;
                self.check_returns(true)?;
                self.call_canary(&path, home, mapping.name());
            }
            self.news.push(format!("{} functions of {} (process {pid})", probed.functions.len(), mapping.path));
        }
        self.names.meet(mapping, &path, false);
        Ok(())
    }

    fn call_canary(&mut self, path: &Path, home: Home, name: &str) {
        let symbol = if home == Home::Cuda { c"cuLaunchKernel" } else { c"hipLaunchKernel" };
        if self.options.canary
            && let Some(canary) = canary::Canary::start(path, symbol)
        {
            self.canaries.push((canary, name.to_owned(), 0));
        }
    }

    /// What was seen of the calls that our own children made.
    fn judge_canaries(&mut self) {
        let calls = canary::CALLS;
        for (_, name, seen) in std::mem::take(&mut self.canaries) {
            if seen == calls {
                self.window.canary_seen(format!("{seen} of {calls} calls through the same {name}"));
            } else {
                let why = format!("{seen} of {calls} calls that a child of ours made through {name} were seen");
                self.window.gap("the canary", why);
            }
        }
    }

    /// Libraries that have been read meanwhile: their layouts go to the kernel.
    fn arrivals(&mut self) {
        for file in self.names.arrived() {
            let at: Vec<(u32, Mapping)> = self
                .processes
                .everyone()
                .flat_map(|pid| self.processes.mapped(pid).iter().map(move |mapping| (pid, mapping.clone())))
                .filter(|(_, mapping)| mapping.file() == file)
                .collect();
            for (pid, mapping) in at {
                self.place(pid, &mapping);
            }
        }
    }

    pub(super) fn place(&mut self, pid: u32, mapping: &Mapping) {
        let Some((bias, library)) = self.names.place(pid, mapping) else { return };
        self.window.library(mapping, &library);
        if !self.processes.is_alive(pid) {
            return;
        }
        self.read_slots(pid);
        for (handle, layout) in library.layouts(self.options.arguments) {
            if self.backend.set_layout(pid, handle.wrapping_add(bias), &layout).is_err() {
                self.window.gap("argument bytes", "there are more kernels than the kernel-side table holds");
                break;
            }
        }
    }

    pub(super) fn replaced(&mut self, pid: u32) {
        for (bias, library) in self.names.forget(pid) {
            for (handle, _) in library.layouts(self.options.arguments) {
                self.backend.forget_layout(pid, handle.wrapping_add(bias));
            }
        }
        self.kinds.retain(|key, _| key.tgid != pid);
    }

    fn check_returns(&mut self, on: bool) -> Result<(), WatchError> {
        if !self.options.returns {
            return Ok(());
        }
        self.backend.watch_returns(on).map_err(broken)?;
        if on {
            self.returns_until = Instant::now() + CHECKED;
        }
        Ok(())
    }

    /// Reads everything that came; true if there was something.
    fn collect(&mut self) -> Result<bool, WatchError> {
        const MOST: usize = 1 << 16;
        let mut records: Vec<(u64, Item)> = Vec::new();
        match &mut self.backend {
            Backend::Bpf(instrument) => drop(instrument.ring.read(MOST, |record| {
                records.push((Event::read(record).time, Item::Record(record.to_vec())));
            })),
            Backend::Perf(sampled) | Backend::Armed(sampled, _) => {
                records.extend(sampled.read().into_iter().map(|event| (event.time, Item::Sample(event))));
            }
        }
        let mut happened = Vec::new();
        self.processes.poll(&mut happened);
        let any = !records.is_empty();
        self.take(happened)?;
        if any {
            let mut all: Vec<(u64, Item)> = self.queue.drain(..).chain(records).collect();
            all.sort_by_key(|(time, _)| *time);
            self.queue = all.into();
        }
        Ok(any)
    }
}

fn broken(error: std::io::Error) -> WatchError {
    WatchError::new("a BPF map or probe", error.to_string(), "")
}

impl Source for Watcher {
    fn poll(&mut self, tally: &mut Tally, timeout: Duration) -> Result<State, WatchError> {
        let until = Instant::now() + timeout;
        loop {
            self.arrivals();
            let busy = self.collect()?;
            self.work(tally);
            self.sample_returns()?;
            self.sample_outer()?;
            if busy {
                return Ok(State::Busy);
            }
            if self.processes.is_empty() {
                return Ok(State::Ended(Ended::TargetGone));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(State::Quiet);
            }
            // Mappings are looked at often, so that a runtime which is opened now carries probes before it launches.
            let step = left.min(Duration::from_millis(5));
            self.backend.wait(i32::try_from(step.as_millis()).unwrap_or(1).max(1));
        }
    }

    fn finish(&mut self, tally: &mut Tally) -> Result<Account, WatchError> {
        self.backend.disarm();
        while self.collect()? {}
        self.work(tally);
        let until = Instant::now() + PATIENCE;
        while !self.queue.is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
            self.arrivals();
            self.work(tally);
        }
        // A library that takes longer leaves its kernels unnamed.
        self.names.give_up();
        self.work(tally);
        self.reconcile(tally);
        self.rename(tally);
        self.judge_canaries();
        for flow in self.flows.values_mut() {
            flow.finish(tally);
        }
        let seconds = self.started.elapsed().as_secs_f64();
        Ok(account::account(&mut self.window, tally, &self.backend, self.processes.lost, seconds))
    }

    fn canary_in_target(&mut self, what: String) {
        self.window.canary = Canary::in_target(what);
    }

    fn news(&mut self) -> Vec<String> {
        std::mem::take(&mut self.news)
    }
}

impl Watcher {
    /// The runtime's calls are only looked at while the driver launches something that nobody can name.
    fn sample_outer(&mut self) -> Result<(), WatchError> {
        let wanted = Instant::now() < self.outer_until;
        if wanted == self.backend.watches_outer() {
            return Ok(());
        }
        self.backend.watch_outer(wanted).map_err(broken)
    }

    /// Launches are checked for their return while new kinds appear, and for a moment every ten seconds after that.
    fn sample_returns(&mut self) -> Result<(), WatchError> {
        let now = Instant::now();
        // Until something was launched there is nothing to be tired of.
        match self.backend.watches_returns() {
            true if self.shipped.is_empty() => Ok(()),
            true if now > self.returns_until && now.duration_since(self.last_new) > CHECKED => {
                self.check_returns(false)
            }
            false if now > self.returns_until + AGAIN || self.last_new > self.returns_until => self.check_returns(true),
            _ => Ok(()),
        }
    }
}
