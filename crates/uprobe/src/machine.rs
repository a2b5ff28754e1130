//! A watch of the whole machine with little overhead: every process that maps a runtime is followed, launches are
//! counted in the kernel all the time, and their order is seen in samples.
//!
//! Nothing grows without a limit: the kernel's tables have a fixed size, and the traces of a process are removed after
//! it ended.

use crate::bpf::backend::Backend;
use crate::bpf::wire::{Key, counter};
use crate::options::{How, Options};
use crate::probes::attached::broken;
use crate::probes::canary;
use crate::probes::entries::{ENTRIES, Home, Role, Suspect};
use crate::watcher::Watcher;
use say::say;
use std::collections::HashSet;
use watch::{Gap, Maker, Name, Tally, WatchError};

/// Calls that the kernel counted since the last look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedKernel {
    pub maker: Maker,
    pub process: u32,
    pub name: Name,
    pub calls: u64,
    /// Those whose return was seen, and was an error.
    pub rejected: u64,
}

impl Watcher {
    /// Watches every process that maps a runtime, now and later. It begins quiet.
    pub fn machine(options: Options) -> Result<Watcher, WatchError> {
        let mut watcher = Watcher::ready(Options { machine: true, how: How::Bpf, ..options })?;
        watcher.attached.backend.set_quiet(true).map_err(broken)?;
        let mut happened = Vec::new();
        watcher.resolver.processes.join_everyone(&mut happened);
        watcher.take(happened)?;
        if let Some(error) = watcher.attached.refused.take().filter(|_| watcher.attached.probed.is_empty()) {
            return Err(error);
        }
        Ok(watcher)
    }

    /// Whether launches are only counted. When samples begin or end, the evaluation in progress is known only in part.
    pub fn set_quiet(&mut self, on: bool, tally: &mut Tally) -> Result<(), WatchError> {
        if on {
            self.attached.backend.set_quiet(true).map_err(broken)?;
            self.step(tally)?;
        }
        let everyone: Vec<u32> = self.resolver.processes.members().collect();
        for pid in everyone {
            self.queue.flows.entry(pid).or_default().tear();
        }
        self.queue.forget_counts();
        if !on {
            self.attached.backend.set_quiet(false).map_err(broken)?;
        }
        Ok(())
    }

    /// Handles everything that has happened, without waiting.
    pub fn step(&mut self, tally: &mut Tally) -> Result<(), WatchError> {
        self.arrivals();
        let lost = self.resolver.processes.lost;
        while self.collect()? {}
        if self.looked.must_scan(self.resolver.processes.lost > lost) {
            let mut happened = Vec::new();
            self.resolver.processes.scan(&mut happened);
            self.take(happened)?;
        }
        self.work(tally);
        self.resolver.look(&self.queue, &mut self.window);
        // Launches that are only counted are not in the queue; the rate of the kernel's counter decides.
        self.attached.sample_returns(Some(self.queue.last_new))?;
        self.attached.sample_outer(false)
    }

    /// Whether libraries are being read. Launches would wait for their names.
    pub fn is_reading(&self) -> bool {
        self.resolver.names.is_reading()
    }

    /// The number of processes that are followed.
    pub fn processes(&self) -> usize {
        self.resolver.processes.count()
    }

    pub fn followed(&self) -> Vec<u32> {
        self.resolver.processes.members().collect()
    }

    /// Processes that were not followed because there were too many at once.
    pub fn turned_away(&self) -> u64 {
        self.resolver.processes.turned_away
    }

    /// The counts since the last call. Launches of a graph's replays are expanded; replays of unknown contents are
    /// returned as a number, and so are calls that could not be counted by kernel.
    pub fn take_kernel_counts(&mut self, tally: &mut Tally, mut each: impl FnMut(CountedKernel)) -> (u64, u64) {
        let mut unknown_replays = 0;
        let mut lost = 0;
        for (key, count) in self.attached.backend.counted() {
            let (calls, rejected) = (count.calls, count.returned.saturating_sub(count.accepted));
            let before = self.looked.counts.insert(key, (calls, rejected)).unwrap_or_default();
            // A process that reuses the id of an ended one begins anew.
            let more = (calls.checked_sub(before.0).unwrap_or(calls), rejected.saturating_sub(before.1));
            if let Some((.., seen)) = self.attached.canaries.iter_mut().find(|(canary, ..)| canary.pid() == key.tgid) {
                *seen = calls;
                continue;
            }
            if more.0 == 0 {
                continue;
            }
            let Some(entry) = ENTRIES.get(key.entry as usize) else {
                lost += self.unknown_calls(&key, more.0);
                continue;
            };
            let maker = Maker::of_call(entry.symbol);
            let one = |name: Name, calls: u64, rejected: u64| CountedKernel {
                maker,
                process: key.tgid,
                name,
                calls,
                rejected,
            };
            match entry.role {
                Role::Replay => {
                    let flow = self.queue.flows.entry(key.tgid).or_default();
                    let replayed = flow.graphs.replay(key.handle);
                    unknown_replays +=
                        if replayed.as_ref().is_none_or(|replayed| !replayed.whole) { more.0 } else { 0 };
                    for (kind, times) in replayed.iter().flat_map(|replayed| replayed.counts) {
                        if let Some(kind) = tally.get(*kind) {
                            each(one(kind.name.clone(), times * more.0, 0));
                        }
                    }
                }
                _ if key.graph != 0 => {}
                Role::Launch(_) | Role::Several(_) => {
                    let named = self.resolver.names.resolve(key.tgid, key.handle, 0);
                    if matches!(named.name, Name::Unnamed(_)) && self.resolver.processes.knows(key.tgid) {
                        self.resolver.look_for(key.tgid, key.handle);
                    }
                    each(one(named.name, more.0, more.1));
                }
                Role::Gemm(_) | Role::LtMatmul => each(one(Name::Call(entry.symbol.to_owned()), more.0, more.1)),
                _ => {}
            }
        }
        let uncounted = self.attached.backend.counter(counter::UNCOUNTED);
        lost += uncounted.saturating_sub(self.looked.lost);
        self.looked.lost = uncounted;
        if let Backend::Bpf(instrument) = &self.attached.backend {
            lost += instrument.take_spilled();
        }
        self.judge_ended_canaries();
        self.forget_ended();
        (unknown_replays, lost)
    }

    /// Calls of a function of which only the name is known; returns how many launches that may be.
    fn unknown_calls(&mut self, key: &Key, calls: u64) -> u64 {
        let Backend::Bpf(instrument) = &self.attached.backend else { return 0 };
        let Some((library, symbol, what)) = instrument.unknown(key.entry).cloned() else { return 0 };
        let gap = match what {
            Suspect::Launch => Gap::UnknownLaunch { library, symbol },
            Suspect::Graph => Gap::UnknownGraph { library, symbol },
            Suspect::Unreturned => Gap::Unreturned { library, symbol },
        };
        self.window.missed(gap, calls);
        if what == Suspect::Launch { calls } else { 0 }
    }

    /// Evaluates the canaries whose process has ended.
    fn judge_ended_canaries(&mut self) {
        let (over, open) =
            std::mem::take(&mut self.attached.canaries).into_iter().partition(|(canary, ..)| canary.is_over());
        self.attached.canaries = open;
        let over: Vec<(sys::child::Child, _, u64)> = over;
        let mut ended = HashSet::new();
        for (child, (symbol, place), seen) in over {
            let calls = canary::CALLS;
            let told = say!("canary-uprobe", seen, calls, symbol, place);
            if seen == calls {
                self.window.canary_seen(told);
            } else {
                self.window.gap(Gap::Canary { told });
            }
            ended.insert(child.pid());
        }
        self.forget(&ended);
    }

    /// Removes the traces of processes that have ended.
    fn forget_ended(&mut self) {
        let ended: HashSet<u32> = self.resolver.processes.forget_ended().into_iter().collect();
        for pid in &ended {
            self.replaced(*pid);
            self.queue.flows.remove(pid);
            self.resolver.forget(*pid);
        }
        self.resolver.names.trim();
        self.forget(&ended);
    }

    fn forget(&mut self, ended: &HashSet<u32>) {
        if ended.is_empty() {
            return;
        }
        if let Backend::Bpf(instrument) = &self.attached.backend {
            instrument.forget_counts(ended);
        }
        self.looked.forget(ended);
    }

    /// The runtimes that have probes: kind and file name.
    pub fn runtimes(&self) -> Vec<(Home, String)> {
        let named = self.attached.probed.iter().filter(|(_, home)| home.launches());
        named.filter_map(|(file, home)| Some((*home, self.attached.names.get(file)?.clone()))).collect()
    }
}
