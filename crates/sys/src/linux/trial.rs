//! Trials in child processes: may we trace another process, and may we create namespaces?

use crate::child::{Failure, ask, sleeper};
use crate::fake;
use crate::namespaces::{change_root, deny_groups, map_groups, map_users, own_user_and_mounts};
use rustix::fs::{Mode, OFlags};
use std::io;
use std::path::Path;

/// The refused call and its error.
#[derive(Debug)]
pub struct Refused {
    pub call: &'static str,
    pub error: io::Error,
}

say::worded! { struct Refused { call, error } => "about-why" (what = call, why = error) }

fn refused(calls: &[&'static str]) -> impl Fn(Failure) -> Refused {
    move |failure| Refused {
        call: usize::from(failure.step).checked_sub(1).and_then(|step| calls.get(step)).copied().unwrap_or("the child"),
        error: io::Error::from_raw_os_error(failure.errno),
    }
}

fn no_child(error: io::Error) -> Refused {
    Refused { call: "fork", error }
}

/// One child process seizes another that is not its child.
///
/// Every profiler that attaches is in this situation. A parent may trace its child even under Yama's scope 1, a sibling
/// may not. PTRACE_SEIZE does not stop the tracee.
pub fn seize_sibling() -> Result<(), Refused> {
    let sleeper = sleeper().map_err(no_child)?;
    let target = sleeper.pid().cast_signed();
    let null = std::ptr::null_mut::<libc::c_void>();
    let seize = || {
        fake::outcome(fake::Call::Ptrace).map_err(Failure::at(1))?;
        // SAFETY: PTRACE_SEIZE takes a number and two words that are zero here; no memory is touched.
        let result = unsafe { libc::ptrace(libc::PTRACE_SEIZE, target, null, null) };
        if result == 0 { Ok(()) } else { Err(Failure::at(1)(io::Error::last_os_error())) }
    };
    // SAFETY: one system call.
    unsafe { ask(seize) }.map_err(no_child)?.map_err(refused(&["PTRACE_SEIZE"]))
}

/// A child process enters its own user and mount namespace, becomes root there, and changes its root.
///
/// Some systems refuse the first step, others allow it and refuse a later one (AppArmor on Ubuntu), so all are tried.
pub fn own_namespaces() -> Result<(), Refused> {
    const CALLS: [&str; 5] = [
        "unshare(CLONE_NEWUSER | CLONE_NEWNS)",
        "/proc/self/setgroups",
        "/proc/self/uid_map",
        "/proc/self/gid_map",
        "chroot",
    ];
    let uid_map = format!("0 {} 1", rustix::process::geteuid().as_raw());
    let gid_map = format!("0 {} 1", rustix::process::getegid().as_raw());
    let steps = || {
        own_user_and_mounts().map_err(Failure::at(1))?;
        deny_groups().map_err(Failure::at(2))?;
        map_users(uid_map.as_bytes()).map_err(Failure::at(3))?;
        map_groups(gid_map.as_bytes()).map_err(Failure::at(4))?;
        change_root(c"/").map_err(Failure::at(5))
    };
    // SAFETY: system calls on text that was made before.
    unsafe { ask(steps) }.map_err(no_child)?.map_err(refused(&CALLS))
}

/// Whether a device file opens for reading and writing. The open does not block, and the device does not become our
/// controlling terminal.
pub fn opens(path: &Path) -> io::Result<()> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty()).map(drop)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Call, fail};

    #[test]
    fn a_refusal_names_its_call() {
        let yama = fail(Call::Ptrace, libc::EPERM);
        let refused = seize_sibling().expect_err("refused");
        assert_eq!((refused.call, refused.error.raw_os_error()), ("PTRACE_SEIZE", Some(libc::EPERM)));
        drop(yama);
        let _limit = fail(Call::Unshare, libc::ENOSPC);
        let refused = own_namespaces().expect_err("refused");
        assert!(refused.call.starts_with("unshare("), "{refused}");
        assert_eq!(refused.error.raw_os_error(), Some(libc::ENOSPC));
    }
}
