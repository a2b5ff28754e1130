//! `--read FILE`: a record that somebody made, as a tally.

use super::claims::Judged;
use super::{Args, record, summary};
use crate::context::Context;
use anyhow::Context as _;
use evidence::{Canary, Contamination, DeviceKind};
use launch::trace::{Trace, Writer};
use observe::claims::Claims;
use observe::watch::{Account, Kind, Name, Phase, Tally, add_trace};
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;

pub fn run(path: &Path, args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let name = || path.display().to_string();
    let bytes = std::fs::read(path).with_context(name)?;
    let (tally, account) = match Trace::parse(bytes.clone()) {
        Ok(found) => trace(found),
        Err(error) => match observe::imports::read(path, &bytes) {
            Some(profile) => profile?,
            None => log(&bytes).or_else(|| own_trace(&bytes)).or_else(|| words(path, &bytes)).ok_or(error).with_context(|| {
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
    if account.observer == "logs" {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        observe::claims::of_log(&file, &String::from_utf8_lossy(&bytes), &mut claims);
    }
    for said in &args.said {
        let text = std::fs::read(said).with_context(|| said.display().to_string())?;
        let file = said.file_name().unwrap_or_default().to_string_lossy();
        observe::claims::of_log(&file, &String::from_utf8_lossy(&text), &mut claims);
    }
    let judged = Judged::new(claims, &tally, &account);
    summary::print(&tally, &account, &judged, args.format, context)?;
    if args.record {
        record::keep(context, &tally, &account, &judged, &name())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A log that somebody made, mixed with anything else.
fn log(bytes: &[u8]) -> Option<(Tally, Account)> {
    let mut tally = Tally::default();
    let account = observe::logs::read_log(&String::from_utf8_lossy(bytes), &mut tally)?;
    Some((tally, account))
}

/// What `--trace` wrote: one launch a line.
fn own_trace(bytes: &[u8]) -> Option<(Tally, Account)> {
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
        let mut account = plain("trace", DeviceKind::None, "the launches that a trace of watch holds".to_owned());
        if captured + replays > 0 {
            let why = format!(
                "{captured} captured launches and {replays} replays: the trace does not say which graph is which, so they are not counted"
            );
            account.gaps.push(("graph launches".to_owned(), why));
        }
        (tally, account)
    })
}

/// A server's log without any launch: what it claims can be shown, and nothing held against it.
fn words(path: &Path, bytes: &[u8]) -> Option<(Tally, Account)> {
    let mut claims = Claims::default();
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    observe::claims::of_log(&file, &String::from_utf8_lossy(bytes), &mut claims);
    let mut account = plain("logs", DeviceKind::None, "lines that a server wrote of itself".to_owned());
    account.gaps.push((
        "launches".to_owned(),
        "a server's log has none: watch it, or give a trace with --read and this with --said".to_owned(),
    ));
    (!claims.list.is_empty()).then(|| (Tally::default(), account))
}

fn plain(observer: &'static str, device: DeviceKind, reach: String) -> Account {
    Account {
        observer,
        device,
        library: None,
        canary: Canary::None,
        contamination: Contamination::Unchecked,
        reach,
        blind: Vec::new(),
        gaps: Vec::new(),
        seconds: 0.0,
        cost_ns: None,
    }
}

/// A trace says who wrote it, not which device the process had: only the stand-in's own is certain.
fn trace(trace: Trace) -> (Tally, Account) {
    let mut tally = Tally::default();
    add_trace(&mut tally, &trace, None);
    let standin = trace.writer == Writer::StandIn;
    let (observer, device) = if standin { ("dryrun", DeviceKind::StandIn) } else { ("preload", DeviceKind::None) };
    let reach = format!("the launches of process {} ({}) that its trace holds", trace.pid, trace.program);
    let account = plain(observer, device, reach);
    (tally, account)
}
