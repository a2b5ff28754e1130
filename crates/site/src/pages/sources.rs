//! The sources of the evidence: trees, commits, files, runtimes, hosts, with their fingerprints; contradictions come
//! first.

use crate::csv;
use crate::input::Study;
use crate::page::Page;
use crate::parts::{self, col, num};
use crate::plain_table::with_csv;
use crate::words::{Arg, Pair, shown};
use evidence::{Artifact, Reason};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct Used {
    observations: usize,
    runtimes: BTreeSet<String>,
    targets: BTreeSet<String>,
    observers: BTreeSet<String>,
    imported: BTreeSet<String>,
}

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-sources-question", &[]);
    let mut all: BTreeMap<(&'static str, String, String), Used> = BTreeMap::new();
    for recorded in study.input.observations {
        let subject = recorded.subject();
        let key = match &subject.artifact {
            Artifact::File { sha256, name } => ("file", name.clone(), sha256.clone()),
            Artifact::Source { name, commit, .. } => ("source", name.clone(), commit.clone()),
            Artifact::Host { name } => ("host", name.clone(), String::new()),
            Artifact::None => ("none", subject.runtime.clone().unwrap_or_default(), String::new()),
        };
        let used = all.entry(key).or_default();
        used.observations += 1;
        used.runtimes.extend(subject.runtime.clone());
        used.targets.extend(subject.target.clone());
        used.observers.insert(recorded.observer().name.clone());
        used.imported.extend(recorded.origin().and_then(|origin| origin.get(..8)).map(str::to_owned));
    }
    let columns = [
        col(study, "site-col-source"),
        col(study, "site-col-kind"),
        col(study, "site-col-fingerprint"),
        col(study, "site-col-runtime"),
        col(study, "site-col-observer"),
        num(study, "site-col-observations"),
    ];
    let mut rows: Vec<Vec<Markup>> = Vec::new();
    let mut table: Vec<Vec<String>> = Vec::new();
    let build_of =
        |kind: &str, print: &str| study.dispatch.builds.iter().find(|build| kind == "source" && build.commit == print);
    // Trees are sorted by date; fingerprints have none.
    let mut sorted: Vec<_> = all.iter().collect();
    sorted.sort_by_key(|((kind, name, print), _)| {
        let date = build_of(kind, print).map(|build| build.date.clone()).unwrap_or_default();
        (*kind, name.clone(), date.is_empty(), date, print.clone())
    });
    for ((kind, name, print), used) in sorted {
        let build = build_of(kind, print);
        let list = |items: &BTreeSet<String>| items.iter().cloned().collect::<Vec<_>>().join(", ");
        rows.push(vec![
            html! { span.mono { (shown(name)) } @if let Some(build) = build { " " (shown(&build.name)) " " span.faint { (build.date) } } },
            study.words.say(&format!("site-kind-{kind}")),
            html! { @if print.is_empty() { span.faint { "–" } } @else { span.mono { (shown(print.get(..16).unwrap_or(print))) } } },
            html! { (shown(&list(&used.runtimes))) @if !used.imported.is_empty() { " " span.faint { (study.words.say_with("site-imported", &[("ledger", list(&used.imported).into())])) } } },
            html! { (shown(&list(&used.observers))) },
            html! { (used.observations) },
        ]);
        table.push(vec![
            name.clone(),
            (*kind).to_owned(),
            print.clone(),
            build.map(|build| build.date.clone()).unwrap_or_default(),
            list(&used.runtimes),
            list(&used.targets),
            list(&used.observers),
            used.observations.to_string(),
            list(&used.imported),
        ]);
    }
    let conflicts = contradictions(study);
    let count = |kind: &str| all.keys().filter(|(known, ..)| *known == kind).count();
    let args = [
        ("sources", count("source").into()),
        ("files", count("file").into()),
        ("hosts", count("host").into()),
        ("conflicts", conflicts.len().into()),
    ];
    let contradicted = [col(study, "site-col-claim"), col(study, "site-col-standing"), col(study, "site-col-because")];
    let ledger = &study.input.ledger;
    let body = html! {
        (parts::head(study, "sources", html! { (title.clone()) }, study.words.par("answer", "site-sources-answer", &args), Markup::default(), parts::plain(study, "site-plain-sources", &[])))
        (parts::section("sources-conflicts", study.words.say("site-h-contradictions"), html! {
            @if conflicts.is_empty() { (study.words.par("quiet", if decided(study) { "site-contradictions-none" } else { "site-contradictions-unknown" }, &[])) } @else { (with_csv(study, "contradictions", &contradicted, &conflicts)) }
        }))
        (parts::section("sources-all", study.words.say("site-h-sources"), html! { (parts::table(&columns, &rows)) (parts::csv_link(study, "sources.csv")) }))
        (parts::section("sources-ledger", study.words.say("site-h-ledger"), html! {
            dl.evidence.wide {
                dt { (study.words.say("site-col-ledger")) } dd.mono { (ledger.id.as_deref().unwrap_or("–")) }
                dt { (study.words.say("site-col-rows")) } dd { (ledger.rows) }
                dt { (study.words.say("site-col-head")) } dd.mono { (ledger.head.as_deref().unwrap_or("–")) }
            }
            (parts::command(study, "whichkernel ledger verify"))
        }))
        (parts::next(study, "sources-next", study.words.say("site-next-sources"), Some("whichkernel ledger verify"), "worklog"))
    };
    let columns =
        ["name", "kind", "fingerprint", "date", "runtimes", "targets", "observers", "observations", "imported_from"];
    Page {
        name: "sources".to_owned(),
        title,
        body,
        tables: vec![("sources.csv".to_owned(), csv::file(&columns, table))],
        data: Vec::new(),
    }
}

/// Whether anything was seen that could contradict a claim.
fn decided(study: &Study<'_>) -> bool {
    study.claims().any(|(_, reading)| !reading.grade.is_unresolved())
}

/// Claims that the sources contradict, or on which two observers disagree.
fn contradictions(study: &Study<'_>) -> Vec<Vec<Markup>> {
    let against = |reason: &Reason| matches!(reason, Reason::Contradicts { .. } | Reason::Conflict { .. });
    study
        .claims()
        .filter(|(stated, reading)| {
            reading.reasons.iter().any(against)
                && (stated.claim.topic.starts_with("file.")
                    || stated.claim.topic.starts_with("source.")
                    || stated.claim.topic.starts_with("runtime.")
                    || reading.grade.why() == Some(evidence::Why::Conflict))
        })
        .map(|(stated, reading)| {
            let at = reading.reasons.iter().position(against).unwrap_or(0);
            let on = study.words.say_with("site-on", &[("rungs", Arg::from(parts::rung(study, reading.rung)))]);
            vec![
                html! { (Pair::from(&stated.words)) },
                parts::grade(study, reading.grade, Some(on)),
                html! { (parts::reason(study, reading, at)) },
            ]
        })
        .collect()
}
