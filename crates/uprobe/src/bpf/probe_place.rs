//! Probes on one file: the sizes and choices that apply to them, their places, and the result.

use crate::bpf::program::Way;
use crate::probes::entries::{ENTRIES, Role};
use crate::probes::exits::exits;
use crate::probes::site::Site;
use crate::probes::symbols::Symbol;
use codeobject::launch_map::Image;

use std::sync::Arc;
use sys::perf_event::Event;
use sys::unix::OwnedFd;

/// The sizes that matter when there are many launches.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Size of the ring in bytes, a power of two.
    pub ring: u32,
    /// Distinct launches that can be counted.
    pub counts: u32,
    /// Kernels whose arguments are known, and calls in progress.
    pub layouts: u32,
    pub calls: u32,
    /// Pages per CPU for the kernel's records of processes and mappings, a power of two.
    pub pages: usize,
}

impl Room {
    /// For a watch of weeks that counts coarsely: the kernel's memory for it is a few megabytes.
    pub const SMALL: Room = Room { ring: 1 << 20, counts: 1 << 13, layouts: 1 << 14, calls: 1 << 12, pages: 16 };
}

impl Default for Room {
    fn default() -> Self {
        Room { ring: 16 << 20, counts: 1 << 16, layouts: 1 << 16, calls: 1 << 15, pages: 128 }
    }
}

/// Which site of each function is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    Cheapest,
    /// The first instruction, for comparison.
    Naive,
}

/// Whether a watched process may call the functions while their probes are being placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// No observed process runs yet: nothing can be half observed.
    Nobody,
    /// No probe of a file sees anything until all of them are in place.
    Perhaps,
}

/// The result of probing one file.
#[derive(Debug, Clone, Default)]
pub struct Probed {
    pub functions: Vec<(&'static str, Site)>,
    pub stepped: usize,
    /// Unknown exports that may launch and are not even counted.
    pub uncounted: Vec<String>,
}

/// A function of a file, and the position of its probe.
#[derive(Debug, Clone)]
pub(super) struct ProbePlace {
    pub(super) path: String,
    /// The function's offset in the file.
    pub(super) offset: u64,
    pub(super) entry: usize,
    pub(super) site: Site,
    pub(super) gate: u32,
    /// The file offsets of the instructions that return; empty if the kernel's return probe is used.
    pub(super) exits: Arc<[u64]>,
}

impl ProbePlace {
    pub(super) fn way(&self, what: What) -> Way {
        match what {
            What::Answer | What::Return if self.exits.is_empty() => Way::Trampoline,
            _ => Way::Instruction,
        }
    }
}

/// A probe ends when its descriptor is closed.
#[derive(Debug)]
#[expect(dead_code, reason = "held, not used")]
pub(super) enum Probe {
    Link(OwnedFd),
    Event(Event),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum What {
    Entry,
    Answer,
    Return,
    Unknown,
}

/// A function that a program obtained as a pointer.
#[derive(Debug)]
pub struct Pointed<'p> {
    pub entry: usize,
    pub path: &'p str,
    /// File offset, and load address in the file.
    pub offset: u64,
    pub address: u64,
    pub code: &'p [u8],
}

/// The file offsets of the instructions that return from a function; None if some of the returns are unknown.
pub(super) fn returns(image: &Image<'_>, symbol: &Symbol) -> Option<Arc<[u64]>> {
    let found = exits(image, symbol.address, symbol.size);
    let offsets: Vec<u64> = found.returns.iter().filter_map(|address| image.file_offset(*address)).collect();
    // The result of a call that creates or changes something must not be missed; a launch's status may be.
    let launch = ENTRIES.get(symbol.entry).is_some_and(|entry| matches!(entry.role, Role::Launch(_)));
    let enough = if launch { found.some() } else { found.known() };
    (enough && offsets.len() == found.returns.len()).then(|| offsets.into())
}
