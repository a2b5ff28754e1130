//! Selects the observations that an investigation can use; the others need not be read. The selection is never narrower
//! than what `observation_index` passes to the judge, so leaving out the others changes no grade
//! (`tests/properties.rs`).

use crate::fact::{fits, glob};
use crate::glance::Saw;
use crate::investigation::Ask;
use crate::observation_index::{DEVICE, RUNTIME};
use crate::{About, FieldOfView, Glance, Investigation, Question, Span};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug)]
pub struct Wanted<'a> {
    /// The subjects of the claims, by topic.
    claims: BTreeMap<&'a str, Vec<&'a About>>,
    asks: Vec<&'a Ask>,
    /// Whether all observations on the topics of the questions are wanted.
    wide: bool,
    missed: AtomicBool,
}

impl Investigation {
    pub fn wanted(&self) -> Wanted<'_> {
        let mut claims: BTreeMap<&str, Vec<&About>> = BTreeMap::new();
        for stated in &self.claims {
            claims.entry(&stated.claim.topic).or_default().push(&stated.claim.about);
        }
        let asks = self.questions.iter().flat_map(Question::asks);
        Wanted { claims, asks: asks.collect(), wide: false, missed: AtomicBool::new(false) }
    }
}

impl<'a> Wanted<'a> {
    pub fn takes(&self, glance: &Glance<'_>) -> bool {
        let Some(saw) = glance.saw() else { return self.in_view(&glance.view) };
        let claimed = |about: &&About| saw.about.speaks_for(about) || glance.view.covers(&saw.topic, about);
        // Check every claim, even if another claim already wants the observation, so that unusual answers are noticed.
        let asked =
            self.asks.iter().filter(|ask| ask.topic == saw.topic && self.asks_for(ask, saw, glance)).count() > 0;
        asked
            || [RUNTIME, DEVICE].contains(&&*saw.topic)
            || self.claims.get(&*saw.topic).is_some_and(|all| all.iter().any(claimed))
    }

    /// Whether a question wants an observation. Each answer to a question is judged like a claim about exactly that
    /// answer, with the answer's parameters as a pattern. So observations that match an answer are wanted too. A plain
    /// word matches only itself, and then it also fits the question. A number is matched by ranges, so all ranges are
    /// wanted. A word that contains `*` or `|` could match anything.
    fn asks_for(&self, ask: &Ask, saw: &Saw<'_>, glance: &Glance<'_>) -> bool {
        let each = |alike: fn(&str, &str) -> bool| {
            ask.about.0.iter().all(|(key, pattern)| saw.about.get(key).is_some_and(|given| alike(given, pattern)))
        };
        let odd = |(key, _): (&String, &String)| saw.about.get(key).is_some_and(|given| given.contains(['*', '|']));
        if glance.rung == ask.rung && each(fits) && ask.about.0.iter().any(odd) {
            self.missed.store(true, Ordering::Relaxed);
        }
        self.wide
            || each(|given, pattern| fits(given, pattern) || Span::parse(given).is_some())
            || glance.view.views.iter().any(|view| glob(&saw.topic, &view.topic))
    }

    /// Call this after all observations have been seen. If an answer could match anything, returns a wider selection,
    /// with which all observations must be read again.
    pub fn again(self) -> Option<Wanted<'a>> {
        let missed = !self.wide && self.missed.into_inner();
        missed.then(|| Wanted { claims: self.claims, asks: self.asks, wide: true, missed: AtomicBool::new(false) })
    }

    fn in_view(&self, view: &FieldOfView) -> bool {
        let all = |topic: &str| view.views.iter().any(|view| glob(topic, &view.topic));
        let claimed = |(topic, abouts): (&&str, &Vec<&About>)| abouts.iter().any(|about| view.covers(topic, about));
        let topics = self.asks.iter().map(|ask| ask.topic.as_str()).chain([RUNTIME, DEVICE]);
        { topics }.any(all) || self.claims.iter().any(claimed)
    }
}
