//! The website: a page for questions, a page that reads a file, and a picture of all releases. The answers come from
//! the WebAssembly module (`crates/web`), which the caller puts next to these files. The picture works without it.

use crate::frame::{TOKENS, document};
use crate::words::{Words, shown};
use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};
use source::atlas::{Atlas, Release};
use source::choices::choices;
use source::decision_table::{self, COLUMNS, DecisionTable};
use std::collections::{BTreeMap, BTreeSet};

/// Allows only the page's own scripts and its module. Requests go only to the folder that the page came from.
const POLICY: &str = "default-src 'none'; script-src 'self' file: 'wasm-unsafe-eval'; style-src 'self' file:; worker-src 'self' blob:; connect-src 'self' file:; img-src data:; base-uri 'none'; form-action 'none'";

type Part = (&'static str, &'static str, &'static [&'static str]);

/// Name, content and scripts.
const PAGES: [Part; 3] = [
    ("index", include_str!("../web/index.html"), &["web.js", "module.js", "ask.js"]),
    ("file", include_str!("../web/file.html"), &["web.js", "module.js", "file.js"]),
    ("atlas", include_str!("../web/atlas.html"), &["web.js", "atlas-data.js", "atlas.js"]),
];

/// The script that runs the module in a worker. For reading from disk, it is also in `offline.js`.
pub const WORKER: &str = include_str!("../web/worker.js");

/// Every file of the page except the module, by name. `data`: see [`releases`] and [`embedded`]. Without a module there
/// is only the picture of all releases.
pub fn web(data: &Value, module: bool) -> Vec<(String, String)> {
    let words = Words::default();
    let pages: Vec<_> = PAGES.iter().filter(|(name, ..)| module || *name == "atlas").collect();
    let mut out: Vec<(String, String)> = pages
        .iter()
        .map(|(name, main, scripts)| (format!("{name}.html"), page(name, main, scripts, &pages, &words)))
        .collect();
    let files = [
        ("tokens.css", TOKENS),
        ("web.css", include_str!("../web/web.css")),
        ("web.js", include_str!("../web/web.js")),
        ("module.js", include_str!("../web/module.js")),
        ("ask.js", include_str!("../web/ask.js")),
        ("file.js", include_str!("../web/file.js")),
        ("atlas.js", include_str!("../web/atlas.js")),
        ("worker.js", WORKER),
    ];
    let wanted = |name: &str| module || !["module.js", "ask.js", "file.js", "worker.js"].contains(&name);
    let files = files.into_iter().filter(|(name, _)| wanted(name));
    out.extend(files.map(|(name, text)| (name.to_owned(), text.to_owned())));
    out.push(("atlas-data.js".to_owned(), format!("window.whichkernelAtlas = {data};\n")));
    out
}

fn page(name: &str, main: &str, scripts: &[&str], all: &[&Part], words: &Words) -> String {
    let title = words.pair(&format!("site-web-{name}"), &[]);
    let head = html! {
        meta http-equiv="Content-Security-Policy" content=(POLICY);
        meta name="description" content=(shown(&words.pair("site-web-description", &[]).en));
        link rel="icon" href="data:,";
        link rel="stylesheet" href="tokens.css";
        link rel="stylesheet" href="web.css";
        @for script in scripts { script src=(script) {} }
    };
    let body = html! {
        // Each verdict has its own shape.
        (PreEscaped(include_str!("../web/verdicts.svg")))
        a.skip href="#main" { (words.say("site-skip")) }
        (top(name, all, words))
        main id="main" { (PreEscaped(main)) }
        footer { p { (words.say("site-web-foot")) } }
    };
    document(&title.en, &title.ja, head, body)
}

fn top(current: &str, all: &[&Part], words: &Words) -> Markup {
    let first = format!("{}.html", all.first().map_or("atlas", |(name, ..)| *name));
    let switch = |key: &str, value: &str, text: Markup| {
        html! { button type="button" data-set=(format!("{key}={value}")) aria-pressed="false" { (text) } }
    };
    html! {
        header.top {
            a.name href=(first) data-page=(first) { "whichkernel" }
            nav aria-label="Pages / ページ" {
                ul {
                    @for (name, ..) in all {
                        @let file = format!("{name}.html");
                        li { a href=(file) data-page=(file) aria-current=[(*name == current).then_some("page")] { (words.say(&format!("site-web-nav-{name}"))) } }
                    }
                }
            }
            div.switches {
                div.switch role="group" aria-label="Language / 言語" {
                    (switch("lang", "en", html! { "EN" })) (switch("lang", "ja", html! { "日本語" }))
                }
                div.switch role="group" aria-label="Theme / 配色" {
                    @for theme in ["auto", "light", "dark"] { (switch("theme", theme, words.say(&format!("site-theme-{theme}")))) }
                }
            }
        }
    }
}

/// The releases of an atlas: those at which a path changed, the first and the last.
pub fn releases(atlas: &Atlas) -> Value {
    let tables: BTreeMap<&str, &DecisionTable> = atlas.tables.iter().map(|it| (it.version.as_str(), it)).collect();
    let known: Vec<(&Release, &DecisionTable)> =
        atlas.releases.iter().filter_map(|it| Some((it, *tables.get(it.table.as_str())?))).collect();
    let mut kept: Vec<(&Release, &DecisionTable)> = Vec::new();
    for (i, (release, table)) in known.iter().enumerate() {
        let same = kept.last().is_some_and(|(_, last)| last.version == table.version || same_paths(last, table));
        if !same || i + 1 == known.len() {
            kept.push((release, table));
        }
    }
    let names = kept.iter().map(|(release, _)| {
        json!({"name": release.name, "date": release.date, "commit": release.commit, "source": "llama.cpp"})
    });
    let tables: Vec<&DecisionTable> = kept.iter().map(|(_, table)| *table).collect();
    let gaps = atlas.releases.iter().any(|release| release.unreadable.is_some());
    data(names.collect(), &tables, (!gaps, atlas.releases.len()), true)
}

/// The releases whose tables come with the program.
pub fn embedded() -> Value {
    let tables: Vec<&DecisionTable> = decision_table::all().iter().collect();
    let names =
        tables.iter().map(|it| json!({"name": it.version, "date": it.date, "commit": it.commit, "source": it.source}));
    data(names.collect(), &tables, (false, tables.len()), false)
}

fn same_paths(a: &DecisionTable, b: &DecisionTable) -> bool {
    a.targets.len() == b.targets.len()
        && a.targets
            .iter()
            .all(|(target, of)| of.types.keys().all(|ty| a.stretches(target, ty) == b.stretches(target, ty)))
}

/// `plans` has every distinct list of ranges once; `cells` has the releases at which a cell got another one.
fn data(releases: Vec<Value>, tables: &[&DecisionTable], (exact, evaluated): (bool, usize), pages: bool) -> Value {
    let targets: BTreeSet<&str> = tables.iter().flat_map(|it| it.targets.keys().map(String::as_str)).collect();
    let types: BTreeSet<&str> =
        tables.iter().flat_map(|it| it.targets.values()).flat_map(|it| it.types.keys().map(String::as_str)).collect();
    let mut plans: Vec<Vec<(i64, i64, &str)>> = Vec::new();
    type Types<'t> = BTreeMap<&'t str, Vec<(usize, usize)>>;
    let mut cells: BTreeMap<&str, Types<'_>> = BTreeMap::new();
    for target in &targets {
        for ty in &types {
            let mut turns: Vec<(usize, usize)> = Vec::new();
            for (at, table) in tables.iter().enumerate() {
                let spans = table.stretches(target, ty);
                let spans = spans.into_iter().map(|(from, to, path)| (from, to.unwrap_or(COLUMNS), path)).collect();
                let place = plans.iter().position(|known| *known == spans).unwrap_or_else(|| {
                    plans.push(spans);
                    plans.len() - 1
                });
                if turns.last().is_none_or(|(_, last)| *last != place) {
                    turns.push((at, place));
                }
            }
            cells.entry(target).or_default().insert(ty, turns);
        }
    }
    let listed = choices().cards;
    let known = listed.iter().filter(|card| card.reference && targets.contains(card.target.as_str()));
    let mut cards: Vec<Value> = known
        .map(|card| json!({"target": card.target, "title": card.title.split(" (").next(), "generation": card.generation.unwrap_or_default()}))
        .collect();
    let named: BTreeSet<&str> = listed.iter().filter(|card| card.reference).map(|card| card.target.as_str()).collect();
    cards.extend(targets.difference(&named).map(|target| json!({"target": target, "title": target, "generation": ""})));
    for card in &mut cards {
        if let Some(target) = card["target"].as_str().filter(|_| pages).map(crate::atlas::page_of) {
            card["page"] = json!(target);
        }
    }
    json!({
        "columns": COLUMNS, "exact": exact, "evaluated": evaluated, "releases": releases, "cards": cards,
        "types": types, "plans": plans, "cells": cells,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_file_that_it_names() {
        let files = web(&embedded(), true);
        let names: BTreeSet<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".html")) {
            for part in text.split(['"', '#']) {
                let local =
                    [".js", ".css", ".html"].iter().any(|end| part.ends_with(end)) && !part.contains([' ', '<']);
                assert!(!local || names.contains(part), "{name} names {part}");
            }
            assert!(text.contains("default-src 'none'") && !text.contains("style=\""), "{name}");
        }
        let alone: Vec<String> = web(&embedded(), false).into_iter().map(|(name, _)| name).collect();
        assert_eq!(alone, ["atlas.html", "tokens.css", "web.css", "web.js", "atlas.js", "atlas-data.js"]);
    }

    #[test]
    fn the_data_says_what_the_tables_say() {
        let data = embedded();
        let table = decision_table::all().last().expect("a table");
        let last = data["releases"].as_array().expect("releases").len() - 1;
        for (target, of) in &table.targets {
            for ty in of.types.keys() {
                let turns = data["cells"][target][ty].as_array().expect("turns");
                let (at, plan) = (turns.last().expect("a turn")[0].as_u64(), turns.last().expect("a turn")[1].as_u64());
                assert!(at.is_some_and(|at| at as usize <= last));
                let spans: Vec<(i64, i64, &str)> = table
                    .stretches(target, ty)
                    .into_iter()
                    .map(|(a, b, path)| (a, b.unwrap_or(COLUMNS), path))
                    .collect();
                assert_eq!(data["plans"][plan.expect("a plan") as usize], json!(spans), "{target} {ty}");
            }
        }
    }
}
