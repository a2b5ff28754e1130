//! The kernel's counts at the last look of a machine-wide watch.

use crate::bpf::wire::Key;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// Calls, and those of them that were rejected.
    pub counts: HashMap<Key, (u64, u64)>,
    pub lost: u64,
    /// Records of processes were lost since /proc was searched.
    scan: bool,
    scanned: Option<Instant>,
}

/// The interval between searches of /proc, if records were lost: reading the mappings of every process is slow.
const RESCAN: Duration = Duration::from_secs(10);

impl Looked {
    /// Whether to search /proc now. `lost`: records were lost since the last call.
    pub fn must_scan(&mut self, lost: bool) -> bool {
        self.scan |= lost;
        let now = self.scan && self.scanned.is_none_or(|at| at.elapsed() >= RESCAN);
        if now {
            (self.scan, self.scanned) = (false, Some(Instant::now()));
        }
        now
    }

    pub fn forget(&mut self, ended: &HashSet<u32>) {
        self.counts.retain(|key, _| !ended.contains(&key.tgid));
    }
}
