//! How well it was seen: gathered while watching, told at the end.

use super::backend::Backend;
use super::entries::Home;
use super::instrument::Probed;
use super::library::Library;
use super::processes::{FileId, Mapping};
use super::site::Price;
use super::wire::counter;
use crate::watch::{Account, Devices, Tally, Word};
use evidence::{Canary, Contamination};
use std::collections::{BTreeMap, BTreeSet, HashMap};

#[derive(Debug)]
pub struct Window {
    pub canary: Canary,
    /// The runtimes that carry probes: whether each is our stand-in.
    pub stand_ins: HashMap<FileId, bool>,
    /// What the processes that launched held.
    pub devices: Devices,
    /// Added time per launch that was measured.
    pub cost_ns: Option<f64>,
    /// Launches that were counted, whose return was seen, that were seen to be accepted.
    pub launches: u64,
    pub returns: u64,
    pub accepted: u64,
    /// What rejected launches returned.
    pub statuses: BTreeMap<u32, u64>,
    gaps: BTreeSet<(String, String)>,
    probed: Vec<String>,
    /// Libraries with kernels: by path, kernels that their static map names, and hash.
    libraries: BTreeMap<String, (usize, Option<String>)>,
}

impl Default for Window {
    fn default() -> Self {
        Window {
            canary: Canary::None,
            stand_ins: HashMap::new(),
            devices: Devices::default(),
            cost_ns: None,
            launches: 0,
            returns: 0,
            accepted: 0,
            statuses: BTreeMap::new(),
            gaps: BTreeSet::new(),
            probed: Vec::new(),
            libraries: BTreeMap::new(),
        }
    }
}

impl Window {
    pub fn gap(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.gaps.insert((what.into(), why.into()));
    }

    /// Seen in a child of ours; one in the target itself is worth more.
    pub fn canary_seen(&mut self, what: String) {
        if self.canary == Canary::None {
            self.canary = Canary::in_child(what);
        }
    }

    /// `mapped`: when the process mapped it (CLOCK_MONOTONIC), 0 where it was there before us.
    pub fn probed(&mut self, name: &str, home: Home, probed: &Probed, mapped: u64) {
        let count = probed.functions.len();
        let stepped: Vec<&str> = probed
            .functions
            .iter()
            .filter(|(_, site)| site.price == Price::Stepped && home.launches())
            .map(|(symbol, _)| *symbol)
            .filter(|symbol| symbol.contains("Launch"))
            .collect();
        let price = match stepped.is_empty() {
            true => String::new(),
            false => format!(" ({} at sites that are single-stepped)", stepped.join(" ")),
        };
        self.probed.push(format!("{count} functions of {name}{price}"));
        if home.launches() && probed.functions.is_empty() {
            self.gap(format!("launches through {name}"), "it exports none of the functions that are watched");
        }
        if home.launches() && mapped > 0 {
            let clock = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
            let now = clock.tv_sec.cast_unsigned() * 1_000_000_000 + clock.tv_nsec.cast_unsigned();
            let late = now.saturating_sub(mapped) as f64 / 1e6;
            let why = format!("it was opened after the watch began, and carried probes {late:.1} ms later");
            self.gap(format!("the first moments of {name}"), why);
        }
    }

    pub fn library(&mut self, mapping: &Mapping, library: &Library) {
        self.libraries.insert(mapping.path.clone(), (library.kernels.len(), library.hash.clone()));
        if library.unresolved > 0 {
            let why = format!("{} registration calls of {} could not be read", library.unresolved, mapping.path);
            self.gap("names", why);
        }
    }

    /// Name and hash of the library that most launches came from.
    fn subject(&self, tally: &Tally) -> Option<(String, String)> {
        let mut launches: BTreeMap<&str, u64> = BTreeMap::new();
        let rows = tally.rows();
        for row in &rows {
            *launches.entry(&row.file).or_default() += row.launches;
        }
        let hashed = launches.into_iter().filter_map(|(path, count)| {
            let (_, hash) = self.libraries.get(path)?;
            let name = path.rsplit('/').next().unwrap_or(path);
            Some((count, name.to_owned(), hash.clone()?))
        });
        hashed.max_by_key(|(count, ..)| *count).map(|(_, name, hash)| (name, hash))
    }
}

pub fn account(
    window: &mut Window,
    tally: &mut Tally,
    backend: &Backend,
    lost_processes: u64,
    seconds: f64,
) -> Account {
    match backend {
        Backend::Bpf(instrument) => {
            tally.lost += instrument.counter(counter::UNCOUNTED);
            tally.unread += instrument.counter(counter::UNREAD);
            let (all, checked) = (window.launches, window.returns);
            if all > checked {
                let why = "their returns were not looked at, for there were too many in too short a time: one that was rejected counts as launched";
                window.gap(format!("acceptance of {} of {all} launches", all - checked), why);
            }
        }
        Backend::Perf(sampled) | Backend::Armed(sampled, _) => {
            tally.lost += sampled.lost();
            let why = "they lie behind pointers, which perf without BPF does not follow";
            window.gap("argument bytes and the column counts in them", why);
            window.gap("names of functions that are loaded at run time", why);
            window.gap("acceptance", "returns are not looked at without BPF");
        }
    }
    if lost_processes > 0 {
        let why = format!("the kernel dropped {lost_processes} records of forks and mappings");
        window.gap("some processes or libraries", why);
    }
    let libraries: Vec<String> =
        window.libraries.iter().map(|(path, (kernels, _))| format!("{path} ({kernels} kernels)")).collect();
    let reach = format!("{}; names of {}", window.probed.join(", "), libraries.join(", "));
    tally.devices = window.devices.clone();
    let device = tally.devices.kind();
    let blind = [
        "what was launched before the attach",
        "a runtime that is linked into its program, and calls inside the runtime",
        "captures into a graph that is there already (hipStreamBeginCaptureToGraph), nodes that are added without saying that they are kernels (hipGraphAddNode)",
    ];
    Account {
        observer: if matches!(backend, Backend::Bpf(_)) { "uprobe" } else { "perf" },
        device,
        word: Word::Ours,
        library: window.subject(tally),
        canary: window.canary.clone(),
        contamination: Contamination::Unchecked,
        reach,
        blind: blind.map(str::to_owned).to_vec(),
        gaps: window.gaps.iter().cloned().collect(),
        seconds,
        cost_ns: window.cost_ns,
    }
}

/// Argument bytes as in the kernarg segment: what lies between the arguments was never written.
pub fn laid_out(bytes: &[u8], args: &[(u32, u32)]) -> Vec<u8> {
    let mut out = vec![0; bytes.len()];
    for (at, size) in args {
        let range = *at as usize..(*at + *size) as usize;
        if let (Some(to), Some(from)) = (out.get_mut(range.clone()), bytes.get(range)) {
            to.copy_from_slice(from);
        }
    }
    out
}
