//! Whoever is left behind: if we are killed, the program that we started is ended with all of its group.
//!
//! A small process of ours holds one end of a pipe and does nothing; when the other end is gone, and with it we, it ends
//! the group. Between fork and end it makes system calls on prepared memory and nothing else (signal-safety(7)).

#![allow(unsafe_code, reason = "a process that is forked without a program of its own, by raw system calls")]

use std::io::{self, PipeWriter, Write};
use std::os::fd::AsRawFd;

/// Lets go of the group when it is told to; ends it when we are gone without a word.
#[derive(Debug)]
pub struct Guard {
    pipe: PipeWriter,
    pid: libc::pid_t,
}

impl Guard {
    /// Made before the program, so that nothing of the program's is held open here.
    pub fn new() -> io::Result<Guard> {
        let (read, pipe) = io::pipe()?;
        let end = read.as_raw_fd();
        // SAFETY: the child makes the calls of `watch`, and ends.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => watch(end),
            pid => Ok(Guard { pipe, pid }),
        }
    }

    /// The group to end, by the number of the process that leads it.
    pub fn of(&mut self, leader: u32) {
        let _ = self.pipe.write_all(&leader.to_ne_bytes());
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // No group: it ends, and leaves everybody alone.
        let _ = self.pipe.write_all(&0_u32.to_ne_bytes());
        // SAFETY: our own child, which reads that and ends.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
    }
}

fn watch(end: i32) -> ! {
    let mut group = 0_u32;
    // SAFETY: calls on this stack's own variables, after which the process ends.
    unsafe {
        // Not of our terminal's group: what is typed there is not meant for it. Files of others shall not stay open here.
        libc::setsid();
        libc::dup2(end, 0);
        if libc::syscall(libc::SYS_close_range, 1_u32, u32::MAX, 0) != 0 {
            for file in 1..1024 {
                libc::close(file);
            }
        }
        loop {
            let mut word = 0_u32;
            match libc::read(0, (&raw mut word).cast(), 4) {
                4 if word == 0 => libc::_exit(0),
                4 => group = word,
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => break,
            }
        }
        if group != 0 {
            libc::kill(-group.cast_signed(), libc::SIGKILL);
        }
        libc::_exit(0)
    }
}
