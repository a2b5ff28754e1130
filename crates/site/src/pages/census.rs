//! The instruction census: the instructions of each file's kernels by family and mnemonic, as far as the ledger has
//! them.

use crate::csv;
use crate::input::Study;
use crate::page::Page;
use crate::parts::{self, col, num};
use crate::read::Read;
use crate::svg;
use crate::words::{Kept, shown};
use evidence::{About, Rung};
use maud::{Markup, html};
use report::thousands;

/// The topic of a census. If its observer was blocked, that explains a missing census.
const COUNTS: &str = "isa.count";

/// Rows of one file in the page; the CSV has all.
const MOST: usize = 200;

/// File, target, family or kernel, mnemonic or its prefix, count, and observation.
type Counted<'a> = (String, String, String, String, u64, &'a evidence::Recorded);

/// Non-zero counts as bars; zero counts in a line below.
fn of_file(study: &Study<'_>, file: &str, all: &[Counted<'_>]) -> Markup {
    let own: Vec<&Counted<'_>> = all.iter().filter(|row| row.0 == file).collect();
    let most = own.iter().map(|row| row.4 as usize).max().unwrap_or(0);
    let (there, none): (Vec<&Counted<'_>>, Vec<&Counted<'_>>) = own.into_iter().partition(|row| row.4 > 0);
    let columns = [
        col(study, "site-col-family"),
        col(study, "site-col-instruction"),
        num(study, "site-col-count"),
        col(study, "site-col-share"),
        col(study, "site-col-target"),
        num(study, "site-col-bundle"),
        col(study, "site-col-observation"),
    ];
    let bundle = |row: &Counted<'_>| row.5.fact().and_then(|fact| fact.about.get("bundle")).unwrap_or("–").to_owned();
    let rows: Vec<Vec<Markup>> = there
        .iter()
        .take(MOST)
        .map(|row| {
            let (_, target, family, what, count, recorded) = row;
            vec![
                parts::mono(family),
                parts::mono(what),
                html! { (thousands(*count)) },
                svg::root_bar(*count as usize, most, "c"),
                parts::mono(target),
                html! { (bundle(row)) },
                parts::observation(recorded.id()),
            ]
        })
        .collect();
    html! {
        h3.mono { (shown(file)) }
        @if !rows.is_empty() { (parts::table(&columns, &rows)) }
        @if there.len() > MOST { (study.words.par("faint small", "site-more", &[("count", (there.len() - MOST).into())])) }
        @for (key, none) in by_read(&none) {
            p.small { (study.words.say(key)) " " @for row in &none { span.mono { (shown(if row.3.is_empty() { &row.2 } else { &row.3 })) } " " (parts::observation(row.5.id())) " " } }
        }
    }
}

/// Instructions that were searched for but not found: absent if everything was decoded and a second account agrees;
/// otherwise only "not seen".
fn by_read<'a, 'b>(none: &[&'b Counted<'a>]) -> Vec<(&'static str, Vec<&'b Counted<'a>>)> {
    let of = |read: Read| none.iter().copied().filter(|row| Read::of(row.5.coverage()) == read).collect::<Vec<_>>();
    let all = [
        ("site-census-zero", of(Read::Whole)),
        ("site-census-zero-alone", of(Read::Alone)),
        ("site-census-zero-partly", of(Read::Partly)),
    ];
    all.into_iter().filter(|(_, rows)| !rows.is_empty()).collect()
}

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-census-question", &[]);
    let mut all: Vec<Counted<'_>> = study
        .facts(COUNTS)
        .filter_map(|(recorded, fact)| {
            let count = fact.value.number()? as u64;
            let what = fact.about.get("mnemonic").or(fact.about.get("prefix")).unwrap_or("").to_owned();
            let family = fact.about.get("kernel").or(fact.about.get("family")).unwrap_or("").to_owned();
            let file = study.file_label(recorded.subject()).unwrap_or_default();
            Some((file, recorded.subject().target.clone().unwrap_or_default(), family, what, count, recorded))
        })
        .collect();
    all.sort_by(|a, b| (&a.0, &a.1, &a.2, std::cmp::Reverse(a.4)).cmp(&(&b.0, &b.1, &b.2, std::cmp::Reverse(b.4))));
    let mut files: Vec<&str> = all.iter().map(|row| row.0.as_str()).collect();
    files.dedup();
    let tables: Vec<Markup> = files.iter().map(|file| of_file(study, file, &all)).collect();
    let claims: Vec<_> = study
        .claims()
        .filter(|(stated, _)| stated.claim.topic.starts_with("isa.") || stated.claim.topic.starts_with("kernel."))
        .collect();
    let open = claims.iter().filter(|(_, reading)| reading.grade.is_unresolved()).count();
    let args = [("count", all.len().into()), ("claims", claims.len().into()), ("open", open.into())];
    let in_view = study.input.observations.iter().filter(|it| it.field_of_view().covers(COUNTS, &About::default()));
    // Only the last attempt counts: earlier obstacles no longer apply.
    let blocked = in_view.max_by_key(|recorded| recorded.time()).and_then(|recorded| match recorded.finding() {
        evidence::Finding::Blocked { why, said, .. } => Some(Kept { english: why, said: said.as_ref() }),
        _ => None,
    });
    let why = blocked.map_or_else(
        || study.words.pair("site-census-empty", &[]),
        |why| study.words.pair("site-worklog-blocked", &[("why", why.into())]),
    );
    let body = html! {
        (parts::head(study, "census", html! { (title.clone()) }, study.words.par("answer", if all.is_empty() { "site-census-none" } else { "site-census-answer" }, &args), parts::seen_on(study, &[(Rung::Shipped, !all.is_empty())]), parts::plain(study, "site-plain-census", &[])))
        (parts::section("census-table", study.words.say("site-h-census"), html! {
            @if tables.is_empty() { (parts::gap(study, &why, Some("whichkernel isa FILE --record"))) } @else { @for table in &tables { (table) } (parts::csv_link(study, "census.csv")) }
        }))
        (super::can_show::columns(study, "census-shows", &claims))
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
