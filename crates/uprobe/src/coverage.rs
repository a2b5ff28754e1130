//! How well it was seen: gathered while watching, told at the end.

use crate::bpf::backend::Backend;
use crate::bpf::instrument::Probed;
use crate::bpf::wire::counter;
use crate::gap::{Gap, Unprobed};
use crate::probes::entries::Home;
use crate::probes::library::Library;
use crate::probes::site::Price;
use crate::target::processes::{FileId, Mapping};
use evidence::{Canary, Contamination};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use watch::{Devices, ObserverReport, Tally, Word};

#[derive(Debug)]
pub struct Window {
    pub canary: Canary,
    /// The runtimes that carry probes: whether each is our stand-in.
    pub stand_ins: HashMap<FileId, bool>,
    /// What the processes that launched held.
    pub devices: Devices,
    /// Added time per launch that was measured.
    pub cost_ns: Option<f64>,
    /// Launches of what is watched that were counted, whose return was seen, that were seen to be accepted.
    pub launches: u64,
    pub returns: u64,
    pub accepted: u64,
    /// What rejected launches returned.
    pub statuses: BTreeMap<u32, u64>,
    gaps: BTreeSet<(String, String)>,
    /// Those that are kinds of things, each with how often.
    typed: BTreeMap<Gap, u64>,
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
            typed: BTreeMap::new(),
            probed: Vec::new(),
            libraries: BTreeMap::new(),
        }
    }
}

impl Window {
    pub fn gap(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.gaps.insert((what.into(), why.into()));
    }

    /// So many more of a kind.
    pub fn missed(&mut self, gap: Gap, count: u64) {
        if count > 0 {
            *self.typed.entry(gap).or_default() += count;
        }
    }

    /// Seen in a child of ours; one in the target itself is worth more.
    pub fn canary_seen(&mut self, what: String) {
        if self.canary == Canary::None {
            self.canary = Canary::in_child(what);
        }
    }

    /// `late`: nanoseconds from its mapping to its probes, where it could be called in between.
    pub fn probed(&mut self, name: &str, home: Home, probed: &Probed, late: Option<u64>) {
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
        let library = || name.to_owned();
        if home.launches() && probed.functions.is_empty() {
            self.missed(Gap::Unprobed { library: library(), why: Unprobed::NoneThere }, 1);
        }
        for symbol in &probed.uncounted {
            self.missed(Gap::Uncounted { library: library(), symbol: symbol.clone() }, 1);
        }
        if let Some(late) = late {
            self.missed(Gap::Late { library: library(), launches: home.launches(), microseconds: late / 1000 }, 1);
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
) -> ObserverReport {
    match backend {
        Backend::Bpf(instrument) => {
            tally.lost += instrument.counter(counter::UNCOUNTED);
            tally.unread += instrument.counter(counter::UNREAD);
            window.missed(Gap::Untold, instrument.counter(counter::UNTOLD));
            let all = window.launches;
            window.missed(Gap::Unchecked { all }, all.saturating_sub(window.returns));
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
    if window.probed.is_empty() {
        window.gap("launches", "no GPU runtime of these processes carried probes while they were watched");
    }
    let libraries: Vec<String> =
        window.libraries.iter().map(|(path, (kernels, _))| format!("{path} ({kernels} kernels)")).collect();
    let reach = format!("{}; names of {}", window.probed.join(", "), libraries.join(", "));
    tally.devices = window.devices.clone();
    let device = tally.devices.kind();
    let mut gaps: Vec<(String, String)> = window.gaps.iter().cloned().collect();
    gaps.extend(window.typed.iter().map(|(gap, count)| (gap.what(*count), gap.why())));
    gaps.sort();
    let blind = [
        "what was launched before the attach",
        "a runtime that is linked into its program, and calls inside the runtime",
        "what kernels launch themselves: graphs from the device, dynamic parallelism",
    ];
    ObserverReport {
        observer: if matches!(backend, Backend::Bpf(_)) { "uprobe" } else { "perf" },
        device,
        word: Word::Ours,
        library: window.subject(tally),
        canary: window.canary.clone(),
        contamination: Contamination::Unchecked,
        reach,
        blind: blind.map(str::to_owned).to_vec(),
        gaps,
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
