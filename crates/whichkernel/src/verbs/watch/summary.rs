//! The final output: the table, the figures per token, and how completely launches were seen.

use super::claims::Judged;
use super::{alarm, claims, table};
use crate::asked::gemm::{Launched, launched_section};
use crate::context::{Context, Format};
use crate::emit::Plain;
use evidence::{Canary, DeviceKind, Rung};
use launch::grammar::Family;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use watch::{Device, Ended, Name, ObserverReport, Tally, Watched, Word, signal_name};

/// The data that is reported at the end.
pub struct Told<'a> {
    pub tally: &'a Tally,
    pub account: &'a ObserverReport,
    pub judged: &'a Judged,
    /// How the program ended, if that ended the watch.
    pub ended: Option<Ended>,
}

impl Told<'_> {
    pub fn print(&self, format: Format, context: &Context) -> say::Result<()> {
        let Told { tally, account, judged, ended } = self;
        // Comes first, because everything below is about a failed run.
        let failed = ended.filter(|ended| ended.failed()).map(|how| ended_line(how, context));
        if let (Some(line), Format::Csv | Format::Md | Format::Json) = (&failed, format) {
            crate::context::tell_part(format_args!("{line}"));
        }
        let failed = failed.unwrap_or_default();
        let plain = |plain| match plain {
            Plain::Text => format!("{failed}{}{}", text(tally, account, context), judged.text(context)),
            Plain::Csv => table::full(tally).csv(),
            Plain::Md => table::full(tally).markdown(),
        };
        let whole = || {
            let english = report::Lang::new("en");
            Watched::new(tally, account, &judged.held, *ended, |held| claims::why(held, &english))
        };
        context.emit_as(format, whole, |format| Ok(plain(format)))
    }
}

fn ended_line(how: Ended, context: &Context) -> String {
    format!("{}\n", ended(how, context))
}

/// How a program ended, as a sentence.
pub fn ended(how: Ended, context: &Context) -> String {
    match how {
        Ended::TargetGone => context.lang.text("watch-ended-gone"),
        Ended::Code(code) => context.lang.text_with("watch-ended-code", &[("code", code.to_string().into())]),
        Ended::Signal(signal) => {
            let (_, meaning) = signal_name(signal);
            let words = [("signal", signal.to_string().into()), ("name", meaning.into())];
            context
                .lang
                .text_with(if meaning.is_empty() { "watch-ended-signal" } else { "watch-ended-signal-named" }, &words)
        }
    }
}

fn text(tally: &Tally, account: &ObserverReport, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = table::of(tally, context).text(context.width);
    out += &launched_section(&blas_kernels(tally), lang);
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
    // There may be more losses than the known ones.
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
    let concluded = report::conclusion_text(lang, &account.conclusion(tally));
    line("watch-concluded", &[("text", concluded)]);
    if tally.unknown_replays > 0 {
        line("watch-unknown-replays", &[("count", tally.unknown_replays.to_string())]);
    }
    for unseen in &account.gaps {
        line("watch-gap", &[("what", lang.say(&unseen.what())), ("why", lang.say(&unseen.why()))]);
    }
    let what = account.canary.what().map_or(String::new(), |what| what.in_words(lang));
    match &account.canary {
        Canary::InTarget(_) => line("watch-canary-target", &[("what", what)]),
        Canary::InChild(_) => line("watch-canary-child", &[("what", what)]),
        Canary::None => line("watch-canary-none", &[]),
    }
    if let Some(cost) = account.cost_ns {
        line("watch-cost", &[("ns", format!("{cost:.0}"))]);
    }
    if let Word::File { name, maker, host, .. } = &account.word {
        let host = host.clone().unwrap_or_else(|| "?".to_owned());
        line("watch-word", &[("file", name.clone()), ("maker", (*maker).to_owned()), ("host", host)]);
    }
    for (key, args) in rungs(tally, account, lang) {
        line(key, &args);
    }
    out
}

/// The kernels of BLAS libraries, with the products of the run that lead to them.
fn blas_kernels(tally: &Tally) -> Vec<Launched> {
    let rows = tally.rows();
    let mut sizes: Vec<[u64; 4]> = Vec::new();
    for call in rows.iter().filter_map(|row| row.call) {
        let size = [call.m, call.n, call.k, call.batch.max(1)].map(|size| u64::try_from(size).unwrap_or(0));
        if !size.contains(&0) && !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    let mut seen = BTreeSet::new();
    let gemm = rows.iter().filter(|row| row.family == Family::Gemm);
    let kernels = gemm.filter_map(|row| match &row.name {
        Name::Kernel(name) if name.starts_with("Cijk_") => Some((name, &row.file)),
        _ => None,
    });
    let each = kernels.filter(|kernel| seen.insert(*kernel));
    each.filter_map(|(name, file)| Launched::find(name, Path::new(file), &sizes)).collect()
}

type Line = (&'static str, Vec<(&'static str, String)>);

/// The rungs of the launches and the reason: a line for each device, with its processes.
fn rungs(tally: &Tally, account: &ObserverReport, lang: &report::Lang) -> Vec<Line> {
    let mut devices: Vec<(&Device, Vec<String>)> = Vec::new();
    for (pid, _, device) in tally.devices.iter() {
        let pid = if pid == 0 { Vec::new() } else { vec![pid.to_string()] };
        match devices.iter_mut().find(|(known, _)| *known == device) {
            Some((_, pids)) if pids.last() == pid.last() => {}
            Some((_, pids)) => pids.extend(pid),
            None => devices.push((device, pid)),
        }
    }
    if devices.is_empty() {
        let key = if account.device == DeviceKind::StandIn { "watch-rung-standin" } else { "watch-rung-nothing" };
        return vec![(key, Vec::new())];
    }
    let several = devices.len() > 1;
    let line = |(device, pids): (&Device, Vec<String>)| {
        let key = match device {
            Device::Real { .. } if account.ended => "watch-rung-ended",
            Device::Real { .. } => "watch-rung-launched",
            Device::Processor { .. } if account.ended => "watch-rung-processor-ended",
            Device::Processor { .. } => "watch-rung-processor",
            Device::StandIn => "watch-rung-standin",
            Device::NoneSeen | Device::Unlooked { .. } => "watch-rung-unknown",
            Device::Told { .. } if account.rung(DeviceKind::Real) == Rung::Completed => "watch-rung-completed",
            Device::Told { .. } => "watch-rung-told",
        };
        let of = if several && !pids.is_empty() { format!(" ({})", pids.join(", ")) } else { String::new() };
        (key, vec![("of", of), ("detail", lang.say(&device.detail()))])
    };
    devices.into_iter().map(line).collect()
}
