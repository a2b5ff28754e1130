//! A record that somebody made, as a tally: a trace of ours, a profile, a log, or the words of a server.

use crate::claims::{Claims, of_log};
use crate::{
    Call, Device, Gap, Kind, Name, ObserverKind, ObserverReport, Phase, Pipeline, Tally, Took, Word, add_trace,
    imports, logs,
};
use evidence::{Canary, Contamination, DeviceKind};
use launch::lines::{self, Line};
use launch::record::blas;
use launch::trace::{Trace, Writer};
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    Profile(#[from] imports::ImportError),
    #[error(
        "no launch trace, no profile (rocprofv3, Nsight Systems), no line of the logs that are known here (AMD_LOG_LEVEL, ROCBLAS_LAYER, TENSILE_DB and HIPBLASLT_LOG_MASK), and no word of llama.cpp or Ollama"
    )]
    Unknown(#[source] launch::trace::TraceError),
}

/// `bytes`: the file's, of a database the first ones; `sha256`: of the whole file.
pub fn read_record(path: &Path, bytes: &[u8], sha256: &str) -> Result<(Tally, ObserverReport), RecordError> {
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let word = |maker: &'static str| Word::File { name: file.clone(), sha256: sha256.to_owned(), maker, host: None };
    let source = match Trace::parse(bytes.to_vec()) {
        Ok(found) => return Ok(trace(found, word("whichkernel"))),
        Err(error) => error,
    };
    if let Some(profile) = imports::read(path, bytes, sha256) {
        return Ok(profile?);
    }
    log(bytes, word("unknown"))
        .or_else(|| written_trace(bytes, word("unknown")))
        .or_else(|| words(&file, bytes, word("unknown")))
        .ok_or_else(|| RecordError::Unknown(source))
}

/// A log that somebody made, mixed with anything else.
fn log(bytes: &[u8], word: Word) -> Option<(Tally, ObserverReport)> {
    let mut tally = Tally::default();
    let account = logs::read_log(&String::from_utf8_lossy(bytes), &mut tally, word)?;
    Some((tally, account))
}

/// What `--trace` wrote: one launch a line.
fn written_trace(bytes: &[u8], word: Word) -> Option<(Tally, ObserverReport)> {
    let found = lines::read(bytes)?;
    let mut tally = Tally::default();
    let count = |which: fn(&Line) -> bool| found.lines.iter().filter(|line| which(line)).count() as u64;
    let (captured, replays) = (count(|line| line.is_captured() && !line.is_replay()), count(Line::is_replay));
    for line in found.lines.iter().filter(|line| !line.is_captured() && !line.is_replay()) {
        let kind = tally.kind(&kind(line));
        match line.status {
            0 => {
                tally.launched(Phase::Other, 0, kind, 1);
                if let Some(ns) = line.took_ns {
                    tally.took(Phase::Other, 0, kind, Took::once(ns));
                }
            }
            _ => tally.rejected(kind, 1),
        }
    }
    let stand_in = found.lines.iter().all(|line| line.by.as_deref() == Some(lines::STAND_IN));
    tally.devices.told(match stand_in {
        true => Device::StandIn,
        false => Device::Unlooked { why: "a trace does not say which device its processes had".to_owned() },
    });
    let observer = if stand_in { ObserverKind::Dryrun } else { ObserverKind::Trace };
    let reach = "the launches that a trace holds".to_owned();
    let mut account = plain(observer, tally.devices.kind(), reach, word);
    if found.damaged > 0 {
        account.gaps.push(Gap::DamagedLines.times(found.damaged));
    }
    if found.cut_off {
        account.gaps.push(Gap::CutOff.into());
    }
    if captured + replays > 0 {
        account.gaps.push(Gap::TraceGraphs { replays }.times(captured));
    }
    Some((tally, account))
}

fn kind(line: &Line) -> Kind {
    if line.is_call() {
        let extent = |size: Option<i64>| size.unwrap_or(-1);
        let [m, n, k, batch] = [line.m, line.n, line.k, line.batch].map(extent);
        return Kind::call(blas::known(&line.api), Call { m, n, k, batch, type_a: u32::MAX });
    }
    let name = match (&line.kernel, &line.pipeline) {
        (Some(name), Some(identity)) => {
            let (name, weights, identity) = (name.clone(), line.weights.clone(), identity.clone());
            Name::Pipeline(Pipeline { name, weights, identity })
        }
        (Some(name), None) => Name::Kernel(name.clone()),
        (None, _) => Name::Unnamed(line.address.unwrap_or_default()),
    };
    Kind {
        grid: line.grid,
        block: line.block,
        shared: line.shmem,
        ne11: line.ne11,
        file: line.file.clone().unwrap_or_default(),
        bundle: line.bundle,
        ..Kind::kernel(name, "trace")
    }
}

/// A server's log without any launch: what it claims can be shown, and nothing held against it.
fn words(file: &str, bytes: &[u8], word: Word) -> Option<(Tally, ObserverReport)> {
    let mut claims = Claims::default();
    of_log(file, &String::from_utf8_lossy(bytes), &mut claims);
    let mut account =
        plain(ObserverKind::Logs, DeviceKind::None, "lines that a server wrote of itself".to_owned(), word);
    account.gaps.push(Gap::OnlyWords.into());
    (!claims.list.is_empty()).then(|| (Tally::default(), account))
}

fn plain(observer: ObserverKind, device: DeviceKind, reach: String, word: Word) -> ObserverReport {
    ObserverReport {
        observer,
        device,
        word,
        library: None,
        library_path: None,
        canary: Canary::None,
        contamination: Contamination::Unchecked,
        reach,
        blind: Vec::new(),
        gaps: Vec::new(),
        seconds: 0.0,
        cost_ns: None,
        ended: false,
    }
}

/// A trace says who wrote it, not which device the process had: only the stand-in's own is certain.
fn trace(trace: Trace, word: Word) -> (Tally, ObserverReport) {
    let mut tally = Tally::default();
    add_trace(&mut tally, &trace, None);
    let standin = trace.writer == Writer::StandIn;
    let observer = if standin { ObserverKind::Dryrun } else { ObserverKind::Preload };
    tally.devices.told(match standin {
        true => Device::StandIn,
        false => Device::Unlooked { why: "a trace does not say which device its process had".to_owned() },
    });
    let reach = format!("the launches of process {} ({}) that its trace holds", trace.pid, trace.program);
    let account = plain(observer, tally.devices.kind(), reach, word);
    (tally, account)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"seq":1,"kernel":"mul_mat_q","grid":[1,2,3],"block":[32,8,1],"graph":0}"#;

    fn read(text: &str) -> Result<(Tally, ObserverReport), RecordError> {
        read_record(Path::new("trace.jsonl"), text.as_bytes(), "")
    }

    #[test]
    fn a_trace_that_was_cut_off_counts_what_is_there_and_says_so() {
        let (tally, whole) = read(&format!("{LINE}\n{LINE}\n")).unwrap();
        assert_eq!(tally.launches(), 2);
        assert!(whole.gaps.is_empty(), "{:?}", whole.gaps);
        let (tally, cut) = read(&format!("{LINE}\n{LINE}\n{}", &LINE[..20])).unwrap();
        assert_eq!(tally.launches(), 2);
        assert_eq!(cut.gaps, [Gap::CutOff.into()]);
    }

    /// What the device told to whoever wrote the line; a stand-in has no clock, whatever its lines say.
    #[test]
    fn times_are_read_again() {
        let timed = LINE.replace("\"graph\":0", "\"graph\":0,\"took_ns\":1500");
        let (tally, _) = read(&format!("{timed}\n{timed}\n{LINE}\n")).unwrap();
        let took = tally.rows().first().and_then(|row| row.took);
        assert_eq!((tally.launches(), took.map(|took| (took.launches, took.total_ns))), (3, Some((2, 3000))));
        let (tally, _) = read(&timed.replace("\"graph\":0", "\"by\":\"dryrun\"")).unwrap();
        assert_eq!((tally.launches(), tally.timed()), (1, 0));
    }

    #[test]
    fn a_damaged_line_in_the_middle_is_a_gap() {
        let (tally, account) = read(&format!("{LINE}\n{}\n{LINE}\n", &LINE[..20])).unwrap();
        assert_eq!(tally.launches(), 2);
        assert_eq!(account.gaps, [Gap::DamagedLines.times(1)]);
    }

    /// What was not named when it was written is not named by being read, and a refused launch is none.
    #[test]
    fn unnamed_launches_calls_and_refusals_stay_what_they_are() {
        let unnamed = r#"{"seq":2,"address":4096,"grid":[1,1,1],"block":[32,1,1],"graph":0}"#;
        let refused = LINE.replace("\"graph\":0", "\"status\":1");
        let call = r#"{"seq":3,"api":"hipblasGemmEx","m":4,"n":290,"k":8}"#;
        let (tally, account) = read(&format!("{LINE}\n{unnamed}\n{refused}\n{call}\n")).unwrap();
        assert_eq!((tally.launches(), tally.unnamed(), tally.rejections(), tally.calls()), (2, 1, 1, 1));
        assert!(account.gaps.is_empty(), "{:?}", account.gaps);
    }

    /// A dry run's graph launches stand where they were replayed; and it never saw a device.
    #[test]
    fn a_dry_runs_lines_are_counted_whole_and_stay_selected() {
        let line = LINE.replace("\"graph\":0", "\"graph\":5,\"by\":\"dryrun\"");
        let (tally, account) = read(&format!("{line}\n{line}\n")).unwrap();
        assert_eq!(tally.launches(), 2);
        assert_eq!((account.observer, account.device), (ObserverKind::Dryrun, DeviceKind::StandIn));
    }
}
