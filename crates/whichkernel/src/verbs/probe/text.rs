//! The answer for people: the server in a few lines, one row per probe, and what the counts rest on.

use crate::context::Context;
use probe::{Answer, Probe, Spread, Zone};
use report::{Column, Table, conclusion_text};
use std::collections::BTreeSet;
use std::fmt::Write;

pub fn whole(answer: &Answer, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = server(answer, context);
    if !answer.probes.is_empty() {
        let _ = write!(out, "\n{}", table(answer, context).text(context.width));
    }
    out.push_str(&times(answer, context));
    let marks: BTreeSet<_> = answer.probes.iter().flat_map(|probe| &probe.marks).collect();
    let bases: BTreeSet<_> = answer.probes.iter().map(|probe| probe.basis).collect();
    out.push('\n');
    for basis in bases {
        let _ = writeln!(out, "{}", lang.text(&format!("probe-basis-{}", key(&basis))));
    }
    for mark in marks {
        let _ = writeln!(out, "{}", lang.text(&format!("probe-mark-{}", key(mark))));
    }
    let open: BTreeSet<&str> =
        zones(answer).filter(|zone| zone.path.is_none()).map(|zone| zone.rule.as_str()).collect();
    for why in open {
        let _ = writeln!(out, "{}", lang.text(&format!("probe-open-{why}")));
    }
    if zones(answer).any(|zone| zone.path.is_some()) {
        let rules = [("rules", answer.server.rules.join(", ").into())];
        let exact = if answer.server.rules_exact { "probe-rules-exact" } else { "probe-rules-around" };
        let which = if answer.server.rules_older { "probe-rules-older" } else { exact };
        let _ = writeln!(out, "{}", lang.text_with(which, &rules));
    }
    for failure in &answer.failed {
        let args = [("name", failure.name.as_str().into()), ("why", failure.why.as_str().into())];
        let _ = writeln!(out, "{}", lang.text_with("probe-failed", &args));
    }
    let _ = writeln!(out, "{}", conclusion_text(lang, &answer.counted));
    out
}

fn zones(answer: &Answer) -> impl Iterator<Item = &Zone> {
    answer.probes.iter().flat_map(|probe| &probe.zones)
}

/// The name that JSON gives it.
fn key(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn server(answer: &Answer, context: &Context) -> String {
    let (lang, server) = (&context.lang, &answer.server);
    let unknown = || lang.text("probe-unknown");
    let says = [
        ("kind", server.kind.into()),
        ("version", server.version.clone().unwrap_or_else(unknown).into()),
        ("model", server.model.clone().unwrap_or_else(unknown).into()),
    ];
    let mut out = format!("{}\n", lang.text_with("probe-server", &says));
    if let Some(backend) = &server.backend {
        let _ = writeln!(out, "{}", lang.text_with("probe-backend", &[("backend", backend.as_str().into())]));
    }
    let types: Vec<String> = server.types.iter().map(|(ty, count)| format!("{ty} {count}")).collect();
    if let (Some(from), false) = (server.types_from, types.is_empty()) {
        let args = [("types", types.join(", ").into()), ("from", from.into())];
        let _ = writeln!(out, "{}", lang.text_with("probe-types", &args));
    }
    if let Some(from) = &server.build_from {
        let args = [("build", server.build.unwrap_or(0).to_string().into()), ("from", from.as_str().into())];
        let _ = writeln!(out, "{}", lang.text_with("probe-build", &args));
    }
    for fact in &server.facts {
        let _ = writeln!(out, "  {}: {} ({})", fact.field, fact.said, fact.place);
    }
    out
}

pub fn table(answer: &Answer, context: &Context) -> Table {
    let title = |key: &str| context.lang.text(&format!("probe-column-{key}"));
    let right = |key: &'static str| Column::right(key, title(key));
    let mut out = Table::new(vec![
        Column::left("name", title("name")),
        right("asked"),
        right("reported"),
        right("evaluated"),
        Column::left("ne11", title("ne11")),
        right("prompt_ms"),
        right("prompt_tps"),
        right("eval_count"),
        right("decode_tps"),
        Column::left("zones", title("zones")),
    ]);
    for probe in &answer.probes {
        let count = |value: Option<u64>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
        let rate = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.1}"));
        out.row([
            probe.name.clone(),
            count(probe.asked),
            count(probe.reported),
            count(probe.evaluated),
            widths(&probe.ne11),
            rate(probe.prompt_ms),
            rate(probe.prompt_per_second()),
            probe.eval_count.map_or_else(String::new, |count| count.to_string()),
            rate(probe.decode_per_second()),
            paths(probe),
        ]);
    }
    out
}

/// `512+88`; many of the same as `512x4`.
fn widths(ne11: &[u64]) -> String {
    if ne11.is_empty() {
        return "?".to_owned();
    }
    let runs = ne11.chunk_by(|a, b| a == b).map(|run| match run {
        [one] => one.to_string(),
        _ => format!("{}x{}", run.first().unwrap_or(&0), run.len()),
    });
    runs.collect::<Vec<_>>().join("+")
}

/// `Q4_K MMQ, Q6_K MMQ`: what the layers get, each once; the rest is in JSON.
fn paths(probe: &Probe) -> String {
    let mut list: Vec<String> = Vec::new();
    for zone in probe.zones.iter().filter(|zone| matches!(zone.place, "layers" | "experts")) {
        let word = format!("{} {}", zone.ty, zone.path.as_deref().unwrap_or("?"));
        if !list.contains(&word) {
            list.push(word);
        }
    }
    list.join(", ")
}

/// Speeds where lengths were repeated, starts, and the course of a sweep.
fn times(answer: &Answer, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = String::new();
    let runs = answer.speed.iter().filter_map(|speed| Some(speed.prompt_ms?.runs)).max().unwrap_or(0);
    if runs > 1 {
        let _ = writeln!(out, "\n{}", lang.text_with("probe-speed", &[("runs", runs.to_string().into())]));
        out.push_str(&speeds(answer, context).text(context.width));
    }
    if let Some(plot) = probe::plot::terminal(&answer.speed, context.width.unwrap_or(100)) {
        let _ = write!(out, "\n{plot}");
    }
    for load in &answer.load {
        let seconds =
            |spread: Option<Spread>| spread.map_or_else(String::new, |spread| format!("{:.3}", spread.median / 1e3));
        let args = [
            ("run", lang.text(&format!("probe-load-{}", load.run)).into()),
            ("load", seconds(load.load_ms).into()),
            ("prompt", seconds(load.prompt_ms).into()),
            ("eval", seconds(load.eval_ms).into()),
            ("runs", load.load_ms.map_or(0, |spread| spread.runs).to_string().into()),
        ];
        let _ = writeln!(out, "{}", lang.text_with("probe-load", &args));
    }
    for change in &answer.changes {
        let declared = match change.declared.as_slice() {
            [] => lang.text("probe-change-undeclared"),
            some => some.join("; "),
        };
        let args = [
            ("at", change.at.to_string().into()),
            ("jump", format!("{:+.3}", change.jump_ms).into()),
            ("p", format!("{:.3}", change.p).into()),
            ("declared", declared.into()),
        ];
        let _ = writeln!(out, "{}", lang.text_with("probe-change", &args));
    }
    if answer.changes.is_empty() && answer.speed.len() >= probe::SWEEP {
        let _ = writeln!(out, "{}", lang.text("probe-change-none"));
    }
    out
}

fn speeds(answer: &Answer, context: &Context) -> Table {
    let title = |key: &str| context.lang.text(&format!("probe-column-{key}"));
    let right = |key: &'static str| Column::right(key, title(key));
    let mut out = Table::new(vec![
        right("asked"),
        right("evaluated"),
        right("prompt_ms"),
        right("prompt_tps"),
        right("decode_tps"),
        right("outliers"),
    ]);
    let spread = |spread: Option<Spread>| {
        spread.map_or_else(String::new, |spread| {
            format!("{:.1} ({:.1} - {:.1})", spread.median, spread.least, spread.most)
        })
    };
    for speed in &answer.speed {
        out.row([
            speed.asked.to_string(),
            speed.evaluated.map_or_else(|| "?".to_owned(), |count| count.to_string()),
            spread(speed.prompt_ms),
            spread(speed.prompt_per_second),
            spread(speed.decode_per_second),
            speed.prompt_ms.map_or(0, |spread| spread.outliers).to_string(),
        ]);
    }
    out
}
