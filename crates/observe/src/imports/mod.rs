//! Profiles that somebody else made: rocprofv3 (rocpd SQLite, csv, json) and Nsight Systems' SQLite export.
//!
//! They have what no observer of ours has: the device's own times. A dispatch with a beginning and an end on the device
//! is Completed. One without is left out and said: profilers drop times, and rows, silently.
//!
//! Layouts: rocprofiler-sdk's rocpd schema (rocpd_tables.sql and rocpd_views.sql of source/share/rocprofiler-sdk-rocpd, in
//! both of its revisions), its csv and json output (source/docs/data/kernel_trace.csv, "Using rocprofv3"), and "SQLite Export
//! Schema Reference" of Nsight Systems.

mod sqlite;
mod text;

use crate::watch::{Account, Kind, Name, Phase, Tally};
use evidence::{Canary, Contamination, DeviceKind};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{path}: {source}")]
    Sqlite { path: PathBuf, source: rusqlite::Error },
    #[error(
        "{path} is an SQLite database with none of the tables of a profile (rocpd_kernel_dispatch, \
         CUPTI_ACTIVITY_KIND_KERNEL): a profile without any kernel has no such table either. Its tables: {tables}"
    )]
    NoTable { path: PathBuf, tables: String },
    #[error("{path}, line {line}: {why}")]
    Csv { path: PathBuf, line: usize, why: String },
    #[error("{path}: {why}")]
    Json { path: PathBuf, why: String },
}

/// One dispatch, as a profile tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Dispatch {
    name: String,
    start: i64,
    end: i64,
    /// In workgroups.
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
}

/// What a file holds.
struct Profile {
    maker: &'static str,
    list: Vec<Dispatch>,
    /// Graph launches that were traced as one, without their kernels.
    graphs: u64,
}

/// A profile, counted; None where the file is none of those that are known.
pub fn read(path: &Path, bytes: &[u8]) -> Option<Result<(Tally, Account), ImportError>> {
    let profile = if bytes.starts_with(b"SQLite format 3\0") {
        match sqlite::read(path) {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        }
    } else {
        match text::read(path, bytes)? {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        }
    };
    Some(Ok(count(&profile)))
}

fn count(profile: &Profile) -> (Tally, Account) {
    let Profile { maker, list, graphs } = profile;
    let mut tally = Tally::default();
    let mut timeless = 0_u64;
    for dispatch in list {
        if dispatch.start <= 0 || dispatch.end < dispatch.start {
            timeless += 1;
            continue;
        }
        // A code object's symbol of a kernel descriptor ends so.
        let name = dispatch.name.strip_suffix(".kd").unwrap_or(&dispatch.name).to_owned();
        let name = Name::Kernel(name);
        let ne11 = launch::columns::columns(&tally.facts(&name), &[], &[]);
        let (grid, block, shared) = (dispatch.grid, dispatch.block, dispatch.shared);
        let id = tally.kind(&Kind { grid, block, shared, ne11, ..Kind::kernel(name, "dispatch") });
        tally.launched(Phase::Other, 0, id, 1);
    }
    let first = list.iter().map(|dispatch| dispatch.start).filter(|start| *start > 0).min().unwrap_or(0);
    let last = list.iter().map(|dispatch| dispatch.end).max().unwrap_or(0);
    let mut gaps = Vec::new();
    if timeless > 0 {
        gaps.push(("completion".to_owned(), format!("{timeless} dispatches without times of the device: not counted")));
    }
    if *graphs > 0 {
        let why = format!(
            "{graphs} graph launches were traced as a whole, and their kernels are in no row: profile with --cuda-graph-trace=node"
        );
        gaps.push(("graph launches".to_owned(), why));
    }
    if list.is_empty() {
        gaps.push((
            "dispatches".to_owned(),
            "the profile has no row: it shows nothing, not that nothing ran".to_owned(),
        ));
    }
    let account = Account {
        observer: "import",
        device: DeviceKind::Real,
        library: None,
        canary: Canary::None,
        contamination: Contamination::Unchecked,
        reach: format!("dispatches that {maker} wrote down"),
        blind: vec!["whatever the profiler dropped".to_owned()],
        gaps,
        seconds: last.saturating_sub(first).max(0) as f64 / 1e9,
        cost_ns: None,
    };
    (tally, account)
}
