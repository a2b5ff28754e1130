//! Every type of one release: a heat table over the column counts at which a path changes.

use super::asked::Asked;
use crate::dispatch::{Build, by_path};
use crate::input::Study;
use crate::parts;
use crate::svg;
use crate::words::{Arg, shown};
use maud::{Markup, html};
use source::decision_table::COLUMNS;
use std::collections::{BTreeMap, BTreeSet};

/// Every type of one release and target, with a tab for each release whose whole table is in the ledger. At most eight:
/// the requested one, the last, and those with changes.
pub fn tabs(study: &Study<'_>, asked: &Asked, own: Option<&Build>) -> Markup {
    let whole: Vec<&Build> =
        study.dispatch.builds.iter().filter(|build| build.plans.contains_key(&asked.target)).collect();
    if whole.is_empty() {
        return Markup::default();
    }
    let chosen = own.filter(|own| whole.iter().any(|build| build.commit == own.commit)).or(whole.last().copied());
    let choose = |build: &Build| chosen.is_some_and(|chosen| chosen.commit == build.commit);
    let counts = counts(&whole, asked);
    let body = html! {
        div.wide {
            div.tabs role="tablist" aria-label="Build / ビルド" {
                @for (at, build) in whole.iter().enumerate() {
                    button type="button" role="tab" id=(format!("map-tab-{at}")) aria-controls=(format!("map-panel-{at}")) aria-selected=(choose(build).to_string()) { (shown(&build.label())) }
                }
            }
            @for (at, build) in whole.iter().enumerate() {
                div role="tabpanel" id=(format!("map-panel-{at}")) aria-labelledby=(format!("map-tab-{at}")) hidden[!choose(build)] {
                    (panel(study, build, asked, &counts))
                }
            }
            (parts::path_key(study))
            (study.words.par("small faint", "site-map-cells", &[]))
            (parts::csv_link(study, "map.csv"))
        }
    };
    parts::section("map-types", study.words.say("site-h-types"), body)
}

/// Both sides of every threshold of any type, and the requested count: at most fourteen.
fn counts(builds: &[&Build], asked: &Asked) -> Vec<i64> {
    let mut votes: BTreeMap<i64, usize> = BTreeMap::new();
    for build in builds {
        for stretches in build.plans.get(&asked.target).into_iter().flat_map(|types| types.values()) {
            for stretch in by_path(stretches) {
                *votes.entry(stretch.from).or_default() += 1;
                *votes.entry(stretch.to.min(COLUMNS)).or_default() += 1;
            }
        }
    }
    let mut ranked: Vec<(i64, usize)> = votes.into_iter().collect();
    ranked.sort_by_key(|(count, votes)| (std::cmp::Reverse(*votes), *count));
    let mut counts: BTreeSet<i64> = [1, asked.columns, COLUMNS].into();
    for (count, _) in ranked {
        if counts.len() < 13 {
            counts.insert(count);
        }
    }
    counts.into_iter().collect()
}

fn panel(study: &Study<'_>, build: &Build, asked: &Asked, counts: &[i64]) -> Markup {
    let Some(types) = build.plans.get(&asked.target) else { return Markup::default() };
    let blas = types
        .keys()
        .filter(|ty| build.at(&asked.target, ty, asked.columns).is_some_and(|stretch| stretch.path == "BLAS"))
        .count();
    let args = [
        ("build", Arg::Text(build.label())),
        ("date", Arg::Text(build.date.clone())),
        ("target", Arg::Text(asked.target.clone())),
        ("columns", Arg::Text(asked.columns.to_string())),
        ("blas", blas.into()),
        ("types", types.len().into()),
    ];
    type Group = (&'static str, fn(&str) -> bool);
    let groups: [Group; 4] = [
        ("site-group-float", |ty| ty.starts_with('F') || ty.starts_with("BF")),
        ("site-group-legacy", |ty| matches!(ty, "Q4_0" | "Q4_1" | "Q5_0" | "Q5_1" | "Q8_0" | "Q8_1")),
        ("site-group-k", |ty| ty.ends_with("_K")),
        ("site-group-other", |_| true),
    ];
    let group = |ty: &str| groups.iter().position(|(_, is)| is(ty)).unwrap_or(3);
    html! {
        p.small.quiet { (study.words.say_with("site-map-panel", &args)) }
        @if !build.has_table() { (study.words.par("small quiet", "site-map-no-table", &[])) }
        div.scroll tabindex="0" role="group" aria-label="Map / マップ" {
            table.heat {
                thead { tr { th scope="col" { (study.words.say("site-col-type")) } @for count in counts { th scope="col" class=[(*count == asked.columns).then_some("asked")] { (count) } } } }
                @for (at, (key, _)) in groups.iter().enumerate() {
                    @if types.keys().any(|ty| group(ty) == at) {
                        tbody {
                            tr.group { th colspan=(counts.len() + 1) scope="rowgroup" { (study.words.say(key)) } }
                            @for ty in types.keys().filter(|ty| group(ty) == at) {
                                tr { th scope="row" { (shown(ty)) } @for cell in cells(build, asked, ty, counts) { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

pub fn cells(build: &Build, asked: &Asked, ty: &str, counts: &[i64]) -> Vec<Markup> {
    let mut before: Option<String> = None;
    counts
        .iter()
        .map(|count| {
            let stretch = build.at(&asked.target, ty, *count);
            let path = stretch.map_or("", |stretch| stretch.path.as_str());
            let starts = before.as_deref() != Some(path);
            before = Some(path.to_owned());
            let tile = stretch.and_then(|stretch| stretch.tile);
            let class = format!("p-{}{}{}", svg::class(path), if starts { " start" } else { "" }, if *count == asked.columns { " asked" } else { "" });
            html! { td class=(class) { @if starts { b { (svg::name(path)) } } @else { span.vh { (svg::name(path)) } } @if let Some(tile) = tile { " " (tile) } } }
        })
        .collect()
}
