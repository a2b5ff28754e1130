//! The file behind another process's mapping, independent of that process's root and mounts; and whether the probe on
//! it is in place there.

use crate::probes::recognise::{Recognised, recognise};
use crate::target::memory::Memory;
use crate::target::processes::{Mapping, Processes};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use sys::regular_file;
use sys::unix::AsRawFd;
use sys::unix::MetadataExt;

/// A mapped file, kept open: it stays this file even if its name later refers to another.
#[derive(Debug)]
pub struct Reached {
    file: File,
    /// The path as the process sees it.
    pub name: String,
}

impl Reached {
    /// The path under which this process and the kernel find it while this value lives.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }
}

/// Opens exactly the mapped file: through `map_files` if that is allowed; else by its name below the process's root,
/// which no symlink can leave (a chroot's own directory may be a prefix); by its name alone if the process has ended or
/// its root is not accessible. None if the file cannot be reached.
pub fn reachable(pid: u32, mapping: &Mapping) -> Option<Reached> {
    let plain = mapping.path.strip_suffix(" (deleted)").unwrap_or(&mapping.path);
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    let range = format!("/proc/{pid}/map_files/{:x}-{:x}", mapping.start, mapping.end);
    let same = |file: &File| file.metadata().is_ok_and(|meta| meta.ino() == mapping.inode);
    let by_range = || regular_file::open(Path::new(&range)).ok().filter(same);
    let by_name = |path: &str| regular_file::open_in(&root, Path::new(path)).ok().filter(same);
    let below = || {
        let link = fs::read_link(&root).ok()?;
        by_name(plain.strip_prefix(link.to_str()?).filter(|rest| rest.starts_with('/'))?)
    };
    let alone = || match fs::metadata(&root) {
        Ok(_) => None,
        Err(_) => regular_file::open_unlinked(Path::new(plain)).ok().filter(same),
    };
    let file = by_range().or_else(|| by_name(plain)).or_else(below).or_else(alone)?;
    Some(Reached { file, name: mapping.path.clone() })
}

/// Whether the process's memory differs from the file at a probe's site: a breakpoint, or a call in place of a nop.
/// None if it cannot be read, or if the mapping does not contain the site. This does not execute any code in the
/// process.
pub fn planted(pid: u32, mapping: &Mapping, at: u64, original: &[u8]) -> Option<bool> {
    let inside = at.checked_sub(mapping.offset).filter(|from| *from < mapping.end.saturating_sub(mapping.start))?;
    let there = Memory::open(pid).ok()?.bytes(mapping.start.checked_add(inside)?, 1);
    Some(there.first()? != original.first()?)
}

/// The file that a process has mapped under this path.
pub fn mapped(pid: u32, path: &str) -> Option<Reached> {
    let mut processes = Processes::without();
    processes.join(pid, &mut Vec::new());
    processes.mapped(pid).iter().filter(|mapping| mapping.path == path).find_map(|mapping| reachable(pid, mapping))
}

/// The GPU runtimes that a process has mapped.
pub fn runtimes_of(pid: u32) -> Vec<Reached> {
    let mut processes = Processes::without();
    processes.join(pid, &mut Vec::new());
    let reached = processes.mapped(pid).iter().filter_map(|mapping| Some((mapping.name(), reachable(pid, mapping)?)));
    let launches =
        |name: &str, file: &Reached| matches!(recognise(name, &file.path()), Recognised::Home(home) if home.launches());
    reached.filter(|(name, file)| launches(name, file)).map(|(_, file)| file).collect()
}
