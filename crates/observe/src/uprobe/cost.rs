//! What a probed launch costs more than one without: a child of ours calls the launch function of the very file, with the probes in place and
//! again when they are gone, and tells what each took.
//!
//! The call passes a null handle, so nothing is launched, and what the runtime does with it is the same both times. It
//! is processor time of the calling thread, the kernel's part included, so that other programs on the machine do not count.

#![allow(unsafe_code, reason = "fork and dlopen")]

use super::canary::Call;
use std::ffi::{CStr, CString};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

const ROUNDS: u32 = 20;
const EACH: u32 = 200;
/// The real runtime looks for devices at its first call.
const PATIENCE: Duration = Duration::from_secs(5);

/// A child that has been asked for its first figure.
#[derive(Debug)]
pub struct Timing {
    pid: libc::pid_t,
    talk: UnixStream,
}

impl Timing {
    pub fn start(library: &Path, symbol: &'static CStr) -> Option<Timing> {
        let path = CString::new(library.as_os_str().as_bytes()).ok()?;
        let (talk, child) = UnixStream::pair().ok()?;
        talk.set_read_timeout(Some(PATIENCE)).ok()?;
        // SAFETY: the child makes calls that need no lock of ours: glibc makes malloc and the loader usable after fork.
        match unsafe { libc::fork() } {
            -1 => None,
            // SAFETY: see `time`.
            0 => unsafe { time(&path, symbol, child) },
            pid => Some(Timing { pid, talk }),
        }
    }

    /// Whether the figure is there: the ring is emptied meanwhile.
    pub fn is_ready(&self) -> bool {
        let mut fd = libc::pollfd { fd: std::os::fd::AsRawFd::as_raw_fd(&self.talk), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor on this stack.
        unsafe { libc::poll(&raw mut fd, 1, 5) > 0 }
    }

    /// Nanoseconds per call, as things are now; asks for the next figure.
    pub fn figure(&mut self) -> Option<f64> {
        let mut bytes = [0; 8];
        self.talk.read_exact(&mut bytes).ok()?;
        Some(f64::from_le_bytes(bytes))
    }

    pub fn again(&mut self) -> Option<f64> {
        self.talk.write_all(b"!").ok()?;
        self.figure()
    }
}

/// SAFETY: runs in a fresh child and never returns; `symbol` takes at most eleven words and refuses null handles.
unsafe fn time(path: &CStr, symbol: &CStr, mut talk: UnixStream) -> ! {
    // SAFETY: plain calls with live, NUL-terminated strings; the function's arguments are words.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::alarm(20);
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
        libc::dup2(null, 1);
        libc::dup2(null, 2);
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
        // The probes live as long as somebody has their descriptors, and a fork has them all.
        let (own, last) = (std::os::fd::AsRawFd::as_raw_fd(&talk).cast_unsigned(), u32::MAX);
        libc::syscall(libc::SYS_close_range, 3, own.saturating_sub(1), 0);
        libc::syscall(libc::SYS_close_range, own + 1, last, 0);
        let found = if library.is_null() { library } else { libc::dlsym(library, symbol.as_ptr()) };
        if !found.is_null() {
            let call: Call = std::mem::transmute(found);
            let many = |count: u32| {
                for _ in 0..count {
                    call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
                }
            };
            let mut ask = [0];
            loop {
                many(EACH);
                let mut best = f64::INFINITY;
                for _ in 0..ROUNDS {
                    let start = thread_time();
                    many(EACH);
                    best = best.min((thread_time() - start) / f64::from(EACH));
                }
                if talk.write_all(&best.to_le_bytes()).is_err() || talk.read_exact(&mut ask).is_err() {
                    break;
                }
            }
        }
        libc::_exit(0)
    }
}

/// Nanoseconds.
fn thread_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

impl Drop for Timing {
    fn drop(&mut self) {
        // SAFETY: our own child, not yet reaped, so its number cannot have been given to another.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}
