//! Which observations an investigation can use at all: the others need not be read. Never narrower than what
//! `observation_index` hands to the judge, so that leaving the others out changes no grade (`tests/properties.rs`).

use crate::fact::{fits, glob};
use crate::glance::Saw;
use crate::investigation::Ask;
use crate::observation_index::{DEVICE, RUNTIME};
use crate::{About, FieldOfView, Glance, Investigation, Question, Span};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug)]
pub struct Wanted<'a> {
    /// What the claims are about, by topic.
    claims: BTreeMap<&'a str, Vec<&'a About>>,
    asks: Vec<&'a Ask>,
    /// All that is on the topics of the questions.
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
        // Each claim is asked: an odd answer must be noticed even if another claim wants the observation.
        let asked =
            self.asks.iter().filter(|ask| ask.topic == saw.topic && self.asks_for(ask, saw, glance)).count() > 0;
        asked
            || [RUNTIME, DEVICE].contains(&&*saw.topic)
            || self.claims.get(&*saw.topic).is_some_and(|all| all.iter().any(claimed))
    }

    /// What answers a question is then judged like a claim on exactly that, with its parameters for a pattern: so what is
    /// alike to an answer is wanted too. Like a plain word is only the same word, which fits the question as well; like a
    /// number are ranges, so all of them are taken. A word with `*` or `|` in it could be like anything.
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

    /// To be asked after all were seen: where something was met whose like could be anything, they must be gone through
    /// once more with what this gives.
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
