//! The text and the table of `source --graph`.

use crate::context::Context;
use crate::emit::Show;
use report::{Column, Lang, Table, conclusion_text};
use source::graph::{GraphAnswer, GraphEvaluation, dims};
use std::collections::BTreeMap;
use std::fmt::Write as _;

impl Show for GraphAnswer {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(columns(lang, true));
        self.evaluations.iter().for_each(|evaluation| rows(evaluation, lang, true, &mut table));
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let mut out = String::new();
        for evaluation in &self.evaluations {
            let mut head = vec![
                ("target", self.target.clone().into()),
                ("nodes", evaluation.nodes.into()),
                ("launches", evaluation.launches.into()),
            ];
            let key = match (evaluation.columns, evaluation.positions) {
                (Some(columns), Some(positions)) => {
                    head.extend([("columns", columns.into()), ("positions", positions.into())]);
                    "source-graph-evaluation"
                }
                _ => match &evaluation.backend {
                    Some(backend) => {
                        head.push(("backend", backend.clone().into()));
                        "source-graph-evaluation-computed"
                    }
                    None => "source-graph-evaluation-written",
                },
            };
            let _ = writeln!(out, "{}", lang.text_with(key, &head));
            let mut table = Table::new(columns(lang, false));
            rows(evaluation, lang, false, &mut table);
            out.push_str(&table.text(context.width));
            reasons(evaluation, lang, &mut out);
            let _ = writeln!(out, "{}", conclusion_text(lang, &evaluation.whole));
            compared(evaluation, lang, &mut out);
            out.push('\n');
        }
        let _ = writeln!(out, "{}", lang.text("source-cannot-show"));
        out
    }
}

fn columns(lang: &Lang, numbered: bool) -> Vec<Column> {
    let all = vec![
        Column::right("columns", lang.text("source-column-columns")),
        Column::right("node", lang.text("source-graph-column-node")),
        Column::left("name", lang.text("source-graph-column-name")),
        Column::left("operations", lang.text("source-graph-column-operations")),
        Column::left("type", lang.text("source-column-type")),
        Column::left("kernel", lang.text("source-column-kernel")),
        Column::left("grid", lang.text("source-graph-column-grid")),
        Column::left("block", lang.text("source-graph-column-block")),
    ];
    all.into_iter().skip(if numbered { 0 } else { 2 }).collect()
}

/// One row per launch; a node without a known launch has one row too.
fn rows(evaluation: &GraphEvaluation, lang: &Lang, numbered: bool, table: &mut Table) {
    for step in &evaluation.steps {
        let row = |kernel: String, grid: String, block: String| {
            let mut cells = match numbered {
                true => {
                    let columns = evaluation.columns.map_or(String::new(), |columns| columns.to_string());
                    vec![columns, step.node.to_string()]
                }
                false => Vec::new(),
            };
            let ty = step.ty.clone().unwrap_or_default();
            cells.extend([step.name.clone(), step.operations.join("+"), ty, kernel, grid, block]);
            cells
        };
        for launch in &step.launches {
            table.row(row(launch.full(), dims(launch.grid), dims(launch.block)));
        }
        // If the driver does all of the work, its calls are the answer.
        for call in step.moves.iter().filter(|_| step.launches.is_empty() && step.undetermined.is_none()) {
            table.row(row(format!("({})", call.function), String::new(), String::new()));
        }
        if let Some(why) = &step.undetermined {
            // In text, the reasons are below the table, each once.
            let why =
                if numbered { format!("UNDETERMINED: {}", why.in_words(lang)) } else { "UNDETERMINED".to_owned() };
            table.row(row(why, String::new(), String::new()));
        }
    }
}

/// Why rows are open, with their nodes.
fn reasons(evaluation: &GraphEvaluation, lang: &Lang, out: &mut String) {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for step in &evaluation.steps {
        if let Some(why) = step.undetermined.as_ref().or(step.grid_undetermined.as_ref()) {
            by_reason.entry(why.in_words(lang)).or_default().push(&step.name);
        }
    }
    for (why, names) in by_reason {
        let _ = writeln!(out, "UNDETERMINED {}: {why}", lang.list(names));
    }
}

fn compared(evaluation: &GraphEvaluation, lang: &Lang, out: &mut String) {
    const SHOWN: usize = 8;
    let (Some(compared), Some(agrees)) = (&evaluation.compared, &evaluation.agrees) else { return };
    let says = [
        ("seen", compared.seen.into()),
        ("exact", compared.exact.into()),
        ("evaluations", compared.evaluations.into()),
        ("without", compared.without_grid.into()),
        ("arguments", compared.without_arguments.into()),
        ("refused", compared.refused.into()),
        ("missing", compared.not_seen.into()),
        ("open", compared.not_predicted.len().into()),
        ("different", compared.different.len().into()),
    ];
    let _ = writeln!(out, "{}", lang.text_with("source-graph-compared", &says));
    for found in compared.different.iter().take(SHOWN) {
        let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "-".to_owned());
        let _ =
            writeln!(out, "  {}#{}: {} | {}", found.evaluation, found.at, side(&found.predicted), side(&found.seen));
    }
    for found in compared.not_predicted.iter().take(SHOWN) {
        let _ = writeln!(out, "  ? {found}");
    }
    let _ = writeln!(out, "{}", conclusion_text(lang, agrees));
}
