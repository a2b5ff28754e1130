//! Open questions and claims, by the command that decides them; the most useful command comes first.

use crate::csv;
use crate::input::{Next, Study};
use crate::page::{Page, slug};
use crate::parts;
use crate::words::Pair;
use evidence::{Reading, Stated};
use maud::{Markup, html};

/// Whether a command can be run here, or its missing prerequisites.
pub fn here(study: &Study<'_>, next: &Next) -> Markup {
    // The state of this machine is irrelevant to other readers.
    if study.input.published.is_some() {
        return Markup::default();
    }
    let needs = Pair::join(&next.needs, study.words);
    match (next.needs.is_empty(), next.possible) {
        (true, true) => study.words.say("site-possible"),
        (true, false) => study.words.say("site-not-possible"),
        (false, false) => study.words.say_with("site-needs", &[("needs", needs.into())]),
        (false, true) => study.words.say_with("site-needs-partly", &[("needs", needs.into())]),
    }
}

fn claim_list(study: &Study<'_>, claims: &[&(&Stated, &Reading)]) -> Markup {
    html! {
        ul.plainlist {
            @for (stated, reading) in claims {
                li {
                    (parts::grade_cell(study, reading.grade)) " " (Pair::from(&stated.words))
                    @if let Some(why) = reading.grade.why() { " " span.faint { "(" (parts::rung(study, reading.rung)) ", " (parts::why(study, why)) ")" } }
                }
            }
        }
    }
}

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-questions-question", &[]);
    let investigation = study.input.investigation;
    let open: Vec<_> =
        investigation.questions.iter().zip(study.input.questions).filter(|(_, reading)| reading.open).collect();
    let claims: Vec<_> = study.claims().filter(|(_, reading)| reading.grade.is_unresolved()).collect();
    let group = |next: &Next| {
        let questions: Vec<_> = open.iter().filter(|(question, _)| next.questions.contains(&question.id)).collect();
        let claims: Vec<_> = claims.iter().filter(|(stated, _)| next.claims.contains(&stated.claim.id)).collect();
        (questions, claims)
    };
    // Claims that no command of this version can decide are listed too.
    let left: Vec<_> = claims
        .iter()
        .filter(|(stated, _)| !study.input.next.iter().any(|next| next.claims.contains(&stated.claim.id)))
        .collect();
    let args = [
        ("questions", open.len().into()),
        ("claims", claims.len().into()),
        ("commands", study.input.next.len().into()),
        ("left", left.len().into()),
    ];
    let body = html! {
        (parts::head(study, "questions", html! { (title.clone()) }, study.words.par("answer", "site-questions-answer", &args), Markup::default(), parts::plain(study, "site-plain-questions", &[])))
        @if claims.is_empty() && open.is_empty() { section aria-label="Questions / 問い" { (study.words.par("", if study.input.readings.is_empty() && investigation.questions.is_empty() { "site-questions-unstated" } else { "site-questions-none" }, &[])) } }
        @for (at, next) in study.input.next.iter().enumerate() {
            @let (questions, claims) = group(next);
            section aria-labelledby=(format!("questions-{at}")) {
                h2.small.faint id=(format!("questions-{at}")) {
                    (study.words.say_with("site-closes", &[("claims", next.claims.len().into()), ("questions", next.questions.len().into())]))
                    @if study.input.published.is_none() { " · " (here(study, next)) }
                }
                (parts::bare_command(study, &next.command))
                @if !questions.is_empty() {
                    ul { @for (question, _) in questions { li { a href=(format!("chain-{}.html", slug(&question.id))) { (Pair::from(&question.words)) } } } }
                }
                @if !claims.is_empty() {
                    details { summary { (study.words.say_with("site-claims-closed", &[("count", claims.len().into())])) }
                        (claim_list(study, &claims))
                    }
                }
            }
        }
        @if !left.is_empty() {
            (parts::section("questions-left", study.words.say("site-h-unclosable"), html! {
                (study.words.par("quiet", "site-unclosable", &[("count", left.len().into())]))
                details { summary { (study.words.say_with("site-phase-open", &[("count", left.len().into())])) } (claim_list(study, &left)) }
            }))
        }
        (parts::csv_link(study, "questions.csv"))
        (parts::next(study, "questions-next", study.words.say("site-next-questions"), study.input.next.first().map(|next| next.command.as_str()), "shows"))
    };
    let rows = open.iter().map(|(question, _)| {
        vec![
            question.id.clone(),
            format!("{:?}", question.phase),
            question.words.en.clone(),
            question.words.ja.clone(),
            question.closes.clone(),
        ]
    });
    let table = csv::file(&["id", "phase", "text_en", "text_ja", "closes"], rows);
    Page {
        name: "questions".to_owned(),
        title,
        body,
        tables: vec![("questions.csv".to_owned(), table)],
        data: Vec::new(),
    }
}
