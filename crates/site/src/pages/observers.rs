//! The observer constraint map: who can see which rung, whether he works here, what happened when he was tried.

use crate::csv;
use crate::input::Study;
use crate::parts::{self, col};
use crate::plain_table::with_csv;
use crate::words::shown;
use crate::write::Page;
use evidence::{Finding, Rung};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct Who<'a> {
    /// What it could see, by this build's own word.
    sees: BTreeSet<Rung>,
    /// On which rungs it has seen something.
    saw: BTreeMap<Rung, usize>,
    blocked: Option<(&'a str, &'a str, &'a str)>,
    looked: Option<&'a str>,
    contaminated: Vec<String>,
    certified: bool,
}

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-observers-question", &[]);
    let all = gather(study);
    let live = all.values().flat_map(|who| who.saw.keys()).filter(|rung| **rung >= Rung::Launched).count();
    let blocked = all.values().filter(|who| who.blocked.is_some() && who.looked.is_none()).count();
    let working = all.values().filter(|who| who.looked.is_some()).count();
    let args = [("working", working.into()), ("blocked", blocked.into()), ("total", all.len().into())];
    let answer =
        study.words.par("answer", if live > 0 { "site-observers-live" } else { "site-observers-none-live" }, &args);
    let rungs = Rung::ALL.map(|rung| (rung, all.values().any(|who| who.saw.contains_key(&rung))));
    let (rows, attempts) = (map_rows(study, &all), attempts(study, &all));
    let columns = [col(study, "site-col-observer"), col(study, "site-col-attempt"), col(study, "site-col-lesson")];
    let results = results(study);
    let result_columns =
        [col(study, "site-col-observer"), col(study, "site-col-here"), col(study, "site-col-observation")];
    let body = html! {
        (parts::head(study, "observers", html! { (title.clone()) }, answer, parts::seen_on(study, &rungs), parts::plain(study, "site-plain-observers", &[])))
        (parts::section("observers-map", study.words.say("site-h-observer-map"), html! {
            div.wide.scroll tabindex="0" role="group" aria-label="Table / 表" {
                table.omap {
                    thead { tr { th scope="col" { (study.words.say("site-col-observer")) } th scope="col" { (study.words.say("site-col-here")) } @for rung in Rung::ALL { th.dot scope="col" { (parts::rung(study, rung)) } } th scope="col" { (study.words.say("site-col-result")) } } }
                    tbody { @for row in rows { (row) } }
                }
            }
            ul.key {
                li { (parts::dot(true, &study.words.pair("site-dot-seen", &[]))) " " (study.words.say("site-dot-seen")) }
                li { (parts::dot(false, &study.words.pair("site-dot-could", &[]))) " " (study.words.say("site-dot-could")) }
            }
            (study.words.par("small quiet", "site-observers-note", &[]))
            (parts::csv_link(study, "observers.csv"))
        }))
        (silences(study))
        (parts::section("observers-attempts", study.words.say("site-h-attempts"), html! {
            @if attempts.is_empty() { (study.words.par("quiet", "site-attempts-none", &[])) } @else { (with_csv(study, "attempts", &columns, &attempts)) }
        }))
        @if !results.is_empty() { (parts::section("observers-here", study.words.say("site-h-here"), with_csv(study, "observers-here", &result_columns, &results))) }
        (parts::next(study, "observers-next", study.words.say("site-next-observers"), Some("whichkernel watch --certify --name ollama --record"), "shows"))
    };
    Page {
        name: "observers".to_owned(),
        title,
        body,
        tables: vec![("observers.csv".to_owned(), table(&all))],
        data: Vec::new(),
    }
}

fn gather<'a>(study: &Study<'a>) -> BTreeMap<String, Who<'a>> {
    let mut all: BTreeMap<String, Who<'a>> = BTreeMap::new();
    for able in study.input.able {
        all.entry(able.looker.name().to_owned()).or_default().sees.insert(able.rung);
    }
    for recorded in study.input.observations {
        let who = all.entry(recorded.observer().name.clone()).or_default();
        match recorded.finding() {
            Finding::Blocked { why, fix } => who.blocked = Some((why, fix, recorded.time())),
            _ => {
                *who.saw.entry(recorded.rung()).or_default() += 1;
                who.looked = who.looked.max(Some(recorded.time()));
            }
        }
        who.sees.insert(recorded.rung());
        who.contaminated.extend(recorded.contaminated().unwrap_or_default().iter().take(1).cloned());
        who.certified |= matches!(recorded.contamination_state(), evidence::Contamination::Certified { .. });
    }
    all
}

fn state(who: &Who<'_>) -> &'static str {
    match (&who.looked, &who.blocked) {
        _ if !who.contaminated.is_empty() => "site-state-contaminated",
        (Some(looked), Some((_, _, time))) if looked < time => "site-state-blocked",
        (Some(_), _) => "site-state-looked",
        (None, Some(_)) => "site-state-blocked",
        (None, None) => "site-state-untried",
    }
}

fn map_rows(study: &Study<'_>, all: &BTreeMap<String, Who<'_>>) -> Vec<Markup> {
    let (seen, could) = (study.words.pair("site-dot-seen", &[]), study.words.pair("site-dot-could", &[]));
    all.iter()
        .map(|(name, who)| {
            html! {
                tr {
                    th.mono.nowrap scope="row" { (shown(name)) }
                    td.state { (study.words.say(state(who))) }
                    @for rung in Rung::ALL {
                        td.dot {
                            @if who.saw.contains_key(&rung) { (parts::dot(true, &seen)) } @else if who.sees.contains(&rung) { (parts::dot(false, &could)) } @else { span.vh { "–" } }
                        }
                    }
                    td.small {
                        @if let Some((why, ..)) = &who.blocked { (shown(why)) " " }
                        @for difference in who.contaminated.iter().take(2) { (shown(difference)) " " }
                        @if who.certified { (study.words.say("site-certified")) " " }
                        @let rows: usize = who.saw.values().sum();
                        @if rows > 0 { (study.words.say_with("site-rows-seen", &[("count", rows.into())])) }
                    }
                }
            }
        })
        .collect()
}

fn silences(study: &Study<'_>) -> Markup {
    let list = |keys: &[&str]| html! { ul { @for key in keys { li { (study.words.say(key)) } } } };
    let body = html! {
        div.wide.show {
            div { h3 { (study.words.say("site-silence-not")) } (list(&["site-silence-view", "site-silence-canary", "site-silence-lost"])) }
            div { h3 { (study.words.say("site-silence-nobody")) } (list(&["site-silence-missing", "site-silence-grade"])) }
        }
    };
    parts::section("observers-silence", study.words.say("site-h-silence"), body)
}

/// Attempts that came to nothing, with what they teach.
fn attempts(study: &Study<'_>, all: &BTreeMap<String, Who<'_>>) -> Vec<Vec<Markup>> {
    let mut rows = Vec::new();
    for (name, who) in all {
        if let Some((why, fix, time)) = &who.blocked {
            let lesson = if fix.is_empty() {
                html! { span.faint { "–" } }
            } else {
                html! { (shown(fix)) }
            };
            rows.push(vec![parts::mono(name), html! { (study.words.say_with("site-worklog-blocked", &[("why", (*why).into())])) " " span.faint { (time.get(..10).unwrap_or_default()) } }, lesson]);
        }
        for difference in &who.contaminated {
            rows.push(vec![
                parts::mono(name),
                html! { (study.words.say("site-state-contaminated")) ": " (shown(difference)) },
                study.words.say("site-lesson-contaminated"),
            ]);
        }
    }
    rows
}

/// What `doctor` found of each observer, where that is in the ledger.
fn results(study: &Study<'_>) -> Vec<Vec<Markup>> {
    let mut last: BTreeMap<&str, (&evidence::Recorded, String)> = BTreeMap::new();
    for (recorded, fact) in study.facts("observer.result") {
        if let Some(name) = fact.about.get("observer") {
            last.insert(name, (recorded, fact.value.to_string()));
        }
    }
    last.into_iter()
        .map(|(name, (recorded, value))| {
            vec![parts::mono(name), html! { (shown(&value)) }, parts::observation(recorded.id())]
        })
        .collect()
}

fn table(all: &BTreeMap<String, Who<'_>>) -> String {
    let rows = all.iter().map(|(name, who)| {
        let list = |rungs: &mut dyn Iterator<Item = &Rung>| rungs.map(|rung| rung.name()).collect::<Vec<_>>().join(" ");
        vec![
            name.clone(),
            state(who).trim_start_matches("site-state-").to_owned(),
            list(&mut who.sees.iter()),
            list(&mut who.saw.keys()),
            who.saw.values().sum::<usize>().to_string(),
            who.blocked.map(|(why, ..)| why.to_owned()).unwrap_or_default(),
            who.blocked.map(|(_, fix, _)| fix.to_owned()).unwrap_or_default(),
            who.contaminated.join("; "),
        ]
    });
    csv::file(&["observer", "state", "can_see", "has_seen", "observations", "blocked", "fix", "contaminated"], rows)
}
