//! The answer for users: the server in a few lines, one row per probe, and the sources of the counts.

use crate::context::Context;
use crate::emit::Show;
use evidence::Rung;
use probe::{Answer, Missing, Part, Probe, Spread, Zone};
use report::{Column, Lang, Table, conclusion_text};
use say::say;
use std::collections::BTreeSet;
use std::fmt::Write;

impl Show for Answer {
    fn table(&self, lang: &Lang) -> Option<Table> {
        Some(table(self, lang))
    }

    fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let mut out = folded(&server(self, lang), context.width);
        if !self.probes.is_empty() {
            let table = table(self, lang).fitted(context.width, &["reported", "eval_count", "decode_tps"]);
            let _ = write!(out, "\n{table}");
        }
        if let Some(launched) = launched(self, lang) {
            let _ = write!(out, "\n{}", launched.fitted(context.width, &[]));
        }
        out.push_str(&times(self, context));
        let mut rest = format!("\n{}", rests_on(self, lang));
        for failure in &self.failed {
            let (name, why) = (&failure.name, &failure.why);
            let _ = writeln!(rest, "{}", lang.say(&say!("probe-failed", name, why)));
        }
        rest.push_str(&missing(self, lang));
        let _ = writeln!(rest, "{}", conclusion_text(lang, &self.counted));
        out.push_str(&folded(&rest, context.width));
        out
    }
}

/// Sentences, none wider than the terminal.
fn folded(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    text.lines().flat_map(|line| report::wrap(line, width)).map(|line| format!("{line}\n")).collect()
}

/// The sources of the counts and of the paths.
fn rests_on(answer: &Answer, lang: &Lang) -> String {
    let mut out = String::new();
    let marks: BTreeSet<_> = answer.probes.iter().flat_map(|probe| &probe.marks).collect();
    let bases: BTreeSet<_> = answer.probes.iter().map(|probe| probe.basis).collect();
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
    if zones(answer).any(|zone| zone.path.is_some() && zone.rung == Rung::Declared) {
        let rules = [("rules", lang.list(&answer.server.rules).into())];
        let exact = if answer.server.rules_exact { "probe-rules-exact" } else { "probe-rules-around" };
        let which = if answer.server.rules_older { "probe-rules-older" } else { exact };
        let _ = writeln!(out, "{}", lang.text_with(which, &rules));
    }
    let seen = |zone: &&Zone| zone.rung > Rung::Declared && zone.path.is_some();
    if zones(answer).filter(seen).any(|zone| zone.declared.is_some() && zone.declared != zone.path) {
        let _ = writeln!(out, "{}", lang.text("probe-watch-differs"));
    }
    if let Some(watch) = &answer.watch {
        let args = [
            ("observer", watch.observer.into()),
            ("launches", watch.launches.to_string().into()),
            ("outside", watch.unattributed.to_string().into()),
            ("rung", watch.rung.name().into()),
        ];
        let _ = writeln!(out, "{}", lang.text_with("probe-watched", &args));
        let _ = writeln!(out, "{}", conclusion_text(lang, &watch.seen));
        if watch.rung < Rung::Launched && watch.launches > 0 {
            let _ = writeln!(out, "{}", lang.text("probe-watch-no-device"));
        }
    }
    out
}

/// Requested or expected data that is not available.
pub fn missing(answer: &Answer, lang: &Lang) -> String {
    let line = |one: &Missing| format!("{}\n", lang.say(&say!("probe-left-out", what = one.what, why = one.why)));
    answer.left_out.iter().map(line).collect()
}

/// The launches for each prompt, with the most frequent kernels by name.
fn launched(answer: &Answer, lang: &Lang) -> Option<Table> {
    const NAMED: usize = 4;
    answer.watch.as_ref()?;
    let title = |key: &str| lang.text(&format!("probe-column-{key}"));
    let mut out = Table::new(vec![
        Column::left("name", title("name")),
        Column::right("launches", title("launches")),
        Column::left("kernels", title("kernels")),
    ]);
    for probe in &answer.probes {
        let Some(launches) = &probe.launches else { continue };
        let mut list: Vec<_> = launches.iter().collect();
        list.sort_by_key(|launch| std::cmp::Reverse((launch.path.is_some(), launch.launches)));
        let mut words: Vec<String> = list
            .iter()
            .take(NAMED)
            .map(|launch| {
                let columns = launch.columns.map_or_else(String::new, |columns| format!(" [{columns}]"));
                format!("{}{columns} x{}", launch.kernel, launch.launches)
            })
            .collect();
        if list.len() > NAMED {
            words.push(format!("+{}", list.len() - NAMED));
        }
        let all: u64 = launches.iter().map(|launch| launch.launches).sum();
        out.row([probe.name.clone(), all.to_string(), lang.list(&words)]);
    }
    Some(out)
}

fn zones(answer: &Answer) -> impl Iterator<Item = &Zone> {
    answer.probes.iter().flat_map(|probe| &probe.zones)
}

/// The value's name in JSON.
pub fn key(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn server(answer: &Answer, lang: &Lang) -> String {
    let server = &answer.server;
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
    let types: Vec<String> = server.types.iter().map(|one| format!("{} {}", one.ty, one.tensors)).collect();
    if let (Some(from), false) = (server.types_from, types.is_empty()) {
        let args = [("types", lang.list(&types).into()), ("from", from.into())];
        let _ = writeln!(out, "{}", lang.text_with("probe-types", &args));
    }
    if let Some(level) = &server.quantization {
        let _ = writeln!(out, "{}", lang.text_with("probe-quantization", &[("level", level.as_str().into())]));
    }
    if let Some(from) = &server.build_from {
        let args = [("build", server.build.unwrap_or(0).to_string().into()), ("from", from.in_words(lang).into())];
        let _ = writeln!(out, "{}", lang.text_with("probe-build", &args));
    }
    for fact in &server.facts {
        let _ = writeln!(out, "  {}: {} ({})", fact.field, fact.said, fact.place);
    }
    out.push_str(&offload(answer, lang));
    out
}

/// How much of the model the paths apply to.
fn offload(answer: &Answer, lang: &Lang) -> String {
    if !zones(answer).any(|zone| zone.path.is_some()) {
        return String::new();
    }
    let target = answer.server.target.clone().unwrap_or_default();
    let Some(offload) = &answer.server.offload else {
        return format!("{}\n", lang.text_with("probe-offload-unknown", &[("target", target.into())]));
    };
    let (gpu, of) = match offload.unit {
        "bytes" => (format!("{} MiB", offload.gpu >> 20), format!("{} MiB", offload.of >> 20)),
        _ => (offload.gpu.to_string(), offload.of.to_string()),
    };
    let key = match offload.gpu {
        0 => "probe-offload-none",
        gpu if gpu >= offload.of => "probe-offload-all",
        _ if offload.unit == "bytes" => "probe-offload-part-bytes",
        _ => "probe-offload-part",
    };
    let args =
        [("gpu", gpu.into()), ("of", of.into()), ("place", offload.place.as_str().into()), ("target", target.into())];
    format!("{}\n", lang.text_with(key, &args))
}

/// The suffix of a path that does not apply to all layers.
fn share(answer: &Answer) -> String {
    match &answer.server.offload {
        Some(offload) if offload.gpu < offload.of => {
            let percent = offload.gpu as f64 / offload.of as f64 * 100.0;
            match offload.unit {
                "bytes" => format!(" [{percent:.0} %]"),
                _ => format!(" [{}/{}]", offload.gpu, offload.of),
            }
        }
        Some(_) => String::new(),
        None => " [?]".to_owned(),
    }
}

fn table(answer: &Answer, lang: &Lang) -> Table {
    let title = |key: &str| lang.text(&format!("probe-column-{key}"));
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
    let share = share(answer);
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
            paths(probe, &share),
        ]);
    }
    out
}

/// `512+88`; repeated widths as `512x4`.
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

/// `Q4_K MMQ, Q6_K MMQ`: the paths of the layers, each once; JSON has the rest.
fn paths(probe: &Probe, share: &str) -> String {
    let mut list: Vec<String> = Vec::new();
    for zone in probe.zones.iter().filter(|zone| matches!(zone.place, Part::Layers | Part::Experts | Part::Parallel)) {
        let path = zone.path.as_deref().unwrap_or("?");
        let word = match (zone.rung, zone.declared.as_deref()) {
            (Rung::Declared, _) => format!("{} {path}", zone.ty),
            (rung, Some(declared)) if declared != path => {
                format!("{} {path} ({}, != {declared})", zone.ty, rung.name())
            }
            (rung, _) => format!("{} {path} ({})", zone.ty, rung.name()),
        };
        let word = if zone.path.is_some() { word + share } else { word };
        if !list.contains(&word) {
            list.push(word);
        }
    }
    list.join(", ")
}

/// Speeds of repeated lengths, starts, and the steps of a sweep.
fn times(answer: &Answer, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = String::new();
    let runs = answer.speed.iter().filter_map(|speed| Some(speed.prompt_ms?.runs)).max().unwrap_or(0);
    if runs > 1 {
        let _ = writeln!(out, "\n{}", lang.text_with("probe-speed", &[("runs", runs.to_string().into())]));
        out.push_str(&speeds(answer, context).fitted(context.width, &["outliers"]));
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
    out.push_str(&course(answer, lang));
    out
}

/// The steps of a sweep, and the smallest step that it could have detected.
fn course(answer: &Answer, lang: &Lang) -> String {
    let mut out = String::new();
    for change in &answer.changes {
        let declared = match change.declared.as_slice() {
            [] => lang.text("probe-change-undeclared"),
            some => some.iter().map(|what| what.in_words(lang)).collect::<Vec<_>>().join("; "),
        };
        let args = [
            ("at", change.at.to_string().into()),
            ("jump", format!("{:+.3}", change.jump_ms).into()),
            ("share", format!("{:+.0}", change.step * 100.0).into()),
            ("p", format!("{:.3}", change.p).into()),
            ("declared", declared.into()),
        ];
        let _ = writeln!(out, "{}", lang.text_with("probe-change", &args));
    }
    if let Some(power) = &answer.power {
        let percent = |share: f64| format!("{:.0}", (share * 100.0).ceil());
        let args = [
            ("smallest", percent(power.smallest).into()),
            ("lengths", power.lengths.to_string().into()),
            ("runs", power.runs.to_string().into()),
            ("noise", format!("{:.1}", power.noise * 100.0).into()),
            ("needed", power.runs_for_tenth.to_string().into()),
        ];
        let none = if answer.changes.is_empty() { "probe-change-none" } else { "probe-change-no-more" };
        let _ = writeln!(out, "{} {}", lang.text(none), lang.text_with("probe-power", &args));
        if power.smallest > 0.10 {
            let _ = writeln!(out, "{}", lang.text_with("probe-power-tenth", &args));
        }
    } else if answer.speed.len() >= probe::SWEEP {
        let _ = writeln!(out, "{}", lang.text("probe-power-none"));
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
