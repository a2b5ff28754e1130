//! One question, rung by rung: rule, kernel, bundle, loaded, selected, launched; each statement with its observation.

use super::{can_show, map, overview};
use crate::input::Study;
use crate::page::{Page, slug};
use crate::parts::{self, col};
use crate::plain_table::with_csv;
use crate::sentence;
use crate::words::{Arg, Pair, shown};
use evidence::{Found, Ladder, LadderStep, Question, QuestionReading, Rung};
use maud::{Markup, html};

pub fn pages(study: &Study<'_>) -> Vec<Page> {
    let investigation = study.input.investigation;
    let mut pages = vec![list(study)];
    for ((question, reading), ladder) in
        investigation.questions.iter().zip(study.input.questions).zip(study.input.ladders)
    {
        pages.push(one(study, question, reading, ladder));
    }
    pages
}

fn list(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-chain-question", &[]);
    let open = study.input.questions.iter().filter(|question| question.open).count();
    let args = [("open", open.into()), ("total", study.input.questions.len().into())];
    let columns = [col(study, "site-col-question"), col(study, "site-col-ladder"), col(study, "site-col-standing")];
    let rows: Vec<Vec<Markup>> = study
        .input
        .investigation
        .questions
        .iter()
        .zip(study.input.questions)
        .zip(study.input.ladders)
        .map(|((question, reading), ladder)| {
            let link =
                html! { a href=(format!("chain-{}.html", slug(&question.id))) { (Pair::from(&question.words)) } };
            let state = if reading.open { "site-open" } else { "site-answered" };
            vec![link, small_ladder(study, ladder), study.words.say(state)]
        })
        .collect();
    let body = html! {
        (parts::head(study, "chain", html! { (title.clone()) }, study.words.par("answer", "site-chain-answer", &args), Markup::default(), parts::plain(study, "site-plain-chain", &[])))
        (parts::section("chain-all", study.words.say("site-h-all-questions"), html! {
            figure.wide { figcaption { (study.words.say("site-chain-caption")) } (with_csv(study, "chains", &columns, &rows)) }
        }))
        (parts::next(study, "chain-next", study.words.say("site-next-chain"), None, "phases"))
    };
    Page { name: "chain".to_owned(), title, body, tables: Vec::new(), data: Vec::new() }
}

/// Six steps as glyphs: the rail is solid where an observer looked.
fn small_ladder(study: &Study<'_>, ladder: &Ladder) -> Markup {
    html! {
        span.rail {
            @for step in &ladder.steps {
                span class=(if overview::seen(step) { "stop seen" } else { "stop" }) {
                    (parts::glyph(parts::glyph_name(overview::grade(step))))
                    span.vh { (parts::rung(study, step.rung)) ": " (parts::grade_name(study, overview::grade(step))) " " }
                }
            }
        }
    }
}

fn one(study: &Study<'_>, question: &Question, reading: &QuestionReading, ladder: &Ladder) -> Page {
    let title = Pair::from(&question.words);
    let id = slug(&question.id);
    let claims: Vec<_> = question.all_claims().filter_map(|(id, _)| study.reading(id)).collect();
    let body = html! {
        p.kicker { a href="chain.html" { (study.words.say("site-nav-chain")) } " · " span.mono { (shown(&question.id)) } }
        h1 { (title.clone()) }
        (answer(study, reading, ladder))
        div.standing {
            (overview::standing(study, &ladder.steps))
            @for (stated, reading) in claims.iter().filter(|(_, reading)| reading.grade.is_refuted()) {
                @let on = study.words.say_with("site-on", &[("rungs", parts::rung(study, reading.rung).into())]);
                (parts::grade(study, reading.grade, Some(html! { (on) ": " (Pair::from(&stated.words)) })))
            }
        }
        (parts::plain(study, "site-plain-one-chain", &[]))
        section aria-label="Chain / 証拠の連鎖" {
            ol.ladder.chain { @for step in &ladder.steps { (rung(study, question, ladder, step)) } }
            aside.side-note {
                (study.words.par("", "site-chain-note", &[]))
            }
        }
        @if !claims.is_empty() { (answers(study, &id, &claims)) }
        (can_show::columns(study, &format!("{id}-shows"), &claims))
        (parts::next(study, &format!("{id}-next"), next_question(study, question), Some(&question.closes), "questions"))
    };
    Page { name: format!("chain-{id}"), title, body, tables: Vec::new(), data: Vec::new() }
}

fn next_question(study: &Study<'_>, question: &Question) -> Markup {
    let after = study.input.investigation.questions.iter().skip_while(|other| other.id != question.id).nth(1);
    after.map_or_else(
        || study.words.say("site-next-none"),
        |after| html! { a href=(format!("chain-{}.html", slug(&after.id))) { (Pair::from(&after.words)) } },
    )
}

fn answer(study: &Study<'_>, reading: &QuestionReading, ladder: &Ladder) -> Markup {
    let seen = ladder.steps.iter().rev().find(|step| overview::seen(step));
    match seen {
        Some(step) => {
            let what = sentence::found(study, &ladder.topic, &step.found);
            let args = [("what", what.into()), ("rung", study.rung(step.rung).into())];
            let key = if step.rung >= Rung::Launched { "site-answer-launched" } else { "site-answer-between" };
            study.words.par("answer", key, &args)
        }
        None => {
            let key = if reading.refuted.is_empty() { "site-answer-open" } else { "site-answer-no" };
            study.words.par("answer", key, &[("refuted", reading.refuted.len().into())])
        }
    }
}

fn rung(study: &Study<'_>, question: &Question, ladder: &Ladder, step: &LadderStep) -> Markup {
    let seen = overview::seen(step);
    let grade = overview::grade(step);
    let closes = close(study, question, ladder, step);
    html! {
        li class=(if seen { "rung seen" } else { "rung" }) id=(step.rung) {
            (parts::glyph(parts::glyph_name(grade)))
            div.body {
                div.rung-head {
                    h2 { (parts::rung(study, step.rung)) }
                    span.grade { (parts::grade_name(study, grade)) }
                    span.ask { (study.words.say(&format!("site-ask-{}", step.rung))) }
                }
                @if seen {
                    @let what = sentence::found(study, &ladder.topic, &step.found);
                    p.says lang="en" { (shown(&parts::sentence(&what.en))) }
                    p.says lang="ja" { (shown(&what.ja)) "。" }
                    @if step.rung == Rung::Declared { (rules(study, question)) }
                    (evidence_list(study, &step.found))
                } @else {
                    (parts::gap(study, &overview::reason(study, step), closes.as_deref()))
                }
                @if !step.elsewhere.is_empty() { (elsewhere(study, &ladder.topic, &step.elsewhere, seen)) }
            }
        }
    }
}

/// The command that decides this rung: a claim's own command on it, else the question's if it is the question's rung or
/// above.
fn close(study: &Study<'_>, question: &Question, ladder: &Ladder, step: &LadderStep) -> Option<String> {
    let own = question.all_claims().filter_map(|(id, _)| study.reading(id)).map(|(stated, _)| stated);
    let near = own.chain(&study.input.investigation.claims);
    let stated = { near }.find(|stated| stated.claim.rung == step.rung && stated.claim.topic == ladder.topic);
    let asks = question.ask.as_ref().is_some_and(|ask| ask.rung == step.rung);
    stated.map(|stated| stated.closes.clone()).or_else(|| asks.then(|| question.closes.clone()))
}

/// The rule in the source: conditions, outcomes, file and line, values.
fn rules(study: &Study<'_>, question: &Question) -> Markup {
    let Some(asked) = map::Asked::of(study) else { return Markup::default() };
    let Some(ask) = question.ask.as_ref().filter(|ask| ask.topic == "matmul.path") else { return Markup::default() };
    let Some(build) = study.dispatch.asked(study) else { return Markup::default() };
    let ty = ask.about.get("type").unwrap_or(&asked.ty);
    let columns = ask.about.get("columns").and_then(|text| text.parse().ok()).unwrap_or(asked.columns);
    let target = ask.scope.target.as_deref().unwrap_or(&asked.target);
    let rules = build.rules(target, ty, columns);
    if rules.is_empty() {
        return Markup::default();
    }
    let args = [
        ("type", Arg::from(ty)),
        ("columns", Arg::Text(columns.to_string())),
        ("target", target.into()),
        ("build", build.label().into()),
    ];
    html! {
        (study.words.par("small quiet", "site-rule-of", &args))
        ol.rule {
            @for rule in &rules {
                li {
                    code { (shown(&rule.condition)) }
                    span.out { "→ " (shown(&rule.outcome)) }
                    span.at.mono {
                        (shown(&rule.file)) ":" (rule.line)
                        @for (name, value) in &rule.values { " · " (shown(name)) " = " (shown(value)) }
                    }
                }
            }
        }
    }
}

fn evidence_list(study: &Study<'_>, found: &[Found]) -> Markup {
    let cites = found.iter().flat_map(|one| &one.reading.cites);
    let mut known: Vec<&evidence::Citation> = Vec::new();
    for cite in cites {
        if !known.iter().any(|other| other.observation == cite.observation) {
            known.push(cite);
        }
    }
    let recorded: Vec<_> = known.iter().filter_map(|cite| study.observation(&cite.observation)).collect();
    let Some(first) = recorded.first() else { return Markup::default() };
    let coverage = first.coverage();
    let total = coverage.total.map_or_else(|| "?".to_owned(), |total| total.to_string());
    let mut raw: Vec<&evidence::Evidence> = Vec::new();
    for evidence in recorded.iter().flat_map(|recorded| recorded.raw_evidence()) {
        if !raw.iter().any(|other| other.sha256 == evidence.sha256) {
            raw.push(evidence);
        }
    }
    html! {
        dl.evidence {
            dt { (study.words.say("site-col-subject")) } dd { (shown(&first.subject().to_string())) }
            dt { (study.words.say("site-col-observer")) } dd { span.mono { (shown(&first.observer().name)) } " " (shown(&first.observer().version)) ", " (first.time().get(..10).unwrap_or_default()) }
            dt { (study.words.say("site-col-observation")) } dd { @for cite in known.iter().take(8) { (parts::observation(&cite.observation)) " " } @if known.len() > 8 { span.faint { "+" (known.len() - 8) } } }
            dt { (study.words.say("site-col-coverage")) } dd { (coverage.seen) " / " (total) " " (study.words.both(|lang| lang.say(&coverage.counted()))) @for gap in &coverage.missing { "; " (study.words.both(|lang| gap.whole().in_words(lang))) } }
            @if !raw.is_empty() { dt { (study.words.say("site-col-raw")) } dd { @for evidence in raw.iter().take(4) { (parts::raw_evidence(study, evidence)) " " } } }
        }
    }
}

/// Observations of other subjects, each with its own grade.
fn elsewhere(study: &Study<'_>, topic: &str, others: &[(evidence::Subject, Vec<Found>)], folded: bool) -> Markup {
    let columns = [col(study, "site-col-subject"), col(study, "site-col-seen"), col(study, "site-col-grade-there")];
    let row = |(subject, found): &(evidence::Subject, Vec<Found>)| {
        let weakest = found.iter().map(|one| one.grade).min_by_key(|grade| grade.strength());
        let grade = weakest.map_or_else(Markup::default, |grade| parts::grade(study, grade, None));
        vec![html! { (shown(&subject.to_string())) }, html! { (sentence::found(study, topic, found)) }, grade]
    };
    let rows: Vec<Vec<Markup>> = others.iter().map(row).collect();
    let table = parts::table(&columns, &rows);
    html! {
        @if folded {
            details { summary { (study.words.say("site-elsewhere")) } (table) }
        } @else {
            div.elsewhere { (study.words.par("", "site-elsewhere", &[])) (table) }
        }
    }
}

fn answers(study: &Study<'_>, id: &str, claims: &[(&evidence::Stated, &evidence::Reading)]) -> Markup {
    let columns = [col(study, "site-col-claim"), col(study, "site-col-standing"), col(study, "site-col-because")];
    let rows: Vec<Vec<Markup>> = claims
        .iter()
        .map(|(stated, reading)| {
            let on = study.words.say_with("site-on", &[("rungs", parts::rung(study, reading.rung).into())]);
            vec![
                html! { (Pair::from(&stated.words)) },
                parts::grade(study, reading.grade, Some(on)),
                parts::reasons(study, reading, 3),
            ]
        })
        .collect();
    parts::section(
        &format!("{id}-answers"),
        study.words.say("site-h-answers"),
        with_csv(study, &format!("{id}-answers"), &columns, &rows),
    )
}
