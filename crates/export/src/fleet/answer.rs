//! The answer about a fleet: rows of the queries with types, and the conclusion.

use super::engine::ResultRow;
use super::query::{Query, Question};
use crate::files::Inventory;
use evidence::{Basis, Conclusion, LeftOutWhy, Rung, Unit};
use say::say;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What changed in a fleet, and what is not known.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FleetAnswer {
    pub lake: PathBuf,
    /// The engine that ran the queries.
    pub engine: String,
    /// Compared are the last observations earlier than this date (UTC) ...
    pub before: String,
    /// ... and the last ones from this date on.
    pub after: String,
    /// Whether the path of a machine changed, for how many machines it is known, and why not for the others.
    pub conclusion: Conclusion,
    /// Every card, model, type and column count whose paths differ.
    pub changes: Vec<PathChange>,
    /// For alerts: where the last observation shows the fallback (BLAS), also if it did before; null for a diff.
    pub fallback: Option<Vec<Fallback>>,
    /// For a diff: files, runtimes, drivers and settings that changed; null for alerts.
    pub software: Option<Vec<SoftwareChange>>,
    pub machines: Vec<MachineState>,
    /// Files that the manifests name and that are missing.
    pub missing_files: Vec<PathBuf>,
    /// Files that no readable manifest names. The queries read them too.
    pub unlisted_files: Vec<PathBuf>,
    /// Manifests that cannot be read.
    pub unread_manifests: Vec<PathBuf>,
}

impl answer::Answer for FleetAnswer {
    const SCHEMA: &'static str = "whichkernel.fleet/1";
}

/// Paths of one card, model, type and column count that differ between the two observations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathChange {
    pub machine: String,
    pub host: String,
    pub card: String,
    pub model: String,
    pub topic: String,
    #[serde(rename = "type")]
    pub ty: String,
    pub columns: String,
    pub phase: String,
    /// Paths that only the earlier observation has.
    pub gone: Vec<String>,
    /// Paths that only the later observation has.
    pub appeared: Vec<String>,
    /// The first observation of an appeared path after the earlier observation; empty if no path appeared.
    pub since: String,
    pub seen_before: String,
    pub seen_after: String,
    pub upgrade: Upgrade,
}

/// The program at the two observations. Names and hashes are empty if they were not recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Upgrade {
    pub runtime_before: String,
    pub runtime_after: String,
    pub file_before: String,
    pub file_after: String,
    /// Whether another runtime or file was recorded. False does not exclude a change of the driver.
    pub changed: bool,
}

/// A card, model, type and column count whose last observation shows the fallback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fallback {
    pub machine: String,
    pub host: String,
    pub card: String,
    pub model: String,
    #[serde(rename = "type")]
    pub ty: String,
    pub columns: String,
    pub phase: String,
    pub since: String,
    pub last_seen: String,
    /// The last observation without the fallback. If it is empty, the fallback may be older than `since`.
    pub last_other: String,
    pub upgrade: Upgrade,
}

/// A value that a machine did not have before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SoftwareChange {
    pub machine: String,
    pub host: String,
    pub what: String,
    pub before: String,
    pub after: String,
    pub first_seen: String,
}

/// What can be said about a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MachineState {
    pub machine: String,
    pub host: String,
    pub last_record: String,
    pub state: State,
    /// Whether other machines have exported the same ledger: clones, or a restored ledger.
    pub cloned: bool,
}

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum State: key and ALL {
        /// At least one path was observed on both sides.
        Compared = "compared",
        /// It has records before the first date and none from the second on. It may be off, or no longer export.
        Silent = "silent",
        /// It has records on both sides, but no path of the same card, model, type and column count.
        NotCompared = "not-compared",
        /// It has no records before the first date.
        New = "new",
        /// Its clock went back, so its dates have no order.
        Clock = "clock",
    }
}

impl FleetAnswer {
    /// The answer from the rows of its queries.
    pub fn new(
        lake: &Path,
        engine: &str,
        question: &Question,
        inventory: &Inventory,
        rows: Vec<(Query, Vec<ResultRow>)>,
    ) -> FleetAnswer {
        let mut answer = FleetAnswer {
            lake: lake.to_owned(),
            engine: engine.to_owned(),
            before: question.dates().before().to_owned(),
            after: question.dates().after().to_owned(),
            conclusion: basis(0, 0).equality(0),
            changes: Vec::new(),
            fallback: matches!(question, Question::Alerts(_)).then(Vec::new),
            software: matches!(question, Question::Diff(_)).then(Vec::new),
            machines: Vec::new(),
            missing_files: inventory.missing.clone(),
            unlisted_files: inventory.unlisted.clone(),
            unread_manifests: inventory.unread.clone(),
        };
        for (query, rows) in rows {
            answer.take(query, &rows);
        }
        answer.conclude(inventory);
        answer
    }

    fn take(&mut self, query: Query, rows: &[ResultRow]) {
        match query {
            Query::Changes => self.changes = changes(rows),
            Query::Machines => self.machines = rows.iter().map(machine).collect(),
            Query::Fallback => self.fallback = Some(rows.iter().map(fallback).collect()),
            Query::Upgrades => self.software = Some(rows.iter().map(software).collect()),
        }
    }

    pub fn in_state(&self, state: State) -> impl Iterator<Item = &MachineState> {
        self.machines.iter().filter(move |machine| machine.state == state)
    }

    /// The machines on which a path changed.
    pub fn changed(&self) -> usize {
        let machines: std::collections::BTreeSet<&str> = self.changes.iter().map(|one| one.machine.as_str()).collect();
        machines.len()
    }

    fn conclude(&mut self, inventory: &Inventory) {
        let count = |state| self.in_state(state).count() as u64;
        let (compared, new) = (count(State::Compared), count(State::New));
        let mut basis = basis(self.machines.len() as u64 - new, compared);
        let files = inventory.missing.len() + inventory.unread.len();
        if files > 0 {
            basis = basis.without(say!("fleet-gap-files", count = files), None, LeftOutWhy::Lost);
        }
        for (state, why) in [
            (State::Silent, LeftOutWhy::Untold),
            (State::NotCompared, LeftOutWhy::InPart),
            (State::Clock, LeftOutWhy::Clock),
        ] {
            if count(state) > 0 {
                basis = basis.without(say!("fleet-gap-lake"), Some(count(state)), why);
            }
        }
        self.conclusion = basis.equality(self.changed() as u64);
    }
}

fn basis(asked: u64, answered: u64) -> Basis {
    Basis::listed("lake", ["matmul.path", "vulkan.path"], Rung::Launched, Unit::Machines, asked, answered)
}

fn cell(row: &ResultRow, name: &str) -> String {
    row.get(name).cloned().unwrap_or_default()
}

fn number(row: &ResultRow, name: &str) -> u64 {
    row.get(name).and_then(|text| text.parse::<f64>().ok()).map_or(0, |number| number as u64)
}

fn upgrade(row: &ResultRow) -> Upgrade {
    let (runtime_before, runtime_after) = (cell(row, "runtime_before"), cell(row, "runtime_after"));
    let (file_before, file_after) = (cell(row, "file_before"), cell(row, "file_after"));
    let changed = runtime_before != runtime_after || file_before != file_after;
    Upgrade { runtime_before, runtime_after, file_before, file_after, changed }
}

/// One entry for each key; the query has a row for each path.
fn changes(rows: &[ResultRow]) -> Vec<PathChange> {
    let mut all: BTreeMap<[String; 7], PathChange> = BTreeMap::new();
    for row in rows {
        let key = ["machine", "gpu", "model_name", "about", "quant", "column_count", "phase_name"]
            .map(|name| cell(row, name));
        let [machine, card, model, topic, ty, columns, phase] = key.clone();
        let change = all.entry(key).or_insert_with(|| PathChange {
            machine,
            host: cell(row, "host_name"),
            card,
            model,
            topic,
            ty,
            columns,
            phase,
            gone: Vec::new(),
            appeared: Vec::new(),
            since: String::new(),
            seen_before: cell(row, "seen_before"),
            seen_after: cell(row, "seen_after"),
            upgrade: upgrade(row),
        });
        if number(row, "is_now") == 0 {
            change.gone.push(cell(row, "path_name"));
            continue;
        }
        change.appeared.push(cell(row, "path_name"));
        let since = cell(row, "since");
        if change.since.is_empty() || since < change.since {
            change.since = since;
        }
    }
    all.into_values().collect()
}

fn machine(row: &ResultRow) -> MachineState {
    let state = match (number(row, "records_before"), number(row, "records_after")) {
        _ if number(row, "clock_back") > 0 => State::Clock,
        (0, _) => State::New,
        (_, 0) => State::Silent,
        _ if number(row, "paths_compared") == 0 => State::NotCompared,
        _ => State::Compared,
    };
    MachineState {
        machine: cell(row, "machine"),
        host: cell(row, "host_name"),
        last_record: cell(row, "last_record"),
        state,
        cloned: number(row, "same_ledger") > 1,
    }
}

fn fallback(row: &ResultRow) -> Fallback {
    Fallback {
        machine: cell(row, "machine"),
        host: cell(row, "host_name"),
        card: cell(row, "gpu"),
        model: cell(row, "model_name"),
        ty: cell(row, "quant"),
        columns: cell(row, "column_count"),
        phase: cell(row, "phase_name"),
        since: cell(row, "since"),
        last_seen: cell(row, "last_seen"),
        last_other: cell(row, "last_other"),
        upgrade: upgrade(row),
    }
}

fn software(row: &ResultRow) -> SoftwareChange {
    SoftwareChange {
        machine: cell(row, "machine"),
        host: cell(row, "host_name"),
        what: cell(row, "what"),
        before: cell(row, "value_before"),
        after: cell(row, "value_after"),
        first_seen: cell(row, "first_seen"),
    }
}
