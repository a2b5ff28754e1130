//! Answers a question from the claims that would decide it and from observations on its topic.

use crate::answer::conclude;
use crate::investigation::Ask;
use crate::judge::judge_in;
use crate::observation_index::{ObservationIndex, sorted};
use crate::relevant::memo;
use crate::value::Likeness;
use crate::{
    Ability, About, Answer, Claim, Conclusion, Expected, Fact, Grade, Investigation, Question, Reading, Recorded, Rung,
    Subject, Value,
};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// An observed value, graded like a claim.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Found {
    pub about: String,
    /// The parameters in `about`, by name.
    #[serde(skip)]
    pub parameters: About,
    pub value: String,
    #[serde(flatten)]
    pub grade: Grade,
    pub reading: Reading,
    #[serde(skip)]
    pub(crate) is_nothing: bool,
    #[serde(skip)]
    fact: Fact,
}

impl Found {
    pub(crate) fn holds(&self, expected: &Expected) -> bool {
        expected.ask(&self.fact) == Answer::Holds
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct QuestionReading {
    pub question: String,
    /// The rung that the question is about. A question about what runs is about `launched`.
    pub asked_of: Rung,
    /// Yes, no, partly or unknown, and the rung that this is based on.
    pub conclusion: Conclusion,
    /// The readings of the claims that would answer it, in the order of the file.
    pub claims: Vec<String>,
    /// The claims among them that have supporting evidence.
    pub settled_by: Vec<String>,
    pub refuted: Vec<String>,
    pub found: Vec<Found>,
    /// The observations on the question's own rung, if `found` is from a lower one.
    pub live: Vec<Found>,
    /// The observations of another subject or on another rung. They are shown but never answer the question.
    pub elsewhere: Vec<Found>,
    /// Whether the question has no answer, or only one from a lower rung, in part or by inference.
    pub open: bool,
}

/// The maximum number of values, each listed once. A topic with more values gives no answer.
const MOST: usize = 256;

fn answer(
    question: &Question,
    investigation: &Investigation,
    readings: &[Reading],
    index: &ObservationIndex<'_>,
    able: &[Ability],
) -> QuestionReading {
    let of = |id: &String| readings.iter().find(|reading| reading.claim == *id);
    let having = |keep: fn(Grade) -> bool| {
        let ids = question.all_claims().map(|(id, _)| id);
        ids.filter(|id| of(id).is_some_and(|reading| keep(reading.grade))).cloned().collect()
    };
    let seen = |ask: &Option<Ask>| ask.as_ref().map_or_else(Vec::new, |ask| look_up(&question.id, ask, index, able));
    let found = seen(&question.ask);
    let live = seen(&question.live);
    let all: Vec<&Found> = found.iter().chain(&live).collect();
    let conclusion = conclude(question, investigation, readings, &all);
    QuestionReading {
        question: question.id.clone(),
        asked_of: question.rung,
        claims: question.all_claims().map(|(id, _)| id.clone()).collect(),
        settled_by: having(|grade| grade.strength() > 0),
        refuted: having(Grade::is_refuted),
        elsewhere: seen(&question.elsewhere),
        open: !conclusion.is_certain(),
        found,
        live,
        conclusion,
    }
}

pub(crate) fn look_up(id: &str, ask: &Ask, index: &ObservationIndex<'_>, able: &[Ability]) -> Vec<Found> {
    let fitting =
        index.facts(&ask.topic).iter().filter(|alike| alike.about.is_some_and(|it| it.speaks_for(&ask.about)));
    let mut own = memo(|subject: &Subject| ask.scope.differences(subject).is_empty());
    // This share is released before the answers are judged, because judging takes rows from the budget too.
    let room = index.room_for(fitting.clone().map(|alike| alike.rows.len()).sum());
    let rows = fitting.flat_map(|alike| alike.rows.iter().copied());
    let rows = sorted(rows.filter(|recorded| recorded.rung() == ask.rung && own(recorded.subject())));
    let facts = rows.into_iter().filter_map(|recorded| recorded.fact());
    let mut known: HashMap<(&About, Likeness), Vec<&Value>> = HashMap::new();
    let mut seen: Vec<(&About, &Value)> = Vec::new();
    for fact in facts {
        let alike = known.entry((&fact.about, fact.value.likeness())).or_default();
        if !alike.iter().any(|value| value.same(&fact.value)) {
            alike.push(&fact.value);
            seen.push((&fact.about, &fact.value));
        }
    }
    seen.sort_by_cached_key(|(about, value)| (about.to_string(), value.to_string()));
    seen.truncate(MOST);
    seen.shrink_to_fit();
    drop((known, room));
    seen.into_iter()
        .map(|(about, value)| {
            let claim = Claim {
                id: id.to_owned(),
                rung: ask.rung,
                topic: ask.topic.clone(),
                about: about.clone(),
                expected: if *value == Value::Nothing {
                    Expected::Absent(true)
                } else {
                    Expected::Equals(value.clone())
                },
                scope: ask.scope.clone(),
                transfer: Vec::new(),
            };
            let reading = judge_in(&claim, index, able);
            Found {
                about: about.to_string(),
                parameters: about.clone(),
                value: value.to_string(),
                grade: reading.grade,
                reading,
                is_nothing: value.is_nothing(),
                fact: Fact::new(&ask.topic, about.clone(), value.clone()),
            }
        })
        .collect()
}

impl Investigation {
    /// Grades every claim and answers every question.
    pub fn read(&self, observations: &[Recorded], able: &[Ability]) -> (Vec<Reading>, Vec<QuestionReading>) {
        let index = ObservationIndex::new(observations);
        let readings: Vec<Reading> =
            self.claims.par_iter().map(|stated| judge_in(&stated.claim, &index, able)).collect();
        let questions =
            self.questions.par_iter().map(|question| answer(question, self, &readings, &index, able)).collect();
        (readings, questions)
    }
}
