//! Least privilege: a watch keeps the capabilities that it needs and gives up all others before the first thread
//! starts.
//!
//! Libraries that a target opens later are probed too, so a watch needs the same capabilities until its end.
//! Capabilities belong to a thread and are inherited by threads it starts: giving them up later would not affect
//! existing threads.

use rustix::thread::{self, CapabilitySet, CapabilitySets};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A capability that is kept, and its purpose.
pub type Kept = (CapabilitySet, &'static str);

/// A watch is impossible without these.
pub const NEEDED: [Kept; 2] = [
    (CapabilitySet::BPF, "maps, and the programs under the probes"),
    (CapabilitySet::PERFMON, "programs that read a process's memory; the kernel's account of processes and mappings"),
];

/// Without these a watch of another user's process sees less, which is reported.
pub const WANTED: [Kept; 3] = [
    (CapabilitySet::SYS_PTRACE, "/proc/PID/root, mem and exe of another user's process"),
    (CapabilitySet::DAC_READ_SEARCH, "/proc/PID/fd, and libraries in directories that only their user may enter"),
    (CapabilitySet::CHECKPOINT_RESTORE, "/proc/PID/map_files: the very file that is mapped"),
];

/// Instead of BPF (`--how perf`).
pub const PERF: [Kept; 2] = [
    (CapabilitySet::SYS_ADMIN, "the uprobe PMU asks for it (kernel/events/core.c, since 2025-07)"),
    (CapabilitySet::IPC_LOCK, "buffers beyond kernel.perf_event_mlock_kb"),
];

/// A capability for a program that the watch starts (`-- COMMAND`).
pub const STARTS: [Kept; 1] =
    [(CapabilitySet::KILL, "letting a program go on that is held at a mapping, when it has become another user's")];

/// The capabilities that a watch keeps. `writes`: files that it will write; a file in another user's directory needs a capability
/// too.
pub fn kept(bpf: bool, starts: bool, writes: &[PathBuf]) -> CapabilitySet {
    let own = if bpf { NEEDED.as_slice() } else { &PERF };
    let mut set: CapabilitySet = own.iter().chain(&WANTED).map(|(right, _)| *right).collect();
    set |= CapabilitySet::PERFMON;
    if starts {
        set |= STARTS.iter().map(|(right, _)| *right).collect();
    }
    if writes.iter().any(|path| !is_ours(path)) {
        set |= CapabilitySet::DAC_OVERRIDE;
    }
    set
}

/// Gives up all other capabilities, in this thread and those that it will start. Programs that are executed cannot
/// regain them, unless the user's program is to be started, which keeps its rights.
pub fn keep(set: CapabilitySet, starts: bool) -> io::Result<()> {
    let now = thread::capabilities(None)?;
    if !starts {
        if now.effective.contains(CapabilitySet::SETPCAP) {
            for right in CapabilitySet::all().iter().filter(|right| !set.contains(*right)) {
                // The kernel does not know every bit that the library can name.
                let _ = thread::remove_capability_from_bounding_set(right);
            }
        }
        thread::set_no_new_privs(true)?;
    }
    let left = now.permitted & set;
    let sets = CapabilitySets { effective: now.effective & set, permitted: left, inheritable: CapabilitySet::empty() };
    Ok(thread::set_capabilities(None, sets)?)
}

/// Whether we own the file's directory, or its nearest existing parent.
fn is_ours(path: &Path) -> bool {
    let us = rustix::process::geteuid().as_raw();
    let there = path.ancestors().find_map(|dir| std::fs::metadata(dir).ok());
    there.is_none_or(|meta| meta.uid() == us)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_of_another_users_takes_a_right_more() {
        let plain = kept(true, false, &[PathBuf::from("/proc/self/x")]);
        assert_eq!(plain.bits().count_ones(), 5, "{plain:?}");
        if rustix::process::geteuid().is_root() {
            let dir = tempfile::tempdir().expect("a directory");
            std::os::unix::fs::chown(dir.path(), Some(65534), None).expect("given away");
            assert!(kept(true, false, &[dir.path().join("a/b")]).contains(CapabilitySet::DAC_OVERRIDE));
        }
        assert!(!kept(false, false, &[]).contains(CapabilitySet::BPF));
    }
}
