//! All observations, sorted once, so that each claim looks only at those that can concern it.

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
        pool
    }

    /// Sorted by id, each once: the order of arrival leaves no trace.
    pub fn concerning(&self, claim: &Claim) -> Vec<&'a Recorded> {
        let facts = [claim.topic.as_str(), RUNTIME, DEVICE].into_iter().filter_map(|topic| self.facts.get(topic));
        let mut all: Vec<&Recorded> = facts.flatten().chain(&self.others).copied().collect();
        all.sort_by(|a, b| a.id().cmp(b.id()));
        all.dedup_by(|a, b| a.id() == b.id());
        all
    }

    pub fn facts(&self, topic: &str) -> &[&'a Recorded] {
        self.facts.get(topic).map_or(&[], Vec::as_slice)
    }
}
