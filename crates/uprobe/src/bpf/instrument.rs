//! Sets up the kernel side: maps, ring, programs, and the probes on each file. All of it ends when this value is
//! dropped.

pub use crate::bpf::probe_place::{Calls, Choice, Pointed, Probed, Room};
use crate::bpf::probe_place::{Probe, ProbePlace, What, returns};
use crate::bpf::program::{self, CALL_VALUE, Maps, Way};
use crate::bpf::wire::{Count, GATES, LAYOUT, UNKNOWN, count, counter, flag, key};
use crate::probes::entries::{ENTRIES, Entry, Home, Role, Suspect};
use crate::probes::site::{self, Price, Site};
use crate::probes::symbols::{Symbol, entries_of, unknown_of};
use codeobject::ReadAt;
use codeobject::launch_map::Image;
use say::{Message, Say, say};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use sys::abi;
use sys::bpf::{self, Map, MapKind, Ring, Use};
use sys::perf_event::{self, Attr, Event, bit};
use sys::unix::OwnedFd;
use watch::WatchError;

#[derive(Debug)]
pub struct Instrument {
    pub ring: Ring,
    counts: Map,
    layouts: Map,
    captures: Map,
    calls: Map,
    counters: Map,
    /// Calls for which the counts had no space, by process.
    spilled: Map,
    /// The maps that control where started programs are stopped.
    hold: Option<(i32, i32)>,
    active: Map,
    events: Map,
    shapes: Map,
    gates: Map,
    /// The number of gates in use; the first is always open.
    used_gates: u32,
    open_gates: u32,
    /// The flags that the programs read (`flag`).
    flags: u32,
    /// Functions of which only the name is known, numbered from [`UNKNOWN`] on: library, function.
    unknown: Vec<(String, String, Suspect)>,
    pmu: u32,
    choice: Choice,
    coarse: bool,
    optimises: bool,
    /// Keyed by gate, entry, frame and place.
    programs: HashMap<(u32, usize, i16, What, Way), OwnedFd>,
    /// Whether probes are links of their programs, or perf events with attached programs.
    linked: bool,
    probes: Vec<Probe>,
    /// Probes at the entries of functions, by path and file offset.
    entries: HashMap<(String, u64), Vec<Probe>>,
    /// Probes at the returns of launches, while they are wanted.
    returns: Vec<Probe>,
    launch_returns: Vec<ProbePlace>,
    /// Probes on the runtime's launch functions, while the driver's launches need names.
    outer: Vec<Probe>,
    outer_sites: Vec<ProbePlace>,
}

impl Instrument {
    pub fn new(room: Room, choice: Choice, coarse: bool) -> Result<Instrument, WatchError> {
        let pmu = perf_event::pmu().ok_or_else(|| WatchError::about("uprobes", say!("uprobe-no-events-at")))?;
        let refused = |call: &'static str| {
            move |error: io::Error| WatchError {
                call: Some(call),
                ..WatchError::new(say!("uprobe-call-refused", call), error).fix(say!("uprobe-bpf-and-perfmon"))
            }
        };
        let map = |kind, key: u32, value: u32, entries| Map::new(kind, key, value, entries);
        let pair = 16;
        let gates = map(MapKind::Array, 4, 4 * (GATES + 1), 1).map_err(refused("bpf (map)"))?;
        let mut instrument = Instrument {
            ring: Ring::new(room.ring).map_err(refused("bpf (ring buffer)"))?,
            counts: map(MapKind::Hash, key::SIZE as u32, count::SIZE, room.counts).map_err(refused("bpf (map)"))?,
            layouts: map(MapKind::Hash, pair, LAYOUT as u32, room.layouts).map_err(refused("bpf (map)"))?,
            captures: map(MapKind::Lru, pair, 8, 4096).map_err(refused("bpf (map)"))?,
            calls: map(MapKind::Hash, pair, CALL_VALUE, room.calls).map_err(refused("bpf (map)"))?,
            counters: map(MapKind::Array, 4, 8 * counter::SIZE, 1).map_err(refused("bpf (map)"))?,
            spilled: map(MapKind::Hash, 8, 8, 1 << 12).map_err(refused("bpf (map)"))?,
            hold: None,
            active: map(MapKind::Lru, pair, 8, 1024).map_err(refused("bpf (map)"))?,
            events: map(MapKind::Lru, pair, 8, 4096).map_err(refused("bpf (map)"))?,
            shapes: map(MapKind::Lru, pair, 16, 1 << 14).map_err(refused("bpf (map)"))?,
            gates,
            used_gates: 1,
            open_gates: 0,
            flags: 0,
            unknown: Vec::new(),
            pmu,
            choice,
            coarse,
            optimises: optimises(),
            programs: HashMap::new(),
            linked: true,
            probes: Vec::new(),
            entries: HashMap::new(),
            returns: Vec::new(),
            launch_returns: Vec::new(),
            outer: Vec::new(),
            outer_sites: Vec::new(),
        };
        instrument.open_gate(0).map_err(refused("bpf (map)"))?;
        Ok(instrument)
    }

    /// Lets every program behind this gate and earlier gates see calls, all at once.
    fn open_gate(&mut self, last: u32) -> io::Result<()> {
        self.open_gates = last + 1;
        self.write_gates()
    }

    fn write_gates(&self) -> io::Result<()> {
        let gates = (0..GATES).map(|gate| u32::from(gate < self.open_gates));
        let words = gates.chain([self.flags]).flat_map(u32::to_le_bytes);
        self.gates.put(&0_u32.to_le_bytes(), &words.collect::<Vec<u8>>())
    }

    fn maps(&self, gate: u32) -> Maps {
        Maps {
            counts: self.counts.fd(),
            ring: self.ring.map().fd(),
            layouts: self.layouts.fd(),
            captures: self.captures.fd(),
            calls: self.calls.fd(),
            counters: self.counters.fd(),
            spilled: self.spilled.fd(),
            hold: self.hold,
            active: self.active.fd(),
            events: self.events.fd(),
            shapes: self.shapes.fd(),
            gates: self.gates.fd(),
            coarse: self.coarse,
            gate: gate.cast_signed(),
        }
    }

    /// Probes every watched function of a library. The kernel opens `path` now and keeps the file from then on.
    ///
    /// All programs are loaded before the first probe is placed, and a gate keeps them inactive until the last one is
    /// in place. Otherwise a launch could be seen without the capture that it is part of, and would be counted as
    /// launched.
    pub fn probe(&mut self, path: &str, home: Home, file: &dyn ReadAt, calls: Calls) -> Result<Probed, WatchError> {
        let failed = |what: &str, why: Message| WatchError::about(format!("{path}: {what}"), why);
        let mut symbols = entries_of(file, home).map_err(|error| failed("symbols", error.message()))?;
        let unknown = unknown_of(file, home, &symbols).map_err(|error| failed("symbols", error.message()))?;
        let role = |symbol: &Symbol| ENTRIES.get(symbol.entry).map(|entry| entry.role);
        symbols.sort_by_key(|symbol| role(symbol).is_some_and(Role::launches));
        let gate = match calls {
            Calls::Perhaps if self.used_gates < GATES => {
                self.used_gates += 1;
                self.used_gates - 1
            }
            _ => 0,
        };
        let mut probed = Probed::default();
        let mut wanted: Vec<(ProbePlace, What)> = Vec::new();
        let mut blind: Vec<(&Entry, u64)> = Vec::new();
        // Exits can only be found in a plain library.
        let image = Image::read(file).ok();
        for symbol in &symbols {
            let number = symbol.entry;
            let Some(entry) = ENTRIES.get(number) else { continue };
            let site = match self.choice {
                Choice::Cheapest => site::cheapest(&symbol.code, self.optimises),
                Choice::Naive => Site::ENTRY,
            };
            probed.functions.push((entry.symbol, site));
            let ways = image.as_ref().filter(|_| entry.role.returns()).and_then(|image| returns(image, symbol));
            let exits = ways.clone().unwrap_or_default();
            let place = |site| {
                let (path, exits) = (path.to_owned(), Arc::clone(&exits));
                ProbePlace { path, offset: symbol.offset, entry: number, site, gate, exits }
            };
            // The Vulkan loader leaves through the driver's function table, which does not throw.
            let seen = ways.is_some() || home == Home::Vulkan;
            if matches!(entry.role, Role::Outer(_)) {
                self.outer_sites.push(place(site));
                continue;
            }
            // The return must be armed first: otherwise a call could return before its entry was noted.
            if entry.role.answers() && !seen {
                blind.push((entry, symbol.offset));
                continue;
            }
            if entry.role.answers() {
                wanted.push((place(Site::ENTRY), What::Answer));
            }
            wanted.push((place(site), What::Entry));
            if matches!(entry.role, Role::Launch(_)) && seen {
                self.launch_returns.push(place(Site::ENTRY));
            }
            probed.stepped += usize::from(site.price == Price::Stepped);
        }
        let name = file_name(path);
        let blind = blind.iter().filter(|(entry, _)| entry.role.is_of_graphs() || entry.role == Role::ProcAddress);
        let blind = blind.map(|(entry, offset)| (entry.symbol.to_owned(), Suspect::Unreturned, *offset));
        for (symbol, what, offset) in
            unknown.into_iter().map(|export| (export.symbol, export.what, export.offset)).chain(blind)
        {
            let entry = UNKNOWN as usize + self.unknown.len();
            self.unknown.push((name.clone(), symbol, what));
            let (path, exits) = (path.to_owned(), Arc::default());
            let place = ProbePlace { path, offset, entry, site: Site::ENTRY, gate, exits };
            wanted.push((place, What::Unknown));
        }
        for (place, what) in &wanted {
            let loaded = self.load(self.linked, place, *what).map(drop);
            loaded.map_err(|error| failed(self.symbol(place.entry), error.message()))?;
        }
        for (place, what) in &wanted {
            let probes = self.attach(place, *what);
            let probes = probes.map_err(|error| failed(self.symbol(place.entry), error.message()))?;
            match what {
                What::Entry => drop(self.entries.insert((path.to_owned(), place.offset), probes)),
                _ => self.probes.extend(probes),
            }
        }
        self.open_gate(self.used_gates - 1).map_err(|error| failed("a BPF map", error.message()))?;
        Ok(probed)
    }

    fn symbol(&self, number: usize) -> &str {
        let unknown = || self.unknown.get(number.checked_sub(UNKNOWN as usize)?).map(|(_, symbol, _)| &**symbol);
        ENTRIES.get(number).map(|entry| entry.symbol).or_else(unknown).unwrap_or("a function")
    }

    /// The library and name of a function that is otherwise unknown, by its number in a key.
    pub fn unknown(&self, number: u32) -> Option<&(String, String, Suspect)> {
        self.unknown.get(number.checked_sub(UNKNOWN)? as usize)
    }

    fn attach(&mut self, place: &ProbePlace, what: What) -> io::Result<Vec<Probe>> {
        if self.linked {
            match self.attach_as(true, place, what) {
                // Kernels before 6.6 do not have these links.
                Err(error)
                    if error.raw_os_error() == Some(abi::EINVAL)
                        && self.probes.is_empty()
                        && self.entries.is_empty() =>
                {
                    self.linked = false;
                    self.programs.clear();
                }
                other => return other,
            }
        }
        self.attach_as(false, place, what)
    }

    /// The program for a place; it is loaded once.
    fn load(&mut self, linked: bool, place: &ProbePlace, what: What) -> io::Result<&OwnedFd> {
        let number = place.entry;
        let way = place.way(what);
        let key = (place.gate, number, place.site.pushed, what, way);
        if !self.programs.contains_key(&key) {
            let (maps, id) = (self.maps(place.gate), i32::try_from(number).unwrap_or(0));
            let code = match (what, ENTRIES.get(number)) {
                (What::Unknown, _) => program::at_unknown(maps, id),
                (What::Entry, Some(entry)) => program::at_entry(maps, id, entry, place.site.pushed),
                (What::Answer, Some(entry)) => program::at_answer(maps, id, entry.role, way),
                (What::Return, Some(_)) => program::at_launch_return(maps, id, way),
                (_, None) => return Err(io::ErrorKind::InvalidInput.into()),
            };
            self.programs
                .insert(key, bpf::load(&code.map_err(io::Error::other)?, if linked { Use::Link } else { Use::Event })?);
        }
        self.programs.get(&key).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn attach_as(&mut self, linked: bool, place: &ProbePlace, what: What) -> io::Result<Vec<Probe>> {
        let answers = matches!(what, What::Answer | What::Return);
        let at_return = answers && place.exits.is_empty();
        let entry = [place.offset + place.site.offset];
        let offsets = if answers && !at_return { &place.exits[..] } else { &entry };
        let pmu = self.pmu;
        let program = self.load(linked, place, what)?;
        if linked {
            return bpf::uprobe(program, &place.path, offsets, at_return).map(|link| vec![Probe::Link(link)]);
        }
        let one = |offset: &u64| {
            let at = perf_event::UprobePlace { pmu, path: &place.path, offset: *offset, at_return };
            let event = Event::uprobe(&at, &Attr { flags: bit::DISABLED, ..Attr::default() }, -1, 0)?;
            event.attach(program)?;
            event.enable()?;
            Ok(Probe::Event(event))
        };
        offsets.iter().map(one).collect()
    }

    /// Starts or stops checking the return values of launches, which doubles the overhead.
    pub fn watch_returns(&mut self, on: bool) -> io::Result<()> {
        if !on {
            self.set_flag(flag::RETURNS, false)?;
            perf_event::release_later(std::mem::take(&mut self.returns));
            return Ok(());
        }
        if self.returns.is_empty() {
            for place in self.launch_returns.clone() {
                let probes = self.attach(&place, What::Return)?;
                self.returns.extend(probes);
            }
        }
        self.set_flag(flag::RETURNS, true)
    }

    /// Starts or stops observing the runtime's launches, which name the driver's. Observing them doubles the overhead
    /// of every call.
    pub fn watch_outer(&mut self, on: bool) -> io::Result<()> {
        if !on {
            perf_event::release_later(std::mem::take(&mut self.outer));
        } else if self.outer.is_empty() {
            // Never cleared: a call that was noted before the probes were removed must not name a later launch.
            self.set_flag(flag::OUTER, !self.outer_sites.is_empty())?;
            for place in self.outer_sites.clone() {
                let probes = self.attach(&place, What::Entry)?;
                self.outer.extend(probes);
            }
        }
        Ok(())
    }

    pub fn watches_outer(&self) -> bool {
        !self.outer.is_empty()
    }

    pub fn watches_returns(&self) -> bool {
        !self.returns.is_empty()
    }

    /// Whether to send argument bytes with every launch.
    pub fn ship_arguments(&mut self, on: bool) -> io::Result<()> {
        self.set_flag(flag::ARGUMENTS, on)
    }

    /// Whether launches are only counted, without a record of each. Only for coarse counts.
    pub fn set_quiet(&mut self, on: bool) -> io::Result<()> {
        self.set_flag(flag::QUIET, on)
    }

    /// Removes the counts of processes that have ended.
    pub fn forget_counts(&self, ended: &HashSet<u32>) {
        for (key, _) in self.counts.entries() {
            if ended.contains(&crate::bpf::wire::Key::read(&key).tgid) {
                let _ = self.counts.remove(&key);
            }
        }
    }

    /// Takes the calls of all processes for which the counts had no space.
    pub fn take_spilled(&self) -> u64 {
        let take = |(key, value): (Vec<u8>, Vec<u8>)| {
            let _ = self.spilled.remove(&key);
            value.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        self.spilled.entries().into_iter().map(take).sum()
    }

    fn set_flag(&mut self, bit: i32, on: bool) -> io::Result<()> {
        let bit = bit.cast_unsigned();
        let flags = if on { self.flags | bit } else { self.flags & !bit };
        if flags == self.flags {
            return Ok(());
        }
        self.flags = flags;
        self.write_gates()
    }

    /// Graph calls that did not return: those of the counter, and those that no later call replaced.
    pub fn not_returned(&self) -> u64 {
        let number = |key: &[u8]| key.get(8..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        let of_graphs = |key: &[u8]| {
            let entry = number(key).and_then(|number| ENTRIES.get(usize::try_from(number).ok()?));
            entry.is_some_and(|entry| entry.role.is_of_graphs())
        };
        let open = self.calls.entries().iter().filter(|(key, _)| of_graphs(key)).count();
        self.counter(counter::LEFT) + open as u64
    }

    pub fn counter(&self, number: i32) -> u64 {
        let all = self.counters.get(&0_u32.to_le_bytes()).unwrap_or_default();
        let at = usize::try_from(8 * number).ok().and_then(|at| all.get(at..)?.first_chunk());
        at.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Passes the layout of a kernel's arguments to the programs.
    pub fn set_layout(&mut self, tgid: u32, handle: u64, layout: &[u8]) -> io::Result<()> {
        self.set_flag(flag::LAYOUTS, true)?;
        self.layouts.put(&layout_key(tgid, handle), layout)
    }

    pub fn forget_layout(&self, tgid: u32, handle: u64) {
        let _ = self.layouts.remove(&layout_key(tgid, handle));
    }

    /// Every counted key with its count.
    pub fn counted(&self) -> Vec<(crate::bpf::wire::Key, Count)> {
        let entries = self.counts.entries();
        entries.iter().map(|(key, value)| (crate::bpf::wire::Key::read(key), Count::read(value))).collect()
    }

    /// The calls of this process for which the counts had no space.
    pub fn spilled(&self, tgid: u32) -> u64 {
        let value = self.spilled.get(&u64::from(tgid).to_le_bytes()).unwrap_or_default();
        value.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Programs loaded from now on stop started processes when they receive a pointer to a launch function.
    pub fn hold_by(&mut self, ours: i32, stopped: i32) {
        self.hold = Some((ours, stopped));
    }

    /// Probes a function that a program obtained as a pointer, like the exported one of that name. `instead`: it
    /// replaces the exported one, because that only passes on to it.
    pub fn probe_pointer(
        &mut self,
        at: &Pointed<'_>,
        image: &Image<'_>,
        instead: Option<(&str, u64)>,
    ) -> io::Result<()> {
        let Some(entry) = ENTRIES.get(at.entry) else { return Ok(()) };
        let symbol = Symbol { entry: at.entry, offset: at.offset, address: at.address, size: 0, code: Vec::new() };
        let exits = returns(image, &symbol).filter(|_| entry.role.returns());
        let seen = exits.is_some();
        let (path, exits, site) =
            (at.path.to_owned(), exits.unwrap_or_default(), site::cheapest(at.code, self.optimises));
        let place = ProbePlace { path, offset: at.offset, entry: at.entry, site, gate: 0, exits };
        if entry.role.answers() {
            if !seen {
                return Err(io::ErrorKind::Unsupported.into());
            }
            let probes = self.attach(&place, What::Answer)?;
            self.probes.extend(probes);
        } else if matches!(entry.role, Role::Launch(_)) && seen {
            if self.watches_returns() {
                let probes = self.attach(&place, What::Return)?;
                self.returns.extend(probes);
            }
            self.launch_returns.push(place.clone());
        }
        if let Some((path, offset)) = instead
            && let Some(gone) = self.entries.remove(&(path.to_owned(), offset))
        {
            perf_event::release_later(gone);
        }
        let probes = self.attach(&place, What::Entry)?;
        self.probes.extend(probes);
        Ok(())
    }

    /// Removes every probe. The counts stay readable.
    pub fn disarm(&mut self) {
        let mut all: Vec<Vec<Probe>> =
            [&mut self.returns, &mut self.outer, &mut self.probes].map(std::mem::take).into();
        all.extend(std::mem::take(&mut self.entries).into_values());
        perf_event::release(all.into_iter().flatten().collect());
    }
}

impl Drop for Instrument {
    fn drop(&mut self) {
        self.disarm();
    }
}

fn layout_key(tgid: u32, handle: u64) -> [u8; 16] {
    let mut out = [0; 16];
    let (first, second) = out.split_at_mut(8);
    first.copy_from_slice(&handle.to_le_bytes());
    second.copy_from_slice(&u64::from(tgid).to_le_bytes());
    out
}

/// The name of the file behind a path, which may be that of a descriptor.
fn file_name(path: &str) -> String {
    let real = std::fs::read_link(path).unwrap_or_else(|_| path.into());
    real.file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Whether this kernel turns a five-byte nop into a call (6.18 and later).
fn optimises() -> bool {
    let text = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut parts = text.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (6, 18)
}
