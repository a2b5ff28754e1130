//! The worklog: the records of each observer by day, with the notes of users in between.

use crate::csv;
use crate::input::Study;
use crate::page::{Page, slug};
use crate::parts;
use crate::svg;
use crate::words::{Kept, Pair, shown};
use evidence::{Finding, Recorded, Rung};
use maud::{Markup, html};

enum Entry<'a> {
    /// One run of an observer: its observations with the same time.
    Run {
        time: &'a str,
        observer: &'a str,
        rung: Rung,
        rows: usize,
        blocked: Option<(Kept<'a>, &'a str)>,
        subject: String,
        first: &'a Recorded,
    },
    Note {
        note: &'a crate::Note,
    },
}

impl Entry<'_> {
    fn time(&self) -> &str {
        match self {
            Entry::Run { time, .. } => time,
            Entry::Note { note } => &note.time,
        }
    }
}

fn entries<'a>(study: &Study<'a>) -> Vec<Entry<'a>> {
    let mut all: Vec<Entry<'a>> = Vec::new();
    for recorded in study.input.observations {
        let (time, observer, rung) = (recorded.time(), recorded.observer().name.as_str(), recorded.rung());
        let blocked = match recorded.finding() {
            Finding::Blocked { why, fix, said } => Some((Kept { english: why, said: said.as_ref() }, fix.as_str())),
            _ => None,
        };
        let same = |entry: &&mut Entry<'_>| matches!(entry, Entry::Run { time: t, observer: o, rung: r, blocked: b, .. } if (*t, *o, *r, b.is_some()) == (time, observer, rung, blocked.is_some()));
        // Runs of the same time are grouped.
        match all.iter_mut().rev().take(12).find(same) {
            Some(Entry::Run { rows, .. }) => *rows += 1,
            _ => all.push(Entry::Run {
                time,
                observer,
                rung,
                rows: 1,
                blocked,
                subject: recorded.subject().to_string(),
                first: recorded,
            }),
        }
    }
    all.extend(study.input.notes.iter().map(|note| Entry::Note { note }));
    all.sort_by(|a, b| a.time().cmp(b.time()));
    all
}

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-worklog-question", &[]);
    let entries = entries(study);
    let most =
        entries.iter().map(|entry| if let Entry::Run { rows, .. } = entry { *rows } else { 0 }).max().unwrap_or(0);
    let mut days: Vec<&str> = entries.iter().map(|entry| entry.time().get(..10).unwrap_or("")).collect();
    days.dedup();
    let blocked = entries.iter().filter(|entry| matches!(entry, Entry::Run { blocked: Some(_), .. })).count();
    let args = [
        ("days", days.len().into()),
        ("entries", entries.len().into()),
        ("blocked", blocked.into()),
        ("notes", study.input.notes.len().into()),
    ];
    let body = html! {
        (parts::head(study, "worklog", html! { (title.clone()) }, study.words.par("answer", "site-worklog-answer", &args), Markup::default(), parts::plain(study, "site-plain-worklog", &[])))
        @if entries.is_empty() { section aria-label="Worklog / 作業ログ" { (parts::gap(study, &study.words.pair("site-worklog-empty", &[]), Some("whichkernel investigate"))) } }
        @for (at, day) in days.iter().enumerate() {
            (parts::section(&format!("worklog-{at}"), html! { time { (day) } }, html! {
                figure.wide {
                    figcaption { (study.words.say("site-worklog-caption")) }
                    ol.log { @for entry in entries.iter().filter(|entry| entry.time().get(..10).unwrap_or("") == *day) { (line(study, entry, most)) } }
                }
            }))
        }
        (parts::csv_link(study, "worklog.csv"))
        (parts::next(study, "worklog-next", study.words.say("site-next-worklog"), Some("whichkernel ledger note --phase F TEXT"), "observations"))
    };
    let rows = entries.iter().map(|entry| match entry {
        Entry::Run { time, observer, rung, rows, blocked, subject, .. } => vec![
            (*time).to_owned(),
            (*observer).to_owned(),
            rung.to_string(),
            rows.to_string(),
            blocked.map(|(why, _)| why.english.to_owned()).unwrap_or_default(),
            subject.clone(),
            String::new(),
            String::new(),
        ],
        Entry::Note { note } => vec![
            note.time.clone(),
            "note".to_owned(),
            String::new(),
            "1".to_owned(),
            String::new(),
            note.text.clone(),
            note.phase.clone().unwrap_or_default(),
            note.about.clone().unwrap_or_default(),
        ],
    });
    let table = csv::file(&["time", "observer", "rung", "rows", "blocked", "text", "phase", "about"], rows);
    Page { name: "worklog".to_owned(), title, body, tables: vec![("worklog.csv".to_owned(), table)], data: Vec::new() }
}

fn line(study: &Study<'_>, entry: &Entry<'_>, most: usize) -> Markup {
    let clock = entry.time().get(11..16).unwrap_or("");
    match entry {
        Entry::Run { observer, rung, rows, blocked, subject, first, .. } => html! {
            li class=[blocked.map(|_| "stop")] {
                time.mono { (clock) }
                span {
                    span.mono { (shown(observer)) } " " (parts::rung(study, *rung)) br;
                    span.quiet {
                        @if let Some((why, fix)) = blocked {
                            (study.words.say_with("site-worklog-blocked", &[("why", (*why).into())]))
                            @if !fix.is_empty() { " " (study.words.say_with("site-lesson", &[("fix", (*fix).into())])) }
                        } @else { (shown(subject)) " " (parts::observation(first.id())) }
                    }
                }
                span.num { (rows) }
                (svg::root_bar(*rows, most, if blocked.is_some() { "u" } else { "c" }))
            }
        },
        Entry::Note { note } => {
            let claim = note.about.as_deref().and_then(|id| study.reading(id));
            html! {
                li.person {
                    time.mono { (clock) }
                    span {
                        span.quiet.small { (study.words.say("site-note")) @if let Some(phase) = &note.phase { " · " a href=(format!("phases.html#phase-{}", slug(phase).to_uppercase())) { (shown(phase)) } } }
                        br; (shown(&note.text))
                        @if let Some(about) = &note.about {
                            br; span.quiet.small { span.mono { (shown(about)) } @if let Some((stated, reading)) = claim { " " (Pair::from(&stated.words)) " " (parts::grade(study, reading.grade, Some(study.words.say_with("site-on", &[("rungs", parts::rung(study, reading.rung).into())])))) } }
                        }
                    }
                    span.num {} span {}
                }
            }
        }
    }
}
