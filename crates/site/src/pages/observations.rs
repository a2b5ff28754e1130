//! Every observation that a page can cite, as one searchable table, with its raw evidence.

use crate::csv;
use crate::input::Study;
use crate::page::Page;
use crate::parts;
use crate::raw_files;
use crate::words::{Pair, shown};
use evidence::{Contamination, Recorded, saw};
use maud::{Markup, html};
use say::{Message, say};
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
                        tbody { @for recorded in chosen.iter().take(FIRST) { tr { td.mono { (recorded.id().short()) } td { (parts::rung(study, recorded.rung())) } td { (shown(&recorded.observer().name)) } td { (Pair::from(&saw(recorded))) } td { (shown(&recorded.subject().to_string())) } } } }
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
    let mut texts: Vec<serde_json::Value> = Vec::new();
    let mut known: std::collections::BTreeMap<Pair, usize> = std::collections::BTreeMap::new();
    let mut both = |pair: Pair| {
        *known.entry(pair).or_insert_with_key(|Pair { en, ja }| {
            texts.push(if en == ja { json!(en) } else { json!({"en": en, "ja": ja}) });
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
                both(Pair::same(recorded.observer().name.clone())),
                both(safe(Pair::from(&saw(recorded)))),
                both(safe(Pair::same(recorded.subject().to_string()))),
                both(Pair::same(recorded.time())),
                both(safe(trust(study, recorded))),
                both(Pair::same(raw)),
            ])
        })
        .collect();
    json!({"texts": texts, "rows": rows})
}

fn safe(pair: Pair) -> Pair {
    Pair { en: shown(&pair.en), ja: shown(&pair.ja) }
}

/// Coverage, canary and contamination in one line.
fn trust(study: &Study<'_>, recorded: &Recorded) -> Pair {
    let coverage = recorded.coverage();
    let total = coverage.total.map_or_else(|| "?".to_owned(), |total| total.to_string());
    let mut parts = vec![say!("site-trust-coverage", seen = coverage.seen, total, unit = coverage.counted())];
    if coverage.lost > 0 {
        parts.push(say!("site-trust-lost", count = coverage.lost));
    }
    parts.extend(coverage.missing.iter().filter_map(|gap| gap.whole().said));
    if let Some(seen) = recorded.canary_seen().what() {
        let what = seen.said.unwrap_or_else(|| Message::verbatim(seen.english));
        parts.push(say!("site-trust-canary", what));
    }
    match recorded.contamination_state() {
        Contamination::Untouched => {}
        Contamination::Certified { .. } => parts.push(say!("site-trust-certified")),
        Contamination::Unchecked => parts.push(say!("site-trust-unchecked")),
        Contamination::Contaminated { differences } => {
            parts.push(say!("site-trust-contaminated", differences = differences.join(", ")));
        }
    }
    let whole = say::listed(parts);
    study.words.both(|lang| whole.as_ref().map_or(String::new(), |whole| lang.say(whole)))
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
            saw(recorded).english,
            recorded.subject().to_string(),
            trust(study, recorded).en,
            recorded.origin().unwrap_or_default().to_owned(),
        ]
    });
    csv::file(&["id", "time", "observer", "version", "rung", "topic", "saw", "subject", "trust", "origin"], rows)
}
