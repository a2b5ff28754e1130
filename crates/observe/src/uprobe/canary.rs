//! A known event: a child of ours maps the very file that carries the probes and calls its launch function.
//!
//! The call passes a null handle, so nothing can be launched; the runtime refuses it. What matters is that the probe is seen to
//! fire. The child is not waited for: it dies by itself, or with us.

#![allow(unsafe_code, reason = "fork and dlopen")]

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How often the child calls.
pub const CALLS: u64 = 3;

/// A child that makes the calls; reaped when this goes.
#[derive(Debug)]
pub struct Canary {
    pid: libc::pid_t,
}

/// A function that takes more arguments than any launch has registers for: all null.
pub type Call = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> i32;

impl Canary {
    /// `symbol`: a launch function that the library exports.
    pub fn start(library: &Path, symbol: &'static CStr) -> Option<Canary> {
        let path = CString::new(library.as_os_str().as_bytes()).ok()?;
        // SAFETY: the child makes calls that need no lock of ours: glibc makes malloc and the loader usable after fork.
        match unsafe { libc::fork() } {
            -1 => None,
            // SAFETY: see `child`.
            0 => unsafe { child(&path, symbol) },
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

/// SAFETY: runs in a fresh child and never returns; `symbol` takes at most eleven words and refuses null handles.
unsafe fn child(path: &CStr, symbol: &CStr) -> ! {
    const SECONDS: u32 = 20;
    // SAFETY: plain calls with live, NUL-terminated strings; the function's arguments are words.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::alarm(SECONDS);
        // A runtime may have things to say about a machine without a GPU.
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
        libc::dup2(null, 1);
        libc::dup2(null, 2);
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
        // The probes live as long as somebody has their descriptors, and a fork has them all: they must not outlive us here.
        libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0);
        if !library.is_null() {
            let found = libc::dlsym(library, symbol.as_ptr());
            if !found.is_null() {
                let call: Call = std::mem::transmute(found);
                for _ in 0..CALLS {
                    call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
                }
            }
        }
        libc::_exit(0)
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
