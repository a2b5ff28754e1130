//! `--record`: records observations and claims in the ledger.

use super::claims::Judged;
use crate::context::Context;
use crate::launched_at::place;
use watch::{ObserverReport, RecordContext, Tally};

pub fn keep(
    context: &Context,
    tally: &Tally,
    account: &ObserverReport,
    judged: &Judged,
    window: &str,
) -> say::Result<()> {
    let time = observe::now();
    let (model, place) = (judged.claims.model.as_deref(), place(tally, account));
    let scene = RecordContext { account, window, model, place, time: &time };
    let mut list = scene.sightings(tally)?;
    list.extend(watch::claims::sightings(&judged.held, &judged.shown, &scene, tally)?);
    context.record(list, "watch-recorded")
}
