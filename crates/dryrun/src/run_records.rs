//! The records of a run: traces, counters, and the texts that its processes wrote.

use crate::error::{DryrunError, io_at};
use crate::products::{Account, Computed};
use launch::nullgpu_input::COUNTED;
use launch::record::kind;
use launch::trace::{Event, Trace};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use sys::private_dir::{self, MOST_FILES};

/// The maximum size of one process's graphs: more than the 64 recorded graphs take.
const MOST_GRAPHS: u64 = 256 << 20;

/// The maximum number of bytes read from one process: more means a false header.
const MOST_BYTES: u64 = 16 << 30;

/// The stand-in's own counters: processes that called HIP, and records by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted([u64; COUNTED]);

impl Counted {
    pub fn parse(page: &[u8]) -> Option<Counted> {
        let mut counts = [0; COUNTED];
        for (count, bytes) in counts.iter_mut().zip(page.get(..8 * COUNTED)?.chunks_exact(8)) {
            *count = bytes.first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight));
        }
        Some(Counted(counts))
    }

    pub fn processes(&self) -> u64 {
        self.0.first().copied().unwrap_or(0)
    }

    /// Records that were counted but are not in the traces.
    pub(crate) fn beyond(&self, traces: &[Trace]) -> u64 {
        let mut read = [0_u64; COUNTED];
        for event in traces.iter().flat_map(|trace| &trace.events) {
            let kind = match event {
                Event::Launch(_) => kind::LAUNCH,
                Event::Graph(_) => kind::GRAPH,
                Event::Blas(_) => kind::BLAS,
                Event::Readback(_) => kind::READBACK,
                Event::NoMemory(_) => kind::NO_MEMORY,
                Event::Unsupported(_) => kind::UNSUPPORTED,
                Event::Timed(_) => kind::TIMED,
            };
            if let Some(count) = read.get_mut(kind as usize) {
                *count += 1;
            }
        }
        self.0.iter().zip(read).skip(1).map(|(counted, read)| counted.saturating_sub(read)).sum()
    }
}

/// The files that the processes wrote, by the end of their names.
pub(crate) fn texts(directory: &Path, start: &str) -> Result<BTreeMap<String, String>, DryrunError> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).map_err(io_at(directory))?.flatten().take(MOST_FILES) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let Some(of) = name.strip_prefix(start) else { continue };
        let mut text = Vec::new();
        let file = sys::regular_file::open(&path).map_err(io_at(&path))?;
        file.take(MOST_GRAPHS).read_to_end(&mut text).map_err(io_at(&path))?;
        found.insert(of.to_owned(), String::from_utf8_lossy(&text).into_owned());
    }
    Ok(found)
}

/// The counted products of each process.
pub(crate) fn products_in(directory: &Path) -> Result<Account, DryrunError> {
    let computed = |(process, text): (String, String)| Some((process.parse().ok()?, Computed::parse(&text)));
    Ok(texts(directory, "products.")?.into_iter().filter_map(computed).collect())
}

pub(crate) fn collect(directory: &Path) -> Result<(Vec<Trace>, Vec<Trace>), DryrunError> {
    let (mut traces, mut seen) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(directory).map_err(io_at(directory))?.flatten().take(MOST_FILES) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let list = match name.split_once('.') {
            Some(("trace", _)) => &mut traces,
            Some(("seen", _)) => &mut seen,
            _ => continue,
        };
        list.extend(read(&path)?);
    }
    traces.sort_by_key(|trace| trace.start_ns);
    seen.sort_by_key(|trace| trace.start_ns);
    Ok((traces, seen))
}

fn read(path: &Path) -> Result<Option<Trace>, DryrunError> {
    let Some(bytes) = read_bytes(path)? else { return Ok(None) };
    Trace::parse(bytes).map(Some).map_err(|source| DryrunError::Trace { path: path.to_owned(), source })
}

/// The file grows by whole segments; only the used part is read. None for a file whose process was killed while
/// creating it.
pub(crate) fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, DryrunError> {
    let mut file = private_dir::open(path, false).map_err(io_at(path))?;
    let mut head = [0; 16];
    if file.metadata().map_err(io_at(path))?.len() < launch::record::FIRST {
        return Ok(None);
    }
    file.read_exact(&mut head).map_err(io_at(path))?;
    let used = head.last_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes)).max(4096);
    if used > MOST_BYTES {
        return Err(io_at(path)(std::io::Error::other(say::say!("watch-record-too-long", used))));
    }
    let mut bytes = head.to_vec();
    file.take(used - 16).read_to_end(&mut bytes).map_err(io_at(path))?;
    if !bytes.starts_with(&launch::record::MAGIC) && bytes.iter().take(8).all(|byte| *byte == 0) {
        return Ok(None);
    }
    Ok(Some(bytes))
}
