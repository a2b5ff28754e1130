//! Two source trees: for which GPUs, types and columns the choice differs, and the conditions that made it so.

use crate::context::{CHECK_FAILED, Context, Format};
use crate::verbs::source::rules::{Ask, line, notes};
use report::{Column, Table};
use serde_json::{Value, json};
use source::decision_diff::decision_diff;
use source::ranges::{Difference, differences};
use source::{Outcome, Reason, Survey, Tree};
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
    let question = ask.question(gpus)?;
    let overrides = ask.overrides()?;
    let mut left = Survey::run(a, question.clone(), &overrides)?;
    let mut right = Survey::run(b, question, &overrides)?;
    let found = differences(&left, &right);
    if format != Format::Json {
        for (tree, survey) in [(a, &left), (b, &right)] {
            for note in notes(survey, context) {
                eprintln!("{}: {note}", tree.label);
            }
            crate::verbs::source::tell_skipped(&tree.skipped, context);
        }
    }
    let text = match format {
        Format::Json => format!("{:#}\n", json(a, b, &found, &mut left, &mut right)?),
        Format::Csv => table(&found, &left, context).csv(),
        Format::Md => table(&found, &left, context).markdown(),
        Format::Text => text(&found, &mut left, &mut right, context)?,
    };
    context.print(&text)?;
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

fn range(found: &Difference) -> String {
    if found.from == found.to { found.from.to_string() } else { format!("{}-{}", found.from, found.to) }
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Chosen(choice) if choice.variant > 0 => format!("{} {}", choice.path, choice.variant),
        Outcome::Chosen(choice) => choice.path.to_string(),
        Outcome::Undetermined { .. } => "UNDETERMINED".to_owned(),
    }
}

fn table(found: &[Difference], survey: &Survey<'_>, context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("arch", title("source-column-gpu")),
        Column::left("type", title("source-column-type")),
        Column::left("columns", title("source-column-columns")),
        Column::left("a", "A"),
        Column::left("b", "B"),
    ]);
    for difference in found {
        let device = survey.question.devices.get(difference.device).map_or("", |device| device.target.as_str());
        let ty = survey.question.types.get(difference.ty).map_or("", String::as_str);
        table.row([
            device.to_owned(),
            ty.to_owned(),
            range(difference),
            outcome(&difference.left),
            outcome(&difference.right),
        ]);
    }
    table
}

/// Where the two ways part, one line for either side; with the reasons where it was a decision.
#[derive(Clone, Default)]
struct Cause {
    place: String,
    line: String,
    reason: Option<Reason>,
}

fn causes(found: &Difference, left: &mut Survey<'_>, right: &mut Survey<'_>) -> anyhow::Result<[Cause; 2]> {
    let a = left.reasons(found.device, found.ty, found.from)?;
    let b = right.reasons(found.device, found.ty, found.from)?;
    let path = |outcome: &Outcome| match outcome {
        Outcome::Chosen(choice) => choice.path.name(),
        Outcome::Undetermined { .. } => "UNDETERMINED",
    };
    let paths = [path(&found.left), path(&found.right)];
    let diff = decision_diff(&a, &b, paths);
    let decided = |reason: Option<&Reason>| {
        reason.map_or_else(Cause::default, |reason| Cause {
            place: format!("{}:{}", reason.file, reason.line),
            line: line(reason),
            reason: Some(reason.clone()),
        })
    };
    // The same path by the same decisions: what differs is the tile, chosen on the way to the launch.
    if !diff.turned && paths[0] == paths[1] {
        let of = |survey: &Survey<'_>| {
            let launch = survey.answer(found.device, found.ty, found.from).and_then(|answer| answer.launch.clone());
            launch.map_or_else(Cause::default, |launch| Cause {
                place: format!("{}:{}", launch.file, launch.line),
                line: format!("{}:{}: {} ({})", launch.file, launch.line, launch.instance(), launch.stack.join(" > ")),
                reason: None,
            })
        };
        return Ok([of(left), of(right)]);
    }
    Ok([decided(diff.a), decided(diff.b)])
}

/// Differences with one cause, told together; beyond this many causes the rest is left to `--format json`.
const CAUSES: usize = 40;
/// Of the answers that one cause changed, those named.
const NAMED: usize = 4;

fn text(
    found: &[Difference],
    left: &mut Survey<'_>,
    right: &mut Survey<'_>,
    context: &Context,
) -> anyhow::Result<String> {
    if found.is_empty() {
        return Ok(format!("{}\n", context.lang.text("diff-source-same")));
    }
    let mut out = table(found, left, context).text(context.width);
    let mut all: Vec<([Cause; 2], Vec<&Difference>)> = Vec::new();
    for difference in found {
        let [a, b] = causes(difference, left, right)?;
        match all.iter_mut().find(|([x, y], _)| x.place == a.place && y.place == b.place) {
            Some((_, list)) => list.push(difference),
            None => all.push(([a, b], vec![difference])),
        }
    }
    let _ = write!(out, "\n{}\n", context.lang.text("diff-source-lines"));
    for (sides, list) in all.iter().take(CAUSES) {
        let named: Vec<String> = list.iter().take(NAMED).map(|found| question(found, left)).collect();
        let more = list.len().saturating_sub(NAMED);
        let more = if more > 0 {
            context.lang.text_with("diff-source-more", &[("count", more.into())])
        } else {
            String::new()
        };
        let _ = writeln!(out, "{}{more}", named.join("; "));
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

/// `gfx942 Q4_K 64-512: MMQ 64 -> BLAS`.
fn question(found: &Difference, survey: &Survey<'_>) -> String {
    let device = survey.question.devices.get(found.device).map_or("", |device| device.target.as_str());
    let ty = survey.question.types.get(found.ty).map_or("", String::as_str);
    format!("{device} {ty} {}: {} -> {}", range(found), outcome(&found.left), outcome(&found.right))
}

fn json(
    a: &Tree,
    b: &Tree,
    found: &[Difference],
    left: &mut Survey<'_>,
    right: &mut Survey<'_>,
) -> anyhow::Result<Value> {
    let mut list = Vec::new();
    for difference in found {
        let [a, b] = causes(difference, left, right)?;
        let side = |cause: Cause| match cause.reason {
            Some(reason) => crate::verbs::source::rules::reason(&reason),
            None => json!({"launch": cause.line}),
        };
        list.push(json!({
            "arch": left.question.devices.get(difference.device).map(|device| &device.target),
            "type": left.question.types.get(difference.ty), "from": difference.from, "to": difference.to,
            "a": outcome(&difference.left), "b": outcome(&difference.right),
            "lines": {"a": side(a), "b": side(b)},
        }));
    }
    Ok(
        json!({"schema": "whichkernel.diff/1", "kind": "source", "a": a.identity(), "b": b.identity(), "differences": list}),
    )
}
