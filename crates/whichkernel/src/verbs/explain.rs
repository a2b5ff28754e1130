//! `whichkernel explain`: why this kernel, at once and offline, from the decision tables that come with the program.

use super::source::rules::concerns_backend;
use crate::context::{Context, Format};
use anyhow::bail;
use report::{Column, Table};
use serde_json::{Value, json};
use source::Device;
use source::table::{self, COLUMNS, Found, Rule, Table as Decisions};
use std::fmt::Write;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The GPU: a card (rx-9070-xt) or a target (gfx1201, sm_90)
    #[arg(long, value_name = "GPU")]
    pub gpu: String,

    /// Type of the weights
    #[arg(long = "type", value_name = "TYPE", default_value = "Q4_K")]
    pub ty: String,

    /// Columns: tokens in one micro-batch
    #[arg(long, value_name = "N")]
    pub columns: i64,

    /// Which release's rules: b10586, 4fda6980, ollama, ... [default: the newest llama.cpp there is a table of]
    #[arg(long, value_name = "VERSION", id = "release")]
    pub version: Option<String>,

    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Cards for "what if it were another one": one per generation that people have.
const OTHERS: &[&str] = &["gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151", "gfx1201", "sm_75", "sm_90"];

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let device = Device::find(&args.gpu)?;
    let ty = args.ty.trim_start_matches("GGML_TYPE_").to_ascii_uppercase();
    let wanted = args.version.as_deref();
    let Some(table) = table::find(wanted.unwrap_or("llama.cpp")) else {
        let known: Vec<String> = table::all().iter().map(name).collect();
        bail!("there is no table of {:?}; there are: {}", wanted.unwrap_or(""), known.join(", "));
    };
    if !(1..=COLUMNS).contains(&args.columns) {
        bail!(
            "the tables go from 1 to {COLUMNS} columns; `whichkernel source TREE --columns {}` evaluates any",
            args.columns
        );
    }
    let Some(found) = table.look_up(&device.target, &ty, args.columns) else {
        let targets: Vec<&String> = table.targets.keys().collect();
        bail!(
            "no table entry for {} {ty}; targets: {targets:?}; `whichkernel source TREE` evaluates any",
            device.target
        );
    };
    let text = match args.format {
        Format::Json => format!("{:#}\n", json(args, table, &device, &ty, &found)),
        Format::Csv => others(args, table, &device, &ty, context).csv(),
        Format::Md => others(args, table, &device, &ty, context).markdown(),
        Format::Text => text(args, table, &device, &ty, &found, context),
    };
    context.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn name(table: &Decisions) -> String {
    format!("{} {}", table.source, table.version)
}

fn kernel(path: &str, tile: Option<i64>) -> String {
    tile.map_or_else(|| path.to_owned(), |tile| format!("{path} {tile}"))
}

/// A rule with the values that the question gave it.
fn shown(rule: &Rule, cc: Option<i64>, ty: &str, columns: i64) -> String {
    let mut values: Vec<String> = rule.values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let word = |wanted: &str| {
        rule.condition.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == wanted)
    };
    if word("cc")
        && let Some(cc) = cc
    {
        let cc = if cc >= 0x100_0000 { format!("{cc:#x}") } else { cc.to_string() };
        values.push(format!("cc = {cc}"));
    }
    if word("type") {
        values.push(format!("type = {ty}"));
    }
    if word("ne11") {
        values.push(format!("ne11 = {columns}"));
    }
    let values = if values.is_empty() { String::new() } else { format!("  [{}]", values.join(", ")) };
    format!("{}:{}: {} -> {}{values}", rule.file, rule.line, rule.condition, rule.outcome)
}

fn text(args: &Args, table: &Decisions, device: &Device, ty: &str, found: &Found<'_>, context: &Context) -> String {
    let lang = &context.lang;
    let cc = table.targets.get(&device.target).and_then(|target| target.cc);
    let card = device.card.clone().map_or_else(|| device.target.clone(), |card| format!("{card} ({})", device.target));
    let says = [
        ("gpu", card.into()),
        ("type", ty.to_owned().into()),
        ("columns", args.columns.into()),
        ("kernel", kernel(found.path, found.tile).into()),
        ("version", name(table).into()),
    ];
    let mut out = format!("{}\n", lang.text_with("explain-answer", &says));
    for rule in found.rule {
        let _ = writeln!(out, "  {}", shown(rule, cc, ty, args.columns));
    }
    let stretch = match found.to {
        Some(to) => lang.text_with("explain-stretch", &[("from", found.from.into()), ("to", to.into())]),
        None => lang.text_with("explain-stretch-open", &[("from", found.from.into()), ("most", COLUMNS.into())]),
    };
    let _ = writeln!(out, "{stretch}");
    for build in table.presets.iter().filter(|build| (build.vendor == "HIP") == device.target.starts_with("gfx")) {
        let defines = build.defines.iter().map(String::as_str).filter(|define| concerns_backend(define));
        let defines: Vec<&str> = defines.collect();
        let says = [
            ("preset", build.preset.clone().into()),
            ("commit", short(&table.commit).into()),
            ("defines", defines.join(" ").into()),
        ];
        let _ = writeln!(out, "{}", lang.text_with("explain-build", &says));
    }
    let _ = write!(out, "\n{}\n", lang.text("explain-otherwise"));
    out.push_str(&others(args, table, device, ty, context).text(context.width));
    let _ = write!(out, "\n{}\n", lang.text("source-cannot-show"));
    out
}

/// A commit's first digits; the name of a package stays whole.
fn short(commit: &str) -> String {
    let is_hash = commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
    commit.chars().take(if is_hash { 12 } else { usize::MAX }).collect()
}

/// The counterfactuals: other column counts, other cards, other versions.
fn otherwise<'t>(
    args: &Args,
    table: &'t Decisions,
    device: &Device,
    ty: &str,
) -> Vec<(&'static str, String, Found<'t>)> {
    let mut out = Vec::new();
    for columns in [1, 8, 9, 64, 256, 257, 512].into_iter().filter(|columns| *columns != args.columns) {
        if let Some(found) = table.look_up(&device.target, ty, columns) {
            out.push(("explain-columns", columns.to_string(), found));
        }
    }
    for target in OTHERS.iter().filter(|target| **target != device.target) {
        if let Some(found) = table.look_up(target, ty, args.columns) {
            out.push(("explain-gpu", (*target).to_owned(), found));
        }
    }
    for other in table::all().iter().filter(|other| other.version != table.version) {
        if let Some(found) = other.look_up(&device.target, ty, args.columns) {
            let date = if other.date.is_empty() { String::new() } else { format!(" ({})", other.date) };
            out.push(("explain-version", format!("{}{date}", name(other)), found));
        }
    }
    out
}

fn others(args: &Args, table: &Decisions, device: &Device, ty: &str, context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut out = Table::new(vec![
        Column::left("what", title("explain-column-what")),
        Column::left("instead", title("explain-column-instead")),
        Column::left("path", title("source-column-path")),
        Column::right("tile", title("source-column-variant")),
    ]);
    for (what, instead, found) in otherwise(args, table, device, ty) {
        out.row([
            title(what),
            instead,
            found.path.to_owned(),
            found.tile.map_or(String::new(), |tile| tile.to_string()),
        ]);
    }
    out
}

fn json(args: &Args, table: &Decisions, device: &Device, ty: &str, found: &Found<'_>) -> Value {
    let cc = table.targets.get(&device.target).and_then(|target| target.cc);
    let others: Vec<Value> = otherwise(args, table, device, ty)
        .into_iter()
        .map(|(what, instead, found)| json!({"what": what.trim_start_matches("explain-"), "instead": instead, "path": found.path, "tile": found.tile}))
        .collect();
    json!({
        "schema": "whichkernel.explain/1", "rung": "Declared", "gpu": device.target, "card": device.card, "type": ty,
        "columns": args.columns, "path": found.path, "tile": found.tile, "from": found.from, "to": found.to,
        "rule": found.rule, "cc": cc.map(|cc| format!("{cc:#x}")), "source": table.source, "version": table.version, "commit": table.commit,
        "presets": table.presets, "otherwise": others,
    })
}
