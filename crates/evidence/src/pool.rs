//! All observations, sorted once, so that each claim looks only at those that can concern it.

use crate::bench::speaks;
use crate::fact::glob;
use crate::{Claim, Recorded};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) struct Pool<'a> {
    facts: BTreeMap<&'a str, Vec<&'a Recorded>>,
    /// Sweeps, and observers that could not look: few, and about many topics.
    others: Vec<&'a Recorded>,
}

/// Asked for every claim: is the runtime, is the device here?
pub(crate) const RUNTIME: &str = "runtime.installed";
pub(crate) const DEVICE: &str = "gpu.present";

impl<'a> Pool<'a> {
    pub fn new(observations: &'a [Recorded]) -> Self {
        let mut pool = Pool { facts: BTreeMap::new(), others: Vec::new() };
        for recorded in observations {
            match recorded.fact() {
                Some(fact) => pool.facts.entry(&fact.topic).or_default().push(recorded),
                None => pool.others.push(recorded),
            }
        }
        // Each once: one that came from elsewhere too is our own.
        for list in pool.facts.values_mut().chain([&mut pool.others]) {
            list.sort_by(|a, b| a.id().cmp(b.id()).then(a.origin().is_some().cmp(&b.origin().is_some())));
            list.dedup_by(|a, b| a.id() == b.id());
        }
        pool
    }

    /// Sorted by id, each once: the order of arrival leaves no trace. What neither speaks of the claim nor had it in view
    /// has no part in its grade.
    pub fn concerning(&self, claim: &Claim) -> Vec<&'a Recorded> {
        let topics = [claim.topic.as_str(), RUNTIME, DEVICE];
        let facts = topics.into_iter().enumerate().filter(|(at, topic)| !topics[..*at].contains(topic));
        let facts = facts.filter_map(|(_, topic)| self.facts.get(topic)).flatten();
        let here = |topic: &str| [RUNTIME, DEVICE].iter().any(|asked| glob(asked, topic));
        let matters = |recorded: &&&Recorded| {
            let asked_always = match recorded.fact() {
                Some(fact) => here(&fact.topic),
                None => recorded.field_of_view().views.iter().any(|view| here(&view.topic)),
            };
            asked_always || speaks(claim, recorded) || recorded.field_of_view().covers(&claim.topic, &claim.about)
        };
        let mut all: Vec<&Recorded> = facts.chain(&self.others).filter(matters).copied().collect();
        all.sort_by(|a, b| a.id().cmp(b.id()));
        all
    }

    pub fn facts(&self, topic: &str) -> &[&'a Recorded] {
        self.facts.get(topic).map_or(&[], Vec::as_slice)
    }
}
