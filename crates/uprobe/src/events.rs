//! Processes the records in order: names, counts and reports them.

use crate::bpf::backend::Backend;
use crate::bpf::wire::{Event, Key, REACH, key, kind};
use crate::coverage;
use crate::probes::entries::{DEVICE_LAUNCH, ENTRIES, Entry, Home, Role, Suspect, node};
use crate::queue::Item;
use crate::target::processes::Happened;
use crate::vulkan_calls::{counted_key, is_vulkan};
use crate::watcher::Watcher;
use launch::columns;
use rustc_hash::FxHashMap;
use say::say;
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};
use watch::ObservedLaunch;
use watch::{Call, Fate, Flow, Gap, Kind, KindId, Maker, Name, Part, Tally};

/// How long the runtime's calls are observed after an unnamed launch.
const NAMING: Duration = Duration::from_millis(100);

impl Watcher {
    pub(crate) fn work(&mut self, tally: &mut Tally) {
        while let Some((time, item)) = self.queue.items.pop_front() {
            match item {
                Item::Record(record) => {
                    let event = Event::read(&record);
                    if self.must_wait(&event) {
                        self.queue.items.push_front((time, Item::Record(record)));
                        return;
                    }
                    self.record(tally, &event);
                }
                Item::Sample(event) if self.must_wait(&event) => {
                    self.queue.items.push_front((time, Item::Sample(event)));
                    return;
                }
                Item::Sample(event) => self.record(tally, &event),
                Item::Torn(begins) => self.vulkan.tear(begins, tally),
                Item::Happened(Happened::Mapped(pid, mapping)) => self.place(pid, &mapping),
                Item::Happened(Happened::Joined(pid, parent)) => {
                    // Another process may have had this id; its graphs, names and kinds do not apply to this one.
                    if let Some(mut flow) = self.queue.flows.insert(pid, Flow::default()) {
                        flow.finish(tally);
                        self.replaced(pid);
                    }
                    if let Some(parent) = parent {
                        self.resolver.names.inherit(parent, pid);
                        self.news.push(say!("watch-news-child", pid, parent));
                    }
                }
                Item::Happened(Happened::Replaced(pid)) => self.replaced(pid),
                Item::Happened(Happened::Ended) => {}
            }
            tally.counted_to = Some(time);
        }
    }

    /// Names come from the libraries, so an unnamed launch waits while a library is being read.
    fn must_wait(&mut self, event: &Event<'_>) -> bool {
        let key = &event.key;
        let entry = ENTRIES.get(key.entry as usize);
        if self.queue.kinds.contains_key(&Key { graph: 0, ..*key }) || self.stays_unnamed(event).is_some() {
            return false;
        }
        let launch = entry.is_some_and(|entry| names_kernel(entry.role, event));
        if !launch || !self.resolver.processes.watches(key.tgid, event.time) {
            return false;
        }
        let named = self.resolver.names.resolve(key.tgid, key.handle, event.aux);
        if !matches!(named.name, Name::Unnamed(_)) {
            return false;
        }
        // The runtime's call identifies the kernel: observe it for a while, and read the library that contains its handle.
        self.attached.outer_until = Instant::now() + NAMING;
        self.resolver.want(key.tgid, event.aux);
        self.resolver.look_for(key.tgid, key.handle);
        self.resolver.names.is_reading()
    }

    /// The kind of a launch that had no name before and cannot have got one since. The driver's launches can get one
    /// from the runtime's call at any time.
    fn stays_unnamed(&self, event: &Event<'_>) -> Option<KindId> {
        let entry = ENTRIES.get(event.key.entry as usize)?;
        let (kind, learned) = self.queue.unnamed.get(&Key { graph: 0, ..event.key })?;
        let names = &self.resolver.names;
        (entry.home == Home::Hip && *learned == names.learned() && !names.is_reading()).then_some(*kind)
    }

    pub(crate) fn record(&mut self, tally: &mut Tally, event: &Event<'_>) {
        let (pid, entry) = (event.key.tgid, event.key.entry as usize);
        if let Some((.., seen)) = self.attached.canaries.iter_mut().find(|(canary, ..)| canary.pid() == pid) {
            *seen += u64::from(event.kind == kind::CALL);
            return;
        }
        let Some(entry) = ENTRIES.get(entry).filter(|_| self.resolver.processes.knows(pid)) else {
            return;
        };
        if !self.resolver.processes.watches(pid, event.time) {
            // The id belonged to another process, so the kernel's counts under it are not ours either.
            if event.kind == kind::CALL {
                let key = if is_vulkan(&event.key) { counted_key(&event.key) } else { event.key };
                *self.queue.strangers.entry(key).or_default() += 1;
            }
            return;
        }
        if let Role::Vulkan(of) = entry.role {
            self.queue.activity += u64::from(entry.role.launches());
            return self.vulkan(tally, event, of);
        }
        self.queue.activity +=
            u64::from(event.kind == kind::REJECTED || entry.role.launches() || entry.role == Role::Replay);
        match (event.kind, entry.role) {
            (kind::REJECTED, _) => {
                let kind = self.kind(tally, event);
                self.window.statuses.entry(event.status).and_modify(|n| *n += 1).or_insert(1);
                let counted = self.queue.flows.entry(pid).or_default().reject(tally, kind, event.key.graph.into());
                let (came, early) = self.queue.refused.entry(event.key).or_default();
                *came += 1;
                *early += u64::from(!counted);
                self.tell(tally, event, kind, None, Fate::Refused(event.status));
            }
            (_, Role::Replay) => self.replay(tally, event, entry),
            (kind::ANSWER, role) => self.answered(tally, event, role),
            (_, Role::Launch(_) | Role::Several(_) | Role::Gemm(_) | Role::LtMatmul) => {
                let kind = self.kind(tally, event);
                let count = self.queue.shipped.entry(event.key).or_default();
                *count += 1;
                if *count == 1 {
                    self.queue.last_new = Instant::now();
                    self.look_at_device(pid, Maker::of_call(entry.symbol));
                }
                if event.key.graph == 0 && entry.home.launches() {
                    *self.queue.direct.entry((pid, event.stream)).or_default() += 1;
                }
                self.queue.flows.entry(pid).or_default().launch(tally, kind, event.key.graph.into(), 0);
                self.tell(tally, event, kind, None, Fate::Made);
            }
            (_, Role::Copy | Role::CopyBack) => self.queue.flows.entry(pid).or_default().readback(tally),
            _ => {}
        }
    }

    fn replay(&mut self, tally: &mut Tally, event: &Event<'_>, entry: &Entry) {
        *self.queue.shipped.entry(event.key).or_default() += 1;
        let flow = self.queue.flows.entry(event.key.tgid).or_default();
        match event.key.graph {
            0 => flow.replayed(tally, event.key.handle),
            capture => flow.graphs.replay_into(event.key.handle, capture.into()),
        }
        let kind = tally.kind(&Kind::kernel(Name::Call(entry.symbol.to_owned()), entry.symbol));
        self.tell(tally, event, kind, Some(event.key.handle), Fate::Made);
    }

    /// A call that returned or changed something, and was accepted.
    fn answered(&mut self, tally: &mut Tally, event: &Event<'_>, role: Role) {
        let (pid, handle, aux, stream) = (event.key.tgid, event.key.handle, event.aux, event.stream);
        let part = matches!(
            role,
            Role::AddNode(_)
                | Role::AddChild
                | Role::ChangeNode(_)
                | Role::AskNode(_)
                | Role::SetNode(_)
                | Role::SetChild
        )
        .then(|| self.part(tally, event));
        let graphs = &mut self.queue.flows.entry(pid).or_default().graphs;
        match (role, part) {
            (Role::EndCapture, _) => {
                graphs.captured(handle, aux);
                // Launches on the capture's stream since the attach may have been part of it.
                let before = self.queue.direct.remove(&(pid, stream)).filter(|_| handle == 0);
                self.window.missed(Gap::CaptureUnderWay, before.unwrap_or(0));
            }
            (Role::BeginCaptureTo, _) => graphs.begun(handle, aux),
            (Role::Instantiate(_), _) => {
                graphs.instantiated(aux, handle);
                let [flags, ..] = event.key.grid;
                self.window.missed(Gap::DeviceLaunch, u64::from(flags & DEVICE_LAUNCH != 0));
            }
            (Role::Update, _) => graphs.updated(handle, aux),
            (Role::CreateGraph, _) => graphs.created(aux),
            (Role::CloneGraph, _) => graphs.cloned(handle, aux),
            (Role::FindInClone, _) => graphs.found(handle, stream, aux),
            (Role::ChildOf, _) => graphs.child_of(handle, aux),
            (Role::DestroyGraph, _) => graphs.destroyed(handle),
            (Role::DestroyExec, _) => graphs.exec_destroyed(handle),
            (Role::RemoveNode, _) => {
                let known = graphs.remove(handle);
                self.window.missed(Gap::UnknownNodes, u64::from(!known));
            }
            (Role::EnableNode, _) => {
                let [on, ..] = event.key.grid;
                let known = graphs.enable(handle, aux, on != 0);
                self.window.missed(Gap::UnknownNodes, u64::from(!known));
            }
            (Role::AddNode(_) | Role::AddChild, Some(part)) => graphs.add(stream, aux, part),
            (Role::AskNode(_), Some(Part::Kernel(kind))) => graphs.asked(aux, tally.alike(kind)),
            (Role::ChangeNode(_), Some(part)) => {
                let known = graphs.change(aux, part);
                self.window.missed(Gap::ChangedNodes, u64::from(!known));
            }
            (Role::SetNode(_) | Role::SetChild, Some(part)) => {
                let known = graphs.set(stream, aux, part);
                self.window.missed(Gap::ChangedNodes, u64::from(!known));
            }
            (Role::Alias, _) => self.resolver.names.alias(pid, aux, handle),
            (Role::GetFunction, _) => {
                if let Some(name) = name_in(event.bytes) {
                    self.resolver.names.learn(pid, aux, name);
                }
            }
            _ => {}
        }
    }

    /// The content of a node.
    fn part(&mut self, tally: &mut Tally, event: &Event<'_>) -> Part {
        match event.key.graph {
            node::KERNEL => Part::Kernel(self.kind(tally, &Event { aux: 0, ..*event })),
            node::CHILD => Part::Child(event.key.handle),
            node::CONDITIONAL => Part::Conditional,
            _ => Part::Other,
        }
    }

    /// Called for every new kind of launch until a device is seen: it was opened before the first launch.
    pub(crate) fn look_at_device(&mut self, pid: u32, maker: Maker) {
        let runtimes = &self.window.stand_ins;
        let mut mapped =
            self.resolver.processes.mapped(pid).iter().filter_map(|mapping| runtimes.get(&mapping.file())).peekable();
        // If it is unknown which runtime the process has, a single stand-in among them makes the device unknown.
        let stand_in = match mapped.peek().is_some() {
            true => mapped.any(|stand_in| *stand_in),
            false => runtimes.values().any(|stand_in| *stand_in),
        };
        let stand_in = match maker {
            Maker::Vulkan => watch::layer::has_stand_in(pid),
            _ => stand_in && maker == Maker::Amd,
        };
        self.window.devices.launched(pid, maker, stand_in);
    }

    /// Without a launch: processes with an open runtime show whether one was possible.
    pub(crate) fn look_at_idle(&mut self) {
        if self.window.devices.iter().next().is_some() {
            return;
        }
        let runtimes = &self.window.stand_ins;
        let open = |pid: &u32| {
            let mut mapped = self.resolver.processes.mapped(*pid).iter();
            Some((
                *pid,
                mapped.find(|mapping| runtimes.contains_key(&mapping.file())).map(|mapping| mapping.path.clone())?,
            ))
        };
        let idle: Vec<(u32, String)> = self.resolver.processes.everyone().filter_map(|pid| open(&pid)).collect();
        for (pid, path) in idle {
            self.look_at_device(pid, Maker::of_library(&path));
        }
    }

    fn tell(&mut self, tally: &Tally, event: &Event<'_>, id: KindId, exec: Option<u64>, fate: Fate) {
        if self.each.is_none() {
            return;
        }
        let args = self.resolver.names.resolve(event.key.tgid, event.key.handle, event.aux).args;
        let (Some(each), Some(kind)) = (&mut self.each, tally.get(id)) else { return };
        let args = if args.is_empty() { event.bytes.to_vec() } else { coverage::laid_out(event.bytes, &args) };
        let (time_ns, pid, thread, stream) = (event.time, event.key.tgid, event.tid, event.stream);
        let graph = event.key.graph;
        each(&ObservedLaunch { time_ns, pid, thread, kind, id, fate, stream, graph, exec, args, took_ns: None });
    }

    fn kind(&mut self, tally: &mut Tally, event: &Event<'_>) -> KindId {
        let key = Key { graph: 0, ..event.key };
        if let Some(known) = self.queue.kinds.get(&key) {
            return *known;
        }
        if let Some(known) = self.stays_unnamed(event) {
            return known;
        }
        let kind = self.describe(tally, event);
        let id = tally.kind(&kind);
        if matches!(kind.name, Name::Unnamed(_)) {
            self.queue.unnamed.insert(key, (id, self.resolver.names.learned()));
        } else {
            self.queue.kinds.insert(key, id);
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
                self.window.gap(Gap::NoExtents { call: api.to_owned() });
            }
            return Kind { process: key.tgid, ..Kind::call(api, call) };
        }
        let named = self.resolver.names.resolve(key.tgid, key.handle, event.aux);
        let facts = tally.facts(&named.name);
        let given = Some(key.columns).filter(|columns| *columns != key::NONE).map(u64::from);
        if given.is_none() && columns::place(&facts, &named.args).is_some() {
            self.window.gap(Gap::NoColumns);
        }
        let mut grid = key.grid;
        if matches!(api, "hipExtModuleLaunchKernel" | "hipHccModuleLaunchKernel") {
            // These calls give the grid in threads.
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

    /// Adds calls that the kernel counted but that did not arrive over the ring; only their order is lost.
    pub(crate) fn reconcile(&mut self, tally: &mut Tally) {
        let mut missing: BTreeMap<&'static str, u64> = BTreeMap::new();
        // If the kernel's table was full, calls that arrived over the ring were still seen.
        let mut uncounted = self.queue.shipped.clone();
        uncounted.retain(|key, _| !is_vulkan(key));
        for (key, count) in self.attached.backend.counted() {
            if let Some(came) = uncounted.get_mut(&key) {
                *came = came.saturating_sub(count.calls);
            }
            if !self.resolver.processes.knows(key.tgid) {
                continue;
            }
            if let Backend::Bpf(instrument) = &self.attached.backend
                && let Some((library, symbol, what)) = instrument.unknown(key.entry).cloned()
            {
                tally.lost += if what == Suspect::Launch { count.calls } else { 0 };
                let gap = match what {
                    Suspect::Launch => Gap::UnknownLaunch { library, symbol },
                    Suspect::Graph => Gap::UnknownGraph { library, symbol },
                    Suspect::Unreturned => Gap::Unreturned { library, symbol },
                };
                self.window.missed(gap, count.calls);
                continue;
            }
            let Some(entry) = ENTRIES.get(key.entry as usize) else { continue };
            let shipped = self.queue.shipped.get(&key).copied().unwrap_or(0);
            let strangers = self.queue.strangers.get(&key).copied().unwrap_or(0);
            if matches!(entry.role, Role::Launch(_)) {
                let ours = count.calls.saturating_sub(strangers);
                self.window.launches += ours;
                self.window.returns += count.returned.min(ours);
                self.window.accepted += count.accepted.min(ours);
            }
            let more = count.calls.saturating_sub(shipped + strangers);
            // Refusals that the kernel counted but that did not arrive: this many launches failed.
            let (came, early) = self.queue.refused.get(&key).copied().unwrap_or_default();
            let untold = match entry.role {
                Role::Launch(_) if key.graph == 0 && strangers == 0 => {
                    count.returned.saturating_sub(count.accepted).saturating_sub(came)
                }
                _ => 0,
            };
            if more == 0 && untold == 0 {
                continue;
            }
            if strangers > 0 {
                self.window.missed(Gap::Reused, 1);
            }
            if more > 0 {
                *missing.entry(entry.symbol).or_default() += more;
            }
            match entry.role {
                Role::Vulkan(_) => tally.lost += more,
                Role::Replay => tally.unknown_replays += more,
                _ if key.graph != 0 => tally.lost += more,
                _ => {
                    let bytes = &[][..];
                    let (kind, tid, time, stream, aux, status) = (kind::CALL, 0, 0, 0, 0, 0);
                    let event = Event { kind, tid, time, key, stream, aux, status, bytes };
                    let kind = self.kind(tally, &event);
                    // A refusal that arrived before its launch was already reported, so it is subtracted.
                    let calls = more.saturating_sub(early);
                    let flow = self.queue.flows.entry(key.tgid).or_default();
                    flow.counted(tally, kind, calls, untold);
                    self.tell(tally, &event, kind, None, Fate::Counted { calls, refused: untold });
                }
            }
        }
        for (symbol, count) in missing {
            self.window.missed(Gap::OrderLost { call: symbol.to_owned() }, count);
        }
        self.count_spilled(tally, &uncounted);
        let loose = self.queue.flows.values().map(|flow| flow.graphs.loose()).sum();
        self.window.missed(Gap::LooseNodes, loose);
    }
}

impl Watcher {
    /// Calls for which the kernel's table had no space are lost if their record did not arrive either. Counted per
    /// process, because other processes, including our own children, may call the same file.
    fn count_spilled(&self, tally: &mut Tally, uncounted: &FxHashMap<Key, u64>) {
        let Backend::Bpf(instrument) = &self.attached.backend else { return };
        let mut came: HashMap<u32, u64> = HashMap::new();
        for (key, count) in uncounted {
            *came.entry(key.tgid).or_default() += count;
        }
        for pid in self.resolver.processes.known() {
            let came = came.get(&pid).copied().unwrap_or(0);
            tally.lost += instrument.spilled(pid).saturating_sub(came);
        }
    }
}

/// Whether a record has a kernel that needs a name.
fn names_kernel(role: Role, event: &Event<'_>) -> bool {
    match role {
        Role::Launch(_) | Role::Several(_) => true,
        Role::AddNode(_) | Role::SetNode(_) | Role::ChangeNode(_) => event.key.graph == node::KERNEL,
        _ => false,
    }
}

/// The name in a record, if it could be read in full: an empty name is invalid, and one without a terminator was
/// truncated.
pub(crate) fn name_in(bytes: &[u8]) -> Option<&str> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let whole = bytes.len() < 2 * REACH as usize;
    std::str::from_utf8(bytes.get(..end)?).ok().filter(|name| whole && !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_could_not_be_read_is_none() {
        assert_eq!(name_in(b"_Z5firstv\0"), Some("_Z5firstv"));
        assert_eq!(name_in(b""), None, "the page was not there");
        assert_eq!(name_in(b"\0"), None);
        let long = [vec![b'a'; 2 * REACH as usize - 1], vec![0]].concat();
        assert_eq!(name_in(&long), None, "the rest of it is missing");
    }
}
