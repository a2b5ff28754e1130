//! How completely the launches were seen: collected during the watch, reported at its end.

use crate::bpf::backend::Backend;
use crate::bpf::instrument::Probed;
use crate::bpf::wire::counter;
use crate::probes::entries::Home;
use crate::probes::library::Library;
use crate::probes::site::Price;
use crate::target::processes::{FileId, Mapping};
use evidence::{Canary, Contamination};
use say::{Key, Message, key, say};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use sys::unix::MetadataExt;
use watch::{
    Devices, Gap, Late, LaunchObserver, Maker, ObserverKind, ObserverReport, SecondAccount, Tally, Unprobed, Unseen,
    Word,
};

/// Events that probes on a runtime's file can never see.
const BLIND: &[Key] = &[
    key!("view-uprobe-blind-before"),
    key!("view-uprobe-blind-linked"),
    key!("view-uprobe-blind-device"),
    key!("view-uprobe-blind-vulkan"),
];

/// The observers in an investigation: probes with BPF and without.
pub const OBSERVERS: [LaunchObserver; 2] = [
    LaunchObserver { kind: ObserverKind::Uprobe, reach: key!("view-uprobe"), blind: BLIND },
    LaunchObserver { kind: ObserverKind::Perf, reach: key!("view-perf"), blind: BLIND },
];

#[derive(Debug)]
pub struct Window {
    pub canary: Canary,
    /// The probed runtimes, and whether each is our stand-in.
    pub stand_ins: HashMap<FileId, bool>,
    /// The device files held by the processes that launched.
    pub devices: Devices,
    /// The measured overhead per launch.
    pub cost_ns: Option<f64>,
    /// Launches of watched processes: counted, seen to return, seen to be accepted.
    pub launches: u64,
    pub returns: u64,
    pub accepted: u64,
    /// Dispatches through Vulkan whose end was seen.
    pub ended: u64,
    /// The errors that rejected launches returned.
    pub statuses: BTreeMap<u32, u64>,
    /// Unobserved events, with counts.
    gaps: BTreeMap<Gap, u64>,
    probed: Vec<String>,
    /// Libraries with kernels, by path.
    libraries: BTreeMap<String, Named>,
}

/// A library with kernels.
#[derive(Debug)]
struct Named {
    /// The number of kernels in the library's static map.
    kernels: usize,
    hash: Option<String>,
    inode: u64,
    /// Kernels that may launch others on the device.
    launchers: BTreeSet<String>,
    names: BTreeSet<String>,
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
            ended: 0,
            statuses: BTreeMap::new(),
            gaps: BTreeMap::new(),
            probed: Vec::new(),
            libraries: BTreeMap::new(),
        }
    }
}

impl Window {
    /// Records a gap with a count of 1, however often it occurs.
    pub fn gap(&mut self, gap: Gap) {
        self.gaps.insert(gap, 1);
    }

    /// Adds to the count of a gap.
    pub fn missed(&mut self, gap: Gap, count: u64) {
        if count > 0 {
            *self.gaps.entry(gap).or_default() += count;
        }
    }

    /// Records a canary in one of our child processes. A canary in the target itself is stronger.
    pub fn canary_seen(&mut self, what: Message) {
        if self.canary == Canary::None {
            self.canary = Canary::in_child(what);
        }
    }

    /// `late`: nanoseconds from the mapping to the probes, if the library could be called in between.
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
            let late = Late(late / 1000);
            self.gap(match home.launches() {
                true => Gap::LateRuntime { library: library(), late },
                false => Gap::LateLibrary { library: library(), late },
            });
        }
    }

    /// `names`: also the names of its kernels, to know whose code was read.
    pub fn library(&mut self, mapping: &Mapping, library: &Library, names: bool) {
        let named = Named {
            kernels: library.kernels.len(),
            hash: library.hash.clone(),
            inode: mapping.inode,
            launchers: library.launchers.clone(),
            names: library.kernels.values().filter(|_| names).map(|kernel| kernel.name.clone()).collect(),
        };
        self.libraries.insert(mapping.path.clone(), named);
        if library.unresolved > 0 {
            self.gaps.insert(Gap::Registrations { library: mapping.path.clone() }, library.unresolved as u64);
        }
    }

    /// Launches made by kernels on the device pass no probe. Returns the names of CUDA kernels whose code is in no
    /// library that was read.
    pub fn device_launches(&mut self, tally: &Tally) -> BTreeSet<String> {
        let mut unread = BTreeSet::new();
        for ((_, kernel), launches) in tally.kernels_of(Maker::Nvidia) {
            if self.libraries.values().any(|library| library.launchers.contains(&kernel)) {
                self.missed(Gap::DeviceRuntime { kernel }, launches);
            } else if !self.libraries.values().any(|library| library.names.contains(&kernel)) {
                unread.insert(kernel);
            }
        }
        unread
    }

    /// Name and hash of the library with the most launches, and its path if that is the same file for us.
    fn subject(&self, tally: &Tally) -> (Option<(String, String)>, Option<PathBuf>) {
        let Some((path, named)) =
            tally.most_launched_file().and_then(|path| Some((path.clone(), self.libraries.get(path.to_str()?)?)))
        else {
            return (None, None);
        };
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let same = std::fs::metadata(&path).is_ok_and(|file| file.ino() == named.inode);
        (named.hash.clone().map(|hash| (name, hash)), same.then_some(path))
    }
}

/// The lost launches and the report while the watch goes on.
pub fn so_far(window: &Window, tally: &Tally, backend: &Backend, lost_processes: u64) -> (u64, ObserverReport) {
    let mut gaps = window.gaps.clone();
    let (lost, observer) = match backend {
        Backend::Bpf(instrument) => {
            gaps.insert(Gap::Untold, instrument.counter(counter::UNTOLD));
            (instrument.counter(counter::UNCOUNTED), ObserverKind::Uprobe)
        }
        Backend::Perf(sampled) | Backend::Armed(sampled, _) => {
            gaps.extend([Gap::NoArguments, Gap::NoLateNames, Gap::NoReturns].map(|gap| (gap, 1)));
            (sampled.lost(), ObserverKind::Perf)
        }
    };
    gaps.insert(Gap::ProcessesLost, lost_processes);
    gaps.insert(Gap::NothingProbed, u64::from(window.probed.is_empty()));
    let gaps = gaps.into_iter().filter(|(_, count)| *count > 0).map(|(gap, count)| gap.times(count)).collect();
    let report = ObserverReport::so_far(observer, window.devices.kind(), window.canary.clone(), gaps);
    (tally.lost + lost, report)
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
            window.missed(Gap::NotReturned, instrument.not_returned());
            let all = window.launches;
            window.missed(Gap::Unchecked { all }, all.saturating_sub(window.returns));
        }
        Backend::Perf(sampled) | Backend::Armed(sampled, _) => {
            tally.lost += sampled.lost();
            [Gap::NoArguments, Gap::NoLateNames, Gap::NoReturns].into_iter().for_each(|gap| window.gap(gap));
        }
    }
    window.missed(Gap::ProcessesLost, lost_processes);
    if window.probed.is_empty() {
        window.gap(Gap::NothingProbed);
    }
    let libraries: Vec<String> =
        window.libraries.iter().map(|(path, named)| format!("{path} ({} kernels)", named.kernels)).collect();
    let listed = |list: &[String]| if list.is_empty() { "-".to_owned() } else { list.join(", ") };
    let reach = say!("view-probed", functions = listed(&window.probed), libraries = listed(&libraries));
    let (library, library_path) = window.subject(tally);
    tally.devices = window.devices.clone();
    let device = tally.devices.kind();
    let gaps: Vec<Unseen> = window.gaps.iter().map(|(gap, count)| gap.clone().times(*count)).collect();
    ObserverReport {
        observer: if matches!(backend, Backend::Bpf(_)) { ObserverKind::Uprobe } else { ObserverKind::Perf },
        device,
        word: Word::Ours,
        library,
        library_path,
        canary: window.canary.clone(),
        contamination: Contamination::Unchecked,
        reach,
        blind: BLIND,
        gaps,
        second: SecondAccount::default(),
        seconds,
        cost_ns: window.cost_ns,
        ended: window.ended > 0 && window.ended == tally.launches() && tally.lost == 0,
    }
}

/// Argument bytes as in the kernarg segment; the padding between the arguments was never written.
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
