//! With a command: run it, then print what was selected, phase by phase.

use super::plan::Plan;
use super::{Args, card, place, record, rows, trace};
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context, Format};
use dryrun::{Ending, Outcome, Phase, Place, Request, Selected, Streams, select};
use launch::grammar::Family;
use launch::trace::Event;
use report::{Column, Table};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use sys::interrupt;

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let place = place(args)?;
    let program = args.command.first().map(Path::new);
    let mut plans = Vec::new();
    for given in &args.gpu {
        let card = card::find(given, &args.set)?;
        let blas = args.blas != super::Lane::Recorded;
        plans.push(Plan::new(&place, card, args.strict, blas, program)?);
    }
    // Several cards are one machine with several GPUs; their kernels are described for the first one's target.
    let Some(plan) = plans.first() else { anyhow::bail!("--gpu needs a card") };
    let profiles: Vec<_> = plans.iter().map(|plan| plan.card.profile.clone()).collect();
    let show = shown(args, &place);
    let request = Request {
        place: &place,
        profiles: &profiles,
        described: &plan.described,
        strict: plan.strict,
        command: &args.command,
        show: &show,
        blas: args.blas.into(),
        streams: Streams::Shown,
        preload: false,
        sparse_read: args.command.iter().any(|word| is_skeleton(Path::new(word))),
        variables: &[],
    };
    // From here on a signal ends the program, and not what is said about it.
    interrupt::catch();
    let outcome = request.run()?;
    let selected = select(&outcome, &profiles);
    if let Some(file) = &args.trace {
        trace::write(file, &outcome)?;
    }
    if args.record {
        record::run(context, &place, plan, &selected, &args.command)?;
    }
    let out = match args.format {
        _ if args.bench_lines => rows::bench(selected.iter()),
        Format::Csv => csv(plan, &selected),
        Format::Json => {
            let list: Vec<_> = selected.iter().map(|row| rows::json(plan, row)).collect();
            let value = json!({
                "schema": "whichkernel.dryrun/1", "runtime": place.name(), "run": rows::head(plan),
                "ending": ending(&outcome), "interrupted": outcome.interrupted, "selected": list, "events": events(&outcome),
            });
            format!("{}\n", serde_json::to_string_pretty(&value)?)
        }
        Format::Text | Format::Md => text(plan, &place, &outcome, &selected, args.format, context),
    };
    context.print(&out)?;
    Ok(match outcome.ending {
        _ if outcome.interrupted.is_some() => ExitCode::from(COULD_NOT_RUN),
        Ending::Code(0) if !selected.is_empty() => ExitCode::SUCCESS,
        // The program's own failure is an answer about the program; the record up to there was printed.
        _ => ExitCode::from(CHECK_FAILED),
    })
}

/// A large file that takes next to no room on disk: nearly all of it is a hole, so there are no weights to be read.
fn is_skeleton(path: &Path) -> bool {
    const LARGE: u64 = 64 << 20;
    std::fs::metadata(path)
        .is_ok_and(|file| file.is_file() && file.len() > LARGE && file.blocks() * 512 < file.len() / 16)
}

/// Arguments that are files or directories here must be seen inside the tree at the same path.
fn shown(args: &Args, place: &Place) -> Vec<PathBuf> {
    let Place::Tree { .. } = place else { return Vec::new() };
    let mut list = Vec::new();
    for word in args.command.iter().skip(1) {
        // A number or a flag may be a file's name by chance; a path or a name with an ending is meant as one.
        let named = word.to_string_lossy().contains(['/', '.']);
        let Ok(path) = std::path::absolute(word) else { continue };
        if named && path.exists() && !list.iter().any(|known: &PathBuf| path.starts_with(known)) {
            list.push(path.to_owned());
        }
    }
    list
}

fn ending(outcome: &Outcome) -> serde_json::Value {
    match outcome.ending {
        Ending::Code(code) => json!({"code": code}),
        Ending::Signal(signal) => json!({"signal": signal}),
    }
}

/// What else happened: counts of everything that a reader must know to trust the list.
fn events(outcome: &Outcome) -> serde_json::Value {
    let (mut rejected, mut unsupported) = (BTreeMap::new(), BTreeMap::new());
    let (mut lost, mut torn) = (0, 0);
    let mut memory = Vec::new();
    for trace in &outcome.traces {
        lost += trace.lost;
        torn += trace.torn;
        for event in &trace.events {
            match event {
                Event::Launch(launch) if launch.head.status != 0 => {
                    let name = trace.kernel(launch.head.kernel).map(|k| launch::grammar::read(&k.name).readable);
                    *rejected.entry(format!("{} ({})", name.unwrap_or_default(), launch.head.status)).or_insert(0) += 1;
                }
                Event::Unsupported(name) => *unsupported.entry(name.clone()).or_insert(0) += 1,
                Event::NoMemory(event) => {
                    memory.push(json!({"wanted": event.wanted, "free": event.free, "total": event.total}));
                }
                _ => {}
            }
        }
    }
    let programs: Vec<_> = outcome.traces.iter().map(|t| json!({"pid": t.pid, "program": t.program})).collect();
    json!({
        "processes": programs, "rejected": rejected, "unsupported": unsupported, "out_of_memory": memory, "lost": lost,
        "torn": torn,
    })
}

fn csv(plan: &Plan, selected: &[Selected]) -> String {
    let mut table = rows::table();
    for row in selected.iter().filter(|row| row.is_multiplication()) {
        rows::add(&mut table, plan, "", row.width, row);
    }
    table.csv()
}

fn text(
    plan: &Plan,
    place: &Place,
    outcome: &Outcome,
    selected: &[Selected],
    format: Format,
    context: &Context,
) -> String {
    let lang = &context.lang;
    let mut out = head(plan, place, context);
    for phase in [Phase::Prefill, Phase::Decode, Phase::Other] {
        let rows: Vec<&Selected> = selected.iter().filter(|row| row.phase == phase).collect();
        if rows.is_empty() {
            continue;
        }
        let launches: u64 = rows.iter().map(|row| row.count).sum();
        let args = [("count", launches.to_string().into())];
        let _ = writeln!(out, "\n{}", lang.text_with(&format!("dryrun-phase-{}", phase.key()), &args));
        let table = phase_table(&rows, context);
        out.push_str(&if format == Format::Md { table.markdown() } else { table.text(context.width) });
    }
    out.push('\n');
    if format == Format::Text && kept(context).contains(&false) {
        let _ = writeln!(out, "{}", lang.text("dryrun-narrow"));
    }
    notes(&mut out, plan, outcome, selected, context);
    out
}

pub fn head(plan: &Plan, place: &Place, context: &Context) -> String {
    let profile = &plan.card.profile;
    let args = [
        ("card", profile.title.as_str().into()),
        ("target", profile.gcn_arch_name.as_str().into()),
        ("units", profile.get("multiProcessorCount").to_string().into()),
        ("runtime", place.name().into()),
    ];
    let mut out = context.lang.text_with("dryrun-head", &args) + "\n";
    if let Some(before) = &plan.card.overridden {
        let args = [("before", before.as_str().into()), ("target", profile.gcn_arch_name.as_str().into())];
        let _ = writeln!(out, "{}", context.lang.text_with("dryrun-overridden", &args));
    }
    if !plan.described.ships {
        let shipped: Vec<&str> = plan.described.shipped.iter().map(String::as_str).collect();
        let args = [
            ("target", profile.processor().into()),
            ("shipped", shipped.join(" ").into()),
            ("near", plan.described.near.as_deref().unwrap_or("-").into()),
        ];
        let key = match (shipped.is_empty(), plan.strict) {
            (true, _) => "dryrun-undescribed",
            (_, true) => "dryrun-strict",
            (_, false) => "dryrun-relaxed",
        };
        let _ = writeln!(out, "{}", context.lang.text_with(key, &args));
    }
    out
}

fn phase_table(rows: &[&Selected], context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let columns = [
        Column::left("class", title("dryrun-class")),
        Column::left("kernel", title("dryrun-kernel")),
        Column::left("type", title("dryrun-type")),
        Column::right("ne11", "ne11"),
        Column::right("bundle", title("dryrun-bundle")),
        Column::left("grid", title("dryrun-grid")),
        Column::left("block", title("dryrun-block")),
        Column::right("count", title("dryrun-count")),
        Column::left("needs", title("dryrun-needs")),
    ];
    let kept = kept(context);
    let mut table = Table::new(columns.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(c, _)| c).collect());
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| (!row.is_multiplication(), std::cmp::Reverse(row.count)));
    for row in rows {
        let number = |value: Option<u64>| value.map(|n| n.to_string()).unwrap_or_default();
        let kernel = match row.calls.as_slice() {
            [] => row.title(),
            calls => {
                let sizes: Vec<String> = calls.iter().take(3).map(|c| format!("{}x{}x{}", c.m, c.n, c.k)).collect();
                let more = if calls.len() > 3 { ", ..." } else { "" };
                format!("{} [{}{more}]", row.title(), sizes.join(", "))
            }
        };
        let needs = row.needs.as_ref().map(|needs| {
            let fit = needs.occupancy.map_or("-".to_owned(), |n| n.to_string());
            let stub = if row.stub { "  STUB" } else { "" };
            format!("{} VGPR {} LDS {fit}/MP{stub}", needs.vgprs, needs.lds)
        });
        let grids = match row.grids.as_slice() {
            [first, _, ..] => format!("{}x{}x{} +{}", first[0], first[1], first[2], row.grids.len() - 1),
            _ => row.grid_text(),
        };
        // Helpers of a path (quantising for MMQ) are named for what they do.
        let names_path = row.is_multiplication() || matches!(row.family, Family::FlashAttention);
        let class = row.path.filter(|_| names_path).map(|path| path.to_string());
        let cells = [
            class.unwrap_or_else(|| row.family.key().to_owned()),
            kernel,
            row.kind.clone().unwrap_or_default(),
            number(row.ne11),
            number(row.bundle.map(u64::from)),
            grids,
            row.block_text(),
            row.count.to_string(),
            needs.unwrap_or_default(),
        ];
        table.row(cells.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(cell, _)| cell));
    }
    table
}

/// Which columns a terminal has room for: a kernel's name must stay in one piece.
fn kept(context: &Context) -> [bool; 9] {
    match context.width {
        Some(..100) => [false, true, false, true, true, true, false, true, false],
        Some(..140) => [true, true, false, true, true, true, true, true, false],
        _ => [true; 9],
    }
}

fn notes(out: &mut String, plan: &Plan, outcome: &Outcome, selected: &[Selected], context: &Context) {
    let lang = &context.lang;
    let mut say = |key: &str, args: &[(&'static str, String)]| {
        let args: Vec<_> = args.iter().map(|(name, value)| (*name, value.as_str().into())).collect();
        let _ = writeln!(out, "{}", lang.text_with(key, &args));
    };
    let events = events(outcome);
    let list = |key: &str| -> Vec<String> {
        let map = events.get(key).and_then(|value| value.as_object()).cloned().unwrap_or_default();
        map.iter().map(|(name, count)| format!("{name} x{count}")).collect()
    };
    if outcome.traces.is_empty() {
        say("dryrun-no-hip", &[]);
    } else if selected.is_empty() {
        say("dryrun-nothing", &[]);
    }
    let rejected = list("rejected");
    if !rejected.is_empty() {
        say("dryrun-rejected", &[("list", rejected.join(", "))]);
    }
    let unsupported = list("unsupported");
    if !unsupported.is_empty() {
        say("dryrun-unsupported", &[("list", unsupported.join(", "))]);
    }
    for event in outcome.traces.iter().flat_map(|trace| &trace.events) {
        if let Event::NoMemory(event) = event {
            let mib = |bytes: u64| (bytes >> 20).to_string();
            let args = [("wanted", mib(event.wanted)), ("free", mib(event.free)), ("total", mib(event.total))];
            say("dryrun-no-memory", &args);
        }
    }
    let stubs: u64 = selected.iter().filter(|row| row.stub && !row.foreign).map(|row| row.count).sum();
    if stubs > 0 {
        say("dryrun-stubs", &[("count", stubs.to_string())]);
    }
    let lost: u64 = outcome.traces.iter().map(|trace| trace.lost + trace.torn).sum();
    if lost > 0 {
        say("dryrun-lost", &[("count", lost.to_string())]);
    }
    match (outcome.interrupted, outcome.ending) {
        (Some(signal), _) => say("dryrun-interrupted", &[("signal", signal.to_string())]),
        (_, Ending::Code(0)) => {}
        (_, Ending::Code(code)) => say("dryrun-ended", &[("code", code.to_string())]),
        (_, Ending::Signal(signal)) => say("dryrun-killed", &[("signal", signal.to_string())]),
    }
    say("dryrun-grade", &[("grade", plan.grade().to_owned())]);
}
