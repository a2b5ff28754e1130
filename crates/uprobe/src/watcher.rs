//! The live observer: names the launches that the kernel counted and reported, and passes them to the tally in order.

use crate::bpf::backend::Backend;
use crate::bpf::wire::{Event, counter, kind};
use crate::coverage;
use crate::coverage::Window;
use crate::looked::Looked;
use crate::options::{How, Options};
use crate::probes::attached::Attached;
use crate::probes::entries::{ENTRIES, Home, Role};
use crate::probes::library::Wanted;
use crate::queue::{Item, Queue};
use crate::target::names::Names;
use crate::target::proc::clock;
use crate::target::processes::{FileId, Happened, Mapping, Processes};
use crate::target::resolver::Resolver;
use crate::target::tree::Tree;
use crate::vulkan_calls::VulkanCalls;
use evidence::Canary;
use say::{Message, say};
use std::time::{Duration, Instant};
use watch::{Ended, Gap, ObservedLaunch, ObserverReport, Source, State, Tally, WatchError};

type Each = Box<dyn FnMut(&ObservedLaunch<'_>)>;

/// A watch: its probes, the processes whose launches it counts, and the results.
pub struct Watcher {
    pub(crate) attached: Attached,
    pub(crate) resolver: Resolver,
    pub(crate) queue: Queue,
    pub(crate) vulkan: VulkanCalls,
    pub(crate) tree: Tree,
    /// How completely the launches were seen.
    pub(crate) window: Window,
    pub(crate) each: Option<Each>,
    pub(crate) news: Vec<Message>,
    pub(crate) looked: Looked,
    started: Instant,
}

/// How long an attach waits for the libraries to be read. Later launches wait for their names; the process does not
/// wait.
const PATIENCE: Duration = Duration::from_secs(60);

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watcher").field("probed", &self.attached.probed).finish_non_exhaustive()
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
        if let Some(error) = watcher.attached.refused.take().filter(|_| watcher.attached.probed.is_empty()) {
            return Err(error);
        }
        watcher.settle(PATIENCE);
        let watched: Vec<u32> = watcher.resolver.processes.everyone().collect();
        watcher.resolver.read_postponed(&watched);
        watcher.settle(PATIENCE);
        // Functions obtained before the attach are named by the runtime's calls, which must be seen from the first
        // launch on.
        watcher.resolver.late = true;
        watcher.sample_outer()?;
        Ok(watcher)
    }

    /// A watcher without watched processes.
    pub fn ready(options: Options) -> Result<Watcher, WatchError> {
        let processes = match options.how {
            How::Armed => Processes::without(),
            How::Bpf | How::Perf => Processes::open(options.room.pages)
                .map_err(|error| WatchError::new(say!("uprobe-processes"), error).fix(say!("uprobe-perfmon")))?,
        };
        let wanted = Wanted { layouts: options.how == How::Bpf, hash: options.hash, nvidia: false };
        let names = Names::new(options.cache.clone(), wanted, options.reader.clone());
        Ok(Watcher {
            attached: Attached::new(options)?,
            resolver: Resolver::new(processes, names),
            queue: Queue::new(),
            vulkan: VulkanCalls::default(),
            tree: Tree::default(),
            window: Window::default(),
            each: None,
            news: Vec::new(),
            looked: Looked::default(),
            started: Instant::now(),
        })
    }

    /// Also watches the process with this id and its children.
    pub fn join(&mut self, pid: u32) -> Result<(), WatchError> {
        let mut happened = Vec::new();
        self.tree.joined(pid);
        self.resolver.processes.join(pid, &mut happened);
        self.attached.backend.follow(pid, &mut self.window)?;
        self.take(happened)
    }

    /// Watches a program that we started after this time.
    pub fn adopt(&mut self, pid: u32, from: u64) -> Result<(), WatchError> {
        let mut happened = Vec::new();
        self.resolver.processes.adopt(pid, from, &mut happened);
        self.attached.backend.follow(pid, &mut self.window)?;
        self.take(happened)
    }

    /// Called with every launch, in order.
    pub fn on_each(&mut self, each: impl FnMut(&ObservedLaunch<'_>) + 'static) {
        self.each = Some(Box::new(each));
    }

    /// The runtime libraries that have probes now, with their files.
    pub fn probed(&self) -> impl Iterator<Item = (&FileId, &Home)> {
        self.attached.probed.iter()
    }

    /// Waits until every library has been read, at most this long.
    fn settle(&mut self, most: Duration) {
        let until = Instant::now() + most;
        while self.resolver.names.is_reading() && Instant::now() < until {
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
            self.queue.items.push_back((time, Item::Happened(what)));
        }
        let over = self.resolver.processes.over();
        if let Some(hold) = &self.attached.hold {
            over.into_iter().for_each(|id| hold.over(id));
        }
        Ok(())
    }

    /// Handles libraries that were read meanwhile: passes their layouts to the kernel.
    pub(crate) fn arrivals(&mut self) {
        for file in self.resolver.names.arrived() {
            let at: Vec<(u32, Mapping)> = self
                .resolver
                .processes
                .everyone()
                .flat_map(|pid| self.resolver.processes.mapped(pid).iter().map(move |mapping| (pid, mapping.clone())))
                .filter(|(_, mapping)| mapping.file() == file)
                .collect();
            for (pid, mapping) in at {
                self.place(pid, &mapping);
            }
        }
    }

    pub(crate) fn place(&mut self, pid: u32, mapping: &Mapping) {
        let Some((bias, library)) = self.resolver.names.place(pid, mapping) else { return };
        self.window.library(mapping, &library, !self.attached.options.machine);
        if !self.resolver.processes.is_alive(pid) {
            return;
        }
        self.resolver.read_slots(pid, &mut self.window);
        for (handle, layout) in library.layouts(self.attached.options.arguments) {
            if self.attached.backend.set_layout(pid, handle.wrapping_add(bias), &layout).is_err() {
                self.window.gap(Gap::TableFull);
                break;
            }
        }
    }

    pub(crate) fn replaced(&mut self, pid: u32) {
        for (bias, library) in self.resolver.names.forget(pid) {
            for (handle, _) in library.layouts(self.attached.options.arguments) {
                self.attached.backend.forget_layout(pid, handle.wrapping_add(bias));
            }
        }
        self.queue.kinds.retain(|key, _| key.tgid != pid);
        self.queue.unnamed.retain(|key, _| key.tgid != pid);
        self.vulkan.over(pid);
    }

    /// Unnamed functions that were launched.
    pub fn nameless(&self) -> usize {
        self.resolver.unnamed()
    }

    fn sample_outer(&mut self) -> Result<(), WatchError> {
        self.attached.sample_outer(self.resolver.late && self.queue.shipped.is_empty())
    }

    /// Reads the available records. A pointer to a function is handled at once, because it may be called at any moment.
    pub(crate) fn drain(&mut self) {
        const MOST: usize = 1 << 16;
        let fresh = &mut self.queue.fresh;
        let mut pointed = Vec::new();
        match &mut self.attached.backend {
            Backend::Bpf(instrument) => drop(instrument.ring.read(MOST, |record| {
                let event = Event::read(record);
                let role = ENTRIES.get(event.key.entry as usize).map(|entry| entry.role);
                match (event.kind, role) {
                    // The record only wakes the reader.
                    (kind::HELD, _) => {}
                    (_, Some(Role::ProcAddress)) => pointed.push(record.to_vec()),
                    _ => fresh.push((event.time, Item::Record(record.to_vec()))),
                }
            })),
            Backend::Perf(sampled) | Backend::Armed(sampled, _) => {
                fresh.extend(sampled.read().into_iter().map(|event| (event.time, Item::Sample(event))));
            }
        }
        pointed.iter().for_each(|record| self.pointed(&Event::read(record)));
    }

    /// Reads all records that arrived; true if there was at least one.
    pub(crate) fn collect(&mut self) -> Result<bool, WatchError> {
        self.see_to_held()?;
        self.drain();
        let mut records = std::mem::take(&mut self.queue.fresh);
        let mut happened = Vec::new();
        self.resolver.processes.poll(&mut happened);
        let any = !records.is_empty();
        self.take(happened)?;
        let torn = self.attached.backend.counter(counter::TORN);
        if torn > self.vulkan.torn {
            self.vulkan.torn = torn;
            let from = records.iter().map(|(time, _)| *time).min().unwrap_or_else(clock);
            let to = records.iter().map(|(time, _)| *time).max().unwrap_or(from);
            records.insert(0, (from, Item::Torn(true)));
            records.push((to, Item::Torn(false)));
            self.queue.merge(records);
        } else if any {
            self.queue.merge(records);
        }
        Ok(any)
    }
}

impl Source for Watcher {
    fn poll(&mut self, tally: &mut Tally, timeout: Duration) -> Result<State, WatchError> {
        let (until, before) = (Instant::now() + timeout, self.queue.activity);
        loop {
            self.arrivals();
            let now = clock();
            let any = self.collect()?;
            self.work(tally);
            if !any && self.queue.items.is_empty() {
                tally.counted_to = Some(now);
            }
            self.look_at_tree(false);
            self.resolver.look(&self.queue, &mut self.window);
            self.attached.sample_returns(self.queue.last_new())?;
            self.sample_outer()?;
            // A launch that waits for its name counts too.
            if self.queue.activity != before || !self.queue.items.is_empty() {
                return Ok(State::Busy);
            }
            if self.resolver.processes.is_empty() {
                return Ok(State::Ended(Ended::TargetGone));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(State::Quiet);
            }
            if any {
                continue;
            }
            // Mappings are checked often, so that a newly opened runtime has probes before it launches.
            let step = left.min(Duration::from_millis(5));
            self.attached.backend.wait(i32::try_from(step.as_millis()).unwrap_or(1).max(1));
        }
    }

    fn finish(&mut self, tally: &mut Tally) -> Result<ObserverReport, WatchError> {
        self.look_at_idle();
        self.look_at_tree(true);
        // From here on, no thread is stopped by us.
        self.see_to_held()?;
        self.attached.hold = None;
        self.await_canaries(tally)?;
        self.disarm_measured(tally)?;
        while self.collect()? {}
        self.work(tally);
        self.resolver.look(&self.queue, &mut self.window);
        let until = Instant::now() + PATIENCE;
        while !self.queue.items.is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
            self.arrivals();
            self.work(tally);
        }
        // If a library takes longer, its kernels stay unnamed.
        self.resolver.names.give_up();
        self.work(tally);
        self.finish_vulkan(tally);
        self.reconcile(tally);
        self.resolver.rename(tally);
        self.judge_canaries();
        for flow in self.queue.flows.values_mut() {
            flow.finish(tally);
        }
        let seconds = self.started.elapsed().as_secs_f64();
        self.tree.unread = self.window.device_launches(tally);
        let lost = self.resolver.processes.lost;
        let mut report = coverage::account(&mut self.window, tally, &self.attached.backend, lost, seconds);
        report.second = self.second_account();
        Ok(report)
    }

    fn so_far(&self, tally: &Tally) -> Option<(u64, ObserverReport)> {
        Some(coverage::so_far(&self.window, tally, &self.attached.backend, self.resolver.processes.lost))
    }

    fn canary_in_target(&mut self, what: Message) {
        self.window.canary = Canary::in_target(what);
    }

    fn news(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.news)
    }
}
