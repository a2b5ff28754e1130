//! What recorded dry runs selected for a card and a type: the evidence for an answer without a server.

use crate::facts::Rules;
use evidence::{Artifact, DeviceKind, Fact, Recorded, Rung, Value};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The newest dry run in the ledger for the card and the model's main type. A dry run of the same file is preferred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DryRun {
    /// The installation whose program ran: `debian-sid`.
    pub runtime: Option<String>,
    pub library: String,
    /// The model that was run.
    pub model: Option<String>,
    /// Whether it was the model asked about, by its file name. Otherwise only card and type are the same.
    pub same_model: bool,
    pub time: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub rows: Vec<DryRow>,
    /// Column counts for which the rules choose another path.
    pub differs: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DryRow {
    pub columns: u64,
    /// More than one if the run selected several paths for this type and number of columns.
    pub paths: Vec<String>,
    pub kernel: Option<String>,
}

/// The topics that [`DryRun::of`] reads.
pub const TOPICS: [&str; 2] = ["matmul.path", "matmul.kernel"];

impl DryRun {
    /// `file`: the model's file name. None if no dry run of this card and type is among the observations.
    pub fn of(observations: &[Recorded], card: &str, kind: &str, file: &str, rules: Option<&Rules>) -> Option<DryRun> {
        let about = |one: &&Recorded| {
            let subject = one.subject();
            one.rung() == Rung::Selected
                && subject.device == DeviceKind::StandIn
                && subject.gpu.as_deref() == Some(card)
                && one
                    .fact()
                    .is_some_and(|fact| TOPICS.contains(&fact.topic.as_str()) && fact.about.get("type") == Some(kind))
        };
        let same = |one: &Recorded| one.subject().model.as_deref() == Some(file);
        let ours = || observations.iter().filter(about);
        // A run is identified by its time and its library.
        let last = ours().max_by_key(|one| (same(one), one.time().to_owned()))?;
        let subject = last.subject();
        let run: Vec<&Recorded> = ours().filter(|one| one.time() == last.time() && one.subject() == subject).collect();
        let mut rows: BTreeMap<u64, DryRow> = BTreeMap::new();
        for fact in run.iter().filter_map(|one| one.fact()) {
            let Some((columns, value)) = columns(fact).zip(text(fact)) else { continue };
            let row = rows.entry(columns).or_insert_with(|| DryRow { columns, paths: Vec::new(), kernel: None });
            match fact.topic.as_str() {
                "matmul.path" if !row.paths.contains(&value) => row.paths.push(value),
                "matmul.path" => {}
                _ => row.kernel = Some(value),
            }
        }
        let rows: Vec<DryRow> = rows.into_values().filter(|row| !row.paths.is_empty()).collect();
        let other = |row: &&DryRow| {
            let declared = rules.and_then(|rules| rules.path(row.columns));
            declared.is_some_and(|path| !row.paths.iter().any(|seen| seen == path))
        };
        let differs = rows.iter().filter(other).map(|row| row.columns).collect();
        (!rows.is_empty()).then(|| DryRun {
            runtime: subject.runtime.clone(),
            library: match &subject.artifact {
                Artifact::File { name, .. } => name.clone(),
                _ => String::new(),
            },
            model: subject.model.clone(),
            same_model: same(last),
            time: last.time().to_owned(),
            kind: kind.to_owned(),
            rows,
            differs,
        })
    }

    /// Neighbouring column counts with the same paths, in order: `([1, 8], "MMVQ")`.
    pub fn groups(&self) -> Vec<(Vec<u64>, String)> {
        let mut groups: Vec<(Vec<u64>, String)> = Vec::new();
        for row in &self.rows {
            let path = row.paths.join(" + ");
            match groups.last_mut() {
                Some((columns, known)) if *known == path => columns.push(row.columns),
                _ => groups.push((vec![row.columns], path)),
            }
        }
        groups
    }
}

fn columns(fact: &Fact) -> Option<u64> {
    fact.about.get("columns")?.parse().ok()
}

fn text(fact: &Fact) -> Option<String> {
    match &fact.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::{About, Coverage, Finding, Observation, ObserverId, Selected, Subject};

    fn seen(card: &str, model: &str, time: &str, kind: &str, columns: u64, path: &str) -> Recorded {
        let subject = Subject::file("libggml-hip.so", "0".repeat(64)).runtime("debian-sid").target("gfx1201").gpu(card);
        let subject = subject.device(DeviceKind::StandIn).model(model);
        let about = About::new([("type", kind.to_owned()), ("columns", columns.to_string())]);
        let fact = Finding::Saw(Fact::new("matmul.path", about, path));
        let coverage = Coverage::complete("launches", 1);
        let one = Observation::on::<Selected>(ObserverId::new("dryrun", "1"), subject, fact, coverage, time);
        Recorded::new(one.expect("an observation"))
    }

    fn rules() -> Rules {
        let stretches = vec![(1, 8, "MMVQ".to_owned()), (9, 1024, "MMQ".to_owned())];
        Rules { stretches, ..Rules::default() }
    }

    const OLD: &str = "2026-11-16T10:00:00Z";
    const NEW: &str = "2026-11-17T10:00:00Z";

    #[test]
    fn the_newest_run_of_the_card_and_type_is_used() {
        let all = [
            seen("rx-9070-xt", "qwen2-7b", OLD, "Q4_K", 512, "BLAS"),
            seen("rx-9070-xt", "qwen2-7b", NEW, "Q4_K", 1, "MMVQ"),
            seen("rx-9070-xt", "qwen2-7b", NEW, "Q4_K", 8, "MMVQ"),
            seen("rx-9070-xt", "qwen2-7b", NEW, "Q4_K", 512, "MMQ"),
            seen("rx-9070-xt", "qwen2-7b", NEW, "Q6_K", 512, "BLAS"),
            seen("rx-7900-xtx", "qwen2-7b", NEW, "Q4_K", 512, "BLAS"),
        ];
        let found = DryRun::of(&all, "rx-9070-xt", "Q4_K", "m.gguf", Some(&rules())).expect("a run");
        assert_eq!(found.groups(), [(vec![1, 8], "MMVQ".to_owned()), (vec![512], "MMQ".to_owned())]);
        assert_eq!((found.same_model, found.differs.as_slice()), (false, &[][..]));
        assert_eq!(DryRun::of(&all, "rx-9070-xt", "Q8_0", "m.gguf", None), None);
        assert_eq!(DryRun::of(&all, "rx-9070", "Q4_K", "m.gguf", None), None, "another card of the same target");
    }

    #[test]
    fn a_run_of_the_same_file_is_preferred_and_a_difference_is_named() {
        let all = [
            seen("rx-9070-xt", "m.gguf", OLD, "Q4_K", 512, "BLAS"),
            seen("rx-9070-xt", "qwen2-7b", NEW, "Q4_K", 512, "MMQ"),
        ];
        let found = DryRun::of(&all, "rx-9070-xt", "Q4_K", "m.gguf", Some(&rules())).expect("a run");
        assert_eq!((found.same_model, found.time.as_str(), found.differs.as_slice()), (true, OLD, &[512][..]));
    }
}
