//! Child processes that map a file and call a function in it, a few times or repeatedly while measuring the time.
//!
//! The called code runs in a separate process, like a started program; the caller vouches for the file as for a
//! program.

use crate::child::{Child, close_others, fork};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The maximum lifetime of such a child, in seconds.
const LONGEST: u32 = 20;

/// A function of a file: it takes up to eleven words, all null here, and returns an int.
#[derive(Debug, Clone, Copy)]
pub struct Function<'f> {
    pub file: BorrowedFd<'f>,
    /// Bytes to map.
    pub size: usize,
    /// The offset of the function in these bytes.
    pub at: usize,
}

type Entry = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> i32;

/// A child that makes this many calls and ends; it dies with this process.
pub fn call(function: Function<'_>, times: u64) -> io::Result<Child> {
    let work = || {
        // SAFETY: in a fresh child, which uses no descriptor any more.
        if let Some(entry) = unsafe { settle(function, []) } {
            for _ in 0..times {
                enter(entry);
            }
        }
    };
    // SAFETY: system calls, and code that has none of our locks.
    unsafe { fork(work) }
}

/// A child that times the function's calls once at the start, and then on request.
#[derive(Debug)]
pub struct Timing {
    _child: Child,
    talk: UnixStream,
}

impl Timing {
    /// Starts the child. Each figure that it reports is the fastest of `rounds` rounds, with `each` calls per round.
    pub fn start(function: Function<'_>, rounds: u32, each: u32) -> io::Result<Timing> {
        const PATIENCE: Duration = Duration::from_secs(5);
        let (talk, theirs) = UnixStream::pair()?;
        talk.set_read_timeout(Some(PATIENCE))?;
        // SAFETY: system calls, and code that has none of our locks.
        let child = unsafe { fork(|| time(function, &theirs, rounds, each)) }?;
        Ok(Timing { _child: child, talk })
    }

    /// Whether the figure is available; waits a few milliseconds.
    pub fn is_ready(&self) -> bool {
        let mut fd = libc::pollfd { fd: self.talk.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor on this stack.
        unsafe { libc::poll(&raw mut fd, 1, 5) > 0 }
    }

    /// Nanoseconds of CPU time per call, at the time of the request.
    pub fn figure(&mut self) -> Option<f64> {
        let mut bytes = [0; 8];
        self.talk.read_exact(&mut bytes).ok()?;
        Some(f64::from_le_bytes(bytes))
    }

    /// Requests another figure.
    pub fn again(&mut self) -> Option<f64> {
        self.talk.write_all(b"!").ok()?;
        self.figure()
    }
}

/// Runs in the child.
fn time(function: Function<'_>, talk: &UnixStream, rounds: u32, each: u32) {
    // SAFETY: a fresh child, which uses no other descriptor any more.
    let Some(entry) = (unsafe { settle(function, [talk.as_raw_fd().cast_unsigned()]) }) else { return };
    let many = || (0..each).for_each(|_| enter(entry));
    let mut ask = [0];
    loop {
        many();
        let mut best = f64::INFINITY;
        for _ in 0..rounds {
            let start = thread_time();
            many();
            best = best.min((thread_time() - start) / f64::from(each));
        }
        let mut talk = talk;
        if talk.write_all(&best.to_le_bytes()).is_err() || talk.read_exact(&mut ask).is_err() {
            return;
        }
    }
}

/// Nanoseconds of CPU time of this thread, including the kernel's part; independent of other programs on the machine.
fn thread_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn enter(entry: Entry) {
    // SAFETY: `settle` found the function in the file that the caller vouches for; it dereferences none of its
    // arguments.
    unsafe { entry(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) };
}

/// Makes a fresh child die with this process or after a time limit, maps the file (privately: a shared mapping has no
/// probes), and closes every descriptor but the standard ones and `keep`. Returns the function.
///
/// # Safety
/// Must be called in a fresh child that uses no other descriptors from here on.
unsafe fn settle<const N: usize>(function: Function<'_>, keep: [u32; N]) -> Option<Entry> {
    // SAFETY: numbers only.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // SAFETY: numbers only.
    unsafe { libc::alarm(LONGEST) };
    let (file, protection) = (function.file.as_fd().as_raw_fd(), libc::PROT_READ | libc::PROT_EXEC);
    // SAFETY: a new mapping at an address chosen by the kernel.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), function.size, protection, libc::MAP_PRIVATE, file, 0) };
    // SAFETY: guaranteed by the caller.
    unsafe { close_others(3, keep) };
    if base == libc::MAP_FAILED || function.at >= function.size {
        return None;
    }
    // SAFETY: within the mapping.
    let entry = unsafe { base.cast::<u8>().add(function.at) };
    // SAFETY: the caller of this module vouches for a function of this kind there.
    Some(unsafe { std::mem::transmute::<*mut u8, Entry>(entry) })
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use std::fs::File;

    /// `mov eax, 1; ret` after an empty page.
    fn library() -> File {
        let mut bytes = vec![0; 4096];
        bytes.extend([0xb8, 1, 0, 0, 0, 0xc3]);
        let made = rustix::fs::memfd_create("sys-test", rustix::fs::MemfdFlags::CLOEXEC).expect("memory");
        let mut file = File::from(made);
        file.write_all(&bytes).expect("written");
        file
    }

    #[test]
    fn calls_are_made_and_timed() {
        let file = library();
        let function = Function { file: file.as_fd(), size: 8192, at: 4096 };
        let mut child = call(function, 3).expect("a child");
        child.wait();
        assert!(child.is_over());
        let mut timing = Timing::start(function, 2, 10).expect("a child");
        assert!(timing.figure().is_some_and(|figure| figure.is_finite()));
        assert!(timing.again().is_some_and(|figure| figure.is_finite()));
    }

    #[test]
    fn a_function_outside_of_its_file_is_not_called() {
        let file = library();
        let function = Function { file: file.as_fd(), size: 4096, at: 4096 };
        assert_eq!(Timing::start(function, 1, 1).expect("a child").figure(), None, "it ended without a word");
    }
}
