//! The judge: one function from a claim and all observations to a grade with its reasons.
//!
//! Confirmed, Limited and Refuted require that something was [`Seen`] on the claim's own rung, for its own subject.
//! Inferred is a grade of the claim, never of the rung. It names the rule, its assumptions, and the rungs or subjects
//! that it comes from. Nothing further can be inferred from it.

use crate::absence::{Quality, missing, weigh};
use crate::observation_index::ObservationIndex;
use crate::reading::{Citation, Reading, RungTally, saw};
use crate::relevant::{Relevant, answering, speaking};
use crate::unresolved::unresolved;
use crate::{
    Ability, Claim, Completed, Contamination, Declared, Grade, GradeKind, Launched, Loaded, RULES, Reason, Recorded,
    Rung, RungKind, Seen, Selected, Shipped, Subject, Transfer, Why, Window,
};
use std::collections::{BTreeSet, HashMap};

pub(crate) type Judgement = (GradeKind, Vec<Reason>);

/// Grades a claim. Neither the order of `observations` nor duplicates matter.
pub fn judge(claim: &Claim, observations: &[Recorded], able: &[Ability]) -> Reading {
    judge_in(claim, &ObservationIndex::new(observations), able)
}

/// Like [`judge`], for many claims on the same observations.
pub(crate) fn judge_in(claim: &Claim, index: &ObservationIndex<'_>, able: &[Ability]) -> Reading {
    let (concerning, _room) = index.concerning_within(claim);
    let (kind, reasons) = on_rung(claim.rung, claim, &concerning, able);
    let cited: BTreeSet<_> = reasons.iter().flat_map(named).collect();
    let cites = concerning.iter().filter(|recorded| cited.contains(recorded.id()));
    Reading {
        claim: claim.id.clone(),
        rung: claim.rung,
        grade: Grade::computed(kind),
        cites: cites.map(|recorded| Citation::of(recorded)).collect(),
        reasons,
        ladder: ladder(claim, &concerning),
    }
}

fn named(reason: &Reason) -> Vec<&crate::ObservationId> {
    match reason {
        Reason::Conflict { one, other } => vec![one, other],
        other => other.observation().into_iter().collect(),
    }
}

/// Converts the rung from data to a type. All later code works on one of the six types.
fn on_rung(rung: Rung, claim: &Claim, concerning: &[&Recorded], able: &[Ability]) -> Judgement {
    match rung {
        Rung::Declared => grade::<Declared>(claim, concerning, able),
        Rung::Shipped => grade::<Shipped>(claim, concerning, able),
        Rung::Loaded => grade::<Loaded>(claim, concerning, able),
        Rung::Selected => grade::<Selected>(claim, concerning, able),
        Rung::Launched => grade::<Launched>(claim, concerning, able),
        Rung::Completed => grade::<Completed>(claim, concerning, able),
    }
}

fn grade<R: RungKind>(claim: &Claim, concerning: &[&Recorded], able: &[Ability]) -> Judgement {
    let own = Relevant::<R>::gather(claim, concerning, |subject| claim.scope.differences(subject).is_empty());
    direct(claim, &own)
        .or_else(|| transferred::<R>(claim, concerning))
        .or_else(|| inferred(claim, concerning))
        .unwrap_or_else(|| unresolved(claim, &own, concerning, able))
}

/// The judgement from relevant observations alone. None if they do not decide.
fn direct<R: RungKind>(claim: &Claim, relevant: &Relevant<'_, R>) -> Option<Judgement> {
    let disputing = Disputing::new(claim, relevant);
    let conflicts = conflicts(claim, relevant, &disputing);
    let undisputed = undisputed(relevant, &disputing);
    if !conflicts.is_empty() && (!relevant.contradicts.is_empty() || undisputed.is_empty()) {
        return Some((GradeKind::Unresolved(Why::Conflict), conflicts));
    }
    if !relevant.contradicts.is_empty() {
        let reasons = relevant.contradicts.iter().flat_map(|seen| {
            let recorded = seen.recorded();
            let against = Reason::Contradicts { observation: recorded.id().clone(), saw: saw(recorded) };
            std::iter::once(against).chain(caveats(recorded))
        });
        return Some((GradeKind::Refuted, reasons.collect()));
    }
    if claim.expected.is_negative() {
        absent(claim, relevant)
    } else {
        present(claim, relevant, &undisputed, conflicts)
    }
}

fn present<R: RungKind>(
    claim: &Claim,
    relevant: &Relevant<'_, R>,
    holds: &[Seen<'_, R>],
    conflicts: Vec<Reason>,
) -> Option<Judgement> {
    if relevant.holds.is_empty() {
        // The claim expects something that an observer would have seen but did not see.
        let swept = by_quality(claim, &relevant.sweeps, Quality::Full);
        return (!swept.is_empty()).then_some((GradeKind::Refuted, swept));
    }
    let complete: Vec<Seen<'_, R>> =
        holds.iter().copied().filter(|seen| seen.recorded().coverage().is_complete()).collect();
    let (kind, cited) = if !complete.is_empty() && gaps(claim, &complete).is_empty() {
        (GradeKind::Confirmed, complete.as_slice())
    } else {
        (GradeKind::Limited, holds)
    };
    let reasons = cited.iter().flat_map(|seen| {
        let recorded = seen.recorded();
        let holds = Reason::Holds { observation: recorded.id().clone(), saw: saw(recorded) };
        std::iter::once(holds).chain(caveats(recorded))
    });
    Some((kind, reasons.chain(gaps(claim, cited)).chain(conflicts).collect()))
}

fn absent<R: RungKind>(claim: &Claim, relevant: &Relevant<'_, R>) -> Option<Judgement> {
    let silent: Vec<Seen<'_, R>> = relevant.holds.iter().chain(&relevant.sweeps).copied().collect();
    let full = by_quality(claim, &silent, Quality::Full);
    if !full.is_empty() {
        return Some((GradeKind::Confirmed, full));
    }
    let weak = by_quality(claim, &silent, Quality::Weak);
    (!weak.is_empty()).then_some((GradeKind::Limited, weak))
}

fn by_quality<R: RungKind>(claim: &Claim, silent: &[Seen<'_, R>], wanted: Quality) -> Vec<Reason> {
    let weighed = silent.iter().map(|seen| weigh(claim, *seen));
    weighed.filter(|(quality, _)| *quality == wanted).flat_map(|(_, reasons)| reasons).collect()
}

/// The maximum number of pairs to list. It is enough to see which observers disagree.
const PAIRS: usize = 64;

/// Observers that disagree on one rung and subject, in pairs. There is no majority vote.
fn conflicts<R: RungKind>(claim: &Claim, relevant: &Relevant<'_, R>, disputing: &Disputing<'_, R>) -> Vec<Reason> {
    let mut pairs = Vec::new();
    let of = |recorded: &Recorded| recorded.fact().map(|fact| fact.about.clone());
    let mut held: HashMap<_, Vec<Seen<'_, R>>> = HashMap::new();
    if !relevant.contradicts.is_empty() {
        for one in &relevant.holds {
            held.entry((one.recorded().subject(), of(one.recorded()))).or_default().push(*one);
        }
    }
    for against in relevant.contradicts.iter().map(|seen| seen.recorded()) {
        for one in held.get(&(against.subject(), of(against))).into_iter().flatten() {
            if pairs.len() == PAIRS {
                return pairs;
            }
            if !claim.expected.is_negative() || weigh(claim, *one).0 > Quality::Blind {
                pairs.push(Reason::Conflict { one: one.recorded().id().clone(), other: against.id().clone() });
            }
        }
    }
    let sightings = if claim.expected.is_negative() { &relevant.contradicts } else { &relevant.holds };
    for sighting in sightings.iter().map(|seen| seen.recorded()) {
        for sweep in disputing.sweeps(sighting) {
            if pairs.len() == PAIRS {
                return pairs;
            }
            pairs.push(Reason::Conflict { one: sighting.id().clone(), other: sweep.id().clone() });
        }
    }
    pairs
}

/// Sweeps that should have seen what another observer saw, grouped by subject, regardless of the window.
struct Disputing<'a, R: RungKind> {
    sweeps: HashMap<Subject, Vec<Seen<'a, R>>>,
}

impl<'a, R: RungKind> Disputing<'a, R> {
    fn new(claim: &Claim, relevant: &Relevant<'a, R>) -> Self {
        let enough = if claim.expected.is_negative() { Quality::Weak } else { Quality::Full };
        let mut sweeps: HashMap<Subject, Vec<Seen<'a, R>>> = HashMap::new();
        for sweep in relevant.sweeps.iter().filter(|sweep| weigh(claim, **sweep).0 >= enough) {
            sweeps.entry(anytime(sweep.recorded())).or_default().push(*sweep);
        }
        Disputing { sweeps }
    }

    /// The sweeps of the same subject whose window overlaps the sighting's.
    fn sweeps(&self, sighting: &Recorded) -> impl Iterator<Item = &'a Recorded> {
        let same = if self.sweeps.is_empty() { None } else { self.sweeps.get(&anytime(sighting)) };
        let same = same.into_iter().flatten().map(|sweep| sweep.recorded());
        same.filter(|sweep| sweep.subject().overlaps(sighting.subject()))
    }
}

fn anytime(recorded: &Recorded) -> Subject {
    Subject { window: Window::Whole, ..recorded.subject().clone() }
}

/// Sightings that no sweep contradicts. If the claim does not name a model or a window, one such sighting is enough for
/// "it is there".
fn undisputed<'a, R: RungKind>(relevant: &Relevant<'a, R>, disputing: &Disputing<'_, R>) -> Vec<Seen<'a, R>> {
    relevant.holds.iter().copied().filter(|seen| disputing.sweeps(seen.recorded()).next().is_none()).collect()
}

/// Reservations about an observation that still counts.
fn caveats(recorded: &Recorded) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if !recorded.coverage().is_complete() {
        let missing = missing(recorded.coverage());
        reasons.push(Reason::Partial { observation: recorded.id().clone(), missing });
    }
    if *recorded.contamination_state() == Contamination::Unchecked {
        reasons.push(Reason::Uncertified { observation: recorded.id().clone() });
    }
    reasons
}

/// The parts of the claim that none of these observations covers.
fn gaps<R: RungKind>(claim: &Claim, cited: &[Seen<'_, R>]) -> Vec<Reason> {
    let facts = cited.iter().filter_map(|seen| seen.recorded().fact()).map(|fact| &fact.about);
    let gap = |(parameter, gap)| Reason::RangeGap { parameter, gap };
    claim.about.uncovered(facts).into_iter().map(gap).collect()
}

/// Judges observations of other subjects that the claim's transfer rules admit. The result is at most Inferred.
fn transferred<R: RungKind>(claim: &Claim, concerning: &[&Recorded]) -> Option<Judgement> {
    if claim.transfer.is_empty() {
        return None;
    }
    let bridge = |subject: &Subject| {
        let differs = claim.scope.differences(subject);
        let rules = Transfer::bridge(&claim.transfer, R::RUNG, &claim.scope, subject, &differs)?;
        (!differs.is_empty()).then_some((differs, rules))
    };
    let relevant = Relevant::<R>::gather(claim, concerning, |subject| bridge(subject).is_some());
    let (GradeKind::Confirmed, mut reasons) = direct(&bridged(claim), &relevant)? else { return None };
    let cited: BTreeSet<_> = reasons.iter().filter_map(Reason::observation).cloned().collect();
    for recorded in concerning.iter().filter(|recorded| cited.contains(recorded.id())) {
        let Some((differs, rules)) = bridge(recorded.subject()) else { continue };
        reasons.extend(rules.iter().map(|rule| Reason::Transferred {
            observation: recorded.id().clone(),
            rule: rule.name(),
            differs: differs.iter().copied().collect(),
            assumptions: rule.assumptions().to_vec(),
        }));
    }
    Some((GradeKind::Inferred, reasons))
}

/// The claim restated for another subject. It is restricted to what was examined there, so that silence there can be
/// judged.
fn bridged(claim: &Claim) -> Claim {
    let mut there = claim.clone();
    there.scope.file = there.scope.file.or(Some("*".to_owned()));
    there.scope.source = there.scope.source.or(Some("*".to_owned()));
    there
}

/// The inference that a named rule draws from a Confirmed grade on a lower rung.
fn inferred(claim: &Claim, concerning: &[&Recorded]) -> Option<Judgement> {
    RULES.iter().filter(|rule| rule.to == claim.rung && rule.absence == claim.expected.is_negative()).find_map(|rule| {
        let below = |subject: &Subject| claim.scope.differences(subject).iter().all(|part| rule.bridges.contains(part));
        let judgement = match rule.from {
            Rung::Declared => direct(claim, &Relevant::<Declared>::gather(claim, concerning, below)),
            Rung::Shipped => direct(claim, &Relevant::<Shipped>::gather(claim, concerning, below)),
            Rung::Loaded => direct(claim, &Relevant::<Loaded>::gather(claim, concerning, below)),
            Rung::Selected => direct(claim, &Relevant::<Selected>::gather(claim, concerning, below)),
            Rung::Launched => direct(claim, &Relevant::<Launched>::gather(claim, concerning, below)),
            Rung::Completed => direct(claim, &Relevant::<Completed>::gather(claim, concerning, below)),
        };
        let (GradeKind::Confirmed, mut reasons) = judgement? else { return None };
        let cited: BTreeSet<_> = reasons.iter().filter_map(Reason::observation).cloned().collect();
        reasons.extend(cited.into_iter().map(|observation| Reason::Follows {
            observation,
            rule: rule.name,
            from: rule.from,
            assumptions: rule.assumptions.to_vec(),
        }));
        Some((GradeKind::Inferred, reasons))
    })
}

fn ladder(claim: &Claim, concerning: &[&Recorded]) -> Vec<RungTally> {
    let mut steps: Vec<RungTally> =
        Rung::ALL.into_iter().map(|rung| RungTally { rung, holds: 0, contradicts: 0 }).collect();
    let (mut speaks, answer) = (speaking(claim), answering(claim));
    for recorded in concerning.iter().filter(|recorded| recorded.contaminated().is_none() && speaks(recorded)) {
        let Some(fact) = recorded.fact() else { continue };
        let Some(step) = steps.iter_mut().find(|step| step.rung == recorded.rung()) else { continue };
        match answer(fact) {
            crate::Answer::Holds => step.holds += 1,
            crate::Answer::Contradicts => step.contradicts += 1,
            crate::Answer::Silent => {}
        }
    }
    steps
}
