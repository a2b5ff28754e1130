//! All observations, sorted once by topic, so that each claim looks only at those that can concern it.

use crate::fact::glob;
use crate::{About, Claim, FieldOfView, Recorded};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Condvar, Mutex, PoisonError};

type Pairs = BTreeMap<String, String>;

#[derive(Debug, Default)]
pub(crate) struct ObservationIndex<'a> {
    facts: BTreeMap<&'a str, Vec<Alike<'a>>>,
    /// Sweeps and blocked observers, grouped by field of view. They are few and cover many topics.
    others: Vec<Alike<'a>>,
    budget: Budget,
}

/// Observations with the same topic, parameters and view: if one of them is relevant, all are.
#[derive(Debug)]
pub(crate) struct Alike<'a> {
    /// The parameters of the fact. None for an observation that is not a fact.
    pub about: Option<&'a About>,
    view: &'a FieldOfView,
    pub rows: Vec<&'a Recorded>,
}

/// The number of rows (about fifty bytes each) that all concurrent judges together may hold. One claim may concern
/// every row of a ledger, and a machine with many cores judges many claims at once.
const ROWS: usize = 5 << 18;

/// The number of rows of the budget that are still free.
#[derive(Debug)]
struct Budget {
    left: Mutex<usize>,
    returned: Condvar,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { left: Mutex::new(ROWS), returned: Condvar::new() }
    }
}

impl Budget {
    /// Takes rows from the budget, after earlier requests. The holder of a share must not request a second one, because
    /// it would wait for itself.
    fn take(&self, rows: usize) -> Share<'_> {
        let rows = rows.min(ROWS);
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = self.returned.wait_while(left, |left| *left < rows).unwrap_or_else(PoisonError::into_inner);
        *left -= rows;
        Share { budget: self, rows }
    }
}

/// A part of the budget, returned when dropped.
#[derive(Debug)]
pub(crate) struct Share<'b> {
    budget: &'b Budget,
    rows: usize,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.budget.left.lock().unwrap_or_else(PoisonError::into_inner) += self.rows;
        self.budget.returned.notify_all();
    }
}

/// The rows sorted by id, without duplicates. One of our own observations takes precedence over an imported copy. The
/// result does not depend on the order of arrival.
pub(crate) fn sorted<'a>(rows: impl Iterator<Item = &'a Recorded>) -> Vec<&'a Recorded> {
    // Sorting by the leading digits in a contiguous array is faster than dereferencing every observation for every
    // comparison.
    let mut rows: Vec<(u128, &Recorded)> = rows.map(|recorded| (recorded.id().first(), recorded)).collect();
    rows.sort_by(|(first, a), (other, b)| {
        let ids = || a.id().cmp(b.id()).then(a.origin().is_some().cmp(&b.origin().is_some()));
        first.cmp(other).then_with(ids)
    });
    rows.dedup_by(|(first, a), (other, b)| first == other && a.id() == b.id());
    rows.into_iter().map(|(_, recorded)| recorded).collect()
}

/// Topics that are looked up for every claim: whether the runtime or the device is here.
pub(crate) const RUNTIME: &str = "runtime.installed";
pub(crate) const DEVICE: &str = "gpu.present";

fn asked_always(topic: &str) -> bool {
    [RUNTIME, DEVICE].iter().any(|asked| glob(asked, topic))
}

impl<'a> ObservationIndex<'a> {
    pub fn new(observations: &'a [Recorded]) -> Self {
        let mut index = ObservationIndex::default();
        // Observations read from the ledger share their parts. Addresses are compared first, because that is faster
        // than comparing content.
        let mut places: HashMap<(&str, Option<*const Pairs>, *const FieldOfView), usize> = HashMap::new();
        let mut contents: HashMap<(&str, Option<&About>, &FieldOfView), usize> = HashMap::new();
        for recorded in observations {
            let view = recorded.field_of_view();
            let (topic, about, list) = match recorded.fact() {
                Some(fact) => (fact.topic.as_str(), Some(&fact.about), index.facts.entry(&fact.topic).or_default()),
                None => ("", None, &mut index.others),
            };
            let place = (topic, about.map(About::place), std::ptr::from_ref(view));
            let at = *places.entry(place).or_insert_with(|| {
                *contents.entry((topic, about, view)).or_insert_with(|| {
                    list.push(Alike { about, view, rows: Vec::new() });
                    list.len() - 1
                })
            });
            if let Some(alike) = list.get_mut(at) {
                alike.rows.push(recorded);
            }
        }
        index
    }

    /// Like [`ObservationIndex::concerning`], with a share of the budget to hold while working on the rows.
    pub fn concerning_within(&self, claim: &Claim) -> (Vec<&'a Recorded>, Share<'_>) {
        let share = self.budget.take(self.groups(claim).map(|alike| alike.rows.len()).sum());
        (self.concerning(claim), share)
    }

    /// Waits until this many rows of the budget are free and takes them.
    pub fn room_for(&self, rows: usize) -> Share<'_> {
        self.budget.take(rows)
    }

    /// The observations that can affect a claim's grade, sorted by id, without duplicates. All others neither are about
    /// the claim nor had it in view.
    pub fn concerning(&self, claim: &Claim) -> Vec<&'a Recorded> {
        sorted(self.groups(claim).flat_map(|alike| alike.rows.iter().copied()))
    }

    fn groups(&self, claim: &Claim) -> impl Iterator<Item = &Alike<'a>> {
        let topics = [claim.topic.as_str(), RUNTIME, DEVICE];
        let topics = topics.into_iter().enumerate().filter(move |(at, topic)| !topics[..*at].contains(topic));
        let facts = topics.flat_map(|(_, topic)| self.facts(topic).iter().map(move |alike| (topic, alike)));
        let in_view = move |alike: &Alike<'_>| alike.view.covers(&claim.topic, &claim.about);
        let facts = facts.filter(move |(topic, alike)| {
            asked_always(topic)
                || (*topic == claim.topic && alike.about.is_some_and(|about| about.speaks_for(&claim.about)))
                || in_view(alike)
        });
        let others = self
            .others
            .iter()
            .filter(move |alike| in_view(alike) || alike.view.views.iter().any(|view| asked_always(&view.topic)));
        facts.map(|(_, alike)| alike).chain(others)
    }

    pub fn facts(&self, topic: &str) -> &[Alike<'a>] {
        self.facts.get(topic).map_or(&[], Vec::as_slice)
    }
}
