//! The answer for programs and documents: JSON, and the counterfactuals as a table.

use super::ask::{OTHERS, Question};
use crate::context::Context;
use report::{Column, Table};
use serde_json::{Value, json};
use source::table::{self, Found, Table as Decisions};
use source::versions::Known;

/// The counterfactuals: other column counts, other cards, other versions.
fn otherwise<'t>(question: &Question, table: &'t Decisions) -> Vec<(&'static str, String, Found<'t>)> {
    let (target, ty, at) = (question.device.target.as_str(), question.main_type(), question.at());
    let mut out = Vec::new();
    for columns in [1, 8, 9, 64, 256, 257, 512].into_iter().filter(|columns| *columns != at) {
        if let Some(found) = table.look_up(target, ty, columns) {
            out.push(("columns", columns.to_string(), found));
        }
    }
    for other in OTHERS.iter().filter(|other| **other != target) {
        if let Some(found) = table.look_up(other, ty, at) {
            out.push(("gpu", (*other).to_owned(), found));
        }
    }
    for other in table::all().iter().filter(|other| other.version != table.version) {
        if let Some(found) = other.look_up(target, ty, at) {
            let date = if other.date.is_empty() { String::new() } else { format!(" ({})", other.date) };
            out.push(("version", format!("{} {}{date}", other.source, other.version), found));
        }
    }
    out
}

pub fn others(question: &Question, context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut out = Table::new(vec![
        Column::left("what", title("explain-column-what")),
        Column::left("instead", title("explain-column-instead")),
        Column::left("path", title("source-column-path")),
        Column::right("tile", title("source-column-variant")),
    ]);
    for table in question.tables().into_iter().rev().take(1) {
        for (what, instead, found) in otherwise(question, table) {
            let tile = found.tile.map_or(String::new(), |tile| tile.to_string());
            out.row([title(&format!("explain-what-{what}")), instead, found.path.to_owned(), tile]);
        }
    }
    out
}

pub fn json(question: &Question) -> anyhow::Result<Value> {
    let found = question.found();
    let Some((table, answer)) = found.last() else { anyhow::bail!("no table has an answer") };
    let cc = table.targets.get(&question.device.target).and_then(|target| target.cc);
    let others: Vec<Value> = otherwise(question, table)
        .into_iter()
        .map(|(what, instead, found)| json!({"what": what, "instead": instead, "path": found.path, "tile": found.tile}))
        .collect();
    let stretches: Vec<Value> = table
        .stretches(&question.device.target, question.main_type())
        .into_iter()
        .map(|(from, to, path)| json!({"from": from, "to": to, "path": path}))
        .collect();
    let neighbours: Vec<Value> = found
        .iter()
        .map(|(table, found)| json!({"version": table.version, "path": found.path, "tile": found.tile}))
        .collect();
    let asked = match &question.known {
        Known::Exact(_) => None,
        Known::Between { what, .. } => Some(what),
    };
    Ok(json!({
        "schema": "whichkernel.explain/1", "rung": "declared", "conclusion": question.conclusion(),
        "target": question.device.target, "gpu": question.device.target, "card": question.device.card,
        "type": question.main_type(), "asked_type": question.named, "types": question.types,
        "columns": question.columns, "path": answer.path, "tile": answer.tile, "from": answer.from, "to": answer.to,
        "by_columns": stretches, "rule": answer.rule, "cc": cc.map(|cc| format!("{cc:#x}")),
        "source": table.source, "version": table.version, "commit": table.commit,
        "asked_version": asked, "neighbours": neighbours, "presets": table.presets, "otherwise": others,
    }))
}
