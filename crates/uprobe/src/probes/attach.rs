//! Places probes on files, in advance or when a watched process maps one, and runs the canary that shows that they
//! fire.

use crate::bpf::instrument::{Calls, Probed};
use crate::options::How;
use crate::probes::attached::broken;
use crate::probes::canary;
use crate::probes::cost;
use crate::probes::entries::Home;
use crate::probes::preprobe::{Inode, inode};
use crate::probes::recognise::{Recognised, home_of, recognise};
use crate::target::mapped_file::reachable;
use crate::target::proc::{alive, clock};
use crate::target::processes::Mapping;
use crate::watcher::Watcher;
use say::say;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use sys::unix::RawFd;
use watch::{Gap, Tally, Unprobed, WatchError, is_stand_in};

impl Watcher {
    /// Probes files that a program may map later. If a file cannot be probed now, it is tried again when it is mapped.
    pub fn expect(&mut self, files: &[PathBuf]) -> Result<(), WatchError> {
        if self.attached.options.how == How::Armed {
            return Ok(());
        }
        for path in files {
            if let (Some(home), Some(inode)) = (home_of(path), inode(path))
                && let Ok(probed) = self.attached.equip(path, home, Calls::Nobody)
            {
                self.attached.ahead.insert(inode, probed);
            }
        }
        if self.attached.ahead.is_empty() { Ok(()) } else { self.attached.check_returns(true) }
    }

    /// A library of a watched process: probed at once if it is a runtime, read in the background.
    pub(crate) fn mapped(&mut self, pid: u32, mapping: &Mapping, time: u64) -> Result<(), WatchError> {
        // A machine starts many processes with the same libraries.
        let file = mapping.file();
        if self.attached.options.machine
            && self.attached.recognised.contains_key(&file)
            && self.resolver.names.has_met(file)
        {
            return Ok(());
        }
        let Some(reached) = reachable(pid, mapping) else {
            if !self.attached.recognised.contains_key(&mapping.file()) {
                // The files of a process that has ended can no longer be opened.
                let why = if self.resolver.processes.is_alive(pid) && alive(pid) {
                    Unprobed::Unreachable
                } else {
                    Unprobed::Over
                };
                let library = mapping.path.clone();
                let gap = match Home::of(mapping.name()) {
                    Some(_) => Gap::Unprobed { library, why },
                    None => Gap::Unread { library, why },
                };
                self.window.missed(gap, 1);
            }
            return Ok(());
        };
        let path = reached.path();
        let known = self.attached.recognised.entry(file).or_insert_with(|| recognise(mapping.name(), &path));
        if let Recognised::Launches(symbol) = *known {
            let library = mapping.path.clone();
            self.window.missed(Gap::Unrecognised { library, symbol }, 1);
        }
        match *known {
            Recognised::Contains(symbol) => {
                let gap = Gap::Inside { program: mapping.path.clone(), symbol: symbol.to_owned() };
                self.window.gap(gap);
            }
            Recognised::Opaque => self.tree.opaque(&mapping.path),
            _ => {}
        }
        if time == 0 && matches!(*known, Recognised::Home(Home::Vulkan)) {
            self.vulkan.before.insert(pid);
        }
        if let Recognised::Home(home) = *known
            && !self.attached.probed.contains_key(&file)
            && !(self.attached.options.machine && home == Home::Vulkan)
        {
            let known = |ahead: &&Inode| inode(&path).map_or(ahead.1 == mapping.inode, |inode| inode == **ahead);
            let ahead =
                self.attached.ahead.keys().find(known).copied().and_then(|inode| self.attached.ahead.remove(&inode));
            let new = ahead.is_none();
            let calls = if self.attached.stands_still(pid) { Calls::Nobody } else { Calls::Perhaps };
            let (probed, held) = match ahead.map_or_else(|| self.attached.equip(&path, home, calls), Ok) {
                Ok(equipped) => equipped,
                Err(_) if !alive(pid) => {
                    self.window.missed(Gap::Unprobed { library: mapping.path.clone(), why: Unprobed::Over }, 1);
                    return Ok(());
                }
                // A process can map any file under a runtime's name; the others are still watched.
                Err(error) => {
                    let why = Unprobed::Refused(error.why.clone());
                    self.window.missed(Gap::Unprobed { library: mapping.path.clone(), why }, 1);
                    self.attached.refused.get_or_insert(error);
                    return Ok(());
                }
            };
            self.attached.probed.insert(file, home);
            self.attached.by_file.insert(file, held);
            self.attached.names.insert(file, mapping.name().to_owned());
            // Existing processes are observed from now on; a stopped process has not called anything yet.
            let late = new && time > 0 && !self.attached.stands_still(pid);
            self.window.probed(mapping.name(), home, &probed, late.then(|| clock().saturating_sub(time)));
            if home.launches() {
                self.window.stand_ins.insert(file, home != Home::Cuda && is_stand_in(&path).unwrap_or(false));
                if new {
                    self.attached.backend.watch_returns(false).map_err(broken)?;
                    self.attached.check_returns(true)?;
                }
                self.call_canary(held, pid, mapping, &probed);
            }
            self.news.push(say!("watch-news-probed", count = probed.functions.len(), path = mapping.path, pid));
        }
        self.resolver.names.meet(mapping, &path, false);
        Ok(())
    }

    /// Calls the function from a child process that maps our own file. That the probe is in the target is checked
    /// separately, in the target's memory.
    fn call_canary(&mut self, held: RawFd, pid: u32, mapping: &Mapping, probed: &Probed) {
        let Some(stub) = self.attached.stubs.get(&held).cloned() else { return };
        if let Ok(canary) = canary::start(&stub) {
            let place = match self.attached.in_place(held, pid, mapping, &stub, probed) {
                Some(true) => say!("canary-probe-placed", library = mapping.name(), pid),
                Some(false) => {
                    let (library, symbol) = (mapping.path.clone(), stub.symbol.to_owned());
                    self.window.gap(Gap::NotPlanted { library, process: pid, symbol });
                    say!("canary-probe-absent")
                }
                None => say!("canary-probe-unread", pid),
            };
            self.attached.canaries.push((canary, (stub.symbol, place), 0));
            self.attached.measured = Some(stub);
        }
    }

    /// Waits for our child's calls, so that a target that ends early does not prevent the canary.
    pub(crate) fn await_canaries(&mut self, tally: &mut Tally) -> Result<(), WatchError> {
        const PATIENCE: Duration = Duration::from_secs(5);
        let until = Instant::now() + PATIENCE;
        while self.attached.canaries.iter().any(|(canary, ..)| !canary.is_over()) && Instant::now() < until {
            if !self.collect()? {
                std::thread::sleep(Duration::from_millis(2));
            }
            self.work(tally);
        }
        Ok(())
    }

    /// Measures the overhead of the probes per launch; removes them in the process.
    pub(crate) fn disarm_measured(&mut self, tally: &mut Tally) -> Result<(), WatchError> {
        const PATIENCE: Duration = Duration::from_secs(5);
        self.attached.check_returns(false)?;
        let any = !self.queue.shipped.is_empty() || !self.queue.items.is_empty();
        // Armed probes apply to programs that we start, not to a child that only calls.
        let wanted = self.attached.measured.clone().filter(|_| any && self.attached.options.how != How::Armed);
        let timing = wanted.and_then(|stub| cost::timing(&stub));
        let Some(mut timing) = timing else {
            self.attached.backend.disarm();
            return Ok(());
        };
        let until = Instant::now() + PATIENCE;
        while !timing.is_ready() && Instant::now() < until {
            self.collect()?;
            self.work(tally);
        }
        let with = timing.is_ready().then(|| timing.figure()).flatten();
        self.attached.backend.disarm();
        let without = with.and_then(|_| self.attached.time_without(&mut timing));
        self.window.cost_ns = with.zip(without).map(|(with, without)| (with - without).max(0.0));
        Ok(())
    }

    /// Evaluates the observed calls of our children.
    pub(crate) fn judge_canaries(&mut self) {
        let calls = canary::CALLS;
        for (_, (symbol, place), seen) in std::mem::take(&mut self.attached.canaries) {
            let told = say!("canary-uprobe", seen, calls, symbol, place);
            if seen == calls {
                self.window.canary_seen(told);
            } else {
                self.window.gap(Gap::Canary { told });
            }
        }
    }
}
