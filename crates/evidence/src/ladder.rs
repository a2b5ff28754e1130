//! A question, rung by rung: what was seen for its own subject, what was seen for other subjects, and why the remaining
//! rungs are empty.

use crate::investigation::{Ask, inherited};
use crate::judge::judge_in;
use crate::observation_index::{DEVICE, ObservationIndex, RUNTIME};
use crate::question::look_up;
use crate::{Ability, Claim, Expected, Found, Investigation, Question, Reading, Recorded, Rung, Scope, Subject};

/// One rung of a question's ladder.
#[derive(Debug, Clone, PartialEq)]
pub struct LadderStep {
    pub rung: Rung,
    pub scope: Scope,
    /// Values seen for the question's own subject, each graded as if it had been claimed.
    pub found: Vec<Found>,
    /// Values seen for other subjects, each judged separately. They do not affect the grade of this rung.
    pub elsewhere: Vec<(Subject, Vec<Found>)>,
    /// The judgement on whether anything is there at all. If nothing was found, it says why.
    pub any: Reading,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ladder {
    pub question: String,
    pub topic: String,
    pub steps: Vec<LadderStep>,
}

/// The maximum number of other subjects to show. It is enough for a reader to see what else was seen.
const OTHERS: usize = 8;

/// Other subjects for which a matching value was seen on the rung. Those with the same target come first.
fn others(ask: &Ask, index: &ObservationIndex<'_>) -> Vec<Subject> {
    let fitting =
        index.facts(&ask.topic).iter().filter(|alike| alike.about.is_some_and(|it| it.speaks_for(&ask.about)));
    let rows = fitting.flat_map(|alike| alike.rows.iter().copied()).filter(|recorded| recorded.rung() == ask.rung);
    let mut all: Vec<&Subject> = Vec::new();
    for subject in rows.map(|recorded| recorded.subject()) {
        if !ask.scope.differences(subject).is_empty() && !all.contains(&subject) {
            all.push(subject);
        }
    }
    all.sort_by_cached_key(|subject| (subject.target != ask.scope.target, subject.to_string()));
    all.into_iter().take(OTHERS).cloned().collect()
}

impl Investigation {
    /// The ladders, in the order of the questions.
    pub fn ladders(&self, observations: &[Recorded], able: &[Ability]) -> Vec<Ladder> {
        let index = ObservationIndex::new(observations);
        // Whether something exists is judged on one rung only: an inference from a lower rung is not an observation on
        // this one.
        let setting =
            |recorded: &Recorded| recorded.fact().is_some_and(|fact| [RUNTIME, DEVICE].contains(&fact.topic.as_str()));
        let on = |rung: Rung| -> Vec<Recorded> {
            let kept = observations
                .iter()
                .filter(|recorded| recorded.rung() == rung || recorded.fact().is_none() || setting(recorded));
            kept.cloned().collect()
        };
        let alone: Vec<Vec<Recorded>> = Rung::ALL.map(on).into();
        let alone: Vec<ObservationIndex<'_>> = alone.iter().map(|kept| ObservationIndex::new(kept)).collect();
        self.questions.iter().map(|question| self.ladder(question, &index, &alone, able)).collect()
    }

    fn ladder(
        &self,
        question: &Question,
        index: &ObservationIndex<'_>,
        alone: &[ObservationIndex<'_>],
        able: &[Ability],
    ) -> Ladder {
        let asked = self.asked(question);
        let step = |(rung, alone): (Rung, &ObservationIndex<'_>)| {
            let scope = self.scope_on(question, rung, &asked);
            let ask = Ask { rung, topic: asked.topic.clone(), about: asked.about.clone(), scope, yes: None };
            let found = look_up(&question.id, &ask, index, able);
            let others = others(&ask, index);
            let elsewhere = others.into_iter().map(|subject| {
                let pinned = Ask { scope: Scope::exactly(&subject), ..ask.clone() };
                (subject, look_up(&question.id, &pinned, index, able))
            });
            let elsewhere = elsewhere.collect();
            let claim = Claim {
                id: question.id.clone(),
                rung,
                topic: ask.topic.clone(),
                about: ask.about.clone(),
                expected: Expected::Present(true),
                scope: ask.scope.clone(),
                transfer: Vec::new(),
            };
            let any = judge_in(&claim, alone, able);
            LadderStep { rung, scope: ask.scope, found, elsewhere, any }
        };
        Ladder {
            question: question.id.clone(),
            topic: asked.topic.clone(),
            steps: Rung::ALL.into_iter().zip(alone).map(step).collect(),
        }
    }

    /// The subject, topic and rung that the question is about; if it only names claims, those of its first claim.
    fn asked(&self, question: &Question) -> Ask {
        let first = || question.all_claims().next().and_then(|(id, _)| self.claim(id)).map(|stated| &stated.claim);
        question.ask.clone().or_else(|| question.elsewhere.clone()).unwrap_or_else(|| {
            let (rung, topic, about, scope) = first().map_or_else(
                || (Rung::Declared, String::new(), crate::About::default(), Scope::default()),
                |claim| (claim.rung, claim.topic.clone(), claim.about.clone(), claim.scope.clone()),
            );
            Ask { rung, topic, about, scope, yes: None }
        })
    }

    /// The subject on a rung: taken from the question, otherwise from one of its claims or a claim on the same topic,
    /// otherwise from the investigation.
    fn scope_on(&self, question: &Question, rung: Rung, asked: &Ask) -> Scope {
        if let Some(ask) = question.ask.as_ref().filter(|ask| ask.rung == rung) {
            return ask.scope.clone();
        }
        let own = question.all_claims().filter_map(|(id, _)| self.claim(id));
        let stated =
            own.chain(&self.claims).find(|stated| stated.claim.rung == rung && stated.claim.topic == asked.topic);
        stated.map_or_else(|| inherited(&self.subject, rung), |stated| stated.claim.scope.clone())
    }
}
