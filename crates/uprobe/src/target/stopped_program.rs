//! Handles a stopped program: reads and probes its new mappings, and resumes it.

use crate::probes::attached::Attached;
use crate::target::stop_on_map::Hold;
use crate::watcher::Watcher;
use std::fs;
use std::time::{Duration, Instant};
use watch::WatchError;

/// How long a thread may take to stop: a thread that waits in a driver is not waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The state of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Still,
    Gone,
    NotYet,
}

fn stands(pid: u32, thread: u32) -> Stands {
    let stat = fs::read_to_string(format!("/proc/{pid}/task/{thread}/stat")).unwrap_or_default();
    match stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()) {
        Some('T' | 't') => Stands::Still,
        None | Some('Z' | 'X') => Stands::Gone,
        Some(_) => Stands::NotYet,
    }
}

/// The same, after the thread has had time to stop.
fn settled(pid: u32, thread: u32) -> Stands {
    let until = Instant::now() + PATIENCE;
    loop {
        match stands(pid, thread) {
            Stands::NotYet if Instant::now() < until => std::thread::sleep(Duration::from_micros(50)),
            how => return how,
        }
    }
}

impl Watcher {
    /// Handles every stopped thread: reads and probes its new mappings, and resumes it.
    pub(crate) fn see_to_held(&mut self) -> Result<(), WatchError> {
        let Some(hold) = &self.attached.hold else { return Ok(()) };
        let stopped = hold.stopped();
        if stopped.is_empty() {
            return Ok(());
        }
        // A thread's mappings are in the kernel's records once it has stopped.
        for (pid, thread) in &stopped {
            settled(*pid, *thread);
        }
        let mut happened = Vec::new();
        self.resolver.processes.poll(&mut happened);
        let taken = self.take(happened);
        // A thread that received a pointer stays stopped until the function behind it has a probe.
        self.drain();
        // Also after an error: no thread may stay stopped.
        if let Some(hold) = &self.attached.hold {
            hold.go_on(&stopped);
        }
        taken
    }
}

impl Attached {
    /// Whether a process that has just mapped a file has not run since: it was stopped, and continues only when we
    /// resume it.
    pub(crate) fn stands_still(&self, pid: u32) -> bool {
        let stopped = self.hold.iter().flat_map(Hold::stopped).filter(|(process, _)| *process == pid);
        stopped.into_iter().any(|(_, thread)| settled(pid, thread) == Stands::Still)
    }
}
