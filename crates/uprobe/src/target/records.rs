//! The kernel's own records of forks, execs, exits and mappings, as perf writes them (perf_event_open(2)).

use crate::target::processes::Mapping;

// PERF_RECORD_*
pub(super) const LOST: u32 = 2;
pub(super) const COMM: u32 = 3;
pub(super) const EXIT: u32 = 4;
pub(super) const FORK: u32 = 7;
pub(super) const MMAP2: u32 = 10;

pub(super) fn word(body: &[u8], at: usize) -> u32 {
    body.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

pub(super) fn long(body: &[u8], at: usize) -> u64 {
    body.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Every record ends with `pid, tid, time`.
pub(super) fn time_of(body: &[u8]) -> u64 {
    long(body, body.len().saturating_sub(8))
}

/// Parses a mapping record: `pid tid addr len pgoff maj min ino generation prot flags filename`.
pub(super) fn mapping(body: &[u8]) -> Option<Mapping> {
    const EXECUTABLE: u32 = 4;
    if word(body, 56) & EXECUTABLE == 0 {
        return None;
    }
    let name = body.get(64..body.len().saturating_sub(16))?;
    let name = name.split(|byte| *byte == 0).next().unwrap_or(&[]);
    let path = String::from_utf8_lossy(name).into_owned();
    let (start, len, inode) = (long(body, 8), long(body, 16), long(body, 40));
    // Code that a program generates is not in a file (`//anon`): a shader compiler does that for every shader.
    (path.starts_with('/') && inode != 0).then(|| Mapping {
        start,
        end: start.saturating_add(len),
        offset: long(body, 24),
        device: (word(body, 32), word(body, 36)),
        inode,
        path,
    })
}
