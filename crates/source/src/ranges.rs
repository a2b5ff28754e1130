//! Tables in compact form: up to how many columns, which path.

use crate::outcome::{Answer, Outcome};
use crate::path::{Choice, Path};

/// A range of column counts with one path; `to` None: for all larger counts that were requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    pub from: i64,
    pub to: Option<i64>,
    /// None if the path is undetermined.
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

/// Formats the column ranges briefly: `MMVQ≤8 MMQ≤256 BLAS`.
pub fn brief(stretches: &[Stretch]) -> String {
    let one = |stretch: &Stretch| {
        let path = stretch.path.map_or("UNDETERMINED", Path::name);
        stretch.to.map_or_else(|| path.to_owned(), |to| format!("{path}≤{to}"))
    };
    stretches.iter().map(one).collect::<Vec<_>>().join(" ")
}
