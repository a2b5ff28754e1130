//! The data that the BPF programs write and user space reads: offsets for the former, fields for the latter.

/// Offsets in the key that launches are counted under.
pub mod key {
    pub const HANDLE: i16 = 0;
    pub const TGID: i16 = 8;
    pub const ENTRY: i16 = 12;
    /// The grid; for a GEMM: m, n, k.
    pub const GRID: i16 = 16;
    /// The block; for a GEMM: batch, type of A, 0.
    pub const BLOCK: i16 = 28;
    pub const SHARED: i16 = 40;
    /// The column count, or `NONE`.
    pub const COLUMNS: i16 = 44;
    /// The capture that the launch is part of; 0: none. For a node: its kind.
    pub const GRAPH: i16 = 48;
    /// Only for a call in progress: the stack pointer when it began. Launches are counted without it.
    pub const STACK: i16 = 56;
    pub const SIZE: i16 = 64;
    pub const NONE: u32 = u32::MAX;
}

/// Offsets in a record of the ring.
pub mod event {
    pub const KIND: i16 = 0;
    pub const TID: i16 = 4;
    pub const TIME: i16 = 8;
    pub const KEY: i16 = 16;
    pub const STREAM: i16 = 80;
    /// The result of the call, or the runtime's handle of a driver launch.
    pub const AUX: i16 = 88;
    pub const STATUS: i16 = 96;
    pub const LEN: i16 = 100;
    pub const BYTES: i16 = 104;
    /// A record with few bytes: push constants, command buffers.
    pub const MIDDLE: i32 = 104 + MIDDLE_BYTES;
    pub const MIDDLE_BYTES: i32 = 256;
    /// A record with argument bytes or a name.
    pub const LONG: i32 = 104 + 2048;
    pub const SHORT: i32 = 104;
}

/// The kind of a record.
pub mod kind {
    /// A launch, replay, update or copy, at its entry.
    pub const CALL: i32 = 1;
    /// A launch that returned an error.
    pub const REJECTED: i32 = 2;
    /// A call with a result, at its return, if it was accepted.
    pub const ANSWER: i32 = 3;
    /// A process is about to stop on its way out of a system call and must be handled.
    pub const HELD: i32 = 4;
    /// One part of a call in progress: the command buffers of a submission.
    pub const PART: i32 = 5;
}

/// Indexes in the list of counters.
pub mod counter {
    pub const DROPPED: i32 = 0;
    pub const UNCOUNTED: i32 = 1;
    pub const UNREAD: i32 = 2;
    pub const CAPTURES: i32 = 3;
    pub const LAUNCHES: i32 = 4;
    /// Lost records about graphs, captures and names: replays may launch something else.
    pub const UNTOLD: i32 = 5;
    /// Lost records of Vulkan calls: the content of command buffers is unknown from then on.
    pub const TORN: i32 = 6;
    /// Graph calls that a thread started again before the previous one returned: an exception left the previous one.
    pub const LEFT: i32 = 7;
    pub const SIZE: u32 = 8;
}

/// The number of gates; further files share the first.
pub const GATES: u32 = 256;
/// The offset of the flags behind the gates.
pub const FLAGS_AT: i32 = 4 * GATES as i32;

/// What the programs do besides counting. Each saves work as long as it is not set.
pub mod flag {
    pub const ARGUMENTS: i32 = 1;
    pub const RETURNS: i32 = 2;
    /// A runtime's calls were observed at least once: they name the driver's launches.
    pub const OUTER: i32 = 4;
    /// At least one kernel's layout is known.
    pub const LAYOUTS: i32 = 8;
    /// Launches are only counted: no record is sent.
    pub const QUIET: i32 = 16;
}

/// Offsets in the value of a count.
pub mod count {
    pub const CALLS: i16 = 0;
    /// Calls whose return was seen, and those of them that were accepted.
    pub const RETURNED: i16 = 8;
    pub const ACCEPTED: i16 = 16;
    pub const SIZE: u32 = 24;
}

/// Entry numbers from here on are indexes into the list of unknown functions.
pub const UNKNOWN: u32 = 1 << 16;

/// The maximum number of arguments read per kernel.
pub const ARGS: usize = 64;
/// Bytes of a kernel's layout in its map.
pub const LAYOUT: usize = 16 + 4 * ARGS;
/// Offset and size of one argument must be below this.
pub const REACH: i32 = 1024;

/// The key that launches are counted under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    pub handle: u64,
    pub tgid: u32,
    pub entry: u32,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub columns: u32,
    pub graph: u32,
}

/// The counts of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    pub calls: u64,
    pub returned: u64,
    pub accepted: u64,
}

impl Count {
    pub fn read(bytes: &[u8]) -> Count {
        let [calls, returned, accepted] = [count::CALLS, count::RETURNED, count::ACCEPTED].map(|at| u64_at(bytes, at));
        Count { calls, returned, accepted }
    }
}

fn u32_at(bytes: &[u8], at: i16) -> u32 {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: i16) -> u64 {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

impl Key {
    pub fn read(bytes: &[u8]) -> Key {
        let three = |at: i16| [u32_at(bytes, at), u32_at(bytes, at + 4), u32_at(bytes, at + 8)];
        Key {
            handle: u64_at(bytes, key::HANDLE),
            tgid: u32_at(bytes, key::TGID),
            entry: u32_at(bytes, key::ENTRY),
            grid: three(key::GRID),
            block: three(key::BLOCK),
            shared: u32_at(bytes, key::SHARED),
            columns: u32_at(bytes, key::COLUMNS),
            graph: u32_at(bytes, key::GRAPH),
        }
    }
}

/// A record of the ring.
#[derive(Debug, Clone, Copy)]
pub struct Event<'r> {
    pub kind: i32,
    pub tid: u32,
    pub time: u64,
    pub key: Key,
    pub stream: u64,
    pub aux: u64,
    pub status: u32,
    /// Argument bytes by their layout, or a name.
    pub bytes: &'r [u8],
}

impl<'r> Event<'r> {
    pub fn read(record: &'r [u8]) -> Event<'r> {
        let key = usize::try_from(event::KEY).unwrap_or(0);
        let bytes = record.get(usize::try_from(event::BYTES).unwrap_or(0)..).unwrap_or(&[]);
        let len = u32_at(record, event::LEN) as usize;
        Event {
            kind: u32_at(record, event::KIND).cast_signed(),
            tid: u32_at(record, event::TID),
            time: u64_at(record, event::TIME),
            key: Key::read(record.get(key..).unwrap_or(&[])),
            stream: u64_at(record, event::STREAM),
            aux: u64_at(record, event::AUX),
            status: u32_at(record, event::STATUS),
            bytes: bytes.get(..len).unwrap_or(bytes),
        }
    }
}

/// A kernel's layout as the programs look it up: number of arguments, which one is the column count, then offset and
/// size of each. Arguments beyond the limit are left out, and the kernel's bytes end there.
pub fn layout(args: &[(u32, u32)], columns: Option<usize>) -> Vec<u8> {
    let reach = REACH.cast_unsigned();
    let fits = |arg: &&(u32, u32)| arg.0 < reach && arg.1 < reach;
    let args: Vec<&(u32, u32)> = args.iter().take_while(fits).take(ARGS).collect();
    let end = args.iter().map(|(at, size)| at + size).max().unwrap_or(0);
    let columns = columns.filter(|place| *place < args.len()).and_then(|place| u32::try_from(place).ok());
    let mut out = Vec::with_capacity(LAYOUT);
    for word in [args.len() as u32, columns.unwrap_or(key::NONE), end, 0] {
        out.extend(word.to_le_bytes());
    }
    for (at, size) in args {
        out.extend((*at as u16).to_le_bytes());
        out.extend((*size as u16).to_le_bytes());
    }
    out.resize(LAYOUT, 0);
    out
}
