//! Declared, selected and launched side by side: where observers of different rungs agree, differ, or did not look.

use super::asked::Asked;
use super::types::cells;
use crate::dispatch::{Build, Run};
use crate::input::{Study, card_title};
use crate::parts;
use crate::svg;
use crate::words::{Arg, shown};
use evidence::Rung;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Declared, selected and launched: one row for each, with a dashed cell where no observer looked.
pub fn section(study: &Study<'_>, asked: &Asked, own: Option<&Build>) -> Markup {
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

/// The name of the card, and whether it is a stand-in.
fn who(run: &Run) -> String {
    let card = run.subject.gpu.as_deref().map(card_title);
    let parts = [card, run.subject.target.clone(), run.subject.runtime.clone(), Some(run.observer.clone())];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
