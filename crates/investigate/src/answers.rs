//! A graded investigation in machine-readable form. It contains everything that a report shows.

use crate::{Advice, Graded, Looked, Need, PathRow};
use answer::Answer;
use evidence::{
    About, Citation, Conclusion, Expected, Found, Observation, ObservationId, PhaseName, Reason, Recorded, Rung,
    RungTally, Scope, Transfer, Why, Word, Words,
};
use schemars::JsonSchema;
use serde::Serialize;

/// The claims and questions of an investigation, graded from the ledger.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Checked<'g> {
    #[serde(flatten)]
    pub readings: Readings<'g>,
}

impl Answer for Checked<'_> {
    const SCHEMA: &'static str = "whichkernel.check/1";
}

/// The output of `investigate`: the claims and questions, graded after all observers have run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Investigated<'g> {
    #[serde(flatten)]
    pub readings: Readings<'g>,
    /// The result of each observer's run.
    pub looked: &'g [Looked],
    /// The first page of the report; null if it could not be written.
    pub report: Option<String>,
}

impl Answer for Investigated<'_> {
    const SCHEMA: &'static str = "whichkernel.investigate/1";
}

/// The data of the report: the graded claims and questions, with every observation of the ledger.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reported<'g> {
    #[serde(flatten)]
    pub readings: Readings<'g>,
    pub ledger: LedgerState<'g>,
    pub observations: Vec<ReportedObservation<'g>>,
}

impl Answer for Reported<'_> {
    const SCHEMA: &'static str = "whichkernel.report/1";
}

/// Whether the ledger could be read.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LedgerState<'g> {
    /// Why a part of the ledger could not be read.
    pub problem: Option<&'g str>,
}

/// An observation with its id.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReportedObservation<'g> {
    pub id: &'g ObservationId,
    /// The origin of an imported observation.
    pub origin: Option<&'g str>,
    pub observation: &'g Observation,
}

impl<'g> Reported<'g> {
    pub fn of(graded: &'g Graded, problem: Option<&'g str>, observations: &'g [Recorded]) -> Reported<'g> {
        let one = |recorded: &'g Recorded| ReportedObservation {
            id: recorded.id(),
            origin: recorded.origin(),
            observation: recorded,
        };
        let observations = observations.iter().map(one).collect();
        Reported { readings: Readings::of(graded), ledger: LedgerState { problem }, observations }
    }
}

/// The common part of every answer about an investigation: `check`, `investigate` and the exported report.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Readings<'g> {
    pub title: &'g Words,
    pub subject: &'g Scope,
    pub summary: Summary,
    pub claims: Vec<ClaimReading<'g>>,
    pub questions: Vec<QuestionAnswer<'g>>,
    /// If the first question is about paths: the path for each range of columns, by rung. Otherwise empty.
    pub paths: Vec<PathRow>,
    /// Commands that would settle open claims and questions, most effective first.
    pub next: Vec<NextStep>,
}

/// The number of claims of each grade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    pub claims: usize,
    pub confirmed: usize,
    pub inferred: usize,
    pub limited: usize,
    pub refuted: usize,
    pub unresolved: usize,
    /// Claims that are expected to hold, but are refuted or open.
    pub failed: usize,
}

/// A claim with its grade.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClaimReading<'g> {
    pub id: &'g str,
    pub phase: PhaseName,
    /// The page of the field notes with this claim.
    pub page: Option<&'g Words>,
    pub text: &'g Words,
    pub rung: Rung,
    pub topic: &'g str,
    pub about: &'g About,
    pub expected: &'g Expected,
    pub scope: &'g Scope,
    /// Rules that may transfer observations of another subject.
    pub transfer: &'g [Transfer],
    pub expect: Expect,
    /// confirmed, inferred, limited, unresolved or refuted.
    pub grade: &'static str,
    /// Why the claim is unresolved.
    pub why: Option<Why>,
    pub reasons: &'g [Reason],
    pub cites: &'g [Citation],
    pub ladder: &'g [RungTally],
    pub shows: Option<&'g Words>,
    pub cannot: Option<&'g Words>,
    /// The command that would settle the claim here.
    pub closes: Option<String>,
    /// Requirements of this command that are not met here.
    pub needs: Option<Vec<Need>>,
}

/// Whether `check` fails if the claim does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    Holds,
    Any,
}

/// A question with its answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QuestionAnswer<'g> {
    pub id: &'g str,
    pub phase: PhaseName,
    pub page: Option<&'g Words>,
    pub text: &'g Words,
    pub answer: Word,
    pub asked_of: Rung,
    pub conclusion: &'g Conclusion,
    pub open: bool,
    pub claims: &'g [String],
    pub settled_by: &'g [String],
    pub refuted: &'g [String],
    pub found: &'g [Found],
    pub live: &'g [Found],
    pub elsewhere: &'g [Found],
    pub closes: Option<String>,
}

/// A command, and the number of open claims and questions that it would settle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NextStep {
    pub command: String,
    pub needs: Vec<Need>,
    pub claims: usize,
    pub questions: usize,
    pub possible: bool,
}

impl<'g> Readings<'g> {
    pub fn of(graded: &'g Graded) -> Readings<'g> {
        let (counts, investigation) = (graded.counts(), &graded.investigation);
        let summary = Summary {
            claims: graded.readings.len(),
            confirmed: counts.confirmed,
            inferred: counts.inferred,
            limited: counts.limited,
            refuted: counts.refuted,
            unresolved: counts.unresolved,
            failed: graded.failed(),
        };
        let next = graded.next().into_iter().map(|next| NextStep {
            command: next.advice.command,
            needs: next.advice.needs,
            claims: next.claims,
            questions: next.questions,
            possible: next.possible,
        });
        Readings {
            title: &investigation.title,
            subject: &investigation.subject,
            summary,
            claims: claims(graded),
            questions: questions(graded),
            paths: graded.paths(),
            next: next.collect(),
        }
    }
}

fn claims(graded: &Graded) -> Vec<ClaimReading<'_>> {
    graded
        .claims()
        .map(|(stated, reading)| {
            let (closes, needs) = split(graded.advice(stated, reading));
            ClaimReading {
                id: &stated.claim.id,
                phase: stated.phase,
                page: graded.investigation.pages.get(&stated.page),
                text: &stated.words,
                rung: stated.claim.rung,
                topic: &stated.claim.topic,
                about: &stated.claim.about,
                expected: &stated.claim.expected,
                scope: &stated.claim.scope,
                transfer: &stated.claim.transfer,
                expect: if stated.must_hold { Expect::Holds } else { Expect::Any },
                grade: reading.grade.name(),
                why: reading.grade.why(),
                reasons: &reading.reasons,
                cites: &reading.cites,
                ladder: &reading.ladder,
                shows: stated.shows.as_ref(),
                cannot: stated.cannot.as_ref(),
                closes,
                needs,
            }
        })
        .collect()
}

fn split(advice: Option<Advice>) -> (Option<String>, Option<Vec<Need>>) {
    advice.map(|advice| (advice.command, advice.needs)).unzip()
}

fn questions(graded: &Graded) -> Vec<QuestionAnswer<'_>> {
    let all = graded.investigation.questions.iter().zip(&graded.questions);
    all.map(|(question, reading)| QuestionAnswer {
        id: &question.id,
        phase: question.phase,
        page: graded.investigation.pages.get(&question.page),
        text: &question.words,
        answer: reading.conclusion.word(),
        asked_of: reading.asked_of,
        conclusion: &reading.conclusion,
        open: reading.open,
        claims: &reading.claims,
        settled_by: &reading.settled_by,
        refuted: &reading.refuted,
        found: &reading.found,
        live: &reading.live,
        elsewhere: &reading.elsewhere,
        closes: graded.question_advice(question, reading).map(|advice| advice.command),
    })
    .collect()
}
