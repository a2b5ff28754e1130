//! The second account: every process of the tree, judged by its own files and independent of the probes. The kernel's
//! mapping records show which code a process mapped, the symbols of those files show what it could launch, and its open
//! device files show whether it can reach a GPU.

use crate::bpf::backend::Backend;
use crate::target::proc::alive;
use crate::target::processes::Mapping;
use crate::watcher::Watcher;
use evidence::{Blind, BlindSpot, Witness};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use watch::{Gap, SecondAccount};

/// The interval between checks of device files.
const AGAIN: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Processes that existed before the watch, with their programs.
    before: BTreeMap<u32, String>,
    /// Programs without symbols and without libraries: it is unknown whether they launch kernels.
    opaque: BTreeSet<String>,
    /// Kernels whose code was not read.
    pub unread: BTreeSet<String>,
    looked: Option<Instant>,
    held: BTreeSet<u32>,
}

impl Tree {
    pub fn joined(&mut self, pid: u32) {
        self.before.insert(pid, program(pid));
    }

    pub fn opaque(&mut self, path: &str) {
        self.opaque.insert(path.to_owned());
    }

    /// The blind spots of the observer in this tree.
    fn spots(&self) -> Vec<BlindSpot> {
        const SHOWN: usize = 4;
        let names = |kind: Blind, names: Vec<&String>| {
            (!names.is_empty()).then(|| kind.named(names.into_iter().take(SHOWN).cloned()))
        };
        let before: BTreeSet<&String> = self.before.values().collect();
        [
            names(Blind::Before, before.into_iter().collect()),
            names(Blind::Processes, self.opaque.iter().collect()),
            names(Blind::DeviceLaunches, self.unread.iter().collect()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

fn program(pid: u32) -> String {
    let exe = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let name = exe.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    name.unwrap_or_else(|| format!("process {pid}"))
}

impl Watcher {
    /// Finds processes that hold a GPU but have no mapped file with probes.
    pub(crate) fn look_at_tree(&mut self, now: bool) {
        if !now && self.tree.looked.is_some_and(|before| before.elapsed() < AGAIN) {
            return;
        }
        self.tree.looked = Some(Instant::now());
        let probed = |mapping: &Mapping| self.attached.probed.get(&mapping.file()).is_some_and(|home| home.launches());
        let bare: Vec<u32> = self
            .resolver
            .processes
            .everyone()
            .filter(|pid| !self.tree.held.contains(pid) && self.resolver.processes.is_alive(*pid) && alive(*pid))
            .filter(|pid| !self.resolver.processes.mapped(*pid).iter().any(probed))
            .collect();
        for process in bare {
            if let Some(device) = watch::compute_device(process) {
                self.tree.held.insert(process);
                self.window.missed(Gap::Reaches { process, program: program(process), device }, 1);
            }
        }
    }

    /// The result of the account. It is given only if the kernel's records cover every process from its start.
    pub(crate) fn second_account(&self) -> SecondAccount {
        let cannot_see = self.tree.spots();
        let told =
            matches!(self.attached.backend, Backend::Bpf(_) | Backend::Perf(_)) && self.resolver.processes.lost == 0;
        let witness = (told && cannot_see.is_empty()).then_some(Witness::ProcessTree);
        SecondAccount { witness, cannot_see }
    }
}
