//! A known event: a child of ours calls a function of ours that carries the same probe as the target's launch function.
//!
//! It shows that this kernel runs that very program under a probe of that kind and that its event reaches us. That the probe in the target's
//! file fires it does not show; that it is in place there is read from the target's memory (`planted`). The child maps a file of ours
//! and runs no byte of anybody else's; it is not waited for: it dies by itself, or with us.

#![allow(unsafe_code, reason = "fork, mmap, and a call of the code that was mapped")]

use crate::probes::stub::Stub;

/// How often the child calls.
pub const CALLS: u64 = 3;
/// Nothing that a child of ours does takes longer, in seconds.
const LONGEST: u32 = 20;

/// A child that makes the calls; reaped when this goes.
#[derive(Debug)]
pub struct Canary {
    pid: libc::pid_t,
}

/// A function that takes more arguments than any launch has registers for: all null.
pub type Call = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> i32;

impl Canary {
    pub fn start(stub: &Stub) -> Option<Canary> {
        let file = stub.descriptor();
        // SAFETY: the child makes system calls and calls our own code; it neither allocates nor locks.
        match unsafe { libc::fork() } {
            -1 => None,
            // SAFETY: see `settle`; the function takes words and ignores them.
            0 => unsafe {
                if let Some(call) = settle(file, None) {
                    for _ in 0..CALLS {
                        call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
                    }
                }
                libc::_exit(0)
            },
            pid => Some(Canary { pid }),
        }
    }

    /// Whether it has made its calls, or could not.
    pub fn is_over(&self) -> bool {
        // SAFETY: zeroes are a valid siginfo_t; WNOWAIT leaves the child to be reaped by `drop`.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let id = self.pid.cast_unsigned();
            let asked = libc::waitid(libc::P_PID, id, &raw mut info, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT);
            asked != 0 || info.si_pid() != 0
        }
    }

    pub fn pid(&self) -> u32 {
        self.pid.cast_unsigned()
    }
}

/// Makes a fresh child die with us, maps the stub's file (privately: a shared mapping carries no probes), and closes every descriptor
/// but `keep`: probes live as long as somebody has theirs, and a fork has them all. Returns the function.
///
/// SAFETY: for a fresh child alone; `file` is a stub's.
pub unsafe fn settle(file: i32, keep: Option<i32>) -> Option<Call> {
    let (size, at) = Stub::extent();
    // SAFETY: system calls without pointers but the new mapping's, which holds the function at `at`.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::alarm(LONGEST);
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        let base = libc::mmap(std::ptr::null_mut(), size, protection, libc::MAP_PRIVATE, file, 0);
        let own = keep.map_or(2, i32::cast_unsigned);
        if own > 3 {
            libc::syscall(libc::SYS_close_range, 3, own - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, own + 1, u32::MAX, 0);
        (base != libc::MAP_FAILED).then(|| std::mem::transmute::<*mut u8, Call>(base.cast::<u8>().add(at)))
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        // SAFETY: our own child, not yet reaped, so its number cannot have been given to another.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}
