//! The kernel's side, set up: maps, ring, programs, and the probes on each file. All of it ends with this value.

use super::bpf::{self, Map, MapKind, Ring};
use super::entries::{ENTRIES, Home, Role};
use super::program::{self, CALL_VALUE, Maps};
use super::site::{self, Price, Site};
use super::symbols::{Symbol, entries_of};
use super::wire::{LAYOUT, counter, flag, key};
use crate::perf::{self, Attr, Event, Place, bit};
use crate::watch::WatchError;
use codeobject::ReadAt;
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;

/// Sizes that matter when there is much to see.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Bytes of the ring, a power of two.
    pub ring: u32,
    /// Distinct launches that can be counted.
    pub counts: u32,
}

impl Default for Room {
    fn default() -> Self {
        Room { ring: 16 << 20, counts: 1 << 16 }
    }
}

/// Which site of each function is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    Cheapest,
    /// The first instruction, for comparison.
    Naive,
}

#[derive(Debug)]
pub struct Instrument {
    pub ring: Ring,
    counts: Map,
    layouts: Map,
    captures: Map,
    calls: Map,
    counters: Map,
    active: Map,
    events: Map,
    shapes: Map,
    pmu: u32,
    choice: Choice,
    optimises: bool,
    programs: HashMap<(usize, i16, What), OwnedFd>,
    /// Whether probes are links of their programs, or perf events that carry them.
    linked: bool,
    probes: Vec<Probe>,
    /// Where launches return, for as long as they are asked for.
    returns: Vec<Probe>,
    launch_returns: Vec<(String, u64, usize)>,
    /// The runtime's launch functions, for as long as the driver's launches need names.
    outer: Vec<Probe>,
    outer_sites: Vec<(String, u64, usize, Site)>,
}

/// Ends with its descriptor.
#[derive(Debug)]
#[expect(dead_code, reason = "held, not used")]
enum Probe {
    Link(OwnedFd),
    Event(Event),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Entry,
    Answer,
    Return,
}

/// What was probed in one file.
#[derive(Debug, Clone, Default)]
pub struct Probed {
    pub functions: Vec<(&'static str, Site)>,
    pub stepped: usize,
}

impl Instrument {
    pub fn new(room: Room, choice: Choice) -> Result<Instrument, WatchError> {
        let pmu = perf::pmu().ok_or_else(|| {
            WatchError::new("uprobes", "this kernel has no uprobe events (/sys/bus/event_source/devices/uprobe)", "")
        })?;
        let refused = |what: &'static str| {
            move |error: io::Error| {
                WatchError::new(
                    format!("bpf ({what}) was refused"),
                    error.to_string(),
                    "run as root, or give the program CAP_BPF and CAP_PERFMON; --how perf does without BPF",
                )
            }
        };
        let map = |kind, key: u32, value: u32, entries| Map::new(kind, key, value, entries);
        let pair = 16;
        Ok(Instrument {
            ring: Ring::new(room.ring).map_err(refused("ring buffer"))?,
            counts: map(MapKind::Hash, key::SIZE as u32, 24, room.counts).map_err(refused("map"))?,
            layouts: map(MapKind::Hash, pair, LAYOUT as u32, 1 << 16).map_err(refused("map"))?,
            captures: map(MapKind::Hash, pair, 8, 1024).map_err(refused("map"))?,
            calls: map(MapKind::Hash, pair, CALL_VALUE, 1 << 15).map_err(refused("map"))?,
            counters: map(MapKind::Array, 4, 8, counter::SIZE).map_err(refused("map"))?,
            active: map(MapKind::Lru, pair, 8, 1024).map_err(refused("map"))?,
            events: map(MapKind::Lru, pair, 8, 4096).map_err(refused("map"))?,
            shapes: map(MapKind::Lru, pair, 16, 1 << 14).map_err(refused("map"))?,
            pmu,
            choice,
            optimises: optimises(),
            programs: HashMap::new(),
            linked: true,
            probes: Vec::new(),
            returns: Vec::new(),
            launch_returns: Vec::new(),
            outer: Vec::new(),
            outer_sites: Vec::new(),
        })
    }

    fn maps(&self) -> Maps {
        Maps {
            counts: self.counts.fd(),
            ring: self.ring.map().fd(),
            layouts: self.layouts.fd(),
            captures: self.captures.fd(),
            calls: self.calls.fd(),
            counters: self.counters.fd(),
            active: self.active.fd(),
            events: self.events.fd(),
            shapes: self.shapes.fd(),
        }
    }

    /// Probes every watched function of a library. `path` is how the kernel finds the file now; it holds the file from then on.
    pub fn probe(&mut self, path: &str, home: Home, file: &dyn ReadAt) -> Result<Probed, WatchError> {
        let failed = |what: &str, error: String| WatchError::new(format!("{path}: {what}"), error, "");
        let symbols = entries_of(file, home).map_err(|error| failed("symbols", error.to_string()))?;
        let mut probed = Probed::default();
        for symbol in &symbols {
            let number = symbol.entry;
            let Some(entry) = ENTRIES.get(number) else { continue };
            let site = match self.choice {
                Choice::Cheapest => site::cheapest(&symbol.code, self.optimises),
                Choice::Naive => Site::ENTRY,
            };
            let attach = |this: &mut Self, what, site: Site| {
                this.attach(path, symbol, what, site).map_err(|error| failed(entry.symbol, error.to_string()))
            };
            if matches!(entry.role, Role::Outer(_)) {
                self.outer_sites.push((path.to_owned(), symbol.offset, number, site));
                probed.functions.push((entry.symbol, site));
                continue;
            }
            // An answer may come before its question is noted if the return were armed last.
            if entry.role.answers() {
                let event = attach(self, What::Answer, Site::ENTRY)?;
                self.probes.push(event);
            }
            let event = attach(self, What::Entry, site)?;
            self.probes.push(event);
            if matches!(entry.role, Role::Launch(_)) {
                self.launch_returns.push((path.to_owned(), symbol.offset, number));
            }
            probed.stepped += usize::from(site.price == Price::Stepped);
            probed.functions.push((entry.symbol, site));
        }
        Ok(probed)
    }

    fn attach(&mut self, path: &str, symbol: &Symbol, what: What, site: Site) -> io::Result<Probe> {
        if self.linked {
            match self.attach_as(true, path, symbol, what, site) {
                // A kernel before 6.6 knows no such links.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) && self.probes.is_empty() => {
                    self.linked = false;
                    self.programs.clear();
                }
                other => return other,
            }
        }
        self.attach_as(false, path, symbol, what, site)
    }

    fn attach_as(&mut self, linked: bool, path: &str, symbol: &Symbol, what: What, site: Site) -> io::Result<Probe> {
        let number = symbol.entry;
        let key = (number, site.pushed, what);
        if !self.programs.contains_key(&key) {
            let Some(entry) = ENTRIES.get(number) else { return Err(io::ErrorKind::InvalidInput.into()) };
            let number = i32::try_from(number).unwrap_or(0);
            let code = match what {
                What::Entry => program::at_entry(self.maps(), number, entry.role, site.pushed),
                What::Answer => program::at_answer(self.maps(), number, entry.role),
                What::Return => program::at_launch_return(self.maps(), number),
            };
            self.programs.insert(key, bpf::load(&code.map_err(io::Error::other)?, linked)?);
        }
        let Some(program) = self.programs.get(&key) else { return Err(io::ErrorKind::NotFound.into()) };
        let (offset, at_return) = (symbol.offset + site.offset, what != What::Entry);
        if linked {
            return bpf::uprobe(program, path, offset, at_return).map(Probe::Link);
        }
        let place = Place { pmu: self.pmu, path, offset, at_return };
        let event = Event::uprobe(&place, &Attr { flags: bit::DISABLED, ..Attr::default() }, -1, 0)?;
        event.attach(program)?;
        event.enable()?;
        Ok(Probe::Event(event))
    }

    /// Looks at what launches return, or stops looking: it costs as much again.
    pub fn watch_returns(&mut self, on: bool) -> io::Result<()> {
        if !on {
            self.set_flag(flag::RETURNS, false)?;
            perf::release_later(std::mem::take(&mut self.returns));
            return Ok(());
        }
        if self.returns.is_empty() {
            for (path, offset, number) in self.launch_returns.clone() {
                let symbol = Symbol { entry: number, offset, code: Vec::new() };
                let event = self.attach(&path, &symbol, What::Return, Site::ENTRY)?;
                self.returns.push(event);
            }
        }
        self.set_flag(flag::RETURNS, true)
    }

    /// Looks at the runtime's launches, which name the driver's; or stops, for every call would cost twice.
    pub fn watch_outer(&mut self, on: bool) -> io::Result<()> {
        if !on {
            perf::release_later(std::mem::take(&mut self.outer));
        } else if self.outer.is_empty() {
            for (path, offset, number, site) in self.outer_sites.clone() {
                let symbol = Symbol { entry: number, offset, code: Vec::new() };
                let event = self.attach(&path, &symbol, What::Entry, site)?;
                self.outer.push(event);
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

    /// Whether argument bytes go along with every launch.
    pub fn ship_arguments(&self, on: bool) -> io::Result<()> {
        self.set_flag(flag::ARGUMENTS, on)
    }

    fn set_flag(&self, bit: i32, on: bool) -> io::Result<()> {
        let bit = u64::from(bit.cast_unsigned());
        let now = self.counter(counter::FLAGS);
        let flags = if on { now | bit } else { now & !bit };
        self.counters.put(&counter::FLAGS.to_le_bytes(), &flags.to_le_bytes())
    }

    pub fn counter(&self, number: i32) -> u64 {
        let value = self.counters.get(&number.to_le_bytes()).unwrap_or_default();
        value.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Tells the programs how a kernel's arguments lie.
    pub fn set_layout(&self, tgid: u32, handle: u64, layout: &[u8]) -> io::Result<()> {
        self.layouts.put(&layout_key(tgid, handle), layout)
    }

    pub fn forget_layout(&self, tgid: u32, handle: u64) {
        let _ = self.layouts.remove(&layout_key(tgid, handle));
    }

    /// Every key that was counted, with its count.
    pub fn counted(&self) -> Vec<(super::wire::Key, u64)> {
        let entries = self.counts.entries();
        let count = |value: &[u8]| value.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        entries.iter().map(|(key, value)| (super::wire::Key::read(key), count(value))).collect()
    }

    /// Takes every probe out. What was counted stays readable.
    pub fn disarm(&mut self) {
        let all = [&mut self.returns, &mut self.outer, &mut self.probes].map(std::mem::take);
        perf::release(all.into_iter().flatten().collect());
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

/// Whether this kernel turns a five-byte nop into a call: since 6.18.
fn optimises() -> bool {
    let text = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut parts = text.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (6, 18)
}
