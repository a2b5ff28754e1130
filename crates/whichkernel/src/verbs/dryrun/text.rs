//! A run for users: the verdict first, then the selections by phase, then notes on the list.

use super::command::Ran;
use super::cuda_notes;
use crate::asked::dry::head;
use crate::asked::gemm::section;
use crate::context::{Context, Format};
use dryrun::{Ending, Finish, Phase, Selected};
use evidence::Conclusion;
use launch::grammar::Family;
use report::{Column, Table, conclusion_text};
use std::fmt::Write;

pub fn text(ran: &Ran<'_>, format: Format, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = verdict(ran, context);
    let mut groups: Vec<(Phase, u64, u32)> =
        ran.selected.iter().map(|row| (row.phase, row.width, row.device)).collect();
    groups.sort_unstable();
    groups.dedup();
    for (phase, width, device) in groups {
        let of = |row: &&Selected| (row.phase, row.width, row.device) == (phase, width, device);
        let rows: Vec<&Selected> = ran.selected.iter().filter(of).collect();
        let launches: u64 = rows.iter().map(|row| row.count).sum();
        let card = ran.plans.get(device as usize).filter(|_| ran.plans.len() > 1);
        let args = [
            ("count", launches.into()),
            ("columns", width.into()),
            (
                "device",
                card.map(|plan| format!("{device} ({})", plan.card.profile.processor())).unwrap_or_default().into(),
            ),
        ];
        let key = match phase {
            Phase::Decode if width > 1 => "dryrun-phase-parallel",
            Phase::Prefill => "dryrun-phase-prefill",
            Phase::Batch => "dryrun-phase-batch",
            Phase::Decode => "dryrun-phase-decode",
            Phase::Other => "dryrun-phase-other",
        };
        let on = if card.is_some() { lang.text_with("dryrun-on-device", &args) } else { String::new() };
        let _ = writeln!(out, "\n{}{on}", lang.text_with(key, &args));
        let table = phase_table(&rows, context);
        out.push_str(&if format == Format::Md { table.markdown() } else { table.text(context.width) });
    }
    out.push('\n');
    if format == Format::Text && kept(context).contains(&false) {
        let _ = writeln!(out, "{}", lang.text("dryrun-narrow"));
    }
    let explained = ran.explained();
    out + &section(&explained.iter().collect::<Vec<_>>(), lang)
}

/// The main result and possible misunderstandings, before any table.
fn verdict(ran: &Ran<'_>, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = String::new();
    for plan in ran.plans {
        out.push_str(&head::card(plan, ran.place, context));
    }
    let verdict = &ran.verdict;
    let mut say = |key: &str, what: String| {
        let args = [("what", what.into()), ("count", verdict.per_token.unwrap_or(0).into())];
        let _ = writeln!(out, "{}", lang.text_with(key, &args));
    };
    let choice = |conclusion: &Conclusion| conclusion_text(lang, conclusion);
    if let Some(prompts) = &verdict.prompts {
        say("dryrun-prompts", choice(prompts));
    }
    if let Some(tokens) = &verdict.tokens {
        say(if verdict.per_token.is_some() { "dryrun-tokens-counted" } else { "dryrun-tokens" }, choice(tokens));
    }
    let cuda = cuda_notes::is_cuda(ran);
    if ran.outcome.is_unrecorded() {
        say(if cuda { "dryrun-cuda-unrecorded" } else { "dryrun-unrecorded" }, String::new());
    } else if ran.outcome.traces.is_empty() {
        say(if cuda { "dryrun-cuda-none" } else { "dryrun-no-hip" }, String::new());
    } else if ran.selected.is_empty() {
        say("dryrun-nothing", String::new());
    } else {
        say("dryrun-blas", choice(&verdict.blas));
    }
    say("dryrun-reach", choice(&verdict.reach));
    out.push_str(&head::elsewhere(verdict.products.as_ref(), lang));
    notes(&mut out, ran, context);
    cuda_notes::write(&mut out, ran, lang);
    cuda_notes::read_back(&mut out, ran, lang);
    if !ran.selected.is_empty() {
        let _ = writeln!(out, "{}", lang.text("dryrun-speed"));
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
        let cells = cells(row, context);
        table.row(cells.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(cell, _)| cell));
    }
    table
}

fn cells(row: &Selected, context: &Context) -> [String; 9] {
    let number = |value: Option<u64>| value.map(|n| n.to_string()).unwrap_or_default();
    let kernel = match row.calls.as_slice() {
        [] => row.title(),
        calls => {
            let sizes: Vec<String> = calls.iter().take(3).map(|c| format!("{}x{}x{}", c.m, c.n, c.k)).collect();
            let more = if calls.len() > 3 { ", ..." } else { "" };
            format!("{} [{}{more}]", row.title(), sizes.join(", "))
        }
    };
    // Experts have their own column counts. Rows that differ only in these must not look the same.
    let kernel = if row.routed { format!("{kernel} {}", context.lang.text("dryrun-experts")) } else { kernel };
    let needs = row.needs.as_ref().map(|needs| {
        let fit = needs.occupancy.map_or("-".to_owned(), |n| n.to_string());
        let stub = if row.stub { "  STUB" } else { "" };
        // The metadata comes from another target's code, so registers and values derived from them are estimates.
        let about = if row.foreign && needs.registers.is_some() { "~" } else { "" };
        match needs.registers {
            Some(registers) => format!("{about}{registers} REG {} SMEM {about}{fit}/SM", needs.lds),
            None => format!("{} VGPR {} LDS {fit}/MP{stub}", needs.vgprs, needs.lds),
        }
    });
    let grids = match row.grids.as_slice() {
        [first, _, ..] => format!("{}x{}x{} +{}", first[0], first[1], first[2], row.grids.len() - 1),
        _ => row.grid_text(),
    };
    // Helpers of a path (quantising for MMQ) are named by their function.
    let names_path = row.is_multiplication() || matches!(row.family, Family::FlashAttention);
    let class = row.path.filter(|_| names_path).map(|path| path.to_string());
    [
        class.unwrap_or_else(|| row.family.key().to_owned()),
        kernel,
        row.kind.clone().unwrap_or_default(),
        number(row.ne11),
        number(row.bundle.map(u64::from)),
        grids,
        row.block_text(),
        row.count.to_string(),
        needs.unwrap_or_default(),
    ]
}

/// The columns that fit the terminal: a kernel's name must not be wrapped.
fn kept(context: &Context) -> [bool; 9] {
    match context.width {
        Some(..100) => [false, true, false, true, true, true, false, true, false],
        Some(..140) => [true, true, false, true, true, true, true, true, false],
        _ => [true; 9],
    }
}

fn notes(out: &mut String, ran: &Ran<'_>, context: &Context) {
    let lang = &context.lang;
    let mut say = |key: &str, args: &[(&'static str, String)]| {
        let args: Vec<_> = args.iter().map(|(name, value)| (*name, value.as_str().into())).collect();
        let _ = writeln!(out, "{}", lang.text_with(key, &args));
    };
    let events = &ran.events;
    if !events.rejected.is_empty() {
        let target = |device: u32| ran.plans.get(device as usize).map_or("?", |plan| plan.card.profile.processor());
        let text = |(r, count): (&dryrun::Rejected, &u64)| {
            format!("{} ({}, {}) x{count}", r.kernel, target(r.device), r.status)
        };
        let list: Vec<String> = events.rejected.iter().map(text).collect();
        say("dryrun-rejected", &[("list", list.join(", "))]);
    }
    if !events.unsupported.is_empty() {
        let list: Vec<String> = events.unsupported.iter().map(|(name, count)| format!("{name} x{count}")).collect();
        say("dryrun-unsupported", &[("list", list.join(", "))]);
    }
    if events.after_time > 0 {
        let list: Vec<&str> = events.timed.keys().map(String::as_str).collect();
        say("dryrun-timed", &[("list", list.join(", ")), ("count", events.after_time.to_string())]);
    }
    for event in &events.out_of_memory {
        let mib = |bytes: u64| (bytes >> 20).to_string();
        let args = [("wanted", mib(event.wanted)), ("free", mib(event.free)), ("total", mib(event.total))];
        say("dryrun-no-memory", &args);
    }
    let stubs: u64 = ran.selected.iter().filter(|row| row.stub && !row.foreign).map(|row| row.count).sum();
    if stubs > 0 {
        say("dryrun-stubs", &[("count", stubs.to_string())]);
    }
    if events.lost + events.torn > 0 {
        say("dryrun-lost", &[("count", (events.lost + events.torn).to_string())]);
    }
    for file in &ran.outcome.unjudged {
        let target = ran.plans.get(file.device as usize).map_or("?", |plan| plan.card.profile.processor());
        let args = [
            ("file", file.file.clone()),
            ("count", file.launches.to_string()),
            ("target", target.to_owned()),
            ("shipped", file.targets.join(" ")),
        ];
        say(if file.targets.is_empty() { "dryrun-unread" } else { "dryrun-unshipped" }, &args);
    }
    if let Some(visible) = &ran.outcome.visible {
        let args = [
            ("variables", visible.variables.join(", ")),
            ("count", visible.numbers.len().to_string()),
            ("all", ran.plans.len().to_string()),
        ];
        say("dryrun-visible", &args);
    }
    if !ran.outcome.withheld.is_empty() {
        say("dryrun-withheld", &[("list", ran.outcome.withheld.join(", "))]);
    }
    match (ran.outcome.finish(), ran.outcome.interrupted) {
        (Finish::Whole, None) => {}
        (Finish::Whole, Some(signal)) => say("dryrun-told", &[("signal", signal.to_string())]),
        (Finish::Stopped(signal), Some(_)) => say("dryrun-interrupted", &[("signal", signal.to_string())]),
        (Finish::Stopped(signal), None) => say("dryrun-stopped", &[("signal", signal.to_string())]),
        (Finish::Failed(Ending::Code(code)), _) => say("dryrun-ended", &[("code", code.to_string())]),
        (Finish::Failed(Ending::Signal(signal)), _) => say("dryrun-killed", &[("signal", signal.to_string())]),
    }
}
