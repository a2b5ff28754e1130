//! The history of a repository: every commit at which a choice changed.
//!
//! Commits that touch the backend are evaluated in order. A commit is skipped if the sources behind the previous answer
//! are unchanged, since the answer depends on nothing else.

use crate::cause::{Cause, causes};
use crate::comparison::{Comparison, Difference, compare_answers};
use crate::outcome::Answer;
use crate::question::{Overrides, Question};
use crate::reuse::Footprint;
use crate::rules::RulesError;
use crate::survey::Survey;
use crate::tree::{self, Changes, Commit, Series, Tree, TreeError, changes, commits, tag_of};
use evidence::{Basis, Conclusion, LeftOutWhy, Rung, Unit};
use rayon::prelude::*;
use std::path::Path;

/// Paths of dispatchers, their kernels and build files over the years, in llama.cpp and in Ollama.
const BACKEND: &[&str] = &[
    "ggml-cuda.cu",
    "ggml-cuda.h",
    "ggml-cuda",
    "ggml-common.h",
    "ggml.c",
    "CMakeLists.txt",
    "ggml/CMakeLists.txt",
    "ggml/src/CMakeLists.txt",
    "ggml/src/ggml.c",
    "ggml/src/ggml-common.h",
    "ggml/src/ggml-cuda",
    "ggml/src/ggml-cuda.cu",
    "ggml/src/ggml-hip",
    "ml/backend/ggml/ggml",
];

#[derive(Debug)]
pub enum HistoryError {
    Tree(TreeError),
    Nothing { since: String, until: String },
    NoAncestor { since: String, until: String },
    Rules { commit: String, error: Box<RulesError> },
}

say::worded! { HistoryError {
    Tree(error) => error,
    Nothing { since, until } => "source-history-nothing",
    NoAncestor { since, until } => "source-history-no-ancestor",
    Rules { commit, error } => "about-why" (what = commit, why = error.as_ref()),
}}

say::wraps! { HistoryError { Tree(TreeError) }}

/// A commit at which an answer changed.
#[derive(Debug)]
pub struct Event {
    pub commit: Commit,
    /// The previous examined commit.
    pub before: String,
    /// The first release that contains the commit.
    pub tag: Option<String>,
    pub comparison: Comparison,
    /// Commits between the two that could not be evaluated: one of them may have made the change.
    pub unread: Vec<String>,
}

#[derive(Debug)]
pub struct History {
    pub events: Vec<Event>,
    pub first: Commit,
    pub last: Commit,
    /// Both ends and the commits between them that touch the backend; then how many of them had to be evaluated.
    pub commits: usize,
    pub evaluated: usize,
    /// Commits without a readable dispatcher, with the reason.
    pub unreadable: Vec<(String, String)>,
    /// The comparison of the two ends: cells that both settle, and cells that one of them leaves open. All cells are
    /// open if an end could not be evaluated.
    pub ends: Comparison,
    /// Ends that could not be evaluated, and why.
    pub ends_unread: Vec<(String, String)>,
    /// Evaluated commits at which some cell is open or could not be compared.
    pub open: u64,
}

impl History {
    /// Whether anything changed among these commits, except those that could not be evaluated or leave something open.
    pub fn changed(&self) -> Conclusion {
        let unread = self.unreadable.len() as u64;
        let commits = self.commits as u64;
        let settled = commits.saturating_sub(unread + self.open);
        let mut basis =
            Basis::listed("source", [&self.first.id, &self.last.id], Rung::Declared, Unit::Commits, commits, settled);
        if unread > 0 {
            let names: Vec<&str> = self.unreadable.iter().map(|(commit, _)| short(commit)).collect();
            basis = basis.without(names.join(", "), Some(unread), LeftOutWhy::Unreadable);
        }
        if self.open > 0 {
            basis = basis.without("UNDETERMINED", Some(self.open), LeftOutWhy::Undetermined);
        }
        // Events at which cells only became open, or ceased to be open, do not count as known changes.
        basis.presence(self.events.iter().filter(|event| event.comparison.different > 0).count() as u64)
    }
}

/// An abbreviated commit id.
fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// The answers of one commit, and the files that they were read from.
struct Snapshot {
    answers: Vec<Vec<Vec<Answer>>>,
    print: Footprint,
}

type SnapshotResult = Result<(std::sync::Arc<Snapshot>, bool), String>;

/// All events between `since` (None: from the beginning) and `until`.
pub fn history(
    repo: &Path,
    question: &Question,
    overrides: &Overrides,
    since: Option<&str>,
    until: &str,
) -> Result<History, HistoryError> {
    let question = &Question { points: true, ..question.clone() };
    if let Some(since) = since
        && !tree::on_the_way(repo, since, until)?
    {
        return Err(HistoryError::NoAncestor { since: since.to_owned(), until: until.to_owned() });
    }
    let all = commits(repo, since, until, BACKEND)?;
    let (Some(first), Some(last)) = (all.first().cloned(), all.last().cloned()) else {
        return Err(HistoryError::Nothing {
            since: since.unwrap_or("the beginning").to_owned(),
            until: until.to_owned(),
        });
    };
    // Each thread takes its own range; only the first commit of a range has no predecessor to reuse.
    let stretch = all.len().div_ceil(rayon::current_num_threads().max(1) * 2).max(1);
    let moves = changes(repo, &all)?;
    let parts: Result<Vec<Vec<SnapshotResult>>, TreeError> = all
        .par_chunks(stretch)
        .zip(moves.par_chunks(stretch))
        .map(|(part, moves)| walk(repo, part, moves, question, overrides))
        .collect();
    let steps: Vec<SnapshotResult> = parts?.into_iter().flatten().collect();
    let mut events = Vec::new();
    let mut unreadable: Vec<(String, String)> = Vec::new();
    let mut evaluated = 0;
    let mut open = 0;
    let mut known: Option<(&Commit, std::sync::Arc<Snapshot>)> = None;
    // Commits since the last one that could be evaluated.
    let mut since_known: Vec<String> = Vec::new();
    for (commit, step) in all.iter().zip(&steps) {
        let (snapshot, fresh) = match step {
            Ok((snapshot, fresh)) => (snapshot.clone(), *fresh),
            Err(why) => {
                unreadable.push((commit.id.clone(), why.clone()));
                since_known.push(commit.id.clone());
                continue;
            }
        };
        evaluated += usize::from(fresh);
        let before = known.as_ref().map_or(&snapshot, |(_, old)| old);
        let same = std::sync::Arc::ptr_eq(before, &snapshot);
        let comparison = compare_answers(question, &before.answers, &snapshot.answers, same);
        open += u64::from(comparison.answered < comparison.asked);
        if let Some((before, _)) = known.as_ref().filter(|_| !comparison.differences.is_empty()) {
            let tag = tag_of(repo, &commit.id);
            let unread = std::mem::take(&mut since_known);
            events.push(Event { commit: commit.clone(), before: before.id.clone(), tag, comparison, unread });
        }
        since_known.clear();
        known = Some((commit, snapshot));
    }
    // The conclusion about the two ends covers only these two commits, not their neighbours.
    let ends = match (steps.first(), steps.last()) {
        (Some(Ok((first, _))), Some(Ok((last, _)))) => {
            compare_answers(question, &first.answers, &last.answers, std::sync::Arc::ptr_eq(first, last))
        }
        _ => Comparison::nothing(question),
    };
    let of_ends = unreadable.iter().filter(|(commit, _)| *commit == first.id || *commit == last.id);
    let ends_unread = of_ends.map(|(commit, why)| (short(commit).to_owned(), why.clone())).collect();
    Ok(History { events, first, last, commits: all.len(), evaluated, unreadable, ends, ends_unread, open })
}

/// The lines that decided the first difference of every event, before and after.
pub fn lines(
    repo: &Path,
    events: &[Event],
    question: &Question,
    overrides: &Overrides,
) -> Result<Vec<[Cause; 2]>, HistoryError> {
    let one = |event: &Event| {
        let Some(first) = event.comparison.differences.first() else { return Ok(<[Cause; 2]>::default()) };
        let open = |id: &str| Tree::open(&format!("{}@{id}", repo.display()));
        let (before, after) = (open(&event.before)?, open(&event.commit.id)?);
        // One card and type are enough to find the lines.
        let mut narrow = question.clone();
        narrow.devices = question.devices.get(first.device).cloned().into_iter().collect();
        narrow.types = question.types.get(first.ty).cloned().into_iter().collect();
        narrow.columns = vec![first.from];
        let failed = |commit: &str| {
            let commit = commit.to_owned();
            |error: RulesError| HistoryError::Rules { commit, error: error.into() }
        };
        let left = Survey::run(&before, narrow.clone(), overrides).map_err(failed(&event.before))?;
        let right = Survey::run(&after, narrow, overrides).map_err(failed(&event.commit.id))?;
        let only = Difference { device: 0, ty: 0, ..first.clone() };
        Ok(causes(&[only], &left, &right).pop().unwrap_or_default())
    };
    events.par_iter().map(one).collect()
}

fn walk(
    repo: &Path,
    part: &[Commit],
    moves: &[Changes],
    question: &Question,
    overrides: &Overrides,
) -> Result<Vec<SnapshotResult>, TreeError> {
    let mut out: Vec<SnapshotResult> = Vec::with_capacity(part.len());
    let mut last: Option<std::sync::Arc<Snapshot>> = None;
    let Some(first) = part.first() else { return Ok(out) };
    let mut series = Series::begin(repo, first)?;
    for (number, (commit, changes)) in part.iter().zip(moves).enumerate() {
        if number > 0 {
            // A change outside the files behind the answer keeps the answer.
            last = last.filter(|last| last.print.survives(changes, |path| series.has(path)));
            series.apply(changes);
        }
        let step = match &last {
            Some(last) => Ok((last.clone(), false)),
            None => look(&series.tree(commit), question, overrides).map(|snapshot| (snapshot, true)),
        };
        last = step.as_ref().ok().map(|(snapshot, _)| snapshot.clone());
        out.push(step);
    }
    Ok(out)
}

fn look(tree: &Tree, question: &Question, overrides: &Overrides) -> Result<std::sync::Arc<Snapshot>, String> {
    let survey = Survey::run(tree, question.clone(), overrides).map_err(|error| error.to_string())?;
    let answers = survey.answers.clone();
    drop(survey);
    Ok(std::sync::Arc::new(Snapshot { answers, print: Footprint::of(tree) }))
}
