//! Reads a trace file while it grows: complete records, in order, freeing the ring behind them.
//!
//! A record can be read once its kind is written. An unfinished record blocks the reader while the process lives (its
//! writer may be waiting for the CPU); when the process is gone, it is skipped and counted. The reader reports its
//! position to the writer, which frees the ring, and returns whole segments to the file system.

use launch::record::{FIRST, Header, MAGIC, SEGMENT};
use say::say;
use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::ops::Range;
use std::path::{Path, PathBuf};
use sys::private_dir::{self, MOST_FILES};
use sys::unix::{FileExt, MetadataExt};

/// Bytes per read.
const CHUNK: usize = 1 << 20;
const CONSUMED: u64 = offset_of!(Header, consumed) as u64;
const CLOSED: u64 = offset_of!(Header, closed) as u64;

/// The maximum number of unread bytes per process; further records are counted as lost.
pub const LIMIT: u64 = 1 << 30;
/// The maximum number of unread bytes that a correct writer leaves: its limit, plus records in progress when it was
/// reached.
const BACKLOG: u64 = LIMIT + (64 << 20);

#[derive(Debug)]
pub(crate) struct GrowingTrace {
    file: File,
    pub pid: u32,
    pub parent: u32,
    /// The writer: 1 is the stand-in GPU, 2 the preload shim, 3 the Vulkan layer.
    pub writer: u32,
    pub start_ns: u64,
    /// The owner of the file.
    pub user: u32,
    /// Records that were started and never finished.
    pub torn: u64,
    /// Records for which there was no space.
    pub lost: u64,
    at: u64,
    given_back: u64,
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

/// The complete records of one read.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    bytes: Vec<u8>,
    /// The kinds of the records, and the ranges of their bodies.
    records: Vec<(u32, Range<usize>)>,
}

impl Chunk {
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.records.iter().map(|(kind, range)| (*kind, self.bytes.get(range.clone()).unwrap_or_default()))
    }
}

impl GrowingTrace {
    /// None while the writer has not written its header yet.
    pub fn open(path: &Path) -> io::Result<Option<GrowingTrace>> {
        let file = private_dir::open(path, true).or_else(|_| private_dir::open(path, false))?;
        let user = file.metadata()?.uid();
        let mut head = [0; size_of::<Header>()];
        if file.read_at(&mut head, 0)? < head.len() || !head.starts_with(&MAGIC) {
            return Ok(None);
        }
        Ok(Some(GrowingTrace {
            file,
            pid: word(&head, 24),
            parent: word(&head, 28),
            writer: word(&head, offset_of!(Header, writer)),
            start_ns: long(&head, 32),
            user,
            torn: 0,
            lost: 0,
            at: FIRST,
            given_back: 0,
        }))
    }

    /// The next complete records; empty if there are none yet. `gone`: the process has ended, so no record will be
    /// finished any more.
    pub fn next(&mut self, gone: bool) -> io::Result<Chunk> {
        let mut head = [0; 24];
        self.file.read_at(&mut head, 0)?;
        let used = long(&head, 8);
        self.lost = self.lost.max(long(&head, 16));
        let waits = used.saturating_sub(self.at);
        if waits > BACKLOG {
            return Err(io::Error::other(say!("watch-record-too-long", used)));
        }
        let want = usize::try_from(waits).unwrap_or(CHUNK).min(CHUNK);
        let mut bytes = vec![0; want];
        let got = self.file.read_at(&mut bytes, self.at)?;
        bytes.truncate(got);
        let (records, taken) = self.whole(&bytes, gone, want < CHUNK || got < want);
        if taken > 0 {
            self.at += taken as u64;
            self.tell();
        }
        // There were only unfinished records: more may follow them.
        if records.is_empty() && taken > 0 { self.next(gone) } else { Ok(Chunk { bytes, records }) }
    }

    /// Complete records from the front, and their total size in bytes. `ends`: nothing follows.
    fn whole(&mut self, bytes: &[u8], gone: bool, ends: bool) -> (Vec<(u32, Range<usize>)>, usize) {
        let (mut records, mut at) = (Vec::new(), 0);
        while at + 8 <= bytes.len() {
            let (len, kind) = (word(bytes, at) as usize, word(bytes, at + 4));
            if len == 0 {
                if !gone {
                    break;
                }
                // The space was reserved but never written to: the next record is at some multiple of 8.
                self.torn += 1;
                while at + 8 <= bytes.len() && word(bytes, at) == 0 {
                    at += 8;
                }
                continue;
            }
            let end = at.saturating_add(len);
            if end > bytes.len() || end < at + 8 {
                if gone && (ends || at == 0) {
                    self.torn += 1;
                    at = bytes.len();
                }
                break;
            }
            match kind {
                0 if !gone => break,
                0 => self.torn += 1,
                kind => records.push((kind, at + 8..end)),
            }
            at = end;
        }
        (records, at.min(bytes.len()))
    }

    /// There will be no reader any more, so the writer can stop writing.
    pub fn close(&self) {
        let _ = self.file.write_at(&1_u32.to_le_bytes(), CLOSED);
    }

    /// Lets the writer continue, and returns whole segments that are no longer needed to the file system.
    fn tell(&mut self) {
        let _ = self.file.write_at(&self.at.to_le_bytes(), CONSUMED);
        // The first segment holds the header; the last one is being written to.
        let end = (self.at / SEGMENT) * SEGMENT;
        let start = self.given_back.max(SEGMENT);
        if end > start && sys::host::punch_hole(&self.file, start, end - start).is_ok() {
            self.given_back = end;
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |four| u32::from_le_bytes(*four))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |eight| u64::from_le_bytes(*eight))
}
