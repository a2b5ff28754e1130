//! Can a process of ours attach to one that is not its child?
//!
//! That is the case of every profiler that attaches. A parent may trace its child even under Yama's scope 1, so the
//! trial has two children: one sleeps, the other, its sibling, seizes it. PTRACE_SEIZE does not stop the tracee.

#![allow(unsafe_code, reason = "ptrace is a raw system call")]

use crate::trials::Trial;
use std::io;
use sys::child;
use sys::child::{Failure, Sleeper};

pub fn seize_sibling() -> Trial {
    let sleeper = match Sleeper::start() {
        Ok(sleeper) => sleeper,
        Err(error) => return Trial::refused("fork", &error),
    };
    let target = sleeper.pid();
    let null = std::ptr::null_mut::<libc::c_void>();
    let seize = move || {
        // SAFETY: PTRACE_SEIZE takes a pid and two words that are zero here; no memory is touched.
        let result = unsafe { libc::ptrace(libc::PTRACE_SEIZE, target, null, null) };
        if result == 0 { Ok(()) } else { Err(Failure::last(1)) }
    };
    match child::run(seize) {
        Ok(Ok(())) => Trial::worked("PTRACE_SEIZE"),
        Ok(Err(failure)) => Trial::refused("PTRACE_SEIZE", &io::Error::from_raw_os_error(failure.errno)),
        Err(error) => Trial::refused("fork", &error),
    }
}
