//! The bench: everything on one rung that speaks to a claim, laid out before it is judged.

use crate::{Answer, Artifact, Claim, Finding, Recorded, RungKind, Seen};

#[derive(Debug)]
pub(crate) struct Bench<'a, R: RungKind> {
    pub holds: Vec<Seen<'a, R>>,
    pub contradicts: Vec<Seen<'a, R>>,
    pub silent: Vec<Seen<'a, R>>,
    /// Watched the whole field of view, with the claim in it, and recorded nothing of it in that run.
    pub sweeps: Vec<Seen<'a, R>>,
    pub contaminated: Vec<Seen<'a, R>>,
}

impl<'a, R: RungKind> Bench<'a, R> {
    /// `pool` is sorted by id and holds each observation once, so that the order of arrival does not matter.
    pub fn gather(claim: &Claim, pool: &[&'a Recorded], mut wanted: impl FnMut(&Recorded) -> bool) -> Self {
        let mut bench = Bench {
            holds: Vec::new(),
            contradicts: Vec::new(),
            silent: Vec::new(),
            sweeps: Vec::new(),
            contaminated: Vec::new(),
        };
        for seen in pool.iter().filter_map(|recorded| Seen::<R>::of(recorded)) {
            let recorded = seen.recorded();
            if !speaks(claim, recorded) || !wanted(recorded) {
                continue;
            }
            let side = match recorded.finding() {
                _ if recorded.contaminated().is_some() => &mut bench.contaminated,
                Finding::Swept => &mut bench.sweeps,
                Finding::Saw(fact) => match claim.expected.ask(fact) {
                    Answer::Holds => &mut bench.holds,
                    Answer::Contradicts => &mut bench.contradicts,
                    Answer::Silent => &mut bench.silent,
                },
                Finding::Blocked { .. } => continue,
            };
            side.push(seen);
        }
        bench.drop_sweeps_that_saw();
        bench.drop_stale();
        bench
    }

    /// A sweep is silent only on what its own run did not see.
    fn drop_sweeps_that_saw(&mut self) {
        let sightings: Vec<&Recorded> = self.sightings();
        self.sweeps.retain(|sweep| !sightings.iter().any(|saw| same_run(sweep.recorded(), saw)));
    }

    /// A machine changes: where the same observer, on the same host, later saw otherwise, the later word counts.
    fn drop_stale(&mut self) {
        let word = |side: &[Seen<'a, R>]| side.iter().map(|seen| seen.recorded()).collect::<Vec<_>>();
        let (holds, contradicts, sweeps) = (word(&self.holds), word(&self.contradicts), word(&self.sweeps));
        self.holds.retain(|old| !outdated(old.recorded(), &contradicts) && !outdated(old.recorded(), &sweeps));
        self.contradicts.retain(|old| !outdated(old.recorded(), &holds) && !outdated(old.recorded(), &sweeps));
        self.sweeps.retain(|old| !outdated(old.recorded(), &holds) && !outdated(old.recorded(), &contradicts));
    }

    fn sightings(&self) -> Vec<&'a Recorded> {
        [&self.holds, &self.contradicts, &self.silent].into_iter().flatten().map(|seen| seen.recorded()).collect()
    }
}

/// Is the claim's topic, with its parameters, what this observation is about or had in view?
pub(crate) fn speaks(claim: &Claim, recorded: &Recorded) -> bool {
    match recorded.finding() {
        Finding::Saw(fact) => fact.topic == claim.topic && fact.about.speaks_for(&claim.about),
        Finding::Swept | Finding::Blocked { .. } => recorded.field_of_view().covers(&claim.topic, &claim.about),
    }
}

/// One run: the same observer on the same subject, at the time that all observations of a run carry.
fn same_run(a: &Recorded, b: &Recorded) -> bool {
    a.observer() == b.observer() && a.subject() == b.subject() && a.time() == b.time()
}

fn outdated(old: &Recorded, others: &[&Recorded]) -> bool {
    let same_parameters = |new: &Recorded| match (old.fact(), new.fact()) {
        (Some(old), Some(new)) => old.about == new.about,
        _ => true,
    };
    matches!(old.subject().artifact, Artifact::Host { .. })
        && others.iter().any(|new| {
            new.observer().name == old.observer().name
                && new.subject() == old.subject()
                && new.time() > old.time()
                && same_parameters(new)
        })
}
