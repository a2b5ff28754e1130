//! `--read FILE`: a record that somebody made, as a tally.

use super::claims::Judged;
use super::summary::Told;
use super::{Args, record};
use crate::context::Context;
use anyhow::Context as _;
use codeobject::ReadAt;
use evidence::{Canary, Contamination, DeviceKind};
use launch::trace::{Trace, Writer};
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;
use watch::claims::Claims;
use watch::{Device, Gap, Kind, Name, ObserverKind, ObserverReport, Phase, Tally, Word, add_trace};

pub fn run(path: &Path, args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let name = || path.display().to_string();
    let (bytes, sha256) = whole(path)?;
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let word = |maker: &'static str| Word::File { name: file.clone(), sha256: sha256.clone(), maker, host: None };
    let (tally, account) = match Trace::parse(bytes.clone()) {
        Ok(found) => trace(found, word("whichkernel")),
        Err(error) => match watch::imports::read(path, &bytes, &sha256) {
            Some(profile) => profile?,
            None => log(&bytes, word("unknown")).or_else(|| own_trace(&bytes, word("unknown"))).or_else(|| words(path, &bytes, word("unknown"))).ok_or(error).with_context(|| {
                let known = "AMD_LOG_LEVEL, ROCBLAS_LAYER, TENSILE_DB and HIPBLASLT_LOG_MASK";
                let profiles = "no profile (rocprofv3, Nsight Systems)";
                format!(
                    "{}: no launch trace, {profiles}, no line of the logs that are known here ({known}), and no word of llama.cpp or Ollama",
                    name()
                )
            })?,
        },
    };
    let mut claims = Claims::default();
    // A log of the libraries is often the server's own.
    if account.observer == ObserverKind::Logs {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        watch::claims::of_log(&file, &String::from_utf8_lossy(&bytes), &mut claims);
    }
    for said in &args.said {
        let (text, _) = whole(said)?;
        let file = said.file_name().unwrap_or_default().to_string_lossy();
        watch::claims::of_log(&file, &String::from_utf8_lossy(&text), &mut claims);
    }
    let judged = Judged::new(claims, &tally, &account);
    Told { tally: &tally, account: &account, judged: &judged, ended: None }.print(args.format, context)?;
    if args.record {
        record::keep(context, &tally, &account, &judged, &name())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is held in memory at once; a database is read where it lies.
const MOST: u64 = 1 << 30;

/// A file's bytes (of a database, its first ones) and hash. Pipes, devices and directories are no files.
fn whole(path: &Path) -> anyhow::Result<(Vec<u8>, String)> {
    let file = inventory::File::open(path)?;
    let source: &dyn ReadAt = &file;
    let start = source.bytes(0, source.len().min(64), "the file").with_context(|| path.display().to_string())?;
    let bytes = if watch::imports::is_database(&start) {
        start.into_owned()
    } else {
        anyhow::ensure!(
            source.len() <= MOST,
            "{}: {} bytes; no more than {MOST} are read. Give a part of it: head -c {MOST} FILE > PART",
            path.display(),
            source.len()
        );
        source.bytes(0, source.len(), "the file").with_context(|| path.display().to_string())?.into_owned()
    };
    let sha256 = inventory::Sha256::of(source, |_, _| {}).with_context(|| path.display().to_string())?;
    Ok((bytes, sha256.to_string()))
}

/// A log that somebody made, mixed with anything else.
fn log(bytes: &[u8], word: Word) -> Option<(Tally, ObserverReport)> {
    let mut tally = Tally::default();
    let account = watch::logs::read_log(&String::from_utf8_lossy(bytes), &mut tally, word)?;
    Some((tally, account))
}

/// What `--trace` wrote: one launch a line.
fn own_trace(bytes: &[u8], word: Word) -> Option<(Tally, ObserverReport)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (mut tally, mut captured, mut replays) = (Tally::default(), 0_u64, 0_u64);
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).ok()?;
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
        if captured + replays > 0 {
            account.gaps.push(Gap::TraceGraphs { replays }.times(captured));
        }
        (tally, account)
    })
}

/// A server's log without any launch: what it claims can be shown, and nothing held against it.
fn words(path: &Path, bytes: &[u8], word: Word) -> Option<(Tally, ObserverReport)> {
    let mut claims = Claims::default();
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    watch::claims::of_log(&file, &String::from_utf8_lossy(bytes), &mut claims);
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
