//! All releases of a clone: a decision table for each release at which something changed, in a folder that is only ever
//! extended.
//!
//! If no file changed that the previous table was read from, a release shares that table ([`crate::reuse`]), as in a
//! history. Otherwise only the cells that depend on a change are evaluated ([`crate::carried`]). Progress is saved
//! after each step, so an interrupted run continues where it stopped.

use crate::carried_answers::{self, Carried};
use crate::decision_table::{COLUMNS, DecisionTable};
use crate::device::{DEFAULT as DEFAULT_GPUS, Device};
use crate::explain::WEIGHTS;
use crate::op::Shape;
use crate::outcome::Outcome;
use crate::question::{ALL_TYPES, Overrides, Question};
use crate::reuse::Footprint;
use crate::rules::RulesError;
use crate::survey::Survey;
use crate::tree::{Commit, Series, Tree, TreeError, changes, tags};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use sys::files::{self, Access};

/// Targets beyond those of a default table: every generation that a release builds for.
const MORE: &[&str] = &[
    "gfx803", "gfx950", "gfx1010", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "sm_70", "sm_80", "sm_86", "sm_89",
    "sm_120",
];

#[derive(Debug)]
pub enum AtlasError {
    Tree(TreeError),
    Rules(RulesError),
    Io { path: String, error: std::io::Error },
    NotOurs(String),
    OtherQuestion(String),
    NoRelease { repo: String, since: Option<String> },
}

say::worded! { AtlasError {
    Tree(error) => error,
    Rules(error) => error,
    Io { path, error } => "about-why" (what = path, why = error),
    NotOurs(folder) => "source-atlas-not-ours",
    OtherQuestion(folder) => "source-atlas-other-question",
    NoRelease { repo, since } => "source-atlas-no-release" (repo, since = since.as_ref().map(|since| say::say!("source-atlas-since", since))),
}}

say::wraps! { AtlasError { Tree(TreeError), Rules(RulesError) }}

/// A release, and the release whose table applies to it: its own name if something changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    pub name: String,
    pub date: String,
    pub commit: String,
    /// The name of the table; empty if the dispatcher could not be read.
    pub table: String,
    /// Why the table is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

/// The state of a folder: the question, the finished releases, and the sources of the last table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    question: String,
    releases: Vec<Release>,
    footprint: Option<Footprint>,
}

#[derive(Debug)]
pub struct Atlas {
    pub releases: Vec<Release>,
    /// The existing tables, oldest first.
    pub tables: Vec<DecisionTable>,
    pub count: Count,
}

/// Counts of one run: releases examined, releases whose sources had to be read, and cells of those that kept their
/// answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    pub looked_at: usize,
    pub evaluated: usize,
    pub spared: usize,
}

/// The question behind the embedded tables: every target, type and column count up to [`COLUMNS`].
pub fn question(gpus: &[String], types: &[String]) -> Result<Question, crate::device::DeviceError> {
    let names: Vec<&str> = match gpus {
        [] => DEFAULT_GPUS.iter().chain(MORE).copied().collect(),
        some => some.iter().map(String::as_str).collect(),
    };
    let devices: Result<Vec<Device>, _> = names.into_iter().map(Device::find).collect();
    let types = match types {
        [] => ALL_TYPES.iter().map(|ty| (*ty).to_owned()).collect(),
        some => some.to_vec(),
    };
    Ok(Shape::MulMat { rows: WEIGHTS[0], k: WEIGHTS[1] }.question(devices?, types, (1..=COLUMNS).collect()))
}

/// The table of one tree.
pub fn table(
    tree: &Tree,
    question: &Question,
    source: &str,
    version: &str,
    commit: &str,
    date: &str,
) -> Result<DecisionTable, RulesError> {
    let survey = Survey::run(tree, question.clone(), &Overrides::default())?;
    Ok(DecisionTable::build(&survey, source, version, commit, date))
}

/// The data that a release passes to the next: its answers with their dependencies, and its table.
pub type Before = (Carried, DecisionTable);

/// The table of one tree, starting from that of an earlier state. Only the cells that may have changed are evaluated.
/// Also returns the number of cells that were reused, and the state for the next tree (None if nothing can be carried
/// over).
pub fn next_table(
    tree: &Tree,
    question: &Question,
    before: Option<Before>,
    named: [&str; 4],
) -> Result<(DecisionTable, usize, Option<Carried>), RulesError> {
    next(tree, question, before, named, |_| Ok(()))
}

fn next(
    tree: &Tree,
    question: &Question,
    before: Option<Before>,
    named: [&str; 4],
    check: impl Fn(&Survey<'_>) -> Result<(), RulesError>,
) -> Result<(DecisionTable, usize, Option<Carried>), RulesError> {
    let (carried, old) = before.unzip();
    let (survey, spared) = carried_answers::survey(tree, question, &Overrides::default(), carried)?;
    check(&survey)?;
    let table = DecisionTable::build_like(&survey, named, old.as_ref().map(|old| (old, &spared)));
    Ok((table, spared.len(), Carried::of(survey)))
}

/// Fails for a tree without any known answer, which gets no table; for example, releases before the backend had its own
/// buffers.
fn nothing_told(survey: &Survey<'_>) -> Result<(), RulesError> {
    let mut why = None;
    for answer in survey.answers.iter().flatten().flatten() {
        match &answer.outcome {
            Outcome::Undetermined { place, why: because, either } if either.is_empty() => {
                why.get_or_insert((place.clone(), because.clone()));
            }
            _ => return Ok(()),
        }
    }
    why.map_or(Ok(()), |(place, why)| Err(RulesError::Unreadable { place, why }))
}

/// The releases `b<number>` of a clone, starting with `since`, oldest first.
fn releases(repo: &Path, since: Option<&str>) -> Result<Vec<Commit>, AtlasError> {
    let number = |name: &str| crate::pins::number(name);
    let from = since.and_then(number).unwrap_or(0);
    let mut list: Vec<(u64, Commit)> = tags::all(repo)?
        .into_iter()
        .filter_map(|tag| {
            let number = number(&tag.name).filter(|number| *number >= from)?;
            Some((number, Commit { id: tag.commit, tree: tag.tree, date: tag.date, subject: tag.name }))
        })
        .collect();
    list.sort_by_key(|(number, _)| *number);
    let list: Vec<Commit> = list.into_iter().map(|(_, commit)| commit).collect();
    if list.is_empty() {
        return Err(AtlasError::NoRelease { repo: repo.display().to_string(), since: since.map(str::to_owned) });
    }
    Ok(list)
}

/// Processes the releases that the folder does not contain yet. Calls `told` for each, with a flag whether it was
/// evaluated.
pub fn make(
    repo: &Path,
    out: &Path,
    question: &Question,
    since: Option<&str>,
    mut told: impl FnMut(&Release, bool, usize, usize),
) -> Result<Atlas, AtlasError> {
    let store = Store::open(out, &asked(question))?;
    let list = releases(repo, since)?;
    let mut state = store.state()?;
    let known =
        state.releases.iter().zip(&list).all(|(done, commit)| done.commit == commit.id && done.name == commit.subject);
    if !known || state.releases.len() > list.len() {
        return Err(AtlasError::OtherQuestion(out.display().to_string()));
    }
    let done = state.releases.len();
    let mut count = Count::default();
    let mut before: Option<Before> = None;
    if done < list.len() {
        let begin = done.saturating_sub(1);
        let rest = list.get(begin..).unwrap_or_default();
        let moves = changes(repo, rest)?;
        let Some(first) = rest.first() else { return store.atlas(state, count) };
        let mut series = Series::begin(repo, first)?;
        let mut last = state.releases.iter().rev().find(|release| !release.table.is_empty()).map(|it| it.table.clone());
        for (at, (commit, moved)) in rest.iter().zip(&moves).enumerate() {
            if at > 0 {
                let kept = state.footprint.take().filter(|print| print.survives(moved, |path| series.has(path)));
                state.footprint = kept;
                series.apply(moved);
            }
            // The last finished release only serves as the starting point.
            if begin + at < done {
                continue;
            }
            let mut release = Release {
                name: commit.subject.clone(),
                date: commit.date.clone(),
                commit: commit.id.clone(),
                table: String::new(),
                unreadable: None,
            };
            let fresh = state.footprint.is_none();
            match (fresh, &last) {
                (false, Some(last)) => release.table.clone_from(last),
                _ => {
                    let tree = series.tree(commit);
                    let named = ["llama.cpp", &release.name, &release.commit, &release.date];
                    match next(&tree, question, before.take(), named, nothing_told) {
                        Ok((table, spared, carried)) => {
                            count.spared += spared;
                            let known = last.as_deref().map(|name| store.table(name)).transpose()?;
                            let same = known.as_ref().is_some_and(|known| alike(known, &table));
                            release.table = if same { last.clone().unwrap_or_default() } else { release.name.clone() };
                            if !same {
                                store.put(&format!("tables/{}.json", release.name), &json(&table))?;
                            }
                            last = Some(release.table.clone());
                            before = carried.map(|carried| (carried, table));
                            state.footprint = Some(Footprint::of(&tree));
                        }
                        Err(error) => release.unreadable = Some(error.to_string()),
                    }
                }
            }
            count.looked_at += 1;
            count.evaluated += usize::from(fresh);
            told(&release, fresh, begin + at + 1, list.len());
            state.releases.push(release);
            state.question = asked(question);
            // Releases that were not evaluated need no saving: finding out again is cheap.
            if fresh || begin + at + 1 == list.len() {
                store.put("state.json", &json(&state))?;
            }
        }
    }
    store.atlas(state, count)
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

/// Everything that a table depends on, except the sources. A folder is continued only if these inputs are the same.
fn asked(question: &Question) -> String {
    let targets: Vec<&str> =
        question.devices.iter().map(|device| device.card.as_deref().unwrap_or(&device.target)).collect();
    let shapes = if question.launch_shapes { "launch shapes" } else { "no launch shapes" };
    let (targets, types) = (targets.join(","), question.types.join(","));
    format!("{} {targets} {types} {:?} {shapes}", env!("CARGO_PKG_VERSION"), question.shape)
}

/// Whether two tables have the same answers and rules, ignoring the release.
fn alike(a: &DecisionTable, b: &DecisionTable) -> bool {
    let bare = |table: &DecisionTable| DecisionTable {
        version: String::new(),
        commit: String::new(),
        date: String::new(),
        ..table.clone()
    };
    bare(a) == bare(b)
}

/// The largest size of a table file; the tables of a year take a few megabytes.
const LONGEST: u64 = 1 << 30;

struct Store {
    dir: PathBuf,
    question: String,
}

impl Store {
    fn open(dir: &Path, question: &str) -> Result<Store, AtlasError> {
        let used = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
        if used && !dir.join("state.json").is_file() {
            return Err(AtlasError::NotOurs(dir.display().to_string()));
        }
        let tables = dir.join("tables");
        files::create_dir_all(&tables, Access::Public)
            .map_err(|error| AtlasError::Io { path: tables.display().to_string(), error })?;
        let store = Store { dir: dir.to_owned(), question: question.to_owned() };
        if !used {
            store.put("state.json", &json(&State { question: question.to_owned(), ..State::default() }))?;
        }
        Ok(store)
    }

    fn text(&self, name: &str) -> Result<String, AtlasError> {
        let path = self.dir.join(name);
        sys::regular_file::text(&path, LONGEST)
            .map_err(|error| AtlasError::Io { path: path.display().to_string(), error })
    }

    fn state(&self) -> Result<State, AtlasError> {
        let other = || AtlasError::OtherQuestion(self.dir.display().to_string());
        let state: State = serde_json::from_str(&self.text("state.json")?).map_err(|_| other())?;
        if state.question == self.question { Ok(state) } else { Err(other()) }
    }

    fn table(&self, name: &str) -> Result<DecisionTable, AtlasError> {
        let path = format!("tables/{name}.json");
        let damaged = |error: serde_json::Error| AtlasError::Io { path: path.clone(), error: error.into() };
        serde_json::from_str(&self.text(&path)?).map_err(damaged)
    }

    /// Writes a file atomically.
    fn put(&self, name: &str, text: &str) -> Result<(), AtlasError> {
        put(&self.dir, name, text)
    }

    fn atlas(&self, state: State, count: Count) -> Result<Atlas, AtlasError> {
        let own = state.releases.iter().filter(|release| release.table == release.name);
        let tables: Result<Vec<DecisionTable>, AtlasError> = own.map(|release| self.table(&release.name)).collect();
        Ok(Atlas { tables: tables?, releases: state.releases, count })
    }
}

/// Writes one file of the folder atomically.
pub fn put(dir: &Path, name: &str, content: impl AsRef<[u8]>) -> Result<(), AtlasError> {
    let path = dir.join(name);
    files::replace(&path, Access::Public, content)
        .map_err(|error| AtlasError::Io { path: path.display().to_string(), error })
}
