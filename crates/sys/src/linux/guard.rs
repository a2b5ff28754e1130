//! Guards: small child processes that wait for the end of this process, however it ends, and then clean up.
//!
//! Each holds one end of a pipe. When this process ends, the other end closes, and the guard does its work.

use crate::bpf::{Map, next_key};
use crate::child::{Child, close_others, fork};
use std::io::{self, PipeWriter, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Kills a program's whole process group if this process ends without releasing it.
#[derive(Debug)]
pub struct GroupGuard {
    pipe: PipeWriter,
    child: Child,
}

impl GroupGuard {
    /// Created before the program, so that the guard holds none of its descriptors open.
    pub fn new() -> io::Result<GroupGuard> {
        let (read, pipe) = io::pipe()?;
        let line = read.as_raw_fd();
        // SAFETY: the child makes the calls of `end_group`.
        let child = unsafe { fork(|| end_group(line)) }?;
        Ok(GroupGuard { pipe, child })
    }

    /// Makes the program lead its own process group and register here before exec, so that it is known even if this
    /// process ends right after that.
    pub fn enter_before_exec(&self, command: &mut Command) {
        let line = self.pipe.as_raw_fd();
        command.process_group(0);
        // SAFETY: between fork and exec the closure makes two system calls, on memory of its own stack; the pipe is open until exec.
        unsafe {
            command.pre_exec(move || {
                let leader = libc::getpid().to_ne_bytes();
                libc::write(line, leader.as_ptr().cast(), leader.len());
                Ok(())
            });
        }
    }
}

impl Drop for GroupGuard {
    /// Normal end: no group is left, so the guard ends without killing anything.
    fn drop(&mut self) {
        let _ = self.pipe.write_all(&0_u32.to_ne_bytes());
        self.child.wait();
    }
}

/// Runs in the child.
fn end_group(line: i32) {
    // SAFETY: a fresh child that uses nothing but this line.
    unsafe { leave([line.cast_unsigned()]) };
    let mut group = 0_u32;
    loop {
        match read(line) {
            Some(0) => return,
            Some(leader) => group = leader,
            None => break,
        }
    }
    if group != 0 {
        // SAFETY: numbers only.
        unsafe { libc::kill(-group.cast_signed(), libc::SIGKILL) };
    }
}

/// Resumes (SIGCONT) every process whose id is a key of a map, when this process ends or asks for it.
#[derive(Debug)]
pub struct ResumeGuard {
    pipe: PipeWriter,
    child: Child,
}

impl ResumeGuard {
    /// `map`: from a process id to a word.
    pub fn new(map: &Map) -> io::Result<ResumeGuard> {
        map.holds_words();
        let (read, pipe) = io::pipe()?;
        let (line, map) = (read.as_raw_fd(), map.fd());
        // SAFETY: the child makes the calls of `resume_all`.
        let child = unsafe { fork(|| resume_all(line, map)) }?;
        Ok(ResumeGuard { pipe, child })
    }
}

impl Drop for ResumeGuard {
    /// On a normal end, the guard checks once more and ends.
    fn drop(&mut self) {
        let _ = self.pipe.write_all(&1_u32.to_ne_bytes());
        self.child.wait();
    }
}

/// Runs in the child.
fn resume_all(line: i32, map: i32) {
    const ROUNDS: u32 = 20;
    const PAUSE: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    // SAFETY: a fresh child that uses nothing but these two.
    unsafe { leave([line.cast_unsigned(), map.cast_unsigned()]) };
    let told = read(line).is_some();
    // The kernel removes our BPF programs when this process ends; until then one may still stop a thread.
    for _ in 0..if told { 1 } else { ROUNDS } {
        // SAFETY: a constant is read, nothing is written.
        unsafe { libc::nanosleep(&PAUSE, std::ptr::null_mut()) };
        let mut at = next_key(map, None);
        while let Some(pid) = at {
            // SAFETY: numbers only, and a signal that ends no process.
            unsafe { libc::kill(pid.cast_signed(), libc::SIGCONT) };
            at = next_key(map, Some(pid));
        }
    }
}

/// Detaches the guard: neither Ctrl-C nor a signal to our group ends it, and it keeps no probe, terminal or pipe of
/// this process open.
///
/// # Safety
/// Must be called in a fresh child that uses no other descriptors from here on.
unsafe fn leave<const N: usize>(keep: [u32; N]) {
    // SAFETY: no arguments.
    unsafe { libc::setsid() };
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE] {
        // SAFETY: installs no handler of our own, and affects only this process.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    // SAFETY: guaranteed by the caller.
    unsafe { close_others(0, keep) };
}

/// The next word; None when the other end is closed.
fn read(line: i32) -> Option<u32> {
    let mut word = 0_u32;
    loop {
        // SAFETY: four bytes on this stack.
        match unsafe { libc::read(line, (&raw mut word).cast(), 4) } {
            4 => return Some(word),
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeping(guard: &GroupGuard) -> std::process::Child {
        let mut command = Command::new("sleep");
        command.arg("600");
        guard.enter_before_exec(&mut command);
        command.spawn().expect("sleep")
    }

    /// Closes the pipe without a message, like the kernel does when this process is killed.
    fn abandon(mut guard: GroupGuard) {
        let (_, other) = io::pipe().expect("a pipe");
        drop(std::mem::replace(&mut guard.pipe, other));
        guard.child.wait();
    }

    #[test]
    fn the_group_ends_with_us_and_only_then() {
        let guard = GroupGuard::new().expect("a guard");
        let mut kept = sleeping(&guard);
        drop(guard);
        assert!(kept.try_wait().expect("asked").is_none(), "let go of");
        kept.kill().expect("ended");
        kept.wait().expect("waited");

        // This process ends right after the start: the program is known anyway.
        let guard = GroupGuard::new().expect("a guard");
        let mut kept = sleeping(&guard);
        abandon(guard);
        assert!(!kept.wait().expect("waited").success());
    }
}
