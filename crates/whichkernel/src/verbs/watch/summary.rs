//! What is printed at the end: the table, the figures per token, and how well it was seen.

use super::claims::Judged;
use super::{alarm, table};
use crate::context::{Context, Format};
use evidence::{Canary, DeviceKind};
use observe::watch::{Account, Tally};
use serde_json::{Value, json};
use std::fmt::Write;

pub fn print(
    tally: &Tally,
    account: &Account,
    judged: &Judged,
    format: Format,
    context: &Context,
) -> anyhow::Result<()> {
    match format {
        Format::Text => context.print(&format!("{}{}", text(tally, account, context), judged.text(context))),
        Format::Csv => context.print(&table::full(tally).csv()),
        Format::Md => context.print(&table::full(tally).markdown()),
        Format::Json => context.print(&format!("{:#}\n", as_json(tally, account, judged))),
    }
}

fn text(tally: &Tally, account: &Account, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = table::of(tally, context, None).text(context.width);
    for (sign, heard) in tally.fallback.signs() {
        let _ = writeln!(out, "{}", alarm::line(sign, heard, context));
    }
    let mut line = |key: &str, args: &[(&str, String)]| {
        let args: Vec<_> = args.iter().map(|(name, value)| (*name, value.clone().into())).collect();
        let _ = writeln!(out, "{}", lang.text_with(key, &args));
    };
    if let Some((all, families)) = tally.per_token() {
        let list: Vec<String> = families.iter().take(8).map(|(family, n)| format!("{family} {n:.1}")).collect();
        let args = [("tokens", tally.tokens().to_string()), ("all", format!("{all:.1}")), ("list", list.join(", "))];
        line("watch-per-token", &args);
    }
    let rejected: Vec<String> =
        tally.rejected_kernels().iter().map(|(name, count)| format!("{name} x{count}")).collect();
    if !rejected.is_empty() {
        line("watch-rejected", &[("list", rejected.join(", "))]);
    }
    // A number of what is known to be lost is not the number of what is lost.
    let lost = match account.whole() {
        true => tally.lost.to_string(),
        false => lang.text_with("watch-lost-least", &[("count", tally.lost.to_string().into())]),
    };
    line(
        "watch-account",
        &[
            ("seen", tally.launches().to_string()),
            ("calls", tally.calls().to_string()),
            ("lost", lost),
            ("unnamed", tally.unnamed().to_string()),
            ("seconds", format!("{:.1}", account.seconds)),
        ],
    );
    if tally.unknown_replays > 0 {
        line("watch-unknown-replays", &[("count", tally.unknown_replays.to_string())]);
    }
    for (what, why) in &account.gaps {
        line("watch-gap", &[("what", what.clone()), ("why", why.clone())]);
    }
    match &account.canary {
        Canary::InTarget { what } => line("watch-canary-target", &[("what", what.clone())]),
        Canary::InChild { what } => line("watch-canary-child", &[("what", what.clone())]),
        Canary::None => line("watch-canary-none", &[]),
    }
    if let Some(cost) = account.cost_ns {
        line("watch-cost", &[("ns", format!("{cost:.0}"))]);
    }
    line(
        match rung(account) {
            "Completed" => "watch-rung-completed",
            "Launched" => "watch-rung-launched",
            _ => "watch-rung-selected",
        },
        &[],
    );
    out
}

/// What an account's observations stand on.
fn rung(account: &Account) -> &'static str {
    match account.device {
        DeviceKind::Real if account.observer == "import" => "Completed",
        DeviceKind::Real => "Launched",
        _ => "Selected",
    }
}

fn as_json(tally: &Tally, account: &Account, judged: &Judged) -> Value {
    let rows: Vec<Value> = tally
        .rows()
        .iter()
        .map(|row| {
            json!({
                "phase": row.phase.key(), "kernel": row.kernel, "mangled": row.name.text(), "family": row.family.key(),
                "path": row.path.map(|path| path.to_string()), "type": row.weights, "columns": row.ne11,
                "grids": row.grids, "block": row.block, "shmem": row.shared, "file": row.file, "bundle": row.bundle,
                "launches": row.launches, "share": row.share,
            })
        })
        .collect();
    let per_token = tally.per_token().map(|(all, families)| {
        let families: serde_json::Map<String, Value> =
            families.into_iter().map(|(family, n)| (family.key().to_owned(), json!(n))).collect();
        json!({"launches": all, "families": families})
    });
    let gaps: Vec<Value> = account.gaps.iter().map(|(what, why)| json!({"what": what, "why": why})).collect();
    let fallbacks: Vec<Value> = tally.fallback.signs().map(|(sign, heard)| alarm::json(sign, heard)).collect();
    json!({
        "schema": "whichkernel.watch/1", "observer": account.observer, "device": account.device.name(),
        "rung": rung(account),
        "seen": tally.launches(), "calls": tally.calls(), "lost": tally.lost, "whole": account.whole(), "unnamed": tally.unnamed(),
        "unread": tally.unread, "unknown_replays": tally.unknown_replays, "rejected": tally.rejected_kernels(),
        "prompts": tally.prompts(), "tokens": tally.tokens(), "per_token": per_token, "fallbacks": fallbacks,
        "seconds": account.seconds, "cost_ns": account.cost_ns, "canary": account.canary,
        "contamination": account.contamination, "reach": account.reach, "blind": account.blind, "gaps": gaps,
        "claims": judged.json(), "rows": rows,
    })
}
