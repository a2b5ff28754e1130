//! `--record`: what was seen, to the ledger.

use crate::context::Context;
use ledger::Ledger;
use observe::watch::{Account, Scene, Tally};

pub fn keep(
    context: &Context,
    tally: &Tally,
    account: &Account,
    window: &str,
    model: Option<&str>,
) -> anyhow::Result<()> {
    let time = observe::now();
    let scene = Scene { account, window, model, time: &time };
    let count = observe::record(&mut Ledger::open(&context.ledger)?, scene.sightings(tally)?)?;
    let args = [("count", count.to_string().into()), ("place", context.ledger.display().to_string().into())];
    context.note(&context.lang.text_with("watch-recorded", &args));
    Ok(())
}
