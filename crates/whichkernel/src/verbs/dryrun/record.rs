//! `--record`: records the selections in the ledger, on the rung Selected, with the device named as a stand-in.

use crate::context::Context;
use dryrun::Map;
use dryrun::{Outcome, Plan, RecordContext, RunRoot, Selected, cuda_library, library};
use say::error;
use std::ffi::OsString;
use std::path::Path;

pub fn cells(context: &Context, place: &RunRoot, map: &Map, model: &str) -> say::Result<()> {
    let time = observe::now();
    context.record(scene(place, &map.plan, (model, None), &time)?.survey(&map.cells)?, "dryrun-recorded")
}

/// Each device's rows have the card that it simulates as their subject.
pub fn run(
    context: &Context,
    place: &RunRoot,
    plans: &[Plan],
    (outcome, selected): (&Outcome, &[Selected]),
    command: &[OsString],
) -> say::Result<()> {
    let time = observe::now();
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let mut seen = Vec::new();
    for (number, plan) in plans.iter().enumerate() {
        let rows: Vec<Selected> = selected.iter().filter(|row| row.device as usize == number).cloned().collect();
        let line = ledger::redact::line(&words);
        seen.extend(scene(place, plan, (&line, command.first().map(Path::new)), &time)?.run(outcome, &rows)?);
    }
    context.record(seen, "dryrun-recorded")
}

fn scene<'a>(
    place: &'a RunRoot,
    plan: &'a Plan,
    (model, program): (&'a str, Option<&Path>),
    time: &'a str,
) -> say::Result<RecordContext<'a>> {
    let found = if plan.card.profile.is_nvidia() { cuda_library(place, program) } else { library(place, program) };
    let library = found.ok_or_else(|| error!("command-no-device-library", place = place.name()))?;
    Ok(RecordContext { place, profile: &plan.card.profile, described: &plan.described, model, time, library })
}
