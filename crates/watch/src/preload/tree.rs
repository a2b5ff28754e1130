//! Every descendant of the program, and the files that each mapped as code, from the kernel's own records (perf_event_open(2)),
//! which are independent of the shim. Child processes inherit the events of this thread, so this needs no root if
//! perf_event_paranoid is 2 or less.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use sys::perf_event::{self, Buffer, bit};

// PERF_RECORD_*
const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const MMAP2: u32 = 10;

/// The number of pages that an unprivileged user may lock per CPU.
const PAGES: usize = 128;
/// The maximum number of programs that are tracked. A build that starts more is not accounted for.
const MOST: usize = 1 << 16;

/// A file that a process mapped as code.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct File {
    pub path: String,
    pub inode: u64,
}

impl File {
    pub fn name(&self) -> &str {
        let path = self.path.strip_suffix(" (deleted)").unwrap_or(&self.path);
        path.rsplit('/').next().unwrap_or(path)
    }
}

/// One program of one process, from its start or its exec to its end or its next exec.
#[derive(Debug, Clone, Default)]
pub struct Image {
    pub pid: u32,
    /// The process name in the Linux kernel.
    pub name: String,
    /// The mapped files in the order of mapping; the program is first.
    pub files: Vec<File>,
    /// The image that it is a fork of, and how many files that image had at the time.
    pub copy_of: Option<(usize, usize)>,
    /// The kernel stopped reporting it at its exec, because it has other rights than the observer.
    pub hidden: bool,
}

#[derive(Debug)]
struct Life {
    image: usize,
    threads: BTreeSet<u32>,
    /// The process has the name of a new program, but nothing is mapped yet.
    named: bool,
}

type Record = (u64, u32, u16, Vec<u8>);

#[derive(Debug)]
pub struct Tree {
    buffers: Vec<Buffer>,
    waiting: Vec<Record>,
    alive: BTreeMap<u32, Life>,
    root: Option<u32>,
    pub images: Vec<Image>,
    /// Records that the kernel could not deliver, or for which there was no space here.
    pub lost: u64,
}

impl Tree {
    /// Must be called by the thread that starts the program, before it does.
    pub fn open() -> io::Result<Tree> {
        let buffers = perf_event::process_buffers(0, bit::INHERIT, PAGES)?;
        Ok(Tree { buffers, waiting: Vec::new(), alive: BTreeMap::new(), root: None, images: Vec::new(), lost: 0 })
    }

    /// Sets the process number of the program; processes that are not its descendants are ignored.
    pub fn begin(&mut self, root: u32) {
        self.root = Some(root);
        self.poll();
    }

    /// Reads the records since the last call. A record that arrives before an earlier one of another CPU waits for the
    /// next call.
    pub fn poll(&mut self) {
        let until = sys::host::monotonic();
        let mut lost = 0;
        let mut records = std::mem::take(&mut self.waiting);
        for buffer in &mut self.buffers {
            buffer.read(|kind, misc, body| match kind {
                LOST => lost += long(body, 8),
                MMAP2 | COMM | EXIT | FORK => {
                    records.push((long(body, body.len().saturating_sub(8)), kind, misc, body.to_vec()));
                }
                _ => {}
            });
        }
        self.lost += lost;
        records.sort_by_key(|record| record.0);
        self.waiting = records.split_off(records.partition_point(|record| record.0 <= until));
        for (_, kind, misc, body) in records {
            self.one(kind, misc, &body);
        }
    }

    /// The processes of the tree that are still running, except the program itself.
    pub fn survivors(&self) -> Vec<(u32, usize)> {
        // The kernel may not have written an exit record for the whole process. A zombie no longer runs.
        let state = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let runs = |pid: u32| {
            let stat = state(pid);
            stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
        };
        let others = self.alive.iter().filter(|(pid, _)| Some(**pid) != self.root && runs(**pid));
        others.map(|(pid, life)| (*pid, life.image)).collect()
    }

    fn one(&mut self, kind: u32, misc: u16, body: &[u8]) {
        const EXEC: u16 = 1 << 13;
        let (pid, second, third) = (word(body, 0), word(body, 4), word(body, 8));
        match kind {
            FORK => self.fork(pid, second, third),
            EXIT => self.exit(pid, third),
            COMM if misc & EXEC != 0 && self.alive.contains_key(&pid) => {
                let name = text(body.get(8..body.len().saturating_sub(16)));
                self.add(Image { pid, name, ..Image::default() }, BTreeSet::from([pid]), true);
            }
            MMAP2 => {
                if let Some(life) = self.alive.get_mut(&pid) {
                    life.named = false;
                    self.map(pid, body);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, image: Image, threads: BTreeSet<u32>, named: bool) {
        if self.images.len() >= MOST {
            self.lost += 1;
            return;
        }
        self.alive.insert(image.pid, Life { image: self.images.len(), threads, named });
        self.images.push(image);
    }

    /// `pid` and its parent; the new thread.
    fn fork(&mut self, pid: u32, parent: u32, thread: u32) {
        if pid == parent {
            if let Some(life) = self.alive.get_mut(&pid) {
                life.threads.insert(thread);
            }
            return;
        }
        let threads = BTreeSet::from([thread]);
        let from = self.alive.get(&parent).map(|life| life.image);
        match from.and_then(|at| Some((at, self.images.get(at)?))) {
            Some((at, of)) => {
                let copy_of = Some((at, of.files.len()));
                let image = Image { pid, copy_of, hidden: false, ..of.clone() };
                self.add(image, threads, false);
            }
            None if Some(pid) == self.root => self.add(Image { pid, ..Image::default() }, threads, false),
            None => {}
        }
    }

    /// When a program gains privileges, the kernel stops reporting it and writes an exit record between its new name
    /// and its first mapping (fs/exec.c, begin_new_exec).
    fn exit(&mut self, pid: u32, thread: u32) {
        let Some(life) = self.alive.get_mut(&pid) else { return };
        if life.named {
            life.named = false;
            if let Some(image) = self.images.get_mut(life.image) {
                image.hidden = true;
            }
            return;
        }
        life.threads.remove(&thread);
        if life.threads.is_empty() {
            self.alive.remove(&pid);
        }
    }

    /// Handles a mapping record: `pid tid addr len pgoff maj min ino generation prot flags filename`.
    fn map(&mut self, pid: u32, body: &[u8]) {
        const EXECUTABLE: u32 = 4;
        let (inode, path) = (long(body, 40), text(body.get(64..body.len().saturating_sub(16))));
        // Code that a program generates is not in a file.
        if word(body, 56) & EXECUTABLE == 0 || inode == 0 || !path.starts_with('/') || path == "//anon" {
            return;
        }
        let image = self.alive.get(&pid).and_then(|life| self.images.get_mut(life.image));
        if let Some(image) = image.filter(|image| !image.files.iter().any(|file| file.inode == inode)) {
            image.files.push(File { path, inode });
        }
    }
}

fn word(body: &[u8], at: usize) -> u32 {
    body.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn long(body: &[u8], at: usize) -> u64 {
    body.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn text(bytes: Option<&[u8]>) -> String {
    let bytes = bytes.unwrap_or_default();
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    /// Tests a child with an empty environment and a child that outlives the program, and the files of each.
    #[test]
    fn every_process_of_the_tree_is_known_with_its_files() {
        let Ok(mut tree) = Tree::open() else { return };
        let script = "env -i /bin/true; sleep 5 & exit 0";
        let mut shell = Command::new("sh");
        let mut child = shell.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("a shell");
        tree.begin(child.id());
        assert!(child.wait().expect("its end").success());
        let until = Instant::now() + Duration::from_secs(60);
        let named =
            |tree: &Tree, name: &str| tree.images.iter().any(|image| image.name == name && !image.files.is_empty());
        while !["env", "true", "sleep"].iter().all(|name| named(&tree, name)) {
            assert!(Instant::now() < until, "{:?}", tree.images);
            tree.poll();
        }
        assert_eq!(tree.lost, 0);
        let true_files = tree.images.iter().find(|image| image.name == "true").map(|image| &image.files);
        assert!(
            true_files.is_some_and(|files| files.iter().any(|file| file.name().starts_with("ld-"))),
            "{true_files:?}"
        );
        let [(survivor, at)] = tree.survivors()[..] else { panic!("{:?}", tree.survivors()) };
        assert_eq!(tree.images[at].name, "sleep");
        sys::host::signal(survivor, sys::abi::SIGKILL).expect("its end");
        while !tree.survivors().is_empty() {
            assert!(Instant::now() < until, "it was killed");
            tree.poll();
        }
    }
}
