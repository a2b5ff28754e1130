//! Two source trees: for which GPUs, types and columns the choice differs, and the conditions that made it so.

use crate::context::{CHECK_FAILED, Context, Format};
use crate::verbs::source::rules::{Ask, line, notes};
use report::{Column, Table};
use serde_json::{Value, json};
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

/// Where the two ways part. A condition that both have and that comes out differently is the symptom; the cause is the last
/// condition before it that only one side has (or, where there is none, the symptom itself). With no such condition: the
/// first that are not the same. Numbers that are switched on are no outcomes: an enumerator's value moves between versions.
fn parting(a: &[Reason], b: &[Reason]) -> (Option<Reason>, Option<Reason>) {
    let truth = |reason: &Reason| matches!(reason.outcome.as_str(), "0" | "1");
    let same = |x: &Reason, y: &Reason| x.condition == y.condition && (x.outcome == y.outcome || !truth(x));
    let turned = |x: &Reason, y: &Reason| x.condition == y.condition && truth(x) && truth(y) && x.outcome != y.outcome;
    let flip = a.iter().enumerate().find_map(|(i, x)| b.iter().position(|y| turned(x, y)).map(|j| (i, j)));
    let Some((i, j)) = flip else {
        let at = a.iter().zip(b).take_while(|(x, y)| same(x, y)).count();
        return (a.get(at).or(a.last()).cloned(), b.get(at).or(b.last()).cloned());
    };
    let cause = |list: &[Reason], at: usize, other: &[Reason]| {
        let own = |x: &&Reason| truth(x) && !other.iter().any(|y| same(x, y) || turned(x, y));
        list.iter().take(at).rev().find(own).or(list.get(at)).cloned()
    };
    (cause(a, i, b), cause(b, j, a))
}

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
    let mut seen: Vec<(Option<Reason>, Option<Reason>)> = Vec::new();
    let _ = write!(out, "\n{}\n", context.lang.text("diff-source-lines"));
    for difference in found {
        let a = left.reasons(difference.device, difference.ty, difference.from)?;
        let b = right.reasons(difference.device, difference.ty, difference.from)?;
        let pair = parting(&a, &b);
        let place = |reason: &Option<Reason>| reason.as_ref().map(|reason| (reason.file.clone(), reason.line));
        if seen.iter().any(|known| (place(&known.0), place(&known.1)) == (place(&pair.0), place(&pair.1))) {
            continue;
        }
        for (side, reason) in [("A", &pair.0), ("B", &pair.1)] {
            if let Some(reason) = reason {
                let _ = writeln!(out, "  {side} {}", line(reason));
            }
        }
        out.push('\n');
        seen.push(pair);
        if seen.len() >= 40 {
            break;
        }
    }
    Ok(out)
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
        let x = left.reasons(difference.device, difference.ty, difference.from)?;
        let y = right.reasons(difference.device, difference.ty, difference.from)?;
        let pair = parting(&x, &y);
        let side = |reason: Option<Reason>| {
            reason.map(|r| json!({"file": r.file, "line": r.line, "condition": r.condition, "outcome": r.outcome}))
        };
        list.push(json!({
            "arch": left.question.devices.get(difference.device).map(|device| &device.target),
            "type": left.question.types.get(difference.ty), "from": difference.from, "to": difference.to,
            "a": outcome(&difference.left), "b": outcome(&difference.right),
            "lines": {"a": side(pair.0), "b": side(pair.1)},
        }));
    }
    Ok(
        json!({"schema": "whichkernel.diff/1", "kind": "source", "a": a.identity(), "b": b.identity(), "differences": list}),
    )
}
