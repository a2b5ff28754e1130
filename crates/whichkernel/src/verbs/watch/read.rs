//! `--read FILE`: a record that somebody made, as a tally.

use super::claims::Judged;
use super::{Args, record, summary};
use crate::context::Context;
use anyhow::Context as _;
use evidence::{Canary, Contamination, DeviceKind};
use launch::trace::{Trace, Writer};
use observe::claims::Claims;
use observe::watch::{Account, Tally, add_trace};
use std::path::Path;
use std::process::ExitCode;

pub fn run(path: &Path, args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let name = || path.display().to_string();
    let bytes = std::fs::read(path).with_context(name)?;
    let (tally, account) = match Trace::parse(bytes.clone()) {
        Ok(found) => trace(found),
        Err(error) => match observe::imports::read(path, &bytes) {
            Some(profile) => profile?,
            None => log(&bytes).ok_or(error).with_context(|| {
                let known = "AMD_LOG_LEVEL, ROCBLAS_LAYER, TENSILE_DB and HIPBLASLT_LOG_MASK";
                let profiles = "no profile (rocprofv3, Nsight Systems)";
                format!(
                    "{}: no launch trace, {profiles}, and no line of the logs that are known here ({known})",
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

/// A trace says who wrote it, not which device the process had: only the stand-in's own is certain.
fn trace(trace: Trace) -> (Tally, Account) {
    let mut tally = Tally::default();
    add_trace(&mut tally, &trace, None);
    let standin = trace.writer == Writer::StandIn;
    let account = Account {
        observer: if standin { "dryrun" } else { "preload" },
        device: if standin { DeviceKind::StandIn } else { DeviceKind::None },
        library: None,
        canary: Canary::None,
        contamination: Contamination::Unchecked,
        reach: format!("the launches of process {} ({}) that its trace holds", trace.pid, trace.program),
        blind: Vec::new(),
        gaps: Vec::new(),
        seconds: 0.0,
        cost_ns: None,
    };
    (tally, account)
}
