//! The libraries that a process has loaded, and the edge that loaded each of them: rung Loaded.
//!
//! Reads only `/proc/PID`; it attaches to nothing, and stops and runs nothing. Files are opened through
//! `/proc/PID/root`, so that the libraries are those that the process sees in its container or chroot. A file that was
//! deleted or replaced since is opened through `map_files`, if the system allows it. Unreadable files are reported.

mod backend;
mod conclusions;
mod loaded;
mod maps;
mod observer;
mod record;

pub use crate::process::backend::VulkanStack;
pub use crate::process::loaded::{Loaded, Origin};
pub use crate::process::maps::Mapped;
pub use crate::process::observer::ProcessMaps;

use runtime::linkage::{Chain, FileAt, Inside, Search};
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use sys::regular_file;
use sys::unix::MetadataExt;

#[derive(Debug)]
pub enum ProcessError {
    Gone { pid: u32 },
    Refused { pid: u32, name: String, what: &'static str },
    Io { pid: u32, what: &'static str, source: io::Error },
    Empty { pid: u32, name: String },
}

say::worded! { ProcessError {
    Gone { pid } => "observe-process-gone",
    Refused { pid, name, what } => "observe-process-refused",
    Io { pid, what, source } => "observe-process-io",
    Empty { pid, name } => "observe-process-empty",
}}

/// A process as shown by /proc at one moment.
#[derive(Debug)]
pub struct Process {
    pub pid: u32,
    pub name: String,
    pub program: PathBuf,
    pub library_path: String,
    pub preload: Vec<String>,
    /// The loaded libraries, in address order.
    pub libraries: Vec<Loaded>,
    /// kpack archives that it has open or mapped; the runtime keeps each one open after its first use.
    pub archives: Vec<PathBuf>,
    /// GPU device files that the process has open.
    pub devices: Vec<String>,
    /// The loader's chain; libraries that the program opened itself are further starting points.
    pub chain: Chain,
    /// The text of `maps`, the raw evidence.
    pub maps: String,
}

impl Process {
    pub fn read(pid: u32) -> Result<Process, ProcessError> {
        let dir = PathBuf::from(format!("/proc/{pid}"));
        let name = text(&dir, "comm").map_err(|_| ProcessError::Gone { pid })?.trim().to_owned();
        let fail = |what: &'static str| {
            let name = name.clone();
            move |source: io::Error| match source.kind() {
                io::ErrorKind::PermissionDenied => ProcessError::Refused { pid, name, what },
                io::ErrorKind::NotFound => ProcessError::Gone { pid },
                _ => ProcessError::Io { pid, what, source },
            }
        };
        let maps = text(&dir, "maps").map_err(fail("maps"))?;
        let mapped = maps::parse(&maps);
        if mapped.is_empty() {
            return Err(ProcessError::Empty { pid, name });
        }
        let program = fs::read_link(dir.join("exe")).map_err(fail("exe"))?;
        let environ = regular_file::start(&dir.join("environ"), MOST).map_err(fail("environ"))?;
        let library_path = variable(&environ, "LD_LIBRARY_PATH").unwrap_or_default();
        let preload = variable(&environ, "LD_PRELOAD").unwrap_or_default();
        let preload: Vec<String> =
            preload.split([' ', ':']).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let view = View::new(&dir, &mapped);
        let program = view.inside(&program);
        let search = Search::new(Inside::new(dir.join("root")), &library_path);
        let mut chain = Chain::of(&search, &program, &preload);
        let libraries = loaded::explain(&view, &search, &mut chain, &mapped, &program);
        let archives = archives(&dir, &view, &mapped);
        let devices = backend::devices(&dir);
        Ok(Process { pid, name, program, library_path, preload, libraries, archives, devices, chain, maps })
    }

    /// ROCm releases of the loaded libraries, if there is more than one. Mixed stacks fail in misleading ways.
    pub fn mixed_releases(&self) -> Vec<(String, Vec<&Loaded>)> {
        let mut out: Vec<(String, Vec<&Loaded>)> = Vec::new();
        for library in &self.libraries {
            let Some(release) = &library.release else { continue };
            match out.iter_mut().find(|(known, _)| known == release) {
                Some((_, list)) => list.push(library),
                None => out.push((release.clone(), vec![library])),
            }
        }
        out.sort_by(|a, b| a.0.cmp(&b.0));
        if out.len() > 1 { out } else { Vec::new() }
    }
}

/// Translates paths in the process's maps to paths that can be opened here.
#[derive(Debug)]
pub(crate) struct View {
    dir: PathBuf,
    root: Inside,
    /// The prefix of every path in maps if the process changed its root: maps shows paths relative to the mount, not to
    /// the root.
    prefix: Option<PathBuf>,
}

impl View {
    fn new(dir: &Path, mapped: &[Mapped]) -> View {
        let root = Inside::new(dir.join("root"));
        let mut view = View { dir: dir.to_owned(), root, prefix: None };
        // For a process in a chroot, the root link names the directory as seen in its mount namespace.
        if let Ok(link) = fs::read_link(dir.join("root"))
            && link != Path::new("/")
            && mapped.iter().any(|file| file.path.starts_with(&link))
        {
            view.prefix = Some(link);
        }
        view
    }

    /// The path that the process itself would use.
    pub fn inside(&self, path: &Path) -> PathBuf {
        let cut = self.prefix.as_ref().and_then(|prefix| path.strip_prefix(prefix).ok());
        cut.map_or_else(|| path.to_owned(), |rest| Path::new("/").join(rest))
    }

    /// The mapped file itself: by its path if that is still the same file, else through `map_files`.
    pub fn open(&self, file: &Mapped) -> io::Result<FileAt> {
        if !file.deleted
            && let Ok(handle) = self.root.open(&self.inside(&file.path))
            && handle.metadata().is_ok_and(|meta| meta.ino() == file.inode)
        {
            return FileAt::new(handle);
        }
        regular_file::open(&self.dir.join("map_files").join(&file.range)).and_then(FileAt::new)
    }
}

/// Finds archives by name only; nothing is opened.
fn archives(dir: &Path, view: &View, mapped: &[Mapped]) -> Vec<PathBuf> {
    let open = fs::read_dir(dir.join("fd")).into_iter().flatten().flatten();
    let open = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    let all = open.chain(mapped.iter().map(|file| file.path.clone()));
    let mut found: Vec<PathBuf> = all
        .filter(|path| path.extension().is_some_and(|extension| extension == "kpack"))
        .map(|path| view.inside(&path))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// A limit, because a process chooses the length of its environment and its list of mappings (prctl(2), PR_SET_MM_MAP).
const MOST: u64 = 64 << 20;

fn text(dir: &Path, name: &str) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&regular_file::whole(&dir.join(name), MOST)?).into_owned())
}

fn variable(environ: &[u8], name: &str) -> Option<String> {
    let entries = environ.split(|byte| *byte == 0).filter_map(|entry| std::str::from_utf8(entry).ok());
    entries.filter_map(|entry| entry.split_once('=')).find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
}
