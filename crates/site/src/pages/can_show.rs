//! The limits of the evidence, in the words of the claims and of the observers' fields of view.

use crate::csv;
use crate::input::Study;
use crate::page::Page;
use crate::parts::{self, col};
use crate::words::Pair;
use evidence::{Reading, Rung, Stated};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Two columns for a set of claims; each sentence appears once.
pub fn columns(study: &Study<'_>, id: &str, claims: &[(&Stated, &Reading)]) -> Markup {
    let list = |of: fn(&Stated) -> Option<&evidence::Words>| {
        let mut all: Vec<Pair> = Vec::new();
        for words in claims.iter().filter_map(|(stated, _)| of(stated)) {
            let pair = Pair::from(words);
            if !all.contains(&pair) {
                all.push(pair);
            }
        }
        all
    };
    let (shows, cannot) = (list(|stated| stated.shows.as_ref()), list(|stated| stated.cannot.as_ref()));
    if shows.is_empty() && cannot.is_empty() {
        return Markup::default();
    }
    let half = |key: &str, items: &[Pair]| html! { div { h3 { (study.words.say(key)) } @if items.is_empty() { p.faint { (study.words.say("site-nothing-stated")) } } @else { ul { @for item in items { li { (item.clone()) } } } } } };
    let body = html! { div.wide.show { (half("site-can", &shows)) (half("site-cannot", &cannot)) } };
    parts::section(id, study.words.say("site-h-shows"), body)
}

/// An observer's field of view and blind spots, in its own words.
struct View {
    reach: Vec<Pair>,
    blind: Vec<Pair>,
    observations: usize,
}

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-shows-question", &[]);
    let mut views: BTreeMap<(String, Rung), View> = BTreeMap::new();
    let mut add = |name: &str, rung: Rung, view: &evidence::FieldOfView, seen: usize| {
        let one = views.entry((name.to_owned(), rung)).or_insert(View {
            reach: Vec::new(),
            blind: Vec::new(),
            observations: 0,
        });
        one.observations += seen;
        let (en, ja) = (&study.words.en, &study.words.ja);
        let blind = view.blind_in(en).into_iter().zip(view.blind_in(ja)).map(|(en, ja)| Pair { en, ja });
        let reach = Pair { en: view.reach_in(en), ja: view.reach_in(ja) };
        for (into, from) in [(&mut one.reach, vec![reach]), (&mut one.blind, blind.collect())] {
            into.extend(from.into_iter().filter(|pair| !pair.en.is_empty()));
            into.sort();
            into.dedup();
        }
    };
    for able in study.input.able {
        add(&able.looker.to_string(), able.rung, &able.view, 0);
    }
    for recorded in study.input.observations {
        add(&recorded.observer().name, recorded.rung(), recorded.field_of_view(), 1);
    }
    let mut rows: Vec<Vec<Markup>> = Vec::new();
    let mut table: Vec<Vec<String>> = Vec::new();
    let english = |items: &[Pair]| items.iter().map(|item| item.en.as_str()).collect::<Vec<_>>().join("; ");
    for ((name, rung), view) in &views {
        let list = |items: &[Pair]| html! { @if items.is_empty() { span.faint { "–" } } @else { @for item in items.iter().take(4) { (item) br; } } };
        rows.push(vec![
            parts::mono(name),
            html! { (parts::rung(study, *rung)) },
            list(&view.reach),
            list(&view.blind),
            html! { (view.observations) },
        ]);
        table.push(vec![
            name.clone(),
            rung.to_string(),
            english(&view.reach),
            english(&view.blind),
            view.observations.to_string(),
        ]);
    }
    let claims: Vec<_> = study.claims().collect();
    let cols = [
        col(study, "site-col-observer"),
        col(study, "site-col-rung"),
        col(study, "site-col-reach"),
        col(study, "site-col-blind"),
        parts::num(study, "site-col-observations"),
    ];
    let body = html! {
        (parts::head(study, "shows", html! { (title.clone()) }, study.words.par("answer", "site-shows-answer", &[]), Markup::default(), parts::plain(study, "site-plain-shows", &[])))
        (columns(study, "shows-claims", &claims))
        (parts::section("shows-views", study.words.say("site-h-views"), html! { (parts::table(&cols, &rows)) (parts::csv_link(study, "views.csv")) }))
        (parts::next(study, "shows-next", study.words.say("site-next-shows"), Some("whichkernel doctor"), "sources"))
    };
    let table = csv::file(&["observer", "rung", "reach", "blind", "observations"], table);
    Page { name: "shows".to_owned(), title, body, tables: vec![("views.csv".to_owned(), table)], data: Vec::new() }
}
