//! What servers say about themselves, compared with the launches of a sample.
//!
//! A sample has the launches of every process, so claims are compared only while one process launches: otherwise a
//! verdict could be about another server's launches.

use crate::metrics::{Id, Metrics};
use server::claims::Gatherer;
use std::collections::BTreeSet;
use watch::claims::{Held, Shown, hold};
use watch::{ObserverReport, Tally};

/// The claims of the process that launches.
#[derive(Debug, Default)]
pub struct Server {
    process: u32,
    gatherer: Gatherer,
}

/// Compares the claims of the only launching process with the launches of the sample; None if there are several, or
/// none. Nothing that depends on an absence is reported: a sample is not all that happened.
pub fn compare(
    known: &mut Option<Server>,
    tally: &Tally,
    processes: &BTreeSet<u32>,
    account: &ObserverReport,
) -> Option<Vec<Held>> {
    let [process] = Vec::from_iter(processes.iter().copied())[..] else { return None };
    if known.as_ref().is_none_or(|server| server.process != process) {
        let gatherer = Gatherer::new(vec![process], None, &[]).ok()?;
        *known = Some(Server { process, gatherer });
    }
    let claims = known.as_ref()?.gatherer.so_far();
    let held = hold(&claims, &Shown::of(tally), account);
    Some(held.into_iter().filter(|held| held.weak.is_none()).collect())
}

pub fn publish(metrics: &mut Metrics, held: &[Held]) {
    metrics.clear(Id::Claims);
    for one in held {
        metrics.add(Id::Claims, &[one.claim.meaning.key(), one.verdict.key()], 1.0);
    }
}
