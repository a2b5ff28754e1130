//! Putting probes on files: beforehand, or when a watched process maps one; and the canary that shows that they fire.

use crate::bpf::backend::Backend;
use crate::bpf::instrument::{Calls, Probed};
use crate::bpf::wire::counter;
use crate::options::How;
use crate::probes::canary;
use crate::probes::cost;
use crate::probes::entries::{ENTRIES, Home};
use crate::probes::preprobe::{Inode, inode};
use crate::probes::recognise::{Recognised, home_of, recognise};
use crate::probes::stub::Stub;
use crate::probes::symbols::entries_of;
use crate::target::mapped_file::{planted, reachable};
use crate::target::proc::{alive, clock};
use crate::target::processes::Mapping;
use crate::watcher::{Watcher, broken};
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use sys::mapped_call::Timing;
use watch::{Gap, Tally, Unprobed, WatchError, is_stand_in};

impl Watcher {
    /// Probes files that a program may map later. One that cannot be probed now is tried again when it is mapped.
    pub fn expect(&mut self, files: &[PathBuf]) -> Result<(), WatchError> {
        if self.options.how == How::Armed {
            return Ok(());
        }
        for path in files {
            if let (Some(home), Some(inode)) = (home_of(path), inode(path))
                && let Ok(probed) = self.equip(path, home, Calls::Nobody)
            {
                self.ahead.insert(inode, probed);
            }
        }
        if self.ahead.is_empty() { Ok(()) } else { self.check_returns(true) }
    }

    /// Puts the probes on a file, and holds it by descriptor: the process, and with it this path, may be gone when a probe is put there
    /// again.
    fn equip(&mut self, path: &Path, home: Home, calls: Calls) -> Result<(Probed, RawFd), WatchError> {
        let opened = inventory::File::open(path).map_err(|error| {
            WatchError::new(path.display().to_string(), error.to_string(), "run as root, or as the process's user")
        })?;
        let held = sys::regular_file::open(path).map_err(broken)?;
        let descriptor = held.as_raw_fd();
        self.held.push(held);
        let probed = self.backend.probe(&by_descriptor(descriptor), home, &opened, calls)?;
        if home.launches() && self.options.canary {
            self.prepare_canary(descriptor, home, &probed)?;
        }
        Ok((probed, descriptor))
    }

    /// The same probe on a function of ours, before anybody looks at what launches return: the canary's calls return too.
    fn prepare_canary(&mut self, held: RawFd, home: Home, probed: &Probed) -> Result<(), WatchError> {
        if let Some(stub) = Stub::like(home, probed).map_err(broken)? {
            self.backend.probe(Path::new(&stub.path()), home, &stub.bytes, Calls::Nobody)?;
            self.stubs.insert(held, Arc::new(stub));
        }
        Ok(())
    }

    /// A library of a watched process: probed at once if it is a runtime, read in the background.
    pub(crate) fn mapped(&mut self, pid: u32, mapping: &Mapping, time: u64) -> Result<(), WatchError> {
        let Some(reached) = reachable(pid, mapping) else {
            if !self.recognised.contains_key(&mapping.file()) {
                // Of a process that has ended nothing can be opened any more.
                let why =
                    if self.processes.is_alive(pid) && alive(pid) { Unprobed::Unreachable } else { Unprobed::Over };
                let library = mapping.path.clone();
                let gap = match Home::of(mapping.name()) {
                    Some(_) => Gap::Unprobed { library, why },
                    None => Gap::Unread { library, why },
                };
                self.window.missed(gap, 1);
            }
            return Ok(());
        };
        let (file, path) = (mapping.file(), reached.path());
        let known = self.recognised.entry(file).or_insert_with(|| recognise(mapping.name(), &path));
        if let Recognised::Launches(symbol) = *known {
            let library = mapping.path.clone();
            self.window.missed(Gap::Unrecognised { library, symbol }, 1);
        }
        if let Recognised::Home(home) = *known
            && !self.probed.contains_key(&file)
        {
            let known = |ahead: &&Inode| inode(&path).map_or(ahead.1 == mapping.inode, |inode| inode == **ahead);
            let ahead = self.ahead.keys().find(known).copied().and_then(|inode| self.ahead.remove(&inode));
            let new = ahead.is_none();
            let calls = if self.stands_still(pid) { Calls::Nobody } else { Calls::Perhaps };
            let (probed, held) = match ahead.map_or_else(|| self.equip(&path, home, calls), Ok) {
                Ok(equipped) => equipped,
                Err(_) if !alive(pid) => {
                    self.window.missed(Gap::Unprobed { library: mapping.path.clone(), why: Unprobed::Over }, 1);
                    return Ok(());
                }
                // Of what we watch already the rest is worth telling.
                Err(error) if time > 0 => {
                    let why = Unprobed::Refused(error.why);
                    self.window.missed(Gap::Unprobed { library: mapping.path.clone(), why }, 1);
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            self.probed.insert(file, home);
            // What was there before us is watched from now on; what stands still has not called anything yet.
            let late = new && time > 0 && !self.stands_still(pid);
            self.window.probed(mapping.name(), home, &probed, late.then(|| clock().saturating_sub(time)));
            if home.launches() {
                self.window.stand_ins.insert(file, home != Home::Cuda && is_stand_in(&path).unwrap_or(false));
                if new {
                    self.backend.watch_returns(false).map_err(broken)?;
                    self.check_returns(true)?;
                }
                self.call_canary(held, pid, mapping, &probed);
            }
            self.news.push(format!("{} functions of {} (process {pid})", probed.functions.len(), mapping.path));
        }
        self.names.meet(mapping, &path, false);
        Ok(())
    }

    /// In a child of ours, through a file of ours; what it cannot show is looked up in the target's memory.
    fn call_canary(&mut self, held: RawFd, pid: u32, mapping: &Mapping, probed: &Probed) {
        let Some(stub) = self.stubs.get(&held).cloned() else { return };
        if let Ok(canary) = canary::start(&stub) {
            let place = match self.in_place(held, pid, mapping, &stub, probed) {
                Some(true) => format!("the probe on {} is in place in process {pid}", mapping.name()),
                Some(false) => {
                    let (library, symbol) = (mapping.path.clone(), stub.symbol.to_owned());
                    self.window.gap(Gap::NotPlanted { library, process: pid, symbol });
                    "the probe is not in the target".to_owned()
                }
                None => format!("whether the probe is in place in process {pid} could not be read"),
            };
            self.canaries.push((canary, format!("{} in a library of ours; {place}", stub.symbol), 0));
            self.measured = Some(stub);
        }
    }

    fn in_place(&self, held: RawFd, pid: u32, mapping: &Mapping, stub: &Stub, probed: &Probed) -> Option<bool> {
        let file = inventory::File::open(&by_descriptor(held)).ok()?;
        let (_, site) = probed.functions.iter().find(|(symbol, _)| *symbol == stub.symbol)?;
        let symbols = entries_of(&file, stub.home).ok()?;
        let named = |entry: usize| ENTRIES.get(entry).is_some_and(|entry| entry.symbol == stub.symbol);
        let symbol = symbols.iter().find(|symbol| named(symbol.entry))?;
        let original = symbol.code.get(usize::try_from(site.offset).ok()?..)?;
        planted(pid, mapping, symbol.offset.checked_add(site.offset)?, original)
    }

    /// A target that is over sooner than our own child has called must not cost the canary.
    pub(crate) fn await_canaries(&mut self, tally: &mut Tally) -> Result<(), WatchError> {
        const PATIENCE: Duration = Duration::from_secs(5);
        let until = Instant::now() + PATIENCE;
        while self.canaries.iter().any(|(canary, ..)| !canary.is_over()) && Instant::now() < until {
            if !self.collect()? {
                std::thread::sleep(Duration::from_millis(2));
            }
            self.work(tally);
        }
        Ok(())
    }

    /// What a launch costs more with the probes than without: takes them out on the way.
    pub(crate) fn disarm_measured(&mut self, tally: &mut Tally) -> Result<(), WatchError> {
        const PATIENCE: Duration = Duration::from_secs(5);
        self.check_returns(false)?;
        let any = !self.shipped.is_empty() || !self.queue.is_empty();
        // Probes that somebody armed count for programs that we start, not for a child that only calls.
        let wanted = self.measured.clone().filter(|_| any && self.options.how != How::Armed);
        let timing = wanted.and_then(|stub| cost::timing(&stub));
        let Some(mut timing) = timing else {
            self.backend.disarm();
            return Ok(());
        };
        let until = Instant::now() + PATIENCE;
        while !timing.is_ready() && Instant::now() < until {
            self.collect()?;
            self.work(tally);
        }
        let with = timing.is_ready().then(|| timing.figure()).flatten();
        self.backend.disarm();
        let without = with.and_then(|_| self.time_without(&mut timing));
        self.window.cost_ns = with.zip(without).map(|(with, without)| (with - without).max(0.0));
        Ok(())
    }

    /// The kernel takes its time to take a probe out of a process: until no call is counted any more.
    fn time_without(&self, timing: &mut Timing) -> Option<f64> {
        const ATTEMPTS: u32 = 50;
        let mut best: Option<f64> = None;
        for _ in 0..ATTEMPTS {
            let before = self.backend.counter(counter::LAUNCHES);
            let figure = timing.again()?;
            best = Some(best.map_or(figure, |best| best.min(figure)));
            if matches!(self.backend, Backend::Bpf(_)) && self.backend.counter(counter::LAUNCHES) == before {
                return Some(figure);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        best.filter(|_| !matches!(self.backend, Backend::Bpf(_)))
    }

    /// What was seen of the calls that our own children made.
    pub(crate) fn judge_canaries(&mut self) {
        let calls = canary::CALLS;
        for (_, name, seen) in std::mem::take(&mut self.canaries) {
            if seen == calls {
                self.window.canary_seen(format!("{seen} of {calls} calls of {name}"));
            } else {
                self.window.gap(Gap::Canary { told: format!("{seen} of {calls} calls of {name}") });
            }
        }
    }
}

fn by_descriptor(held: RawFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{held}"))
}
