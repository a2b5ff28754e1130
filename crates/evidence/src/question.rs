//! Answering a question: by the claims that would settle it, and by what was seen on its topic.

use crate::investigation::Ask;
use crate::judge::judge_in;
use crate::observation_index::{ObservationIndex, sorted};
use crate::relevant::memo;
use crate::value::Likeness;
use crate::{Ability, About, Claim, Expected, Grade, Investigation, Question, Reading, Recorded, Subject, Value};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// A value that was seen, graded as if it had been claimed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Found {
    pub about: String,
    /// The same, by name.
    #[serde(skip)]
    pub parameters: About,
    pub value: String,
    #[serde(flatten)]
    pub grade: Grade,
    pub reading: Reading,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct QuestionReading {
    pub question: String,
    /// The readings of the claims that would answer it, in the order of the file.
    pub claims: Vec<String>,
    /// Claims among them for which something speaks.
    pub settled_by: Vec<String>,
    pub refuted: Vec<String>,
    pub found: Vec<Found>,
    /// What was seen of another subject or on another rung: it says something, and never answers the question.
    pub elsewhere: Vec<Found>,
    pub open: bool,
}

/// Values are shown once each; a topic with more than this many is a table, not an answer.
const MOST: usize = 12;

pub(crate) fn answer(
    question: &Question,
    readings: &[Reading],
    index: &ObservationIndex<'_>,
    able: &[Ability],
) -> QuestionReading {
    let of = |id: &String| readings.iter().find(|reading| reading.claim == *id);
    let having = |keep: fn(Grade) -> bool| {
        question.claims.iter().filter(|id| of(id).is_some_and(|reading| keep(reading.grade))).cloned().collect()
    };
    let settled_by: Vec<String> = having(|grade| grade.strength() > 0);
    let refuted: Vec<String> = having(Grade::is_refuted);
    let seen = |ask: &Option<Ask>| ask.as_ref().map_or_else(Vec::new, |ask| look_up(&question.id, ask, index, able));
    let found = seen(&question.ask);
    let elsewhere = seen(&question.elsewhere);
    // One claim makes a yes-or-no question: refuted, the answer is no. Of several possible answers some may be refuted
    // and none be the answer.
    let no = question.claims.len() == 1 && refuted.len() == 1;
    let open = settled_by.is_empty() && !no && !found.iter().any(|found| found.grade.strength() > 0);
    let (question, claims) = (question.id.clone(), question.claims.clone());
    QuestionReading { question, claims, settled_by, refuted, found, elsewhere, open }
}

pub(crate) fn look_up(id: &str, ask: &Ask, index: &ObservationIndex<'_>, able: &[Ability]) -> Vec<Found> {
    let fitting =
        index.facts(&ask.topic).iter().filter(|alike| alike.about.is_some_and(|it| it.speaks_for(&ask.about)));
    let mut own = memo(|subject: &Subject| ask.scope.differences(subject).is_empty());
    let rows = fitting.flat_map(|alike| alike.rows.iter().copied());
    let rows = sorted(rows.filter(|recorded| recorded.rung() == ask.rung && own(recorded.subject())));
    let facts = rows.iter().filter_map(|recorded| recorded.fact());
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
            }
        })
        .collect()
}

impl Investigation {
    /// Every claim and every question, graded.
    pub fn read(&self, observations: &[Recorded], able: &[Ability]) -> (Vec<Reading>, Vec<QuestionReading>) {
        let index = ObservationIndex::new(observations);
        let readings: Vec<Reading> = self.claims.iter().map(|stated| judge_in(&stated.claim, &index, able)).collect();
        let questions = self.questions.iter().map(|question| answer(question, &readings, &index, able)).collect();
        (readings, questions)
    }
}
