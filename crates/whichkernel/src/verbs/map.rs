//! Type x columns as a table that fits a terminal: from source, from the dry run, or both with disagreements marked.

use super::dryrun::grid::{Map, label_of, survey};
use super::dryrun::{self, DEFAULT_RUNTIME};
use crate::context::{CHECK_FAILED, Context, Format};
use ::dryrun::Place;
use launch::grammar::Path as LaunchPath;
use report::{Column, Table};
use serde_json::{Value, json};
use source::{Device, Overrides, Row, Shape, Survey, Tree};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;
use unicode_width::UnicodeWidthStr;

/// Type x columns -> path and tile, for one card or several generations side by side
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Args {
    #[command(flatten)]
    dry: dryrun::Args,

    /// A source tree (directory, REPO@REV, archive): what it declares stands beside the dry run
    #[arg(long, value_name = "TREE")]
    source: Option<String>,

    /// Do not run anything: the source alone
    #[arg(long, requires = "source")]
    no_dryrun: bool,

    /// Exit with 1 where source and dry run disagree
    #[arg(long, requires = "source")]
    check: bool,
}

/// What one side says of one cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Said {
    declared: Option<String>,
    selected: Option<String>,
}

impl Said {
    /// The parts that both sides speak of: path and columns or tile. Block sizes and fix-ups are the dry run's alone.
    fn disagrees(&self) -> bool {
        let plain = |label: &str| label.split('/').next().unwrap_or_default().to_ascii_lowercase();
        match (&self.declared, &self.selected) {
            // "?": the source leaves it undetermined.
            (Some(a), Some(b)) if a != "?" && !matches!(b.as_str(), "-" | "!") => {
                let (a, b) = (plain(a), plain(b));
                // A path without a number (MMF in source) agrees with any number of that path.
                !(a == b || b.trim_end_matches(|c: char| c.is_ascii_digit()) == a)
            }
            _ => false,
        }
    }

    fn text(&self) -> String {
        match (&self.declared, &self.selected) {
            (Some(a), Some(b)) if self.disagrees() => format!("{a} ≠ {b}"),
            (_, Some(b)) => b.clone(),
            (Some(a), None) => a.clone(),
            (None, None) => String::new(),
        }
    }
}

type Cells = BTreeMap<(String, u64), Said>;

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let mut tables: Vec<(String, Cells)> = Vec::new();
    let mut maps = Vec::new();
    if !args.no_dryrun {
        let place = Place::find(args.dry.runtime.as_deref().unwrap_or(DEFAULT_RUNTIME))?;
        maps = survey(&args.dry, &place, context)?;
    }
    let declared = match &args.source {
        Some(tree) => declare(tree, args)?,
        None => Vec::new(),
    };
    for (number, given) in args.dry.gpu.iter().enumerate() {
        let mut cells = Cells::new();
        if let Some(map) = maps.get(number) {
            selected(map, &mut cells);
        }
        for row in declared.iter().filter(|row| row.arch == *given) {
            let key = (row.ty.clone(), row.columns.unsigned_abs());
            cells.entry(key).or_default().declared = Some(label(row));
        }
        tables.push((title(given, maps.get(number)), cells));
    }
    let disagreements = tables.iter().flat_map(|(_, cells)| cells.values()).filter(|said| said.disagrees()).count();
    let out = match args.dry.format {
        Format::Json => to_json(&tables)?,
        Format::Csv => csv(&tables),
        Format::Text | Format::Md => text(&tables, disagreements, args, context),
    };
    context.print(&out)?;
    Ok(if args.check && disagreements > 0 { ExitCode::from(CHECK_FAILED) } else { ExitCode::SUCCESS })
}

fn title(given: &str, map: Option<&Map>) -> String {
    match map {
        Some(map) => {
            format!("{} ({}, {})", map.plan.card.profile.title, map.plan.card.profile.processor(), map.plan.grade())
        }
        None => given.to_owned(),
    }
}

fn selected(map: &Map, cells: &mut Cells) {
    for cell in &map.cells {
        let mut kinds: Vec<String> = vec![cell.kind.clone()];
        if cell.kind.is_empty() {
            kinds = cell.rows.iter().filter(|row| row.is_multiplication()).filter_map(|row| row.kind.clone()).collect();
            kinds.sort();
            kinds.dedup();
        }
        for kind in kinds {
            let label = label_of(cell, &kind);
            cells.entry((kind, cell.columns)).or_default().selected = Some(label);
        }
    }
}

/// What the tree declares for weights of the skeleton's most frequent shape.
fn declare(tree: &str, args: &Args) -> anyhow::Result<Vec<Row>> {
    let tree = Tree::open(tree)?;
    let mut devices = Vec::new();
    for given in &args.dry.gpu {
        devices.push(Device::find(given)?);
    }
    let all = args.dry.kind.iter().any(|kind| kind.eq_ignore_ascii_case("all"));
    let types = match all {
        true => source::ALL_TYPES.iter().map(|kind| (*kind).to_owned()).collect(),
        false => args.dry.kind.iter().map(|kind| kind.to_ascii_uppercase()).collect(),
    };
    let columns: Vec<i64> = args.dry.columns.iter().map(|&n| n.cast_signed()).collect();
    let shape = gguf::known(&args.dry.arch_of)?;
    let shape = Shape::MulMat { rows: shape.feed_forward.into(), k: shape.width.into() };
    let survey = Survey::run(&tree, shape.question(devices, types, columns), &Overrides::default())?;
    let mut rows = survey.rows();
    for row in &mut rows {
        // The rows name the target; the table is by what the user typed.
        if let Some(given) = args.dry.gpu.iter().find(|given| Device::find(given).is_ok_and(|d| d.target == row.arch)) {
            row.arch = given.clone();
        }
    }
    Ok(rows)
}

fn label(row: &Row) -> String {
    let Some(path) = row.path else { return "?".to_owned() };
    let name = path.name();
    if name == LaunchPath::Blas.to_string() || row.variant <= 0 {
        return if name == "BLAS" { name.to_owned() } else { name.to_ascii_lowercase() };
    }
    format!("{}{}", name.to_ascii_lowercase(), row.variant)
}

/// Rows of one table: types in order of appearance, with a cell per column count.
fn axes(cells: &Cells) -> (Vec<&str>, Vec<u64>) {
    let mut kinds: Vec<&str> = cells.keys().map(|(kind, _)| kind.as_str()).collect();
    kinds.dedup();
    let mut columns: Vec<u64> = cells.keys().map(|(_, columns)| *columns).collect();
    columns.sort_unstable();
    columns.dedup();
    (kinds, columns)
}

fn text(tables: &[(String, Cells)], disagreements: usize, args: &Args, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = String::new();
    for (title, cells) in tables {
        let (kinds, columns) = axes(cells);
        let _ = writeln!(out, "{title}");
        let mut table = Table::new(
            std::iter::once(Column::left("type", lang.text("dryrun-type")))
                .chain(columns.iter().map(|n| Column::left("columns", n.to_string())))
                .collect(),
        );
        for kind in kinds {
            let cell = |columns: &u64| cells.get(&(kind.to_owned(), *columns)).map(Said::text).unwrap_or_default();
            table.row(std::iter::once(kind.to_owned()).chain(columns.iter().map(cell)));
        }
        if args.dry.format == Format::Md {
            out.push_str(&table.markdown());
        } else {
            out.push_str(&fit(&table, context));
        }
        out.push('\n');
    }
    if args.source.is_some() && !args.no_dryrun {
        let args = [("count", disagreements.to_string().into())];
        let _ = writeln!(out, "{}", lang.text_with("map-disagreements", &args));
    }
    let _ = writeln!(out, "{}", lang.text("dryrun-legend"));
    out
}

/// Coloured by path where there is a terminal; a table that is too wide is the table's own business.
fn fit(table: &Table, context: &Context) -> String {
    let plain = table.text(None);
    let widest = plain.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
    let plain = if context.width.is_some_and(|limit| widest > limit) { table.text(context.width) } else { plain };
    if !context.color {
        return plain;
    }
    let mut out = String::new();
    for (number, line) in plain.lines().enumerate() {
        if number == 0 {
            let _ = writeln!(out, "\x1b[1m{line}\x1b[0m");
            continue;
        }
        for word in line.split_inclusive(' ') {
            let color = match word.trim_end() {
                w if w.starts_with("mmvq") || w.starts_with("mmvf") => "36",
                w if w.starts_with("mmq") || w.starts_with("mmf") => "32",
                "BLAS" => "33",
                "≠" | "!" => "1;31",
                _ => "",
            };
            match color {
                "" => out.push_str(word),
                color => out.push_str(&format!("\x1b[{color}m{word}\x1b[0m")),
            }
        }
        out.push('\n');
    }
    out
}

fn csv(tables: &[(String, Cells)]) -> String {
    let keys = ["gpu", "type", "columns", "declared", "selected", "agree"];
    let mut table = Table::new(keys.map(|key| Column::left(key, key)).to_vec());
    for (title, cells) in tables {
        for ((kind, columns), said) in cells {
            let text = |label: &Option<String>| label.clone().unwrap_or_default();
            let agree = if said.disagrees() { "no" } else { "yes" };
            let columns = columns.to_string();
            table.row([title.clone(), kind.clone(), columns, text(&said.declared), text(&said.selected), agree.into()]);
        }
    }
    table.csv()
}

fn to_json(tables: &[(String, Cells)]) -> anyhow::Result<String> {
    let mut list = Vec::new();
    for (title, cells) in tables {
        let cells: Vec<Value> = cells
            .iter()
            .map(|((kind, columns), said)| {
                json!({
                    "type": kind, "columns": columns, "declared": said.declared, "selected": said.selected,
                    "agree": !said.disagrees(),
                })
            })
            .collect();
        list.push(json!({"gpu": title, "cells": cells}));
    }
    Ok(format!("{}\n", serde_json::to_string_pretty(&json!({"schema": "whichkernel.map/1", "maps": list}))?))
}

#[cfg(test)]
mod tests {
    use super::Said;

    fn said(declared: &str, selected: &str) -> Said {
        Said { declared: Some(declared.into()), selected: Some(selected.into()) }
    }

    #[test]
    fn only_what_both_speak_of_can_disagree() {
        assert!(!said("mmq16", "mmq16/+sk").disagrees());
        assert!(!said("mmvf1", "mmvf1/256").disagrees());
        assert!(!said("mmf", "mmf7").disagrees());
        assert!(!said("mmq16", "-").disagrees(), "nothing seen is not a contradiction");
        assert!(!said("?", "mmq16").disagrees(), "nothing declared neither");
        assert!(said("mmq112", "mmq128").disagrees());
        assert!(said("BLAS", "mmq16").disagrees());
        assert_eq!(said("mmq112", "mmq128").text(), "mmq112 ≠ mmq128");
    }
}
