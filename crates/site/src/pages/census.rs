//! The instruction census: what each file's kernels do, by family and mnemonic, as far as it is in the ledger.

use crate::csv;
use crate::input::Study;
use crate::parts::{self, col, num};
use crate::svg;
use crate::words::thousands;
use crate::write::Page;
use maud::{Markup, html};

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-census-question", &[]);
    let mut all: Vec<(String, String, String, String, u64, &evidence::Recorded)> = study
        .facts("isa.count")
        .filter_map(|(recorded, fact)| {
            let count = fact.value.number()? as u64;
            let what = fact.about.get("mnemonic").or(fact.about.get("prefix")).unwrap_or("").to_owned();
            let family = fact.about.get("kernel").or(fact.about.get("family")).unwrap_or("").to_owned();
            let file = study.file_label(recorded.subject()).unwrap_or_default();
            Some((file, recorded.subject().target.clone().unwrap_or_default(), family, what, count, recorded))
        })
        .collect();
    all.sort_by(|a, b| (&a.0, &a.1, &a.2, std::cmp::Reverse(a.4)).cmp(&(&b.0, &b.1, &b.2, std::cmp::Reverse(b.4))));
    let most = all.iter().map(|row| row.4 as usize).max().unwrap_or(0);
    let columns = [
        col(study, "site-col-family"),
        col(study, "site-col-instruction"),
        num(study, "site-col-count"),
        col(study, "site-col-share"),
        col(study, "site-col-target"),
        col(study, "site-col-observation"),
    ];
    let rows: Vec<Vec<Markup>> = all
        .iter()
        .take(400)
        .map(|(_, target, family, what, count, recorded)| {
            vec![
                parts::mono(family),
                parts::mono(what),
                html! { (thousands(*count)) },
                svg::root_bar(*count as usize, most, "c"),
                parts::mono(target),
                parts::observation(recorded.id()),
            ]
        })
        .collect();
    let claims: Vec<_> = study
        .claims()
        .filter(|(stated, _)| stated.claim.topic.starts_with("isa.") || stated.claim.topic.starts_with("kernel."))
        .collect();
    let open = claims.iter().filter(|(_, reading)| reading.grade.is_unresolved()).count();
    let args = [("count", all.len().into()), ("claims", claims.len().into()), ("open", open.into())];
    let blocked = study.input.observations.iter().rev().find_map(|recorded| match recorded.finding() {
        evidence::Finding::Blocked { why, fix } if recorded.observer().name == "isa" => {
            Some((why.as_str(), fix.as_str()))
        }
        _ => None,
    });
    let why = blocked.map_or_else(
        || study.words.pair("site-census-empty", &[]),
        |(why, _)| study.words.pair("site-worklog-blocked", &[("why", why.into())]),
    );
    let body = html! {
        (parts::head(study, "census", html! { (title.clone()) }, study.words.par("answer", if all.is_empty() { "site-census-none" } else { "site-census-answer" }, &args), Markup::default(), parts::plain(study, "site-plain-census", &[])))
        (parts::section("census-table", study.words.say("site-h-census"), html! {
            @if rows.is_empty() { (parts::gap(study, &why, Some("whichkernel isa FILE --record"))) } @else { (parts::table(&columns, &rows)) (parts::csv_link(study, "census.csv")) }
        }))
        (super::shows::columns(study, "census-shows", &claims))
        (parts::next(study, "census-next", study.words.say("site-next-census"), claims.iter().find(|(_, reading)| reading.grade.is_unresolved()).map(|(stated, _)| stated.closes.as_str()), "libraries"))
    };
    let mut tables = Vec::new();
    if !all.is_empty() {
        let rows = all.iter().map(|(file, target, family, what, count, recorded)| {
            vec![
                file.clone(),
                target.clone(),
                family.clone(),
                what.clone(),
                count.to_string(),
                recorded.id().to_string(),
            ]
        });
        tables.push((
            "census.csv".to_owned(),
            csv::file(&["file", "target", "family", "instruction", "count", "observation"], rows),
        ));
    }
    Page { name: "census".to_owned(), title, body, tables, data: Vec::new() }
}
