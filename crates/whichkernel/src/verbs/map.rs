//! Type x columns as a table that fits a terminal: from source, from the dry run, or both with disagreements marked.

use super::dryrun::grid::{Map, label_of, problems, standing_line, survey};
use super::dryrun::{self, DEFAULT_RUNTIME, head};
use crate::context::{CHECK_FAILED, Context, Format};
use ::dryrun::Place;
use evidence::{Basis, Conclusion, Rung, Says, Unit};
use gguf::Path;
use report::{Column, Table, conclusion_text};
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
    dry: dryrun::Ask,

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
    /// Both sides say something that can be held against the other: path and columns or tile. "?": the source leaves it
    /// undetermined. Experts go by a rule of their own, which is not the one that was asked for.
    fn is_compared(&self) -> bool {
        let declared = self.declared.as_deref().is_some_and(|label| label != "?");
        declared
            && self.selected.as_deref().is_some_and(|label| !matches!(label, "-" | "!") && !label.starts_with("e:"))
    }

    /// Block sizes and fix-ups are the dry run's alone.
    fn disagrees(&self) -> bool {
        let plain = |label: &str| label.split(['/', ',']).next().unwrap_or_default().to_ascii_lowercase();
        match (&self.declared, &self.selected) {
            (Some(a), Some(b)) if self.is_compared() => {
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

/// One card: what the dry run selected for it, and what the source declares for its target.
struct Sheet<'a> {
    given: &'a str,
    target: String,
    map: Option<&'a Map>,
    cells: Cells,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let runtime = args.dry.runtime.as_deref().unwrap_or(DEFAULT_RUNTIME);
    let place = if args.no_dryrun { None } else { Some(Place::find(runtime)?) };
    let maps = match &place {
        Some(place) => survey(&args.dry, place, context)?,
        None => Vec::new(),
    };
    let declared = match &args.source {
        Some(tree) => declare(tree, args)?,
        None => Vec::new(),
    };
    let mut sheets = Vec::new();
    for (number, given) in args.dry.gpu.iter().enumerate() {
        let map = maps.get(number);
        let mut cells = Cells::new();
        if let Some(map) = map {
            selected(map, &mut cells);
        }
        let target = match map {
            Some(map) => map.plan.card.profile.processor().to_owned(),
            None => Device::find(given)?.target,
        };
        for row in declared.iter().filter(|row| row.arch == target) {
            let key = (row.ty.clone(), row.columns.unsigned_abs());
            cells.entry(key).or_default().declared = Some(label(row));
        }
        sheets.push(Sheet { given, target, map, cells });
    }
    let agreement = agreement(&sheets, args);
    let out = match args.dry.format {
        Format::Json => to_json(&sheets, agreement.as_ref())?,
        Format::Csv => csv(&sheets),
        Format::Text | Format::Md => text(&sheets, agreement.as_ref(), args, place.as_ref(), context),
    };
    context.print(&out)?;
    let unanswered = !maps.iter().all(Map::is_answered);
    let refuted = args.check && agreement.is_none_or(|agreement| agreement.answered() == 0 || differs(&agreement));
    Ok(if unanswered || refuted { ExitCode::from(CHECK_FAILED) } else { ExitCode::SUCCESS })
}

fn differs(agreement: &Conclusion) -> bool {
    matches!(agreement.says(), Says::Different { .. })
}

/// Do source and dry run agree? Only cells of which both speak are answers.
fn agreement(sheets: &[Sheet<'_>], args: &Args) -> Option<Conclusion> {
    if args.source.is_none() || args.no_dryrun {
        return None;
    }
    let said = || sheets.iter().flat_map(|sheet| sheet.cells.values());
    let compared = said().filter(|said| said.is_compared()).count() as u64;
    let different = said().filter(|said| said.disagrees()).count() as u64;
    let basis = Basis::new(Rung::Selected, Unit::Cells, said().count() as u64, compared);
    Some(basis.by("source").by("dryrun").equality(different))
}

fn title(sheet: &Sheet<'_>) -> String {
    match sheet.map {
        Some(map) => format!("{} ({})", map.plan.card.profile.title, sheet.target),
        None => format!("{} ({})", sheet.given, sheet.target),
    }
}

fn selected(map: &Map, cells: &mut Cells) {
    for cell in &map.cells {
        for kind in cell.kinds() {
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
    Ok(survey.rows())
}

fn label(row: &Row) -> String {
    let Some(path) = row.path else { return "?".to_owned() };
    let name = path.name();
    if path == Path::Blas || row.variant <= 0 {
        return if path == Path::Blas { name.to_owned() } else { name.to_ascii_lowercase() };
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

fn text(
    sheets: &[Sheet<'_>],
    agreement: Option<&Conclusion>,
    args: &Args,
    place: Option<&Place>,
    context: &Context,
) -> String {
    let lang = &context.lang;
    let mut out = String::new();
    for sheet in sheets {
        let (kinds, columns) = axes(&sheet.cells);
        let _ = writeln!(out, "{}", title(sheet));
        if let (Some(map), Some(place)) = (sheet.map, place) {
            // Its first line names the card, as the title does.
            for line in head::card(&map.plan, place, context).lines().skip(1) {
                let _ = writeln!(out, "{line}");
            }
        }
        let mut table = Table::new(
            std::iter::once(Column::left("type", lang.text("dryrun-type")))
                .chain(columns.iter().map(|n| Column::left("columns", n.to_string())))
                .collect(),
        );
        for kind in kinds {
            let cell =
                |columns: &u64| sheet.cells.get(&(kind.to_owned(), *columns)).map(Said::text).unwrap_or_default();
            table.row(std::iter::once(kind.to_owned()).chain(columns.iter().map(cell)));
        }
        if args.dry.format == Format::Md {
            out.push_str(&format!("\n{}", table.markdown()));
        } else {
            out.push_str(&fit(&table, context));
        }
        match sheet.map {
            Some(map) => {
                for line in problems(map).into_iter().chain([standing_line(map, context)]) {
                    let _ = writeln!(out, "{line}");
                }
            }
            None => {
                let _ = writeln!(out, "{}", lang.text("map-declared"));
            }
        }
        out.push('\n');
    }
    if let Some(agreement) = agreement {
        let args = [("what", conclusion_text(lang, agreement).into())];
        let _ = writeln!(out, "{}", lang.text_with("map-agreement", &args));
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

fn csv(sheets: &[Sheet<'_>]) -> String {
    let keys = ["gpu", "type", "columns", "declared", "selected", "agree", "target", "rung", "grade"];
    let mut table = Table::new(keys.map(|key| Column::left(key, key)).to_vec());
    for sheet in sheets {
        for ((kind, columns), said) in &sheet.cells {
            let text = |label: &Option<String>| label.clone().unwrap_or_default();
            let agree = if said.disagrees() { "no" } else { "yes" };
            table.row([
                sheet.given.to_owned(),
                kind.clone(),
                columns.to_string(),
                text(&said.declared),
                text(&said.selected),
                agree.to_owned(),
                sheet.target.clone(),
                rung(sheet).name().to_owned(),
                sheet.map.map(|map| map.standing().name()).unwrap_or_default().to_owned(),
            ]);
        }
    }
    table.csv()
}

/// What the cells of a sheet stand on.
fn rung(sheet: &Sheet<'_>) -> Rung {
    if sheet.map.is_some() { Rung::Selected } else { Rung::Declared }
}

fn to_json(sheets: &[Sheet<'_>], agreement: Option<&Conclusion>) -> anyhow::Result<String> {
    let mut list = Vec::new();
    for sheet in sheets {
        let cells: Vec<Value> = sheet
            .cells
            .iter()
            .map(|((kind, columns), said)| {
                json!({
                    "type": kind, "columns": columns, "declared": said.declared, "selected": said.selected,
                    "agree": !said.disagrees(),
                })
            })
            .collect();
        list.push(json!({
            "gpu": sheet.given, "title": title(sheet), "target": sheet.target, "rung": rung(sheet).name(),
            "grade": sheet.map.map(|map| map.standing().name()), "reach": sheet.map.map(Map::reach),
            "ships": sheet.map.map(|map| map.plan.described.ships),
            "metadata_of": sheet.map.and_then(|map| map.plan.described.near.clone()), "cells": cells,
        }));
    }
    let value = json!({"schema": "whichkernel.map/1", "maps": list, "agreement": agreement});
    Ok(format!("{}\n", serde_json::to_string_pretty(&value)?))
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
