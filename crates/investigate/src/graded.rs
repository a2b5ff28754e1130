//! An investigation with its readings: what `check` and `investigate` both print.

use crate::abilities::abilities;
use evidence::{GradeKind, Investigation, QuestionReading, Reading, Reason, Recorded, Stated, Why};
use std::collections::BTreeMap;

#[derive(Debug)]
pub struct Graded {
    pub investigation: Investigation,
    /// One per claim, in the same order.
    pub readings: Vec<Reading>,
    pub questions: Vec<QuestionReading>,
}

/// A command, and how much of what is open it would close.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    pub command: String,
    pub claims: usize,
    pub questions: usize,
    /// Nothing that it needs is known to be missing here, and this build has the verb.
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
    /// `verbs`: those that this build offers.
    pub fn from_ledger(investigation: Investigation, observations: &[Recorded], verbs: &[String]) -> Graded {
        let (readings, questions) = investigation.read(observations, &abilities(verbs));
        Graded { investigation, readings, questions }
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

    /// Claims expected to hold that are refuted.
    pub fn failed(&self) -> usize {
        self.claims().filter(|(stated, reading)| stated.must_hold && reading.grade.is_refuted()).count()
    }

    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for reading in &self.readings {
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

    /// Commands that would close what is open, the most rewarding first; what cannot be done here comes last.
    pub fn next(&self, verbs: &[String]) -> Vec<Next> {
        let known = |command: &str| {
            let verb = command.strip_prefix("whichkernel ").and_then(|rest| rest.split(' ').next());
            verb.is_none_or(|verb| verbs.iter().any(|name| name == verb))
        };
        let mut commands: BTreeMap<String, Next> = BTreeMap::new();
        let mut count = |command: &str, possible: bool, claims: usize, questions: usize| {
            let next = commands.entry(command.to_owned()).or_insert_with(|| Next {
                command: command.to_owned(),
                claims: 0,
                questions: 0,
                possible: known(command),
            });
            next.claims += claims;
            next.questions += questions;
            next.possible &= possible;
        };
        for (stated, reading) in self.claims().filter(|(_, reading)| reading.grade.is_unresolved()) {
            let fix = reading.reasons.iter().find_map(|reason| match reason {
                Reason::Blocked { fix, .. } if reading.grade.why() == Some(Why::Blocked) => Some(fix.as_str()),
                _ => None,
            });
            let here = !matches!(reading.grade.why(), Some(Why::NotHere | Why::NoDevice | Why::NotInView));
            count(fix.filter(|fix| !fix.is_empty()).unwrap_or(&stated.closes), here, 1, 0);
        }
        for (question, reading) in self.investigation.questions.iter().zip(&self.questions) {
            if reading.open {
                count(&question.closes, true, 0, 1);
            }
        }
        let mut all: Vec<Next> = commands.into_values().collect();
        // A question is what the person came for.
        all.sort_by_key(|next| {
            (!next.possible, std::cmp::Reverse(next.claims + 5 * next.questions), next.command.clone())
        });
        all
    }
}
