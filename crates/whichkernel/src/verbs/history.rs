//! `whichkernel history TREE`: every commit of a clone at which what is chosen changed, and the lines that decided.

use super::diff::source::{causes, conclude, range, sides};
use super::source::rules::Ask;
use crate::context::{Context, Format};
use anyhow::bail;
use report::{Column, Table, conclusion_text};
use serde_json::{Value, json};
use source::history::{Event, History, history};
use source::{Question, Survey, Tree};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A git clone of llama.cpp, ggml or Ollama, or REPO@REV to end at that revision
    pub tree: String,

    /// Where to begin: a tag or commit [default: the first commit that touches the backend]
    #[arg(long, value_name = "REV")]
    pub since: Option<String>,

    /// GPUs: cards (rx-9070-xt) or targets (gfx1201, sm_90), comma-separated [default: thirteen of both vendors]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub gpu: Vec<String>,

    #[command(flatten)]
    pub ask: Ask,

    /// The events alone, without the lines that decided
    #[arg(long)]
    pub brief: bool,

    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let (repo, until) = match args.tree.rsplit_once('@') {
        Some((repo, rev)) if !Path::new(&args.tree).exists() => (repo, rev),
        _ => (args.tree.as_str(), "HEAD"),
    };
    if !Path::new(repo).is_dir() {
        bail!("{repo}: a history needs a git clone");
    }
    let question = args.ask.question(&args.gpu)?;
    let overrides = args.ask.overrides()?;
    let found = history(Path::new(repo), &question, &overrides, args.since.as_deref(), until)?;
    let told = if args.brief { Vec::new() } else { lines(repo, &found, &question, args)? };
    let text = match args.format {
        Format::Json => format!("{:#}\n", json(&found, &question, &told, args)),
        Format::Csv => table(&found, &question, context).csv(),
        Format::Md => table(&found, &question, context).markdown(),
        Format::Text => text(&found, &question, &told, args, context),
    };
    context.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Of every event the first difference, and what decided it before and after.
fn lines(repo: &str, found: &History, question: &Question, args: &Args) -> anyhow::Result<Vec<[String; 2]>> {
    let mut out = Vec::new();
    for event in &found.events {
        let Some(first) = event.comparison.differences.first() else { continue };
        let open = |id: &str| Tree::open(&format!("{repo}@{id}"));
        let (before, after) = (open(&event.before)?, open(&event.commit.id)?);
        // One card and type are enough to name the lines.
        let mut narrow = question.clone();
        narrow.devices = question.devices.get(first.device).cloned().into_iter().collect();
        narrow.types = question.types.get(first.ty).cloned().into_iter().collect();
        narrow.columns = vec![first.from];
        let overrides = args.ask.overrides()?;
        let mut left = Survey::run(&before, narrow.clone(), &overrides)?;
        let mut right = Survey::run(&after, narrow, &overrides)?;
        let mut only = first.clone();
        (only.device, only.ty) = (0, 0);
        out.push(causes(&only, &mut left, &mut right)?.map(|cause| cause.line));
    }
    Ok(out)
}

fn table(found: &History, question: &Question, context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("date", title("history-column-date")),
        Column::left("tag", title("history-column-tag")),
        Column::left("commit", title("history-column-commit")),
        Column::left("target", title("source-column-gpu")),
        Column::left("type", title("source-column-type")),
        Column::left("columns", title("source-column-columns")),
        Column::left("before", title("history-column-before")),
        Column::left("after", title("history-column-after")),
    ]);
    for event in &found.events {
        for difference in &event.comparison.differences {
            let device = question.devices.get(difference.device).map_or("", |device| device.target.as_str());
            let ty = question.types.get(difference.ty).map_or("", String::as_str);
            let [before, after] = sides(difference);
            table.row([
                event.commit.date.clone(),
                event.tag.clone().unwrap_or_default(),
                short(&event.commit.id),
                device.to_owned(),
                ty.to_owned(),
                range(difference),
                before,
                after,
            ]);
        }
    }
    table
}

fn short(id: &str) -> String {
    id.chars().take(10).collect()
}

/// Rows that a person reads of one event; the rest is a number.
const ROWS: usize = 6;

fn text(found: &History, question: &Question, told: &[[String; 2]], args: &Args, context: &Context) -> String {
    let mut out = String::new();
    let between = [
        ("first", short(&found.first.id).into()),
        ("last", short(&found.last.id).into()),
        ("commits", found.commits.into()),
        ("evaluated", found.evaluated.into()),
        ("cells", found.ends.asked.into()),
        ("events", found.events.len().into()),
    ];
    let key = if found.events.is_empty() { "history-none" } else { "history-some" };
    let _ = writeln!(out, "{}", context.lang.text_with(key, &between));
    for (index, event) in found.events.iter().enumerate() {
        let _ = write!(out, "\n{}\n", heading(event));
        for difference in event.comparison.differences.iter().take(ROWS) {
            let device = question.devices.get(difference.device).map_or("", |device| device.target.as_str());
            let ty = question.types.get(difference.ty).map_or("", String::as_str);
            let [before, after] = sides(difference);
            let _ = writeln!(out, "  {device} {ty} {}: {before} -> {after}", range(difference));
        }
        let more = event.comparison.differences.len().saturating_sub(ROWS);
        if more > 0 {
            let _ = writeln!(out, " {}", context.lang.text_with("diff-source-more", &[("count", more.into())]));
        }
        for (side, line) in
            ["-", "+"].iter().zip(told.get(index).into_iter().flatten()).filter(|(_, line)| !line.is_empty())
        {
            let _ = writeln!(out, "    {side} {line}");
        }
    }
    let ends = conclude(&found.ends, question, &args.ask);
    let _ = write!(
        out,
        "\n{} {}\n",
        context.lang.text_with("history-ends", &between),
        conclusion_text(&context.lang, &ends)
    );
    if let Some((commit, why)) = found.unreadable.first() {
        let says =
            [("count", found.unreadable.len().into()), ("commit", short(commit).into()), ("why", why.clone().into())];
        let _ = writeln!(out, "{}", context.lang.text_with("history-unreadable", &says));
    }
    out
}

fn heading(event: &Event) -> String {
    let tag = event.tag.as_deref().unwrap_or("");
    format!("{} {tag} {} {}", event.commit.date, short(&event.commit.id), event.commit.subject)
}

fn json(found: &History, question: &Question, told: &[[String; 2]], args: &Args) -> Value {
    let events: Vec<Value> = found
        .events
        .iter()
        .enumerate()
        .map(|(index, event)| {
            let changes: Vec<Value> = event
                .comparison
                .differences
                .iter()
                .map(|difference| {
                    json!({
                        "target": question.devices.get(difference.device).map(|device| &device.target),
                        "type": question.types.get(difference.ty), "from": difference.from, "to": difference.to,
                        "before": {"path": difference.left.brief(), "kernel": difference.left.instance()},
                        "after": {"path": difference.right.brief(), "kernel": difference.right.instance()},
                    })
                })
                .collect();
            json!({
                "commit": event.commit.id, "before": event.before, "date": event.commit.date, "tag": event.tag,
                "subject": event.commit.subject, "changes": changes, "lines": told.get(index),
            })
        })
        .collect();
    json!({
        "schema": "whichkernel.history/1", "rung": "declared", "first": found.first.id, "last": found.last.id,
        "commits": found.commits, "evaluated": found.evaluated, "unreadable": found.unreadable, "events": events,
        "ends": conclude(&found.ends, question, &args.ask),
    })
}
