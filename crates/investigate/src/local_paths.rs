//! Paths on this machine that are filled into advice.

use crate::advice::Places;
use crate::feasible::Feasibility;
use doctor::{Facts, Host};
use observe::ObserveContext;
use std::path::{Path, PathBuf};

/// ggml's HIP backend, the file that most claims are about.
const BACKEND: &str = "libggml-hip.so";
/// The search depth: distributions install the file at this depth (`usr/lib/TRIPLET/ggml/backends0`).
const DEPTH: usize = 6;

impl Places {
    /// Finds the paths of this machine. `around` says which runtimes and trees to examine. `takes` is the command
    /// parser's check.
    pub fn of_this_machine(around: &ObserveContext, takes: fn(&str) -> bool) -> Places {
        let mut places = Places { takes: Some(takes), ..Places::default() };
        for installed in around.runtimes() {
            let backend = installed.parts.iter().find_map(|part| find(part, BACKEND, DEPTH));
            if let (Some(file), None) = (backend, places.files.get(BACKEND)) {
                places.files.insert(BACKEND.to_owned(), file);
            }
            if let Some(name) = installed.name {
                places.runtimes.entry(name).or_insert(installed.path);
            }
        }
        let cache = runtime::Cache::from_env();
        for tree in runtime::sources::TREES {
            places.trees.extend(tree.here(&cache).map(|spec| (tree.name.to_owned(), spec)));
        }
        let facts = Facts::read(&Host::this());
        places.runner = facts.servers.workers().next().map(|process| process.pid);
        places.feasible = Some(Feasibility::this(&facts));
        places.server_log = facts.discovery.first().map(|discovery| PathBuf::from(&discovery.log));
        places
    }
}

fn find(at: &Path, name: &str, depth: usize) -> Option<PathBuf> {
    if at.file_name().is_some_and(|file| file == name) && at.is_file() {
        return Some(at.to_owned());
    }
    let entries = std::fs::read_dir(at).ok()?.flatten().map(|entry| entry.path());
    let mut entries: Vec<PathBuf> = entries.filter(|path| depth > 0 && !path.is_symlink()).collect();
    entries.sort();
    entries.iter().find_map(|path| find(path, name, depth - 1))
}
