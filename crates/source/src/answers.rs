//! Comparisons and histories as data for programs, and the conclusions from them.

use crate::cause::Cause;
use crate::comparison::{Comparison, Difference, Side, brief};
use crate::device::ALL as ALL_GPUS;
use crate::history::{Event, History};
use crate::launch_shape::ShapeAt;
use crate::question::{ALL_TYPES, Question};
use evidence::{Basis, Conclusion, LeftOutWhy, Rung, Unit};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The output of `diff` for two source trees.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SourceDiff {
    /// Always `source`: other kinds have their own schemas.
    pub kind: &'static str,
    /// The rung, always `declared`.
    pub rung: Rung,
    /// The commit, or the user's input.
    pub a: String,
    pub b: String,
    pub conclusion: Conclusion,
    pub differences: Vec<Changed>,
}

impl answer::Answer for SourceDiff {
    const SCHEMA: &'static str = "whichkernel.diff/4";
}

/// Column counts at which the choice for one card and type differs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Changed {
    /// The operation as in `--op`: `mul-mat`.
    pub operation: String,
    pub target: String,
    pub card: Option<String>,
    #[serde(rename = "type")]
    pub ty: String,
    /// The first and the last of the requested column counts that differ.
    pub from: i64,
    pub to: i64,
    /// How many of the requested column counts are in this range.
    pub cells: u64,
    /// The parts that differ: `path`, `instance`, `grid`, `block`, `shared`. Empty where one side is undetermined.
    pub differs: Vec<&'static str>,
    pub a: Served,
    pub b: Served,
    /// The deciding lines; absent if they were not requested.
    pub lines: Option<Lines>,
}

/// The choice of one side.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Served {
    /// The path as in `source`: `MMQ`; `UNDETERMINED` if the rules do not settle it.
    pub path: String,
    /// Columns of a tile or a block, 0 if the path has none.
    pub tile: i64,
    /// The kernel with all of its template arguments; null for libraries and undetermined choices.
    pub kernel: Option<String>,
    /// The launch at the first column count; null for libraries, for undetermined choices, and with --no-shape.
    pub shape: Option<ShapeAt>,
}

impl From<&Side> for Served {
    fn from(side: &Side) -> Served {
        let (path, tile) = side.path_and_tile();
        Served { path: path.to_owned(), tile, kernel: side.instance(), shape: side.shape.clone() }
    }
}

impl Served {
    /// `MMQ 64`: for display.
    pub fn brief(&self) -> String {
        brief(&self.path, self.tile)
    }
}

/// The deciding line of each side.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Lines {
    pub a: Line,
    pub b: Line,
}

/// A deciding condition, or the launch if no condition differs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Line {
    pub file: String,
    pub line: usize,
    /// The condition as readable text.
    pub text: String,
    pub function: Option<String>,
    pub condition: Option<String>,
    pub outcome: Option<String>,
    /// The values of the names in the condition.
    pub values: BTreeMap<String, String>,
}

impl From<Cause> for Line {
    fn from(cause: Cause) -> Line {
        let Cause { file, line, text, reason } = cause;
        let (function, condition, outcome, values) = match reason {
            Some(it) => (Some(it.function), Some(it.condition), Some(it.outcome), it.values.into_iter().collect()),
            None => (None, None, None, BTreeMap::new()),
        };
        Line { file, line, text, function, condition, outcome, values }
    }
}

impl Changed {
    pub fn new(found: &Difference, question: &Question, operation: &str, causes: Option<[Cause; 2]>) -> Changed {
        let device = question.devices.get(found.device);
        Changed {
            operation: operation.to_owned(),
            target: device.map_or_else(String::new, |device| device.target.clone()),
            card: device.and_then(|device| device.card.clone()),
            ty: question.types.get(found.ty).cloned().unwrap_or_default(),
            from: found.from,
            to: found.to,
            cells: found.cells,
            differs: found.differs.names(),
            a: (&found.left).into(),
            b: (&found.right).into(),
            lines: causes.map(|[a, b]| Lines { a: a.into(), b: b.into() }),
        }
    }
}

/// The output of `history`: every commit at which a choice changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HistoryAnswer {
    /// The rung, always `declared`.
    pub rung: Rung,
    pub first: String,
    pub last: String,
    /// The number of commits: both ends, and those between them that touch the backend.
    pub commits: usize,
    /// How many of these commits had to be evaluated. In the others, no source of the answer changed.
    pub evaluated: usize,
    /// Commits without a readable dispatcher: the commit and the reason.
    pub unreadable: Vec<(String, String)>,
    pub events: Vec<EventAnswer>,
    /// Whether anything changed between the ends. Commits that could not be evaluated are excluded.
    pub changed: Conclusion,
    /// The comparison of the two ends; unknown if one of them could not be evaluated.
    pub ends: Conclusion,
    /// The last Ollama release whose pin is known.
    pub ollama_until: Option<String>,
}

impl answer::Answer for HistoryAnswer {
    const SCHEMA: &'static str = "whichkernel.history/3";
}

/// One commit at which an answer changed: `a` is before, `b` after.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventAnswer {
    pub commit: String,
    /// The previous examined commit.
    pub before: String,
    /// Commits between the two that could not be evaluated: one of them may have made the change.
    pub unread: Vec<String>,
    pub date: String,
    /// The first release that contains the commit.
    pub tag: Option<String>,
    pub subject: String,
    /// The first Ollama release whose llama.cpp contains it, according to its pin; null if no known release does.
    pub ollama: Option<OllamaRelease>,
    /// The lines that decided the first change.
    pub lines: Option<Lines>,
    pub changes: Vec<Changed>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct OllamaRelease {
    pub release: String,
    pub date: String,
    /// The llama.cpp build that the release contains.
    pub build: String,
}

impl EventAnswer {
    pub fn new(
        event: &Event,
        (question, operation): (&Question, &str),
        causes: Option<[Cause; 2]>,
        pins: &[crate::pins::Pin],
    ) -> EventAnswer {
        let pin = event.tag.as_deref().and_then(|tag| crate::pins::first_with(pins, tag));
        EventAnswer {
            commit: event.commit.id.clone(),
            before: event.before.clone(),
            unread: event.unread.clone(),
            date: event.commit.date.clone(),
            tag: event.tag.clone(),
            subject: event.commit.subject.clone(),
            ollama: pin.map(|pin| OllamaRelease {
                release: pin.release.clone(),
                date: pin.date.clone(),
                build: pin.build.clone(),
            }),
            lines: causes.map(|[a, b]| Lines { a: a.into(), b: b.into() }),
            changes: event
                .comparison
                .differences
                .iter()
                .map(|found| Changed::new(found, question, operation, None))
                .collect(),
        }
    }
}

impl HistoryAnswer {
    pub fn new(
        found: &History,
        events: Vec<EventAnswer>,
        ends: Conclusion,
        pins: &[crate::pins::Pin],
    ) -> HistoryAnswer {
        HistoryAnswer {
            rung: Rung::Declared,
            first: found.first.id.clone(),
            last: found.last.id.clone(),
            commits: found.commits,
            evaluated: found.evaluated,
            unreadable: found.unreadable.clone(),
            events,
            changed: found.changed(),
            ends,
            ollama_until: pins.last().map(|pin| pin.release.clone()),
        }
    }
}

/// An operation by name, the question about it, and the results of both sides.
#[derive(Debug)]
pub struct Compared<'a> {
    pub operation: &'a str,
    pub question: &'a Question,
    pub found: &'a Comparison,
}

/// The conclusion over all cells, except those that a side leaves open and those that were not requested. `of`: the two
/// sides. `unread`: operations without readable rules on one side, or commits without any, with the reason.
pub fn conclude(of: [&str; 2], all: &[Compared<'_>], unread: &[(String, String)], not_asked: &[String]) -> Conclusion {
    let sum = |count: fn(&Comparison) -> u64| all.iter().map(|one| count(one.found)).sum::<u64>();
    let (asked, answered) = (sum(|found| found.asked), sum(|found| found.answered));
    let mut basis = Basis::listed("source", of, Rung::Declared, Unit::Cells, asked, answered);
    for device in all.iter().flat_map(|one| &one.question.devices) {
        basis = basis.of(&device.target);
    }
    for (what, why) in unread {
        basis = basis.without(format!("{what}: {why}"), None, LeftOutWhy::Unreadable);
    }
    // Includes cells that only one side settles: their result on the other side is unknown.
    let undetermined = sum(|found| found.undetermined + found.half);
    if undetermined > 0 {
        basis = basis.without("UNDETERMINED", Some(undetermined), LeftOutWhy::Undetermined);
    }
    let in_part = sum(|found| found.in_part);
    if in_part > 0 {
        let unknown: BTreeSet<&str> = all.iter().flat_map(|one| &one.found.unknown).map(String::as_str).collect();
        let unknown = unknown.into_iter().collect::<Vec<_>>().join(", ");
        basis = basis.without(format!("template <{unknown}>"), Some(in_part), LeftOutWhy::Undetermined);
    }
    let shapes = sum(|found| found.shape_in_part);
    if shapes > 0 {
        let unknown: BTreeSet<&str> =
            all.iter().flat_map(|one| &one.found.unknown_shapes).filter_map(|why| why.split(':').next()).collect();
        let unknown = unknown.into_iter().collect::<Vec<_>>().join(", ");
        basis = basis.without(format!("launch shape <{unknown}>"), Some(shapes), LeftOutWhy::Undetermined);
    }
    let accounted = answered + undetermined + in_part + shapes;
    if accounted < asked {
        basis = basis.without("--columns", Some(asked - accounted), LeftOutWhy::Undetermined);
    }
    if !not_asked.is_empty() {
        basis = basis.without(not_asked.join(", "), None, LeftOutWhy::NotAsked);
    }
    if let Some(Compared { question, .. }) = all.first() {
        let counts = &question.columns;
        let (least, most) = (counts.iter().min().unwrap_or(&0), counts.iter().max().unwrap_or(&0));
        if counts.len() as i64 <= most - least || *least > 1 {
            let text = format!("--columns ∉ {least}..{most} ({})", counts.len());
            basis = basis.without(text, None, LeftOutWhy::NotAsked);
        }
        let asked = |target: &str| question.devices.iter().any(|device| device.target == target);
        let others: Vec<&str> = ALL_GPUS.iter().copied().filter(|gpu| !asked(gpu)).collect();
        if !others.is_empty() {
            basis = basis.without(others.join(", "), None, LeftOutWhy::NotAsked);
        }
    }
    for Compared { operation, question, .. } in all {
        let types: Vec<&str> =
            ALL_TYPES.iter().copied().filter(|ty| !question.types.iter().any(|asked| asked == ty)).collect();
        if !types.is_empty() {
            // With a single operation, the types need no prefix.
            let of = if all.len() > 1 { format!("{operation}: ") } else { String::new() };
            basis = basis.without(format!("{of}{}", types.join(", ")), None, LeftOutWhy::NotAsked);
        }
    }
    basis.equality(sum(|found| found.different))
}
