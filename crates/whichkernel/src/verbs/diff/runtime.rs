//! Two runtimes, or two GPUs: what is selected differently, without any GPU.

use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context, Format};
use crate::verbs::dryrun::grid::{Map, survey};
use crate::verbs::dryrun::{self, DEFAULT_RUNTIME};
use ::dryrun::{Cell, Place, Selected};
use evidence::{Basis, LeftOutWhy, Rung, Unit, Word};
use launch::grammar::{Family, Path};
use report::{Column, Table, conclusion_text};
use serde_json::json;
use std::collections::BTreeSet;
use std::process::ExitCode;

/// One cell that differs: what, on the first side, on the second.
struct Difference {
    gpu: String,
    kind: String,
    columns: u64,
    what: &'static str,
    a: String,
    b: String,
}

/// A runtime in the cache, or a directory that holds one.
pub fn is_runtime(name: &str) -> bool {
    Place::find(name).is_ok_and(|place| place.libraries(false, None).is_ok())
}

pub fn is_card(name: &str) -> bool {
    gpu::find(name).is_ok()
}

/// The same cards and types in two runtimes.
pub fn runtimes(a: &str, b: &str, args: &dryrun::Ask, context: &Context) -> anyhow::Result<ExitCode> {
    let (first, second) = (Place::find(a)?, Place::find(b)?);
    let (left, right) = (survey(args, &first, context)?, survey(args, &second, context)?);
    report(&left, &right, (a, b), args.format, context)
}

/// Two cards in one runtime.
pub fn cards(a: &str, b: &str, args: &dryrun::Ask, context: &Context) -> anyhow::Result<ExitCode> {
    let place = Place::find(args.runtime.as_deref().unwrap_or(DEFAULT_RUNTIME))?;
    let of = |card: &str| survey(&dryrun::Ask { gpu: vec![card.to_owned()], ..args.clone() }, &place, context);
    report(&of(a)?, &of(b)?, (a, b), args.format, context)
}

fn report(a: &[Map], b: &[Map], names: (&str, &str), format: Format, context: &Context) -> anyhow::Result<ExitCode> {
    let mut found = Vec::new();
    let (mut cells, mut answered) = (0, 0);
    for (left, right) in a.iter().zip(b) {
        for (first, second) in left.cells.iter().zip(&right.cells) {
            cells += 1;
            answered += u64::from(first.is_answered() && second.is_answered());
            compare(&left.plan.card.given, first, second, &mut found);
        }
    }
    let lang = &context.lang;
    let mut table = Table::new(vec![
        Column::left("gpu", lang.text("dryrun-card")),
        Column::left("type", lang.text("dryrun-type")),
        Column::right("columns", lang.text("map-columns")),
        Column::left("what", lang.text("diff-runtime-what")),
        Column::left("a", names.0),
        Column::left("b", names.1),
    ]);
    for difference in &found {
        let Difference { gpu, kind, columns, what, a, b } = difference;
        table.row([gpu.clone(), kind.clone(), columns.to_string(), (*what).to_owned(), a.clone(), b.clone()]);
    }
    let differing: BTreeSet<(&str, &str, u64)> =
        found.iter().flat_map(|d| d.kind.split(',').map(|kind| (d.gpu.as_str(), kind, d.columns))).collect();
    let basis = a.iter().zip(b).fold(Basis::new(Rung::Selected, Unit::Cells, cells, answered), |basis, (a, b)| {
        let lost = a.cells.iter().chain(&b.cells).map(|cell| cell.lost).sum();
        [a, b].into_iter().filter(|map| !map.plan.described.ships).fold(basis.lost(lost), |basis, map| {
            basis.without(map.plan.card.profile.processor(), None, LeftOutWhy::OtherTarget)
        })
    });
    let conclusion = basis.by("dryrun").equality(differing.len() as u64);
    let said = conclusion_text(lang, &conclusion);
    let out = match format {
        Format::Csv => table.csv(),
        Format::Json => {
            let value = json!({
                "schema": "whichkernel.diff-runtime/1", "a": names.0, "b": names.1, "cells": cells,
                "conclusion": conclusion, "differences": table.json(),
            });
            format!("{}\n", serde_json::to_string_pretty(&value)?)
        }
        Format::Md if found.is_empty() => format!("### whichkernel: `{}` → `{}`\n\n{said}\n", names.0, names.1),
        Format::Md => format!("### whichkernel: `{}` → `{}`\n\n{said}\n\n{}", names.0, names.1, table.markdown()),
        Format::Text if found.is_empty() => format!("{said}\n"),
        Format::Text => format!("{}\n{said}\n", table.text(context.width)),
    };
    context.print(&out)?;
    // Of a cell that one of them did not answer nobody can say that it is the same.
    let same = found.is_empty() && conclusion.unanswered() == 0 && conclusion.lost() == 0;
    Ok(match conclusion.word() {
        Word::NotKnown => ExitCode::from(COULD_NOT_RUN),
        _ if same => ExitCode::SUCCESS,
        _ => ExitCode::from(CHECK_FAILED),
    })
}

/// Family and tile first; where those agree, the kernels, then their grids.
fn compare(gpu: &str, a: &Cell, b: &Cell, found: &mut Vec<Difference>) {
    let side = |cell: &Cell| cell.problem.clone().unwrap_or_else(|| cell.label());
    let list = |cell: &Cell, text: &dyn Fn(&Selected) -> String| {
        let list: Vec<String> = cell.products().into_iter().map(text).collect();
        list.join("; ")
    };
    // Solutions are numbered anew in every release: the kernel counts, not its number.
    let kernel = |row: &Selected| row.kernel.clone();
    let grid = |row: &Selected| format!("{} {}", row.grid_text(), row.block_text());
    let aspects = [
        ("path", side(a), side(b)),
        ("kernel", list(a, &kernel), list(b, &kernel)),
        ("grid", list(a, &grid), list(b, &grid)),
    ];
    if let Some((what, a_says, b_says)) = aspects.into_iter().find(|(_, a, b)| a != b) {
        let (gpu, kind, columns) = (gpu.to_owned(), a.kind.clone(), a.columns);
        found.push(Difference { gpu, kind, columns, what, a: a_says, b: b_says });
    }
    others(gpu, a, b, found);
}

/// Neither a product nor what prepares one: unpacking and quantising go with the path that was taken.
fn stands_alone(row: &Selected) -> bool {
    let helper = matches!(row.family, Family::Dequantize | Family::Convert | Family::Repack | Family::GemmHelper);
    let of_a_path = row.path.is_some_and(|path| path != Path::FlashAttention);
    !helper && !of_a_path && !row.is_multiplication()
}

/// Attention, norms, copies and the like: only what the other side has not, once for all weight types that share it.
fn others(gpu: &str, a: &Cell, b: &Cell, found: &mut Vec<Difference>) {
    let list = |cell: &Cell| -> BTreeSet<String> {
        let text = |row: &Selected| format!("{} {} {}", row.kernel, row.grid_text(), row.block_text());
        cell.rows.iter().filter(|row| stands_alone(row)).map(text).collect()
    };
    // A run that failed says so once, as its path.
    if a.problem.is_some() || b.problem.is_some() {
        return;
    }
    let (left, right) = (list(a), list(b));
    let only = |of: &BTreeSet<String>, other: &BTreeSet<String>| -> String {
        of.difference(other).cloned().collect::<Vec<_>>().join("; ")
    };
    let (a_says, b_says) = (only(&left, &right), only(&right, &left));
    if left == right {
        return;
    }
    let same = |known: &&mut Difference| {
        known.what == "other"
            && known.gpu == gpu
            && known.columns == a.columns
            && known.a == a_says
            && known.b == b_says
    };
    match found.iter_mut().find(same) {
        Some(known) => known.kind = format!("{},{}", known.kind, a.kind),
        None => found.push(Difference {
            gpu: gpu.to_owned(),
            kind: a.kind.clone(),
            columns: a.columns,
            what: "other",
            a: a_says,
            b: b_says,
        }),
    }
}
