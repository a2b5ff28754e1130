//! Phases A to F: goals, work done, expected and actual results, counts by grade.

use crate::csv;
use crate::input::Study;
use crate::page::Page;
use crate::parts::{self, col, num};
use crate::plain_table::with_csv;
use crate::svg;
use crate::words::{Arg, Pair, shown};
use evidence::{GradeKind, PhaseName, Reading, Stated};
use maud::{Markup, html};

const GRADES: [(&str, &str); 5] =
    [("confirmed", "c"), ("inferred", "i"), ("limited", "l"), ("refuted", "r"), ("unresolved", "u")];

fn counts(claims: &[(&Stated, &Reading)]) -> [usize; 5] {
    GRADES.map(|(name, _)| claims.iter().filter(|(_, reading)| reading.grade.name() == name).count())
}

fn of_phase<'a>(study: &Study<'a>, phase: PhaseName) -> Vec<(&'a Stated, &'a Reading)> {
    study.claims().filter(|(stated, _)| stated.phase == phase).collect()
}

/// Counts and bars, one row per phase.
pub fn table(study: &Study<'_>) -> Markup {
    let phases = &study.input.investigation.phases;
    html! {
        div.wide.scroll tabindex="0" role="group" aria-label="Table / 表" {
            table.phases {
                thead {
                    tr {
                        th scope="col" { (study.words.say("site-col-phase")) }
                        @for (name, _) in GRADES { th.num scope="col" { (parts::capital(study.words.both(|lang| lang.text(&format!("check-grade-{name}"))))) } }
                        th.bar.minor scope="col" { span.vh { (study.words.say("site-col-share")) } }
                    }
                }
                tbody {
                    @for (id, words) in phases {
                        @let counts = counts(&of_phase(study, *id));
                        tr {
                            th scope="row" { a href=(format!("phases.html#phase-{id:?}")) { span.mono { (format!("{id:?}")) } } " " (Pair::from(words)) }
                            @for count in counts { td.num { @if count == 0 { span.faint { "–" } } @else { (count) } } }
                            td.bar.minor { (bar(study, &counts)) }
                        }
                    }
                }
            }
        }
    }
}

fn bar(study: &Study<'_>, counts: &[usize; 5]) -> Markup {
    let names: Vec<Pair> = GRADES
        .iter()
        .zip(counts)
        .filter(|(_, count)| **count > 0)
        .map(|((name, _), count)| {
            let word = study.words.both(|lang| lang.text(&format!("check-grade-{name}")));
            Pair { en: format!("{} {count}", word.en), ja: format!("{} {count}", word.ja) }
        })
        .collect();
    let label = Pair::join(&names, study.words);
    let parts: Vec<(&'static str, usize)> =
        GRADES.iter().zip(counts).map(|((_, class), count)| (*class, *count)).collect();
    svg::bar(&parts, 14, &format!("{} / {}", label.en, label.ja))
}

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-phases-question", &[]);
    let phases = &study.input.investigation.phases;
    let settled = study.claims().filter(|(_, reading)| !reading.grade.is_unresolved()).count();
    let args =
        [("settled", settled.into()), ("total", study.input.readings.len().into()), ("phases", phases.len().into())];
    let body = html! {
        (parts::head(study, "phases", html! { (title.clone()) }, study.words.par("answer", "site-phases-answer", &args), Markup::default(), parts::plain(study, "site-plain-phases", &[])))
        (parts::section("phases-flow", study.words.say("site-h-flow"), html! { (flow(study)) (table(study)) (parts::csv_link(study, "phases.csv")) }))
        @for (id, words) in phases { (one(study, *id, Pair::from(words))) }
        (parts::next(study, "phases-next", study.words.say("site-next-phases"), study.input.next.first().map(|next| next.command.as_str()), "questions"))
    };
    let rows: Vec<Vec<String>> = phases
        .iter()
        .map(|(id, words)| {
            let counts = counts(&of_phase(study, *id)).map(|count| count.to_string());
            [vec![format!("{id:?}"), words.en.clone(), words.ja.clone()], counts.to_vec()].concat()
        })
        .collect();
    let columns = ["phase", "name_en", "name_ja", "confirmed", "inferred", "limited", "refuted", "unresolved"];
    Page {
        name: "phases".to_owned(),
        title,
        body,
        tables: vec![("phases.csv".to_owned(), csv::file(&columns, rows))],
        data: Vec::new(),
    }
}

/// The phases as a flow from the source to the live run; each box is filled by its share of settled claims.
fn flow(study: &Study<'_>) -> Markup {
    let phases = &study.input.investigation.phases;
    let count = phases.len().max(1);
    let width = count * 150;
    let x = |at: usize| at * 150 + 8;
    let share = |id: PhaseName| {
        let claims = of_phase(study, id);
        let settled = claims.iter().filter(|(_, reading)| !reading.grade.is_unresolved()).count();
        (settled, claims.len())
    };
    let label: Vec<String> = phases.keys().map(|id| format!("{id:?} {}/{}", share(*id).0, share(*id).1)).collect();
    html! {
        figure.wide {
            figcaption { (study.words.say("site-flow-caption")) }
            div.scroll tabindex="0" role="group" aria-label="Flow / 流れ" {
                svg.drawn viewBox=(format!("0 0 {width} 96")) width=(width) height="96" role="img" aria-label=(label.join(", ")) {
                    @for (at, (id, words)) in phases.iter().enumerate() {
                        @let (settled, total) = share(*id);
                        @let filled = (settled * 126).checked_div(total).unwrap_or(0);
                        rect.box x=(x(at)) y="20" width="126" height="44" rx="3" {}
                        rect.c x=(x(at)) y="58" width=(filled) height="6" {}
                        text.phase x=(x(at) + 10) y="47" { (format!("{id:?}")) }
                        text.count x=(x(at) + 116) y="47" text-anchor="end" { (settled) " / " (total) }
                        @if at + 1 < count { path.arrow d=(format!("M{} 42h16m-5 -4 5 4-5 4", x(at) + 128)) {} }
                        title { (shown(&words.en)) }
                    }
                }
            }
        }
    }
}

fn one(study: &Study<'_>, id: PhaseName, name: Pair) -> Markup {
    let claims = of_phase(study, id);
    let columns = [
        col(study, "site-col-claim"),
        col(study, "site-col-expected"),
        col(study, "site-col-actual"),
        col(study, "site-col-standing"),
    ];
    let done: Vec<Vec<Markup>> = claims
        .iter()
        .filter(|(_, reading)| !matches!(reading.grade.kind(), GradeKind::Unresolved(_)))
        .map(|(stated, reading)| {
            let saw = reading.cites.first().map_or_else(Markup::default, |cite| {
                let said =
                    |lang: &report::Lang| report::plain_seen(lang, cite).unwrap_or_else(|| cite.saw.in_words(lang));
                html! { (study.words.both(said)) " " (parts::observation(&cite.observation)) }
            });
            let on = study.words.say_with("site-on", &[("rungs", parts::rung(study, reading.rung).into())]);
            vec![
                html! { (Pair::from(&stated.words)) },
                html! { (shown(&stated.claim.expected.to_string())) },
                saw,
                parts::grade(study, reading.grade, Some(on)),
            ]
        })
        .collect();
    let open: Vec<&(&Stated, &Reading)> = claims.iter().filter(|(_, reading)| reading.grade.is_unresolved()).collect();
    let notes: Vec<_> =
        study.input.notes.iter().filter(|note| note.phase.as_deref() == Some(&format!("{id:?}"))).collect();
    let args = [
        ("claims", Arg::from(claims.len())),
        ("open", Arg::from(open.len())),
        ("done", Arg::from(claims.len() - open.len())),
    ];
    let columns_open = [col(study, "site-col-claim"), col(study, "site-col-why"), num(study, "site-col-rung")];
    let open_rows: Vec<Vec<Markup>> = open
        .iter()
        .map(|(stated, reading)| {
            let why = reading.grade.why().map(|why| parts::why(study, why)).unwrap_or_default();
            vec![html! { (Pair::from(&stated.words)) }, html! { (why) }, html! { (parts::rung(study, reading.rung)) }]
        })
        .collect();
    html! {
        section aria-labelledby=(format!("phase-{id:?}")) {
            h2 id=(format!("phase-{id:?}")) { span.mono { (format!("{id:?}")) } " " (name) }
            (study.words.par("quiet", "site-phase-counts", &args))
            @if done.is_empty() { (study.words.par("small quiet", "site-phase-nothing", &[])) } @else { (with_csv(study, &format!("phase-{id:?}-done"), &columns, &done)) }
            @if !open_rows.is_empty() {
                details.wide { summary { (study.words.say_with("site-phase-open", &[("count", open.len().into())])) } (with_csv(study, &format!("phase-{id:?}-open"), &columns_open, &open_rows)) }
            }
            @for note in notes { p.note.small { time.mono { (note.time.get(..10).unwrap_or_default()) } " " (shown(&note.text)) } }
        }
    }
}
