//! An investigation with its readings, as `check` and `investigate` print it.

use crate::abilities::abilities;
use crate::advice::{Advice, Need, Places};
use doctor::HostObserver;
use evidence::{
    Basis, Conclusion, GradeKind, Investigation, LeftOutWhy, PhaseName, Question, QuestionReading, Reading, Recorded,
    Rung, Stated, Unit,
};
use std::collections::BTreeMap;

#[derive(Debug)]
pub struct Graded {
    pub investigation: Investigation,
    /// One reading per claim, in the same order.
    pub readings: Vec<Reading>,
    pub questions: Vec<QuestionReading>,
    /// Paths on this machine, for advice.
    places: Places,
    verbs: Vec<String>,
    /// The original commands of the file for each claim and question. In `investigation`, their placeholders are filled
    /// in.
    closes: BTreeMap<String, String>,
    /// Commands that just ran or just failed. They are not advised again.
    done: Vec<String>,
}

/// A piece of advice, and how many open claims and questions it would decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    pub advice: Advice,
    pub claims: usize,
    pub questions: usize,
    /// Whether all prerequisites of the command are met here.
    pub possible: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    pub confirmed: usize,
    pub inferred: usize,
    pub limited: usize,
    pub refuted: usize,
    pub unresolved: usize,
}

impl Graded {
    /// Grades an investigation. `verbs` are the verbs of this build.
    pub fn from_ledger(investigation: Investigation, observations: &[Recorded], verbs: &[String]) -> Graded {
        let (readings, questions) = investigation.read(observations, &abilities(verbs));
        let looked = observations.iter().any(|recorded| recorded.observer().name == HostObserver::NAME);
        let places = Places { looked, ..Places::default() };
        let claims = investigation.claims.iter().map(|stated| (stated.claim.id.clone(), stated.closes.clone()));
        let asked = investigation.questions.iter().map(|question| (question.id.clone(), question.closes.clone()));
        let closes = claims.chain(asked).collect();
        Graded { investigation, readings, questions, places, verbs: verbs.to_vec(), closes, done: Vec::new() }.filled()
    }

    /// Records that this command just ran or just failed, so that it is not advised.
    pub fn just_ran(mut self, command: &str) -> Graded {
        self.done.push(command.to_owned());
        self
    }

    pub fn at(self, places: Places) -> Graded {
        let looked = self.places.looked;
        Graded { places: Places { looked, ..places }, ..self }.filled()
    }

    /// Replaces placeholders, so that every printed command is valid on this machine.
    fn filled(mut self) -> Graded {
        let fill = |id: &str, runtime: Option<&str>| self.places.fill(self.template(id), runtime).command;
        let claims: Vec<String> = self
            .claims()
            .map(|(stated, reading)| {
                let advice = self.advice(stated, reading).map(|advice| advice.command);
                advice.unwrap_or_else(|| fill(&stated.claim.id, stated.claim.scope.runtime.as_deref()))
            })
            .collect();
        let runtime = self.investigation.subject.runtime.as_deref();
        let asked: Vec<String> = self
            .investigation
            .questions
            .iter()
            .zip(&self.questions)
            .map(|(question, answer)| {
                let advice = self.question_advice(question, answer).map(|advice| advice.command);
                advice.unwrap_or_else(|| fill(&question.id, runtime))
            })
            .collect();
        for (stated, command) in self.investigation.claims.iter_mut().zip(claims) {
            stated.closes = command;
        }
        for (question, command) in self.investigation.questions.iter_mut().zip(asked) {
            question.closes = command;
        }
        self
    }

    pub fn claims(&self) -> impl Iterator<Item = (&Stated, &Reading)> {
        self.investigation.claims.iter().zip(&self.readings)
    }

    /// Drops the claims that are not wanted.
    pub fn keep(&mut self, mut wanted: impl FnMut(&Stated, &Reading) -> bool) {
        let claims = std::mem::take(&mut self.investigation.claims);
        let readings = std::mem::take(&mut self.readings);
        for (stated, reading) in claims.into_iter().zip(readings) {
            if wanted(&stated, &reading) {
                self.investigation.claims.push(stated);
                self.readings.push(reading);
            }
        }
    }

    /// Claims that are expected to hold but are refuted or still open. A claim that could not be checked did not pass.
    pub fn failed(&self) -> usize {
        self.claims().filter(|(stated, reading)| stated.must_hold && reading.grade.strength() == 0).count()
    }

    /// Whether the claims that are expected to hold do so. None if none is expected to.
    pub fn expectation(&self) -> Option<Conclusion> {
        let expected: Vec<&Reading> = self.claims().filter(|(stated, _)| stated.must_hold).map(|(_, it)| it).collect();
        let rung = expected.iter().map(|reading| reading.rung).min().unwrap_or(Rung::Declared);
        let answered = expected.iter().filter(|reading| !reading.grade.is_unresolved()).count() as u64;
        let refuted = expected.iter().filter(|reading| reading.grade.is_refuted()).count() as u64;
        let of = expected.iter().flat_map(|reading| &reading.cites).map(|cite| cite.of.as_str());
        let mut basis = Basis::listed(evidence::JUDGE, of, rung, Unit::Claims, expected.len() as u64, answered);
        for reading in &expected {
            basis = reading.cites.iter().fold(basis, |basis, cite| basis.by(&cite.observer.name));
            basis = match reading.grade.kind() {
                GradeKind::Limited => basis.without(&reading.claim, None, LeftOutWhy::InPart),
                GradeKind::Inferred => basis.without(&reading.claim, None, LeftOutWhy::Inferred),
                _ => basis,
            };
        }
        (!expected.is_empty()).then(|| basis.of_all(refuted))
    }

    /// The number of claims of each grade, by phase.
    pub fn counts_by_phase(&self) -> Vec<(PhaseName, Counts)> {
        let of = |phase: PhaseName| {
            let readings = self.claims().filter(|(stated, _)| stated.phase == phase).map(|(_, reading)| reading);
            (phase, Counts::of(readings))
        };
        self.investigation.phases.keys().copied().map(of).filter(|(_, counts)| counts.total() > 0).collect()
    }

    /// The advice that would decide this claim here. None if no command of this build can decide it.
    pub fn advice(&self, stated: &Stated, reading: &Reading) -> Option<Advice> {
        self.known(self.places.advise(
            self.template(&stated.claim.id),
            stated.claim.scope.runtime.as_deref(),
            reading,
        )?)
    }

    /// Like [`Self::advice`], for a question. Its prerequisites are those of the claims that would answer it.
    pub fn question_advice(&self, question: &Question, answer: &QuestionReading) -> Option<Advice> {
        if !answer.open {
            return None;
        }
        let runtime = self.investigation.subject.runtime.as_deref();
        let reading = |id: &String| self.readings.iter().find(|reading| reading.claim == *id);
        let open = question.all_claims().filter_map(|(id, _)| reading(id)).filter(|it| it.grade.is_unresolved());
        let advised = open
            .filter(|it| it.rung == question.rung)
            .find_map(|it| self.places.advise(self.template(&question.id), runtime, it));
        let filled = || self.places.with_needs(self.places.fill(self.template(&question.id), runtime));
        self.known(advised.unwrap_or_else(filled))
    }

    /// The missing prerequisites of any command; empty if that is not checked.
    pub fn needs(&self, command: &str) -> Vec<Need> {
        self.places.feasible.iter().flat_map(|here| here.needs(command)).collect()
    }

    fn template(&self, id: &str) -> &str {
        self.closes.get(id).map_or("", String::as_str)
    }

    fn known(&self, advice: Advice) -> Option<Advice> {
        let verb = advice.command.strip_prefix("whichkernel ").and_then(|rest| rest.split(' ').next());
        let known = verb.is_none_or(|verb| self.verbs.iter().any(|name| name == verb));
        let taken = self.places.takes.is_none_or(|takes| takes(&advice.command));
        (known && taken).then_some(advice)
    }

    pub fn counts(&self) -> Counts {
        Counts::of(&self.readings)
    }

    /// Commands that would decide open claims and questions, the most useful first, and impossible ones last.
    pub fn next(&self) -> Vec<Next> {
        let mut all: BTreeMap<Advice, Next> = BTreeMap::new();
        let mut count = |advice: Option<Advice>, claims: usize, questions: usize| {
            let Some(advice) = advice else { return };
            let possible = advice.needs.is_empty();
            let next = || Next { advice: advice.clone(), claims: 0, questions: 0, possible };
            let next = all.entry(advice.clone()).or_insert_with(next);
            next.claims += claims;
            next.questions += questions;
        };
        for (stated, reading) in self.claims().filter(|(_, reading)| reading.grade.is_unresolved()) {
            count(self.advice(stated, reading), 1, 0);
        }
        for (question, answer) in self.investigation.questions.iter().zip(&self.questions) {
            count(self.question_advice(question, answer), 0, 1);
        }
        let mut all: Vec<Next> = all.into_values().filter(|next| !self.done.contains(&next.advice.command)).collect();
        // Questions come first, because the user wants their answers.
        all.sort_by_key(|next| {
            (!next.possible, std::cmp::Reverse(next.claims + 5 * next.questions), next.advice.clone())
        });
        all
    }
}

impl Counts {
    fn of<'a>(readings: impl IntoIterator<Item = &'a Reading>) -> Counts {
        let mut counts = Counts::default();
        for reading in readings {
            *match reading.grade.kind() {
                GradeKind::Confirmed => &mut counts.confirmed,
                GradeKind::Inferred => &mut counts.inferred,
                GradeKind::Limited => &mut counts.limited,
                GradeKind::Refuted => &mut counts.refuted,
                GradeKind::Unresolved(_) => &mut counts.unresolved,
            } += 1;
        }
        counts
    }

    pub fn total(&self) -> usize {
        self.confirmed + self.inferred + self.limited + self.refuted + self.unresolved
    }
}
