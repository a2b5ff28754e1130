//! Declared: the results of a release's rules, from the embedded decision tables. This needs no source tree, device or
//! network, so `investigate` always has it.

use crate::observer::{Blocked, Content, ObserveContext, Observer, Raw, Sighting};
use evidence::{
    About, Coverage, Declared, Fact, FieldOfView, Finding, Observation, ObserverId, Refused, Rung, Subject, View,
};
use say::{Say, key, say};
use source::decision_table::{COLUMNS, DecisionTable};
use std::collections::{BTreeMap, BTreeSet};

/// The observer of the embedded tables.
#[derive(Debug, Clone, Copy)]
pub struct DeclaredRules;

const NAME: &str = "source";
pub(crate) const TOPICS: [&str; 4] = ["matmul.path", "matmul.tile", "matmul.depends", "matmul.order"];

impl Observer for DeclaredRules {
    fn name(&self) -> &'static str {
        NAME
    }

    fn field_of_view(&self) -> Vec<(Rung, FieldOfView)> {
        let views = TOPICS.map(View::new).to_vec();
        let reach = say!("view-source", columns = COLUMNS);
        vec![(Rung::Declared, FieldOfView::new(views).reach(reach).blind(key!("view-source-blind")))]
    }

    /// Uses the releases that the investigation names; all of them if it names no known one.
    fn observe(&self, around: &ObserveContext, _progress: &mut dyn FnMut(&str)) -> Result<Vec<Sighting>, Blocked> {
        let named = |table: &&DecisionTable| {
            let commit = around.scope.commit.as_deref().is_some_and(|commit| table.commit.starts_with(commit));
            commit || around.scope.source.as_deref() == Some(table.source.as_str())
        };
        let mut tables: Vec<&DecisionTable> = source::decision_table::all().iter().filter(named).collect();
        if tables.is_empty() {
            tables = source::decision_table::all().iter().collect();
        }
        let mut sightings = Vec::new();
        for table in tables {
            // A table has thousands of rows; only the requested ones are taken.
            let observed = asked(table, &self.id(), &around.time, &around.asked).map_err(|error| Blocked {
                why: error.message(),
                fix: "report this: a built-in table is wrong".to_owned(),
            })?;
            // The whole table is attached as raw evidence: the rules with file, line and values, and all other types.
            let raw = Raw { kind: "application/json".to_owned(), content: Content::Bytes(whole(table)) };
            sightings.extend(observed.into_iter().map(|seen| Sighting::from(seen).with(raw.clone())));
        }
        Ok(sightings)
    }
}

/// The embedded table together with its release.
fn whole(table: &DecisionTable) -> Vec<u8> {
    serde_json::to_vec(table).unwrap_or_default()
}

/// A table's rules as observations, one subject per target.
pub fn observations(table: &DecisionTable, id: &ObserverId, time: &str) -> Result<Vec<Observation>, Refused> {
    asked(table, id, time, &[])
}

/// The requested observations; all if nothing was requested.
fn asked(table: &DecisionTable, id: &ObserverId, time: &str, asked: &[View]) -> Result<Vec<Observation>, Refused> {
    // The requests for each topic, looked up once: a view may name several topics by a pattern.
    let any = |topic: &str| Fact::new(topic, About::default(), "");
    let of = |topic: &'static str| {
        let views = asked.iter().filter(|view| View::new(&view.topic).shows(&any(topic)));
        (topic, views.collect::<Vec<&View>>())
    };
    let by_topic: BTreeMap<&str, Vec<&View>> = TOPICS.map(of).into();
    let wanted = |topic: &str| asked.is_empty() || by_topic.get(topic).is_some_and(|views| !views.is_empty());
    let shown = |fact: &Fact| {
        let views = by_topic.get(fact.topic.as_str()).into_iter().flatten();
        asked.is_empty() || views.into_iter().any(|view| view.shows(fact))
    };
    let mut out = Vec::new();
    for (target, rules) in &table.targets {
        let vendor = if target.starts_with("gfx") { "HIP" } else { "CUDA" };
        let defines: BTreeSet<String> = table
            .presets
            .iter()
            .filter(|build| build.vendor == vendor)
            .flat_map(|build| build.defines.clone())
            .collect();
        let mut subject = Subject::source(&table.source, &table.commit, defines);
        subject.target = Some(target.clone());
        let mut facts = Vec::new();
        for (ty, plan) in &rules.types {
            let mut from = 1;
            for entry in table.plans.get(*plan).into_iter().flatten() {
                let to = entry.to.unwrap_or(COLUMNS);
                if let Some(path) = entry.chosen() {
                    let about = |from: i64, to: i64| About::new([("type", ty.clone()), ("columns", span(from, to))]);
                    facts.push(Fact::new("matmul.path", about(from, to), path.name()));
                    let mut start = from;
                    let tiles = entry.tiles.filter(|_| wanted("matmul.tile"));
                    for (end, tile) in tiles.and_then(|tiles| table.tiles.get(tiles)).into_iter().flatten() {
                        facts.push(Fact::new("matmul.tile", about(start, *end), *tile));
                        start = end + 1;
                    }
                }
                from = to + 1;
            }
            if wanted("matmul.depends") {
                let depends = depends(table, target, ty);
                facts.push(Fact::new("matmul.depends", About::new([("type", ty.as_str())]), depends));
            }
        }
        facts.push(Fact::new(
            "matmul.order",
            About::new([("function", table.function.as_str())]),
            table.order.join(" "),
        ));
        for fact in facts.into_iter().filter(shown) {
            let coverage = Coverage::listed("column counts", COLUMNS.unsigned_abs());
            out.push(Observation::on::<Declared>(
                id.clone(),
                subject.clone(),
                Finding::Saw(fact),
                coverage,
                time.to_owned(),
            )?);
        }
    }
    Ok(out)
}

fn span(from: i64, to: i64) -> String {
    if from == to { from.to_string() } else { format!("{from}..{to}") }
}

/// The inputs that change the path of a type, as far as a table shows them: columns, the target, the type itself.
fn depends(table: &DecisionTable, target: &str, ty: &str) -> Vec<String> {
    let paths = |target: &str, ty: &str| -> Option<Vec<(Option<i64>, &str)>> {
        let plan = table.plans.get(*table.targets.get(target)?.types.get(ty)?)?;
        Some(plan.iter().map(|entry| (entry.to, entry.path.as_str())).collect())
    };
    let own = paths(target, ty);
    let mut out = Vec::new();
    if own.as_ref().is_some_and(|own| own.len() > 1) {
        out.push("columns".to_owned());
    }
    if table.targets.keys().any(|other| paths(other, ty) != own) {
        out.push("target".to_owned());
    }
    let types: BTreeMap<&String, _> =
        table.targets.get(target).into_iter().flat_map(|rules| rules.types.keys().map(|ty| (ty, ()))).collect();
    if types.keys().any(|other| paths(target, other) != own) {
        out.push("type".to_owned());
    }
    out
}
