//! Every observation that a page can cite, as one searchable table, with its raw evidence.

use crate::csv;
use crate::input::Study;
use crate::page::Page;
use crate::parts;
use crate::raw_files;
use crate::words::shown;
use evidence::{Canary, Contamination, Recorded, saw};
use maud::{Markup, html};
use serde_json::json;
use std::collections::BTreeSet;

/// A ledger may contain millions: cited ones come first, then the newest, up to this many.
const MOST: usize = 6000;
const FIRST: usize = 12;

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-observations-question", &[]);
    let chosen = chosen(study);
    let total = study.input.observations.len();
    let args = [("shown", chosen.len().into()), ("total", total.into())];
    let body = html! {
        (parts::head(study, "observations", html! { (title.clone()) }, study.words.par("answer", match (study.input.ledger.problem.is_some(), chosen.len() == total) { (true, _) => "site-observations-unread", (false, true) => "site-observations-answer", (false, false) => "site-observations-some" }, &args), Markup::default(), parts::plain(study, "site-plain-observations", &[])))
        (parts::section("observations-all", study.words.say("site-nav-observations"), html! {
            div.wide data-table="observations-data" {
                (super::claims::bar(study, "observations-search", "site-search-observations", false))
                div.vt.tall tabindex="0" role="region" aria-label="Observations / 観測" {
                    table aria-rowcount=(chosen.len() + 1) {
                        thead { tr { th.c-id scope="col" { (study.words.say("site-col-id")) } th.c-rung scope="col" { (study.words.say("site-col-rung")) } th.c-who scope="col" { (study.words.say("site-col-observer")) } th scope="col" { (study.words.say("site-col-saw")) } th.c-subject scope="col" { (study.words.say("site-col-subject")) } } }
                        tbody { @for recorded in chosen.iter().take(FIRST) { tr { td.mono { (recorded.id().short()) } td { (parts::rung(study, recorded.rung())) } td { (shown(&recorded.observer().name)) } td { (shown(&saw(recorded))) } td { (shown(&recorded.subject().to_string())) } } } }
                    }
                }
                div.vt-detail aria-live="polite" { (study.words.par("quiet", "site-choose-observation", &[])) }
                (parts::csv_link(study, "observations.csv"))
            }
        }))
        (parts::next(study, "observations-next", study.words.say("site-next-observations"), Some("whichkernel ledger show ID --raw"), "legend"))
    };
    let data = rows(study, &chosen);
    let table = table(study);
    Page {
        name: "observations".to_owned(),
        title,
        body,
        tables: vec![("observations.csv".to_owned(), table)],
        data: vec![super::claims::names(study), ("observations-data".to_owned(), data)],
    }
}

fn chosen<'a>(study: &Study<'a>) -> Vec<&'a Recorded> {
    let all = study.input.observations;
    if all.len() <= MOST {
        return all.iter().collect();
    }
    let cited: BTreeSet<&evidence::ObservationId> =
        study.input.readings.iter().flat_map(|reading| &reading.cites).map(|cite| &cite.observation).collect();
    let steps = study.input.ladders.iter().flat_map(|ladder| &ladder.steps);
    let found = steps.flat_map(|step| step.found.iter().chain(step.elsewhere.iter().flat_map(|(_, found)| found)));
    let cited: BTreeSet<_> =
        cited.into_iter().chain(found.flat_map(|found| &found.reading.cites).map(|cite| &cite.observation)).collect();
    let mut kept: Vec<&Recorded> = all.iter().filter(|recorded| cited.contains(recorded.id())).collect();
    kept.extend(
        all.iter().rev().filter(|recorded| !cited.contains(recorded.id())).take(MOST.saturating_sub(kept.len())),
    );
    kept
}

/// Arrays per column, with each text stored once, so that a page with thousands of rows stays small.
fn rows(study: &Study<'_>, chosen: &[&Recorded]) -> serde_json::Value {
    let mut texts: Vec<String> = Vec::new();
    let mut known: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    let mut text = |value: String| {
        *known.entry(value).or_insert_with_key(|value| {
            texts.push(value.clone());
            texts.len() - 1
        })
    };
    let rows: Vec<serde_json::Value> = chosen
        .iter()
        .map(|recorded| {
            let raw: Vec<serde_json::Value> = recorded
                .raw_evidence()
                .iter()
                .map(|evidence| {
                    let there = raw_files::is_copied(evidence.size) && study.raw(evidence).is_some();
                    if there {
                        study.linked.borrow_mut().insert(evidence.sha256.clone());
                    }
                    json!([
                        evidence.sha256.get(..12),
                        there.then(|| raw_files::path(&evidence.sha256)),
                        evidence.kind,
                        evidence.size
                    ])
                })
                .collect();
            let raw = serde_json::to_string(&raw).unwrap_or_default();
            json!([
                recorded.id().short(),
                recorded.rung().name(),
                text(recorded.observer().name.clone()),
                text(shown(&saw(recorded))),
                text(shown(&recorded.subject().to_string())),
                text(recorded.time().to_owned()),
                text(trust(recorded)),
                text(raw),
            ])
        })
        .collect();
    json!({"texts": texts, "rows": rows})
}

/// Coverage, canary and contamination in one line, in the ledger's terms.
fn trust(recorded: &Recorded) -> String {
    let coverage = recorded.coverage();
    let total = coverage.total.map_or_else(|| "?".to_owned(), |total| total.to_string());
    let mut parts = vec![format!("{} / {total} {}", coverage.seen, shown(&coverage.unit))];
    if coverage.lost > 0 {
        parts.push(format!("lost {}", coverage.lost));
    }
    parts.extend(coverage.missing.iter().map(|gap| format!("{} ({})", shown(&gap.what), shown(&gap.why))));
    match recorded.canary_seen() {
        Canary::InTarget { what } | Canary::InChild { what } => parts.push(format!("canary: {}", shown(what))),
        Canary::None => {}
    }
    match recorded.contamination_state() {
        Contamination::Untouched => {}
        Contamination::Certified { .. } => parts.push("certified".to_owned()),
        Contamination::Unchecked => parts.push("unchecked".to_owned()),
        Contamination::Contaminated { differences } => parts.push(format!("contaminated: {}", differences.join(", "))),
    }
    parts.join("; ")
}

fn table(study: &Study<'_>) -> String {
    let rows = study.input.observations.iter().map(|recorded| {
        vec![
            recorded.id().to_string(),
            recorded.time().to_owned(),
            recorded.observer().name.clone(),
            recorded.observer().version.clone(),
            recorded.rung().to_string(),
            recorded.fact().map(|fact| fact.topic.clone()).unwrap_or_default(),
            saw(recorded),
            recorded.subject().to_string(),
            trust(recorded),
            recorded.origin().unwrap_or_default().to_owned(),
        ]
    });
    csv::file(&["id", "time", "observer", "version", "rung", "topic", "saw", "subject", "trust", "origin"], rows)
}
