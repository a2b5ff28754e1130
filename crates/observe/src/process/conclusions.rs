//! What may be concluded of a process's maps: that a GPU library is loaded, that all of them could be read.

use crate::Observer;
use crate::process::{Process, ProcessMaps, maps};
use evidence::{Account, Basis, Blind, Conclusion, LeftOutWhy, Rung, Unit, Witness};
use say::say;

impl Process {
    fn basis(&self, answered: u64) -> Basis {
        let of = format!("{} (pid {})", self.name, self.pid);
        let all = self.libraries.len() as u64;
        let basis = Basis::new(ProcessMaps.name(), [of], Rung::Loaded, Unit::Libraries, all, answered);
        // The kernel lists every mapping. Code outside any file was written by the process itself: it has no name.
        match maps::unnamed_code(&self.maps) {
            none if none.is_empty() => basis.account(Account::searched(Witness::ProcessTree)),
            places => basis.cannot_see(Blind::UnnamedCode.named(places.into_iter().take(3))),
        }
    }

    /// Is what is told of the libraries all there is? One that could not be read has neither version nor edges.
    pub fn completeness(&self) -> Conclusion {
        let read = self.libraries.iter().filter(|library| library.problem.is_none()).count() as u64;
        let mut basis = self.basis(read);
        for library in &self.libraries {
            if let Some(problem) = &library.problem {
                let what = say!("about-why", what = library.path, why = problem);
                basis = basis.without(what, None, LeftOutWhy::Unreadable);
            }
        }
        basis.completeness()
    }

    /// Is a library of a GPU stack loaded? Maps name every file, and the names tell, also of one that cannot be read.
    pub fn gpu_stack(&self) -> Conclusion {
        let found = self.libraries.iter().filter(|library| library.part.is_some()).count() as u64;
        let basis = self.basis(self.libraries.len() as u64);
        // A GPU's device file that is held open without one: the stack is linked into the program.
        let held = self.devices.iter().filter(|_| found == 0);
        held.fold(basis, |basis, device| basis.without(device, None, LeftOutWhy::OutOfView)).presence(found)
    }
}
