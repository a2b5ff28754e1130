//! The libraries that a program had mapped: names and build ids, read while the program runs.
//!
//! The name alone would not show that another build of a runtime was loaded. The path would differ with every temporary
//! directory. The observer's own library is left out, and the report says so.

use crate::Cell;
use crate::process_tree::program_of;
use server::claims::tree;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use sys::regular_file;
use sys::unix::AsRawFd;
use sys::unix::MetadataExt;
use watch::preload::build_id;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Libraries {
    /// The mappings of each process and program at the last check. Earlier mappings are dropped because libraries that
    /// are loaded briefly would make the result random: llama.cpp opens every variant of its CPU backend to find one
    /// that fits.
    last: BTreeMap<(u32, String), BTreeSet<String>>,
    /// Our own loaded libraries. They are not a difference, because they come from the observer.
    excepted: BTreeSet<String>,
    /// Name and build id by device and inode.
    known: BTreeMap<(String, String), String>,
}

/// The prefixes of our own libraries.
const OURS: [&str; 2] = ["libwhichkernel-", "libVkLayer_whichkernel."];

impl Libraries {
    /// Checks the processes of a tree that run one of `programs`. Processes of a wrapper do not count.
    pub fn look(&mut self, pid: u32, programs: &[String]) {
        for pid in tree(vec![pid]) {
            let Some(program) = program_of(pid).filter(|name| programs.contains(name)) else { continue };
            let maps = regular_file::start(Path::new(&format!("/proc/{pid}/maps")), 64 << 20).unwrap_or_default();
            let maps = String::from_utf8_lossy(&maps);
            let found: BTreeSet<String> = maps.lines().filter_map(|line| self.library(pid, line)).collect();
            // A process that is about to end has no maps any more.
            if !found.is_empty() {
                self.last.insert((pid, program), found);
            }
        }
    }

    /// Name and start of the build id: `libamdhip64.so.6 1f2e3d4c`.
    fn library(&mut self, pid: u32, line: &str) -> Option<String> {
        let mut words = line.split_whitespace().skip(3);
        let (device, inode, path) = (words.next()?, words.next()?, words.next()?);
        let name = path.rsplit('/').next().filter(|name| is_library(name))?;
        if OURS.iter().any(|ours| name.starts_with(ours)) {
            self.excepted.insert(name.to_owned());
            return None;
        }
        let text = self.known.entry((device.to_owned(), inode.to_owned())).or_insert_with(|| {
            let held = |file: &File| PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
            let id = reachable(pid, path, inode).and_then(|file| build_id(&held(&file))).unwrap_or_default();
            format!("{name} {}", hex::encode(id.get(..4).unwrap_or_default())).trim_end().to_owned()
        });
        Some(text.clone())
    }

    /// The libraries of all processes together.
    pub fn found(&self) -> BTreeSet<&str> {
        self.last.values().flatten().map(String::as_str).collect()
    }

    pub fn excepted(&self) -> impl Iterator<Item = &str> {
        self.excepted.iter().map(String::as_str)
    }

    /// For each run: the number of libraries that all runs share, and the libraries that only some runs have.
    pub fn beside(runs: [&Libraries; 3]) -> [Cell; 3] {
        let found = runs.map(Libraries::found);
        let common: Vec<&str> =
            found[0].iter().filter(|name| found.iter().all(|run| run.contains(*name))).copied().collect();
        found.map(|run| {
            let own = run.iter().filter(|name| !common.contains(name)).map(|name| (*name).to_owned()).collect();
            if run.is_empty() { Cell::Nothing } else { Cell::Libraries { common: common.len(), own } }
        })
    }

    #[cfg(test)]
    pub fn of(list: &[&str]) -> Libraries {
        let found = list.iter().map(|name| (*name).to_owned()).collect();
        Libraries { last: BTreeMap::from([((1, String::new()), found)]), ..Libraries::default() }
    }
}

/// Opens the file behind a mapping. If the process has another root, `maps` may show the path as seen from outside.
fn reachable(pid: u32, path: &str, inode: &str) -> Option<File> {
    let root = format!("/proc/{pid}/root");
    let outside = fs::read_link(&root).ok()?;
    let inside = path.strip_prefix(outside.to_str()?).map(|rest| format!("/{rest}"));
    let same = |file: &File| file.metadata().is_ok_and(|file| file.ino().to_string() == inode);
    let open = |path: &str| regular_file::open_in(Path::new(&root), Path::new(path)).ok().filter(same);
    open(path).or_else(|| open(inside.as_deref()?))
}

/// Accepts `libc.so.6` and `libggml-hip.so`, but not `ld.so.cache`.
fn is_library(name: &str) -> bool {
    name.split_once(".so").is_some_and(|(_, rest)| {
        rest.is_empty() || rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}
