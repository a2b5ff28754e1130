//! The path for each type and column count: by release and target from the source, and by run from choices and
//! launches.
//!
//! A release's whole table is the raw evidence of its observations; if that is not available, only the observations
//! themselves are known.

use crate::input::Study;
use crate::svg::Stretch;
use crate::words::shown;
use evidence::{Artifact, Recorded, Rung, Subject};
use source::decision_table::{COLUMNS, DecisionTable, Rule};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A release of a source, as recorded in the ledger.
#[derive(Debug, Clone, Default)]
pub struct Build {
    pub source: String,
    pub commit: String,
    /// `b6841`, or the first digits of the commit.
    pub name: String,
    pub date: String,
    pub plans: BTreeMap<String, BTreeMap<String, Vec<Stretch>>>,
    /// One observation of each target, for citation.
    pub cites: BTreeMap<String, evidence::ObservationId>,
    table: Option<Rc<DecisionTable>>,
}

/// The choices of host code, or the launches of a process, on one card. These are points, because only these counts
/// were tried.
#[derive(Debug, Clone)]
pub struct Run {
    pub rung: Rung,
    pub subject: Subject,
    /// The path at each column count, by type.
    pub paths: BTreeMap<String, BTreeMap<i64, String>>,
    pub tiles: BTreeMap<(String, i64), i64>,
    pub observer: String,
    pub complete: bool,
}

#[derive(Debug, Clone, Default)]
pub struct Dispatch {
    /// Oldest first if dates are known.
    pub builds: Vec<Build>,
    pub runs: Vec<Run>,
}

impl Dispatch {
    pub fn read(study: &Study<'_>) -> Dispatch {
        let mut builds: BTreeMap<(String, String), Build> = BTreeMap::new();
        let declared = |recorded: &&Recorded| recorded.rung() == Rung::Declared && recorded.contaminated().is_none();
        for recorded in study.input.observations.iter().filter(declared) {
            let Artifact::Source { name, commit, .. } = &recorded.subject().artifact else { continue };
            let Some(fact) = recorded.fact().filter(|fact| fact.topic.starts_with("matmul.")) else { continue };
            let Some(target) = recorded.subject().target.clone() else { continue };
            let build = builds.entry((name.clone(), commit.clone())).or_insert_with(|| named(name, commit));
            build.cites.entry(target.clone()).or_insert_with(|| recorded.id().clone());
            if build.table.is_none() {
                build.table = recorded.raw_evidence().iter().find_map(|raw| table(study, raw, commit));
            }
            let (Some(ty), Some(columns)) = (fact.about.get("type"), fact.about.get("columns").and_then(span)) else {
                continue;
            };
            let stretches = build.plans.entry(target).or_default().entry(ty.to_owned()).or_default();
            match fact.topic.as_str() {
                "matmul.path" => stretches.push(Stretch {
                    from: columns.0,
                    to: columns.1,
                    path: shown(&fact.value.to_string()),
                    tile: None,
                }),
                _ => continue,
            }
        }
        let mut builds: Vec<Build> = builds.into_values().map(Build::settle).collect();
        builds.retain(|build| !build.plans.is_empty());
        builds.sort_by(|a, b| (a.date.is_empty(), &a.date, &a.name).cmp(&(b.date.is_empty(), &b.date, &b.name)));
        Dispatch { builds, runs: runs(study) }
    }

    /// The release of the investigation: the one that its question names, else the newest.
    pub fn asked(&self, study: &Study<'_>) -> Option<&Build> {
        let scopes = study
            .input
            .investigation
            .questions
            .iter()
            .filter_map(|question| question.ask.as_ref())
            .map(|ask| &ask.scope);
        let scopes = scopes.chain(study.input.investigation.claims.iter().map(|stated| &stated.claim.scope));
        let fits = |build: &&Build, commit: &str| build.commit.starts_with(commit) || build.name == commit;
        let mut named = scopes.filter_map(|scope| scope.commit.as_deref());
        named.find_map(|commit| self.builds.iter().find(|build| fits(build, commit))).or_else(|| self.builds.last())
    }

    pub fn targets(&self) -> BTreeSet<&str> {
        self.builds.iter().flat_map(|build| build.plans.keys().map(String::as_str)).collect()
    }
}

/// The release's name and date if the program knows the commit; else its first digits.
fn named(source: &str, commit: &str) -> Build {
    let digits = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = commit.get(..8).filter(|_| digits).unwrap_or(commit).to_owned();
    let mut build = Build { source: source.to_owned(), commit: commit.to_owned(), name, ..Build::default() };
    if let Some(known) =
        source::decision_table::all().iter().find(|table| table.commit == commit && table.source == source)
    {
        build.called(known);
    }
    build
}

impl Build {
    fn called(&mut self, table: &DecisionTable) {
        self.date = table.date.clone();
        if table.source == "llama.cpp" {
            self.name = table.version.clone();
        }
    }

    /// Uses the whole table if it is available; otherwise gaps are drawn as unknown.
    fn settle(mut self) -> Build {
        if let Some(table) = self.table.clone() {
            self.called(&table);
            for (target, rules) in &table.targets {
                let plans = self.plans.entry(target.clone()).or_default();
                for (ty, plan) in &rules.types {
                    plans.insert(ty.clone(), stretches(&table, *plan));
                }
            }
        }
        for stretches in self.plans.values_mut().flat_map(|types| types.values_mut()) {
            stretches.sort_by_key(|stretch| (stretch.from, stretch.to));
            stretches.dedup_by(|b, a| (a.from, a.to, &a.path) == (b.from, b.to, &b.path));
            fill(stretches);
        }
        self
    }

    /// `Ollama 4fda6980`, `b6841`.
    pub fn label(&self) -> String {
        if self.source == "llama.cpp" { self.name.clone() } else { format!("{} {}", self.source, self.name) }
    }

    pub fn at(&self, target: &str, ty: &str, columns: i64) -> Option<&Stretch> {
        self.plans.get(target)?.get(ty)?.iter().find(|stretch| (stretch.from..=stretch.to).contains(&columns))
    }

    /// The conditions that decided, with file, line and values, if the whole table is available.
    pub fn rules(&self, target: &str, ty: &str, columns: i64) -> Vec<Rule> {
        let Some(table) = &self.table else { return Vec::new() };
        let plan = table.targets.get(target).and_then(|rules| table.plans.get(*rules.types.get(ty)?));
        let entry = plan.and_then(|plan| plan.iter().find(|entry| entry.to.is_none_or(|to| columns <= to)));
        entry.and_then(|entry| table.rules.get(entry.rule)).cloned().unwrap_or_default()
    }

    pub fn has_table(&self) -> bool {
        self.table.is_some()
    }
}

/// Paths, split where the tile changes.
fn stretches(table: &DecisionTable, plan: usize) -> Vec<Stretch> {
    let mut out = Vec::new();
    let mut from = 1;
    for entry in table.plans.get(plan).into_iter().flatten() {
        let to = entry.to.unwrap_or(COLUMNS);
        let tiles = entry.tiles.and_then(|tiles| table.tiles.get(tiles));
        // The path has no name if the rules do not decide.
        let path = entry.chosen().map_or("", |path| path.name());
        let mut start = from;
        for (end, tile) in tiles.into_iter().flatten() {
            out.push(Stretch { from: start, to: *end, path: path.to_owned(), tile: Some(*tile) });
            start = end + 1;
        }
        if start <= to {
            out.push(Stretch { from: start, to, path: path.to_owned(), tile: None });
        }
        from = to + 1;
    }
    out
}

/// Fills ranges without an observation as unknown.
fn fill(stretches: &mut Vec<Stretch>) {
    let mut next = 1;
    let mut gaps = Vec::new();
    for stretch in stretches.iter() {
        if stretch.from > next {
            gaps.push(Stretch { from: next, to: stretch.from - 1, path: String::new(), tile: None });
        }
        next = next.max(stretch.to + 1);
    }
    if next <= COLUMNS {
        gaps.push(Stretch { from: next, to: COLUMNS, path: String::new(), tile: None });
    }
    stretches.extend(gaps);
    stretches.sort_by_key(|stretch| stretch.from);
}

/// Ranges of one path each, ignoring tiles.
pub fn by_path(stretches: &[Stretch]) -> Vec<Stretch> {
    let mut out: Vec<Stretch> = Vec::new();
    for stretch in stretches {
        match out.last_mut() {
            Some(last) if last.path == stretch.path && last.to + 1 == stretch.from => last.to = stretch.to,
            _ => out.push(Stretch { tile: None, ..stretch.clone() }),
        }
    }
    out
}

fn table(study: &Study<'_>, raw: &evidence::Evidence, commit: &str) -> Option<Rc<DecisionTable>> {
    let bytes = study.raw(raw).filter(|_| raw.kind == "application/json")?;
    let table: DecisionTable = serde_json::from_slice(&bytes).ok()?;
    // A table of another release does not apply to an unknown one.
    (table.commit == commit).then(|| Rc::new(table))
}

fn span(text: &str) -> Option<(i64, i64)> {
    match text.split_once("..") {
        Some((from, to)) => Some((from.parse().ok()?, to.parse().unwrap_or(COLUMNS))),
        None => text.parse().ok().map(|one| (one, one)),
    }
}

fn runs(study: &Study<'_>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let sound = |recorded: &&Recorded| recorded.rung() >= Rung::Selected && recorded.contaminated().is_none();
    for recorded in study.input.observations.iter().filter(sound) {
        let Some(fact) = recorded.fact().filter(|fact| ["matmul.path", "matmul.tile"].contains(&fact.topic.as_str()))
        else {
            continue;
        };
        let (Some(ty), Some((columns, _))) = (fact.about.get("type"), fact.about.get("columns").and_then(span)) else {
            continue;
        };
        let same = |run: &Run| run.rung == recorded.rung() && run.subject == *recorded.subject();
        let at = runs.iter().position(same).unwrap_or_else(|| {
            runs.push(Run {
                rung: recorded.rung(),
                subject: recorded.subject().clone(),
                paths: BTreeMap::new(),
                tiles: BTreeMap::new(),
                observer: recorded.observer().name.clone(),
                complete: true,
            });
            runs.len() - 1
        });
        let Some(run) = runs.get_mut(at) else { continue };
        run.complete &= recorded.coverage().is_complete();
        if fact.topic == "matmul.path" {
            run.paths.entry(ty.to_owned()).or_default().insert(columns, shown(&fact.value.to_string()));
        } else if let Some(tile) = fact.value.number() {
            run.tiles.insert((ty.to_owned(), columns), tile as i64);
        }
    }
    runs
}
