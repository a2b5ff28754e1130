//! The path for each range of token counts, according to the source, the dry run, and live observation.

use crate::Graded;
use evidence::{Basis, Conclusion, Found, GradeKind, LeftOutWhy, Question, QuestionReading, Rung, Span, Unit};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

const TOPIC: &str = "matmul.path";

/// A range of column counts with the result of each rung; null if nothing was observed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PathRow {
    /// The range of column counts, such as `9-64`.
    pub columns: String,
    pub declared: Option<Conclusion>,
    pub selected: Option<Conclusion>,
    pub launched: Option<Conclusion>,
}

/// A value, the rung it was found on, and its observer.
struct At<'g> {
    span: Span,
    value: &'g str,
    /// The part that the value's grade leaves undecided.
    short: Option<LeftOutWhy>,
    by: Vec<&'g str>,
    of: Vec<&'g str>,
}

impl Graded {
    /// The first question that asks which path the rules of a source take, with its reading.
    pub fn path_question(&self) -> Option<(&Question, &QuestionReading)> {
        let (question, reading) = self.investigation.questions.iter().zip(&self.questions).next()?;
        question.ask.as_ref().filter(|ask| ask.topic == TOPIC && ask.rung == Rung::Declared)?;
        Some((question, reading))
    }

    /// The path on each rung, one row per range. Empty if the first question is another one.
    pub fn paths(&self) -> Vec<PathRow> {
        let Some((_, reading)) = self.path_question() else { return Vec::new() };
        let (declared, selected, live) = (found(&reading.found), found(&reading.elsewhere), found(&reading.live));
        // Without a rule, use the ranges at which the program was run.
        let mut rows: Vec<Span> =
            if declared.is_empty() { &selected } else { &declared }.iter().map(|at| at.span).collect();
        rows.dedup();
        let row = |row: Span| PathRow {
            columns: row.to_string().replace("..", "-"),
            declared: chosen(Rung::Declared, &declared, row),
            selected: chosen(Rung::Selected, &selected, row),
            launched: chosen(Rung::Launched, &live, row),
        };
        rows.into_iter().map(row).collect()
    }
}

fn chosen(rung: Rung, all: &[At<'_>], row: Span) -> Option<Conclusion> {
    let here: Vec<&At<'_>> = all.iter().filter(|at| at.span.overlaps(row)).collect();
    let by: BTreeSet<&str> = here.iter().flat_map(|at| at.by.iter().copied()).collect();
    let of: BTreeSet<&str> = here.iter().flat_map(|at| at.of.iter().copied()).collect();
    // The row lists its column counts. A count at which the program was not run has no answer.
    let answered = covered(&here, row);
    let asked = row.to.map_or(answered, |to| to.saturating_sub(row.from).saturating_add(1));
    let mut basis = Basis::listed(evidence::JUDGE, of, rung, Unit::Cells, asked, answered);
    if row.to.is_none() && !here.iter().any(|at| at.span.to.is_none()) {
        basis = basis.without(row.to_string(), None, LeftOutWhy::NotAsked);
    }
    let mut basis = by.into_iter().fold(basis, |basis, observer| basis.by(observer));
    if here.iter().all(|at| at.short.is_some()) {
        for at in &here {
            basis = at.short.iter().fold(basis, |basis, why| basis.without(at.value, None, *why));
        }
    }
    (!here.is_empty()).then(|| basis.choice(here.iter().map(|at| at.value)))
}

/// The number of column counts of the row with a known value. The spans are sorted.
fn covered(here: &[&At<'_>], row: Span) -> u64 {
    let (mut count, mut next) = (0_u64, row.from);
    let end = |span: Span| span.to.unwrap_or(u64::MAX);
    for at in here {
        let (from, to) = (at.span.from.max(next), end(at.span).min(end(row)));
        if from <= to {
            count = (to - from).saturating_add(1).saturating_add(count);
            next = to.saturating_add(1);
        }
    }
    count
}

fn found(found: &[Found]) -> Vec<At<'_>> {
    let seen = found.iter().filter(|one| one.grade.strength() > 0);
    let mut all: Vec<At<'_>> = seen
        .filter_map(|one| {
            let columns = one.parameters.get("columns")?;
            let by = one.reading.cites.iter().map(|cite| cite.observer.name.as_str()).collect();
            let of = one.reading.cites.iter().map(|cite| cite.of.as_str()).collect();
            let short = match one.grade.kind() {
                GradeKind::Limited => Some(LeftOutWhy::InPart),
                GradeKind::Inferred => Some(LeftOutWhy::Inferred),
                _ => None,
            };
            Some(At { span: Span::parse(columns)?, value: &one.value, short, by, of })
        })
        .collect();
    all.sort_by(|a, b| (a.span, a.value).cmp(&(b.span, b.value)));
    all
}
