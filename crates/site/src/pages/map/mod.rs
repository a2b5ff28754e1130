//! Type by columns by release by card: the declared, chosen and launched paths, with every change in words.

mod asked;
mod figures;
mod lanes;
mod table;
mod types;

use crate::input::{Study, card_title};
use crate::page::Page;
use crate::parts;
use crate::svg;
use crate::words::Arg;
use asked::{Line, turn_list};
use evidence::Rung;
use maud::{Markup, html};

pub use asked::{Asked, lines, turns};
pub use figures::{aria, strip};

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-map-question", &[]);
    let name = "map".to_owned();
    let Some(asked) = Asked::of(study) else {
        let answer = study.words.par("answer", "site-map-empty", &[]);
        let gap = parts::gap(
            study,
            &study.words.pair("site-map-empty-why", &[]),
            Some("whichkernel source TREE --gpu TARGET --record"),
        );
        let body = html! {
            (parts::head(study, "map", html! { (title.clone()) }, answer, Markup::default(), parts::plain(study, "site-plain-map", &[])))
            section aria-label="Map / マップ" { (gap) }
            (parts::next(study, "map-next", study.words.say("site-next-map"), None, "chain"))
        };
        return Page { name, title, body, tables: Vec::new(), data: Vec::new() };
    };
    let lines = lines(study, &asked);
    let own = study.dispatch.asked(study);
    let body = html! {
        (parts::head(study, "map", html! { (title.clone()) }, answer(study, &asked, &lines), standing(study), parts::plain(study, "site-plain-map", &[])))
        (figures::builds(study, &asked, &lines, own))
        (figures::flow(study, &asked, own))
        (types::tabs(study, &asked, own))
        (figures::tile(study, &asked, own))
        (lanes::section(study, &asked, own))
        (parts::next(study, "map-next", study.words.say("site-next-map"), Some("whichkernel history TREE --gpu TARGET"), "chain"))
    };
    Page { name, title, body, tables: vec![("map.csv".to_owned(), table::csv(study, &asked.target))], data: Vec::new() }
}

fn answer(study: &Study<'_>, asked: &Asked, lines: &[Line<'_>]) -> Markup {
    let turns = turn_list(asked, lines);
    let card = study.input.investigation.subject.gpu.as_deref().map_or_else(|| asked.target.clone(), card_title);
    let base = [
        ("type", Arg::Text(asked.ty.clone())),
        ("card", Arg::Text(card)),
        ("columns", Arg::Text(asked.columns.to_string())),
    ];
    match turns.last() {
        Some(turn) => {
            let args = [
                ("from", Arg::Text(turn.from.clone())),
                ("to", Arg::Text(turn.to.clone())),
                ("before", Arg::Text(turn.before.clone())),
                ("after", Arg::Text(turn.after.clone())),
            ];
            let args: Vec<_> = base.into_iter().chain(args).collect();
            study.words.par("answer", "site-map-answer-turn", &args)
        }
        None => {
            let path = lines
                .first()
                .and_then(|(build, _)| build.at(&asked.target, &asked.ty, asked.columns))
                .map_or("?", |stretch| svg::name(&stretch.path));
            let args: Vec<_> =
                base.into_iter().chain([("path", Arg::from(path)), ("count", Arg::from(lines.len()))]).collect();
            study.words.par("answer", "site-map-answer-same", &args)
        }
    }
}

fn standing(study: &Study<'_>) -> Markup {
    let ladder = study.input.ladders.iter().find(|ladder| ladder.topic == "matmul.path");
    let steps = ladder.map_or(&[][..], |ladder| &ladder.steps);
    html! {
        @for step in steps.iter().filter(|step| [Rung::Declared, Rung::Selected, Rung::Launched].contains(&step.rung)) {
            (parts::grade(study, super::overview::grade(step), Some(study.words.say_with("site-on", &[("rungs", parts::rung(study, step.rung).into())]))))
        }
    }
}
