//! Collects everything on one rung that is relevant to a claim, before it is judged.

use crate::investigation::topics;
use crate::{About, Answer, Artifact, Bound, Claim, Fact, Finding, ObserverId, Recorded, RungKind, Seen, Subject};
use std::collections::{BTreeMap, HashMap, HashSet};

#[derive(Debug)]
pub(crate) struct Relevant<'a, R: RungKind> {
    pub holds: Vec<Seen<'a, R>>,
    pub contradicts: Vec<Seen<'a, R>>,
    pub silent: Vec<Seen<'a, R>>,
    /// Observers that watched their whole field of view, with the claim in it, and recorded nothing about it in that
    /// run.
    pub sweeps: Vec<Seen<'a, R>>,
    pub contaminated: Vec<Seen<'a, R>>,
}

impl<'a, R: RungKind> Relevant<'a, R> {
    /// Collects the relevant observations. `concerning` must be sorted by id without duplicates, so that the order of
    /// arrival does not matter.
    pub fn gather(claim: &Claim, concerning: &[&'a Recorded], wanted: impl Fn(&Subject) -> bool) -> Self {
        let (mut wanted, mut speaks, answer) = (memo(wanted), speaking(claim), answering(claim));
        let mut relevant = Relevant {
            holds: Vec::new(),
            contradicts: Vec::new(),
            silent: Vec::new(),
            sweeps: Vec::new(),
            contaminated: Vec::new(),
        };
        for seen in concerning.iter().filter_map(|recorded| Seen::<R>::of(recorded)) {
            let recorded = seen.recorded();
            if !speaks(recorded) || !wanted(recorded.subject()) {
                continue;
            }
            let side = match recorded.finding() {
                _ if recorded.contaminated().is_some() => &mut relevant.contaminated,
                Finding::Swept => &mut relevant.sweeps,
                Finding::Saw(fact) => match answer(fact) {
                    Answer::Holds => &mut relevant.holds,
                    Answer::Contradicts => &mut relevant.contradicts,
                    Answer::Silent => &mut relevant.silent,
                },
                Finding::Blocked { .. } => continue,
            };
            side.push(seen);
        }
        relevant.drop_sweeps_that_saw();
        relevant.drop_stale();
        relevant
    }

    /// Drops sweeps whose own run saw the claimed thing, because such a sweep is not silent about it.
    fn drop_sweeps_that_saw(&mut self) {
        if !self.sweeps.is_empty() {
            let sightings: HashSet<_> = self.sightings().map(run).collect();
            self.sweeps.retain(|sweep| !sightings.contains(&run(sweep.recorded())));
        }
    }

    /// Drops observations that the same observer, on the same host, later contradicted. Machines change, so the later
    /// one counts.
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

/// Whether this observation is about the claim's topic and parameters, or had them in view.
pub(crate) fn speaks(claim: &Claim, recorded: &Recorded) -> bool {
    match recorded.finding() {
        Finding::Saw(fact) => fact.topic == claim.topic && fact.about.speaks_for(&claim.about),
        Finding::Swept | Finding::Blocked { .. } => recorded.field_of_view().covers(&claim.topic, &claim.about),
    }
}

/// Like [`speaks`], for many observations. Facts that share their parameters are checked only once.
pub(crate) fn speaking<'a>(claim: &Claim) -> impl FnMut(&'a Recorded) -> bool {
    let mut known: HashMap<*const BTreeMap<String, String>, bool> = HashMap::new();
    move |recorded| match recorded.fact() {
        Some(fact) if fact.topic == claim.topic => {
            *known.entry(fact.about.place()).or_insert_with(|| speaks(claim, recorded))
        }
        _ => speaks(claim, recorded),
    }
}

/// Selects the facts that are relevant to a claim. A count of a part is a lower bound for the whole.
pub(crate) fn answering(claim: &Claim) -> impl Fn(&Fact) -> Answer {
    let counts = topics::counts(&claim.topic);
    move |fact| {
        let part = counts && fact.about.0.len() > claim.about.0.len() && fact.value.number().is_some();
        claim.expected.ask_within(if part { Bound::AtLeast } else { fact.bound }, &fact.value)
    }
}

/// Calls `asked` once per subject, because observations read from the ledger share their subjects.
pub(crate) fn memo<'a>(asked: impl Fn(&Subject) -> bool) -> impl FnMut(&'a Subject) -> bool {
    let mut known: HashMap<*const Subject, bool> = HashMap::new();
    move |subject| *known.entry(std::ptr::from_ref(subject)).or_insert_with(|| asked(subject))
}

/// Identifies a run: the same observer on the same subject, at the time that all observations of a run have.
fn run(recorded: &Recorded) -> (&ObserverId, &Subject, &str) {
    (recorded.observer(), recorded.subject(), recorded.time())
}

/// The latest time of an observer's observations on a host: overall, without parameters, and with these parameters.
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

    /// Whether the same observer later made an observation on the same host, with the same parameters or with none.
    fn outdate(&self, old: &Recorded) -> bool {
        let (name, subject) = (old.observer().name.as_str(), old.subject());
        let last = match old.fact() {
            None => self.any.get(&(name, subject)).copied(),
            Some(fact) => self.about.get(&(name, subject, &fact.about)).max(self.plain.get(&(name, subject))).copied(),
        };
        matches!(subject.artifact, Artifact::Host { .. }) && last.is_some_and(|last| last > old.time())
    }
}
