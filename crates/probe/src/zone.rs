//! What the source rules declare for a column count: the path per tensor type, graded by the one judge there is.
//!
//! A probe launches nothing that anybody saw, so the best that can be said is Inferred, by the rule `declared-choice`, from what
//! the tables of the matching release declare. Where the server's build lies between two tables, both must say the same.

use crate::model::{Mix, Place};
use crate::release::Tables;
use evidence::{
    About, Claim, Coverage, Declared, Expected, Fact, Finding, Grade, Observation, ObserverId, Reason, Recorded, Rung,
    Scope, Subject, judge,
};
use serde::Serialize;
use source::table::{COLUMNS, Table};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Zone {
    #[serde(rename = "type")]
    pub ty: String,
    /// None where the rules here decide nothing for it.
    pub path: Option<String>,
    #[serde(serialize_with = "name")]
    pub grade: Grade,
    /// Why it is unresolved, or by which rule it was inferred.
    pub rule: String,
    pub columns: u64,
    pub tile: Option<i64>,
    /// `layers`, `last-layer`, `decode`, `experts`.
    pub place: &'static str,
    /// Matrices of this type in this place; None where only the types are known.
    pub tensors: Option<u64>,
    /// The condition that decided, with its file and line; of each release that was asked.
    pub source: Vec<String>,
}

/// Who is asked: a GPU's rules in the releases around the server's.
#[derive(Debug)]
pub struct Rules {
    target: Option<String>,
    tables: Option<Tables>,
    /// Why there is nothing to ask.
    why: &'static str,
    known: BTreeMap<(String, u64), Verdict>,
}

#[derive(Debug, Clone)]
struct Verdict {
    path: Option<String>,
    tile: Option<i64>,
    grade: Grade,
    rule: String,
    source: Vec<String>,
}

impl Rules {
    pub fn new(target: Option<String>, tables: Option<Tables>, why: &'static str) -> Rules {
        Rules { target, tables, why, known: BTreeMap::new() }
    }

    /// For evaluations of these widths, and for the decoded tokens behind them.
    pub fn zones(&mut self, mix: &Mix, widths: &[u64], decoded: bool, outputs: Outputs) -> Vec<Zone> {
        let mut distinct: Vec<u64> = widths.to_vec();
        distinct.sort_unstable_by(|a, b| b.cmp(a));
        distinct.dedup();
        let mut zones = Vec::new();
        for ((ty, place), count) in &mix.counts {
            let tensors = (!mix.vague).then_some(*count);
            let mut add = |rules: &mut Rules, columns: u64, word: &'static str| {
                let found = match place {
                    Place::Experts => Verdict::open("experts"),
                    _ => rules.ask(ty, columns),
                };
                zones.push(Zone {
                    ty: ty.clone(),
                    path: found.path,
                    grade: found.grade,
                    rule: found.rule,
                    columns,
                    tile: found.tile,
                    place: word,
                    tensors,
                    source: found.source,
                });
            };
            match (place, outputs) {
                // Only the last micro-batch of a prompt has an output; the others skip these matrices.
                (Place::Last, Outputs::One) if !distinct.is_empty() => add(self, 1, "last-layer"),
                (Place::Experts, _) => distinct.iter().for_each(|columns| add(self, *columns, "experts")),
                _ => distinct.iter().for_each(|columns| add(self, *columns, "layers")),
            }
            if decoded && *place != Place::Experts {
                add(self, 1, "decode");
            }
        }
        zones
    }

    fn ask(&mut self, ty: &str, columns: u64) -> Verdict {
        let key = (ty.to_owned(), columns);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let verdict = self.judge(ty, columns);
        self.known.insert(key, verdict.clone());
        verdict
    }

    fn judge(&self, ty: &str, columns: u64) -> Verdict {
        let (Some(target), Some(tables)) = (&self.target, &self.tables) else { return Verdict::open(self.why) };
        let Some(wide) = i64::try_from(columns).ok().filter(|columns| (1..=COLUMNS).contains(columns)) else {
            return Verdict::open("beyond-tables");
        };
        let found: Vec<(&Table, _)> =
            tables.list.iter().filter_map(|table| Some((*table, table.look_up(target, ty, wide)?))).collect();
        let Some((_, first)) = found.first().filter(|_| found.len() == tables.list.len()) else {
            return Verdict::open("no-table");
        };
        let (path, tile) = (first.path.to_owned(), first.tile);
        let declared: Option<Vec<Recorded>> =
            found.iter().map(|(table, answer)| declare(table, target, ty, columns, answer.path)).collect();
        let claim = claim(ty, columns, Some(target), Expected::Equals(path.clone().into()));
        let reading = judge(&claim, &declared.unwrap_or_default(), &[]);
        let rule = reading.reasons.iter().find_map(|reason| match reason {
            Reason::Follows { rule, .. } => Some((*rule).to_owned()),
            _ => None,
        });
        let source = found.iter().map(|(table, answer)| {
            let rule = answer.rule.last();
            let place =
                rule.map_or_else(String::new, |rule| format!(" {}:{}: {}", rule.file, rule.line, rule.condition));
            format!("{} {}: {}{place}", table.source, table.version, answer.path)
        });
        let source = source.collect();
        match rule {
            Some(rule) if path != "UNDETERMINED" => {
                let same_tile = found.iter().all(|(_, answer)| answer.tile == tile);
                Verdict { path: Some(path), tile: tile.filter(|_| same_tile), grade: reading.grade, rule, source }
            }
            _ => Verdict {
                source,
                ..Verdict::open(if path == "UNDETERMINED" { "undetermined" } else { "releases-differ" })
            },
        }
    }
}

impl Verdict {
    /// Nobody declares anything: what the judge says of a claim on which nothing was observed.
    fn open(why: &str) -> Verdict {
        let grade = judge(&claim("", 0, None, Expected::Present(true)), &[], &[]).grade;
        Verdict { path: None, tile: None, grade, rule: why.to_owned(), source: Vec::new() }
    }
}

/// "For this type and width, host code chooses this path on this GPU."
fn claim(ty: &str, columns: u64, target: Option<&str>, expected: Expected) -> Claim {
    Claim {
        id: "zone".into(),
        rung: Rung::Selected,
        topic: "matmul.path".into(),
        about: About::new([("type", ty.to_owned()), ("columns", columns.to_string())]),
        expected,
        scope: Scope { target: target.map(str::to_owned), ..Scope::default() },
        transfer: Vec::new(),
    }
}

fn name<S: serde::Serializer>(grade: &Grade, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(grade.name())
}

/// Which tokens of a prompt have an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outputs {
    /// The last one: a generation.
    One,
    /// Every one: an embedding.
    All,
}

fn declare(table: &Table, target: &str, ty: &str, columns: u64, path: &str) -> Option<Recorded> {
    let vendor = if target.starts_with("gfx") { "HIP" } else { "CUDA" };
    let builds = table.presets.iter().filter(|build| build.vendor == vendor);
    let defines = builds.flat_map(|build| build.defines.clone()).collect();
    let subject = Subject::source(&table.source, &table.commit, defines).target(target);
    let about = About::new([("type", ty.to_owned()), ("columns", columns.to_string())]);
    let fact = Fact::new("matmul.path", about, path);
    let id = ObserverId::new("source", env!("CARGO_PKG_VERSION"));
    let coverage = Coverage::complete("column counts", 1);
    Observation::on::<Declared>(id, subject, Finding::Saw(fact), coverage, "").ok().map(Recorded::new)
}
