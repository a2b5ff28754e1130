//! An investigation with its readings: what `check` and `investigate` both print.

use crate::abilities::abilities;
use anyhow::Context as _;
use evidence::{
    GradeKind, Investigation, QuestionReading, Reading, Reason, Recorded, Stated, Why, default_investigation,
};
use report::Lang;
use std::collections::BTreeMap;
use std::path::Path;

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

pub fn load(file: Option<&Path>) -> anyhow::Result<Investigation> {
    let Some(path) = file else { return Ok(default_investigation()?) };
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow::anyhow!("{}: byte {at} is not UTF-8; an investigation file is TOML", path.display())
    })?;
    Ok(Investigation::parse(&path.to_string_lossy(), &text)?)
}

impl Graded {
    pub fn from_ledger(investigation: Investigation, observations: &[Recorded]) -> Graded {
        let (readings, questions) = investigation.read(observations, &abilities(&crate::verbs::names()));
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

    pub fn summary(&self, lang: &Lang) -> String {
        let counts = self.counts();
        let args = [
            ("total", self.readings.len().into()),
            ("confirmed", counts.confirmed.into()),
            ("inferred", counts.inferred.into()),
            ("limited", counts.limited.into()),
            ("refuted", counts.refuted.into()),
            ("unresolved", counts.unresolved.into()),
        ];
        lang.text_with("check-summary", &args)
    }

    /// Commands that would close what is open, the most rewarding first; what cannot be done here comes last.
    pub fn next(&self) -> Vec<Next> {
        let verbs = crate::verbs::names();
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

/// Why, in as few words as will do: the weightiest reason of what is open, else the evidence.
pub fn because(lang: &Lang, reading: &Reading) -> Vec<String> {
    let most = if reading.grade.is_unresolved() { 1 } else { 2 };
    let elsewhere = reading.reasons.iter().filter(|_| reading.grade.is_unresolved());
    let elsewhere = elsewhere.filter(|reason| matches!(reason, Reason::Elsewhere { .. })).take(1);
    let first = reading.reasons.iter().take(most).filter(|reason| !matches!(reason, Reason::Elsewhere { .. }));
    first.chain(elsewhere).map(|reason| report::reason_text(lang, reading, reason)).collect()
}
