//! Decision tables: the results of a release's rules, small enough to embed, with the position of each rule.

use crate::carried_answers::Spared;
use crate::device::Vendor;
use crate::op::no_type;
use crate::outcome::{Answer, Outcome, Reason};
use crate::path::Path;
use crate::ranges::{Stretch, choice_of, stretches};
use crate::survey::Survey;
use say::say;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::OnceLock;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionTable {
    /// `llama.cpp` or `ollama`.
    pub source: String,
    /// The release: `b10586`, or a commit if there is none.
    pub version: String,
    pub commit: String,
    pub date: String,
    pub presets: Vec<Build>,
    /// File, line, condition, outcome and values of the conditions that decided.
    pub rules: Vec<Vec<Rule>>,
    /// Tile widths by column count: up to, tile.
    pub tiles: Vec<Vec<(i64, i64)>>,
    /// Launch shapes by column count; empty in tables without shapes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<Vec<ShapeStep>>,
    /// Column counts to paths; most types of a target share one.
    pub plans: Vec<Vec<Entry>>,
    pub targets: BTreeMap<String, Target>,
    /// Families in the order in which the operation's function calls them.
    pub order: Vec<String>,
    /// The function that contains those branches.
    pub function: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Build {
    pub vendor: String,
    pub preset: String,
    pub defines: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rule {
    pub file: String,
    pub line: usize,
    pub condition: String,
    pub outcome: String,
    pub values: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    pub cc: Option<i64>,
    /// The plan of each type.
    pub types: BTreeMap<String, usize>,
}

/// The path up to `to` columns (None: up to the end of the table), with its rule and tiles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub to: Option<i64>,
    pub path: String,
    pub rule: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiles: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shapes: Option<usize>,
    /// The conditions that the rules leave open; only for an undetermined path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<Open>,
}

/// Why no path is known: the line that could not be evaluated (empty if the reason has none), and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Open {
    pub kind: OpenKind,
    pub place: String,
    pub why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OpenKind {
    /// The tree has no such type.
    NoSuchType,
    /// The program would stop with an error.
    Aborts,
    NotEvaluated,
}

/// The launch up to `to` columns. Parts are expressions of the column count `n` (`32xceil(n/112)x1`), and null where
/// they are not determined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapeStep {
    pub to: i64,
    pub grid: Option<String>,
    pub block: Option<String>,
    pub warps: Option<i64>,
    pub shared: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undetermined: Vec<String>,
}

impl ShapeStep {
    fn of(answer: &Answer, warp: Option<i64>) -> Option<ShapeStep> {
        let shape = answer.launch.as_ref()?.shape.as_ref()?;
        let (first, last) = (shape.at(answer.from, warp), shape.at(answer.to, warp));
        let part = |part| shape.over(part, answer.from, answer.to);
        Some(ShapeStep {
            to: answer.to,
            grid: part(0),
            block: part(1),
            warps: first.warps.filter(|_| first.block == last.block),
            shared: part(2),
            undetermined: first.undetermined.into_iter().map(|why| why.english).collect(),
        })
    }

    fn same(&self, other: &ShapeStep) -> bool {
        ShapeStep { to: other.to, ..self.clone() } == *other
    }
}

impl Entry {
    /// None if the rules do not decide.
    pub fn chosen(&self) -> Option<Path> {
        Path::from_name(&self.path)
    }
}

/// The largest column count in the tables.
pub const COLUMNS: i64 = 1024;

macro_rules! tables {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("../tables/", $name, ".json")))),*] };
}

/// Oldest first.
const TEXTS: &[(&str, &str)] = tables!(
    "b1800",
    "b2100",
    "b2400",
    "b2800",
    "b3265",
    "b3600",
    "b4000",
    "b4719",
    "b5200",
    "b5664",
    "b6201",
    "b6841",
    "b7148",
    "ollama-4fda6980",
    "b8001",
    "b9000",
    "b10000",
    "b10586",
    "crate-llama-cpp-sys-4-0.11.0",
);

/// The embedded tables.
pub fn all() -> &'static [DecisionTable] {
    static TABLES: OnceLock<Vec<DecisionTable>> = OnceLock::new();
    TABLES.get_or_init(|| TEXTS.iter().filter_map(|(_, text)| serde_json::from_str(text).ok()).collect())
}

/// The names of the embedded tables.
pub fn names() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(name, _)| *name)
}

/// The text of an embedded table.
pub fn text(name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// A table by release, commit, or source; the newest if there are several.
pub fn find(wanted: &str) -> Option<&'static DecisionTable> {
    let fits = |table: &&DecisionTable| {
        table.version == wanted
            || table.source == wanted
            || (wanted.len() >= 7 && table.commit.starts_with(wanted))
            || format!("{}-{}", table.source, table.version) == wanted
    };
    all().iter().rev().find(fits)
}

/// Formats column ranges with their paths: `1-8 MMVQ | 9-1024 MMQ`.
pub fn tokens(stretches: &[(i64, Option<i64>, &str)]) -> String {
    let one = |(from, to, path): &(i64, Option<i64>, &str)| match to {
        Some(to) if to == from => format!("{from} {path}"),
        Some(to) => format!("{from}-{to} {path}"),
        // The last range ends at the last column count of the tables.
        None => format!("{from}-{COLUMNS} {path}"),
    };
    stretches.iter().map(one).collect::<Vec<_>>().join(" | ")
}

/// One answer of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<'t> {
    pub path: &'t str,
    pub tile: Option<i64>,
    pub from: i64,
    pub to: Option<i64>,
    pub rule: &'t [Rule],
    /// None for a determined path, and in tables that were made before reasons were stored.
    pub open: Option<&'t Open>,
}

impl Found<'_> {
    /// None if the rules do not decide.
    pub fn chosen(&self) -> Option<Path> {
        Path::from_name(self.path)
    }
}

impl DecisionTable {
    /// Builds a table from a survey over every column count up to [`COLUMNS`].
    pub fn build(survey: &Survey<'_>, source: &str, version: &str, commit: &str, date: &str) -> DecisionTable {
        DecisionTable::build_like(survey, [source, version, commit, date], None)
    }

    /// Like [`Self::build`], if some cells take their answers from another table: only one cell per rule is evaluated,
    /// to find the rule's current position.
    pub(crate) fn build_like(
        survey: &Survey<'_>,
        [source, version, commit, date]: [&str; 4],
        like: Option<(&DecisionTable, &Spared)>,
    ) -> DecisionTable {
        let presets = survey.backends.iter().map(|backend| Build {
            vendor: match backend.preset.vendor {
                Vendor::Hip => "HIP".to_owned(),
                Vendor::Cuda => "CUDA".to_owned(),
            },
            preset: backend.preset.builder.name().to_owned(),
            defines: backend.preset.listed(),
        });
        let mut table = DecisionTable {
            source: source.to_owned(),
            version: version.to_owned(),
            commit: commit.to_owned(),
            date: date.to_owned(),
            presets: presets.collect(),
            rules: Vec::new(),
            tiles: Vec::new(),
            shapes: Vec::new(),
            plans: Vec::new(),
            targets: BTreeMap::new(),
            order: survey.order(),
            function: survey.function(),
        };
        let none = Vec::new();
        let of_device = |device: usize| survey.answers.get(device).unwrap_or(&none);
        // Which device and which of its stretches has the reasons of each stretch.
        let mut first: BTreeMap<(Vendor, usize), (usize, usize)> = BTreeMap::new();
        let mut asked: Vec<Vec<(usize, i64)>> = Vec::new();
        let mut places: Vec<Vec<Vec<(usize, usize)>>> = Vec::new();
        for (at, device) in survey.question.devices.iter().enumerate() {
            let mut mine = Vec::new();
            let mut of_types = Vec::new();
            for (ty, answers) in of_device(at).iter().enumerate() {
                let known = like.filter(|(_, spared)| spared.contains(&(at, ty)));
                let name = survey.question.types.get(ty).map_or("", String::as_str);
                let known = known.and_then(|(table, _)| table.plan(&device.target, name));
                let stretches = stretches(answers);
                let known = known.filter(|plan| plan.len() == stretches.len());
                let place = |(number, stretch): (usize, &Stretch)| {
                    let new = (at, mine.len());
                    let rule = known.and_then(|plan| plan.get(number)).map(|entry| (device.vendor, entry.rule));
                    let found = rule.map_or(new, |rule| *first.entry(rule).or_insert(new));
                    if found == new {
                        mine.push((ty, stretch.from));
                    }
                    found
                };
                of_types.push(stretches.iter().enumerate().map(place).collect());
            }
            asked.push(mine);
            places.push(of_types);
        }
        let reasons = survey.reasons_at(&asked);
        let reasons = |(device, number): (usize, usize)| -> &[Reason] {
            reasons.get(device).and_then(|all| all.get(number)).map_or(&[], Vec::as_slice)
        };
        for (device, places) in places.iter().enumerate() {
            let Some(of) = survey.question.devices.get(device) else { continue };
            let (name, warp) = (of.target.clone(), of.warp());
            let mut types = BTreeMap::new();
            for ((ty, answers), places) in survey.question.types.iter().zip(of_device(device)).zip(places) {
                let reasons = places.iter().map(|place| reasons(*place));
                let entries = table.entries(ty, (answers, warp), reasons);
                types.insert(ty.clone(), index(&mut table.plans, entries));
            }
            let cc = survey.cc.get(device).copied().flatten();
            table.targets.insert(name, Target { cc, types });
        }
        table
    }

    /// `reasons` has the reasons of the stretches, in order.
    fn entries<'r>(
        &mut self,
        ty: &str,
        (answers, warp): (&[Answer], Option<i64>),
        reasons: impl Iterator<Item = &'r [Reason]>,
    ) -> Vec<Entry> {
        let mut entries = Vec::new();
        for (stretch, reasons) in stretches(answers).into_iter().zip(reasons) {
            let rule = index(&mut self.rules, deciding(reasons, stretch.path));
            let last = stretch.to.unwrap_or(i64::MAX);
            let mut tiles: Vec<(i64, i64)> = Vec::new();
            for answer in answers.iter().filter(|answer| answer.from >= stretch.from && answer.from <= last) {
                let Some(choice) = choice_of(answer).filter(|choice| choice.variant > 0) else { continue };
                match tiles.last_mut() {
                    Some(known) if known.1 == choice.variant => known.0 = answer.to,
                    _ => tiles.push((answer.to, choice.variant)),
                }
            }
            let tiles = if tiles.is_empty() { None } else { Some(index(&mut self.tiles, tiles)) };
            let mut shapes: Vec<ShapeStep> = Vec::new();
            let mine = answers.iter().filter(|answer| answer.from >= stretch.from && answer.from <= last);
            for step in mine.filter(|_| stretch.path.is_some()).filter_map(|answer| ShapeStep::of(answer, warp)) {
                match shapes.last_mut().filter(|known| known.same(&step)) {
                    Some(known) => known.to = step.to,
                    None => shapes.push(step),
                }
            }
            let shapes = if shapes.is_empty() { None } else { Some(index(&mut self.shapes, shapes)) };
            let path = stretch.path.map_or("UNDETERMINED", Path::name).to_owned();
            let open = answers.iter().filter(|answer| answer.from == stretch.from).find_map(|it| open(ty, &it.outcome));
            entries.push(Entry { to: stretch.to, path, rule, tiles, shapes, open });
        }
        entries
    }

    fn plan(&self, target: &str, ty: &str) -> Option<&Vec<Entry>> {
        self.plans.get(*self.targets.get(target)?.types.get(ty)?)
    }

    /// Every stretch of column counts with its path: from, to (None: to the end of the table), path.
    pub fn stretches(&self, target: &str, ty: &str) -> Vec<(i64, Option<i64>, &str)> {
        let plan = self.plan(target, ty);
        let mut out: Vec<(i64, Option<i64>, &str)> = Vec::new();
        let mut from = 1;
        for entry in plan.into_iter().flatten() {
            match out.last_mut().filter(|last| last.2 == entry.path) {
                Some(last) => last.1 = entry.to,
                None => out.push((from, entry.to, &entry.path)),
            }
            from = entry.to.unwrap_or(COLUMNS) + 1;
        }
        out
    }

    /// Every launch shape: the first and the last column count, the path, and the launch.
    pub fn launches(&self, target: &str, ty: &str) -> Vec<(i64, i64, &str, &ShapeStep)> {
        let mut out = Vec::new();
        let mut from = 1;
        for entry in self.plan(target, ty).into_iter().flatten() {
            let steps = entry.shapes.and_then(|shapes| self.shapes.get(shapes));
            for step in steps.into_iter().flatten() {
                out.push((from, step.to, entry.path.as_str(), step));
                from = step.to.saturating_add(1);
            }
            from = entry.to.unwrap_or(COLUMNS).saturating_add(1);
        }
        out
    }

    pub fn look_up(&self, target: &str, ty: &str, columns: i64) -> Option<Found<'_>> {
        let entries = self.plan(target, ty)?;
        let mut from = 1;
        for entry in entries {
            if entry.to.is_none_or(|to| columns <= to) {
                let tiles = entry.tiles.and_then(|tiles| self.tiles.get(tiles));
                let tile = tiles.and_then(|tiles| tiles.iter().find(|(to, _)| columns <= *to)).map(|(_, tile)| *tile);
                let rule = self.rules.get(entry.rule).map_or(&[][..], Vec::as_slice);
                let open = entry.open.as_ref();
                return Some(Found { path: &entry.path, tile, from, to: entry.to, rule, open });
            }
            from = entry.to.unwrap_or(i64::MAX).saturating_add(1);
        }
        None
    }
}

/// The conditions that an outcome leaves open.
fn open(ty: &str, outcome: &Outcome) -> Option<Open> {
    let Outcome::Undetermined { place, why, .. } = outcome else { return None };
    let why = why.to_string();
    // The reason may be part of a longer one, which names missing headers first.
    let aborts = say!("source-open-abort", what = "").to_string();
    let kind = if why.ends_with(&no_type(ty).to_string()) {
        OpenKind::NoSuchType
    } else if why.contains(aborts.trim_end_matches('`')) {
        OpenKind::Aborts
    } else {
        OpenKind::NotEvaluated
    };
    // Reasons without a line are placed before the first file.
    let place = if place.starts_with('<') { String::new() } else { place.clone() };
    Some(Open { kind, place, why })
}

fn index<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    match list.iter().position(|known| *known == item) {
        Some(index) => index,
        None => {
            list.push(item);
            list.len() - 1
        }
    }
}

/// The conditions that decided: the last condition that held in the predicate that returned true (for the fallback
/// path, in the last one that returned false), its return value, and the branch taken on it.
fn deciding(reasons: &[Reason], path: Option<Path>) -> Vec<Rule> {
    let top = reasons.iter().map(|reason| reason.depth).min().unwrap_or(1) + 1;
    let mut groups: Vec<Vec<&Reason>> = Vec::new();
    for reason in reasons.iter().filter(|reason| reason.depth == top + 1) {
        match groups.last_mut() {
            Some(group) if group.first().is_some_and(|first| first.function == reason.function) => group.push(reason),
            _ => groups.push(vec![reason]),
        }
    }
    let wanted = Some(path != Some(Path::Blas));
    let fits = |group: &&Vec<&Reason>| group.len() > 1 && group.last().is_some_and(|last| last.truth() == wanted);
    let mut chosen: Vec<&Reason> = Vec::new();
    if let Some(group) = groups.iter().rev().find(fits)
        && let Some((last, before)) = group.split_last()
    {
        chosen.extend(before.iter().rev().find(|reason| reason.truth() == Some(true)));
        chosen.push(last);
    }
    let branches: Vec<&Reason> = reasons.iter().filter(|reason| reason.depth == top).collect();
    chosen.extend(branches.iter().rev().find(|reason| reason.truth() == Some(true)).or(branches.last()));
    let rule = |reason: &&Reason| Rule {
        file: reason.file.clone(),
        line: reason.line,
        condition: reason.condition.clone(),
        outcome: reason.outcome_word().to_owned(),
        // Columns, type and cc are inputs of the question. They are dropped, so that a rule is the same for all cells
        // that it decides.
        values: reason.values.iter().filter(|(name, _)| !is_question(name)).cloned().collect(),
    };
    chosen.iter().map(rule).collect()
}

/// Whether a name in a condition is an input of the question.
pub fn is_question(name: &str) -> bool {
    ["ne11", "ne[1]", "type", "ncols"].iter().any(|part| name.contains(part)) || name == "cc"
}
