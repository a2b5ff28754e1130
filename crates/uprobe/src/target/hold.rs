//! Programs that we started stand still for a moment whenever they map code, until we have seen what it is and put probes on it.
//!
//! A program at the entry of the system call `mmap` sends SIGSTOP to the process itself, which then stops on its way out of that
//! call: before the library that it maps can be called. Another follows forks, so that children are held too. Only what we started
//! is ever stopped. A guard, a child of ours that does nothing but wait for our end, lets everything go on if we are killed.

#![allow(unsafe_code, reason = "fork, kill and the guard's few calls")]

use crate::bpf::asm::Reg::{R0, R1, R2, R3, R4, R6, R7, R8, R10};
use crate::bpf::asm::Size::{Long, Word};
use crate::bpf::asm::{Asm, BadJump, Helper, If};
use crate::bpf::btf::Btf;
use crate::bpf::wire::{event, kind};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use sys::bpf;
use sys::bpf::{Map, MapKind, Use};

/// Processes and threads that are known at once.
const MOST: u32 = 1 << 16;

#[derive(Debug)]
pub struct Hold {
    /// Processes that are held when they map code.
    ours: Map,
    /// Threads that have been told to stop: process and thread in one word.
    stopped: Map,
    /// The programs run as long as these are there.
    links: Vec<OwnedFd>,
    #[expect(dead_code, reason = "held, not used")]
    guard: Guard,
}

impl Hold {
    /// `ring`: where a word is sent that somebody stands still.
    pub fn new(ring: i32) -> io::Result<Hold> {
        if !may_resume() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let missing = |what: &str| io::Error::new(io::ErrorKind::Unsupported, format!("the kernel has no {what}"));
        let btf = Btf::of_kernel()?;
        let tgid = btf.field("task_struct", "tgid").ok_or_else(|| missing("task_struct"))?;
        let ours = Map::new(MapKind::Hash, 4, 8, MOST)?;
        let stopped = Map::new(MapKind::Hash, 8, 8, MOST)?;
        let guard = Guard::start(ours.fd())?;
        let maps = |code: Result<Vec<u64>, BadJump>| code.map_err(io::Error::other);
        let stop = bpf::load(&maps(at_mapping(ours.fd(), stopped.fd(), ring))?, Use::Tracepoint)?;
        let follow = bpf::load(&maps(at_fork(ours.fd(), tgid))?, Use::Tracepoint)?;
        let links = vec![bpf::run(&follow, c"sched_process_fork")?, bpf::run(&stop, c"sys_enter")?];
        Ok(Hold { ours, stopped, links, guard })
    }

    /// The map that a program enters itself into before it becomes what we were told to start.
    pub fn map(&self) -> i32 {
        self.ours.fd()
    }

    /// A process or thread is over, and its number may be given to another.
    pub fn over(&self, id: u32) {
        let _ = self.ours.remove(&id.to_le_bytes());
    }

    /// Threads that stand still or are about to: process, thread.
    pub fn stopped(&self) -> Vec<(u32, u32)> {
        let half = |key: &[u8], at: usize| key.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        let entries = self.stopped.entries();
        entries.iter().filter_map(|(key, _)| Some((half(key, 4)?, half(key, 0)?))).collect()
    }

    /// Lets processes go on whose threads have been seen to: those are forgotten first, for one that maps code again right away stops again.
    /// A process of which another thread has stopped meanwhile stands still until that is seen to as well.
    pub fn go_on(&self, threads: &[(u32, u32)]) {
        for (pid, thread) in threads {
            let key = u64::from(*pid) << 32 | u64::from(*thread);
            let _ = self.stopped.remove(&key.to_le_bytes());
        }
        let left = self.stopped();
        let mut pids: Vec<u32> = threads.iter().map(|(pid, _)| *pid).collect();
        pids.sort_unstable();
        pids.dedup();
        pids.retain(|pid| left.iter().all(|(other, _)| other != pid));
        pids.into_iter().for_each(resume);
    }
}

impl Drop for Hold {
    /// First nobody is told to stop any more; whom a program that was still running told, the guard tells to go on.
    fn drop(&mut self) {
        self.links.clear();
        let all: Vec<u32> = self.stopped().into_iter().map(|(process, _)| process).collect();
        all.into_iter().for_each(resume);
    }
}

/// Whether we may tell anybody to go on (CAP_KILL): a program that becomes another user's must not stand still for ever.
fn may_resume() -> bool {
    const CAP_KILL: u64 = 1 << 5;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).is_some_and(|bits| bits & CAP_KILL != 0)
}

fn resume(pid: u32) {
    if let Ok(pid) = i32::try_from(pid) {
        // SAFETY: a signal that ends nobody.
        unsafe { libc::kill(pid, libc::SIGCONT) };
    }
}

/// `sys_enter(registers, number)`: every system call of the machine passes here, so that what does not concern us is left at once.
fn at_mapping(ours: i32, stopped: i32, ring: i32) -> Result<Vec<u64>, BadJump> {
    const MMAP: i32 = libc::SYS_mmap as i32;
    const TASK: i16 = -8;
    const KEY: i16 = -16;
    const VALUE: i16 = -24;
    let mut asm = Asm::default();
    let out = asm.label();
    asm.mov(R6, R1);
    asm.load(Long, R1, R6, 8);
    asm.jump_if(If::NotEqual, R1, MMAP, out);
    asm.call(Helper::GetCurrentPidTgid);
    asm.mov(R7, R0);
    asm.store(Long, R10, TASK, R7);
    asm.mov(R1, R7);
    asm.shr(R1, 32);
    asm.store(Word, R10, KEY, R1);
    let look_up = |asm: &mut Asm, map: i32, at: i16| {
        asm.map(R1, map);
        asm.mov(R2, R10);
        asm.add_imm(R2, at.into());
    };
    look_up(&mut asm, ours, KEY);
    asm.call(Helper::MapLookup);
    asm.jump_if(If::Equal, R0, 0, out);
    // The third argument is the protection, the fourth the flags (`struct pt_regs`): code from a file.
    for (register, bit, wanted) in [(96, libc::PROT_EXEC, true), (56, libc::MAP_ANONYMOUS, false)] {
        asm.store_imm(Long, R10, VALUE, 0);
        asm.mov(R1, R10);
        asm.add_imm(R1, VALUE.into());
        asm.mov_imm(R2, 8);
        asm.load(Long, R3, R6, 0);
        asm.add_imm(R3, register);
        asm.call(Helper::ProbeReadKernel);
        asm.load(Long, R1, R10, VALUE);
        asm.and_imm(R1, bit);
        asm.jump_if(if wanted { If::Equal } else { If::NotEqual }, R1, 0, out);
    }
    // Noted before it is told: whoever looks waits until the thread stands still.
    asm.store_imm(Long, R10, VALUE, 0);
    look_up(&mut asm, stopped, TASK);
    asm.mov(R3, R10);
    asm.add_imm(R3, VALUE.into());
    asm.mov_imm(R4, 0);
    asm.call(Helper::MapUpdate);
    asm.jump_if(If::NotEqual, R0, 0, out);
    asm.mov_imm(R1, libc::SIGSTOP);
    asm.call(Helper::SendSignal);
    let told = asm.label();
    asm.jump_if(If::Equal, R0, 0, told);
    look_up(&mut asm, stopped, TASK);
    asm.call(Helper::MapDelete);
    asm.jump(out);
    asm.place(told);
    // A word over the ring wakes whoever waits there.
    asm.map(R1, ring);
    asm.mov_imm(R2, event::SHORT);
    asm.mov_imm(R3, 0);
    asm.call(Helper::RingbufReserve);
    asm.jump_if(If::Equal, R0, 0, out);
    asm.mov(R8, R0);
    for word in (0..event::SHORT).step_by(8) {
        asm.store_imm(Long, R8, i16::try_from(word).unwrap_or(0), 0);
    }
    asm.store_imm(Word, R8, event::KIND, kind::HELD);
    asm.mov(R1, R8);
    asm.mov_imm(R2, 0);
    asm.call(Helper::RingbufSubmit);
    asm.place(out);
    asm.mov_imm(R0, 0);
    asm.exit();
    asm.finish()
}

/// `sched_process_fork(parent, child)`: the child of one of ours is ours. A thread has its process's number.
fn at_fork(ours: i32, tgid: i32) -> Result<Vec<u64>, BadJump> {
    const KEY: i16 = -8;
    const CHILD: i16 = -16;
    const VALUE: i16 = -24;
    let mut asm = Asm::default();
    let out = asm.label();
    asm.mov(R6, R1);
    asm.call(Helper::GetCurrentPidTgid);
    asm.shr(R0, 32);
    asm.store(Word, R10, KEY, R0);
    asm.map(R1, ours);
    asm.mov(R2, R10);
    asm.add_imm(R2, KEY.into());
    asm.call(Helper::MapLookup);
    asm.jump_if(If::Equal, R0, 0, out);
    asm.store_imm(Long, R10, CHILD, 0);
    asm.mov(R1, R10);
    asm.add_imm(R1, CHILD.into());
    asm.mov_imm(R2, 4);
    asm.load(Long, R3, R6, 8);
    asm.add_imm(R3, tgid);
    asm.call(Helper::ProbeReadKernel);
    asm.jump_if(If::NotEqual, R0, 0, out);
    asm.store_imm(Long, R10, VALUE, 1);
    asm.map(R1, ours);
    asm.mov(R2, R10);
    asm.add_imm(R2, CHILD.into());
    asm.mov(R3, R10);
    asm.add_imm(R3, VALUE.into());
    asm.mov_imm(R4, 0);
    asm.call(Helper::MapUpdate);
    asm.place(out);
    asm.mov_imm(R0, 0);
    asm.exit();
    asm.finish()
}

/// A child that waits for our end, in whatever way it comes, and lets go on whom we may have left standing.
#[derive(Debug)]
struct Guard {
    pid: libc::pid_t,
    /// Closed by our end.
    line: Option<OwnedFd>,
}

impl Guard {
    fn start(ours: i32) -> io::Result<Guard> {
        let (read, write) = io::pipe()?;
        let (line, own) = (read.as_raw_fd(), write.as_raw_fd());
        // SAFETY: the child only makes system calls, and never returns.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: see `watch`.
            0 => unsafe { watch(line, own, ours) },
            pid => Ok(Guard { pid, line: Some(write.into()) }),
        }
    }
}

impl Drop for Guard {
    /// All is well: it looks once more, and ends.
    fn drop(&mut self) {
        if let Some(line) = self.line.take() {
            let _ = rustix::io::write(line, b".");
        }
        // SAFETY: our own child, which ends by itself.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
    }
}

/// SAFETY: runs in a fresh child and never returns; both descriptors are open there.
unsafe fn watch(line: i32, own: i32, ours: i32) -> ! {
    const ROUNDS: u32 = 20;
    const PAUSE: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    // SAFETY: plain system calls on numbers and on memory of this stack.
    unsafe {
        // Not by the terminal's Ctrl-C, and not by a signal to our group.
        libc::setsid();
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
        libc::close(own);
        // Nothing of ours may live on in it: no probe, no terminal, no pipe that somebody waits at.
        let keep = [line.min(ours).cast_unsigned(), line.max(ours).cast_unsigned()];
        for (first, last) in
            [(0, keep[0].wrapping_sub(1)), (keep[0] + 1, keep[1].wrapping_sub(1)), (keep[1] + 1, u32::MAX)]
        {
            if first <= last && last != u32::MAX || first == keep[1] + 1 {
                libc::syscall(libc::SYS_close_range, first, last, 0);
            }
        }
        let mut byte = 0_u8;
        let mut read = libc::read(line, (&raw mut byte).cast(), 1);
        while read < 0 && *libc::__errno_location() == libc::EINTR {
            read = libc::read(line, (&raw mut byte).cast(), 1);
        }
        // The kernel takes our programs out while we end: one may still tell somebody to stop.
        for _ in 0..if read == 1 { 1 } else { ROUNDS } {
            libc::nanosleep(&PAUSE, std::ptr::null_mut());
            let mut at = bpf::next_key(ours, None);
            while let Some(pid) = at {
                libc::kill(pid.cast_signed(), libc::SIGCONT);
                at = bpf::next_key(ours, Some(pid));
            }
        }
        libc::_exit(0)
    }
}
