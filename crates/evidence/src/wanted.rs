//! Which observations an investigation can use at all: the others need not be read. Never narrower than what `pool` hands
//! to the judge, so that leaving the others out changes no grade (`tests/properties.rs`).

use crate::fact::glob;
use crate::pool::{DEVICE, RUNTIME};
use crate::{About, FieldOfView, Glance, Investigation};
use std::collections::BTreeMap;

#[derive(Debug)]
pub struct Wanted<'a> {
    /// What the claims are about, by topic.
    claims: BTreeMap<&'a str, Vec<&'a About>>,
    /// Topics of which all is wanted: a question's answer may be any of it.
    all: Vec<&'a str>,
}

impl Investigation {
    pub fn wanted(&self) -> Wanted<'_> {
        let mut claims: BTreeMap<&str, Vec<&About>> = BTreeMap::new();
        for stated in &self.claims {
            claims.entry(&stated.claim.topic).or_default().push(&stated.claim.about);
        }
        let asks = self.questions.iter().flat_map(|question| question.ask.iter().chain(&question.elsewhere));
        Wanted { claims, all: asks.map(|ask| ask.topic.as_str()).chain([RUNTIME, DEVICE]).collect() }
    }
}

impl Wanted<'_> {
    pub fn takes(&self, glance: &Glance<'_>) -> bool {
        let Some(saw) = glance.saw() else { return self.in_view(&glance.view) };
        let claimed = |about: &&About| saw.about.speaks_for(about) || glance.view.covers(&saw.topic, about);
        self.all.contains(&&*saw.topic) || self.claims.get(&*saw.topic).is_some_and(|all| all.iter().any(claimed))
    }

    fn in_view(&self, view: &FieldOfView) -> bool {
        let all = |topic: &&str| view.views.iter().any(|view| glob(topic, &view.topic));
        let claimed = |(topic, abouts): (&&str, &Vec<&About>)| abouts.iter().any(|about| view.covers(topic, about));
        self.all.iter().any(all) || self.claims.iter().any(claimed)
    }
}
