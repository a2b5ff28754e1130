//! The path per tensor type that the source rules declare for a column count, graded by `evidence::judge`.
//!
//! A probe observes no launches, so the best possible grade is Inferred, by the rule `declared-choice`, from the tables
//! of the matching release. If the server's build is between two tables, both must agree. If a watch observed launches
//! for that type and width, they replace the declaration, on their own rung.

use crate::launches::{Account, Launch};
use crate::model::{LayerGroup, Mix};
use crate::release::Tables;
use evidence::{
    About, Claim, Coverage, Declared, DeviceKind, Expected, Fact, Finding, Grade, Launched, Observation, ObserverId,
    Reason, Recorded, Rung, Scope, Selected, Subject, judge,
};
use schemars::JsonSchema;
use serde::Serialize;
use source::decision_table::{COLUMNS, DecisionTable};
use std::collections::BTreeMap;

/// One type of the model's matrices in one width.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Zone {
    #[serde(rename = "type")]
    pub ty: String,
    /// None if these rules do not determine a path for the type.
    pub path: Option<String>,
    /// The grade of the path on this rung.
    #[serde(flatten)]
    pub grade: Grade,
    /// `declared` if only the rules are known; `launched` or `selected` if a watch observed the launches.
    pub rung: Rung,
    /// Why the path is unresolved, or the rule of the inference; `seen` if a watch observed it.
    pub rule: String,
    /// The path that the rules declare, in addition to the observed one.
    pub declared: Option<String>,
    /// The kernels that a watch saw for this type and width.
    pub kernels: Vec<String>,
    pub columns: u64,
    pub tile: Option<i64>,
    pub place: Part,
    /// Matrices of this type in this place; None if only the types are known.
    pub tensors: Option<u64>,
    /// The deciding condition with its file and line, for each release that was used.
    pub source: Vec<String>,
}

/// The part of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// All layers, for each token of a micro-batch.
    Layers,
    /// Matrices that only tokens with an output pass through.
    LastLayer,
    /// The generated tokens.
    Decode,
    Experts,
    /// Tokens of several requests, decoded together.
    Parallel,
}

/// The rules to use: those of a GPU in the releases around the server's.
#[derive(Debug)]
pub struct Rules {
    target: Option<String>,
    tables: Option<Tables>,
    /// Why there are no rules.
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

    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// The paths for evaluations of these widths, and for the decoded tokens after them.
    pub fn zones(&mut self, mix: &Mix, widths: &[u64], decoded: bool, outputs: Outputs) -> Vec<Zone> {
        let mut distinct: Vec<u64> = widths.to_vec();
        distinct.sort_unstable_by(|a, b| b.cmp(a));
        distinct.dedup();
        let mut zones = Vec::new();
        for ((ty, place), count) in &mix.counts {
            let tensors = (!mix.vague).then_some(*count);
            let mut add = |rules: &mut Rules, columns: u64, part: Part| {
                let found = match place {
                    LayerGroup::Experts => Verdict::open("experts"),
                    _ => rules.ask(ty, columns),
                };
                zones.push(Zone {
                    ty: ty.clone(),
                    declared: found.path.clone(),
                    path: found.path,
                    grade: found.grade,
                    rung: Rung::Declared,
                    rule: found.rule,
                    kernels: Vec::new(),
                    columns,
                    tile: found.tile,
                    place: part,
                    tensors,
                    source: found.source,
                });
            };
            match (place, outputs) {
                // Only the last micro-batch of a prompt has an output; the others skip these matrices.
                (LayerGroup::Last, Outputs::One) if !distinct.is_empty() => add(self, 1, Part::LastLayer),
                (LayerGroup::Experts, _) => distinct.iter().for_each(|columns| add(self, *columns, Part::Experts)),
                _ => distinct.iter().for_each(|columns| add(self, *columns, Part::Layers)),
            }
            if decoded && *place != LayerGroup::Experts {
                add(self, 1, Part::Decode);
            }
        }
        zones
    }

    /// The paths for tokens of several requests that are decoded together: at most this many columns.
    pub fn side_by_side(&mut self, mix: &Mix, most: u64) -> Vec<Zone> {
        let mut zones = self.zones(mix, &[most], false, Outputs::All);
        zones.iter_mut().filter(|zone| zone.place == Part::Layers).for_each(|zone| zone.place = Part::Parallel);
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
        let found: Vec<(&DecisionTable, _)> =
            tables.list.iter().filter_map(|table| Some((*table, table.look_up(target, ty, wide)?))).collect();
        let Some((_, first)) = found.first().filter(|_| found.len() == tables.list.len()) else {
            return Verdict::open("no-table");
        };
        let (path, tile, chosen) = (first.path.to_owned(), first.tile, first.chosen());
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
            Some(rule) if chosen.is_some() => {
                let same_tile = found.iter().all(|(_, answer)| answer.tile == tile);
                Verdict { path: Some(path), tile: tile.filter(|_| same_tile), grade: reading.grade, rule, source }
            }
            _ => Verdict { source, ..Verdict::open(if chosen.is_none() { "undetermined" } else { "releases-differ" }) },
        }
    }
}

impl Zone {
    /// Observed launches for this type and width replace the declaration. If nothing was seen, nothing changes: a name
    /// may not contain its type, and launches of a library's own kernels have none.
    pub fn hold(&mut self, launches: &[Launch], account: &Account, target: Option<&str>) {
        let mine = |launch: &&Launch| launch.ty.as_deref() == Some(&self.ty) && launch.columns == Some(self.columns);
        let found: Vec<&Launch> = launches.iter().filter(mine).filter(|launch| launch.path.is_some()).collect();
        // The weakest rung: the launches include one on a device that was not observed.
        let Some(rung) = found.iter().map(|launch| launch.rung).min() else { return };
        let mut paths: Vec<&str> = found.iter().filter_map(|launch| launch.path.as_deref()).collect();
        paths.sort_unstable();
        paths.dedup();
        self.kernels = found.iter().map(|launch| launch.kernel.clone()).collect();
        self.kernels.sort_unstable();
        self.kernels.dedup();
        self.rung = rung;
        let ([path], count) = (paths.as_slice(), found.iter().map(|launch| launch.launches).sum()) else {
            // Matrices of one type and width took different paths; the names do not show which took which.
            (self.path, self.rule, self.grade) = (None, "several-seen".into(), Verdict::open("").grade);
            return;
        };
        let about = About::new([("type", self.ty.clone()), ("columns", self.columns.to_string())]);
        let fact = Fact::new("matmul.path", about, *path);
        let device = if rung >= Rung::Launched { DeviceKind::Real } else { DeviceKind::StandIn };
        let mut subject = Subject::this_host().device(device);
        subject.target = target.map(str::to_owned);
        let id = ObserverId::new(account.observer, env!("CARGO_PKG_VERSION"));
        let (finding, coverage) = (Finding::Saw(fact), Coverage::complete("launches", count));
        let seen = match rung {
            Rung::Launched | Rung::Completed => Observation::on::<Launched>(id, subject, finding, coverage, ""),
            _ => Observation::on::<Selected>(id, subject, finding, coverage, ""),
        };
        let Ok(seen) = seen else { return };
        let seen = seen.canary(account.canary.clone()).contamination(account.contamination.clone());
        let expected = Expected::Equals((*path).into());
        let claim = Claim { rung: seen.rung(), ..claim(&self.ty, self.columns, target, expected) };
        self.grade = judge(&claim, &[Recorded::new(seen)], &[]).grade;
        (self.path, self.rule) = (Some((*path).to_owned()), "seen".to_owned());
    }
}

impl Verdict {
    /// No declaration: the judge's result for a claim without observations.
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

/// Which tokens of a prompt have an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outputs {
    /// Only the last token has an output, as in a generation.
    One,
    /// All tokens have an output, as in an embedding.
    All,
}

fn declare(table: &DecisionTable, target: &str, ty: &str, columns: u64, path: &str) -> Option<Recorded> {
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
