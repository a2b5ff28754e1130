//! Gathers claims while a process is watched: from `/proc`, from logs, and from the server's HTTP interface.

use crate::claims::served::{self, Before};
use crate::claims::{Claims, of_command, of_log};
use crate::endpoint::Endpoint;
use crate::process::{makes_claims, strings};
use say::{Say as _, say};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use sys::regular_file;

/// Only the end of a longer log is read.
const MOST: u64 = 64 << 20;

#[derive(Debug, Default)]
pub struct Gatherer {
    /// The processes whose command lines count, with their children; empty for the children of this process.
    roots: Vec<u32>,
    at: Option<Endpoint>,
    before: Before,
    /// Named logs, and those that a server writes to: label and open file.
    logs: Vec<(String, File)>,
    known: BTreeMap<u32, String>,
    claims: Claims,
}

impl Gatherer {
    /// `roots`: the watched processes, or empty for those that this process starts. A log that cannot be opened is an
    /// error.
    pub fn new(roots: Vec<u32>, at: Option<Endpoint>, logs: &[PathBuf]) -> Result<Gatherer, (PathBuf, std::io::Error)> {
        let mut gatherer = Gatherer { roots, at, ..Gatherer::default() };
        for path in logs {
            let file = regular_file::open(path).map_err(|error| (path.clone(), error))?;
            gatherer.logs.push((name_of(path), file));
        }
        if let Some(at) = &gatherer.at {
            gatherer.before = Before::look(at);
        }
        gatherer.look();
        Ok(gatherer)
    }

    /// Reads the command lines of new servers. Costs a few reads of `/proc`.
    pub fn look(&mut self) {
        let roots = if self.roots.is_empty() { children(std::process::id()) } else { self.roots.clone() };
        for pid in tree(roots) {
            let Ok(bytes) = proc(pid, "cmdline") else { continue };
            let words = strings(&bytes);
            if !makes_claims(&words) {
                continue;
            }
            let line = words.join(" ");
            if self.known.get(&pid) == Some(&line) {
                continue;
            }
            self.known.insert(pid, line);
            let environment = proc(pid, "environ").unwrap_or_default();
            let pairs = strings(&environment);
            let pairs: Vec<(String, String)> = pairs
                .iter()
                .filter_map(|pair| pair.split_once('='))
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
                .collect();
            self.claims.model = None;
            of_command(pid, &words, &pairs, &mut self.claims);
            if let Some(model) = &self.claims.model {
                self.claims.blocks = blocks(pid, model).or(self.claims.blocks);
            }
            self.writes(pid);
        }
    }

    /// If a server's output goes to a file, that is its log. It is opened again for reading, so that the server's file
    /// position is not affected.
    fn writes(&mut self, pid: u32) {
        for number in [1, 2] {
            let link = PathBuf::from(format!("/proc/{pid}/fd/{number}"));
            let (Ok(file), Ok(target)) = (regular_file::open(&link), fs::read_link(&link)) else { continue };
            let label = name_of(&target);
            if !self.logs.iter().any(|(known, _)| *known == label) {
                self.logs.push((label, file));
            }
        }
    }

    /// The claims as of now, without requests: from command lines and logs.
    pub fn so_far(&self) -> Claims {
        let mut claims = self.claims.clone();
        self.read_logs(&mut claims);
        claims
    }

    /// Returns all claims found so far.
    pub fn finish(mut self) -> Claims {
        self.look();
        let mut claims = std::mem::take(&mut self.claims);
        self.read_logs(&mut claims);
        if let Some(at) = &self.at {
            served::look(at, self.before, &mut claims);
        }
        claims
    }

    fn read_logs(&self, claims: &mut Claims) {
        for (label, mut file) in self.logs.iter().map(|(label, file)| (label, file)) {
            let length = file.metadata().map_or(0, |meta| meta.len());
            let _ = file.seek(SeekFrom::Start(length.saturating_sub(MOST)));
            if length > MOST {
                claims.unread.push((label.clone(), say!("server-log-long", most = MOST >> 20)));
            }
            let mut bytes = Vec::new();
            if let Err(error) = file.take(MOST).read_to_end(&mut bytes) {
                claims.unread.push((label.clone(), error.message()));
            }
            of_log(label, &String::from_utf8_lossy(&bytes), claims);
        }
    }
}

/// Limited, because a process chooses the length of its command line and environment (prctl(2), PR_SET_MM_MAP): only
/// the first megabytes are read.
fn proc(pid: u32, name: &str) -> std::io::Result<Vec<u8>> {
    regular_file::start(Path::new(&format!("/proc/{pid}/{name}")), 4 << 20)
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// /proc lists children per thread; a process's children are those of all its threads.
fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()).collect()
}

/// Returns these processes and all their descendants.
pub fn tree(roots: Vec<u32>) -> BTreeSet<u32> {
    let (mut found, mut waiting) = (BTreeSet::new(), roots);
    while let Some(pid) = waiting.pop() {
        if found.insert(pid) {
            waiting.extend(children(pid));
        }
    }
    found
}

/// Layers of the model file as the process sees it.
fn blocks(pid: u32, model: &str) -> Option<u64> {
    let (dir, path) = (|place: &str| PathBuf::from(format!("/proc/{pid}/{place}")), Path::new(model));
    let opened = match path.is_absolute() {
        true => regular_file::open_in(&dir("root"), path),
        // A symlink could lead out of the directory. Without the file, only the number of layers is missing.
        false => regular_file::open_below(&dir("cwd"), path),
    };
    model_header(opened.ok()?)?.hyper("block_count")
}

/// A model's header, read in pieces of growing size; the weights after it are not read.
pub fn model_header(mut file: impl Read) -> Option<gguf::Gguf> {
    let (mut bytes, mut size) = (Vec::new(), 1 << 20);
    loop {
        file.by_ref().take(size - bytes.len() as u64).read_to_end(&mut bytes).ok()?;
        match gguf::Gguf::parse(&bytes) {
            Ok(header) => return Some(header),
            Err(gguf::Error::Truncated { .. }) if bytes.len() as u64 == size && size < MOST => size *= 4,
            Err(_) => return None,
        }
    }
}
