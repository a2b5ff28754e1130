//! Names of functions that a process obtained before the observation began, read from its memory if the result is
//! certain.

use crate::coverage::Window;
use crate::queue::Queue;
use crate::target::driver_objects::Path;
use crate::target::mapped_file::reachable;
use crate::target::memory::Memory;
use crate::target::resolver::Resolver;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};
use watch::{Gap, Name};

/// Unnamed functions, and the attempts to name them.
#[derive(Debug, Default)]
pub struct Nameless {
    /// Wanted names, by process and handle.
    wanted: HashSet<(u32, u64)>,
    next: Option<Instant>,
    paths: HashMap<u32, Tried>,
}

/// The path to the names in one process.
#[derive(Debug, Default)]
struct Tried {
    /// The number of functions known by name when the path was last searched for.
    witnesses: usize,
    path: Option<Path>,
    /// Handles for which the path gave no name.
    nowhere: HashSet<u64>,
    /// How often the path gave each name.
    given: HashMap<String, u32>,
}

impl Nameless {
    pub(crate) fn forget(&mut self, pid: u32) {
        self.wanted.retain(|(of, _)| *of != pid);
        self.paths.remove(&pid);
    }
}

/// The interval between reads of a process's memory.
const PAUSE: Duration = Duration::from_millis(50);

impl Resolver {
    /// Immediately reads libraries with NVIDIA code that these processes have already loaded: functions that they
    /// obtained from the runtime cannot be queried again, and the process may end early. NVIDIA's own libraries (cuBLAS
    /// takes twenty seconds) find their kernels by names that are not in the file.
    pub(crate) fn read_postponed(&mut self, pids: &[u32]) {
        const THEIRS: [&str; 3] = ["libcu", "libnv", "libnccl"];
        for pid in pids {
            for mapping in self.processes.mapped(*pid).to_vec() {
                if self.names.is_postponed(mapping.file())
                    && !THEIRS.iter().any(|start| mapping.name().starts_with(start))
                    && let Some(reached) = reachable(*pid, &mapping)
                {
                    self.names.meet(&mapping, &reached.path(), true);
                }
            }
        }
    }

    /// Kernels that the process's libraries obtained from the CUDA runtime and store in static variables.
    pub(crate) fn read_slots(&mut self, pid: u32, window: &mut Window) {
        let slots = self.names.slots(pid);
        if slots.is_empty() {
            return;
        }
        let Ok(memory) = Memory::open(pid) else { return window.gap(Gap::NamesBefore) };
        let words = memory.words(slots.iter().map(|(slot, _)| *slot).collect());
        for (slot, handle) in slots {
            if let Some(kernel) = words.get(&slot).filter(|kernel| **kernel != 0) {
                self.names.alias(pid, *kernel, handle);
            }
        }
    }

    /// A launch of an unnamed function.
    pub(crate) fn look_for(&mut self, pid: u32, handle: u64) {
        self.nameless.wanted.insert((pid, handle));
    }

    /// Unnamed functions that were launched.
    pub(crate) fn unnamed(&self) -> usize {
        self.nameless.wanted.len()
    }

    /// Searches for missing names, at intervals.
    pub(crate) fn look(&mut self, queue: &Queue, window: &mut Window) {
        let now = Instant::now();
        if self.nameless.wanted.is_empty() || self.nameless.next.is_some_and(|next| now < next) {
            return;
        }
        self.nameless.next = Some(now + PAUSE);
        let mut wanted: Vec<(u32, u64)> = self.nameless.wanted.iter().copied().collect();
        wanted.sort_unstable();
        for list in wanted.chunk_by(|a, b| a.0 == b.0) {
            let Some(pid) = list.first().map(|(pid, _)| *pid).filter(|pid| self.processes.is_alive(*pid)) else {
                continue;
            };
            self.read_slots(pid, window);
            let mut tried = self.nameless.paths.remove(&pid).unwrap_or_default();
            for (_, handle) in list {
                if matches!(self.names.resolve(pid, *handle, 0).name, Name::Unnamed(_)) {
                    self.follow((pid, *handle), &mut tried, queue, window);
                }
            }
            self.nameless.paths.insert(pid, tried);
        }
        let names = &mut self.names;
        self.nameless.wanted.retain(|(pid, handle)| matches!(names.resolve(*pid, *handle, 0).name, Name::Unnamed(_)));
    }

    fn follow(&mut self, (pid, handle): (u32, u64), tried: &mut Tried, queue: &Queue, window: &mut Window) {
        if tried.nowhere.contains(&handle) {
            return;
        }
        let Ok(memory) = Memory::open(pid) else { return };
        if tried.path.is_none() {
            // The driver's launches use one kind of object, the runtime's handles another.
            let launched: HashSet<u64> =
                queue.shipped.keys().filter(|key| key.tgid == pid).map(|key| key.handle).collect();
            let (driver, runtime): (Vec<_>, Vec<_>) =
                self.names.known(pid).into_iter().partition(|(at, _)| launched.contains(at));
            if driver.len() + runtime.len() == tried.witnesses {
                return;
            }
            tried.witnesses = driver.len() + runtime.len();
            tried.path = Path::find(&memory, &driver).or_else(|| Path::find(&memory, &runtime));
        }
        let Some(path) = &tried.path else { return };
        // A name shared by many functions belongs to another object, such as a module.
        const NAMESAKES: u32 = 4;
        let name = path.follow(&memory, handle).filter(|name| {
            let given = tried.given.entry(name.clone()).or_default();
            *given += 1;
            *given <= NAMESAKES
        });
        match name {
            Some(name) => {
                self.names.learn(pid, handle, &name);
                window.gap(Gap::NamesGuessed);
            }
            None => drop(tried.nowhere.insert(handle)),
        }
    }
}
