//! The probes that are in place, and which of them are enabled: the first of the three parts of a watch.

use crate::bpf::backend::Backend;
use crate::bpf::duty_cycle::CHECKED;
use crate::bpf::instrument::{Calls, Probed};
use crate::bpf::wire::counter;
use crate::options::Options;
use crate::probes::entries::{ENTRIES, Home};
use crate::probes::preprobe::Inode;
use crate::probes::recognise::Recognised;
use crate::probes::stub::Stub;
use crate::probes::symbols::entries_of;
use crate::target::mapped_file::planted;
use crate::target::processes::{FileId, Mapping};
use crate::target::stop_on_map::Hold;
use say::{Message, say};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use sys::mapped_call::Timing;
use sys::unix::{AsRawFd, RawFd};
use watch::WatchError;

pub(crate) struct Attached {
    pub options: Options,
    pub backend: Backend,
    pub probed: HashMap<FileId, Home>,
    /// The kind of each mapped file.
    pub recognised: HashMap<FileId, Recognised>,
    /// Files that were probed before any process mapped them.
    pub ahead: HashMap<Inode, (Probed, RawFd)>,
    /// The files with probes, kept open.
    pub held: Vec<File>,
    pub by_file: HashMap<FileId, RawFd>,
    /// The names of the files with probes.
    pub names: HashMap<FileId, String>,
    /// Why the first unsuccessful probe failed.
    pub refused: Option<WatchError>,
    /// Functions that programs obtained as pointers.
    pub pointers: HashSet<(FileId, u64)>,
    /// Child processes that call our function under the same probe, and how many of their calls were seen.
    pub canaries: Vec<(sys::child::Child, (&'static str, Message), u64)>,
    /// Our stub function for each probed runtime, by the runtime's descriptor.
    pub stubs: HashMap<RawFd, Arc<Stub>>,
    /// The stub whose calls are timed at the end.
    pub measured: Option<Arc<Stub>>,
    /// Stops the programs that we started whenever they map code.
    pub hold: Option<Hold>,
    pub returns_until: Instant,
    /// The time at which the launches were last counted, and their number.
    pub paced: (Instant, u64),
    /// The time until which the runtime's own calls are observed, for names.
    pub outer_until: Instant,
}

impl Attached {
    pub fn new(options: Options) -> Result<Attached, WatchError> {
        let backend = Backend::new(&options)?;
        let now = Instant::now();
        Ok(Attached {
            options,
            backend,
            probed: HashMap::new(),
            recognised: HashMap::new(),
            ahead: HashMap::new(),
            held: Vec::new(),
            by_file: HashMap::new(),
            names: HashMap::new(),
            refused: None,
            pointers: HashSet::new(),
            canaries: Vec::new(),
            stubs: HashMap::new(),
            measured: None,
            hold: None,
            returns_until: now + CHECKED,
            paced: (now, 0),
            outer_until: now,
        })
    }

    /// Places the probes on a file, and keeps it open: the process, and with it this path, may be gone when a probe is
    /// placed there again.
    pub(crate) fn equip(&mut self, path: &Path, home: Home, calls: Calls) -> Result<(Probed, RawFd), WatchError> {
        let opened = inventory::File::open(path)
            .map_err(|error| WatchError::about(path.display(), error).fix(say!("uprobe-root-or-user")))?;
        let held = sys::regular_file::open(path).map_err(broken)?;
        let descriptor = held.as_raw_fd();
        self.held.push(held);
        let probed = self.backend.probe(&by_descriptor(descriptor), home, &opened, calls)?;
        if home.launches() && self.options.canary {
            self.prepare_canary(descriptor, home, &probed)?;
        }
        Ok((probed, descriptor))
    }

    /// Places the same probe on our stub function, before the returns of launches are checked: the canary's calls
    /// return too.
    fn prepare_canary(&mut self, held: RawFd, home: Home, probed: &Probed) -> Result<(), WatchError> {
        if let Some(stub) = Stub::like(home, probed).map_err(broken)? {
            self.backend.probe(Path::new(&stub.path()), home, &stub.bytes, Calls::Nobody)?;
            self.stubs.insert(held, Arc::new(stub));
        }
        Ok(())
    }

    pub(crate) fn in_place(
        &self,
        held: RawFd,
        pid: u32,
        mapping: &Mapping,
        stub: &Stub,
        probed: &Probed,
    ) -> Option<bool> {
        let file = inventory::File::open(&by_descriptor(held)).ok()?;
        let (_, site) = probed.functions.iter().find(|(symbol, _)| *symbol == stub.symbol)?;
        let symbols = entries_of(&file, stub.home).ok()?;
        let named = |entry: usize| ENTRIES.get(entry).is_some_and(|entry| entry.symbol == stub.symbol);
        let symbol = symbols.iter().find(|symbol| named(symbol.entry))?;
        let original = symbol.code.get(usize::try_from(site.offset).ok()?..)?;
        planted(pid, mapping, symbol.offset.checked_add(site.offset)?, original)
    }

    /// The kernel needs time to remove a probe from a process: waits until no call is counted any more.
    pub(crate) fn time_without(&self, timing: &mut Timing) -> Option<f64> {
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
}

pub(crate) fn by_descriptor(held: RawFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{held}"))
}

pub(crate) fn broken(error: std::io::Error) -> WatchError {
    WatchError::new(say!("uprobe-map-or-probe"), error)
}
