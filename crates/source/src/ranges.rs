//! Tables compressed to what a person would write: up to how many columns, which path.

use crate::path::{Choice, Path};
use crate::rules::{Answer, Outcome};
use crate::survey::Survey;

/// A stretch of column counts with one path; `to` None: for all larger that were asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    pub from: i64,
    pub to: Option<i64>,
    /// None: undetermined.
    pub path: Option<Path>,
}

pub fn path_of(answer: &Answer) -> Option<Path> {
    match &answer.outcome {
        Outcome::Chosen(choice) => Some(choice.path),
        Outcome::Undetermined { .. } => None,
    }
}

pub fn choice_of(answer: &Answer) -> Option<&Choice> {
    match &answer.outcome {
        Outcome::Chosen(choice) => Some(choice),
        Outcome::Undetermined { .. } => None,
    }
}

pub fn stretches(answers: &[Answer]) -> Vec<Stretch> {
    let mut out: Vec<Stretch> = Vec::new();
    for answer in answers {
        let path = path_of(answer);
        match out.last_mut() {
            Some(last) if last.path == path => last.to = Some(answer.to),
            _ => out.push(Stretch { from: answer.from, to: Some(answer.to), path }),
        }
    }
    if let Some(last) = out.last_mut() {
        last.to = None;
    }
    out
}

/// `MMVQ≤8 MMQ≤256 BLAS`.
pub fn brief(stretches: &[Stretch]) -> String {
    let one = |stretch: &Stretch| {
        let path = stretch.path.map_or("UNDETERMINED", Path::name);
        stretch.to.map_or_else(|| path.to_owned(), |to| format!("{path}≤{to}"))
    };
    stretches.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Column counts where two surveys of the same questions differ, for one device and type.
#[derive(Debug, Clone)]
pub struct Difference {
    pub device: usize,
    pub ty: usize,
    pub from: i64,
    pub to: i64,
    pub left: Outcome,
    pub right: Outcome,
}

/// Everything that two surveys answer differently; neighbouring counts with the same pair of paths are one entry.
pub fn differences(left: &Survey<'_>, right: &Survey<'_>) -> Vec<Difference> {
    let mut out: Vec<Difference> = Vec::new();
    let mut columns = left.question.columns.clone();
    columns.sort_unstable();
    columns.dedup();
    for device in 0..left.question.devices.len() {
        for ty in 0..left.question.types.len() {
            let mut open: Option<Difference> = None;
            for &column in &columns {
                let pair = left.answer(device, ty, column).zip(right.answer(device, ty, column));
                let Some((a, b)) = pair.filter(|(a, b)| !same(&a.outcome, &b.outcome)) else {
                    out.extend(open.take());
                    continue;
                };
                match &mut open {
                    Some(known) if kind(&known.left) == kind(&a.outcome) && kind(&known.right) == kind(&b.outcome) => {
                        known.to = column;
                    }
                    _ => {
                        out.extend(open.take());
                        let (left, right) = (a.outcome.clone(), b.outcome.clone());
                        open = Some(Difference { device, ty, from: column, to: column, left, right });
                    }
                }
            }
            out.extend(open);
        }
    }
    out
}

fn kind(outcome: &Outcome) -> Option<Path> {
    match outcome {
        Outcome::Chosen(choice) => Some(choice.path),
        Outcome::Undetermined { .. } => None,
    }
}

/// The same kernel family, tile and check; the kernel's own name may have changed.
fn same(left: &Outcome, right: &Outcome) -> bool {
    match (left, right) {
        (Outcome::Chosen(a), Outcome::Chosen(b)) => {
            a.path == b.path && a.variant == b.variant && a.need_check == b.need_check
        }
        (Outcome::Undetermined { .. }, Outcome::Undetermined { .. }) => true,
        _ => false,
    }
}
