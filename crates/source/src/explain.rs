//! Explains a choice of kernel: one question to the decision tables, and the answer with alternatives.

use crate::Device;
use crate::decision_table::{self, Build, COLUMNS, DecisionTable, Found, Open};
use crate::exact::{self, Changes};
use crate::lines::DecidingLine;
use crate::reason::{ReasonAnswer, ReasonCode};
use crate::versions::Known;
use evidence::{Basis, Conclusion, LeftOutWhy, Rung, Unit};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Targets for "what if it were another card": one for each common generation.
pub const OTHERS: &[&str] =
    &["gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151", "gfx1201", "sm_75", "sm_89", "sm_90", "sm_120"];

#[derive(Debug, Clone)]
pub struct Question {
    pub device: Device,
    /// The user's input: `Q4_K_M`.
    pub named: String,
    /// The types in a file of this type, most frequent first.
    pub types: Vec<String>,
    /// None: every count that the tables have.
    pub columns: Option<i64>,
    pub known: Known,
}

impl Question {
    /// The tables for the requested version: its own, or its two neighbours.
    pub fn tables(&self) -> Vec<&'static DecisionTable> {
        match &self.known {
            Known::Exact(table) => vec![table],
            Known::Between { below, above, .. } => below.iter().chain(above).copied().collect(),
        }
    }

    pub fn main_type(&self) -> &str {
        self.types.first().map_or("", String::as_str)
    }

    /// The requested column count; for all counts, the largest that the tables have.
    pub fn at(&self) -> i64 {
        self.columns.unwrap_or(COLUMNS)
    }

    pub fn found(&self) -> Vec<(&'static DecisionTable, Found<'static>)> {
        let look = |table: &'static DecisionTable| {
            table.look_up(&self.device.target, self.main_type(), self.at()).map(|it| (table, it))
        };
        self.tables().into_iter().filter_map(look).collect()
    }

    /// The chosen path. It comes only from rules, so it covers at most a part of the actual run. Two neighbours that
    /// differ give two answers.
    pub fn conclusion(&self) -> Conclusion {
        let found = self.found();
        let asked = self.tables().len() as u64;
        let chosen: Vec<String> =
            found.iter().filter(|(_, it)| it.chosen().is_some()).map(|(_, it)| choice(it)).collect();
        let of = self.tables().into_iter().map(|table| format!("{} {}", table.source, table.version));
        let of = of.chain([self.device.target.clone()]);
        let mut basis = Basis::listed("source", of, Rung::Declared, Unit::Cells, asked, chosen.len() as u64)
            .asked_of(Rung::Launched);
        let open = (found.len() - chosen.len()) as u64;
        if open > 0 {
            basis = basis.without("UNDETERMINED", Some(open), LeftOutWhy::Undetermined);
        }
        if let Known::Between { what, .. } = &self.known {
            basis = basis.without(what, None, LeftOutWhy::NotAsked);
        }
        basis.choice(chosen)
    }

    /// The answer that all tables for the version agree on: the last table, and its answer. None if the tables differ.
    pub fn settled(&self) -> Option<(&'static DecisionTable, Found<'static>)> {
        let found = self.found();
        let all = found.iter().map(|(_, found)| choice(found)).collect::<BTreeSet<_>>();
        let alike = all.len() == 1 && found.len() == self.tables().len();
        let alike = alike && (self.columns.is_some() || self.stretches().is_some());
        alike.then(|| found.into_iter().next_back()).flatten()
    }

    /// The path for each range of counts, if the tables for the version agree.
    pub fn stretches(&self) -> Option<Vec<(i64, Option<i64>, &'static str)>> {
        let mut all = self.tables().into_iter().map(|it| it.stretches(&self.device.target, self.main_type()));
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }

    /// None if no table has the answer.
    pub fn answer(&self) -> Option<Explained<'_>> {
        let found = self.found();
        let (last, _) = found.last()?;
        let settled = self.settled();
        let (table, answer) = settled.as_ref().map(|(table, found)| (*table, found)).unzip();
        let target = self.device.target.as_str();
        Some(Explained {
            rung: Rung::Declared,
            conclusion: self.conclusion(),
            target,
            card: self.device.card.as_deref(),
            kind: self.main_type(),
            asked_type: &self.named,
            types: &self.types,
            columns: self.columns,
            path: answer.filter(|answer| answer.chosen().is_some()).map(|answer| answer.path),
            tile: answer.and_then(|answer| answer.tile),
            from: answer.map(|answer| answer.from),
            to: answer.and_then(|answer| answer.to),
            by_columns: self.stretches().map(by_columns).unwrap_or_default(),
            reason: settled.as_ref().map(|(_, found)| self.reason(found)),
            undetermined: answer.and_then(|answer| answer.open),
            rule: settled.as_ref().map(|(table, found)| self.lines(table, found)).unwrap_or_default(),
            cc: last.targets.get(target).and_then(|target| target.cc).map(capability),
            source: table.map(|table| table.source.as_str()),
            version: table.map(|table| table.version.as_str()),
            commit: table.map(|table| table.commit.as_str()),
            asked_version: match &self.known {
                Known::Exact(_) => None,
                Known::Between { what, .. } => Some(what),
            },
            neighbours: found
                .iter()
                .map(|(table, found)| Neighbour {
                    version: &table.version,
                    path: found.path,
                    tile: found.tile,
                    from: found.from,
                    to: found.to,
                    by_columns: match &settled {
                        Some(_) => Vec::new(),
                        None => by_columns(table.stretches(target, self.main_type())),
                    },
                    rule: if settled.is_some() { Vec::new() } else { self.lines(table, found) },
                })
                .collect(),
            most_columns: COLUMNS,
            weights: WEIGHTS,
            presets: table.map(|table| table.presets.as_slice()).unwrap_or_default(),
            otherwise: self.otherwise(),
            changes: exact::changes(target, self.main_type(), self.at()),
            takes_code_for: gpu::Arch::parse(target)
                .map(|device| device.in_order().into_iter().map(str::to_owned).collect())
                .unwrap_or_default(),
        })
    }

    /// The deciding lines, with the values of this question.
    pub fn lines(&self, table: &DecisionTable, found: &Found<'_>) -> Vec<DecidingLine> {
        DecidingLine::all(found, table, (&self.device.target, self.main_type(), self.at()))
    }

    fn reason(&self, found: &Found<'_>) -> ReasonAnswer {
        let code = ReasonCode::of(found);
        ReasonAnswer { code, text: code.sentence(found, &self.device.title(), self.main_type()).to_string() }
    }

    /// Other column counts, other cards, other versions. Alternatives on which the tables for the version disagree are
    /// left out.
    fn otherwise(&self) -> Vec<Otherwise> {
        let (target, ty, at) = (self.device.target.as_str(), self.main_type(), self.at());
        let tables = self.tables();
        let mut out = Vec::new();
        let mut add = |what: Varied, instead: String, found: Option<Found<'static>>| {
            out.extend(found.map(|found| Otherwise { what, instead, path: found.path, tile: found.tile }));
        };
        let alike = |target: &str, columns: i64| {
            let mut all = tables.iter().map(|table| table.look_up(target, ty, columns));
            let first = all.next()??;
            all.all(|other| other.is_some_and(|other| choice(&other) == choice(&first))).then_some(first)
        };
        for columns in [1, 8, 9, 64, 256, 257, 512].into_iter().filter(|columns| *columns != at) {
            add(Varied::Columns, columns.to_string(), alike(target, columns));
        }
        for other in OTHERS.iter().filter(|other| **other != target) {
            add(Varied::Gpu, (*other).to_owned(), alike(other, at));
        }
        let own = self.settled().map(|(table, _)| table.version.as_str());
        for other in decision_table::all().iter().filter(|other| own != Some(other.version.as_str())) {
            let date = if other.date.is_empty() { String::new() } else { format!(" ({})", other.date) };
            let instead = format!("{} {}{date}", other.source, other.version);
            add(Varied::Version, instead, other.look_up(target, ty, at));
        }
        out
    }
}

/// Rows and columns of the dense weights that every table is about (`crates/source/src/atlas.rs`).
pub const WEIGHTS: [i64; 2] = [4096, 4096];

/// AMD's capabilities have a bit of their own and are usually written in hexadecimal; NVIDIA's are decimal: 890 means
/// 8.9.
pub fn capability(cc: i64) -> String {
    if cc >= 0x100_0000 { format!("{cc:#x}") } else { cc.to_string() }
}

pub(crate) fn by_columns<'t>(stretches: Vec<(i64, Option<i64>, &'t str)>) -> Vec<ByColumns<'t>> {
    stretches.into_iter().map(|(from, to, path)| ByColumns { from, to, path }).collect()
}

/// Formats the chosen path and tile: `MMQ, tile 128`.
pub fn choice(found: &Found<'_>) -> String {
    found.tile.map_or_else(|| found.path.to_owned(), |tile| format!("{}, tile {tile}", found.path))
}

/// The path that a release's rules choose for a type, a column count and a GPU, the rule, and alternatives.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explained<'q> {
    pub rung: Rung,
    pub conclusion: Conclusion,
    pub target: &'q str,
    pub card: Option<&'q str>,
    /// The type of most of the weights.
    #[serde(rename = "type")]
    pub kind: &'q str,
    /// The type as requested: `Q4_K_M`.
    pub asked_type: &'q str,
    /// All types in a file of that type.
    pub types: &'q [String],
    /// The column count; null if all counts were requested.
    pub columns: Option<i64>,
    /// Null if the rules do not decide, or if the requested version is between two that choose differently;
    /// `neighbours` has both.
    pub path: Option<&'q str>,
    pub tile: Option<i64>,
    /// The column counts over which the path is the same.
    pub from: Option<i64>,
    pub to: Option<i64>,
    /// Empty if the two neighbouring versions differ.
    pub by_columns: Vec<ByColumns<'q>>,
    /// Why this path, or why none is known; null if `path` is null because two neighbours differ.
    pub reason: Option<ReasonAnswer>,
    /// The reason why the rules do not determine the answer.
    pub undetermined: Option<&'q Open>,
    /// The deciding conditions.
    pub rule: Vec<DecidingLine>,
    /// The most columns that the tables cover: a `to` that is null ends here.
    pub most_columns: i64,
    /// Rows and columns of the dense weights that the rules were evaluated for.
    pub weights: [i64; 2],
    /// The compute capability as ggml encodes it.
    pub cc: Option<String>,
    /// The table that `path`, `rule` and `presets` come from.
    pub source: Option<&'q str>,
    pub version: Option<&'q str>,
    pub commit: Option<&'q str>,
    /// The requested version, if there is no table for exactly this version.
    pub asked_version: Option<&'q str>,
    pub neighbours: Vec<Neighbour<'q>>,
    pub presets: &'q [Build],
    pub otherwise: Vec<Otherwise>,
    /// The releases at which the path changed, with their commits; null if no range of releases was evaluated
    /// completely for this cell.
    pub changes: Option<Changes<'q>>,
    /// The targets whose shipped code the device can run, its own first; empty for NVIDIA, where the number decides.
    pub takes_code_for: Vec<String>,
}

impl answer::Answer for Explained<'_> {
    const SCHEMA: &'static str = "whichkernel.explain/2";
}

/// A path and its column counts; `to` is null at the end of the tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ByColumns<'q> {
    pub from: i64,
    pub to: Option<i64>,
    pub path: &'q str,
}

/// The choice of a release that has a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Neighbour<'q> {
    pub version: &'q str,
    pub path: &'q str,
    pub tile: Option<i64>,
    /// The column counts over which the path is the same.
    pub from: i64,
    pub to: Option<i64>,
    /// Empty if the releases agree, because the answer then contains it.
    pub by_columns: Vec<ByColumns<'q>>,
    /// The conditions that decided; empty where the releases agree.
    pub rule: Vec<DecidingLine>,
}

/// One changed input, and the resulting choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Otherwise {
    pub what: Varied,
    pub instead: String,
    pub path: &'static str,
    pub tile: Option<i64>,
}

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Varied: key {
        Columns = "columns",
        Gpu = "gpu",
        Version = "version",
    }
}
