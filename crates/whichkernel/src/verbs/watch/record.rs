//! `--record`: what was seen, and what was claimed, to the ledger.

use super::claims::Judged;
use crate::context::Context;
use watch::{Device, ObserverReport, Place, RecordContext, Tally};

pub fn keep(
    context: &Context,
    tally: &Tally,
    account: &ObserverReport,
    judged: &Judged,
    window: &str,
) -> anyhow::Result<()> {
    let time = observe::now();
    let (model, place) = (judged.claims.model.as_deref(), place(tally, account));
    let scene = RecordContext { account, window, model, place, time: &time };
    let mut list = scene.sightings(tally)?;
    list.extend(watch::claims::sightings(&judged.held, &judged.shown, &scene, tally)?);
    let count = observe::record(&mut context.open_ledger()?, list)?;
    let args = [("count", count.to_string().into()), ("place", context.ledger.display().to_string().into())];
    context.note(&context.lang.text_with("watch-recorded", &args));
    Ok(())
}

/// Which installation launched, and on which card, where only one can have been it.
pub fn place(tally: &Tally, account: &ObserverReport) -> Place {
    let named = |path: &std::path::PathBuf| runtime::installed::name(path, &runtime::Cache::from_env());
    let held = tally.devices.iter().filter_map(|(_, _, device)| match device {
        Device::Real { held } => Some(held.iter().map(String::as_str)),
        _ => None,
    });
    let files: std::collections::BTreeSet<&str> = held.flatten().collect();
    let facts = (!files.is_empty()).then(|| doctor::Facts::read(&doctor::Host::this()));
    let gpu = facts.as_ref().and_then(|facts| facts.gpu_held(files.iter().copied()));
    Place {
        runtime: account.library_path.as_ref().and_then(named),
        target: gpu.and_then(|gpu| gpu.target.clone()),
        card: gpu.and_then(|gpu| gpu.card.clone()),
    }
}
