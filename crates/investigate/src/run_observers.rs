//! Runs every observer and records the results. If an observer's result is the same as in its last run, it is not
//! recorded again.

use crate::unchanged::{Ran, Unchanged};
use evidence::{
    Completed, Coverage, Declared, FieldOfView, Finding, Investigation, Launched, Loaded, Observation, ObservationId,
    Recorded, Refused, Rung, Selected, Shipped, Subject,
};
use ledger::{Ledger, LedgerError};
use observe::{Blocked, ObserveContext, Observer, Sighting};
use say::Message;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Why a run could not be recorded.
#[derive(Debug)]
pub enum RunError {
    /// An observer made an invalid observation.
    Refused(Refused),
    Ledger(LedgerError),
}

say::worded! { RunError { Refused(error) => error, Ledger(error) => error } }

say::wraps! { RunError { Refused(Refused), Ledger(LedgerError) }}

/// The result of an observer's run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Looked {
    pub observer: &'static str,
    pub observations: usize,
    /// The number of recorded observations: those that the investigation needs; 0 if the last run had the same result.
    pub recorded: usize,
    /// Why the observer could not run.
    #[serde(serialize_with = "say::in_english")]
    #[schemars(with = "Option<String>")]
    pub blocked: Option<Message>,
}

/// Runs the observers. `before` has the results of each observer's last run. `kept` is called after each observer that
/// added to the ledger. Also returns observations that could not be recorded because the ledger is not writable.
pub fn run_observers(
    investigation: &Investigation,
    around: &ObserveContext,
    before: &[Recorded],
    mut ledger: Option<&mut Ledger>,
    unchanged: &mut Unchanged,
    progress: &mut dyn FnMut(&str),
    kept: &mut dyn FnMut(),
) -> Result<(Vec<Looked>, Vec<Observation>), RunError> {
    let (mut looked, mut unkept) = (Vec::new(), Vec::new());
    for observer in crate::registry().into_iter().filter(|observer| observer.verb().is_none()) {
        // Skip an observer if its last run is in the ledger and its inputs have not changed since.
        let has = |row: u64, hash: &str| {
            let row = ledger.as_ref().and_then(|ledger| ledger.reader().row(row).ok().flatten());
            row.is_some_and(|row| row.hash.to_string() == hash)
        };
        if let Some(ran) = unchanged.last(observer.name(), has).filter(|_| ledger.is_some()) {
            let Ran { observations, blocked, .. } = ran.clone();
            looked.push(Looked { observer: observer.name(), observations, recorded: 0, blocked });
            continue;
        }
        progress(observer.name());
        let seen = observer.observe(around, progress);
        let (sightings, blocked) = match seen {
            Ok(sightings) => (sightings, None),
            Err(blocked) => (could_not_look(observer.as_ref(), &blocked, &around.time)?, Some(blocked.why)),
        };
        let observations = sightings.len();
        let sightings = worth_keeping(sightings, investigation);
        let (mut recorded, worth) = (0, sightings.len());
        match &mut ledger {
            Some(_) if says_the_same(observer.name(), &sightings, before) => {}
            Some(ledger) => {
                recorded = observe::record(ledger, sightings)?;
                kept();
            }
            None => unkept.extend(sightings.into_iter().map(|sighting| sighting.observation)),
        }
        if let Some(ledger) = &ledger {
            let row = ledger.reader().last()?.map(|row| (row.seq, row.hash.to_string()));
            unchanged.ran(observer.name(), Ran { observations, kept: worth, blocked: blocked.clone(), row });
        }
        looked.push(Looked { observer: observer.name(), observations, recorded, blocked });
    }
    if ledger.is_some() {
        unchanged.keep();
    }
    Ok((looked, unkept))
}

/// Topics about the relations between a runtime's libraries: a few dozen facts that every page needs to show the stack.
const STACK: &[&str] = &["library.needs", "catalog.serves"];

/// Keeps only the observations that the investigation can use. An observer may know much more (every rule of every
/// release), which can be observed again at any time. If there is a sweep, all its sightings are kept: otherwise its
/// silence would seem to cover what it did see.
fn worth_keeping(mut sightings: Vec<Sighting>, investigation: &Investigation) -> Vec<Sighting> {
    let swept = sightings.iter().filter(|sighting| *sighting.observation.finding() == Finding::Swept);
    let swept: Vec<FieldOfView> = swept.map(|sighting| sighting.observation.field_of_view().clone()).collect();
    sightings.retain(|sighting| match sighting.observation.fact() {
        Some(fact) => {
            STACK.contains(&fact.topic.as_str())
                || swept.iter().any(|view| view.covers(&fact.topic, &fact.about))
                || investigation.concerns(&sighting.observation)
        }
        None => true,
    });
    sightings
}

fn says_the_same(observer: &str, sightings: &[Sighting], before: &[Recorded]) -> bool {
    let theirs = before.iter().filter(|recorded| recorded.observer().name == observer);
    let Some(last) = theirs.clone().map(|recorded| recorded.time()).max() else { return sightings.is_empty() };
    // The content and the kinds of raw evidence. A list that the last run did not store counts as new.
    type Said = (ObservationId, BTreeSet<String>);
    let then: BTreeSet<Said> = theirs
        .filter(|recorded| recorded.time() == last)
        .map(|recorded| (recorded.content(), recorded.raw_evidence().iter().map(|raw| raw.kind.clone()).collect()))
        .collect();
    // Compare in the form that the ledger would store.
    let kept = |sighting: &Sighting| {
        let earlier = sighting.observation.raw_evidence().iter().map(|raw| raw.kind.clone());
        let kinds = earlier.chain(sighting.raw.iter().map(|raw| raw.kind.clone())).collect();
        (ledger::redact::observation(&sighting.observation).content(), kinds)
    };
    let now: BTreeSet<Said> = sightings.iter().map(kept).collect();
    then == now
}

/// Records that an observer could not look, on every rung in its field of view.
fn could_not_look(observer: &dyn Observer, blocked: &Blocked, time: &str) -> Result<Vec<Sighting>, Refused> {
    let made = observer.field_of_view().into_iter().map(|(rung, view)| {
        let (why, said) = (blocked.why.to_string(), Some(blocked.why.clone()));
        let finding = Finding::Blocked { why, fix: blocked.fix.clone(), said };
        on(rung, observer, finding, view, time).map(Sighting::from)
    });
    made.collect()
}

fn on(
    rung: Rung,
    observer: &dyn Observer,
    finding: Finding,
    view: FieldOfView,
    time: &str,
) -> Result<Observation, Refused> {
    let (id, subject, coverage) =
        (observer.id(), Subject::this_host(), Coverage::partial("events", 0, None, Vec::new()));
    let made = match rung {
        Rung::Declared => Observation::on::<Declared>(id, subject, finding, coverage, time),
        Rung::Shipped => Observation::on::<Shipped>(id, subject, finding, coverage, time),
        Rung::Loaded => Observation::on::<Loaded>(id, subject, finding, coverage, time),
        Rung::Selected => Observation::on::<Selected>(id, subject, finding, coverage, time),
        Rung::Launched => Observation::on::<Launched>(id, subject, finding, coverage, time),
        Rung::Completed => Observation::on::<Completed>(id, subject, finding, coverage, time),
    };
    made.map(|observation| observation.view(view))
}
