//! Names of functions that a process got before anybody looked: from its own memory, as far as the way there is certain.

use super::memory::Memory;
use super::objects::Path;
use super::reach::reachable;
use super::watcher::Watcher;
use crate::watch::Name;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// What was tried for one process.
#[derive(Debug)]
pub struct Tried {
    at: Instant,
    /// Functions known by name when a path was last looked for, and the path.
    witnesses: usize,
    path: Option<Path>,
    /// Handles that no path led anywhere from.
    nameless: HashSet<u64>,
    /// How often the path gave each name.
    given: HashMap<String, u32>,
}

/// How often a process's memory is looked at for more.
const PAUSE: Duration = Duration::from_millis(50);

impl Watcher {
    /// Libraries with NVIDIA code that these processes have loaded already are read at once: what they have got from the runtime cannot be
    /// asked for again, and the process may end before somebody wonders.
    pub(super) fn read_postponed(&mut self, pids: &[u32]) {
        for pid in pids {
            for mapping in self.processes.mapped(*pid).to_vec() {
                if self.names.is_postponed(mapping.file())
                    && let Some(path) = reachable(*pid, &mapping)
                {
                    self.names.meet(&mapping, &path, true);
                }
            }
        }
    }

    /// Kernels that the process's libraries have got from the CUDA runtime, as they stand in their static variables.
    pub(super) fn read_slots(&mut self, pid: u32) {
        let slots = self.names.slots(pid);
        if slots.is_empty() {
            return;
        }
        let Ok(memory) = Memory::open(pid) else { return self.unreadable() };
        let words = memory.words(slots.iter().map(|(slot, _)| *slot).collect());
        for (slot, handle) in slots {
            if let Some(kernel) = words.get(&slot).filter(|kernel| **kernel != 0) {
                self.names.alias(pid, *kernel, handle);
            }
        }
    }

    fn unreadable(&mut self) {
        let why = "the process's memory could not be read, where its libraries keep them";
        self.window.gap("names of functions that were obtained before the attach", why);
    }

    /// A launch of a function that nobody can name.
    pub(super) fn look_for(&mut self, pid: u32, handle: u64) {
        let now = Instant::now();
        let tried = self.tried.get(&pid);
        if tried.is_some_and(|tried| tried.nameless.contains(&handle) || now < tried.at + PAUSE) {
            return;
        }
        self.read_slots(pid);
        let mut tried = self.tried.remove(&pid).unwrap_or_else(|| Tried {
            at: now,
            witnesses: 0,
            path: None,
            nameless: HashSet::new(),
            given: HashMap::new(),
        });
        tried.at = now;
        if matches!(self.names.resolve(pid, handle, 0).name, Name::Unnamed(_)) {
            self.follow(pid, handle, &mut tried);
        }
        self.tried.insert(pid, tried);
    }

    fn follow(&mut self, pid: u32, handle: u64, tried: &mut Tried) {
        let known = self.names.known(pid);
        let Ok(memory) = Memory::open(pid) else { return };
        if tried.path.is_none() && known.len() > tried.witnesses {
            tried.witnesses = known.len();
            tried.path = Path::find(&memory, &known);
        }
        let Some(path) = &tried.path else { return };
        // A name that many functions have is that of something else: a module, say.
        const NAMESAKES: u32 = 4;
        let name = path.follow(&memory, handle).filter(|name| {
            let given = tried.given.entry(name.clone()).or_default();
            *given += 1;
            *given <= NAMESAKES
        });
        match name {
            Some(name) => {
                self.names.learn(pid, handle, &name);
                let why = "they were read from the driver's own objects, along a path that gave the right name of every known function";
                self.window.gap("certainty of some names", why);
            }
            None => drop(tried.nameless.insert(handle)),
        }
    }
}
