//! Which processes are watched and what they have mapped, from the kernel's records: forks, execs, exits and mappings
//! arrive as perf records, so that short-lived children and libraries are not missed.

use crate::probes::entries::Home;
use crate::target::proc::{alive, children, clock, executable, start_of, state_of};
use crate::target::records::{COMM, EXIT, FORK, LOST, MMAP2, long, mapping, time_of, word};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::time::{Duration, Instant};
use sys::perf_event;
use sys::perf_event::Buffer;

/// An executable mapping of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    pub start: u64,
    pub end: u64,
    /// The offset in the file.
    pub offset: u64,
    pub device: (u32, u32),
    pub inode: u64,
    /// The path as the process sees it, as far as it is known.
    pub path: String,
}

/// Identifies a file in any process.
pub type FileId = ((u32, u32), u64);

impl Mapping {
    pub fn file(&self) -> FileId {
        (self.device, self.inode)
    }

    pub fn name(&self) -> &str {
        let path = self.path.strip_suffix(" (deleted)").unwrap_or(&self.path);
        path.rsplit('/').next().unwrap_or(path)
    }
}

#[derive(Debug, Clone)]
pub enum Happened {
    /// A process, and its parent if the fork was observed.
    Joined(u32, Option<u32>),
    Mapped(u32, Mapping),
    /// The process executes another program; its mappings are gone.
    Replaced(u32),
    Ended,
}

/// One of the processes that share a process id over time.
#[derive(Debug, Clone, Copy)]
struct Life {
    /// The time since which the process is watched (CLOCK_MONOTONIC).
    from: u64,
    /// The start time of the process from /proc: a process with another start time is a different process.
    start: Option<u64>,
    /// The first thread of the process has ended, but others have not.
    headless: bool,
    /// The record of the start of the process has not arrived yet.
    unborn: bool,
    exec: Exec,
}

/// The state of a process's exec.
///
/// A program that gains rights by being executed (set-user-ID, file capabilities, root's after some were given up) is
/// removed from its perf context, and the kernel writes that as an exit (fs/exec.c, begin_new_exec:
/// perf_event_exit_task if the program may not be dumped). It comes between the new name and the first mapping, where a
/// real exit cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exec {
    Settled,
    /// The process has the new program's name, but nothing is mapped yet.
    Named,
    /// The same, and an exit was recorded; /proc shows whether it is a real one.
    Doubtful,
}

type Record = (u64, u32, u16, Vec<u8>);

#[derive(Debug)]
pub struct Processes {
    buffers: Vec<Buffer>,
    /// Records newer than the last poll, from when not every buffer had been read.
    early: Vec<Record>,
    /// Processes that are alive and watched.
    members: FxHashMap<u32, Life>,
    /// Watched processes that have ended: start and end of the watch. The id may belong to another process since.
    ended: FxHashMap<u32, Vec<(u64, u64)>>,
    /// Threads and processes that ended since the last call of `over`.
    over: Vec<u32>,
    maps: HashMap<u32, Vec<Mapping>>,
    /// Records that the kernel could not deliver.
    pub lost: u64,
    /// Time of the current record; 0 for information from /proc.
    now: u64,
    refreshed: Instant,
    /// Whether every process joins when it maps a runtime, up to [`MOST_JOINED`].
    joins: bool,
    /// Processes that did not join because there were too many.
    pub turned_away: u64,
}

/// The maximum number of processes that are followed at once when every process joins by itself.
const MOST_JOINED: usize = 1024;

const REFRESH: Duration = Duration::from_millis(50);

impl Processes {
    /// Opens the kernel's records for every process, with this many pages per CPU.
    pub fn open(pages: usize) -> io::Result<Processes> {
        Ok(Processes::with(perf_event::process_buffers(-1, 0, pages)?))
    }

    /// From now on, every process joins when it maps a runtime; those that have mapped one join at once.
    pub fn join_everyone(&mut self, out: &mut Vec<(u64, Happened)>) {
        self.joins = true;
        self.scan(out);
    }

    /// Looks in /proc for processes with a runtime: at the start, and after records were lost.
    pub fn scan(&mut self, out: &mut Vec<(u64, Happened)>) {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        for pid in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
            if !self.members.contains_key(&pid) && pid != std::process::id() && has_runtime(pid) {
                self.join_by_itself(pid, out);
            }
        }
    }

    fn join_by_itself(&mut self, pid: u32, out: &mut Vec<(u64, Happened)>) {
        if self.members.len() >= MOST_JOINED {
            self.turned_away += 1;
            return;
        }
        self.begin(pid, self.now);
        out.push((self.now, Happened::Joined(pid, None)));
        self.look(pid, out);
    }

    /// Removes all traces of processes that have ended, and returns them.
    pub fn forget_ended(&mut self) -> Vec<u32> {
        let ended = std::mem::take(&mut self.ended);
        let gone: Vec<u32> = ended.into_keys().filter(|pid| !self.members.contains_key(pid)).collect();
        gone.iter().for_each(|pid| drop(self.maps.remove(pid)));
        gone
    }

    /// The number of processes that are alive and watched.
    pub fn count(&self) -> usize {
        self.members.len()
    }

    pub fn members(&self) -> impl Iterator<Item = u32> {
        self.members.keys().copied()
    }

    /// Works without the kernel's records: /proc is read on demand.
    pub fn without() -> Processes {
        Processes::with(Vec::new())
    }

    fn with(buffers: Vec<Buffer>) -> Processes {
        let (members, ended, maps) = (FxHashMap::default(), FxHashMap::default(), HashMap::new());
        let (early, over) = (Vec::new(), Vec::new());
        Processes {
            buffers,
            early,
            members,
            ended,
            over,
            maps,
            lost: 0,
            now: 0,
            refreshed: Instant::now(),
            joins: false,
            turned_away: 0,
        }
    }

    /// Watches a process and its current children.
    pub fn join(&mut self, pid: u32, out: &mut Vec<(u64, Happened)>) {
        if self.members.contains_key(&pid) {
            return;
        }
        // /proc shows processes that have existed for a while: earlier records with this id belong to the same process.
        self.begin(pid, self.now);
        out.push((self.now, Happened::Joined(pid, None)));
        self.look(pid, out);
        for child in children(pid) {
            self.join(child, out);
        }
    }

    /// Watches a program that we started at `from`: the kernel's records contain everything that it has done, with
    /// times.
    pub fn adopt(&mut self, pid: u32, from: u64, out: &mut Vec<(u64, Happened)>) {
        if self.buffers.is_empty() {
            return self.join(pid, out);
        }
        self.begin(pid, from);
        self.members.entry(pid).and_modify(|life| life.unborn = true);
        out.push((from, Happened::Joined(pid, None)));
    }

    fn begin(&mut self, pid: u32, from: u64) {
        self.maps.remove(&pid);
        self.members
            .insert(pid, Life { from, start: start_of(pid), headless: false, unborn: false, exec: Exec::Settled });
    }

    /// Reports the process's current mappings that are new.
    pub fn look(&mut self, pid: u32, out: &mut Vec<(u64, Happened)>) {
        // A name that is not UTF-8 must not hide the others. The size is limited because a process chooses the length
        // of the list.
        let maps = std::path::PathBuf::from(format!("/proc/{pid}/maps"));
        let text = sys::regular_file::start(&maps, 64 << 20).unwrap_or_default();
        for mapping in String::from_utf8_lossy(&text).lines().filter_map(executable) {
            self.map(pid, mapping, out);
        }
    }

    fn map(&mut self, pid: u32, mapping: Mapping, out: &mut Vec<(u64, Happened)>) {
        let known = self.maps.entry(pid).or_default();
        // A library that was closed and opened again may be at another address, with another library in its old place.
        known.retain(|old| old.end <= mapping.start || mapping.end <= old.start || old.file() == mapping.file());
        if !known.iter().any(|old| (old.file(), old.start) == (mapping.file(), mapping.start)) {
            known.push(mapping.clone());
            out.push((self.now, Happened::Mapped(pid, mapping)));
        }
    }

    pub fn mapped(&self, pid: u32) -> &[Mapping] {
        self.maps.get(&pid).map_or(&[], Vec::as_slice)
    }

    /// Whether the process with this id at this time is watched.
    pub fn watches(&self, pid: u32, time: u64) -> bool {
        self.members.get(&pid).is_some_and(|life| life.from <= time)
            || self.ended.get(&pid).is_some_and(|lives| lives.iter().any(|(from, to)| (*from..=*to).contains(&time)))
    }

    /// Whether a process with this number was ever watched.
    pub fn knows(&self, pid: u32) -> bool {
        self.members.contains_key(&pid) || self.ended.contains_key(&pid)
    }

    /// Every process that is or was watched.
    pub fn known(&self) -> impl Iterator<Item = u32> {
        let before = self.ended.keys().filter(|pid| !self.members.contains_key(pid));
        self.members.keys().chain(before).copied()
    }

    /// Whether the process is alive, as far as is known, and its id was not reused.
    pub fn is_alive(&self, pid: u32) -> bool {
        self.members.get(&pid).is_some_and(|life| life.start.is_none() || life.start == start_of(pid))
    }

    /// Threads and processes that ended since the last call.
    pub fn over(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.over)
    }

    /// Every process that was seen to map something, alive or not.
    pub fn everyone(&self) -> impl Iterator<Item = u32> {
        self.maps.keys().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns all events since the last call, in order, with times (CLOCK_MONOTONIC).
    pub fn poll(&mut self, out: &mut Vec<(u64, Happened)>) {
        // A buffer that is read later may contain records that depend on unread ones of another buffer: such records
        // wait for the next poll.
        let until = clock();
        let mut records = std::mem::take(&mut self.early);
        let mut lost = 0;
        for buffer in &mut self.buffers {
            buffer.read(|kind, misc, body| match kind {
                LOST => lost += long(body, 8),
                MMAP2 | COMM | EXIT | FORK => records.push((time_of(body), kind, misc, body.to_vec())),
                _ => {}
            });
        }
        self.lost += lost;
        records.sort_by_key(|record| record.0);
        self.early = records.split_off(records.partition_point(|record| record.0 <= until));
        for (time, kind, misc, body) in &records {
            self.now = *time;
            self.one(*kind, *misc, body, out);
        }
        self.now = 0;
        self.settle(out);
        if self.buffers.is_empty() || lost > 0 {
            self.refresh(out);
        }
    }

    /// Checks /proc for processes whose exit records do not show whether the whole process ended. The kernel writes an
    /// exit before the thread looks dead from outside. If two threads end at once, both may still seem alive when the
    /// last record is read, and no other record follows.
    fn settle(&mut self, out: &mut Vec<(u64, Happened)>) {
        let open = self.members.iter().filter(|(_, life)| life.exec == Exec::Doubtful || life.headless);
        for (pid, headless) in open.map(|(pid, life)| (*pid, life.headless)).collect::<Vec<_>>() {
            let goes_on = if headless { self.goes_on(pid) } else { alive(pid) && self.is_alive(pid) };
            if !goes_on {
                self.over.push(pid);
                self.end(pid, out);
            }
        }
    }

    /// Checks /proc for ended and new processes. This is slow, so it is not done at every poll.
    fn refresh(&mut self, out: &mut Vec<(u64, Happened)>) {
        if self.refreshed.elapsed() < REFRESH {
            return;
        }
        self.refreshed = Instant::now();
        for pid in self.members.keys().copied().collect::<Vec<u32>>() {
            if alive(pid) && self.is_alive(pid) {
                self.look(pid, out);
                for child in children(pid) {
                    self.join(child, out);
                }
            } else {
                self.end(pid, out);
            }
        }
    }

    fn end(&mut self, pid: u32, out: &mut Vec<(u64, Happened)>) {
        if let Some(life) = self.members.remove(&pid) {
            let now = if self.now > 0 { self.now } else { clock() };
            self.ended.entry(pid).or_default().push((life.from, now));
            out.push((self.now, Happened::Ended));
        }
    }

    /// Whether other threads of the process continue after the first has ended.
    fn goes_on(&self, pid: u32) -> bool {
        let same = self.members.get(&pid).is_some_and(|life| life.start.is_some() && life.start == start_of(pid));
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let mut others =
            tasks.filter_map(|task| task.file_name().to_str()?.parse::<u32>().ok()).filter(|id| *id != pid);
        same && others.any(|id| !matches!(state_of(&format!("/proc/{pid}/task/{id}/stat")), None | Some('Z' | 'X')))
    }

    fn one(&mut self, kind: u32, misc: u16, body: &[u8], out: &mut Vec<(u64, Happened)>) {
        const EXEC: u16 = 1 << 13;
        let pid = word(body, 0);
        match kind {
            FORK => {
                let parent = word(body, 4);
                let begins = |life: &mut Life| std::mem::take(&mut life.unborn) && life.from <= self.now;
                if pid == parent || self.members.get_mut(&pid).is_some_and(begins) {
                    return;
                }
                // The process number is reused: the previous process has ended, although no exit was reported.
                self.end(pid, out);
                if self.members.contains_key(&parent) {
                    let inherited = self.maps.get(&parent).cloned().unwrap_or_default();
                    self.begin(pid, self.now);
                    out.push((self.now, Happened::Joined(pid, Some(parent))));
                    for mapping in inherited {
                        self.map(pid, mapping, out);
                    }
                }
            }
            EXIT => {
                let thread = word(body, 8);
                let last = self.members.get(&pid).is_some_and(|life| thread == pid || life.headless);
                if last && self.members.get(&pid).is_some_and(|life| life.exec == Exec::Named) {
                    self.members.entry(pid).and_modify(|life| life.exec = Exec::Doubtful);
                    return;
                }
                self.over.push(thread);
                if last && self.goes_on(pid) {
                    self.members.entry(pid).and_modify(|life| life.headless = true);
                } else if last {
                    self.end(pid, out);
                }
            }
            COMM if misc & EXEC != 0 && self.members.contains_key(&pid) => {
                self.maps.remove(&pid);
                self.members.entry(pid).and_modify(|life| life.exec = Exec::Named);
                out.push((self.now, Happened::Replaced(pid)));
            }
            MMAP2 if self.joins && !self.members.contains_key(&pid) && pid != std::process::id() => {
                if let Some(mapping) = mapping(body).filter(|mapping| is_runtime(mapping.name())) {
                    self.join_by_itself(pid, out);
                    // The process may have ended already, so that /proc shows nothing.
                    if self.members.contains_key(&pid) {
                        self.map(pid, mapping, out);
                    }
                }
            }
            MMAP2 if self.members.contains_key(&pid) => {
                self.members.entry(pid).and_modify(|life| life.exec = Exec::Settled);
                if let Some(mapping) = mapping(body) {
                    self.map(pid, mapping, out);
                }
            }
            _ => {}
        }
    }
}

/// Whether a file is a runtime whose launches are counted coarsely. Vulkan's are not: what a submission dispatches is
/// known only from the records of every call.
fn is_runtime(name: &str) -> bool {
    Home::of(name).is_some_and(|home| home.launches() && home != Home::Vulkan)
}

fn has_runtime(pid: u32) -> bool {
    let maps = std::path::PathBuf::from(format!("/proc/{pid}/maps"));
    let text = sys::regular_file::start(&maps, 64 << 20).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(executable).any(|mapping| is_runtime(mapping.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of a fork or an exit: process, parent, thread, parent's thread, time; then the writer's ids and time.
    fn record(pid: u32, parent: u32, time: u64) -> Vec<u8> {
        let words = [pid, parent, pid, parent].map(u32::to_le_bytes).concat();
        [words, time.to_le_bytes().to_vec(), vec![0; 8], time.to_le_bytes().to_vec()].concat()
    }

    /// A program that gains privileges leaves its perf context at exec, and the kernel records that as an exit.
    #[test]
    fn an_exit_between_a_new_name_and_the_first_mapping_is_none() {
        const EXEC: u16 = 1 << 13;
        let pid = std::process::id();
        let mut processes = Processes::without();
        let mut happened = Vec::new();
        processes.begin(pid, 100);
        processes.now = 200;
        processes.one(COMM, EXEC, &record(pid, pid, 200), &mut happened);
        processes.one(EXIT, 0, &record(pid, 1, 201), &mut happened);
        assert!(processes.watches(pid, 300), "it goes on");
        assert_eq!(processes.over(), Vec::<u32>::new(), "and is held like before");
        processes.one(MMAP2, 0, &record(pid, pid, 202), &mut happened);
        assert!(processes.members.get(&pid).is_some_and(|life| life.exec == Exec::Settled));
        processes.now = 300;
        processes.one(EXIT, 0, &record(pid, 1, 300), &mut happened);
        // Other threads of this test continue; only /proc shows that.
        assert!(processes.goes_on(pid) == processes.members.contains_key(&pid));
    }

    /// Two threads that end at once may both still be visible when the last exit is read; no further record reports the
    /// end.
    #[test]
    fn a_process_whose_last_exit_came_too_early_is_over_when_it_is() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().expect("a child");
        let mut processes = Processes::without();
        let mut happened = Vec::new();
        processes.begin(child.id(), 100);
        processes.members.entry(child.id()).and_modify(|life| life.headless = true);
        child.kill().expect("it ends");
        child.wait().expect("it has ended");
        processes.poll(&mut happened);
        assert!(matches!(happened.as_slice(), [(_, Happened::Ended)]), "{happened:?}");
    }

    /// These ids are above any that the kernel assigns, so /proc has no entry for them.
    #[test]
    fn a_number_that_is_given_out_again_is_another_process() {
        let (target, child, stranger): (u32, u32, u32) = (0x7000_0001, 0x7000_0002, 0x7000_0003);
        let mut processes = Processes::without();
        let mut happened = Vec::new();
        processes.begin(target, 100);
        let mut tell = |processes: &mut Processes, kind, pid, parent, time| {
            processes.now = time;
            processes.one(kind, 0, &record(pid, parent, time), &mut happened);
        };
        tell(&mut processes, FORK, child, target, 200);
        tell(&mut processes, EXIT, child, target, 300);
        assert!(processes.watches(child, 250) && !processes.watches(child, 301) && !processes.watches(child, 199));
        tell(&mut processes, FORK, child, stranger, 400);
        assert!(!processes.watches(child, 450), "a stranger's child");
        tell(&mut processes, EXIT, child, stranger, 500);
        tell(&mut processes, FORK, child, target, 600);
        assert!(processes.watches(child, 650) && !processes.watches(child, 450) && processes.watches(child, 250));
        tell(&mut processes, FORK, child, stranger, 700);
        assert!(!processes.watches(child, 750), "its end was not told, but a number has one process");
    }

    #[test]
    fn we_are_alive_and_have_ourselves_mapped() {
        let mut processes = Processes::without();
        let mut happened = Vec::new();
        processes.join(std::process::id(), &mut happened);
        assert!(matches!(happened.first(), Some((0, Happened::Joined(..)))));
        assert!(!processes.mapped(std::process::id()).is_empty());
        assert!(alive(std::process::id()) && !alive(u32::MAX));
    }
}
