//! Declared: the content of a named source tree, for the ledger: its rules, the chains of requests through it, and the
//! statements of rocBLAS' sources about GPUs.

use crate::observer::Observer;
use callchain::rocblas::Rocblas;
use callchain::{Chain, ChainStep, CodeLocation, Fact as Beside, Subject as Topic};
use evidence::{
    About, Coverage, Declared, Fact, FieldOfView, Finding, Observation, Refused, Rung, Subject, Value, View,
};
use source::Tree;
use std::collections::BTreeSet;

/// The observer of source trees. Its verb names the tree.
#[derive(Debug, Clone, Copy)]
pub struct DeclaredTree;

/// Topics in addition to the rules' results, which are the same as for a table.
const TOPICS: [&str; 7] = [
    "source.chain",
    "source.remap",
    "source.split-mode",
    "source.split-request",
    "source.enum",
    "source.lines",
    "source.branch",
];

impl Observer for DeclaredTree {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn field_of_view(&self) -> Vec<(Rung, FieldOfView)> {
        vec![(
            Rung::Declared,
            FieldOfView::new(crate::declared::TOPICS.into_iter().chain(TOPICS).map(View::new).collect()),
        )]
    }

    fn verb(&self) -> Option<&'static str> {
        Some("source")
    }
}

/// A call path between two functions, given by their names.
#[derive(Debug, Clone, Copy)]
pub struct Way<'a> {
    pub from: &'a str,
    pub to: &'a str,
    pub steps: Option<&'a [ChainStep]>,
}

/// The chains of requests, and their dependencies.
pub fn chains(tree: &Tree, chains: &[Chain], beside: &[Beside], files: usize) -> Result<Vec<Observation>, Refused> {
    let go = beside.iter().any(|fact| fact.at.file.ends_with(".go"));
    let name = if go { "ollama" } else { "llama.cpp" };
    let mut facts = Vec::new();
    for chain in chains {
        let steps: Vec<&ChainStep> = chain.legs.iter().flat_map(|leg| &leg.steps).collect();
        if let (Some(first), Some(last), true) = (steps.first(), steps.last(), chain.open.is_empty()) {
            facts.push(way(bare(&first.to), bare(&last.to), steps.iter().copied()));
        }
        for steps in chain.branches.iter().flat_map(|branch| &branch.ways) {
            for (start, from) in steps.iter().enumerate() {
                facts.extend(steps.iter().skip(start).map(|to| {
                    let part = steps.iter().skip(start).take_while(|step| step.from != to.to);
                    way(bare(&from.from), bare(&to.to), part)
                }));
                if from.kind == callchain::Kind::Vendor {
                    let about = About::new([("name", from.from.as_str())]);
                    facts.push(Fact::new("source.remap", about, from.to.as_str()));
                }
            }
        }
    }
    facts.extend(split_mode(name, beside, go));
    observations(tree, name, facts, files)
}

/// Paths between named functions.
pub fn ways(tree: &Tree, name: &str, ways: &[Way<'_>], files: usize) -> Result<Vec<Observation>, Refused> {
    // A missing path does not prove that there is none: calls through function values leave no name behind.
    let facts = ways.iter().filter_map(|found| Some(way(found.from, found.to, found.steps?.iter())));
    observations(tree, name, facts.collect(), files)
}

/// The default holds unless a caller chooses another; a mode without such a caller is absent.
fn split_mode(caller: &str, beside: &[Beside], go: bool) -> Vec<Fact> {
    let asked: Vec<&Beside> =
        beside.iter().filter(|fact| fact.subject == Topic::SplitRequest && fact.at.file.ends_with(".go")).collect();
    let default = beside.iter().find(|fact| fact.subject == Topic::SplitDefault);
    let mode = default.and_then(|fact| fact.text.split_whitespace().find(|word| word.starts_with("LLAMA_SPLIT_MODE")));
    let (Some(mode), true, true) = (mode, go, asked.is_empty()) else { return Vec::new() };
    let row = About::new([("caller", caller), ("mode", "LLAMA_SPLIT_MODE_ROW")]);
    vec![
        Fact::new("source.split-mode", About::new([("caller", caller)]), mode.trim_end_matches(',')),
        // This is a separate topic: as `split-mode` with one more parameter it would contradict the fact above.
        Fact::new("source.split-request", row, Value::Nothing),
    ]
}

/// The statements of rocBLAS' sources about GPUs.
pub fn rocblas(tree: &Tree, found: &Rocblas, files: usize) -> Result<Vec<Observation>, Refused> {
    let mut facts = Vec::new();
    for processor in &found.processors {
        let name = format!("Processor::{}", processor.target);
        facts.push(Fact::new("source.enum", About::new([("name", name)]), processor.value));
    }
    for (name, place, last) in &found.extents {
        let about = About::new([("name", name.as_str())]);
        facts.push(Fact::new("source.lines", about, lines(&place.file, place.line, *last)));
    }
    let function = found.extents.iter().map(|(name, ..)| name.as_str()).find(|name| *name != "Processor").unwrap_or("");
    for branch in &found.branches {
        let about = About::new([("function", function), ("target", branch.matches.as_str())]);
        facts.push(Fact::new("source.branch", about, lines(&branch.file, branch.first_line, branch.last_line)));
    }
    let kept: Vec<String> = found.kept.iter().map(|rule| at(&rule.at)).collect();
    facts.push(Fact::new("source.chain", About::new([("from", function), ("to", "arch")]), kept));
    let callers: Vec<String> =
        found.initialize_callers.iter().map(|(name, place)| format!("{name} {}", at(place))).collect();
    facts.push(Fact::new("source.chain", About::new([("to", "rocblas_initialize")]), callers));
    observations(tree, "rocBLAS", facts, files)
}

fn lines(file: &str, first: u32, last: u32) -> String {
    format!("{file}:{first}-{last}")
}

fn at(place: &CodeLocation) -> String {
    format!("{}:{}", place.file, place.line)
}

/// A function's name without its class or receiver, as claims use it.
fn bare(title: &str) -> &str {
    title.rsplit(['.', ':']).next().unwrap_or(title)
}

fn way<'a>(from: &str, to: &str, steps: impl Iterator<Item = &'a ChainStep>) -> Fact {
    let steps: Vec<String> = steps.map(|step| format!("{} {} {}", step.kind.word(), step.to, at(&step.at))).collect();
    Fact::new("source.chain", About::new([("from", from), ("to", to)]), steps)
}

fn observations(tree: &Tree, name: &str, facts: Vec<Fact>, files: usize) -> Result<Vec<Observation>, Refused> {
    let subject = Subject::source(name, version(tree), BTreeSet::new());
    let time = ledger::now();
    let coverage = Coverage::complete("files", files as u64);
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for fact in facts {
        if seen.insert(format!("{} {} {:?}", fact.topic, fact.about, fact.value)) {
            let (subject, coverage) = (subject.clone(), coverage.clone());
            let finding = Finding::Saw(fact);
            out.push(Observation::on::<Declared>(DeclaredTree.id(), subject, finding, coverage, time.clone())?);
        }
    }
    Ok(out)
}

/// The commit, else the release named by the tree's build file, else the text that the user typed.
fn version(tree: &Tree) -> String {
    let named = || {
        let path = tree.paths().filter(|path| path.ends_with("CMakeLists.txt")).min_by_key(|path| path.len())?;
        let text = tree.text(path).ok()?;
        let line = text.lines().find(|line| line.contains("VERSION_STRING") && line.contains('"'))?;
        Some(line.split('"').nth(1)?.to_owned())
    };
    tree.commit.clone().or_else(named).unwrap_or_else(|| tree.label.clone())
}

/// The chosen path for every requested range of column counts.
pub fn rules(tree: &Tree, survey: &source::Survey<'_>) -> Result<Vec<Observation>, Refused> {
    let ollama = survey.backends.iter().any(|backend| backend.preset.builder == source::Builder::Ollama);
    let name = if ollama { "ollama" } else { "llama.cpp" };
    let version = version(tree);
    let table = source::decision_table::DecisionTable::build(survey, name, &version, &version, "");
    crate::declared::observations(&table, &DeclaredTree.id(), &ledger::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_that_was_not_found_is_no_observation_of_none() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("a.cpp"), "int a() { return 1; }\n").expect("written");
        let tree = Tree::open(&dir.path().display().to_string()).expect("a tree");
        let none = Way { from: "a", to: "b", steps: None };
        assert_eq!(ways(&tree, "llama.cpp", &[none], 1).expect("made").len(), 0);
        let found = Way { from: "a", to: "b", steps: Some(&[]) };
        let made = ways(&tree, "llama.cpp", &[found, found], 1).expect("made");
        assert_eq!(made.len(), 1, "once");
        let one = made.first().expect("one");
        assert_eq!(one.observer().name, "tree");
        let views = DeclaredTree.field_of_view();
        let topic = |topic: &str| views.iter().any(|(_, view)| view.covers(topic, &About::default()));
        assert!(topic("source.chain") && topic("matmul.path"), "what it makes is in its view");
        assert!(!topic("matmul.kernel"), "and what it does not make is not");
    }
}
