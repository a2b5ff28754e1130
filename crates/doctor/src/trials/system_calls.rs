//! Whether the kernel allows the system calls that observers need.

use crate::trials::Trial;
use sys::bpf::{self, Use};
use sys::perf_event::{Attr, Event, bit};

/// `r0 = 1; exit` lets the event pass. (A program that returns 0 would filter it, and nothing would be counted.)
const PASS: [u64; 2] = [0x0000_0001_0000_00b7, 0x0000_0000_0000_0095];
const SOFTWARE: u32 = 1;
const TASK_CLOCK: u64 = 1;

/// bpf(2): whether we may load a program of the kind that runs on a uprobe.
pub fn load_bpf_program() -> Trial {
    match bpf::load(&PASS, Use::Event) {
        Ok(_) => Trial::worked("BPF_PROG_LOAD"),
        Err(error) => Trial::refused("bpf(BPF_PROG_LOAD)", &error),
    }
}

/// perf_event_open(2), with the simplest event. Kernel time is not counted, as `perf_event_paranoid` 2 requires.
pub fn count_own_time() -> Trial {
    let attr = Attr { kind: SOFTWARE, config: TASK_CLOCK, flags: bit::EXCLUDE_KERNEL, ..Attr::default() };
    match Event::open(&attr, 0, -1).and_then(|event| event.hits()) {
        Ok(nanoseconds) => Trial::worked(format!("task-clock {nanoseconds} ns")),
        Err(error) => Trial::refused("perf_event_open", &error),
    }
}

/// Whether one of our processes can attach to a process that is not its child.
pub fn seize_sibling() -> Trial {
    match sys::trial::seize_sibling() {
        Ok(()) => Trial::worked("PTRACE_SEIZE"),
        Err(refused) => Trial::refused(refused.call, &refused.error),
    }
}

/// Whether an unprivileged process may have its own user and mount namespace, map itself to root there and chroot. The
/// dry run enters an unpacked distribution in this way.
pub fn enter_own_namespaces() -> Trial {
    match sys::trial::own_namespaces() {
        Ok(()) => Trial::worked("unshare, uid_map, chroot"),
        Err(refused) => Trial::refused(refused.call, &refused.error),
    }
}
