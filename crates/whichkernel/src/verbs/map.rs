//! Types and columns as a table that fits a terminal: from source, from the dry run, or both with differences marked.

pub mod gemm;
mod vulkan;

use crate::asked::dry::{self, DEFAULT_RUNTIME, head, problems, reach_line, survey};
use crate::context::{CHECK_FAILED, Context, Format};
use crate::emit::Plain;
use dryrun::{DispatchMaps, Map, RunRoot, Said, Sheet, Way, WayShape, agreement};
use evidence::{Conclusion, Says};
use gguf::Path;
use report::{Column, Table, conclusion_text};
use source::{Device, Overrides, Row, Shape, Survey, Tree};
use std::fmt::Write;
use std::process::ExitCode;
use unicode_width::UnicodeWidthStr;

/// Type x columns -> path and tile, for one card or several generations side by side
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Args {
    #[command(flatten)]
    dry: dry::Ask,

    /// A source tree (directory, REPO@REV, archive) to compare with the dry run
    #[arg(long, value_name = "TREE")]
    source: Option<String>,

    /// Use only the source; run nothing
    #[arg(long, requires = "source")]
    no_dryrun: bool,

    #[command(flatten)]
    gemm: gemm::GemmAsk,

    /// Leave the launch shape (grid, block, warps, dynamic shared memory) out of the answer
    #[arg(long)]
    no_shape: bool,

    /// Exit 1 if the source and the dry run disagree
    #[arg(long, requires = "source")]
    check: bool,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    if args.gemm.library.is_some() {
        return gemm::run(&args.dry, &args.gemm, context);
    }
    if args.dry.backend == dry::Backend::Vulkan {
        dry::vulkan::heed(&args.dry, &[("--source", args.source.is_some())])?;
        return vulkan::run(&args.dry, context);
    }
    dry::check_device(&args.dry)?;
    let runtime = args.dry.runtime.as_deref().unwrap_or(DEFAULT_RUNTIME);
    let place = if args.no_dryrun { None } else { Some(RunRoot::find(runtime)?) };
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
        let target = match map {
            Some(map) => map.plan.card.profile.processor().to_owned(),
            None => Device::find(given)?.target,
        };
        let mut sheet = Sheet::new(given, target, map);
        for row in declared.iter().filter(|row| row.arch == sheet.target) {
            let key = (row.ty.clone(), row.columns.unsigned_abs());
            sheet.cells.entry(key).or_default().declared = Some(way(row));
        }
        if args.no_shape {
            let ways = sheet.cells.values_mut().flat_map(|said| [&mut said.declared, &mut said.selected]);
            ways.flatten().for_each(|way| way.shape = None);
        }
        sheets.push(sheet);
    }
    let both = args.source.is_some() && !args.no_dryrun;
    let agreement = both.then(|| agreement(&sheets));
    let plain = |plain| match plain {
        Plain::Csv => csv(&sheets),
        Plain::Text | Plain::Md => text(&sheets, agreement.as_ref(), args, place.as_ref(), context),
    };
    let whole = || DispatchMaps::new(&sheets, agreement.as_ref());
    context.emit_as(args.dry.format, whole, |format| Ok(plain(format)))?;
    // If nothing was run, cells that the source leaves open have no answer.
    let open = place.is_none() && (declared.is_empty() || declared.iter().any(|row| row.path.is_none()));
    let unanswered = open || !maps.iter().all(Map::is_answered);
    let refuted = args.check && agreement.is_none_or(|agreement| agreement.answered() == 0 || differs(&agreement));
    Ok(if unanswered || refuted { ExitCode::from(CHECK_FAILED) } else { ExitCode::SUCCESS })
}

fn differs(agreement: &Conclusion) -> bool {
    matches!(agreement.says(), Says::Different { .. })
}

/// The choices that the tree declares for weights of the skeleton's most frequent shape.
fn declare(tree: &str, args: &Args) -> say::Result<Vec<Row>> {
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
    let mut question = shape.question(devices, types, columns);
    question.launch_shapes = !args.no_shape;
    let survey = Survey::run(&tree, question, &Overrides::default())?;
    Ok(survey.rows())
}

fn way(row: &Row) -> Way {
    let tile = if row.path == Some(Path::Blas) { 0 } else { row.variant.max(0).unsigned_abs() };
    let label = match row.path {
        None => "?".to_owned(),
        Some(path @ Path::Blas) => path.name().to_owned(),
        Some(path) if tile > 0 => format!("{}{tile}", path.name().to_ascii_lowercase()),
        Some(path) => path.name().to_ascii_lowercase(),
    };
    let shape = row.shape.as_ref().map(|shape| WayShape {
        grid: shape.grid,
        block: shape.block,
        warps: shape.warps,
        shared: shape.shared,
        undetermined: shape.undetermined.iter().map(ToString::to_string).collect(),
    });
    Way { path: row.path, tile, label, shape }
}

/// Rows of one table: types in order of appearance, with a cell per column count.
fn axes<'s>(sheet: &'s Sheet<'_>) -> (Vec<&'s str>, Vec<u64>) {
    let cells = &sheet.cells;
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
    place: Option<&RunRoot>,
    context: &Context,
) -> String {
    let lang = &context.lang;
    let mut out = String::new();
    for sheet in sheets {
        let (kinds, columns) = axes(sheet);
        let _ = writeln!(out, "{}", sheet.title());
        if let (Some(map), Some(place)) = (sheet.map, place) {
            // The first line of the table names the card, like the title.
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
            let cell = |columns: &u64| sheet.cells.get(&(kind.to_owned(), *columns)).map(cell_text).unwrap_or_default();
            table.row(std::iter::once(kind.to_owned()).chain(columns.iter().map(cell)));
        }
        if args.dry.format == Format::Md {
            out.push_str(&format!("\n{}", table.markdown()));
        } else {
            out.push_str(&fit(&table, context));
        }
        match sheet.map {
            Some(map) => {
                for line in problems(map, lang).into_iter().chain([reach_line(&map.reach(), lang)]) {
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
    if !args.no_shape {
        let _ = writeln!(out, "{}", lang.text("map-legend-warps"));
    }
    out
}

/// The label with the warps of a block: `mmvq1·8w`.
fn cell_text(said: &Said) -> String {
    let shape = said.selected.as_ref().or(said.declared.as_ref()).and_then(|way| way.shape.as_ref());
    match shape.and_then(|shape| shape.warps).filter(|_| !said.disagrees()) {
        Some(warps) => format!("{}·{warps}w", said.text()),
        None => said.text(),
    }
}

/// Coloured by path on a terminal; the table itself handles a width that does not fit.
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
    let keys = [
        "card",
        "type",
        "columns",
        "declared",
        "selected",
        "agree",
        "target",
        "rung",
        "reach",
        "declared_path",
        "declared_tile",
        "selected_path",
        "selected_tile",
        "declared_shape",
        "selected_shape",
        "declared_shape_undetermined",
    ];
    let mut table = Table::new(keys.map(|key| Column::left(key, key)).to_vec());
    for sheet in sheets {
        for ((kind, columns), said) in &sheet.cells {
            let text = |way: &Option<Way>| way.as_ref().map(|way| way.label.clone()).unwrap_or_default();
            let path = |way: &Option<Way>| way.as_ref().and_then(|way| way.path).map_or("", Path::name).to_owned();
            let tile = |way: &Option<Way>| way.as_ref().map(|way| way.tile.to_string()).unwrap_or_default();
            let shape = |way: &Option<Way>| {
                way.as_ref().and_then(|way| way.shape.as_ref()).map_or(String::new(), WayShape::told)
            };
            let agree = said.agrees().map_or("", |agree| if agree { "yes" } else { "no" });
            table.row([
                sheet.card(),
                kind.clone(),
                columns.to_string(),
                text(&said.declared),
                text(&said.selected),
                agree.to_owned(),
                sheet.target.clone(),
                sheet.rung().name().to_owned(),
                sheet.map.map(|map| dryrun::shown(&map.reach()).name()).unwrap_or_default().to_owned(),
                path(&said.declared),
                tile(&said.declared),
                path(&said.selected),
                tile(&said.selected),
                shape(&said.declared),
                shape(&said.selected),
                said.declared
                    .as_ref()
                    .and_then(|way| way.shape.as_ref())
                    .map_or(String::new(), |shape| shape.undetermined.join("; ")),
            ]);
        }
    }
    table.csv()
}
