//! The drawings of the map: a strip per release, the dispatch as a flow, the tile over the columns.

use super::asked::{Asked, Line, turn_list, turn_text};
use crate::dispatch::{Build, by_path};
use crate::input::Study;
use crate::parts;
use crate::svg::{self, Stretch};
use crate::words::{Arg, shown};
use maud::{Markup, html};
use source::decision_table::COLUMNS;

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

/// Both languages in one label, because an attribute cannot be switched.
pub fn aria(study: &Study<'_>, stretches: &[Stretch]) -> String {
    let pair = crate::sentence::stretches(study, stretches);
    format!("{} / {}", pair.en, pair.ja)
}

pub fn builds(study: &Study<'_>, asked: &Asked, lines: &[Line<'_>], own: Option<&Build>) -> Markup {
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

/// The dispatch as a flow: type and target on the left, a branch for each range of column counts, the path at its end.
pub fn flow(study: &Study<'_>, asked: &Asked, own: Option<&Build>) -> Markup {
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

pub fn tile(study: &Study<'_>, asked: &Asked, own: Option<&Build>) -> Markup {
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
