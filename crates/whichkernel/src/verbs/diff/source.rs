//! Two source trees: for which GPUs, types and columns the choice differs, and the conditions that made it so.

use crate::context::{CHECK_FAILED, Context, Format};
use crate::verbs::source::rules::{Ask, Operation, line, notes};
use clap::ValueEnum;
use evidence::{Basis, Conclusion, LeftOutWhy, Rung, Unit};
use report::{Column, Table, conclusion_text};
use serde_json::{Value, json};
use source::comparison::{Comparison, Difference, Side, compare as cells};
use source::decision_diff::decision_diff;
use source::{ALL_GPUS, ALL_TYPES, Outcome, Question, Reason, Survey, Tree};
use std::fmt::Write;
use std::process::ExitCode;

pub fn compare(
    a: &Tree,
    b: &Tree,
    gpus: &[String],
    ask: &Ask,
    format: Format,
    context: &Context,
) -> anyhow::Result<ExitCode> {
    // What is not narrowed down is asked about in full: a change for one card is a change.
    let all: Vec<String> = ALL_GPUS.iter().map(|gpu| (*gpu).to_owned()).collect();
    let mut question = ask.question(if gpus.is_empty() { &all } else { gpus })?;
    if ask.types.is_empty() && matches!(ask.op, Operation::MulMat | Operation::MulMatId | Operation::GetRows) {
        question.types = ALL_TYPES.iter().map(|ty| (*ty).to_owned()).collect();
    }
    let overrides = ask.overrides()?;
    let mut left = Survey::run(a, question.clone(), &overrides)?;
    let mut right = Survey::run(b, question, &overrides)?;
    let found = cells(&left, &right);
    let conclusion = conclude(&found, &left.question, ask);
    if format != Format::Json {
        for (tree, survey) in [(a, &left), (b, &right)] {
            for note in notes(survey, context) {
                crate::context::tell(format_args!("{}: {note}", tree.label));
            }
            crate::verbs::source::tell_skipped(&tree.skipped, context);
        }
    }
    let text = match format {
        Format::Json => format!("{:#}\n", json([a, b], &found, &conclusion, &mut left, &mut right)?),
        Format::Csv => table(&found.differences, &left, context).csv(),
        Format::Md => markdown([a, b], &found, &conclusion, &mut left, &mut right, context)?,
        Format::Text => text(&found, &conclusion, &mut left, &mut right, context)?,
    };
    context.print(&text)?;
    // "The same" holds only where something was compared.
    let same = found.different == 0 && found.answered > 0;
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

/// What may be said: of so many cells, without those that a side leaves open, and without what nobody asked about.
pub fn conclude(found: &Comparison, question: &Question, ask: &Ask) -> Conclusion {
    let settled = found.answered + found.half;
    let mut basis = Basis::new(Rung::Declared, Unit::Cells, settled, settled).by("source");
    if found.undetermined > 0 {
        basis = basis.without("UNDETERMINED", Some(found.undetermined), LeftOutWhy::Undetermined);
    }
    let operations = Operation::value_variants().iter().filter(|op| **op != ask.op);
    let operations: Vec<String> =
        operations.filter_map(|op| Some(op.to_possible_value()?.get_name().to_owned())).collect();
    basis = basis.without(operations.join(", "), None, LeftOutWhy::NotAsked);
    let counts = &question.columns;
    let (least, most) = (counts.iter().min().unwrap_or(&0), counts.iter().max().unwrap_or(&0));
    if counts.len() as i64 <= most - least || *least > 1 {
        basis = basis.without(format!("--columns ∉ {least}..{most} ({})", counts.len()), None, LeftOutWhy::NotAsked);
    }
    let asked = |target: &str| question.devices.iter().any(|device| device.target == target);
    let others: Vec<&str> = ALL_GPUS.iter().copied().filter(|gpu| !asked(gpu)).collect();
    if !others.is_empty() {
        basis = basis.without(others.join(", "), None, LeftOutWhy::NotAsked);
    }
    let types: Vec<&str> =
        ALL_TYPES.iter().copied().filter(|ty| !question.types.iter().any(|asked| asked == ty)).collect();
    if !types.is_empty() {
        basis = basis.without(types.join(", "), None, LeftOutWhy::NotAsked);
    }
    basis.equality(found.different)
}

pub fn range(found: &Difference) -> String {
    if found.from == found.to { found.from.to_string() } else { format!("{}-{}", found.from, found.to) }
}

/// Path and tile; the whole instance where these are the same on both sides.
pub fn sides(found: &Difference) -> [String; 2] {
    let (a, b) = (found.left.brief(), found.right.brief());
    if a != b {
        return [a, b];
    }
    [&found.left, &found.right].map(|side| side.instance().unwrap_or_else(|| side.brief()))
}

fn names<'s>(found: &Difference, survey: &'s Survey<'_>) -> (&'s str, &'s str) {
    let device = survey.question.devices.get(found.device).map_or("", |device| device.target.as_str());
    (device, survey.question.types.get(found.ty).map_or("", String::as_str))
}

fn table(found: &[Difference], survey: &Survey<'_>, context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("target", title("source-column-gpu")),
        Column::left("type", title("source-column-type")),
        Column::left("columns", title("source-column-columns")),
        Column::left("a", "A"),
        Column::left("b", "B"),
    ]);
    for difference in found {
        let (device, ty) = names(difference, survey);
        let [a, b] = sides(difference);
        table.row([device.to_owned(), ty.to_owned(), range(difference), a, b]);
    }
    table
}

/// Where the two ways part, one line for either side; with the reasons where it was a decision.
#[derive(Clone, Default)]
pub struct Cause {
    file: String,
    at: usize,
    pub line: String,
    reason: Option<Reason>,
}

pub fn causes(found: &Difference, left: &mut Survey<'_>, right: &mut Survey<'_>) -> anyhow::Result<[Cause; 2]> {
    let a = left.reasons(found.device, found.ty, found.from)?;
    let b = right.reasons(found.device, found.ty, found.from)?;
    let path = |side: &Side| match &side.outcome {
        Outcome::Chosen(choice) => choice.path.name(),
        Outcome::Undetermined { .. } => "UNDETERMINED",
    };
    let paths = [path(&found.left), path(&found.right)];
    let diff = decision_diff(&a, &b, paths);
    let decided = |reason: Option<&Reason>| {
        reason.map_or_else(Cause::default, |reason| Cause {
            file: reason.file.clone(),
            at: reason.line,
            line: line(reason),
            reason: Some(reason.clone()),
        })
    };
    // The same path by the same decisions: what differs is the instance, chosen on the way to the launch.
    if !diff.turned && paths[0] == paths[1] {
        let of = |side: &Side| {
            side.launch.as_ref().map_or_else(Cause::default, |launch| Cause {
                file: launch.file.clone(),
                at: launch.line,
                line: format!("{}:{}: {} ({})", launch.file, launch.line, launch.full(), launch.stack.join(" > ")),
                reason: None,
            })
        };
        return Ok([of(&found.left), of(&found.right)]);
    }
    Ok([decided(diff.a), decided(diff.b)])
}

/// Differences with one cause, told together; beyond this many causes the rest is left to `--format json`.
const CAUSES: usize = 40;
/// Of the answers that one cause changed, those named.
const NAMED: usize = 4;
/// Rows of a table that a person reads.
const ROWS: usize = 60;

/// Differences by what made them, and what either side says of it.
type Causes<'d> = Vec<([Cause; 2], Vec<&'d Difference>)>;

fn by_cause<'d>(found: &'d [Difference], left: &mut Survey<'_>, right: &mut Survey<'_>) -> anyhow::Result<Causes<'d>> {
    let mut all: Causes<'d> = Vec::new();
    for difference in found {
        let [a, b] = causes(difference, left, right)?;
        let same = |x: &Cause, y: &Cause| x.file == y.file && x.at == y.at;
        match all.iter_mut().find(|([x, y], _)| same(x, &a) && same(y, &b)) {
            Some((_, list)) => list.push(difference),
            None => all.push(([a, b], vec![difference])),
        }
    }
    Ok(all)
}

fn text(
    found: &Comparison,
    conclusion: &Conclusion,
    left: &mut Survey<'_>,
    right: &mut Survey<'_>,
    context: &Context,
) -> anyhow::Result<String> {
    let mut out = format!("{}\n", conclusion_text(&context.lang, conclusion));
    if found.differences.is_empty() {
        return Ok(out);
    }
    let shown = found.differences.get(..ROWS).unwrap_or(&found.differences);
    let _ = write!(out, "\n{}", table(shown, left, context).text(context.width));
    if found.differences.len() > shown.len() {
        let count = found.differences.len() - shown.len();
        let _ = writeln!(out, "{}", context.lang.text_with("diff-source-more", &[("count", count.into())]).trim());
    }
    let all = by_cause(&found.differences, left, right)?;
    let _ = write!(out, "\n{}\n", context.lang.text("diff-source-lines"));
    for (sides, list) in all.iter().take(CAUSES) {
        let _ = writeln!(out, "{}", named(list, left, context));
        for (side, cause) in ["A", "B"].iter().zip(sides).filter(|(_, cause)| !cause.line.is_empty()) {
            let _ = writeln!(out, "  {side} {}", cause.line);
        }
        out.push('\n');
    }
    if all.len() > CAUSES {
        let count = all.len() - CAUSES;
        let _ = writeln!(out, "{}", context.lang.text_with("diff-source-causes", &[("count", count.into())]));
    }
    Ok(out)
}

/// The first few that one cause changed, and how many more.
fn named(list: &[&Difference], survey: &Survey<'_>, context: &Context) -> String {
    let named: Vec<String> = list.iter().take(NAMED).map(|found| question(found, survey)).collect();
    let more = list.len().saturating_sub(NAMED);
    let more =
        if more > 0 { context.lang.text_with("diff-source-more", &[("count", more.into())]) } else { String::new() };
    format!("{}{more}", named.join("; "))
}

/// `gfx942 Q4_K 64-512: MMQ 64 -> BLAS`.
fn question(found: &Difference, survey: &Survey<'_>) -> String {
    let (device, ty) = names(found, survey);
    let [a, b] = sides(found);
    format!("{device} {ty} {}: {a} -> {b}", range(found))
}

/// Made to be a comment on a pull request: the sentence, the causes with permalinks, and the table folded away.
fn markdown(
    trees: [&Tree; 2],
    found: &Comparison,
    conclusion: &Conclusion,
    left: &mut Survey<'_>,
    right: &mut Survey<'_>,
    context: &Context,
) -> anyhow::Result<String> {
    let mut out = format!("{}\n", conclusion_text(&context.lang, conclusion));
    if found.differences.is_empty() {
        return Ok(out);
    }
    let _ = write!(out, "\n{}\n\n", context.lang.text("diff-source-lines"));
    let all = by_cause(&found.differences, left, right)?;
    for (sides, list) in all.iter().take(CAUSES) {
        let _ = writeln!(out, "- {}", named(list, left, context).replace('<', "\\<"));
        for ((side, tree), cause) in ["A", "B"].iter().zip(trees).zip(sides).filter(|(_, cause)| !cause.line.is_empty())
        {
            let rest = cause.line.split_once(": ").map_or("", |(_, rest)| rest);
            let _ = writeln!(out, "  - {side} {} `{rest}`", permalink(tree, cause));
        }
    }
    if all.len() > CAUSES {
        let count = all.len() - CAUSES;
        let _ = writeln!(out, "\n{}", context.lang.text_with("diff-source-causes", &[("count", count.into())]));
    }
    let rows = found.differences.len();
    let _ = write!(
        out,
        "\n<details><summary>{rows}</summary>\n\n{}\n</details>\n",
        table(&found.differences, left, context).markdown()
    );
    Ok(out)
}

/// A link to the line at its commit where the repository's address is known: from `GITHUB_REPOSITORY` in a workflow.
fn permalink(tree: &Tree, cause: &Cause) -> String {
    let place = format!("{}:{}", cause.file, cause.at);
    let (Some(commit), Ok(repository)) = (&tree.commit, std::env::var("GITHUB_REPOSITORY")) else {
        return format!("`{place}`");
    };
    let server = std::env::var("GITHUB_SERVER_URL").unwrap_or_else(|_| "https://github.com".to_owned());
    format!("[{place}]({server}/{repository}/blob/{commit}/{}#L{})", cause.file, cause.at)
}

fn json(
    trees: [&Tree; 2],
    found: &Comparison,
    conclusion: &Conclusion,
    left: &mut Survey<'_>,
    right: &mut Survey<'_>,
) -> anyhow::Result<Value> {
    let mut list = Vec::new();
    for difference in &found.differences {
        let [a, b] = causes(difference, left, right)?;
        let told = |cause: Cause, side: &Side| {
            let line = match cause.reason {
                Some(reason) => crate::verbs::source::rules::reason(&reason),
                None => json!({"file": cause.file, "line": cause.at, "launch": cause.line}),
            };
            (json!({"path": side.brief(), "kernel": side.instance()}), line)
        };
        let ((a, line_a), (b, line_b)) = (told(a, &difference.left), told(b, &difference.right));
        let (target, ty) = names(difference, left);
        list.push(json!({
            "target": target, "type": ty, "from": difference.from, "to": difference.to, "cells": difference.cells,
            "a": a, "b": b, "lines": {"a": line_a, "b": line_b},
        }));
    }
    let [a, b] = trees;
    Ok(json!({
        "schema": "whichkernel.diff/2", "kind": "source", "a": a.identity(), "b": b.identity(),
        "conclusion": conclusion, "differences": list,
    }))
}
