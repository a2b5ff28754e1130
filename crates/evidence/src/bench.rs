//! The bench: everything on one rung that speaks to a claim, laid out before it is judged.

use crate::{About, Answer, Artifact, Claim, Finding, ObserverId, Recorded, RungKind, Seen, Subject};
use std::collections::{HashMap, HashSet};

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
        if !self.sweeps.is_empty() {
            let sightings: HashSet<_> = self.sightings().map(run).collect();
            self.sweeps.retain(|sweep| !sightings.contains(&run(sweep.recorded())));
        }
    }

    /// A machine changes: where the same observer, on the same host, later saw otherwise, the later word counts.
    fn drop_stale(&mut self) {
        let word = |side: &[Seen<'a, R>]| LastWords::of(side.iter().map(|seen| seen.recorded()));
        let (holds, contradicts, sweeps) = (word(&self.holds), word(&self.contradicts), word(&self.sweeps));
        self.holds.retain(|old| !contradicts.outdate(old.recorded()) && !sweeps.outdate(old.recorded()));
        self.contradicts.retain(|old| !holds.outdate(old.recorded()) && !sweeps.outdate(old.recorded()));
        self.sweeps.retain(|old| !holds.outdate(old.recorded()) && !contradicts.outdate(old.recorded()));
    }

    fn sightings(&self) -> impl Iterator<Item = &'a Recorded> {
        [&self.holds, &self.contradicts, &self.silent].into_iter().flatten().map(|seen| seen.recorded())
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
fn run(recorded: &Recorded) -> (&ObserverId, &Subject, &str) {
    (recorded.observer(), recorded.subject(), recorded.time())
}

/// The latest time at which an observer spoke of a host: in all, without parameters, and with these.
#[derive(Default)]
struct LastWords<'a> {
    any: HashMap<(&'a str, &'a Subject), &'a str>,
    plain: HashMap<(&'a str, &'a Subject), &'a str>,
    about: HashMap<(&'a str, &'a Subject, &'a About), &'a str>,
}

impl<'a> LastWords<'a> {
    fn of(side: impl Iterator<Item = &'a Recorded>) -> Self {
        let mut words = LastWords::default();
        for one in side.filter(|one| matches!(one.subject().artifact, Artifact::Host { .. })) {
            let (name, subject, time) = (one.observer().name.as_str(), one.subject(), one.time());
            let later = |known: &mut &'a str| *known = time.max(known);
            later(words.any.entry((name, subject)).or_default());
            match one.fact() {
                Some(fact) => later(words.about.entry((name, subject, &fact.about)).or_default()),
                None => later(words.plain.entry((name, subject)).or_default()),
            }
        }
        words
    }

    /// Did the same observer, of the same host, with the same parameters or without any, speak later?
    fn outdate(&self, old: &Recorded) -> bool {
        let (name, subject) = (old.observer().name.as_str(), old.subject());
        let last = match old.fact() {
            None => self.any.get(&(name, subject)).copied(),
            Some(fact) => self.about.get(&(name, subject, &fact.about)).max(self.plain.get(&(name, subject))).copied(),
        };
        matches!(subject.artifact, Artifact::Host { .. }) && last.is_some_and(|last| last > old.time())
    }
}
