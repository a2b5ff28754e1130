//! What a probed launch costs more than one without: a child of ours calls a function of ours (`stub`), with the same probe in place as the
//! target's launch function has and again when it is gone, and tells what each took.
//!
//! The instruction under the probe sets the price, and is of the same kind; what the runtime itself does is not part of the difference. It
//! is processor time of the calling thread, the kernel's part included, so that other programs on the machine do not count.

#![allow(unsafe_code, reason = "fork, and a call of the code that was mapped")]

use crate::probes::canary::settle;
use crate::probes::stub::Stub;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

const ROUNDS: u32 = 20;
const EACH: u32 = 200;
const PATIENCE: Duration = Duration::from_secs(5);

/// A child that has been asked for its first figure.
#[derive(Debug)]
pub struct Timing {
    pid: libc::pid_t,
    talk: UnixStream,
}

impl Timing {
    pub fn start(stub: &Stub) -> Option<Timing> {
        let (talk, child) = UnixStream::pair().ok()?;
        talk.set_read_timeout(Some(PATIENCE)).ok()?;
        let file = stub.descriptor();
        // SAFETY: the child makes system calls and calls our own code; it neither allocates nor locks.
        match unsafe { libc::fork() } {
            -1 => None,
            // SAFETY: see `time`.
            0 => unsafe { time(file, child) },
            pid => Some(Timing { pid, talk }),
        }
    }

    /// Whether the figure is there: the ring is emptied meanwhile.
    pub fn is_ready(&self) -> bool {
        let mut fd = libc::pollfd { fd: self.talk.as_raw_fd(), events: libc::POLLIN, revents: 0 };
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

/// SAFETY: runs in a fresh child and never returns; `file` is a stub's.
unsafe fn time(file: i32, mut talk: UnixStream) -> ! {
    // SAFETY: see `settle`; the function takes words and ignores them.
    unsafe {
        if let Some(call) = settle(file, Some(talk.as_raw_fd())) {
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
