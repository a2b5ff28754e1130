//! Open questions and claims, by the command that closes them; what closes most stands first.

use super::slug;
use crate::csv;
use crate::input::Study;
use crate::parts;
use crate::words::Pair;
use crate::write::Page;
use maud::{Markup, html};

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-questions-question", &[]);
    let investigation = study.input.investigation;
    let open: Vec<_> =
        investigation.questions.iter().zip(study.input.questions).filter(|(_, reading)| reading.open).collect();
    let claims: Vec<_> = study.claims().filter(|(_, reading)| reading.grade.is_unresolved()).collect();
    let args = [
        ("questions", open.len().into()),
        ("claims", claims.len().into()),
        ("commands", study.input.next.len().into()),
    ];
    let group = |command: &str| {
        let questions: Vec<_> = open.iter().filter(|(question, _)| question.closes == command).collect();
        let claims: Vec<_> = claims.iter().filter(|(stated, _)| stated.closes == command).collect();
        (questions, claims)
    };
    let body = html! {
        (parts::head(study, "questions", html! { (title.clone()) }, study.words.par("answer", "site-questions-answer", &args), Markup::default(), parts::plain(study, "site-plain-questions", &[])))
        @if study.input.next.is_empty() { section aria-label="Questions / 問い" { (study.words.par("", "site-questions-none", &[])) } }
        @for (at, next) in study.input.next.iter().enumerate() {
            @let (questions, claims) = group(&next.command);
            section aria-labelledby=(format!("questions-{at}")) {
                h2.small.faint id=(format!("questions-{at}")) {
                    (study.words.say_with("site-closes", &[("claims", next.claims.into()), ("questions", next.questions.into())]))
                    " · " (study.words.say(if next.possible { "site-possible" } else { "site-not-possible" }))
                }
                (parts::command(study, &next.command))
                @if !questions.is_empty() {
                    ul { @for (question, _) in questions { li { a href=(format!("chain-{}.html", slug(&question.id))) { (Pair::from(&question.words)) } } } }
                }
                @if !claims.is_empty() {
                    details { summary { (study.words.say_with("site-claims-closed", &[("count", claims.len().into())])) }
                        ul.plainlist { @for (stated, reading) in claims { li { (parts::grade_cell(study, reading.grade)) " " (Pair::from(&stated.words)) @if let Some(why) = reading.grade.why() { " " span.faint { "(" (parts::rung(study, reading.rung)) ", " (parts::why(study, why)) ")" } } } } }
                    }
                }
            }
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
