//! Type by columns by release by card: what the source declares beside what was chosen and launched, with every turn spelled out.

use crate::csv;
use crate::dispatch::{Build, Run, by_path};
use crate::input::{Study, card_title};
use crate::parts;
use crate::svg::{self, Stretch};
use crate::words::{Arg, shown};
use crate::write::Page;
use evidence::Rung;
use maud::{Markup, html};
use source::table::COLUMNS;
use std::collections::{BTreeMap, BTreeSet};

/// What the map is asked for first: the investigation's type and target, and the column count of its questions.
#[derive(Debug, Clone)]
pub struct Asked {
    pub ty: String,
    pub target: String,
    pub columns: i64,
}

impl Asked {
    pub fn of(study: &Study<'_>) -> Option<Asked> {
        let investigation = study.input.investigation;
        let asks: Vec<_> = investigation.questions.iter().filter_map(|question| question.ask.as_ref()).collect();
        let abouts =
            asks.iter().map(|ask| &ask.about).chain(investigation.claims.iter().map(|stated| &stated.claim.about));
        let known: BTreeSet<&String> = study
            .dispatch
            .builds
            .iter()
            .flat_map(|build| build.plans.values())
            .flat_map(|types| types.keys())
            .collect();
        let ty = abouts.clone().filter_map(|about| about.get("type")).find(|ty| known.iter().any(|known| known == ty));
        let ty = ty.map(str::to_owned).or_else(|| known.first().map(|first| (*first).clone()))?;
        let targets = study.dispatch.targets();
        let wanted = investigation.subject.target.as_deref();
        let target = wanted.filter(|wanted| targets.contains(wanted)).or(targets.first().copied())?.to_owned();
        // The largest single count that is asked about: where a path ends is where the question is.
        let columns = abouts
            .filter_map(|about| about.get("columns"))
            .filter_map(|text| text.parse::<i64>().ok())
            .filter(|count| *count <= COLUMNS)
            .max();
        Some(Asked { ty, target, columns: columns.unwrap_or(512) })
    }
}

pub type Line<'s> = (&'s Build, &'s Vec<Stretch>);

/// The releases that know the asked type and target.
pub fn lines<'s>(study: &'s Study<'_>, asked: &Asked) -> Vec<Line<'s>> {
    let plan = |build: &'s Build| Some((build, build.plans.get(&asked.target)?.get(&asked.ty)?));
    study.dispatch.builds.iter().filter_map(plan).collect()
}

/// `BLAS at 290 up to b6841, MMQ from b7148.`: every turn, and that nobody looked between.
pub fn turns(study: &Study<'_>, asked: &Asked, lines: &[Line<'_>]) -> Markup {
    let all = turn_list(asked, lines);
    if all.is_empty() {
        let path = lines
            .first()
            .and_then(|(build, _)| build.at(&asked.target, &asked.ty, asked.columns))
            .map_or("?", |stretch| svg::name(&stretch.path));
        return study.words.say_with(
            "site-turn-none",
            &[("path", path.into()), ("columns", Arg::Text(asked.columns.to_string())), ("count", lines.len().into())],
        );
    }
    html! { @for turn in all { (turn_text(study, asked, &turn)) " " } }
}

struct Turn {
    before: String,
    after: String,
    from: String,
    to: String,
}

fn turn_list(asked: &Asked, lines: &[Line<'_>]) -> Vec<Turn> {
    let path = |build: &Build| {
        build.at(&asked.target, &asked.ty, asked.columns).map_or("?", |stretch| svg::name(&stretch.path)).to_owned()
    };
    let pairs = lines.windows(2).filter_map(|pair| match pair {
        // Without a date nobody knows which of two came first.
        [(a, _), (b, _)] if path(a) != path(b) && !a.date.is_empty() && !b.date.is_empty() => {
            Some(Turn { before: a.label(), after: b.label(), from: path(a), to: path(b) })
        }
        _ => None,
    });
    pairs.collect()
}

fn turn_text(study: &Study<'_>, asked: &Asked, turn: &Turn) -> Markup {
    let args = [
        ("from", Arg::Text(turn.from.clone())),
        ("to", Arg::Text(turn.to.clone())),
        ("before", Arg::Text(turn.before.clone())),
        ("after", Arg::Text(turn.after.clone())),
        ("columns", Arg::Text(asked.columns.to_string())),
    ];
    study.words.say_with("site-turn", &args)
}

/// One release's strip with its label.
pub fn strip(study: &Study<'_>, build: &Build, stretches: &[Stretch], asked: &Asked, own: Option<&str>) -> Markup {
    let label = aria(study, stretches);
    html! {
        li class=[(own == Some(build.commit.as_str())).then_some("mark")] {
            span.lbl { span.mono { (shown(&build.label())) } time { (build.date) } }
            (svg::strip(&by_path(stretches), Some(asked.columns), COLUMNS, &label))
        }
    }
}

/// Both languages in one label: an attribute has no switch.
pub fn aria(study: &Study<'_>, stretches: &[Stretch]) -> String {
    let pair = crate::sentence::stretches(study, stretches);
    format!("{} / {}", pair.en, pair.ja)
}

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-map-question", &[]);
    let name = "map".to_owned();
    let Some(asked) = Asked::of(study) else {
        let answer = study.words.par("answer", "site-map-empty", &[]);
        let gap = parts::gap(
            study,
            &study.words.pair("site-map-empty-why", &[]),
            Some("whichkernel source TREE --gpu TARGET --record"),
        );
        let body = html! {
            (parts::head(study, "map", html! { (title.clone()) }, answer, Markup::default(), parts::plain(study, "site-plain-map", &[])))
            section aria-label="Map / マップ" { (gap) }
            (parts::next(study, "map-next", study.words.say("site-next-map"), None, "chain"))
        };
        return Page { name, title, body, tables: Vec::new(), data: Vec::new() };
    };
    let lines = lines(study, &asked);
    let own = study.dispatch.asked(study);
    let body = html! {
        (parts::head(study, "map", html! { (title.clone()) }, answer(study, &asked, &lines), standing(study), parts::plain(study, "site-plain-map", &[])))
        (all_builds(study, &asked, &lines, own))
        (flow(study, &asked, own))
        (tabs(study, &asked, own))
        (tile_figure(study, &asked, own))
        (lanes(study, &asked, own))
        (parts::next(study, "map-next", study.words.say("site-next-map"), Some("whichkernel history TREE --gpu TARGET"), "chain"))
    };
    Page { name, title, body, tables: vec![("map.csv".to_owned(), table(study))], data: Vec::new() }
}

fn answer(study: &Study<'_>, asked: &Asked, lines: &[Line<'_>]) -> Markup {
    let turns = turn_list(asked, lines);
    let card = study.input.investigation.subject.gpu.as_deref().map_or_else(|| asked.target.clone(), card_title);
    let base = [
        ("type", Arg::Text(asked.ty.clone())),
        ("card", Arg::Text(card)),
        ("columns", Arg::Text(asked.columns.to_string())),
    ];
    match turns.last() {
        Some(turn) => {
            let args = [
                ("from", Arg::Text(turn.from.clone())),
                ("to", Arg::Text(turn.to.clone())),
                ("before", Arg::Text(turn.before.clone())),
                ("after", Arg::Text(turn.after.clone())),
            ];
            let args: Vec<_> = base.into_iter().chain(args).collect();
            study.words.par("answer", "site-map-answer-turn", &args)
        }
        None => {
            let path = lines
                .first()
                .and_then(|(build, _)| build.at(&asked.target, &asked.ty, asked.columns))
                .map_or("?", |stretch| svg::name(&stretch.path));
            let args: Vec<_> =
                base.into_iter().chain([("path", Arg::from(path)), ("count", Arg::from(lines.len()))]).collect();
            study.words.par("answer", "site-map-answer-same", &args)
        }
    }
}

fn standing(study: &Study<'_>) -> Markup {
    let ladder = study.input.ladders.iter().find(|ladder| ladder.topic == "matmul.path");
    let steps = ladder.map_or(&[][..], |ladder| &ladder.steps);
    html! {
        @for step in steps.iter().filter(|step| [Rung::Declared, Rung::Selected, Rung::Launched].contains(&step.rung)) {
            (parts::grade(study, super::overview::grade(step), Some(study.words.say_with("site-on", &[("rungs", parts::rung(study, step.rung).into())]))))
        }
    }
}

fn all_builds(study: &Study<'_>, asked: &Asked, lines: &[Line<'_>], own: Option<&Build>) -> Markup {
    let ticks: Vec<i64> =
        lines.iter().flat_map(|(_, stretches)| by_path(stretches)).map(|stretch| stretch.from).collect();
    let own = own.map(|build| build.commit.as_str());
    let args = [
        ("type", Arg::Text(asked.ty.clone())),
        ("target", Arg::Text(asked.target.clone())),
        ("columns", Arg::Text(asked.columns.to_string())),
    ];
    let turn = |at: usize| {
        let pair = lines.get(at.checked_sub(1)?..=at)?;
        turn_list(asked, pair).pop()
    };
    let body = html! {
        figure.wide {
            figcaption { (study.words.say_with("site-map-caption", &args)) }
            div.axis { span.small.faint { (study.words.say("site-columns-log")) } (svg::axis(&ticks, Some(asked.columns), COLUMNS)) }
            ol.strips {
                @for (at, (build, stretches)) in lines.iter().enumerate() {
                    @if let Some(turn) = turn(at) {
                        li.turn { span {} span { (turn_text(study, asked, &turn)) " " (study.words.say("site-turn-between")) } }
                    }
                    (strip(study, build, stretches, asked, own))
                }
            }
            (parts::path_key(study))
        }
        (study.words.par("small quiet", "site-map-chosen", &[("count", lines.len().into())]))
    };
    parts::section("map-builds", study.words.say_with("site-h-builds", &[("count", lines.len().into())]), body)
}

/// The dispatch as a flow: type and target on the left, a branch for each stretch of column counts, the path at its end.
fn flow(study: &Study<'_>, asked: &Asked, own: Option<&Build>) -> Markup {
    let Some(build) = own else { return Markup::default() };
    let Some(stretches) = build.plans.get(&asked.target).and_then(|types| types.get(&asked.ty)) else {
        return Markup::default();
    };
    let paths = by_path(stretches);
    let height = paths.len().max(1) * 56 + 8;
    let middle = height / 2;
    let y = |at: usize| at * 56 + 8;
    let label = aria(study, stretches);
    let tiles = |from: i64, to: i64| {
        let own = stretches
            .iter()
            .filter(|stretch| stretch.from >= from && stretch.to <= to)
            .filter_map(|stretch| stretch.tile);
        let (low, high) = (own.clone().min(), own.max());
        low.zip(high).map(|(low, high)| if low == high { low.to_string() } else { format!("{low}–{high}") })
    };
    let args = [
        ("type", Arg::Text(asked.ty.clone())),
        ("build", Arg::Text(build.label())),
        ("target", Arg::Text(asked.target.clone())),
    ];
    let body = html! {
        figure.wide {
            figcaption { (study.words.say_with("site-flow-dispatch", &args)) }
            div.scroll tabindex="0" role="group" aria-label="Flow / 流れ" {
                svg.drawn viewBox=(format!("0 0 720 {height}")) width="720" height=(height) role="img" aria-label=(label) {
                    rect.box x="1" y=(middle - 24) width="170" height="48" rx="3" {}
                    text.m x="14" y=(middle - 3) { (shown(&asked.ty)) }
                    text.dim x="14" y=(middle + 15) { (shown(&asked.target)) }
                    @for (at, stretch) in paths.iter().enumerate() {
                        @let centre = y(at) + 20;
                        path.arrow d=(format!("M172 {middle}C230 {middle} 230 {centre} 292 {centre}")) {}
                        text.m x="300" y=(centre + 5) { (stretch.from) "–" (stretch.to) }
                        path.arrow d=(format!("M400 {centre}h52m-6 -4 6 4-6 4")) {}
                        rect class=(format!("{} boxline", svg::class(&stretch.path))) x="460" y=(y(at)) width="130" height="40" rx="3" {}
                        text class=(format!("m {}", svg::class(&stretch.path))) x="474" y=(centre + 5) { (svg::name(&stretch.path)) }
                        @if let Some(tiles) = tiles(stretch.from, stretch.to) { text.dim x="602" y=(centre + 5) { (tiles) } }
                    }
                }
            }
        }
    };
    parts::section("map-flow", study.words.say("site-h-flow-dispatch"), body)
}

/// Every type of one release and target, a tab for each release that the ledger knows whole. Up to eight: the asked one, the
/// last, and those at turns.
fn tabs(study: &Study<'_>, asked: &Asked, own: Option<&Build>) -> Markup {
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

/// Both sides of every threshold of any type, and what was asked: at most fourteen.
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

fn cells(build: &Build, asked: &Asked, ty: &str, counts: &[i64]) -> Vec<Markup> {
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

fn tile_figure(study: &Study<'_>, asked: &Asked, own: Option<&Build>) -> Markup {
    let Some(build) = own else { return Markup::default() };
    let Some(stretches) = build.plans.get(&asked.target).and_then(|types| types.get(&asked.ty)) else {
        return Markup::default();
    };
    let Some(tile) = build.at(&asked.target, &asked.ty, asked.columns).and_then(|stretch| stretch.tile) else {
        return Markup::default();
    };
    let most = stretches.iter().filter_map(|stretch| stretch.tile).max().unwrap_or(0);
    let pieces = (asked.columns + tile - 1) / tile.max(1);
    let args = [
        ("type", Arg::Text(asked.ty.clone())),
        ("build", Arg::Text(build.label())),
        ("target", Arg::Text(asked.target.clone())),
        ("columns", Arg::Text(asked.columns.to_string())),
        ("tile", Arg::Text(tile.to_string())),
        ("count", (pieces.max(0) as u64).into()),
    ];
    let ticks: Vec<i64> = by_path(stretches).iter().map(|stretch| stretch.from).collect();
    let said = study.words.pair("site-tile-caption", &args);
    let body = html! {
        figure.wide {
            figcaption { (study.words.say_with("site-tile-caption", &args)) }
            div.axis { span.small.faint { (study.words.say("site-columns-log")) } (svg::axis(&ticks, Some(asked.columns), COLUMNS)) }
            ol.strips { li { span.lbl { (study.words.say_with("site-tile-axis", &[("most", Arg::Text(most.to_string()))])) } (svg::tiles(stretches, Some(asked.columns), COLUMNS, &format!("{} / {}", said.en, said.ja))) } }
        }
    };
    parts::section("map-tile", study.words.say("site-h-tile"), body)
}

/// Declared beside selected beside launched: one row for each, and a dashed cell where nobody looked.
fn lanes(study: &Study<'_>, asked: &Asked, own: Option<&Build>) -> Markup {
    let runs: Vec<&Run> = study.dispatch.runs.iter().filter(|run| run.paths.contains_key(&asked.ty)).collect();
    let mut counts: BTreeSet<i64> =
        runs.iter().flat_map(|run| run.paths.get(&asked.ty)).flat_map(|points| points.keys().copied()).collect();
    counts.insert(asked.columns);
    let counts: Vec<i64> = counts.into_iter().take(14).collect();
    let declared = own.and_then(|build| build.plans.get(&asked.target).map(|_| build));
    let launched = runs.iter().any(|run| run.rung >= Rung::Launched);
    let row = |run: &Run| {
        let points = run.paths.get(&asked.ty);
        let same_target = run.subject.target.as_deref() == Some(asked.target.as_str());
        html! {
            tr {
                th scope="row" { (parts::rung(study, run.rung)) }
                td.lane { (shown(&who(run))) }
                @for count in &counts {
                    @match points.and_then(|points| points.get(count)) {
                        Some(path) => {
                            @let differs = same_target && declared.and_then(|build| build.at(&asked.target, &asked.ty, *count)).is_some_and(|stretch| stretch.path != *path);
                            td class=(format!("p-{} start{}{}", svg::class(path), if differs { " differs" } else { "" }, if *count == asked.columns { " asked" } else { "" })) {
                                b { (shown(path)) } @if let Some(tile) = run.tiles.get(&(asked.ty.clone(), *count)) { " " (tile) }
                            }
                        }
                        None => { td.gapcell { span.vh { (study.words.say("site-not-tried")) } } }
                    }
                }
            }
        }
    };
    let body = html! {
        div.scroll.wide tabindex="0" role="group" aria-label="Lanes / 比較" {
            table.heat.lanes {
                thead { tr { th scope="col" { (study.words.say("site-col-rung")) } th scope="col" { (study.words.say("site-col-who")) } @for count in &counts { th scope="col" class=[(*count == asked.columns).then_some("asked")] { (count) } } } }
                tbody {
                    tr {
                        th scope="row" { (parts::rung(study, Rung::Declared)) }
                        @match declared {
                            Some(build) => { td.lane { (shown(&build.label())) } @for cell in cells(build, asked, &asked.ty, &counts) { (cell) } }
                            None => { td.gapcell colspan=(counts.len() + 1) { (study.words.say("site-not-observed")) } }
                        }
                    }
                    @for run in &runs { (row(run)) }
                    @if !runs.iter().any(|run| run.rung == Rung::Selected) {
                        tr { th scope="row" { (parts::rung(study, Rung::Selected)) } td.gapcell colspan=(counts.len() + 1) { (study.words.say("site-not-observed")) } }
                    }
                    @if !launched {
                        tr { th scope="row" { (parts::rung(study, Rung::Launched)) } td.gapcell colspan=(counts.len() + 1) { (study.words.say("site-not-observed")) } }
                    }
                }
            }
        }
        (study.words.par("small faint", "site-lanes-note", &[("type", Arg::Text(asked.ty.clone()))]))
    };
    parts::section("map-lanes", study.words.say("site-h-lanes"), body)
}

/// The card, and what stood in for it.
fn who(run: &Run) -> String {
    let card = run.subject.gpu.as_deref().map(card_title);
    let parts = [card, run.subject.target.clone(), run.subject.runtime.clone(), Some(run.observer.clone())];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn table(study: &Study<'_>) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for build in &study.dispatch.builds {
        for (target, types) in &build.plans {
            for (ty, stretches) in types {
                for stretch in stretches.iter().filter(|stretch| !stretch.path.is_empty()) {
                    let tile = stretch.tile.map(|tile| tile.to_string()).unwrap_or_default();
                    let columns = [stretch.from.to_string(), stretch.to.to_string()];
                    let [from, to] = columns;
                    rows.push(vec![
                        "declared".to_owned(),
                        build.source.clone(),
                        build.name.clone(),
                        build.date.clone(),
                        target.clone(),
                        String::new(),
                        ty.clone(),
                        from,
                        to,
                        stretch.path.clone(),
                        tile,
                    ]);
                }
            }
        }
    }
    for run in &study.dispatch.runs {
        for (ty, points) in &run.paths {
            for (count, path) in points {
                let tile = run.tiles.get(&(ty.clone(), *count)).map(|tile| tile.to_string()).unwrap_or_default();
                let text = |part: &Option<String>| part.clone().unwrap_or_default();
                rows.push(vec![
                    run.rung.to_string(),
                    text(&run.subject.runtime),
                    run.observer.clone(),
                    String::new(),
                    text(&run.subject.target),
                    text(&run.subject.gpu),
                    ty.clone(),
                    count.to_string(),
                    count.to_string(),
                    path.clone(),
                    tile,
                ]);
            }
        }
    }
    csv::file(
        &["rung", "source", "build", "date", "target", "card", "type", "columns_from", "columns_to", "path", "tile"],
        rows,
    )
}
