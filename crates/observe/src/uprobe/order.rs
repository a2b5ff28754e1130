//! What came, in order: named, counted, and told.

use super::account;
use super::entries::{ENTRIES, Role};
use super::processes::{Happened, Mapping};
use super::reach::reachable;
use super::watcher::{Item, Seen, Watcher};
use super::wire::{Event, Key, key, kind};
use crate::watch::{Call, Kind, KindId, Maker, Name, Phase, Tally};
use launch::columns;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long the runtime's calls are looked at after a launch that nobody could name.
const NAMING: Duration = Duration::from_millis(100);

impl Watcher {
    pub(super) fn work(&mut self, tally: &mut Tally) {
        while let Some((time, item)) = self.queue.pop_front() {
            match item {
                Item::Record(record) => {
                    let event = Event::read(&record);
                    if self.must_wait(&event) {
                        self.queue.push_front((time, Item::Record(record)));
                        return;
                    }
                    self.record(tally, &event);
                }
                Item::Sample(event) if self.must_wait(&event) => {
                    self.queue.push_front((time, Item::Sample(event)));
                    return;
                }
                Item::Sample(event) => self.record(tally, &event),
                Item::Happened(Happened::Mapped(pid, mapping)) => self.place(pid, &mapping),
                Item::Happened(Happened::Joined(pid, parent)) => {
                    self.flows.entry(pid).or_default();
                    if let Some(parent) = parent {
                        self.names.inherit(parent, pid);
                        self.news.push(format!("process {pid}, child of {parent}"));
                    }
                }
                Item::Happened(Happened::Replaced(pid)) => self.replaced(pid),
                Item::Happened(Happened::Ended) => {}
            }
        }
    }

    /// Names come from the libraries: a launch that nobody can name waits while one is being read.
    fn must_wait(&mut self, event: &Event<'_>) -> bool {
        let key = &event.key;
        let role = ENTRIES.get(key.entry as usize).map(|entry| entry.role);
        let launch = matches!(role, Some(Role::Launch(_) | Role::AddNode(_) | Role::SetNode(_)));
        if !launch || !self.processes.watches(key.tgid) {
            return false;
        }
        let named = self.names.resolve(key.tgid, key.handle, event.aux);
        if !matches!(named.name, Name::Unnamed(_)) {
            return false;
        }
        // The runtime's call tells which kernel it is: look there for a while, and in the library that its handle lies in.
        self.outer_until = Instant::now() + NAMING;
        self.want(key.tgid, event.aux);
        self.look_for(key.tgid, key.handle);
        self.names.is_reading()
    }

    fn want(&mut self, pid: u32, handle: u64) {
        let inside = |mapping: &&Mapping| (mapping.start..mapping.end).contains(&handle);
        let Some(mapping) = self.processes.mapped(pid).iter().find(inside).cloned() else { return };
        if self.names.is_postponed(mapping.file())
            && let Some(reached) = reachable(pid, &mapping)
        {
            self.names.meet(&mapping, &reached.path(), true);
        }
    }

    /// What was launched before its name was learned.
    pub(super) fn rename(&mut self, tally: &mut Tally) {
        let names = &self.names;
        tally.rename(|handle| {
            let named = names.anywhere(handle)?;
            Some((named.name, named.file, named.bundle))
        });
    }

    pub(super) fn record(&mut self, tally: &mut Tally, event: &Event<'_>) {
        let (pid, entry) = (event.key.tgid, event.key.entry as usize);
        if let Some((.., seen)) = self.canaries.iter_mut().find(|(canary, ..)| canary.pid() == pid) {
            *seen += u64::from(event.kind == kind::CALL);
            return;
        }
        let Some(entry) = ENTRIES.get(entry).filter(|_| self.processes.watches(pid)) else { return };
        match (event.kind, entry.role) {
            (kind::REJECTED, _) => {
                let kind = self.kind(tally, event);
                self.window.statuses.entry(event.status).and_modify(|n| *n += 1).or_insert(1);
                self.flows.entry(pid).or_default().reject(tally, kind, event.key.graph.into());
            }
            (kind::ANSWER, role) => {
                let flow = self.flows.entry(pid).or_default();
                match role {
                    Role::EndCapture => flow.captured(event.key.handle, event.aux),
                    Role::Instantiate => flow.instantiated(event.aux, event.key.handle),
                    Role::CreateGraph => flow.created(event.aux),
                    Role::CloneGraph => flow.cloned(event.key.handle, event.aux),
                    Role::AddNode(_) => {
                        let kind = self.kind(tally, event);
                        self.flows.entry(pid).or_default().node(event.stream, event.aux, kind);
                    }
                    Role::Alias => self.names.alias(pid, event.aux, event.key.handle),
                    Role::GetFunction => {
                        let name = event.bytes.split(|byte| *byte == 0).next().unwrap_or(&[]);
                        self.names.learn(pid, event.aux, &String::from_utf8_lossy(name));
                    }
                    _ => {}
                }
            }
            (_, Role::Launch(_) | Role::Gemm(_) | Role::LtMatmul) => {
                let kind = self.kind(tally, event);
                let count = self.shipped.entry(event.key).or_default();
                *count += 1;
                if *count == 1 {
                    self.last_new = Instant::now();
                    self.look_at_device(pid, Maker::of_call(entry.symbol));
                }
                self.flows.entry(pid).or_default().launch(tally, kind, event.key.graph.into(), 0);
                self.tell(tally, event, kind, None);
            }
            (_, Role::Replay) => {
                *self.shipped.entry(event.key).or_default() += 1;
                self.flows.entry(pid).or_default().replayed(tally, event.key.handle);
                let kind = tally.kind(&Kind::kernel(Name::Call(entry.symbol.to_owned()), entry.symbol));
                self.tell(tally, event, kind, Some(event.key.handle));
            }
            (_, Role::Update) => self.flows.entry(pid).or_default().instantiated(event.key.handle, event.stream),
            (_, Role::AddChild) => self.flows.entry(pid).or_default().add(event.key.handle, event.stream),
            (_, Role::SetNode(_)) => {
                let kind = self.kind(tally, event);
                if !self.flows.entry(pid).or_default().set_node(tally, event.stream, event.aux, kind) {
                    let why =
                        "a node of theirs was given another kernel, and which one it had launched before is not known";
                    self.window.gap("what some graphs launch", why);
                }
            }
            (_, Role::Copy | Role::CopyBack) => self.flows.entry(pid).or_default().readback(tally),
            _ => {}
        }
    }

    /// With every new kind of launch until a device is seen: it was opened before the first.
    pub(super) fn look_at_device(&mut self, pid: u32, maker: Maker) {
        let runtimes = &self.window.stand_ins;
        let mut mapped =
            self.processes.mapped(pid).iter().filter_map(|mapping| runtimes.get(&mapping.file())).peekable();
        // Where it is not known which runtime the process has, one stand-in among them all is enough to say no more.
        let stand_in = match mapped.peek().is_some() {
            true => mapped.any(|stand_in| *stand_in),
            false => runtimes.values().any(|stand_in| *stand_in),
        };
        self.window.devices.launched(pid, maker, stand_in && maker == Maker::Amd);
    }

    /// Where nobody launched: whether somebody could have is known from those that have a runtime open.
    pub(super) fn look_at_idle(&mut self) {
        if self.window.devices.iter().next().is_some() {
            return;
        }
        let runtimes = &self.window.stand_ins;
        let open = |pid: &u32| {
            let mut mapped = self.processes.mapped(*pid).iter();
            Some((
                *pid,
                mapped.find(|mapping| runtimes.contains_key(&mapping.file())).map(|mapping| mapping.path.clone())?,
            ))
        };
        let idle: Vec<(u32, String)> = self.processes.everyone().filter_map(|pid| open(&pid)).collect();
        for (pid, path) in idle {
            self.look_at_device(pid, Maker::of_library(&path));
        }
    }

    fn tell(&mut self, tally: &Tally, event: &Event<'_>, kind: KindId, exec: Option<u64>) {
        if self.each.is_none() {
            return;
        }
        let args = self.names.resolve(event.key.tgid, event.key.handle, event.aux).args;
        let (Some(each), Some(kind)) = (&mut self.each, tally.get(kind)) else { return };
        let args = if args.is_empty() { event.bytes.to_vec() } else { account::laid_out(event.bytes, &args) };
        let (time_ns, pid, thread, stream) = (event.time, event.key.tgid, event.tid, event.stream);
        each(&Seen { time_ns, pid, thread, kind, stream, graph: event.key.graph, exec, args });
    }

    fn kind(&mut self, tally: &mut Tally, event: &Event<'_>) -> KindId {
        let key = Key { graph: 0, ..event.key };
        if let Some(known) = self.kinds.get(&key) {
            return *known;
        }
        let kind = self.describe(tally, event);
        let id = tally.kind(&kind);
        if !matches!(kind.name, Name::Unnamed(_)) {
            self.kinds.insert(key, id);
        }
        id
    }

    fn describe(&mut self, tally: &mut Tally, event: &Event<'_>) -> Kind {
        let key = &event.key;
        let entry = ENTRIES.get(key.entry as usize);
        let api = entry.map_or("?", |entry| entry.symbol);
        if entry.is_some_and(|entry| matches!(entry.role, Role::Gemm(_) | Role::LtMatmul)) {
            let [m, n, k] = key.grid.map(|extent| i64::from(extent.cast_signed()));
            let [batch, type_a, _] = key.block;
            let call = Call { m, n, k, batch: batch.into(), type_a };
            if call.is_unknown() {
                let why = "the matrix layouts were made before the attach, or cannot be read without BPF";
                self.window.gap(format!("extents of some calls of {api}"), why);
            }
            return Kind { process: key.tgid, ..Kind::call(api, call) };
        }
        let named = self.names.resolve(key.tgid, key.handle, event.aux);
        let facts = tally.facts(&named.name);
        let given = Some(key.columns).filter(|columns| *columns != key::NONE).map(u64::from);
        if given.is_none() && columns::place(&facts, &named.args).is_some() {
            let why = "some launches were made before their library had been read, and are counted without";
            self.window.gap("column counts", why);
        }
        let mut grid = key.grid;
        if matches!(api, "hipExtModuleLaunchKernel" | "hipHccModuleLaunchKernel") {
            // These take the number of threads.
            for (grid, block) in grid.iter_mut().zip(key.block) {
                *grid = grid.checked_div(block).unwrap_or(*grid);
            }
        }
        Kind {
            process: key.tgid,
            file: named.file,
            bundle: named.bundle,
            grid,
            block: key.block,
            shared: key.shared,
            ne11: columns::of_value(&facts, given),
            ..Kind::kernel(named.name, api)
        }
    }

    /// What was counted and did not come over the ring is counted here; only its order is lost.
    pub(super) fn reconcile(&mut self, tally: &mut Tally) {
        let mut missing: BTreeMap<&'static str, u64> = BTreeMap::new();
        for (key, count) in self.backend.counted() {
            let shipped = self.shipped.get(&key).copied().unwrap_or(0);
            let Some(entry) = ENTRIES.get(key.entry as usize).filter(|_| self.processes.watches(key.tgid)) else {
                continue;
            };
            let Some(more) = count.checked_sub(shipped).filter(|more| *more > 0) else { continue };
            *missing.entry(entry.symbol).or_default() += more;
            match entry.role {
                Role::Replay => tally.unknown_replays += more,
                _ if key.graph != 0 => tally.lost += more,
                _ => {
                    let bytes = &[][..];
                    let (kind, tid, time, stream, aux, status) = (kind::CALL, 0, 0, 0, 0, 0);
                    let event = Event { kind, tid, time, key, stream, aux, status, bytes };
                    let kind = self.kind(tally, &event);
                    tally.launched(Phase::Other, 0, kind, more);
                }
            }
        }
        for (symbol, count) in missing {
            let why = "the ring was full: they are counted, without their place in the order";
            self.window.gap(format!("order of {count} calls of {symbol}"), why);
        }
    }
}
