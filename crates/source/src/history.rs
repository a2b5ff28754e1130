//! A repository through time: every commit at which what is chosen changed.
//!
//! Commits that touch the backend are gone through in order. A commit whose sources, as far as the answer before was read from
//! them, are the same is not evaluated again: the answer hangs on nothing else.

use crate::cause::{Cause, causes};
use crate::comparison::{Comparison, Difference, compare_answers};
use crate::reuse::Footprint;
use crate::rules::{Answer, RulesError};
use crate::survey::{Overrides, Question, Survey};
use crate::tree::{Changes, Commit, Series, Tree, TreeError, changes, commits, tag_of};
use rayon::prelude::*;
use std::path::Path;

/// Where a dispatcher, its kernels and their build stood over the years, in llama.cpp and in Ollama.
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

#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error("no commit between {since} and {until} touches the GPU backend: there is no history to go through")]
    Nothing { since: String, until: String },
    #[error("{commit}: {error}")]
    Rules { commit: String, error: RulesError },
}

/// A commit at which some answer became another.
#[derive(Debug)]
pub struct Event {
    pub commit: Commit,
    /// The commit before it, of those that were looked at.
    pub before: String,
    /// The first release that has it.
    pub tag: Option<String>,
    pub comparison: Comparison,
}

#[derive(Debug)]
pub struct History {
    pub events: Vec<Event>,
    pub first: Commit,
    pub last: Commit,
    /// Both ends and the commits between them that touch the backend; of these, those whose sources had to be evaluated.
    pub commits: usize,
    pub evaluated: usize,
    /// Commits that have no dispatcher that can be read, with why.
    pub unreadable: Vec<(String, String)>,
    /// Cells that both ends settle, and those that one of them leaves open.
    pub ends: Comparison,
}

/// What one commit answers, and what of its tree that was read from.
struct Snapshot {
    answers: Vec<Vec<Vec<Answer>>>,
    print: Footprint,
}

type Step = Result<(std::sync::Arc<Snapshot>, bool), String>;

/// Everything between `since` (None: from the beginning) and `until`.
pub fn history(
    repo: &Path,
    question: &Question,
    overrides: &Overrides,
    since: Option<&str>,
    until: &str,
) -> Result<History, HistoryError> {
    let question = &Question { points: true, ..question.clone() };
    let all = commits(repo, since, until, BACKEND)?;
    let (Some(first), Some(last)) = (all.first().cloned(), all.last().cloned()) else {
        return Err(HistoryError::Nothing {
            since: since.unwrap_or("the beginning").to_owned(),
            until: until.to_owned(),
        });
    };
    // Each thread takes a stretch of its own; only the first commit of a stretch has none before it to go by.
    let stretch = all.len().div_ceil(rayon::current_num_threads().max(1) * 2).max(1);
    let moves = changes(repo, &all)?;
    let parts: Result<Vec<Vec<Step>>, TreeError> = all
        .par_chunks(stretch)
        .zip(moves.par_chunks(stretch))
        .map(|(part, moves)| walk(repo, part, moves, question, overrides))
        .collect();
    let steps: Vec<Step> = parts?.into_iter().flatten().collect();
    let mut events = Vec::new();
    let mut unreadable = Vec::new();
    let mut evaluated = 0;
    let mut known: Option<(&Commit, std::sync::Arc<Snapshot>)> = None;
    let mut oldest: Option<std::sync::Arc<Snapshot>> = None;
    for (commit, step) in all.iter().zip(steps) {
        let (snapshot, fresh) = match step {
            Ok(step) => step,
            Err(why) => {
                unreadable.push((commit.id.clone(), why));
                continue;
            }
        };
        evaluated += usize::from(fresh);
        oldest.get_or_insert_with(|| snapshot.clone());
        if let Some((before, old)) = &known {
            let comparison = compare_answers(question, &old.answers, &snapshot.answers);
            if comparison.different > 0 {
                let tag = tag_of(repo, &commit.id);
                events.push(Event { commit: commit.clone(), before: before.id.clone(), tag, comparison });
            }
        }
        known = Some((commit, snapshot));
    }
    let ends = match (&oldest, &known) {
        (Some(oldest), Some((_, newest))) => compare_answers(question, &oldest.answers, &newest.answers),
        _ => Comparison::default(),
    };
    Ok(History { events, first, last, commits: all.len(), evaluated, unreadable, ends })
}

/// Of every event what decided its first difference, before and after.
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
        // One card and type are enough to name the lines.
        let mut narrow = question.clone();
        narrow.devices = question.devices.get(first.device).cloned().into_iter().collect();
        narrow.types = question.types.get(first.ty).cloned().into_iter().collect();
        narrow.columns = vec![first.from];
        let failed = |commit: &str| {
            let commit = commit.to_owned();
            |error| HistoryError::Rules { commit, error }
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
) -> Result<Vec<Step>, TreeError> {
    let mut out: Vec<Step> = Vec::with_capacity(part.len());
    let mut last: Option<std::sync::Arc<Snapshot>> = None;
    let Some(first) = part.first() else { return Ok(out) };
    let mut series = Series::begin(repo, first)?;
    for (number, (commit, changes)) in part.iter().zip(moves).enumerate() {
        if number > 0 {
            // What stood in no answer keeps the answer.
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
