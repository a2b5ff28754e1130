//! Reads one record of a trace from the bytes after its head. `record.rs` defines the layouts.

use crate::record::{self, kind};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    pub id: u32,
    /// The path of the file. Empty for an image that was loaded from memory.
    pub path: String,
    pub address: u64,
    pub hash: u64,
    pub size: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    pub id: u32,
    pub module: u32,
    /// Index in the parent's kernel table, starting at 1. 0 means that the kernel is not in the table.
    pub entry: u32,
    pub name: String,
}

/// A library that launches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    pub build_id: String,
    pub path: String,
}

/// A device file that a process had open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The device's number (`st_rdev`).
    pub number: u64,
    pub path: String,
}

/// One record of a trace, as in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record<'a> {
    Module(Module),
    Kernel(Kernel),
    /// A launch with its argument bytes.
    Launch(record::Launch, &'a [u8]),
    /// The launch that [`Record::Repeat`] with this number repeats.
    Shape(u32, record::Launch),
    Repeat(record::Repeat),
    /// A node with its launch and argument bytes.
    Node(record::Node, record::Launch, &'a [u8]),
    Graph(record::Graph),
    Blas(Box<record::Blas>),
    Readback(record::Readback),
    NoMemory(record::NoMemory),
    Unsupported(String),
    Timed(String),
    Process(String),
    Runtime(Runtime),
    Device(Held),
    /// Padding, or a kind from a later version.
    Other,
}

impl<'a> Record<'a> {
    /// Reads a record of this kind from the bytes after its head.
    pub fn read(kind: u32, bytes: &'a [u8]) -> Record<'a> {
        let body = &mut Fields { bytes, at: 0 };
        match kind {
            kind::MODULE => {
                let (id, len) = (body.u32(), body.u32());
                let (address, hash, size) = (body.u64(), body.u64(), body.u64());
                Record::Module(Module { id, address, hash, size, path: body.text(len) })
            }
            kind::KERNEL => {
                let (id, module, entry, len) = (body.u32(), body.u32(), body.u32(), body.u32());
                Record::Kernel(Kernel { id, module, entry, name: body.text(len) })
            }
            kind::LAUNCH => {
                let head = body.launch();
                let args = bytes.get(body.at..).and_then(|rest| rest.get(..head.args_len as usize));
                Record::Launch(head, args.unwrap_or(&[]))
            }
            kind::SHAPE => {
                let (id, _) = (body.u32(), body.u32());
                Record::Shape(id, record::Launch { args_len: 0, ..body.launch() })
            }
            kind::NODE => {
                let node = record::Node { node: body.u64(), under: body.u64() };
                let head = body.launch();
                let args = bytes.get(body.at..).and_then(|rest| rest.get(..head.args_len as usize));
                Record::Node(node, head, args.unwrap_or(&[]))
            }
            kind::REPEAT => Record::Repeat(record::Repeat { shape: body.u32(), time: body.u32() }),
            kind::GRAPH => Record::Graph(record::Graph {
                time_ns: body.u64(),
                stream: body.u64(),
                what: body.u32(),
                exec: body.u32(),
                graph: body.u32(),
                status: body.u32(),
            }),
            kind::BLAS => Record::Blas(Box::new(body.blas())),
            kind::READBACK => {
                Record::Readback(record::Readback { time_ns: body.u64(), bytes: body.u64(), stream: body.u64() })
            }
            kind::NO_MEMORY => {
                Record::NoMemory(record::NoMemory { wanted: body.u64(), free: body.u64(), total: body.u64() })
            }
            kind::UNSUPPORTED | kind::TIMED | kind::PROCESS | kind::RUNTIME | kind::DEVICE => {
                let (len, _) = (body.u32(), body.u32());
                let text = body.text(len);
                match (kind, text.split_once(' ')) {
                    (kind::PROCESS, _) => Record::Process(text),
                    (kind::TIMED, _) => Record::Timed(text),
                    (kind::RUNTIME, Some((id, path))) => {
                        Record::Runtime(Runtime { build_id: id.to_owned(), path: path.to_owned() })
                    }
                    (kind::DEVICE, Some((number, path))) => number
                        .parse()
                        .map_or(Record::Other, |number| Record::Device(Held { number, path: path.to_owned() })),
                    (kind::DEVICE, None) => Record::Other,
                    _ => Record::Unsupported(text),
                }
            }
            _ => Record::Other,
        }
    }
}

/// Reads little-endian fields in sequence. A field after the end reads as zero. A truncated record then has an empty
/// name or no grid, which the caller's checks detect.
pub(crate) struct Fields<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl Fields<'_> {
    fn peek<const N: usize>(&self, at: usize) -> [u8; N] {
        self.bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
    }

    pub fn peek_u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.peek(at))
    }

    pub fn peek_u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.peek(at))
    }

    fn u32(&mut self) -> u32 {
        self.at += 4;
        self.peek_u32(self.at - 4)
    }

    fn u64(&mut self) -> u64 {
        self.at += 8;
        self.peek_u64(self.at - 8)
    }

    fn text(&self, len: u32) -> String {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let text = rest.get(..len as usize).unwrap_or(rest);
        String::from_utf8_lossy(text).into_owned()
    }

    fn launch(&mut self) -> record::Launch {
        record::Launch {
            time_ns: self.u64(),
            stream: self.u64(),
            graph: self.u32(),
            kernel: self.u32(),
            thread: self.u32(),
            device: self.u32(),
            api: self.u32(),
            status: self.u32(),
            grid: [self.u32(), self.u32(), self.u32()],
            block: [self.u32(), self.u32(), self.u32()],
            shared: self.u32(),
            args_len: self.u32(),
        }
    }

    fn blas(&mut self) -> record::Blas {
        record::Blas {
            time_ns: self.u64(),
            stream: self.u64(),
            graph: self.u32(),
            call: self.u32(),
            trans_a: self.u32(),
            trans_b: self.u32(),
            m: self.u64().cast_signed(),
            n: self.u64().cast_signed(),
            k: self.u64().cast_signed(),
            lda: self.u64().cast_signed(),
            ldb: self.u64().cast_signed(),
            ldc: self.u64().cast_signed(),
            stride_a: self.u64().cast_signed(),
            stride_b: self.u64().cast_signed(),
            stride_c: self.u64().cast_signed(),
            batch: self.u64().cast_signed(),
            type_a: self.u32(),
            type_b: self.u32(),
            type_c: self.u32(),
            compute: self.u32(),
            alpha: self.u64(),
            beta: self.u64(),
            bracket: self.u32(),
            status: self.u32(),
            lane: self.u32(),
            solution: self.u32().cast_signed(),
            device: self.u32(),
            reserved: self.u32(),
        }
    }
}
