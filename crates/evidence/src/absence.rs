//! Absence: when "not seen" is evidence that something was not there.

use crate::{
    Artifact, Canary, Claim, Contamination, Coverage, Finding, Gap, Reason, Recorded, RungKind, Seen, Span, Spot,
    Window,
};
use say::{Kept, say};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Quality {
    /// The event may have happened unseen.
    Blind,
    /// There is no contradiction, but the evidence is weak: the canary was not in the target, or only the observer
    /// itself claims to have seen everything, or no certificate shows that the observer changed nothing.
    Weak,
    Full,
}

/// How strongly an observer's silence supports this claim, and the reasons why the support is not stronger.
pub(crate) fn weigh<R: RungKind>(claim: &Claim, seen: Seen<'_, R>) -> (Quality, Vec<Reason>) {
    let recorded = seen.recorded();
    let observation = recorded.id().clone();
    let spots = blind_spots(claim, recorded);
    if !spots.is_empty() {
        let spot = |spot| Reason::BlindSpot { observation: observation.clone(), spot };
        return (Quality::Blind, spots.into_iter().map(spot).collect());
    }
    let mut reasons = vec![Reason::NotThere { observation: observation.clone() }];
    if let (Canary::InChild(_), Some(canary)) = (recorded.canary_seen(), recorded.canary_seen().what()) {
        reasons.push(Reason::WeakCanary { observation: observation.clone(), canary });
    }
    if recorded.coverage().accounts.is_empty() {
        reasons.push(Reason::OneAccount { observation: observation.clone() });
    }
    if *recorded.contamination_state() == Contamination::Unchecked {
        reasons.push(Reason::Uncertified { observation });
    }
    (if reasons.len() == 1 { Quality::Full } else { Quality::Weak }, reasons)
}

fn blind_spots(claim: &Claim, recorded: &Recorded) -> Vec<Spot> {
    let mut spots = Vec::new();
    if !in_view(claim, recorded) {
        spots.push(Spot::View);
    }
    if let (None, Window::Named(seen)) = (&claim.scope.window, &recorded.subject().window) {
        spots.push(Spot::Window { seen: seen.clone() });
    }
    if !recorded.coverage().is_complete() {
        spots.push(Spot::Coverage { missing: missing(recorded.coverage()) });
    }
    if *recorded.canary_seen() == Canary::None {
        spots.push(Spot::NoCanary);
    }
    let scope = &claim.scope;
    let pinned = match &recorded.subject().artifact {
        Artifact::File { .. } => scope.file.is_some() || scope.sha256.is_some(),
        Artifact::Source { .. } => scope.source.is_some() || scope.commit.is_some(),
        Artifact::Host { .. } | Artifact::None => true,
    };
    if !pinned {
        spots.push(Spot::OnlyThis { what: recorded.subject().to_string() });
    }
    spots
}

/// Whether the claim was in the observer's view. An explicit "nothing" counts if it is about exactly what the claim
/// asks. A claim with a pattern needs a field of view that covers the pattern.
fn in_view(claim: &Claim, recorded: &Recorded) -> bool {
    if recorded.field_of_view().covers(&claim.topic, &claim.about) {
        return true;
    }
    let Finding::Saw(fact) = recorded.finding() else { return false };
    claim.about.0.iter().all(|(key, asked)| {
        fact.about.get(key).is_some_and(|given| match (Span::parse(given), Span::parse(asked)) {
            (Some(given), Some(asked)) => given.contains(asked),
            _ => given == asked,
        })
    })
}

/// The parts that were missed, as text.
pub(crate) fn missing(coverage: &Coverage) -> Vec<Kept> {
    let mut list: Vec<Kept> = coverage.missing.iter().map(Gap::whole).collect();
    let unit = coverage.counted();
    if coverage.lost > 0 {
        list.push(say!("evidence-lost", count = coverage.lost, unit).into());
    }
    if let Some(total) = coverage.total.filter(|&total| total > coverage.seen && coverage.missing.is_empty()) {
        list.push(say!("evidence-part", seen = coverage.seen, total, unit).into());
    }
    list
}
