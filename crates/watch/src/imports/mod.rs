//! Profiles of other tools: rocprofv3 (rocpd SQLite, csv, json) and Nsight Systems' SQLite export.
//!
//! Unlike our observers, they have the device's own times. A dispatch with a start and an end on the device is
//! Completed, if the file names the device; this holds for the host that wrote the file. Dispatches without times are
//! left out and reported, because profilers silently drop times and rows. A file that names no device may come from
//! anywhere: its dispatches count only as Selected.
//!
//! Layouts: rocprofiler-sdk's rocpd schema (rocpd_tables.sql and rocpd_views.sql of source/share/rocprofiler-sdk-rocpd,
//! in both of its revisions), its csv and json output (source/docs/data/kernel_trace.csv, "Using rocprofv3"), and
//! "SQLite Export Schema Reference" of Nsight Systems.

mod sqlite;
mod text;

use crate::{Device, Gap, Kind, Maker, Name, ObserverKind, ObserverReport, Phase, SecondAccount, Tally, Unseen, Word};
use evidence::{Canary, Contamination};
use say::{Key, Message, key};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum ImportError {
    Sqlite { path: PathBuf, source: rusqlite::Error },
    Slow { path: PathBuf, seconds: u64 },
    View { path: PathBuf, name: String },
    NoTable { path: PathBuf, tables: String },
    Csv { path: PathBuf, line: usize, why: Message },
    Json { path: PathBuf, why: Message },
}

say::worded! { ImportError {
    Sqlite { path, source } => "about-why" (what = path, why = source.to_string()),
    Slow { path, seconds } => "watch-import-slow",
    View { path, name } => "watch-import-view",
    NoTable { path, tables } => "watch-import-no-table",
    Csv { path, line, why } => "watch-import-csv",
    Json { path, why } => "about-why" (what = path, why = why),
}}

/// One dispatch of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Dispatch {
    name: String,
    start: i64,
    end: i64,
    /// The grid, in workgroups.
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
}

/// The profiler that wrote the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Profiler {
    #[default]
    Rocprof,
    Nsight,
}

impl Profiler {
    fn name(self) -> &'static str {
        match self {
            Profiler::Rocprof => "rocprofv3",
            Profiler::Nsight => "Nsight Systems",
        }
    }

    /// The vendor of the profiled devices.
    fn devices(self) -> Maker {
        match self {
            Profiler::Rocprof => Maker::Amd,
            Profiler::Nsight => Maker::Nvidia,
        }
    }
}

/// The content of a file, counted while it is read.
#[derive(Debug, Default)]
struct Profile {
    by: Profiler,
    /// The device and the host, as the file names them.
    device: Option<String>,
    host: Option<String>,
    tally: Tally,
    rows: u64,
    timeless: u64,
    /// First start and last end.
    span: Option<(i64, i64)>,
    /// Graph launches that were traced as a whole, without their kernels.
    graphs: u64,
    gaps: Vec<Unseen>,
}

/// Events that this observer can never see.
pub const BLIND: &[Key] = &[key!("view-profile-blind-dropped"), key!("view-profile-blind-truth")];

/// Whether these are the first bytes of a database, which is read in place.
pub fn is_database(start: &[u8]) -> bool {
    start.starts_with(b"SQLite format 3\0")
}

/// Reads and counts a profile; None if the format is unknown. `bytes`: the content; for a database, its first bytes are
/// enough. `sha256`: the hash of the whole file.
pub fn read(path: &Path, bytes: &[u8], sha256: &str) -> Option<Result<(Tally, ObserverReport), ImportError>> {
    let mut profile = Profile::default();
    let read =
        if is_database(bytes) { sqlite::read(path, &mut profile) } else { text::read(path, bytes, &mut profile)? };
    Some(read.map(|()| profile.account(path, sha256)))
}

impl Profile {
    fn add(&mut self, dispatch: Dispatch) {
        self.rows += 1;
        let Dispatch { name, start, end, grid, block, shared } = dispatch;
        if start <= 0 || end < start {
            self.timeless += 1;
            return;
        }
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
        // The symbol of a kernel descriptor in a code object ends with this.
        let name = Name::Kernel(name.strip_suffix(".kd").map_or_else(|| name.clone(), str::to_owned));
        let ne11 = launch::columns::columns(&self.tally.facts(&name), &[], &[]);
        let id =
            self.tally.kind(&Kind { grid, block, shared, ne11, ..Kind::kernel(name, self.by.devices().recorded()) });
        self.tally.launched(Phase::Other, 0, id, 1);
    }

    fn account(self, path: &Path, sha256: &str) -> (Tally, ObserverReport) {
        let Profile { by, device, host, mut tally, rows, timeless, span, graphs, mut gaps } = self;
        let counted = [(Gap::Timeless, timeless), (Gap::GraphsWhole, graphs), (Gap::NoRow, u64::from(rows == 0))];
        gaps.extend(counted.into_iter().filter(|(_, count)| *count > 0).map(|(gap, count)| gap.times(count)));
        let device = match device {
            Some(device) => Device::Told { device },
            None => Device::Unlooked { why: say::say!("watch-device-not-in-file") },
        };
        tally.devices.told(by.devices(), device);
        let maker = by.name();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let account = ObserverReport {
            observer: ObserverKind::Import,
            device: tally.devices.kind(),
            word: Word::File { name: name.clone(), sha256: sha256.to_owned(), maker, host },
            library: None,
            library_path: None,
            canary: Canary::None,
            contamination: Contamination::Unchecked,
            reach: say::say!("view-profile", maker, name, sha256),
            blind: BLIND,
            gaps,
            second: SecondAccount::default(),
            seconds: span.map_or(0.0, |(first, last)| last.saturating_sub(first) as f64 / 1e9),
            cost_ns: None,
            ended: false,
        };
        (tally, account)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A table is finite, but a computed column can be expensive. With a deadline of zero, the first steps already
    /// exceed it.
    #[test]
    fn a_database_that_takes_too_long_is_given_up() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("slow.db");
        let database = rusqlite::Connection::open(&path).expect("a database");
        let text = "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (x INTEGER); \
            WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 100000) \
            INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE SELECT x FROM n; \
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, \"end\" INTEGER, gridX, gridY, gridZ, blockX, blockY, blockZ, \
            dynamicSharedMemory, mangledName INTEGER); CREATE TABLE StringIds (id INTEGER, value TEXT); \
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT x, x, 1, 1, 1, 1, 1, 1, 0, 1 FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE; \
            INSERT INTO StringIds SELECT 1, 'k' FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE;";
        database.execute_batch(text).expect("tables");
        drop(database);
        // Every row joins every string: ten thousand million rows.
        let error = sqlite::read_within(&path, &mut Profile::default(), Duration::ZERO).expect_err("no time");
        assert!(matches!(error, ImportError::Slow { .. }), "{error}");
    }
}
