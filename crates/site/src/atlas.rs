//! The atlas as pages: every release at which a choice changed, and for every target its strips through time.
//!
//! Like the rest of this crate, it only produces texts; the caller writes them.

use crate::csv;
use crate::frame::{SCRIPT, STYLE, TOKENS, bar, document};
use crate::parts::{Col, mono, table};
use crate::svg::{Stretch, axis, strip};
use crate::words::{Words, shown};
use maud::{Markup, html};
use source::atlas::{Atlas, Release};
use source::decision_table::{COLUMNS, DecisionTable};
use std::collections::{BTreeMap, BTreeSet};

/// A table to download.
#[derive(Debug)]
pub struct Sheet {
    pub name: &'static str,
    pub columns: &'static [&'static str],
    /// The columns that are integers.
    pub numbers: &'static [&'static str],
    pub rows: Vec<Vec<String>>,
}

/// The tables of an atlas, which are written in several formats.
pub fn sheets(atlas: &Atlas) -> [Sheet; 3] {
    [releases(atlas), choices(atlas), shapes(atlas)]
}

/// Every file of the site, by its name. `module`: the caller puts the WebAssembly module of the page next to them.
/// Without it, the picture of all releases is the first page.
pub fn atlas(atlas: &Atlas, module: bool) -> Vec<(String, String)> {
    let words = Words::default();
    let targets: BTreeSet<&str> =
        atlas.tables.iter().flat_map(|table| table.targets.keys().map(String::as_str)).collect();
    let mut out = vec![
        ("tokens.css".to_owned(), TOKENS.to_owned()),
        ("report.css".to_owned(), STYLE.to_owned()),
        ("report.js".to_owned(), SCRIPT.to_owned()),
        ("releases.html".to_owned(), index(atlas, &targets, &words)),
    ];
    let web = crate::web::web(&crate::web::releases(atlas), module);
    if let Some((_, first)) = web.iter().find(|(name, _)| name == "atlas.html" && !module) {
        out.push(("index.html".to_owned(), first.clone()));
    }
    out.extend(web.into_iter().filter(|(name, _)| name != "tokens.css"));
    out.extend(sheets(atlas).into_iter().map(|it| (format!("{}.csv", it.name), csv::file(it.columns, it.rows))));
    out.extend(targets.iter().map(|target| (page_of(target), target_page(atlas, &targets, target, &words))));
    out
}

pub(crate) fn page_of(target: &str) -> String {
    let plain: String = target.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect();
    format!("{plain}.html")
}

/// Which release's table applies to which release.
fn releases(atlas: &Atlas) -> Sheet {
    let rows = atlas.releases.iter().map(|it| {
        vec![
            it.name.clone(),
            it.date.clone(),
            it.commit.clone(),
            it.table.clone(),
            it.unreadable.clone().unwrap_or_default(),
        ]
    });
    let columns = &["release", "date", "commit", "table", "unreadable"];
    Sheet { name: "releases", columns, numbers: &[], rows: rows.collect() }
}

/// Consecutive releases to which one table applies.
struct Held<'a> {
    since: &'a Release,
    until: &'a Release,
    table: &'a DecisionTable,
    /// Whether no unreadable release is between these and the previous ones.
    follows: bool,
}

fn held(atlas: &Atlas) -> Vec<Held<'_>> {
    let tables: BTreeMap<&str, &DecisionTable> =
        atlas.tables.iter().map(|table| (table.version.as_str(), table)).collect();
    let mut out: Vec<Held<'_>> = Vec::new();
    let mut follows = false;
    for release in &atlas.releases {
        let Some(table) = tables.get(release.table.as_str()) else {
            follows = false;
            continue;
        };
        match out.last_mut().filter(|last| follows && last.table.version == release.table) {
            Some(last) => last.until = release,
            None => out.push(Held { since: release, until: release, table, follows }),
        }
        follows = true;
    }
    out
}

/// Every range of column counts of every target and type, with the first and the last consecutive release that has it.
fn choices(atlas: &Atlas) -> Sheet {
    let columns = &["since", "until", "date", "target", "type", "from", "to", "path"];
    let rows = over_time(
        atlas,
        |table, target, ty| table.stretches(target, ty),
        |(from, to, path)| vec![from.to_string(), to.unwrap_or(COLUMNS).to_string(), path.to_owned()],
    );
    Sheet { name: "choices", columns, numbers: &["from", "to"], rows }
}

/// Like [`choices`], for launch shapes. Parts are expressions of the column count n; empty if they are not determined.
fn shapes(atlas: &Atlas) -> Sheet {
    let columns = &[
        "since",
        "until",
        "date",
        "target",
        "type",
        "from",
        "to",
        "path",
        "grid",
        "block",
        "warps",
        "shared",
        "undetermined",
    ];
    let rows = over_time(
        atlas,
        |table, target, ty| table.launches(target, ty),
        |(from, to, path, step)| {
            let text = |part: &Option<String>| part.clone().unwrap_or_default();
            vec![
                from.to_string(),
                to.to_string(),
                path.to_owned(),
                text(&step.grid),
                text(&step.block),
                step.warps.map_or(String::new(), |warps| warps.to_string()),
                text(&step.shared),
                step.undetermined.join("; "),
            ]
        },
    );
    Sheet { name: "shapes", columns, numbers: &["from", "to"], rows }
}

/// One row for every item of a target and type, with the first and the last consecutive release that has the same list.
fn over_time<'a, T: PartialEq>(
    atlas: &'a Atlas,
    list: impl Fn(&'a DecisionTable, &str, &str) -> Vec<T>,
    cells_of: impl Fn(T) -> Vec<String>,
) -> Vec<Vec<String>> {
    let all = held(atlas);
    let cells: BTreeSet<(&str, &str)> = all
        .iter()
        .flat_map(|held| held.table.targets.iter())
        .flat_map(|(target, of)| of.types.keys().map(move |ty| (target.as_str(), ty.as_str())))
        .collect();
    let mut rows = Vec::new();
    for (target, ty) in cells {
        let mut turns: Vec<(&Release, &Release, Vec<T>)> = Vec::new();
        for held in &all {
            let now = list(held.table, target, ty);
            match turns.last_mut().filter(|(_, _, before)| held.follows && *before == now) {
                Some((_, until, _)) => *until = held.until,
                None => turns.push((held.since, held.until, now)),
            }
        }
        for (since, until, items) in turns {
            let head = [&since.name, &until.name, &since.date].map(Clone::clone);
            let head: Vec<String> = head.into_iter().chain([target.to_owned(), ty.to_owned()]).collect();
            rows.extend(items.into_iter().map(|item| [head.clone(), cells_of(item)].concat()));
        }
    }
    rows
}

fn stretches(table: &DecisionTable, target: &str, ty: &str) -> Vec<Stretch> {
    let own = table.stretches(target, ty).into_iter();
    own.map(|(from, to, path)| {
        // The path has no name if the rules do not decide.
        let path = source::Path::from_name(path).map_or("", |path| path.name()).to_owned();
        Stretch { from, to: to.unwrap_or(COLUMNS), path, tile: None }
    })
    .collect()
}

/// The types of a target whose paths differ from the previous table; None if there is no previous table.
fn changed<'t>(before: Option<&DecisionTable>, table: &'t DecisionTable, target: &str) -> Option<Vec<&'t str>> {
    let before = before?;
    let types = table.targets.get(target)?.types.keys();
    Some(types.filter(|ty| before.stretches(target, ty) != table.stretches(target, ty)).map(String::as_str).collect())
}

/// The types of a target whose launches differ from the previous table, on the same paths.
fn reshaped(before: Option<&DecisionTable>, table: &DecisionTable, target: &str) -> usize {
    let (Some(before), Some(of)) = (before, table.targets.get(target)) else { return 0 };
    let same_paths = |ty: &&String| before.stretches(target, ty) == table.stretches(target, ty);
    let types = of.types.keys().filter(same_paths);
    types.filter(|ty| before.launches(target, ty) != table.launches(target, ty)).count()
}

fn index(atlas: &Atlas, targets: &BTreeSet<&str>, words: &Words) -> String {
    let mut rows = Vec::new();
    let mut before: Option<&DecisionTable> = None;
    let mut lines_only = 0usize;
    for table in &atlas.tables {
        let moved: Vec<(&str, usize)> = targets
            .iter()
            .filter_map(|target| Some((*target, changed(before, table, target)?.len())).filter(|(_, count)| *count > 0))
            .collect();
        let launches: Vec<(&str, usize)> = targets
            .iter()
            .map(|target| (*target, reshaped(before, table, target)))
            .filter(|(_, count)| *count > 0)
            .collect();
        let what = html! {
            @for (target, count) in &moved { a href=(page_of(target)) { (mono(target)) } " " (count) " " }
            @if !launches.is_empty() {
                (words.say("atlas-launches")) " "
                @for (target, count) in &launches { a href=(page_of(target)) { (mono(target)) } " " (count) " " }
            }
            @if before.is_none() { (words.say("atlas-first")) }
        };
        // Line numbers change at nearly every change of the backend.
        match moved.is_empty() && launches.is_empty() && before.is_some() {
            true => lines_only += 1,
            false => rows.push(vec![mono(&table.version), mono(&table.date), what]),
        }
        before = Some(table);
    }
    let unreadable = atlas.releases.iter().filter(|release| release.unreadable.is_some()).count();
    let unread: Vec<Vec<Markup>> = unread(atlas)
        .into_iter()
        .map(|(since, until, why)| {
            let names = if since.name == until.name {
                since.name.clone()
            } else {
                format!("{} – {}", since.name, until.name)
            };
            vec![mono(&names), mono(&since.date), html! { (shown(why)) }]
        })
        .collect();
    let counts = [
        ("releases", atlas.releases.len().into()),
        ("changed", rows.len().into()),
        ("lines", lines_only.into()),
        ("unreadable", unreadable.into()),
        ("columns", COLUMNS.unsigned_abs().into()),
    ];
    let body = html! {
        (words.par("lead", "atlas-lead", &counts))
        p.small { a href="choices.csv" download="choices.csv" { "choices.csv" } " " a href="choices.parquet" download="choices.parquet" { "choices.parquet" } " " a href="shapes.csv" download="shapes.csv" { "shapes.csv" } " " a href="shapes.parquet" download="shapes.parquet" { "shapes.parquet" } " " a href="releases.csv" download="releases.csv" { "releases.csv" } " " a href="releases.parquet" download="releases.parquet" { "releases.parquet" } }
        (table(&[column(words, "atlas-column-release"), column(words, "atlas-column-date"), column(words, "atlas-column-changed")], &rows))
        @if unreadable > 0 {
            h2 { (words.say("atlas-unreadable")) }
            (table(&[column(words, "atlas-column-release"), column(words, "atlas-column-date"), column(words, "atlas-column-why")], &unread))
        }
        (words.par("small", "atlas-cannot", &[]))
    };
    page(words, "atlas-title", &[], targets, "", body)
}

/// Consecutive releases that could not be read for the same reason.
fn unread(atlas: &Atlas) -> Vec<(&Release, &Release, &str)> {
    let mut out: Vec<(&Release, &Release, &str)> = Vec::new();
    let mut follows = false;
    for release in &atlas.releases {
        let Some(why) = release.unreadable.as_deref() else {
            follows = false;
            continue;
        };
        match out.last_mut().filter(|(_, _, last)| follows && *last == why) {
            Some((_, until, _)) => *until = release,
            None => out.push((release, release, why)),
        }
        follows = true;
    }
    out
}

fn target_page(atlas: &Atlas, targets: &BTreeSet<&str>, target: &str, words: &Words) -> String {
    let types: BTreeSet<&str> = atlas
        .tables
        .iter()
        .filter_map(|table| table.targets.get(target))
        .flat_map(|of| of.types.keys().map(String::as_str))
        .collect();
    let body = html! {
        @for ty in types {
            section {
                h2 { (mono(ty)) }
                (axis(&[1, 8, 64, 256, 512], None, COLUMNS))
                @for (table, now) in turns(atlas, target, ty) {
                    p.small { (mono(&table.version)) " " (table.date) }
                    (strip(&now, None, COLUMNS, &format!("{target} {ty} {}", table.version)))
                    @let blocks = blocks(table, target, ty);
                    @if !blocks.is_empty() { p.small { (words.say("atlas-blocks")) " " (mono(&blocks.join(", "))) } }
                }
            }
        }
    };
    page(words, "atlas-target-title", &[("target", target.into())], targets, target, body)
}

/// The block of every range of column counts: `1: 32x8x1 (8)`, with its warps.
fn blocks(table: &DecisionTable, target: &str, ty: &str) -> Vec<String> {
    let mut ranges: Vec<(i64, i64, String)> = Vec::new();
    for (from, to, _, step) in table.launches(target, ty) {
        let warps = step.warps.map_or(String::new(), |warps| format!(" ({warps})"));
        let block = format!("{}{warps}", step.block.as_deref().unwrap_or("?"));
        match ranges.last_mut().filter(|(_, end, known)| *known == block && *end + 1 == from) {
            Some((_, end, _)) => *end = to,
            None => ranges.push((from, to, block)),
        }
    }
    let shown = |(from, to, block): (i64, i64, String)| match from == to {
        true => format!("{from}: {block}"),
        false => format!("{from}–{to}: {block}"),
    };
    ranges.into_iter().map(shown).collect()
}

/// The tables at which a type's paths or blocks changed.
fn turns<'a>(atlas: &'a Atlas, target: &str, ty: &str) -> Vec<(&'a DecisionTable, Vec<Stretch>)> {
    let mut out: Vec<(&DecisionTable, Vec<Stretch>)> = Vec::new();
    for table in &atlas.tables {
        let now = stretches(table, target, ty);
        let changed = |(before, last): &(&DecisionTable, Vec<Stretch>)| {
            !same(last, &now) || blocks(before, target, ty) != blocks(table, target, ty)
        };
        if !now.is_empty() && out.last().is_none_or(changed) {
            out.push((table, now));
        }
    }
    out
}

fn same(a: &[Stretch], b: &[Stretch]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x.from, x.to, &x.path) == (y.from, y.to, &y.path))
}

fn column(words: &Words, key: &str) -> Col {
    Col { title: words.say(key), label: words.pair(key, &[]), number: false }
}

/// A page with the list of all targets next to it; `current` is its own target.
fn page(
    words: &Words,
    title: &str,
    args: &[(&'static str, crate::words::Arg)],
    targets: &BTreeSet<&str>,
    current: &str,
    body: Markup,
) -> String {
    let here = |name: &str| (name == current).then_some("page");
    let pair = words.pair(title, args);
    let head = html! {
        link rel="stylesheet" href="tokens.css";
        link rel="stylesheet" href="report.css";
        script src="report.js" {}
    };
    let body = html! {
        (bar(words, "llama.cpp"))
        div.shell {
            aside.side {
                nav aria-label="Pages / ページ" {
                    ul {
                        li { a href="releases.html" aria-current=[here("")] { (words.say("atlas-back")) } }
                        @for target in targets { li { a href=(page_of(target)) aria-current=[here(target)] { (target) } } }
                    }
                }
            }
            main id="main" { h1 { (words.say_with(title, args)) } (body) }
        }
    };
    document(&pair.en, &pair.ja, head, body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::atlas::Release;

    fn made() -> Atlas {
        let tables: Vec<DecisionTable> =
            ["b8001", "b9000"].iter().filter_map(|name| source::decision_table::find(name).cloned()).collect();
        let release = |name: &str, table: &str| Release {
            name: name.to_owned(),
            date: "2026-01-01".to_owned(),
            commit: "c".to_owned(),
            table: table.to_owned(),
            unreadable: None,
        };
        let lost = Release { unreadable: Some("no <dispatcher>".to_owned()), ..release("b7999", "") };
        let lost = [lost.clone(), Release { name: "b8000".to_owned(), ..lost }];
        let releases = vec![release("b8001", "b8001"), release("b8002", "b8001"), release("b9000", "b9000")];
        let releases = lost.into_iter().chain(releases).collect();
        Atlas { releases, tables, count: source::atlas::Count::default() }
    }

    #[test]
    fn every_target_has_a_page_and_every_stretch_a_row() {
        let files = atlas(&made(), true);
        let of =
            |name: &str| files.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str()).unwrap_or("");
        assert!(of("gfx1201.html").contains("Q4_K"), "a page of the target");
        assert!(of("releases.html").contains("href=\"gfx1201.html\""));
        assert_eq!(of("releases.csv").lines().count(), 6, "{}", of("releases.csv"));
        assert!(of("releases.html").contains("b7999 – b8000"), "those that could not be read are named, with why");
        assert!(of("releases.html").contains("no &lt;dispatcher&gt;"));
        assert!(of("releases.csv").contains("b8002,2026-01-01,c,b8001,"));
        let table = source::decision_table::find("b9000").expect("a table that comes with the program");
        let rows: usize = table
            .targets
            .iter()
            .flat_map(|(target, of)| of.types.keys().map(|ty| table.stretches(target, ty).len()))
            .sum();
        // b9000 chooses like b8001: that range begins there, and extends to the last release.
        let held = |line: &&str| line.contains(",b9000,");
        assert_eq!(of("choices.csv").lines().filter(held).count(), rows, "every stretch of b9000 once");
        assert!(of("choices.csv").lines().any(|line| line.starts_with("b8001,b8002,")), "what ended before it");
    }
}
