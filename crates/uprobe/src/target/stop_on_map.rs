//! Stops programs that we started for a moment whenever they map code, until the code has been examined and probed.
//!
//! A BPF program at the entry of the system call `mmap` sends SIGSTOP to the process, which then stops on its way out
//! of the call, before the mapped library can be called. Another one follows forks, so that children are stopped too.
//! Only processes that we started are ever stopped. A guard, a child process that only waits for our end, resumes
//! everything if we are killed.

use crate::bpf::asm::Reg::{R0, R1, R2, R3, R4, R6, R7, R8, R10};
use crate::bpf::asm::Size::{Long, Word};
use crate::bpf::asm::{Asm, BadJump, Helper, If};
use crate::bpf::btf::Btf;
use crate::bpf::wire::{event, kind};
use std::io;
use std::process::Command;
use sys::abi;
use sys::bpf;
use sys::bpf::{Map, MapKind, Use};
use sys::guard::ResumeGuard;
use sys::unix::OwnedFd;

/// The maximum number of processes and threads tracked at once.
const MOST: u32 = 1 << 16;

#[derive(Debug)]
pub struct Hold {
    /// Processes that are stopped when they map code.
    ours: Map,
    /// Threads that were stopped: process and thread ID in one word.
    stopped: Map,
    /// The BPF programs run as long as these exist.
    links: Vec<OwnedFd>,
    #[expect(dead_code, reason = "held, not used")]
    guard: ResumeGuard,
}

impl Hold {
    /// `ring`: the ring that receives the notice of a stopped thread.
    pub fn new(ring: i32) -> io::Result<Hold> {
        if !may_resume() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let missing = |what: &str| io::Error::new(io::ErrorKind::Unsupported, format!("the kernel has no {what}"));
        let btf = Btf::of_kernel()?;
        let tgid = btf.field("task_struct", "tgid").ok_or_else(|| missing("task_struct"))?;
        let ours = Map::new(MapKind::Hash, 4, 8, MOST)?;
        let stopped = Map::new(MapKind::Hash, 8, 8, MOST)?;
        let guard = ResumeGuard::new(&ours)?;
        let maps = |code: Result<Vec<u64>, BadJump>| code.map_err(io::Error::other);
        let stop = bpf::load(&maps(at_mapping(ours.fd(), stopped.fd(), ring))?, Use::Tracepoint)?;
        let follow = bpf::load(&maps(at_fork(ours.fd(), tgid))?, Use::Tracepoint)?;
        let links = vec![bpf::run(&follow, c"sched_process_fork")?, bpf::run(&stop, c"sys_enter")?];
        Ok(Hold { ours, stopped, links, guard })
    }

    /// The map of processes to stop.
    pub fn ours(&self) -> i32 {
        self.ours.fd()
    }

    /// The map of threads that were stopped.
    pub fn told(&self) -> i32 {
        self.stopped.fd()
    }

    /// Makes the command enter itself into the map before it executes the program. If that fails, the program is not
    /// stopped, and the resulting gaps are reported.
    pub fn hold(&self, start: &mut Command) {
        self.ours.enter_before_exec(start);
    }

    /// A process or thread has ended, and its id may be reused.
    pub fn over(&self, id: u32) {
        let _ = self.ours.remove(&id.to_le_bytes());
    }

    /// Threads that are stopped or about to stop: process, thread.
    pub fn stopped(&self) -> Vec<(u32, u32)> {
        let half = |key: &[u8], at: usize| key.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        let entries = self.stopped.entries();
        entries.iter().filter_map(|(key, _)| Some((half(key, 4)?, half(key, 0)?))).collect()
    }

    /// Resumes processes whose threads have been handled. The threads are forgotten first, because one that maps code again stops
    /// again. A process with another newly stopped thread stays stopped until that one is handled as well.
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
    /// First removes the BPF programs, so that no further thread is stopped. The guard resumes a thread that they stop
    /// in the meantime.
    fn drop(&mut self) {
        self.links.clear();
        let all: Vec<u32> = self.stopped().into_iter().map(|(process, _)| process).collect();
        all.into_iter().for_each(resume);
    }
}

/// Whether we may resume any process (CAP_KILL): a program that changes its user must not stay stopped forever.
fn may_resume() -> bool {
    const CAP_KILL: u64 = 1 << 5;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).is_some_and(|bits| bits & CAP_KILL != 0)
}

fn resume(pid: u32) {
    let _ = sys::host::signal(pid, sys::abi::SIGCONT);
}

/// `sys_enter(registers, number)`: every system call of the machine passes through here, so irrelevant ones are left at
/// once.
fn at_mapping(ours: i32, stopped: i32, ring: i32) -> Result<Vec<u64>, BadJump> {
    const MMAP: i32 = abi::SYS_mmap as i32;
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
    for (register, bit, wanted) in [(96, abi::PROT_EXEC, true), (56, abi::MAP_ANONYMOUS, false)] {
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
    // Stored before the signal: the reader waits until the thread has stopped.
    asm.store_imm(Long, R10, VALUE, 0);
    look_up(&mut asm, stopped, TASK);
    asm.mov(R3, R10);
    asm.add_imm(R3, VALUE.into());
    asm.mov_imm(R4, 0);
    asm.call(Helper::MapUpdate);
    asm.jump_if(If::NotEqual, R0, 0, out);
    asm.mov_imm(R1, abi::SIGSTOP);
    asm.call(Helper::SendSignal);
    let told = asm.label();
    asm.jump_if(If::Equal, R0, 0, told);
    look_up(&mut asm, stopped, TASK);
    asm.call(Helper::MapDelete);
    asm.jump(out);
    asm.place(told);
    // A message in the ring wakes the reader.
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

/// `sched_process_fork(parent, child)`: the child of a tracked process is tracked. A thread has its process's id.
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
