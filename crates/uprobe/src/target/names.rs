//! Maps the handle that a launch passes to a kernel, by the static map of its library or by the process's observed
//! queries.

use crate::probes::library::{Kernel, Library, Read, Wanted, apart, in_place};
use crate::target::processes::{FileId, Mapping};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use watch::Name;

/// A kernel, as far as it is known.
#[derive(Debug, Clone)]
pub struct Named {
    pub name: Name,
    pub file: String,
    pub bundle: Option<u32>,
    pub args: Vec<(u32, u32)>,
}

impl Named {
    fn unnamed(handle: u64) -> Named {
        Named { name: Name::Unnamed(handle), file: String::new(), bundle: None, args: Vec::new() }
    }
}

type Loaded = (FileId, Read);

/// All libraries that were seen, each read once in a separate thread.
#[derive(Debug)]
pub struct Names {
    libraries: HashMap<FileId, Option<Arc<Library>>>,
    reading: HashSet<FileId>,
    /// Libraries with NVIDIA code that were not requested yet.
    postponed: HashSet<FileId>,
    ask: Sender<(FileId, File, String, bool)>,
    take: Receiver<Loaded>,
    /// The position of each library in each process: bias, file, path.
    placed: HashMap<u32, Vec<(u64, FileId, String)>>,
    /// Functions that a process obtained by name, by process and handle.
    functions: HashMap<(u32, u64), Named>,
    /// Grows whenever a name may have become known.
    learned: u64,
}

impl Names {
    pub fn new(cache: PathBuf, wanted: Wanted, reader: Option<PathBuf>) -> Names {
        let (give, take) = channel();
        let (ask, asked) = channel::<(FileId, File, String, bool)>();
        std::thread::spawn(move || {
            for (file, held, name, all) in asked {
                let wanted = Wanted { nvidia: all, ..wanted };
                let result = match &reader {
                    Some(program) => apart(program, held, &name, &cache, wanted),
                    None => in_place(&held, &name, &cache, wanted),
                };
                if give.send((file, result)).is_err() {
                    break;
                }
            }
        });
        let (libraries, reading) = (HashMap::new(), HashSet::new());
        Names {
            libraries,
            reading,
            postponed: HashSet::new(),
            ask,
            take,
            placed: HashMap::new(),
            functions: HashMap::new(),
            learned: 0,
        }
    }

    /// A process has mapped a file: reads it if that was not done yet. Libraries with NVIDIA code are many and large,
    /// and their handles are code addresses, so each is read only when a launch points into it (`wanted`).
    pub fn meet(&mut self, mapping: &Mapping, path: &Path, wanted: bool) {
        let file = mapping.file();
        let known = self.libraries.contains_key(&file) && !(wanted && self.postponed.remove(&file));
        if known || !self.reading.insert(file) {
            return;
        }
        let held = sys::regular_file::open(path).ok();
        let asked = held.is_some_and(|held| self.ask.send((file, held, mapping.name().to_owned(), wanted)).is_ok());
        if !asked {
            self.reading.remove(&file);
        }
    }

    /// Libraries that were read since the last call.
    pub fn arrived(&mut self) -> Vec<FileId> {
        let mut out = Vec::new();
        while let Ok((file, library)) = self.take.try_recv() {
            self.reading.remove(&file);
            let library = match library {
                Read::Library(library) => Some(Arc::new(*library)),
                Read::Nothing => None,
                Read::Postponed => {
                    self.postponed.insert(file);
                    None
                }
            };
            self.libraries.insert(file, library);
            self.learned += 1;
            out.push(file);
        }
        out
    }

    /// While this number is the same, a handle without a name has none.
    pub fn learned(&self) -> u64 {
        self.learned
    }

    pub fn is_reading(&self) -> bool {
        !self.reading.is_empty()
    }

    /// Stops waiting for libraries that are still being read.
    pub fn give_up(&mut self) {
        self.reading.clear();
    }

    pub fn library(&self, file: FileId) -> Option<Arc<Library>> {
        self.libraries.get(&file).cloned().flatten()
    }

    /// Stores the position of a library in a process; returns the bias if it is new.
    pub fn place(&mut self, pid: u32, mapping: &Mapping) -> Option<(u64, Arc<Library>)> {
        let library = self.library(mapping.file())?;
        let bias = library.bias(mapping)?;
        let list = self.placed.entry(pid).or_default();
        if list.iter().any(|(known, file, _)| (*known, *file) == (bias, mapping.file())) {
            return None;
        }
        self.learned += 1;
        list.retain(|(known, ..)| *known != bias);
        list.push((bias, mapping.file(), mapping.path.clone()));
        Some((bias, library))
    }

    /// The process executes another program: returns its previous libraries and their positions.
    pub fn forget(&mut self, pid: u32) -> Vec<(u64, Arc<Library>)> {
        self.functions.retain(|(of, _), _| *of != pid);
        let had = self.placed.remove(&pid).unwrap_or_default();
        had.into_iter().filter_map(|(bias, file, _)| Some((bias, self.library(file)?))).collect()
    }

    /// A forked child has the same libraries as its parent.
    pub fn inherit(&mut self, parent: u32, child: u32) {
        let had: Vec<(u64, Named)> =
            self.functions.iter().filter(|((pid, _), _)| *pid == parent).map(|((_, f), n)| (*f, n.clone())).collect();
        self.learned += 1;
        self.functions.extend(had.into_iter().map(|(function, named)| ((child, function), named)));
    }

    /// The process obtained this function for this name.
    pub fn learn(&mut self, pid: u32, function: u64, name: &str) {
        let name = Name::Kernel(name.to_owned());
        self.learned += 1;
        self.functions.insert((pid, function), Named { name, ..Named::unnamed(function) });
    }

    /// Records that two handles denote one kernel.
    pub fn alias(&mut self, pid: u32, function: u64, of: u64) {
        let named = self.resolve(pid, of, 0);
        if !matches!(named.name, Name::Unnamed(_)) {
            self.learned += 1;
            self.functions.insert((pid, function), named);
        }
    }

    /// `outer`: the handle that was passed to the runtime, if the launch is the driver's.
    pub fn resolve(&mut self, pid: u32, handle: u64, outer: u64) -> Named {
        if let Some(named) = self.functions.get(&(pid, handle)) {
            return named.clone();
        }
        if let Some(named) = self.registered(pid, handle) {
            return named;
        }
        let given = || self.functions.get(&(pid, outer)).cloned();
        if outer != 0
            && let Some(named) = self.registered(pid, outer).or_else(given)
        {
            self.learned += 1;
            self.functions.insert((pid, handle), named.clone());
            return named;
        }
        Named::unnamed(handle)
    }

    /// The addresses at which libraries of this process store kernels that they obtained from the runtime: address,
    /// handle.
    pub fn slots(&self, pid: u32) -> Vec<(u64, u64)> {
        let placed = self.placed.get(&pid).into_iter().flatten();
        let libraries = placed.filter_map(|(bias, file, _)| Some((*bias, self.library(*file)?)));
        libraries
            .flat_map(|(bias, library)| {
                let slots: Vec<(u64, u64)> = library.slots.iter().map(|(slot, handle)| (*slot, *handle)).collect();
                slots.into_iter().map(move |(slot, handle)| (slot.wrapping_add(bias), handle.wrapping_add(bias)))
            })
            .collect()
    }

    /// Functions of this process whose names are known.
    pub fn known(&self, pid: u32) -> Vec<(u64, String)> {
        let of_pid = self.functions.iter().filter(|((of, _), _)| *of == pid);
        of_pid
            .filter_map(|((_, at), named)| match &named.name {
                Name::Kernel(name) => Some((*at, name.clone())),
                _ => None,
            })
            .collect()
    }

    /// Forgets libraries that no process has mapped any more, if there are many. They are read again when needed.
    pub fn trim(&mut self) {
        const MOST: usize = 6;
        let placed: HashSet<FileId> = self.placed.values().flatten().map(|(_, file, _)| *file).collect();
        if self.libraries.values().flatten().count() > MOST {
            self.libraries.retain(|file, library| library.is_none() || placed.contains(file));
        }
    }

    /// Whether a file was read, or is being read.
    pub fn has_met(&self, file: FileId) -> bool {
        self.libraries.contains_key(&file) || self.reading.contains(&file)
    }

    pub fn is_postponed(&self, file: FileId) -> bool {
        self.postponed.contains(&file)
    }

    /// The kernel of a handle in any process, if there is only one.
    pub fn anywhere(&self, handle: u64) -> Option<Named> {
        let mut all = self.functions.iter().filter(|((_, function), _)| *function == handle).map(|(_, named)| named);
        let first = all.next()?;
        all.all(|named| named.name == first.name).then(|| first.clone())
    }

    fn registered(&self, pid: u32, handle: u64) -> Option<Named> {
        self.placed.get(&pid)?.iter().find_map(|(bias, file, path)| {
            let library = self.libraries.get(file)?.as_ref()?;
            let Kernel { name, bundle, args } = library.kernels.get(&handle.wrapping_sub(*bias))?;
            let (name, path) = (Name::Kernel(name.clone()), path.clone());
            Some(Named { name, file: path, bundle: *bundle, args: args.clone() })
        })
    }
}
