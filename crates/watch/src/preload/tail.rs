//! One process's launches, read from the trace file of the preload shim.

use crate::growing_trace::GrowingTrace;
use crate::preload::Known;
use crate::preload::account::SEARCHED;
use crate::preload::graphs::Graphs;
use crate::{Call, Fate, Flow, Kind, KindId, Name, ObservedLaunch, Tally};
use launch::columns::columns;
use launch::record::{self, api, blas, graph};
use launch::trace::{Held, Kernel, Module, Record, Runtime, repeated};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// The number of shapes that are cached. A program with a new grid for every launch then costs time, not memory.
const MOST_KINDS: usize = 1 << 16;

/// The maximum number of names, modules and shapes per process, and the maximum length of a name.
const MOST_NAMES: usize = 1 << 20;
const LONGEST: usize = 1 << 16;

/// The call name of a replay: the record does not say which runtime function requested it.
const REPLAY: &str = "graph launch";

/// A callback for every single launch.
pub type Each<'e> = Option<&'e mut dyn FnMut(&ObservedLaunch<'_>)>;

/// Kernel, grid, block, shared memory, call and columns: launches of a process with equal values are counted together.
type Shape = (u32, [u32; 3], [u32; 3], u32, u32, Option<u64>);

#[derive(Debug)]
pub struct Tail {
    trace: GrowingTrace,
    pub path: PathBuf,
    pub pid: u32,
    pub parent: u32,
    pub program: String,
    pub runtimes: Vec<Runtime>,
    /// Device files that the process reported to have held after it launched.
    pub devices: Vec<Held>,
    /// Calls whose effects are not tracked.
    pub unfollowed: Vec<String>,
    /// Calls that ended in an exception.
    pub threw: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    /// Launches read; a replay counts once.
    pub records: u64,
    /// Records that were already counted as lost.
    lost: u64,
    shapes: HashMap<u32, record::Launch>,
    kernels: HashMap<u32, Kernel>,
    modules: HashMap<u32, Module>,
    kinds: HashMap<Shape, KindId>,
    flow: Flow,
    pub(super) graphs: Graphs,
    /// Why reading stopped.
    pub broken: Option<say::Message>,
    /// The owner of the file.
    pub user: u32,
}

impl Tail {
    /// None while the writer has not written its header yet.
    pub fn open(path: &Path) -> io::Result<Option<Tail>> {
        let Some(trace) = GrowingTrace::open(path)? else { return Ok(None) };
        Ok(Some(Tail {
            path: path.to_owned(),
            pid: trace.pid,
            parent: trace.parent,
            program: String::new(),
            runtimes: Vec::new(),
            devices: Vec::new(),
            unfollowed: Vec::new(),
            threw: 0,
            first_ns: 0,
            last_ns: 0,
            records: 0,
            lost: 0,
            shapes: HashMap::new(),
            kernels: HashMap::new(),
            modules: HashMap::new(),
            kinds: HashMap::new(),
            flow: Flow::default(),
            graphs: Graphs::default(),
            broken: None,
            user: trace.user,
            trace,
        }))
    }

    /// Reads the available records. `gone`: the process has ended, so no record will be finished any more.
    ///
    /// Returns whether there were any records.
    pub fn drain(&mut self, tally: &mut Tally, known: &Known, gone: bool, each: &mut Each<'_>) -> io::Result<bool> {
        let mut any = false;
        loop {
            let chunk = self.trace.next(gone)?;
            tally.lost += self.trace.lost.saturating_sub(self.lost);
            self.lost = self.trace.lost;
            if chunk.is_empty() {
                break;
            }
            any = true;
            chunk.iter().for_each(|(kind, body)| self.add(Record::read(kind, body), tally, known, each));
        }
        if gone {
            self.flow.finish(tally);
            tally.lost += self.trace.torn;
        }
        Ok(any)
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
                let head = repeated(&self.shapes, repeat, self.trace.start_ns);
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
                graph::LAUNCH => {
                    if let Some(each) = each {
                        let kind = Kind::kernel(Name::Call(REPLAY.to_owned()), REPLAY);
                        let id = tally.kind(&kind);
                        let (fate, exec) = (Fate::Returned(record.status), Some(record.exec.into()));
                        each(&ObservedLaunch {
                            fate,
                            stream: record.stream,
                            exec,
                            ..self.unplaced(record.time_ns, &kind, id)
                        });
                    }
                    match self.graphs.replay(record.exec) {
                        Some((counts, more)) => {
                            tally.unknown_replays += u64::from(more);
                            counts.iter().for_each(|(kind, count)| self.flow.again(*kind, *count));
                        }
                        None => self.flow.replayed(tally, record.exec.into()),
                    }
                }
                _ => {}
            },
            // The record of a call's end contains only its status; the record of its start was counted.
            Record::Blas(call) if call.bracket == 2 => {}
            Record::Blas(call) => {
                let extents = Call { m: call.m, n: call.n, k: call.k, batch: call.batch, type_a: call.type_a };
                let kind = tally.kind(&Kind { process: self.pid, ..Kind::call(blas::name(call.call), extents) });
                // The return value of a call that starts here is in a separate record.
                let fate = if call.bracket == 0 { Fate::Returned(call.status) } else { Fate::Made };
                if let (Some(each), Some(known)) = (each.as_mut(), tally.get(kind)) {
                    let seen = self.unplaced(call.time_ns, known, kind);
                    each(&ObservedLaunch { fate, stream: call.stream, graph: call.graph, ..seen });
                }
                self.flow.launch(tally, kind, call.graph.into(), call.status);
            }
            Record::Readback(_) => self.flow.readback(tally),
            Record::Process(program) => self.program = program,
            Record::Runtime(runtime) if self.runtimes.len() < 64 => self.runtimes.push(runtime),
            Record::Device(file) if self.devices.len() < 1024 => self.devices.push(file),
            Record::Unsupported(name) if name == "exception" => self.threw += 1,
            Record::Unsupported(name) if self.unfollowed.len() < 1024 || name == SEARCHED => self.unfollowed.push(name),
            Record::Runtime(_) | Record::Device(_) | Record::Unsupported(_) => {}
            Record::NoMemory(_) | Record::Timed(_) | Record::Other => {}
        }
    }

    fn launch(&mut self, head: &record::Launch, args: &[u8], tally: &mut Tally, known: &Known, each: &mut Each<'_>) {
        self.records += 1;
        self.first_ns = if self.first_ns == 0 { head.time_ns } else { self.first_ns };
        self.last_ns = head.time_ns;
        let kind = self.kind(head, args, tally, known);
        if let (Some(each), Some(known)) = (each.as_mut(), tally.get(kind)) {
            each(&ObservedLaunch {
                time_ns: head.time_ns,
                pid: self.pid,
                thread: head.thread,
                kind: known,
                id: kind,
                fate: Fate::Returned(head.status),
                stream: head.stream,
                graph: head.graph,
                exec: None,
                args: args.to_vec(),
                took_ns: None,
            });
        }
        self.flow.launch(tally, kind, head.graph.into(), head.status);
    }

    /// A call or a replay. The record does not name its thread, and it has no arguments.
    fn unplaced<'k>(&self, time_ns: u64, kind: &'k Kind, id: KindId) -> ObservedLaunch<'k> {
        ObservedLaunch {
            time_ns,
            pid: self.pid,
            thread: 0,
            kind,
            id,
            fate: Fate::Made,
            stream: 0,
            graph: 0,
            exec: None,
            args: Vec::new(),
            took_ns: None,
        }
    }

    /// Determines the kind of a launch.
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
        // A kernel with arguments, of a library without prepared layouts.
        if described.is_none() && args.is_empty() && head.status == 0 {
            tally.unread += 1;
        }
        kind
    }

    /// There will be no reader any more, so the writer can stop writing.
    pub fn close(&self) {
        self.trace.close();
    }
}
