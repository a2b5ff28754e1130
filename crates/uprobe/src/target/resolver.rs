//! Finds the process of a launch and the name of its kernel: the second of the three parts of a watch.

use crate::target::late_names::Nameless;
use crate::target::mapped_file::reachable;
use crate::target::names::Names;
use crate::target::processes::{Mapping, Processes};
use watch::Tally;

pub(crate) struct Resolver {
    pub processes: Processes,
    pub names: Names,
    pub nameless: Nameless,
    /// The processes existed before the watch.
    pub late: bool,
}

impl Resolver {
    pub fn new(processes: Processes, names: Names) -> Resolver {
        Resolver { processes, names, nameless: Nameless::default(), late: false }
    }

    pub fn want(&mut self, pid: u32, handle: u64) {
        let inside = |mapping: &&Mapping| (mapping.start..mapping.end).contains(&handle);
        let Some(mapping) = self.processes.mapped(pid).iter().find(inside).cloned() else { return };
        if self.names.is_postponed(mapping.file())
            && let Some(reached) = reachable(pid, &mapping)
        {
            self.names.meet(&mapping, &reached.path(), true);
        }
    }

    /// A process has ended.
    pub fn forget(&mut self, pid: u32) {
        self.names.forget(pid);
        self.nameless.forget(pid);
    }

    /// Renames launches that were counted before their name was known.
    pub fn rename(&mut self, tally: &mut Tally) {
        let names = &self.names;
        tally.rename(|handle| {
            let named = names.anywhere(handle)?;
            Some((named.name, named.file, named.bundle))
        });
    }
}
