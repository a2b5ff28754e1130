//! The answer per rung, the refuted claims, the open ones, and the next steps.

use super::claims;
use crate::dispatch::by_path;
use crate::input::Study;
use crate::page::{Page, slug};
use crate::parts::{self, col, num};
use crate::plain_table::with_csv;
use crate::words::{Arg, Pair, shown};
use crate::{sentence, svg};
use evidence::{LadderStep, Rung};
use maud::{Markup, html};
use report::plain_seen;
use source::decision_table::COLUMNS;

/// The number of builds in the short figure; the map has all.
const BUILDS: usize = 6;
const COMMANDS: usize = 8;

pub fn page(study: &Study<'_>) -> Page {
    let investigation = study.input.investigation;
    let title = study.title();
    let ladder = study.input.ladders.first();
    let steps: &[LadderStep] = ladder.map_or(&[], |ladder| &ladder.steps);
    let topic = ladder.map_or("", |ladder| &ladder.topic);
    let (answer, standing) = (answer(study, topic, steps), standing(study, steps));
    let question = html! { (title.clone()) };
    let note = study.input.published.and_then(|published| published.note.as_deref());
    let plain = html! {
        @if let Some(note) = note { p.note { @for line in note.lines() { (shown(line)) br; } } }
        (parts::plain(study, "site-plain-index", &[]))
    };
    let mut body = parts::head(study, "index", question, answer, standing, plain);
    body.0.push_str(&missing(study).0);
    let first = investigation.questions.first().map(|question| slug(&question.id));
    for part in [
        rungs(study, topic, steps, first.as_deref()),
        turn(study),
        refuted(study),
        open(study),
        commands(study),
        claims::section(study),
        looked(study),
    ] {
        body.0.push_str(&part.0);
    }
    let next = study.input.next.first();
    let asked = investigation.questions.iter().zip(study.input.questions).find(|(_, reading)| reading.open);
    let question = asked.map_or_else(
        || {
            study.words.say(if investigation.questions.is_empty() {
                "site-questions-unstated"
            } else {
                "site-next-none"
            })
        },
        |(question, _)| html! { (Pair::from(&question.words)) },
    );
    let closes = asked.map(|(question, _)| question.closes.as_str()).or(next.map(|next| next.command.as_str()));
    body.0.push_str(&parts::next(study, "index-next", question, closes, "map").0);
    let (tables, data) = claims::data(study);
    Page { name: "index".to_owned(), title, body, tables, data }
}

/// One sentence: the result on the highest observed rung, and the rungs that were not examined.
fn answer(study: &Study<'_>, topic: &str, steps: &[LadderStep]) -> Markup {
    let seen = steps.iter().rev().find(|step| step.found.iter().any(|found| found.grade.strength() > 0));
    let Some(step) = seen else { return study.words.par("answer", "site-answer-nothing", &[]) };
    let what = sentence::found(study, topic, &step.found);
    let args = [("what", Arg::from(what)), ("rung", Arg::from(study.rung(step.rung)))];
    let key = match step.rung {
        Rung::Declared => "site-answer-declared",
        Rung::Launched | Rung::Completed => "site-answer-launched",
        _ => "site-answer-between",
    };
    study.words.par("answer", key, &args)
}

/// The same grade on several rungs is stated once, always with its rungs.
pub fn standing(study: &Study<'_>, steps: &[LadderStep]) -> Markup {
    let mut groups: Vec<(evidence::Grade, Vec<Pair>)> = Vec::new();
    for step in steps {
        let grade = grade(step);
        let name = parts::rung(study, step.rung);
        match groups.iter_mut().find(|(known, _)| known.name() == grade.name()) {
            Some((_, rungs)) => rungs.push(name),
            None => groups.push((grade, vec![name])),
        }
    }
    html! {
        @for (grade, rungs) in groups {
            (parts::grade(study, grade, Some(study.words.say_with("site-on", &[("rungs", Pair::join(&rungs, study.words).into())]))))
        }
    }
}

/// The weakest grade on a rung; if nothing was found, the reason.
pub fn grade(step: &LadderStep) -> evidence::Grade {
    let found = step.found.iter().filter(|found| found.grade.strength() > 0).map(|found| found.grade);
    found.min_by_key(|grade| grade.strength()).unwrap_or(step.any.grade)
}

pub fn seen(step: &LadderStep) -> bool {
    step.found.iter().any(|found| found.grade.strength() > 0)
}

fn rungs(study: &Study<'_>, topic: &str, steps: &[LadderStep], chain: Option<&str>) -> Markup {
    if steps.is_empty() {
        return Markup::default();
    }
    let text = |step: &LadderStep| {
        let link = chain.map(|chain| html! { " " a href=(format!("chain-{chain}.html#{}", step.rung)) { (study.words.say("site-evidence")) } });
        let seen = seen(step);
        let what = if seen { sentence::found(study, topic, &step.found) } else { reason(study, step) };
        html! {
            p lang="en" { @if !seen { (study.words.en.text("site-not-observed")) " " } (shown(&parts::sentence(&what.en))) }
            p lang="ja" { @if !seen { (study.words.ja.text("site-not-observed")) } (shown(&what.ja)) "。" }
            @if seen {
                p.more { (shown(&sentence::subjects(&step.found).join("; "))) @if let Some(link) = &link { (link) } }
            } @else if let Some((subject, found)) = step.elsewhere.first() {
                @let what = sentence::found(study, topic, found);
                (study.words.par("more", "site-elsewhere-said", &[("what", what.into()), ("subject", subject.to_string().into())]))
            }
        }
    };
    let body = html! {
        ol.ladder {
            @for step in steps {
                li class=(if seen(step) { "rung seen" } else { "rung" }) {
                    (parts::glyph(parts::glyph_name(grade(step))))
                    div.rung-name { (parts::rung(study, step.rung)) small { (parts::grade_name(study, grade(step))) } }
                    div.rung-text { (text(step)) }
                }
            }
        }
        aside.side-note { (study.words.par("", "site-ladder-note", &[])) }
    };
    parts::section("index-ladder", study.words.say("site-h-ladder"), body)
}

pub fn reason(study: &Study<'_>, step: &LadderStep) -> Pair {
    parts::reason(study, &step.any, 0)
}

/// The question's type in selected releases: the first, both sides of each change, the requested one and the last.
fn turn(study: &Study<'_>) -> Markup {
    let Some(asked) = super::map::Asked::of(study) else { return Markup::default() };
    let with: Vec<_> = super::map::lines(study, &asked);
    if with.len() < 2 {
        return Markup::default();
    }
    let own = study.dispatch.asked(study).map(|build| build.commit.as_str());
    let path = |at: usize| {
        with.get(at)
            .and_then(|(build, _)| build.at(&asked.target, &asked.ty, asked.columns))
            .map(|stretch| stretch.path.as_str())
    };
    let keep = |at: usize| {
        at == 0
            || at + 1 == with.len()
            || path(at) != path(at + 1)
            || path(at) != path(at - 1)
            || with.get(at).map(|(build, _)| build.commit.as_str()) == own
    };
    let shown: Vec<_> = (0..with.len()).filter(|at| keep(*at)).filter_map(|at| with.get(at)).take(BUILDS).collect();
    // The counts where a path begins; tiles change more often, and the strips do not show them.
    let ticks: Vec<i64> =
        shown.iter().flat_map(|(_, stretches)| by_path(stretches)).map(|stretch| stretch.from).collect();
    let args = [
        ("type", Arg::Text(asked.ty.clone())),
        ("target", Arg::Text(asked.target.clone())),
        ("columns", Arg::Text(asked.columns.to_string())),
    ];
    let body = html! {
        figure.wide {
            figcaption { (study.words.say_with("site-turn-caption", &args)) " " (super::map::turns(study, &asked, &with)) }
            div.axis { span.small.faint { (study.words.say("site-columns-log")) } (svg::axis(&ticks, Some(asked.columns), COLUMNS)) }
            ol.strips { @for (build, stretches) in shown { (super::map::strip(study, build, stretches, &asked, own)) } }
            (parts::path_key(study))
        }
        p.small { a href="map.html" { (study.words.say_with("site-all-builds", &[("count", with.len().into())])) } }
    };
    parts::section("index-turn", study.words.say("site-h-turn"), body)
}

fn refuted(study: &Study<'_>) -> Markup {
    let all: Vec<_> = study.claims().filter(|(_, reading)| reading.grade.is_refuted()).collect();
    let args = [("count", Arg::from(all.len())), ("total", Arg::from(study.input.readings.len()))];
    if all.is_empty() {
        let body = study.words.par("quiet", "site-refuted-none", &args);
        return parts::section("index-refuted", study.words.say_with("site-h-refuted", &args), body);
    }
    let columns = [col(study, "site-col-said"), col(study, "site-col-seen"), col(study, "site-col-observation")];
    let rows: Vec<Vec<Markup>> = all
        .iter()
        .map(|(stated, reading)| {
            let cite = reading.reasons.iter().find_map(|reason| match reason {
                evidence::Reason::Contradicts { observation, saw } => Some((observation, saw)),
                _ => None,
            });
            let full = cite.and_then(|(id, _)| reading.cites.iter().find(|one| one.observation == *id));
            let seen = full.and_then(|cite| {
                Some(Pair { en: plain_seen(&study.words.en, cite)?, ja: plain_seen(&study.words.ja, cite)? })
            });
            let seen = match (seen, cite) {
                (Some(seen), _) => html! { (seen) },
                (None, Some((_, saw))) => html! { (Pair::from(saw)) },
                (None, None) => html! { (parts::reason(study, reading, 0)) },
            };
            let name = html! { (parts::grade_cell(study, reading.grade)) " " (Pair::from(&stated.words)) };
            vec![
                name,
                html! { (seen) " " span.faint { "(" (parts::rung(study, reading.rung)) ")" } },
                cite.map_or_else(Markup::default, |(id, _)| parts::observation(id)),
            ]
        })
        .collect();
    parts::section(
        "index-refuted",
        study.words.say_with("site-h-refuted", &args),
        with_csv(study, "refuted", &columns, &rows),
    )
}

fn open(study: &Study<'_>) -> Markup {
    let open = study.claims().filter(|(_, reading)| reading.grade.is_unresolved()).count();
    let questions = study.input.questions.iter().filter(|question| question.open).count();
    let args =
        [("claims", open.into()), ("questions", questions.into()), ("total", study.input.questions.len().into())];
    let mut whys: Vec<(usize, evidence::Why)> = Vec::new();
    for why in study.input.readings.iter().filter_map(|reading| reading.grade.why()) {
        match whys.iter_mut().find(|(_, known)| *known == why) {
            Some((count, _)) => *count += 1,
            None => whys.push((1, why)),
        }
    }
    whys.sort_by_key(|(count, why)| (std::cmp::Reverse(*count), *why));
    let list: Vec<Pair> = whys
        .iter()
        .map(|(count, why)| {
            let name = parts::why(study, *why);
            Pair { en: format!("{} {count}", name.en), ja: format!("{} {count}", name.ja) }
        })
        .collect();
    let body = html! {
        (super::phases::table(study))
        @if !list.is_empty() {
            (study.words.par("quiet small", "site-open-why", &[("list", Pair::join(&list, study.words).into())]))
        }
    };
    parts::section("index-open", study.words.say_with("site-h-open", &args), body)
}

fn commands(study: &Study<'_>) -> Markup {
    if study.input.next.is_empty() {
        return Markup::default();
    }
    let mut columns =
        vec![col(study, "site-col-command"), num(study, "site-col-claims"), num(study, "site-col-questions")];
    let here = study.input.published.is_none();
    columns.extend(here.then(|| col(study, "site-col-here")));
    let row = |next: &crate::Next| {
        let (claims, questions) = (next.claims.len(), next.questions.len());
        let mut row = vec![parts::bare_command(study, &next.command), html! { (claims) }, html! { (questions) }];
        row.extend(here.then(|| super::questions::here(study, next)));
        row
    };
    let rows: Vec<Vec<Markup>> = study.input.next.iter().take(COMMANDS).map(row).collect();
    parts::section("index-next-best", study.words.say("site-h-next-best"), with_csv(study, "next", &columns, &rows))
}

/// Observations by observer, in the order of their first observation.
fn looked(study: &Study<'_>) -> Markup {
    let mut all: Vec<(&str, usize, usize)> = Vec::new();
    for recorded in study.input.observations {
        let blocked = usize::from(matches!(recorded.finding(), evidence::Finding::Blocked { .. }));
        let name = recorded.observer().name.as_str();
        match all.iter_mut().find(|(known, ..)| *known == name) {
            Some(one) => (one.1, one.2) = (one.1 + 1, one.2 + blocked),
            None => all.push((name, 1, blocked)),
        }
    }
    let columns = [col(study, "site-col-observer"), num(study, "site-col-observations"), col(study, "site-col-result")];
    let rows: Vec<Vec<Markup>> = all
        .iter()
        .map(|(name, count, blocked)| {
            let said = if blocked == count { "site-blocked" } else { "site-looked" };
            vec![parts::mono(name), html! { (count) }, study.words.say(said)]
        })
        .collect();
    parts::section("index-looked", study.words.say("site-h-looked"), with_csv(study, "looked", &columns, &rows))
}

/// Missing input is listed at the top of the report.
fn missing(study: &Study<'_>) -> Markup {
    let ledger = &study.input.ledger;
    html! {
        @if let Some(problem) = &ledger.problem {
            div.gap role="status" { (study.words.par("", "site-ledger-problem", &[("what", problem.as_str().into())])) }
        }
        @if study.input.observations.is_empty() {
            div.gap role="status" { (study.words.par("", "site-ledger-empty", &[])) (parts::command(study, "whichkernel investigate")) }
        }
    }
}
