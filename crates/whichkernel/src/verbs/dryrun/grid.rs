//! Without a command: the map of types and column counts, from skeleton models or the user's model.

use super::{Args, record, rows};
use crate::asked::dry::{DEFAULT_RUNTIME, head, problems, reach_line, survey};
use crate::asked::gemm::{Explained, Recorded, section};
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context, Format};
use crate::emit::Plain;
use dryrun::answers::CardMaps;
use dryrun::{Cell, Map, RunRoot, reach_of_cell};
use launch::record::lane;
use report::{Column, Table};
use std::fmt::Write;
use std::process::ExitCode;
use sys::interrupt;

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let place = RunRoot::find(args.ask.runtime.as_deref().unwrap_or(DEFAULT_RUNTIME))?;
    interrupt::catch();
    let maps = survey(&args.ask, &place, context)?;
    if args.record {
        let file = args.ask.model.as_ref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
        for map in &maps {
            record::cells(context, &place, map, file.as_deref().unwrap_or(&args.ask.arch_of))?;
        }
    }
    if args.bench_lines {
        context.print(&rows::bench(maps.iter().flat_map(|map| &map.cells).flat_map(|cell| &cell.rows)))?;
    } else {
        let plain = |plain| match plain {
            Plain::Csv => csv(&maps),
            Plain::Text | Plain::Md => text(&maps, &place, args.ask.format, context),
        };
        context.emit_as(args.ask.format, || answer(&place, &maps), |format| Ok(plain(format)))?;
    }
    if let Some(signal) = interrupt::signal() {
        context.note(&context.lang.text_with("dryrun-interrupted", &[("signal", signal.to_string().into())]));
        return Ok(ExitCode::from(COULD_NOT_RUN));
    }
    Ok(if maps.iter().all(Map::is_answered) { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

fn answer<'m>(place: &RunRoot, maps: &'m [Map]) -> CardMaps<'m> {
    let mut out = CardMaps::new(place.name(), maps);
    for (answer, map) in out.maps.iter_mut().zip(maps) {
        answer.blas = explained(place, map).iter().map(Explained::answer).collect();
    }
    out
}

/// The BLAS calls of a card's cells, followed into the catalogs of the runtime.
fn explained(place: &RunRoot, map: &Map) -> Vec<Explained> {
    // NVIDIA's BLAS has no catalog to follow a call into.
    if map.plan.card.profile.is_nvidia() {
        return Vec::new();
    }
    let recorded = Recorded::of(map.cells.iter().flat_map(|cell| &cell.rows));
    Explained::all(place, &map.plan.card.profile, &recorded)
}

fn csv(maps: &[Map]) -> String {
    let mut table = rows::table();
    for map in maps {
        for cell in &map.cells {
            let reach = reach_of_cell(cell, &map.plan.played());
            for row in cell.rows.iter().filter(|row| row.is_multiplication()) {
                rows::add(&mut table, &map.plan, reach, (&cell.kind, cell.columns), row);
            }
        }
    }
    table.csv()
}

fn text(maps: &[Map], place: &RunRoot, format: Format, context: &Context) -> String {
    let mut out = String::new();
    for map in maps {
        out.push_str(&head::card(&map.plan, place, context));
        let table = labels(map, context);
        out.push_str(&if format == Format::Md { table.markdown() } else { table.text(context.width) });
        if let Some(table) = products(map, context) {
            out.push_str(&if format == Format::Md { table.markdown() } else { table.text(context.width) });
        }
        for problem in problems(map, &context.lang) {
            let _ = writeln!(out, "{problem}");
        }
        let _ = writeln!(out, "{}", reach_line(&map.reach(), &context.lang));
        let explained = explained(place, map);
        let _ = writeln!(out, "{}", section(&explained.iter().collect::<Vec<_>>(), &context.lang));
    }
    let _ = writeln!(out, "{}", context.lang.text("dryrun-legend"));
    out
}

/// The kernels that a real BLAS library chose for each product; None if calls were only recorded.
fn products(map: &Map, context: &Context) -> Option<Table> {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("type", title("dryrun-type")),
        Column::right("columns", title("map-columns")),
        Column::left("lane", title("dryrun-lane")),
        Column::left("kernel", title("dryrun-kernel")),
        Column::left("products", "m x n x k"),
        Column::right("count", title("dryrun-count")),
    ]);
    for cell in &map.cells {
        for row in cell.rows.iter().filter(|row| row.is_multiplication()) {
            let Some(call) = row.calls.first().filter(|call| call.lane != lane::NONE) else { continue };
            let sizes: Vec<String> = row.calls.iter().map(|c| format!("{}x{}x{}", c.m, c.n, c.k)).collect();
            table.row([
                row.kind.clone().unwrap_or_default(),
                cell.columns.to_string(),
                lane::name(call.lane).to_owned(),
                row.title(),
                sizes.join(" "),
                row.count.to_string(),
            ]);
        }
    }
    (!table.is_empty()).then_some(table)
}

/// Types down, column counts across. A model with several types in one cell lists each.
pub fn labels(map: &Map, context: &Context) -> Table {
    let mut counts: Vec<u64> = map.cells.iter().map(|cell| cell.columns).collect();
    counts.sort_unstable();
    counts.dedup();
    let mut columns = vec![Column::left("type", context.lang.text("dryrun-type"))];
    // Column keys are only used by JSON and CSV, which this table is never written as.
    columns.extend(counts.iter().map(|count| Column::left("columns", count.to_string())));
    let mut table = Table::new(columns);
    for kind in kinds_of(map) {
        let mut row = vec![kind.clone()];
        for count in &counts {
            let cell =
                map.cells.iter().find(|cell| cell.columns == *count && (cell.kind == kind || cell.kind.is_empty()));
            row.push(cell.map(|cell| cell.way_of(&kind, None).label).unwrap_or_default());
        }
        table.row(row);
    }
    table
}

fn kinds_of(map: &Map) -> Vec<String> {
    let mut list = Vec::new();
    for kind in map.cells.iter().flat_map(Cell::kinds) {
        if !list.contains(&kind) {
            list.push(kind);
        }
    }
    list
}
