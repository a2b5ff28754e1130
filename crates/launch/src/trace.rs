//! Reads a trace file: every record that its writer finished, in order.
//!
//! A process may have died at any instruction. Records that were reserved but not finished are counted as torn and
//! skipped. The records after them can still be read.

pub use crate::frames::TraceError;
use crate::frames::{Frame, Frames};
use crate::record;
pub use crate::record_reader::{Held, Kernel, Module, Record, Runtime};
use std::collections::HashMap;

/// The writer of a launch record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    StandIn,
    Preload,
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    pub head: record::Launch,
    /// The range of the argument bytes in the trace.
    args: (usize, usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Launch(Launch),
    Graph(record::Graph),
    Blas(Box<record::Blas>),
    Readback(record::Readback),
    NoMemory(record::NoMemory),
    /// A call that the stand-in does not support.
    Unsupported(String),
    /// A question for the time that launches took: the call, and the library that asked.
    Timed(String),
}

#[derive(Debug, Clone)]
pub struct Trace {
    pub writer: Writer,
    pub pid: u32,
    pub parent: u32,
    pub start_ns: u64,
    pub program: String,
    /// Libraries that launch, if the writer wraps them.
    pub runtimes: Vec<Runtime>,
    pub modules: Vec<Module>,
    pub kernels: Vec<Kernel>,
    pub events: Vec<Event>,
    /// Records that did not fit.
    pub lost: u64,
    /// Unfinished records.
    pub torn: u64,
    shapes: HashMap<u32, record::Launch>,
    bytes: Vec<u8>,
}

impl Trace {
    pub fn parse(bytes: Vec<u8>) -> Result<Trace, TraceError> {
        let mut frames = Frames::of(&bytes)?;
        let mut trace = Trace::blank(&frames);
        for Frame { kind, body, at } in frames.by_ref() {
            trace.add(Record::read(kind, body), at);
        }
        trace.torn = frames.torn;
        trace.bytes = bytes;
        Ok(trace)
    }

    fn add(&mut self, record: Record<'_>, at: usize) {
        match record {
            Record::Module(module) => self.modules.push(module),
            Record::Kernel(kernel) => self.kernels.push(kernel),
            Record::Launch(head, _) => {
                let args = (at + size_of::<record::Launch>(), head.args_len as usize);
                self.events.push(Event::Launch(Launch { head, args }));
            }
            // In a finished trace, a graph counts as it was when it became executable.
            Record::Node(_, head, _) if head.api == record::api::GRAPH_NODE => {
                let args = (at + size_of::<record::Node>() + size_of::<record::Launch>(), head.args_len as usize);
                self.events.push(Event::Launch(Launch { head, args }));
            }
            Record::Node(..) => {}
            Record::Shape(id, head) => drop(self.shapes.insert(id, head)),
            Record::Repeat(repeat) => {
                let head = repeated(&self.shapes, repeat, self.start_ns);
                self.events.push(Event::Launch(Launch { head, args: (0, 0) }));
            }
            Record::Graph(graph) => self.events.push(Event::Graph(graph)),
            Record::Blas(call) => self.events.push(Event::Blas(call)),
            Record::Readback(readback) => self.events.push(Event::Readback(readback)),
            Record::NoMemory(wanted) => self.events.push(Event::NoMemory(wanted)),
            Record::Unsupported(name) => self.events.push(Event::Unsupported(name)),
            Record::Timed(who) => self.events.push(Event::Timed(who)),
            Record::Process(program) => self.program = program,
            Record::Runtime(runtime) => self.runtimes.push(runtime),
            Record::Device(_) | Record::Other => {}
        }
    }

    /// The argument bytes of a launch. Empty if the writer did not know their sizes.
    pub fn args(&self, launch: &Launch) -> &[u8] {
        let (at, len) = launch.args;
        self.bytes.get(at..).and_then(|rest| rest.get(..len)).unwrap_or(&[])
    }

    /// The kernel of a launch. Ids are assigned in order, but a forked child starts with the ids of its parent.
    pub fn kernel(&self, id: u32) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.id == id)
    }

    pub fn module(&self, id: u32) -> Option<&Module> {
        self.modules.iter().find(|module| module.id == id)
    }
}

/// One more launch of a shape. If the shape was lost, the launch still counts as an unknown one.
pub fn repeated(shapes: &HashMap<u32, record::Launch>, repeat: record::Repeat, start_ns: u64) -> record::Launch {
    let time_ns = start_ns.saturating_add(u64::from(repeat.time) << record::REPEAT_SHIFT);
    match shapes.get(&repeat.shape) {
        Some(shape) => record::Launch { time_ns, ..*shape },
        None => record::Launch {
            time_ns,
            stream: 0,
            graph: 0,
            kernel: 0,
            thread: 0,
            device: 0,
            api: 0,
            status: 0,
            grid: [0; 3],
            block: [0; 3],
            shared: 0,
            args_len: 0,
        },
    }
}

impl Trace {
    /// An empty trace with the fields of the header.
    fn blank(header: &Frames<'_>) -> Trace {
        Trace {
            writer: match header.writer {
                1 => Writer::StandIn,
                2 => Writer::Preload,
                _ => Writer::Unknown,
            },
            pid: header.pid,
            parent: header.parent,
            start_ns: header.start_ns,
            program: String::new(),
            runtimes: Vec::new(),
            modules: Vec::new(),
            kernels: Vec::new(),
            events: Vec::new(),
            lost: header.lost,
            torn: 0,
            shapes: HashMap::new(),
            bytes: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{FIRST, MAGIC, kind};

    /// A handmade trace: header, then the given (length, kind, body) records.
    fn made(records: &[(u32, u32, Vec<u8>)], tail: usize) -> Vec<u8> {
        let mut bytes = vec![0; FIRST as usize];
        bytes[..8].copy_from_slice(&MAGIC);
        for (len, kind, body) in records {
            bytes.extend(len.to_le_bytes());
            bytes.extend(kind.to_le_bytes());
            bytes.extend(body);
        }
        let used = (bytes.len() + tail) as u64;
        bytes[8..16].copy_from_slice(&used.to_le_bytes());
        bytes
    }

    fn unsupported(name: &[u8]) -> (u32, u32, Vec<u8>) {
        let mut body = (name.len() as u32).to_le_bytes().to_vec();
        body.extend([0; 4]);
        body.extend(name);
        body.resize(body.len().next_multiple_of(8), 0);
        (8 + body.len() as u32, kind::UNSUPPORTED, body)
    }

    #[test]
    fn what_was_begun_and_not_finished_is_counted_and_stepped_over() {
        let mut torn = unsupported(b"half");
        torn.1 = 0;
        let never = (0, 0, vec![0; 16]);
        let trace = Trace::parse(made(&[unsupported(b"a"), torn, never, unsupported(b"b")], 0)).expect("a trace");
        assert_eq!(trace.torn, 2);
        assert_eq!(trace.events, [Event::Unsupported("a".into()), Event::Unsupported("b".into())]);
    }

    #[test]
    fn a_file_cut_short_gives_what_it_has() {
        let whole = made(&[unsupported(b"hipFirst"), unsupported(b"hipSecond")], 0);
        for len in FIRST as usize..whole.len() {
            let trace = Trace::parse(whole[..len].to_vec()).expect("a header");
            assert!(trace.events.len() <= 2);
        }
        assert_eq!(Trace::parse(whole[..100].to_vec()).err(), Some(TraceError::Short { len: 100 }));
        assert_eq!(Trace::parse(vec![7; 5000]).err(), Some(TraceError::Magic));
    }

    #[test]
    fn lengths_that_lie_do_not_lead_out_of_the_file() {
        let mut record = unsupported(b"x");
        record.0 = u32::MAX;
        let trace = Trace::parse(made(&[record], 1 << 40)).expect("a trace");
        assert_eq!(trace.events, [Event::Unsupported("x".into())]);
        let mut text = unsupported(b"y");
        text.2[0..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(Trace::parse(made(&[text], 0)).expect("a trace").events.len(), 1);
    }
}
