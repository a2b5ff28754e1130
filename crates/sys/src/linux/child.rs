//! A child process that runs one of our functions instead of a program: the only fork in the workspace.
//!
//! When a threaded process forks, another thread may hold a lock, so the child may only make system calls on memory
//! that was prepared before (signal-safety(7)). Types cannot express that, so all code that runs there is in this
//! crate.

use crate::fake;
use say::say;
use std::io::{self, Read};

/// A child process: killed and reaped when dropped, so that its id cannot be reused meanwhile.
#[derive(Debug)]
pub struct Child {
    pid: libc::pid_t,
    reaped: bool,
}

impl Child {
    pub fn pid(&self) -> u32 {
        self.pid.cast_unsigned()
    }

    /// Whether the child has ended.
    pub fn is_over(&self) -> bool {
        if self.reaped {
            return true;
        }
        // SAFETY: a siginfo_t is numbers, for which zeroes are valid.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: the kernel writes one siginfo_t; WNOWAIT leaves the child to be reaped later.
        let asked = unsafe { libc::waitid(libc::P_PID, self.pid(), &raw mut info, flags) };
        // SAFETY: waitid fills in this part for a child that ended, and leaves it zero otherwise.
        asked != 0 || unsafe { info.si_pid() } != 0
    }

    /// Waits until the child ends.
    pub fn wait(&mut self) {
        while !self.reaped {
            // SAFETY: no pointers; the child is ours and not yet reaped.
            let waited = unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
            self.reaped = waited >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted;
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped {
            // SAFETY: no pointers. The pid is that of our own child, which is not reaped yet, so it cannot have been
            // reused.
            unsafe { libc::kill(self.pid, libc::SIGKILL) };
            self.wait();
        }
    }
}

/// Forks; the child does `work` and ends.
///
/// # Safety
/// `work` makes system calls on memory from before the fork or on its own stack. It neither allocates nor locks.
pub(crate) unsafe fn fork(work: impl FnOnce()) -> io::Result<Child> {
    /// A panic in the child must not continue as a second copy of this process.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            // SAFETY: `_exit` ends the process without running any other code of it.
            unsafe { libc::_exit(0) }
        }
    }
    fake::outcome(fake::Call::Fork)?;
    // SAFETY: the caller guarantees that the child makes only permitted calls; it never returns from here.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let end = End;
            work();
            drop(end);
            unreachable!("the process has ended")
        }
        pid => Ok(Child { pid, reaped: false }),
    }
}

/// A child that sleeps until it is killed, and dies with this process.
pub(crate) fn sleeper() -> io::Result<Child> {
    let sleep = || {
        // SAFETY: numbers only.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        loop {
            // SAFETY: no arguments.
            unsafe { libc::pause() };
        }
    };
    // SAFETY: two system calls without memory.
    unsafe { fork(sleep) }
}

/// Which step in the child failed, counted from 1, and its errno.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) step: u8,
    pub(crate) errno: i32,
}

impl Failure {
    pub(crate) fn at(step: u8) -> impl FnOnce(io::Error) -> Failure {
        move |error| Failure { step, errno: error.raw_os_error().unwrap_or(0) }
    }
}

/// Runs `work` in a child and returns its result, which is sent through a pipe as five bytes.
///
/// # Safety
/// The same conditions as for [`fork`] apply.
pub(crate) unsafe fn ask(work: impl FnOnce() -> Result<(), Failure>) -> io::Result<Result<(), Failure>> {
    let (mut reader, writer) = io::pipe()?;
    let answer = || {
        let failure = work().err().unwrap_or(Failure { step: 0, errno: 0 });
        let [a, b, c, d] = failure.errno.to_ne_bytes();
        let _ = rustix::io::write(&writer, &[failure.step, a, b, c, d]);
    };
    // SAFETY: the caller guarantees it for `work`; the rest is one write from this stack.
    let mut child = unsafe { fork(answer) }?;
    drop(writer);
    let mut bytes = [0_u8; 5];
    let read = reader.read_exact(&mut bytes);
    child.wait();
    read.map_err(|_| io::Error::other(say!("sys-child-ended")))?;
    let [step, errno @ ..] = bytes;
    Ok(if step == 0 { Ok(()) } else { Err(Failure { step, errno: i32::from_ne_bytes(errno) }) })
}

/// Closes every descriptor from `first` on except those in `keep`: a fork inherits all of them. A probe exists until
/// its last descriptor is closed, and the reader of a pipe waits until all writers have closed it.
///
/// # Safety
/// Must be called in a fresh child that no longer uses these descriptors.
pub(crate) unsafe fn close_others<const N: usize>(first: u32, mut keep: [u32; N]) {
    keep.sort_unstable();
    let mut from = first;
    for kept in keep {
        if kept > from {
            // SAFETY: guaranteed by the caller.
            unsafe { close_range(from, kept - 1) };
        }
        from = from.max(kept.saturating_add(1));
    }
    // SAFETY: guaranteed by the caller.
    unsafe { close_range(from, u32::MAX) };
}

/// # Safety
/// The same conditions as for [`close_others`] apply.
unsafe fn close_range(first: u32, last: u32) {
    /// The usual limit of descriptors, for kernels before 5.9.
    const MOST: u32 = 1024;
    // SAFETY: numbers only; the caller uses none of these descriptors.
    if unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } != 0 {
        for descriptor in first..=last.min(MOST) {
            // SAFETY: as above.
            unsafe { libc::close(descriptor.cast_signed()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Call, fail};
    use std::os::fd::{AsFd, AsRawFd};

    #[test]
    fn success_and_failure_come_back() {
        // SAFETY: no work at all.
        assert_eq!(unsafe { ask(|| Ok(())) }.unwrap(), Ok(()));
        let failure = Failure { step: 3, errno: libc::EPERM };
        // SAFETY: as above.
        assert_eq!(unsafe { ask(|| Err(failure)) }.unwrap(), Err(failure));
    }

    #[test]
    fn a_child_that_dies_before_its_answer_is_no_success() {
        // SAFETY: one system call.
        let answer = unsafe {
            ask(|| {
                libc::kill(libc::getpid(), libc::SIGKILL);
                Ok(())
            })
        };
        assert_eq!(answer.unwrap_err().to_string(), "the child process ended before it could answer");
    }

    #[test]
    fn a_process_too_many_is_an_error() {
        let _full = fail(Call::Fork, libc::EAGAIN);
        assert_eq!(sleeper().unwrap_err().raw_os_error(), Some(libc::EAGAIN));
    }

    #[test]
    fn a_sleeper_ends_with_its_owner() {
        let sleeper = sleeper().unwrap();
        let pid = sleeper.pid();
        assert!(!sleeper.is_over());
        drop(sleeper);
        assert!(!std::path::Path::new("/proc").join(pid.to_string()).exists());
    }

    #[test]
    fn what_is_kept_stays_open_and_nothing_else() {
        let files: Vec<std::fs::File> = (0..4).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
        let numbers: Vec<u32> = files.iter().map(|file| file.as_raw_fd().cast_unsigned()).collect();
        let [a, b, c, d] = numbers[..] else { panic!("four files") };
        let (mut reader, writer) = io::pipe().unwrap();
        let told = writer.as_raw_fd().cast_unsigned();
        let work = || {
            // SAFETY: the child uses only the descriptors that it keeps.
            unsafe { close_others(3, [c, told, a]) };
            // SAFETY: numbers only; whether they are open is the question.
            let open = [a, b, c, d].map(|fd| u8::from(unsafe { libc::fcntl(fd.cast_signed(), libc::F_GETFD) } >= 0));
            let _ = rustix::io::write(writer.as_fd(), &open);
        };
        // SAFETY: system calls on this stack.
        let mut child = unsafe { fork(work) }.unwrap();
        let mut open = [9; 4];
        reader.read_exact(&mut open).unwrap();
        child.wait();
        assert_eq!(open, [1, 0, 1, 0]);
    }
}
