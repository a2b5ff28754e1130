//! All claims as one searchable table: the data, and the frame that the script fills.

use crate::csv;
use crate::input::Study;
use crate::parts;
use crate::words::{Pair, shown};
use maud::{Markup, html};
use serde_json::{Value, json};

/// Rows in the page itself, for readers without scripts.
const FIRST: usize = 12;

pub fn section(study: &Study<'_>) -> Markup {
    let total = study.input.readings.len();
    let body = html! {
        div.wide data-source="claims-data" {
            (bar(study, "claims-search", "site-search-claims", true))
            div.vt tabindex="0" role="region" aria-label="Claims / 主張" {
                table aria-rowcount=(total + 1) {
                    thead {
                        tr {
                            th.c-grade scope="col" { span.vh { (study.words.say("site-col-grade")) } }
                            (sortable(study, "phase", "site-col-phase", "c-phase"))
                            (sortable(study, "rung", "site-col-rung", "c-rung"))
                            (sortable(study, "text", "site-col-claim", "c-text"))
                            (sortable(study, "why", "site-col-why", "c-why"))
                        }
                    }
                    tbody {
                        @for (stated, reading) in study.claims().take(FIRST) {
                            tr {
                                td { (parts::grade_cell(study, reading.grade)) }
                                td { (format!("{:?}", stated.phase)) }
                                td { (parts::rung(study, reading.rung)) }
                                td { (Pair::from(&stated.words)) }
                                td { @if let Some(why) = reading.grade.why() { (parts::why(study, why)) } }
                            }
                        }
                    }
                }
            }
            div.vt-detail aria-live="polite" { (study.words.par("quiet", "site-choose-claim", &[])) }
            (parts::csv_link(study, "claims.csv"))
        }
    };
    parts::section("claims", study.words.say_with("site-h-claims", &[("count", total.into())]), body)
}

fn sortable(study: &Study<'_>, key: &str, title: &str, class: &str) -> Markup {
    html! { th class=(class) scope="col" { button type="button" data-sort=(key) { (study.words.say(title)) } } }
}

/// The search field, chips of grades, and the count.
pub fn bar(study: &Study<'_>, id: &str, label: &str, chips: bool) -> Markup {
    let count = |name: &str| study.input.readings.iter().filter(|reading| reading.grade.name() == name).count();
    html! {
        div.vt-bar {
            label.vh for=(id) { (study.words.say(label)) }
            input id=(id) type="search" placeholder="Q4_K, hipBLASLt …" autocomplete="off";
            @if chips {
                div.chips role="group" aria-label="Grades / 確度" {
                    @for name in ["confirmed", "inferred", "limited", "unresolved", "refuted"] {
                        button type="button" data-only=(name) aria-pressed="false" {
                            (parts::glyph(name))
                            span { (parts::capital(study.words.both(|lang| lang.text(&format!("check-grade-{name}"))))) " " (count(name)) }
                        }
                    }
                }
            }
            span.vt-count.faint aria-live="polite" {}
        }
    }
}

type Tables = Vec<(String, String)>;

pub fn data(study: &Study<'_>) -> (Tables, Vec<(String, Value)>) {
    let mut rows = Vec::new();
    let mut csv_rows = Vec::new();
    for (stated, reading) in study.claims() {
        let reasons: Vec<Value> = (0..reading.reasons.len().min(3))
            .map(|at| {
                let text = parts::reason(study, reading, at);
                let id = reading.reasons.get(at).and_then(|reason| reason.observation()).map(|id| id.short());
                json!({"en": shown(&text.en), "ja": shown(&text.ja), "obs": id})
            })
            .collect();
        rows.push(json!({
            "id": stated.claim.id,
            "phase": format!("{:?}", stated.phase),
            "rung": reading.rung.name(),
            "grade": parts::glyph_name(reading.grade),
            "why": reading.grade.why().map(evidence::Why::name),
            "text": {"en": shown(&stated.words.en), "ja": shown(&stated.words.ja)},
            "topic": shown(&topic(stated)),
            "expected": stated.claim.expected.to_string(),
            "subject": shown(&stated.claim.scope.to_string()),
            "shows": stated.shows.as_ref().map(|words| json!({"en": shown(&words.en), "ja": shown(&words.ja)})),
            "cannot": stated.cannot.as_ref().map(|words| json!({"en": shown(&words.en), "ja": shown(&words.ja)})),
            "reasons": reasons,
            "closes": stated.closes,
        }));
        csv_rows.push(vec![
            stated.claim.id.clone(),
            format!("{:?}", stated.phase),
            stated.page.clone(),
            reading.rung.to_string(),
            reading.grade.name().to_owned(),
            reading.grade.why().map_or("", evidence::Why::name).to_owned(),
            stated.words.en.clone(),
            stated.words.ja.clone(),
            parts::reason(study, reading, 0).en,
            stated.closes.clone(),
        ]);
    }
    let columns = ["id", "phase", "page", "rung", "grade", "why", "text_en", "text_ja", "because", "closes"];
    let table = csv::file(&columns, csv_rows);
    (vec![("claims.csv".to_owned(), table)], vec![names(study), ("claims-data".to_owned(), rows.into())])
}

fn topic(stated: &evidence::Stated) -> String {
    let about = &stated.claim.about;
    if about.0.is_empty() { stated.claim.topic.clone() } else { format!("{} [{about}]", stated.claim.topic) }
}

/// The words that the script inserts into tables, from the same messages as everywhere else.
pub fn names(study: &Study<'_>) -> (String, Value) {
    let words = |keys: &[&str], prefix: &str| -> Value {
        keys.iter()
            .map(|key| {
                let pair = study.words.both(|lang| lang.text(&format!("{prefix}{key}")));
                let pair = parts::capital(pair);
                ((*key).to_owned(), json!({"en": pair.en, "ja": pair.ja}))
            })
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let lists = json!({
        "grades": words(&["confirmed", "inferred", "limited", "unresolved", "refuted"], "check-grade-"),
        "rungs": words(&["declared", "shipped", "loaded", "selected", "launched", "completed"], "check-rung-"),
        "why": words(&["conflict", "contaminated", "blind", "blocked", "not-here", "no-device", "not-in-view", "never-tried"], "check-why-"),
        "labels": words(&["copy", "copied", "shows", "cannot", "expected", "subject", "observations", "stub", "shipped-only"], "site-js-"),
    });
    ("words".to_owned(), lists)
}
