//! Rungs, grades, reading order, glossary.

use crate::input::Study;
use crate::page::{NAV, Page};
use crate::parts;
use evidence::Rung;
use maud::{Markup, html};

/// The terms in English alphabetical order; each has `site-term-NAME` and `site-term-NAME-is`.
const TERMS: &[&str] = &[
    "artifact",
    "blas",
    "bundle",
    "canary",
    "catalog",
    "census",
    "claim",
    "code-object",
    "columns",
    "contamination",
    "coverage",
    "dispatch",
    "dryrun",
    "fatbin",
    "kernel",
    "ladder",
    "ledger",
    "mmq",
    "mmvq",
    "observer",
    "prefill",
    "quantisation",
    "runtime",
    "stand-in",
    "stub",
    "target",
    "tile",
    "uprobe",
    "wavefront",
];

const GRADES: &[&str] = &["confirmed", "inferred", "limited", "unresolved", "refuted", "conflict"];

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-legend-question", &[]);
    let word = |name: &str| {
        if name == "conflict" {
            study.words.say("site-grade-conflict")
        } else {
            html! { (parts::capital(study.words.both(|lang| lang.text(&format!("check-grade-{name}"))))) }
        }
    };
    let body = html! {
        (parts::head(study, "legend", html! { (title.clone()) }, study.words.par("answer", "site-legend-answer", &[]), Markup::default(), parts::plain(study, "site-plain-legend", &[])))
        (parts::section("legend-rungs", study.words.say("site-h-rungs"), html! {
            ol.ladder {
                @for rung in Rung::ALL {
                    li.rung.seen { svg.g viewBox="0 0 20 20" aria-hidden="true" { circle.stopmark cx="10" cy="10" r="5" {} } div.rung-name { (parts::rung(study, rung)) small { (study.words.say(&format!("site-ask-{rung}"))) } } div.rung-text { (study.words.par("", &format!("site-rung-{rung}"), &[])) } }
                }
            }
            aside.side-note { (study.words.par("", "site-ladder-note", &[])) }
        }))
        (parts::section("legend-grades", study.words.say("site-h-grades"), html! {
            ul.wide.grades {
                @for name in GRADES { li { span.grade { (parts::glyph(name)) span { (word(name)) } } br; span.small.quiet { (study.words.say(&format!("site-grade-{name}-is"))) } } }
            }
        }))
        (parts::section("legend-order", study.words.say("site-h-order"), html! {
            ol.order { @for name in NAV.iter().filter(|name| study.shows(name)) { li { a href=(format!("{name}.html")) { (study.words.say(&format!("site-nav-{name}"))) } " " span.quiet { (study.words.say(&format!("site-about-{name}"))) } } } }
        }))
        (parts::section("legend-terms", study.words.say("site-h-terms"), html! {
            dl.terms.wide { @for name in TERMS { div { dt { (study.words.say(&format!("site-term-{name}"))) } dd { (study.words.say(&format!("site-term-{name}-is"))) } } } }
        }))
        (parts::next(study, "legend-next", study.words.say("site-next-legend"), None, "index"))
    };
    Page { name: "legend".to_owned(), title, body, tables: Vec::new(), data: Vec::new() }
}
