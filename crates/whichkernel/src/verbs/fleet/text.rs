//! The answer about a fleet as text and tables.

use crate::context::Context;
use export::fleet::{Fallback, FleetAnswer, MachineState, PathChange, State, Upgrade};
use report::{Column, Lang, Table, conclusion_text};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The first line answers the question; tables follow for whatever there is.
pub fn text(answer: &FleetAnswer, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = String::new();
    let args = [("before", answer.before.as_str().into()), ("after", answer.after.as_str().into())];
    let _ = writeln!(out, "{}", conclusion_text(lang, &answer.conclusion));
    let _ = writeln!(
        out,
        "{}",
        lang.text_with(if answer.fallback.is_some() { "fleet-since" } else { "fleet-between" }, &args)
    );
    let mut section = |key: &str, count: usize, table: Table| {
        if count > 0 {
            let title = lang.text_with(key, &[("count", count.into()), ("after", answer.after.as_str().into())]);
            let _ = write!(out, "\n{title}\n{}", table.fitted(context.width, &["model", "phase"]));
        }
    };
    section("fleet-changes", answer.changed(), changes(answer, lang));
    if let Some(all) = &answer.fallback {
        section("fleet-fallback", hosts(all.iter().map(|one| one.machine.as_str())), fallback(all, lang));
    }
    let states = noted(answer);
    section("fleet-machines", states.len(), machines(&states, lang));
    if let Some(all) = &answer.software {
        let mut table = Table::new(columns(lang, &["host", "what", "before", "after", "since"]));
        for one in all {
            let value = |text: &str| short(text.trim());
            table.row([
                one.host.clone(),
                one.what.clone(),
                value(&one.before),
                value(&one.after),
                minute(&one.first_seen),
            ]);
        }
        section("fleet-software", all.len(), table);
    }
    let files = [
        ("fleet-missing", &answer.missing_files),
        ("fleet-unlisted", &answer.unlisted_files),
        ("fleet-unread", &answer.unread_manifests),
    ];
    for (key, files) in files.into_iter().filter(|(_, files)| !files.is_empty()) {
        let first = files.first().map(|file| file.display().to_string()).unwrap_or_default();
        let _ = writeln!(out, "\n{}", lang.text_with(key, &[("count", files.len().into()), ("path", first.into())]));
    }
    let _ = writeln!(out, "\n{}", lang.text_with("fleet-engine", &[("engine", answer.engine.as_str().into())]));
    out
}

/// What alerts are about: changed paths, new fallbacks, and machines of which nothing is known.
pub fn attention(answer: &FleetAnswer) -> usize {
    let fallback = answer.fallback.iter().flatten().filter(|one| one.since >= answer.after).count();
    answer.changed() + fallback + noted(answer).iter().filter(|one| one.state != State::New || one.cloned).count()
}

fn hosts<'a>(machines: impl Iterator<Item = &'a str>) -> usize {
    machines.collect::<std::collections::BTreeSet<_>>().len()
}

/// Machines with something to note. A machine whose paths were compared has nothing, unless it is a clone.
fn noted(answer: &FleetAnswer) -> Vec<&MachineState> {
    answer.machines.iter().filter(|one| one.state != State::Compared || one.cloned).collect()
}

fn columns(lang: &Lang, keys: &[&'static str]) -> Vec<Column> {
    keys.iter().map(|key| Column::left(key, lang.text(&format!("fleet-column-{key}")))).collect()
}

/// One row for all column counts of a machine that changed in the same way.
pub fn changes(answer: &FleetAnswer, lang: &Lang) -> Table {
    let keys = ["host", "card", "model", "type", "columns", "phase", "path", "since", "upgrade"];
    let mut table = Table::new(columns(lang, &keys));
    let mut rows: BTreeMap<[String; 8], Vec<&str>> = BTreeMap::new();
    for one in &answer.changes {
        let PathChange { host, card, model, ty, phase, machine, .. } = one;
        let path = format!("{} → {}", listed(&one.gone), listed(&one.appeared));
        let upgrade = format!("{}\0{}", one.since, upgraded(&one.upgrade, lang));
        let key = [host, machine, card, model, ty, phase, &path, &upgrade].map(Clone::clone);
        rows.entry(key).or_default().push(&one.columns);
    }
    for ([host, _, card, model, ty, phase, path, upgrade], mut columns) in rows {
        columns.sort_by_key(|text| text.parse::<u64>().unwrap_or(u64::MAX));
        let (since, upgrade) = upgrade.split_once('\0').unwrap_or_default();
        let cells = [host, card, model, ty, columns.join(", "), phase, path, minute(since), upgrade.to_owned()];
        table.row(cells);
    }
    table
}

fn fallback(all: &[Fallback], lang: &Lang) -> Table {
    let keys = ["host", "card", "model", "type", "columns", "phase", "since", "last", "upgrade"];
    let mut table = Table::new(columns(lang, &keys));
    for one in all {
        let Fallback { host, card, model, ty, columns, phase, since, last_seen, .. } = one;
        let (since, upgrade) = match one.last_other.is_empty() {
            // The first observation already shows it.
            true => {
                (lang.text_with("fleet-or-earlier", &[("time", minute(since).into())]), lang.text("fleet-not-known"))
            }
            false => (minute(since), upgraded(&one.upgrade, lang)),
        };
        let cells = [host, card, model, ty, columns, phase, &since, &minute(last_seen), &upgrade].map(Clone::clone);
        table.row(cells);
    }
    table
}

fn machines(all: &[&MachineState], lang: &Lang) -> Table {
    let mut table = Table::new(columns(lang, &["host", "state", "last"]));
    for one in all {
        let state = (one.state != State::Compared).then(|| lang.text(&format!("fleet-state-{}", one.state.key())));
        let cloned = one.cloned.then(|| lang.text("fleet-state-cloned"));
        let state: Vec<String> = state.into_iter().chain(cloned).collect();
        table.row([one.host.clone(), state.join(&lang.text("gap-separator")), minute(&one.last_record)]);
    }
    table
}

fn listed(paths: &[String]) -> String {
    if paths.is_empty() { "-".to_owned() } else { paths.join(" + ") }
}

/// The runtime that changed, or the file's hash if the runtime has no name or is the same.
fn upgraded(upgrade: &Upgrade, lang: &Lang) -> String {
    let Upgrade { runtime_before, runtime_after, file_before, file_after, changed } = upgrade;
    if !changed {
        return lang.text("fleet-no-upgrade");
    }
    let (from, to) =
        if runtime_before != runtime_after { (runtime_before, runtime_after) } else { (file_before, file_after) };
    let name = |text: &str| if text.is_empty() { lang.text("fleet-not-known") } else { short(text) };
    format!("{} → {}", name(from), name(to))
}

/// A time to the minute.
fn minute(time: &str) -> String {
    time.get(..16).unwrap_or(time).replacen('T', " ", 1)
}

/// A text with its long hashes cut.
fn short(text: &str) -> String {
    let word = |word: &str| match word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => word.chars().take(12).collect(),
        false => word.to_owned(),
    };
    text.split(' ').map(word).collect::<Vec<String>>().join(" ")
}
