//! Questions about ggml's Metal backend on Apple GPUs: the choices of one tree, and the differences between two.

use super::tree::{Ask, Operation, columns, known_types};
use crate::context::{CHECK_FAILED, Context, Format};
use crate::emit::Show;
use gpu::{AppleGpu, apple_gpu, apple_gpus};
use report::{Column, Lang, Table, conclusion_text};
use say::{ensure, say};
use source::{
    ALL_TYPES, DEFAULT_COLUMNS, DEFAULT_TYPES, MetalChoice, MetalDeclared, MetalDiff, MetalLaunch, MetalRules, Tree,
    metal_properties,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;

/// The default card.
const CARD: &str = "apple-m3-max";
/// Up to this many conditions are shown below a table with one row.
const MOST_CONDITIONS: usize = 24;

/// Whether the given GPUs are Apple's.
pub fn is_apple(gpus: &[String]) -> bool {
    !gpus.is_empty() && gpus.iter().all(|name| apple_gpu(name).is_some())
}

fn cards(gpus: &[String]) -> say::Result<Vec<&'static AppleGpu>> {
    let named = if gpus.is_empty() { vec![CARD.to_owned()] } else { gpus.to_vec() };
    let find = |given: &String| {
        let known: Vec<&str> = apple_gpus().iter().map(|card| card.name.as_str()).collect();
        Ok(apple_gpu(given).ok_or_else(|| say!("source-metal-card", given, known))?)
    };
    named.iter().map(find).collect()
}

/// The types and column counts of a question.
fn cells(ask: &Ask) -> say::Result<Vec<(String, i64)>> {
    let default = if ask.operation().has_weights() { DEFAULT_TYPES } else { &["F16", "Q8_0", "Q4_0"][..] };
    let types: Vec<String> = match ask.types.as_slice() {
        [] => default.iter().map(|ty| (*ty).to_owned()).collect(),
        [all] if all == "all" => ALL_TYPES.iter().map(|ty| (*ty).to_owned()).collect(),
        some => some.iter().map(|ty| ty.to_ascii_uppercase()).collect(),
    };
    known_types(&types)?;
    let counts = ask.columns.as_deref().map(columns).transpose()?.unwrap_or_else(|| DEFAULT_COLUMNS.to_vec());
    Ok(types.iter().flat_map(|kind| counts.iter().map(move |&count| (kind.clone(), count))).collect())
}

/// Evaluates the Metal backend of a tree.
pub fn declared(tree: &Tree, gpus: &[String], ask: &Ask) -> say::Result<MetalDeclared> {
    let others = [
        ("--op", !matches!(ask.operation(), Operation::MulMat | Operation::MulMatId | Operation::FlashAttn)),
        ("--smem", ask.smem.is_some()),
    ];
    unheeded(&others)?;
    let (cards, cells) = (cards(gpus)?, cells(ask)?);
    let given = ask.overrides()?;
    let valued = given.define.iter().map(|define| {
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        (name.to_owned(), Some(value.to_owned()))
    });
    let defines: Vec<_> = valued.chain(given.undefine.iter().map(|name| (name.clone(), None))).collect();
    let mut rules = MetalRules::open_with(tree, &given.cmake, &defines)?;
    for (name, _) in &given.env {
        ensure!(rules.reads(name), "source-metal-env", name);
    }
    let mut answers = Vec::new();
    let mut properties = BTreeMap::new();
    for card in cards {
        answers.extend(rules.choices(card, &given.env, &ask.shape(ask.operation()), &cells)?);
        properties.extend(metal_properties(card));
    }
    Ok(MetalDeclared::new(tree.identity(), answers, properties))
}

/// Rejects flags that do not apply.
pub fn unheeded(flags: &[(&str, bool)]) -> say::Result<()> {
    let given: Vec<&str> = flags.iter().filter_map(|(flag, given)| given.then_some(*flag)).collect();
    ensure!(given.is_empty(), "source-metal-unheeded", flags = given);
    Ok(())
}

/// Shows the choices of one tree.
pub fn show(tree: &Tree, gpus: &[String], ask: &Ask, format: Format, context: &Context) -> say::Result<ExitCode> {
    let answer = declared(tree, gpus, ask)?;
    context.emit(format, &answer)?;
    Ok(if answer.complete.answered() == 0 { ExitCode::from(CHECK_FAILED) } else { ExitCode::SUCCESS })
}

/// Compares two trees. Exit code 1 if anything differs.
pub fn compare(
    trees: [&Tree; 2],
    gpus: &[String],
    ask: &Ask,
    format: Format,
    context: &Context,
) -> say::Result<ExitCode> {
    let [a, b] = trees;
    let answer = MetalDiff::of(&declared(a, gpus, ask)?, &declared(b, gpus, ask)?);
    context.emit(format, &answer)?;
    let whole = answer.conclusion.unanswered() == 0;
    Ok(if answer.differences.is_empty() && whole { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

fn dims(dims: &[Option<i64>; 3]) -> String {
    dims.map(|dim| dim.map_or_else(|| "?".to_owned(), |dim| dim.to_string())).join("x")
}

fn memory(launch: &MetalLaunch) -> String {
    let sizes = launch.threadgroup_memory.iter().filter(|(_, size)| *size != Some(0));
    let sizes: Vec<String> =
        sizes.map(|(_, size)| size.map_or_else(|| "?".to_owned(), |size| size.to_string())).collect();
    if sizes.is_empty() { "0".to_owned() } else { sizes.join("+") }
}

/// The function constants of a kernel: `600=2 602=1`.
fn constants(launch: &MetalLaunch) -> String {
    let value = |value: &Option<i64>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
    launch.constants.iter().map(|(index, of)| format!("{index}={}", value(of))).collect::<Vec<_>>().join(" ")
}

fn undetermined() -> String {
    "UNDETERMINED".to_owned()
}

/// The launch that computes the result.
fn main_launch(cell: &MetalChoice) -> Option<&MetalLaunch> {
    cell.launches.iter().rev().find(|launch| Some(&launch.kernel) == cell.kernel.as_ref())
}

/// Consecutive cells with the same kernels and constants, as one row each.
fn rows(cells: &[MetalChoice]) -> Vec<&[MetalChoice]> {
    let alike = |a: &MetalChoice, b: &MetalChoice| {
        let kernels = |cell: &MetalChoice| -> Vec<(String, String)> {
            cell.launches.iter().map(|launch| (launch.kernel.clone(), constants(launch))).collect()
        };
        a.card == b.card && a.kind == b.kind && kernels(a) == kernels(b) && a.undetermined == b.undetermined
    };
    cells.chunk_by(alike).collect()
}

/// The column counts of cells: `1..3, 24`. A range has every count in it.
fn counts(cells: &[MetalChoice]) -> String {
    let counts: Vec<i64> = cells.iter().map(|cell| cell.columns).collect();
    let ranges = counts.chunk_by(|a, b| a + 1 == *b).map(|range| match range {
        [first, .., last] => format!("{first}..{last}"),
        range => range.iter().map(i64::to_string).collect(),
    });
    ranges.collect::<Vec<_>>().join(", ")
}

impl Show for MetalDeclared {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::left("card", lang.text("dryrun-card")),
            Column::left("type", lang.text("dryrun-type")),
            Column::right("columns", lang.text("map-columns")),
            Column::left("path", lang.text("dryrun-class")),
            Column::left("kernel", lang.text("dryrun-kernel")),
            Column::left("constants", lang.text("metal-constants")),
            Column::left("threadgroups", lang.text("metal-threadgroups")),
            Column::left("threads", lang.text("metal-threads")),
            Column::left("memory", lang.text("metal-memory")),
        ]);
        for alike in rows(&self.cells) {
            let Some(first) = alike.first() else { continue };
            let launch = main_launch(first);
            let of = |text: fn(&MetalLaunch) -> String| launch.map(text).unwrap_or_default();
            table.row([
                first.card.clone(),
                first.kind.clone(),
                counts(alike),
                first.path.clone().unwrap_or_else(undetermined),
                first.kernel.clone().unwrap_or_else(undetermined),
                of(constants),
                of(|launch| dims(&launch.threadgroups)),
                of(|launch| dims(&launch.threads_per_threadgroup)),
                of(memory),
            ]);
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let mut out = self.table(lang).map(|table| table.text(context.width)).unwrap_or_default();
        if let [only] = self.cells.as_slice() {
            why(only, lang, &mut out);
        }
        let open = self.cells.iter().filter_map(|cell| cell.undetermined.as_ref());
        let mut reasons: Vec<String> = open.map(|why| why.in_words(lang)).collect();
        reasons.sort_unstable();
        reasons.dedup();
        for reason in reasons {
            let _ = writeln!(out, "UNDETERMINED: {reason}");
        }
        let unknown = self.properties.iter().filter(|(_, property)| property.values.len() > 1);
        let unknown: Vec<&str> = unknown.map(|(name, _)| name.as_str()).collect();
        let _ = writeln!(out, "{}", lang.text_with("source-metal-unknown", &[("names", unknown.join(", ").into())]));
        let _ = writeln!(out, "{}", lang.text("source-metal-observed"));
        let _ = writeln!(out, "{}", conclusion_text(lang, &self.complete));
        out
    }
}

/// All launches of one cell, and the conditions that led to them.
fn why(cell: &MetalChoice, lang: &Lang, out: &mut String) {
    if cell.launches.len() > 1 {
        let _ = writeln!(out, "{}", lang.text("source-metal-launches"));
        for launch in &cell.launches {
            let (groups, threads) = (dims(&launch.threadgroups), dims(&launch.threads_per_threadgroup));
            let _ = writeln!(out, "  {} {} {groups} {threads} {}", launch.kernel, constants(launch), memory(launch));
        }
    }
    if !cell.rule.is_empty() {
        let _ = writeln!(out, "{}", lang.text_with("source-why", &[("what", cell.columns.into())]));
    }
    for condition in cell.rule.iter().take(MOST_CONDITIONS) {
        let text = condition.condition.split_whitespace().collect::<Vec<_>>().join(" ");
        let values =
            condition.values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ");
        let values = if values.is_empty() { String::new() } else { format!("  ({values})") };
        let _ = writeln!(out, "  {}:{}  {text} -> {}{values}", condition.file, condition.line, condition.outcome);
    }
}

impl Show for MetalDiff {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::left("card", lang.text("dryrun-card")),
            Column::left("type", lang.text("dryrun-type")),
            Column::right("columns", lang.text("map-columns")),
            Column::left("a", self.a.clone()),
            Column::left("b", self.b.clone()),
        ]);
        let shown = |cell: &MetalChoice, full: bool| match main_launch(cell) {
            Some(launch) if full => {
                let (groups, threads) = (dims(&launch.threadgroups), dims(&launch.threads_per_threadgroup));
                format!("{} {} {groups} {threads} {}", launch.kernel, constants(launch), memory(launch))
            }
            Some(launch) => launch.kernel.clone(),
            None => undetermined(),
        };
        for of in &self.differences {
            // The rest is shown if the kernels have the same name.
            let full = of.a.kernel == of.b.kernel;
            let row = [of.a.card.clone(), of.a.kind.clone(), of.a.columns.to_string()];
            table.row(row.into_iter().chain([shown(&of.a, full), shown(&of.b, full)]).collect::<Vec<_>>());
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let table = self.table(&context.lang).filter(|table| !table.is_empty());
        let table = table.map(|table| table.text(context.width) + "\n").unwrap_or_default();
        let observed = context.lang.text("source-metal-observed");
        format!("{table}{observed}\n{}\n", conclusion_text(&context.lang, &self.conclusion))
    }
}
