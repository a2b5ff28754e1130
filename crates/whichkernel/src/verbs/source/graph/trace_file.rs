//! Reads a trace of `dryrun --trace`.

use launch::lines::Closing;
use say::{Context as _, say};
use source::graph::{At, RecordedLaunch, SeenEvaluation, Trace};
use std::path::Path;
use sys::regular_file;

/// A size limit; any trace of one model's run is smaller.
const MOST_TRACE: u64 = 256 << 20;

/// The relevant fields of a line of `dryrun --trace`.
#[derive(serde::Deserialize)]
struct Line {
    evaluation: u64,
    /// The call; a launch also has its kernel.
    api: String,
    kernel: Option<String>,
    grid: Option<[i64; 3]>,
    block: Option<[i64; 3]>,
    ne11: Option<i64>,
    #[serde(default)]
    pid: u64,
    device: Option<u32>,
    #[serde(default)]
    time_ns: u64,
    /// The driver's return value; 0 means accepted.
    #[serde(default)]
    status: i64,
}

/// The launches of a dry run by evaluation; the first product of an evaluation gives its column count.
pub fn read(path: &Path) -> say::Result<Trace> {
    let shown = || path.display().to_string();
    let bytes = regular_file::whole(path, MOST_TRACE).about(shown())?;
    let text = String::from_utf8_lossy(&bytes);
    let mut out: Vec<SeenEvaluation> = Vec::new();
    let (mut lines, mut told): (u64, Option<u64>) = (0, None);
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        if let Ok(Closing { end }) = serde_json::from_str(line) {
            // Launches that the writer lost are not in the lines.
            let all = end.lines.saturating_add(end.lost).saturating_add(end.unknown_replays);
            told = Some(told.unwrap_or(0).saturating_add(all));
            continue;
        }
        lines += 1;
        let line: Line =
            serde_json::from_str(line).with_context(|| say!("command-not-a-trace-line", path, line = number + 1))?;
        let at = At { process: line.pid, device: line.device, time_ns: line.time_ns };
        // A library call has no grid of its own, so its line's grid is ignored.
        let launch = match line.kernel {
            Some(kernel) => RecordedLaunch { kernel, grid: line.grid, block: line.block, refused: line.status != 0 },
            None => RecordedLaunch { kernel: line.api, grid: None, block: None, refused: line.status != 0 },
        };
        match out.last_mut().filter(|last| last.number == line.evaluation) {
            Some(last) => {
                last.columns = if last.columns > 0 { last.columns } else { line.ne11.unwrap_or(0) };
                last.launches.push((at, launch));
            }
            None => out.push(SeenEvaluation {
                number: line.evaluation,
                columns: line.ne11.unwrap_or(0),
                launches: vec![(at, launch)],
            }),
        }
    }
    Ok(Trace { name: shown(), evaluations: out, whole: told == Some(lines) })
}
