//! Running a few system calls in a forked child and hearing how they went.

#![allow(unsafe_code, reason = "fork, waitpid and pipes have no safe form that runs code in the child")]

use std::io;

/// Where in the child it failed, and with which errno.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    pub stage: u8,
    pub errno: i32,
}

impl Failure {
    pub fn last(stage: u8) -> Failure {
        Failure { stage, errno: io::Error::last_os_error().raw_os_error().unwrap_or(0) }
    }
}

/// A child that was killed and reaped when this goes out of scope.
#[derive(Debug)]
pub struct Sleeper(libc::pid_t);

impl Sleeper {
    /// A child that sleeps until it is killed, and dies with us.
    pub fn start() -> io::Result<Sleeper> {
        // SAFETY: the child calls only async-signal-safe functions and never returns.
        let pid = unsafe { libc::fork() };
        match pid {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                // SAFETY: plain system calls without pointers.
                unsafe {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                    loop {
                        libc::pause();
                    }
                }
            }
            pid => Ok(Sleeper(pid)),
        }
    }

    pub fn pid(&self) -> libc::pid_t {
        self.0
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        // SAFETY: the pid is our own child's, not yet reaped, so it cannot have been reused.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, std::ptr::null_mut(), 0);
        }
    }
}

/// Forks, runs `work` in the child, and returns what it returned.
///
/// `work` runs after a fork of what may be a threaded process: it must make system calls only, and neither allocate
/// nor lock. The stage and errno of a failure come back through a pipe, five bytes.
pub fn run(work: impl FnOnce() -> Result<(), Failure>) -> io::Result<Result<(), Failure>> {
    let mut ends = [0; 2];
    // SAFETY: `ends` is an array of two ints, as pipe2 wants.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let [reader, writer] = ends;
    // SAFETY: the child runs `work`, which makes system calls only, writes five bytes and exits without unwinding.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let failure = work().err().unwrap_or(Failure { stage: 0, errno: 0 });
        let mut bytes = [failure.stage; 5];
        for (to, from) in bytes.iter_mut().skip(1).zip(failure.errno.to_ne_bytes()) {
            *to = from;
        }
        // SAFETY: `bytes` lives on this stack; _exit ends the child without running anything else.
        unsafe {
            libc::write(writer, bytes.as_ptr().cast(), bytes.len());
            libc::_exit(0)
        }
    }
    // SAFETY: the descriptors are ours; `bytes` has room for what is read; the child is ours to reap.
    unsafe {
        libc::close(writer);
        let mut bytes = [0_u8; 5];
        let read = if pid < 0 { -1 } else { libc::read(reader, bytes.as_mut_ptr().cast(), bytes.len()) };
        let error = io::Error::last_os_error();
        libc::close(reader);
        if pid < 0 {
            return Err(error);
        }
        libc::waitpid(pid, std::ptr::null_mut(), 0);
        if read != 5 {
            return Err(io::Error::other("the child ended before it could answer"));
        }
        let [stage, errno @ ..] = bytes;
        Ok(if stage == 0 { Ok(()) } else { Err(Failure { stage, errno: i32::from_ne_bytes(errno) }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_and_failure_come_back() {
        assert_eq!(run(|| Ok(())).unwrap(), Ok(()));
        let failure = Failure { stage: 3, errno: libc::EPERM };
        assert_eq!(run(|| Err(failure)).unwrap(), Err(failure));
    }
}
