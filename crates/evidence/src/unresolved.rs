//! Why a claim could not be decided: each cause with its evidence, most important first.

use crate::absence::weigh;
use crate::fact::glob;
use crate::judge::Judgement;
use crate::observation_index::{DEVICE, RUNTIME};
use crate::reading::saw;
use crate::relevant::{Relevant, speaks};
use crate::{Ability, About, Claim, DeviceKind, Finding, GradeKind, Looker, Reason, Recorded, RungKind, Why};
use std::collections::HashMap;

/// The maximum number to show. It is enough for a reader to see what else was seen.
const ELSEWHERE: usize = 8;

pub(crate) fn unresolved<R: RungKind>(
    claim: &Claim,
    own: &Relevant<'_, R>,
    concerning: &[&Recorded],
    able: &[Ability],
) -> Judgement {
    let mut causes: Vec<(Why, Reason)> = Vec::new();
    for recorded in own.contaminated.iter().map(|seen| seen.recorded()) {
        let differences = recorded.contaminated().unwrap_or_default().to_vec();
        causes.push((Why::Contaminated, Reason::Contaminated { observation: recorded.id().clone(), differences }));
    }
    let silent = if claim.expected.is_negative() { &own.holds[..] } else { &[] };
    for seen in silent.iter().chain(&own.sweeps) {
        causes.extend(weigh(claim, *seen).1.into_iter().map(|reason| (Why::Blind, reason)));
    }
    for recorded in own.silent.iter().map(|seen| seen.recorded()) {
        causes.push((Why::Blind, Reason::Silent { observation: recorded.id().clone(), saw: saw(recorded) }));
    }
    causes.extend(other_machine(claim, concerning).map(|host| (Why::OtherMachine, Reason::OtherMachine { host })));
    causes.extend(not_here(claim, concerning).map(|what| (Why::NotHere, Reason::NotHere { what })));
    causes.extend(no_device(claim, concerning).map(|what| (Why::NoDevice, Reason::NoDevice { what })));
    causes.extend(blocked::<R>(claim, concerning).map(|reason| (Why::Blocked, reason)));
    let observers: Vec<Looker> = able
        .iter()
        .filter(|able| able.rung == R::RUNG && able.view.covers(&claim.topic, &claim.about))
        .map(|able| able.looker.clone())
        .collect();
    causes.push(if observers.is_empty() && !able.is_empty() {
        (Why::NotInView, Reason::NotInView { rung: R::RUNG, topic: claim.topic.clone() })
    } else {
        (Why::NeverTried, Reason::NeverTried { observers })
    });
    let why = causes.iter().map(|(why, _)| *why).min().unwrap_or(Why::NeverTried);
    let mut reasons: Vec<Reason> = causes.into_iter().map(|(_, reason)| reason).collect();
    reasons.extend(elsewhere::<R>(claim, concerning));
    (GradeKind::Unresolved(why), reasons)
}

/// Observers that had the claim in view but could not look, and have not looked since.
fn blocked<'a, R: RungKind>(
    claim: &'a Claim,
    concerning: &'a [&Recorded],
) -> impl Iterator<Item = Reason> + use<'a, R> {
    let again = |later: &Recorded| match later.finding() {
        Finding::Blocked { .. } => speaks(claim, later),
        _ => later.field_of_view().covers(&claim.topic, &claim.about) || speaks(claim, later),
    };
    // Success on another machine does not explain a failure on this one.
    let machine = |recorded: &'a Recorded| {
        let ledger = recorded.origin().map(|origin| origin.split('#').next().unwrap_or(origin));
        (recorded.observer().name.as_str(), ledger, recorded.subject().host.as_deref())
    };
    let mut last: HashMap<(&str, Option<&str>, Option<&str>), &str> = HashMap::new();
    let any = concerning.iter().any(|recorded| matches!(recorded.finding(), Finding::Blocked { .. }));
    let looked = if any { concerning } else { &[] };
    for later in looked.iter().filter(|later| later.rung() == R::RUNG && again(later)) {
        let known = last.entry(machine(later)).or_default();
        *known = later.time().max(known);
    }
    looked.iter().filter_map(move |recorded| {
        let Finding::Blocked { why, fix, said } = recorded.finding() else { return None };
        let looked_since = last.get(&machine(recorded)).is_some_and(|last| *last > recorded.time());
        (recorded.rung() == R::RUNG && speaks(claim, recorded) && !looked_since).then(|| Reason::Blocked {
            observation: recorded.id().clone(),
            why: why.clone(),
            fix: fix.clone(),
            said: said.clone(),
        })
    })
}

/// The machine that the claim names, if no recorded observation is about it.
fn other_machine(claim: &Claim, concerning: &[&Recorded]) -> Option<String> {
    let host = claim.scope.host.as_ref().filter(|host| *host != "*")?;
    let from_there = |recorded: &&Recorded| recorded.subject().host.as_deref().is_some_and(|given| glob(given, host));
    (!concerning.iter().any(from_there)).then(|| host.clone())
}

/// The claim's runtime, if runtimes were searched and this one was not found.
fn not_here(claim: &Claim, concerning: &[&Recorded]) -> Option<String> {
    let runtime = claim.scope.runtime.as_ref().filter(|runtime| *runtime != "*")?;
    looked_for(concerning, RUNTIME, &About::new([("name", runtime)])).then(|| runtime.clone())
}

fn no_device(claim: &Claim, concerning: &[&Recorded]) -> Option<String> {
    let real = claim.rung.needs_real_device() || claim.scope.device == Some(DeviceKind::Real);
    let target = claim.scope.target.as_ref().filter(|_| real)?;
    looked_for(concerning, DEVICE, &About::new([("target", target)])).then(|| target.clone())
}

/// Whether an observer searched for it completely and it was never seen.
fn looked_for(concerning: &[&Recorded], topic: &str, about: &About) -> bool {
    let sound = |recorded: &&&Recorded| recorded.contaminated().is_none() && recorded.coverage().is_complete();
    let mut speaking = concerning.iter().filter(sound);
    let swept =
        |recorded: &&Recorded| *recorded.finding() == Finding::Swept && recorded.field_of_view().covers(topic, about);
    let seen = |recorded: &&Recorded| {
        recorded
            .fact()
            .is_some_and(|fact| fact.topic == topic && fact.about.speaks_for(about) && !fact.value.is_nothing())
    };
    speaking.clone().any(swept) && !speaking.any(seen)
}

/// Observations of other subjects on this rung to which no transfer rule applies.
fn elsewhere<R: RungKind>(claim: &Claim, concerning: &[&Recorded]) -> Vec<Reason> {
    let foreign = concerning.iter().filter(|recorded| {
        recorded.rung() == R::RUNG
            && recorded.fact().is_some()
            && recorded.contaminated().is_none()
            && speaks(claim, recorded)
    });
    foreign
        .filter_map(|recorded| {
            let differs = claim.scope.differences(recorded.subject());
            (!differs.is_empty()).then(|| Reason::Elsewhere {
                observation: recorded.id().clone(),
                differs: differs.into_iter().collect(),
                saw: saw(recorded),
            })
        })
        .take(ELSEWHERE)
        .collect()
}
