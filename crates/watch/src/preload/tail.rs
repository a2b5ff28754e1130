//! One process's trace file, read while it grows.
//!
//! A record is taken when its kind stands there. One that was reserved and never finished holds the reader up while the
//! process lives (its writer may just be waiting for the CPU), and is stepped over and counted when it is gone. What was
//! taken is told to the writer, which frees the ring, and given back to the file system by whole segments.

use crate::Seen;
use crate::preload::Known;
use crate::preload::graphs::Graphs;
use crate::{Call, Flow, Kind, KindId, Name, Tally};
use launch::columns::columns;
use launch::record::{self, FIRST, MAGIC, SEGMENT, api, blas, graph};
use launch::trace::{Held, Kernel, Module, Record, Runtime, repeated};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use sys::private_dir;
use sys::private_dir::MOST_FILES;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;
/// Where `consumed` stands in the header.
const CONSUMED: u64 = std::mem::offset_of!(record::Header, consumed) as u64;

/// Shapes that are found again without asking the tally: a program with a new grid for every launch costs time, not memory.
const MOST_KINDS: usize = 1 << 16;

const CLOSED: u64 = std::mem::offset_of!(record::Header, closed) as u64;

/// Most bytes that an honest writer leaves to be read: its limit, and what was under way when it was reached.
const BACKLOG: u64 = crate::preload::LIMIT + (64 << 20);
/// Names, modules and shapes that are kept of one process, and the length of a name.
const MOST_NAMES: usize = 1 << 20;
const LONGEST: usize = 1 << 16;

/// Who wants every single launch.
pub type Each<'e> = Option<&'e mut dyn FnMut(&Seen<'_>)>;

/// Kernel, grid, block, shared memory, call and columns: what makes two launches of a process alike.
type Shape = (u32, [u32; 3], [u32; 3], u32, u32, Option<u64>);

#[derive(Debug)]
pub struct Tail {
    file: File,
    pub path: PathBuf,
    pub pid: u32,
    pub parent: u32,
    pub program: String,
    pub runtimes: Vec<Runtime>,
    /// Device files that the process says it held when it had launched.
    pub devices: Vec<Held>,
    /// Calls that changed something which is not followed.
    pub unfollowed: Vec<String>,
    /// Records that were begun and never finished.
    pub torn: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    /// Launches that were taken, replays not multiplied.
    pub records: u64,
    at: u64,
    given_back: u64,
    lost: u64,
    start_ns: u64,
    shapes: HashMap<u32, record::Launch>,
    kernels: HashMap<u32, Kernel>,
    modules: HashMap<u32, Module>,
    kinds: HashMap<Shape, KindId>,
    flow: Flow,
    pub(super) graphs: Graphs,
    /// Why it is not read any further.
    pub broken: Option<String>,
    /// Whose file it is.
    pub user: u32,
}

/// The trace files of a directory.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("seen."))
        .take(MOST_FILES)
        .map(|entry| entry.path())
        .collect();
    list.sort();
    list
}

impl Tail {
    /// None while the writer has not made its header yet.
    pub fn open(path: &Path) -> io::Result<Option<Tail>> {
        let file = private_dir::open(path, true).or_else(|_| private_dir::open(path, false))?;
        let file_metadata = file.metadata()?;
        let mut head = [0; size_of::<record::Header>()];
        if file.read_at(&mut head, 0)? < head.len() || !head.starts_with(&MAGIC) {
            return Ok(None);
        }
        let word = |at: usize| head.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b));
        Ok(Some(Tail {
            file,
            path: path.to_owned(),
            pid: word(24),
            parent: word(28),
            program: String::new(),
            runtimes: Vec::new(),
            devices: Vec::new(),
            unfollowed: Vec::new(),
            torn: 0,
            first_ns: 0,
            last_ns: 0,
            records: 0,
            at: FIRST,
            given_back: 0,
            lost: 0,
            start_ns: u64::from(word(32)) | u64::from(word(36)) << 32,
            shapes: HashMap::new(),
            kernels: HashMap::new(),
            modules: HashMap::new(),
            kinds: HashMap::new(),
            flow: Flow::default(),
            graphs: Graphs::default(),
            broken: None,
            user: std::os::unix::fs::MetadataExt::uid(&file_metadata),
        }))
    }

    /// Takes what is there. `gone`: the process has ended, nothing will be finished any more.
    ///
    /// Returns whether something was taken.
    pub fn drain(&mut self, tally: &mut Tally, known: &Known, gone: bool, each: &mut Each<'_>) -> io::Result<bool> {
        let before = self.at;
        let mut buffer = vec![0; CHUNK];
        loop {
            let mut head = [0; 24];
            self.file.read_at(&mut head, 0)?;
            let long = |at: usize| head.get(at..).and_then(|r| r.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b));
            let (used, lost) = (long(8), long(16));
            tally.lost += lost.saturating_sub(self.lost);
            self.lost = self.lost.max(lost);
            if used.saturating_sub(self.at) > BACKLOG {
                return Err(io::Error::other(format!(
                    "says that {used} bytes of it are used, which it was never given room for"
                )));
            }
            let want = usize::try_from(used.saturating_sub(self.at)).unwrap_or(CHUNK).min(CHUNK);
            let got = self.file.read_at(buffer.get_mut(..want).unwrap_or(&mut []), self.at)?;
            let ends = want < CHUNK || got < want;
            let bytes = buffer.get(..got).unwrap_or(&[]);
            let taken = self.take(bytes, gone, ends, &mut |tail, record| tail.add(record, tally, known, each));
            self.at += taken as u64;
            if taken == 0 {
                break;
            }
        }
        if self.at != before {
            self.tell();
        }
        if gone {
            self.flow.finish(tally);
            tally.lost += self.torn;
        }
        Ok(self.at != before)
    }

    /// Reads whole records from the front; returns how many bytes they were. `ends`: no more stands behind `bytes`.
    fn take(&mut self, bytes: &[u8], gone: bool, ends: bool, to: &mut dyn FnMut(&mut Tail, Record<'_>)) -> usize {
        let word =
            |at: usize| bytes.get(at..).and_then(|r| r.first_chunk()).map_or(0, |b: &[u8; 4]| u32::from_le_bytes(*b));
        let mut at = 0;
        while at + 8 <= bytes.len() {
            let (len, kind) = (word(at) as usize, word(at + 4));
            if len == 0 {
                if !gone {
                    break;
                }
                // Reserved and never begun: the next record stands at some step of 8.
                self.torn += 1;
                while at + 8 <= bytes.len() && word(at) == 0 {
                    at += 8;
                }
                continue;
            }
            let Some(body) = bytes.get(at + 8..at.saturating_add(len)) else {
                if gone && (ends || at == 0) {
                    self.torn += 1;
                    at = bytes.len();
                }
                break;
            };
            match kind {
                0 if !gone => break,
                0 => self.torn += 1,
                kind => to(self, Record::read(kind, body)),
            }
            at += len.max(8);
        }
        at.min(bytes.len())
    }

    fn add(&mut self, record: Record<'_>, tally: &mut Tally, known: &Known, each: &mut Each<'_>) {
        match record {
            Record::Module(module) if self.modules.len() < MOST_NAMES && module.path.len() < LONGEST => {
                self.modules.insert(module.id, module);
            }
            Record::Kernel(kernel) if self.kernels.len() < MOST_NAMES && kernel.name.len() < LONGEST => {
                self.kernels.insert(kernel.id, kernel);
            }
            Record::Module(_) | Record::Kernel(_) => {}
            Record::Launch(head, args) => self.launch(&head, args, tally, known, each),
            Record::Shape(id, head) if self.shapes.len() < MOST_NAMES => drop(self.shapes.insert(id, head)),
            Record::Shape(..) => {}
            Record::Node(node, head, args) => {
                let kind = (head.api != api::GRAPH_CHILD).then(|| self.kind(&head, args, tally, known));
                self.graphs.node(&node, &head, kind);
            }
            Record::Graph(record) if record.what == graph::ASKED => self.graphs.asked(&record),
            Record::Repeat(repeat) => {
                let head = repeated(&self.shapes, repeat, self.start_ns);
                self.launch(&head, &[], tally, known, each);
            }
            Record::Graph(record) if record.status != 0 => {}
            Record::Graph(record) => match record.what {
                graph::INSTANTIATE | graph::UPDATE if !self.graphs.instantiated(record.exec) => {
                    self.flow.instantiated(record.exec.into(), record.graph.into());
                }
                graph::SET => self.graphs.set(record.exec, record.stream),
                graph::CHILD => self.graphs.child(record.exec, record.stream),
                graph::ENABLE => self.graphs.enable(record.exec, record.stream, record.graph != 0),
                graph::LAUNCH => match self.graphs.replay(record.exec) {
                    Some((counts, more)) => {
                        tally.unknown_replays += u64::from(more);
                        counts.iter().for_each(|(kind, count)| self.flow.again(*kind, *count));
                    }
                    None => self.flow.replayed(tally, record.exec.into()),
                },
                _ => {}
            },
            // The end of a call carries its status; what was begun counts.
            Record::Blas(call) if call.bracket == 2 => {}
            Record::Blas(call) => {
                let extents = Call { m: call.m, n: call.n, k: call.k, batch: call.batch, type_a: call.type_a };
                let kind = tally.kind(&Kind { process: self.pid, ..Kind::call(blas::name(call.call), extents) });
                self.flow.launch(tally, kind, call.graph.into(), call.status);
            }
            Record::Readback(_) => self.flow.readback(tally),
            Record::Process(program) => self.program = program,
            Record::Runtime(runtime) if self.runtimes.len() < 64 => self.runtimes.push(runtime),
            Record::Device(file) if self.devices.len() < 1024 => self.devices.push(file),
            Record::Unsupported(name) if self.unfollowed.len() < 1024 => self.unfollowed.push(name),
            Record::Runtime(_) | Record::Device(_) | Record::Unsupported(_) => {}
            Record::NoMemory(_) | Record::Other => {}
        }
    }

    fn launch(&mut self, head: &record::Launch, args: &[u8], tally: &mut Tally, known: &Known, each: &mut Each<'_>) {
        self.records += 1;
        self.first_ns = if self.first_ns == 0 { head.time_ns } else { self.first_ns };
        self.last_ns = head.time_ns;
        let kind = self.kind(head, args, tally, known);
        if let (Some(each), Some(kind)) = (each.as_mut(), tally.get(kind)) {
            let (time_ns, thread, stream) = (head.time_ns, head.thread, head.stream);
            let (graph, args) = (head.graph, args.to_vec());
            each(&Seen { time_ns, pid: self.pid, thread, kind, stream, graph, exec: None, args });
        }
        self.flow.launch(tally, kind, head.graph.into(), head.status);
    }

    /// Which kind of launch it is.
    fn kind(&mut self, head: &record::Launch, args: &[u8], tally: &mut Tally, known: &Known) -> KindId {
        let kernel = self.kernels.get(&head.kernel);
        let module = kernel.and_then(|kernel| self.modules.get(&kernel.module));
        let (path, address) = module.map_or(("", 0), |module| (module.path.as_str(), module.address));
        let described = kernel.and_then(|kernel| known.kernel(path, address, &kernel.name));
        let name = match kernel.map(|kernel| kernel.name.as_str()) {
            None => Name::Unnamed(0),
            Some(name) => match name.strip_prefix("unnamed@").and_then(|hex| u64::from_str_radix(hex, 16).ok()) {
                Some(address) => Name::Unnamed(address),
                None => Name::Kernel(name.to_owned()),
            },
        };
        let ne11 = columns(&tally.facts(&name), described.map_or(&[], |(layout, _)| layout), args);
        let key = (head.kernel, head.grid, head.block, head.shared, head.api, ne11);
        let known_kind = self.kinds.get(&key).copied();
        let kind = known_kind.unwrap_or_else(|| {
            tally.kind(&Kind {
                process: self.pid,
                file: path.to_owned(),
                bundle: described.map(|(_, bundle)| bundle),
                grid: head.grid,
                block: head.block,
                shared: head.shared,
                ne11,
                ..Kind::kernel(name, api::name(head.api))
            })
        });
        if known_kind.is_none() && self.kinds.len() < MOST_KINDS {
            self.kinds.insert(key, kind);
        }
        // A kernel with arguments, of a library whose layouts nobody prepared.
        if described.is_none() && args.is_empty() && head.status == 0 {
            tally.unread += 1;
        }
        kind
    }

    /// Nobody will read any more: the writer need not write.
    pub fn close(&self) {
        let _ = self.file.write_at(&1_u32.to_le_bytes(), CLOSED);
    }

    /// The writer may go on; whole segments that nobody needs any more are given back.
    fn tell(&mut self) {
        let _ = self.file.write_at(&self.at.to_le_bytes(), CONSUMED);
        // The first segment holds the header; the last one is being written to.
        let end = (self.at / SEGMENT) * SEGMENT;
        let start = self.given_back.max(SEGMENT);
        if end > start {
            use rustix::fs::{FallocateFlags, fallocate};
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            if fallocate(&self.file, flags, start, end - start).is_ok() {
                self.given_back = end;
            }
        }
    }
}
