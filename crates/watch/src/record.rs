//! A record that somebody made, as a tally: a trace of ours, a profile, a log, or the words of a server.

use crate::claims::{Claims, of_log};
use crate::{Device, Gap, Kind, Name, ObserverKind, ObserverReport, Phase, Tally, Word, add_trace, imports, logs};
use evidence::{Canary, Contamination, DeviceKind};
use launch::trace::{Trace, Writer};
use serde_json::Value;
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
    let text = std::str::from_utf8(bytes).ok()?;
    let (mut tally, mut captured, mut replays) = (Tally::default(), 0_u64, 0_u64);
    let mut lines = text.lines().peekable();
    let mut cut = false;
    while let Some(line) = lines.next() {
        let line: Value = match serde_json::from_str(line) {
            Ok(line) => line,
            // A watch that was killed leaves half a line behind; half a line anywhere else is another file.
            Err(_) if lines.peek().is_none() && tally.launches() + captured + replays > 0 => {
                cut = true;
                break;
            }
            Err(_) => return None,
        };
        line.get("seq")?;
        let three = |name: &str| [0, 1, 2].map(|at| line[name][at].as_u64().map_or(0, |n| n as u32));
        if line.get("exec").is_some() {
            replays += 1;
            continue;
        }
        if line["graph"].as_u64().is_some_and(|graph| graph != 0) {
            captured += 1;
            continue;
        }
        let kind = match line["kernel"].as_str() {
            Some(name) => Kind {
                grid: three("grid"),
                block: three("block"),
                shared: line["shmem"].as_u64().map_or(0, |n| n as u32),
                ne11: line["ne11"].as_u64(),
                file: line["file"].as_str().unwrap_or_default().to_owned(),
                bundle: line["bundle"].as_u64().map(|n| n as u32),
                ..Kind::kernel(Name::Kernel(name.to_owned()), "trace")
            },
            None => continue,
        };
        let id = tally.kind(&kind);
        tally.launched(Phase::Other, 0, id, 1);
    }
    (tally.launches() + captured + replays > 0).then(|| {
        tally.devices.told(Device::Unlooked { why: "a trace does not say which device its processes had".to_owned() });
        let reach = "the launches that a trace of watch holds".to_owned();
        let mut account = plain(ObserverKind::Trace, tally.devices.kind(), reach, word);
        if cut {
            account.gaps.push(Gap::CutOff.into());
        }
        if captured + replays > 0 {
            account.gaps.push(Gap::TraceGraphs { replays }.times(captured));
        }
        (tally, account)
    })
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

    #[test]
    fn half_a_line_in_the_middle_is_another_file() {
        let error = read(&format!("{LINE}\n{}\n{LINE}\n", &LINE[..20])).unwrap_err();
        assert!(matches!(error, RecordError::Unknown(_)), "{error}");
    }
}
