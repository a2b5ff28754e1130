//! The live observer: what the kernel counted and told, named, and handed to the tally in order.

use crate::bpf::backend::Backend;
use crate::bpf::duty_cycle::CHECKED;
use crate::bpf::instrument::Probed;
use crate::bpf::wire::{Event, Key, kind};
use crate::coverage;
use crate::coverage::Window;
use crate::options::{How, Options};
use crate::probes::entries::Home;
use crate::probes::library::Wanted;
use crate::probes::preprobe::Inode;
use crate::probes::recognise::Recognised;
use crate::probes::stub::Stub;
use crate::target::hold::Hold;
use crate::target::late_names::Nameless;
use crate::target::names::Names;
use crate::target::processes::{FileId, Happened, Mapping, Processes};
use evidence::Canary;
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};
use watch::{Ended, Flow, Gap, KindId, ObserverReport, Seen, Source, State, Tally, WatchError};

type Each = Box<dyn FnMut(&Seen<'_>)>;

pub(crate) enum Item {
    Record(Vec<u8>),
    Sample(Event<'static>),
    Happened(Happened),
}

pub struct Watcher {
    pub(crate) backend: Backend,
    pub(crate) processes: Processes,
    pub(crate) names: Names,
    pub(crate) options: Options,
    pub(crate) flows: HashMap<u32, Flow>,
    pub(crate) kinds: HashMap<Key, KindId>,
    /// How often each key came over the ring.
    pub(crate) shipped: HashMap<Key, u64>,
    pub(crate) queue: VecDeque<(u64, Item)>,
    /// Launches and replays that came of what is watched: a probe belongs to a file, and fires for strangers too.
    pub(crate) activity: u64,
    pub(crate) probed: HashMap<FileId, Home>,
    /// What each file that was mapped is.
    pub(crate) recognised: HashMap<FileId, Recognised>,
    /// Files that were probed before anybody mapped them.
    pub(crate) ahead: HashMap<Inode, (Probed, RawFd)>,
    /// The files that carry probes.
    pub(crate) held: Vec<File>,
    /// Children of ours that call a function of ours under the same probe, with what was seen of each.
    pub(crate) canaries: Vec<(sys::child::Child, String, u64)>,
    pub(crate) window: Window,
    pub(crate) each: Option<Each>,
    pub(crate) news: Vec<String>,
    pub(crate) started: Instant,
    pub(crate) last_new: Instant,
    pub(crate) returns_until: Instant,
    /// Launches so far, when they were last counted.
    pub(crate) paced: (Instant, u64),
    /// Until when the runtime's own calls are looked at, for names.
    pub(crate) outer_until: Instant,
    /// The processes were there before us.
    pub(crate) late: bool,
    pub(crate) nameless: Nameless,
    /// A function of ours for each runtime that carries probes, by the runtime's descriptor.
    pub(crate) stubs: HashMap<RawFd, Arc<Stub>>,
    /// Holds what we started whenever it maps code.
    pub(crate) hold: Option<Hold>,
    /// How often each key came from processes that have a number which one of ours had.
    pub(crate) strangers: HashMap<Key, u64>,
    /// Launches by process and stream that no capture was seen around, until the first capture of that stream is seen.
    pub(crate) direct: HashMap<(u32, u64), u64>,
    /// The one whose calls are timed at the end.
    pub(crate) measured: Option<Arc<Stub>>,
}

/// How long an attach waits for the libraries to be read. What is launched afterwards waits for its name, not the process.
const PATIENCE: Duration = Duration::from_secs(60);
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
        // Functions that were obtained before us are named by the runtime's calls: those must be seen from the first launch on.
        watcher.late = true;
        watcher.sample_outer()?;
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
            activity: 0,
            probed: HashMap::new(),
            recognised: HashMap::new(),
            ahead: HashMap::new(),
            held: Vec::new(),
            canaries: Vec::new(),
            window: Window::default(),
            each: None,
            news: Vec::new(),
            started: now,
            last_new: now,
            returns_until: now + CHECKED,
            paced: (now, 0),
            outer_until: now,
            late: false,
            nameless: Nameless::default(),
            stubs: HashMap::new(),
            hold: None,
            strangers: HashMap::new(),
            direct: HashMap::new(),
            measured: None,
        })
    }

    /// Also watches this process and its children.
    pub fn join(&mut self, pid: u32) -> Result<(), WatchError> {
        let mut happened = Vec::new();
        self.processes.join(pid, &mut happened);
        self.backend.follow(pid, &mut self.window)?;
        self.take(happened)
    }

    /// Watches a program that we started after this time.
    pub fn adopt(&mut self, pid: u32, from: u64) -> Result<(), WatchError> {
        let mut happened = Vec::new();
        self.processes.adopt(pid, from, &mut happened);
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

    pub(crate) fn take(&mut self, happened: Vec<(u64, Happened)>) -> Result<(), WatchError> {
        for (time, what) in happened {
            if let Happened::Mapped(pid, mapping) = &what {
                self.mapped(*pid, mapping, time)?;
            }
            self.queue.push_back((time, Item::Happened(what)));
        }
        let over = self.processes.over();
        if let Some(hold) = &self.hold {
            over.into_iter().for_each(|id| hold.over(id));
        }
        Ok(())
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

    pub(crate) fn place(&mut self, pid: u32, mapping: &Mapping) {
        let Some((bias, library)) = self.names.place(pid, mapping) else { return };
        self.window.library(mapping, &library);
        if !self.processes.is_alive(pid) {
            return;
        }
        self.read_slots(pid);
        for (handle, layout) in library.layouts(self.options.arguments) {
            if self.backend.set_layout(pid, handle.wrapping_add(bias), &layout).is_err() {
                self.window.gap(Gap::TableFull);
                break;
            }
        }
    }

    pub(crate) fn replaced(&mut self, pid: u32) {
        for (bias, library) in self.names.forget(pid) {
            for (handle, _) in library.layouts(self.options.arguments) {
                self.backend.forget_layout(pid, handle.wrapping_add(bias));
            }
        }
        self.kinds.retain(|key, _| key.tgid != pid);
    }

    /// Reads everything that came; true if there was something.
    pub(crate) fn collect(&mut self) -> Result<bool, WatchError> {
        const MOST: usize = 1 << 16;
        self.see_to_held()?;
        let mut records: Vec<(u64, Item)> = Vec::new();
        match &mut self.backend {
            Backend::Bpf(instrument) => drop(instrument.ring.read(MOST, |record| {
                let event = Event::read(record);
                // Only there to wake us.
                if event.kind != kind::HELD {
                    records.push((event.time, Item::Record(record.to_vec())));
                }
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

pub(crate) fn broken(error: std::io::Error) -> WatchError {
    WatchError::new("a BPF map or probe", error.to_string(), "")
}

impl Source for Watcher {
    fn poll(&mut self, tally: &mut Tally, timeout: Duration) -> Result<State, WatchError> {
        let (until, before) = (Instant::now() + timeout, self.activity);
        loop {
            self.arrivals();
            let any = self.collect()?;
            self.work(tally);
            self.look();
            self.sample_returns()?;
            self.sample_outer()?;
            // What waits for a name is a launch too.
            if self.activity != before || !self.queue.is_empty() {
                return Ok(State::Busy);
            }
            if self.processes.is_empty() {
                return Ok(State::Ended(Ended::TargetGone));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(State::Quiet);
            }
            if any {
                continue;
            }
            // Mappings are looked at often, so that a runtime which is opened now carries probes before it launches.
            let step = left.min(Duration::from_millis(5));
            self.backend.wait(i32::try_from(step.as_millis()).unwrap_or(1).max(1));
        }
    }

    fn finish(&mut self, tally: &mut Tally) -> Result<ObserverReport, WatchError> {
        self.look_at_idle();
        // From here on nobody stands still because of us.
        self.see_to_held()?;
        self.hold = None;
        self.await_canaries(tally)?;
        self.disarm_measured(tally)?;
        while self.collect()? {}
        self.work(tally);
        self.look();
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
        Ok(coverage::account(&mut self.window, tally, &self.backend, self.processes.lost, seconds))
    }

    fn canary_in_target(&mut self, what: String) {
        self.window.canary = Canary::in_target(what);
    }

    fn news(&mut self) -> Vec<String> {
        std::mem::take(&mut self.news)
    }
}
