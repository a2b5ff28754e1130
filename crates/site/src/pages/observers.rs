//! The observer constraint map: the rungs that each observer can see, whether it works here, and the results of its
//! attempts.

use crate::csv;
use crate::input::Study;
use crate::page::Page;
use crate::parts::{self, col};
use crate::plain_table::with_csv;
use crate::words::{Kept, Pair, shown};
use evidence::{Finding, Rung};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct Who<'a> {
    /// The rungs that the observer could see, according to this build.
    sees: BTreeSet<Rung>,
    /// The number of observations per rung.
    saw: BTreeMap<Rung, usize>,
    failures: Vec<Failure<'a>>,
    /// The time of the observer's last successful run, by machine and rung.
    looked: BTreeMap<(Machine<'a>, Rung), &'a str>,
    certified: Option<&'a str>,
}

/// The ledger that first recorded the failure, and the host that it names.
type Machine<'a> = (Option<&'a str>, Option<&'a str>);

/// A run that failed, or that changed the observed program.
struct Failure<'a> {
    machine: Machine<'a>,
    rung: Rung,
    time: &'a str,
    what: What<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What<'a> {
    Blocked { why: Kept<'a>, fix: &'a str },
    Contaminated { difference: &'a str },
}

impl<'a> Who<'a> {
    /// The time of the next successful run of the same observer, on the same machine and rung.
    fn since(&self, failure: &Failure<'a>) -> Option<&'a str> {
        let last = self.looked.get(&(failure.machine, failure.rung)).copied();
        last.filter(|last| *last > failure.time)
    }

    /// The current obstacles: failures that no later success has resolved.
    fn current(&self) -> impl Iterator<Item = &Failure<'a>> {
        self.failures.iter().filter(|failure| self.since(failure).is_none())
    }

    fn blocked(&self) -> Option<(Kept<'a>, &'a str, &'a str)> {
        self.current()
            .filter_map(|failure| match failure.what {
                What::Blocked { why, fix } => Some((why, fix, failure.time)),
                What::Contaminated { .. } => None,
            })
            .max_by_key(|(_, _, time)| *time)
    }

    fn contaminated(&self) -> Vec<&'a str> {
        let difference = |failure: &Failure<'a>| match failure.what {
            What::Contaminated { difference } => Some(difference),
            What::Blocked { .. } => None,
        };
        self.current().filter_map(difference).collect()
    }
}

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-observers-question", &[]);
    let all = gather(study);
    let live = all.values().flat_map(|who| who.saw.keys()).filter(|rung| **rung >= Rung::Launched).count();
    let count = |wanted: &str| all.values().filter(|who| state(who) == wanted).count();
    let (blocked, working) = (count("site-state-blocked"), count("site-state-looked"));
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
            @if attempts.is_empty() { (study.words.par("quiet", if study.input.observations.is_empty() { "site-attempts-untried" } else { "site-attempts-none" }, &[])) } @else { (with_csv(study, "attempts", &columns, &attempts)) }
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
        let ledger = recorded.origin().map(|origin| origin.split('#').next().unwrap_or(origin));
        let machine = (ledger, recorded.subject().host.as_deref());
        let (rung, time) = (recorded.rung(), recorded.time());
        let failure = |what| Failure { machine, rung, time, what };
        who.sees.insert(rung);
        if let Finding::Blocked { why, fix, said } = recorded.finding() {
            let why = Kept { english: why, said: said.as_ref() };
            who.failures.push(failure(What::Blocked { why, fix }));
            continue;
        }
        *who.saw.entry(rung).or_default() += 1;
        match recorded.contaminated().map(<[String]>::first) {
            Some(difference) => {
                let difference = difference.map_or("", String::as_str);
                let failure = failure(What::Contaminated { difference });
                // All observations of one run report the same failure.
                let same = |known: &Failure<'_>| (known.time, known.what) == (failure.time, failure.what);
                if !who.failures.iter().any(same) {
                    who.failures.push(failure);
                }
            }
            None => {
                let last = who.looked.entry((machine, rung)).or_default();
                *last = time.max(last);
            }
        }
        if matches!(recorded.contamination_state(), evidence::Contamination::Certified { .. }) {
            who.certified = who.certified.max(Some(time));
        }
    }
    all
}

fn state(who: &Who<'_>) -> &'static str {
    match who.looked.is_empty() {
        _ if !who.contaminated().is_empty() => "site-state-contaminated",
        _ if who.blocked().is_some() => "site-state-blocked",
        false => "site-state-looked",
        true => "site-state-untried",
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
                        @if let Some((why, _, time)) = who.blocked() { (Pair::from(why)) " (" (day(time)) ") " }
                        @for difference in who.contaminated().iter().take(2) { (shown(difference)) " " }
                        @if let Some(time) = who.certified { (study.words.say("site-certified")) " (" (day(time)) ") " }
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

fn day(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}

/// Failed attempts, the newest first, with date, lesson, and whether the same worked since.
fn attempts(study: &Study<'_>, all: &BTreeMap<String, Who<'_>>) -> Vec<Vec<Markup>> {
    let mut rows = Vec::new();
    for (name, who) in all {
        let mut failures: Vec<&Failure<'_>> = who.failures.iter().collect();
        failures.sort_by_key(|failure| std::cmp::Reverse(failure.time));
        let mut known: Vec<(What<'_>, bool)> = Vec::new();
        for failure in failures {
            let since = who.since(failure);
            // A repeated refusal is listed once, with its last date.
            if known.contains(&(failure.what, since.is_some())) {
                continue;
            }
            known.push((failure.what, since.is_some()));
            let (what, lesson) = match failure.what {
                What::Blocked { why, fix } => {
                    (study.words.say_with("site-worklog-blocked", &[("why", why.into())]), html! { (shown(fix)) })
                }
                What::Contaminated { difference } => (
                    html! { (study.words.say("site-state-contaminated")) ": " (shown(difference)) },
                    study.words.say("site-lesson-contaminated"),
                ),
            };
            let lesson = match since {
                Some(time) => study.words.say_with("site-attempt-since", &[("day", day(time).into())]),
                None if lesson.0.is_empty() => html! { span.faint { "–" } },
                None => lesson,
            };
            rows.push(vec![parts::mono(name), html! { (what) " " span.faint { (day(failure.time)) } }, lesson]);
        }
    }
    rows
}

/// The results of `doctor` for each observer, if they are in the ledger.
fn results(study: &Study<'_>) -> Vec<Vec<Markup>> {
    let mut last: BTreeMap<&str, (&evidence::Recorded, String)> = BTreeMap::new();
    for (recorded, fact) in study.facts("observer.result") {
        let Some(name) = fact.about.get("observer") else { continue };
        if last.get(name).is_none_or(|(known, _)| known.time() <= recorded.time()) {
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
            who.blocked().map(|(why, ..)| why.english.to_owned()).unwrap_or_default(),
            who.blocked().map(|(_, fix, _)| fix.to_owned()).unwrap_or_default(),
            who.contaminated().join("; "),
        ]
    });
    csv::file(&["observer", "state", "can_see", "has_seen", "observations", "blocked", "fix", "contaminated"], rows)
}
