//! A repository through time: every commit at which what is chosen changed.
//!
//! Commits that touch the backend are gone through in order. A commit whose sources, as far as the answer before was read from
//! them, are the same is not evaluated again: the answer hangs on nothing else.

use crate::comparison::{Comparison, compare_answers};
use crate::rules::{Answer, RulesError};
use crate::survey::{Overrides, Question, Survey};
use crate::tree::{Commit, Tree, TreeError, commits, tag_of};
use rayon::prelude::*;
use std::collections::BTreeSet;
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
    read: Vec<(String, Option<String>)>,
    around: BTreeSet<String>,
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
    let all = commits(repo, since, until, BACKEND)?;
    let (Some(first), Some(last)) = (all.first().cloned(), all.last().cloned()) else {
        return Err(HistoryError::Nothing {
            since: since.unwrap_or("the beginning").to_owned(),
            until: until.to_owned(),
        });
    };
    // Each thread takes a stretch of its own; only the first commit of a stretch has none before it to go by.
    let stretch = all.len().div_ceil(rayon::current_num_threads().max(1) * 2).max(1);
    let steps: Vec<Step> =
        all.par_chunks(stretch).flat_map_iter(|part| walk(repo, part, question, overrides)).collect();
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

fn walk(repo: &Path, part: &[Commit], question: &Question, overrides: &Overrides) -> Vec<Step> {
    let mut out: Vec<Step> = Vec::with_capacity(part.len());
    let mut last: Option<std::sync::Arc<Snapshot>> = None;
    for commit in part {
        let step = look(repo, commit, question, overrides, last.as_ref());
        if let Ok((snapshot, _)) = &step {
            last = Some(snapshot.clone());
        }
        out.push(step);
    }
    out
}

fn look(
    repo: &Path,
    commit: &Commit,
    question: &Question,
    overrides: &Overrides,
    last: Option<&std::sync::Arc<Snapshot>>,
) -> Step {
    let tree = Tree::open(&format!("{}@{}", repo.display(), commit.id)).map_err(|error| error.to_string())?;
    if let Some(last) = last.filter(|last| last.holds_for(&tree)) {
        return Ok((last.clone(), false));
    }
    let survey = Survey::run(&tree, question.clone(), overrides).map_err(|error| error.to_string())?;
    let answers = survey.answers.clone();
    drop(survey);
    let read: Vec<(String, Option<String>)> =
        tree.reads().into_iter().map(|path| (path.clone(), tree.id(&path).map(str::to_owned))).collect();
    let around = around(&tree, read.iter().map(|(path, _)| path.as_str()));
    Ok((std::sync::Arc::new(Snapshot { answers, read, around }), true))
}

impl Snapshot {
    /// Whether nothing that was read, and no file beside it, is another there.
    fn holds_for(&self, tree: &Tree) -> bool {
        self.read.iter().all(|(path, id)| id.is_some() && tree.id(path) == id.as_deref())
            && around(tree, self.read.iter().map(|(path, _)| path.as_str())) == self.around
    }
}

/// The names of all files in the directories that were read from: a new one may be found before an old one.
fn around<'p>(tree: &Tree, read: impl Iterator<Item = &'p str>) -> BTreeSet<String> {
    let dir = |path: &str| path.rsplit_once('/').map_or(String::new(), |(dir, _)| dir.to_owned());
    let dirs: BTreeSet<String> = read.map(dir).collect();
    tree.paths().filter(|path| dirs.contains(&dir(path))).map(str::to_owned).collect()
}
