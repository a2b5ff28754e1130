//! The default view of the map, and the changes between two releases.

use crate::dispatch::Build;
use crate::input::Study;
use crate::svg::{self, Stretch};
use crate::words::Arg;
use maud::{Markup, html};
use source::decision_table::COLUMNS;
use std::collections::BTreeSet;

/// The default view of the map: the investigation's type and target, and the column count of its questions.
#[derive(Debug, Clone)]
pub struct Asked {
    pub ty: String,
    pub target: String,
    pub columns: i64,
}

impl Asked {
    pub fn of(study: &Study<'_>) -> Option<Asked> {
        let investigation = study.input.investigation;
        let asks: Vec<_> = investigation.questions.iter().filter_map(|question| question.ask.as_ref()).collect();
        let abouts =
            asks.iter().map(|ask| &ask.about).chain(investigation.claims.iter().map(|stated| &stated.claim.about));
        let known: BTreeSet<&String> = study
            .dispatch
            .builds
            .iter()
            .flat_map(|build| build.plans.values())
            .flat_map(|types| types.keys())
            .collect();
        let ty = abouts.clone().filter_map(|about| about.get("type")).find(|ty| known.iter().any(|known| known == ty));
        let ty = ty.map(str::to_owned).or_else(|| known.first().map(|first| (*first).clone()))?;
        let targets = study.dispatch.targets();
        let wanted = investigation.subject.target.as_deref();
        let target = wanted.filter(|wanted| targets.contains(wanted)).or(targets.first().copied())?.to_owned();
        // The largest single count that is asked about: a question usually concerns the end of a path.
        let columns = abouts
            .filter_map(|about| about.get("columns"))
            .filter_map(|text| text.parse::<i64>().ok())
            .filter(|count| *count <= COLUMNS)
            .max();
        Some(Asked { ty, target, columns: columns.unwrap_or(512) })
    }
}

pub type Line<'s> = (&'s Build, &'s Vec<Stretch>);

/// The releases that have the requested type and target.
pub fn lines<'s>(study: &'s Study<'_>, asked: &Asked) -> Vec<Line<'s>> {
    let plan = |build: &'s Build| Some((build, build.plans.get(&asked.target)?.get(&asked.ty)?));
    study.dispatch.builds.iter().filter_map(plan).collect()
}

/// `BLAS at 290 up to b6841, MMQ from b7148.`: every change, with a note that releases between were not examined.
pub fn turns(study: &Study<'_>, asked: &Asked, lines: &[Line<'_>]) -> Markup {
    let all = turn_list(asked, lines);
    if all.is_empty() {
        let path = lines
            .first()
            .and_then(|(build, _)| build.at(&asked.target, &asked.ty, asked.columns))
            .map_or("?", |stretch| svg::name(&stretch.path));
        return study.words.say_with(
            "site-turn-none",
            &[("path", path.into()), ("columns", Arg::Text(asked.columns.to_string())), ("count", lines.len().into())],
        );
    }
    html! { @for turn in all { (turn_text(study, asked, &turn)) " " } }
}

pub struct Turn {
    pub before: String,
    pub after: String,
    pub from: String,
    pub to: String,
}

pub fn turn_list(asked: &Asked, lines: &[Line<'_>]) -> Vec<Turn> {
    let path = |build: &Build| {
        build.at(&asked.target, &asked.ty, asked.columns).map_or("?", |stretch| svg::name(&stretch.path)).to_owned()
    };
    let pairs = lines.windows(2).filter_map(|pair| match pair {
        // Without dates the order of two releases is unknown.
        [(a, _), (b, _)] if path(a) != path(b) && !a.date.is_empty() && !b.date.is_empty() => {
            Some(Turn { before: a.label(), after: b.label(), from: path(a), to: path(b) })
        }
        _ => None,
    });
    pairs.collect()
}

pub fn turn_text(study: &Study<'_>, asked: &Asked, turn: &Turn) -> Markup {
    let args = [
        ("from", Arg::Text(turn.from.clone())),
        ("to", Arg::Text(turn.to.clone())),
        ("before", Arg::Text(turn.before.clone())),
        ("after", Arg::Text(turn.after.clone())),
        ("columns", Arg::Text(asked.columns.to_string())),
    ];
    study.words.say_with("site-turn", &args)
}
