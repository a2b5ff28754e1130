//! The building blocks of every page: grades, gaps, commands, tables, the next question.

use crate::input::Study;
use crate::raw_files;
use crate::words::{Arg, Pair, shown};
use evidence::{Grade, ObservationId, Reading, Rung, Why};
use maud::{Markup, Render, html};

/// English words at the beginning of a line or cell.
pub fn capital(pair: Pair) -> Pair {
    let mut chars = pair.en.chars();
    let en = chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default();
    Pair { en, ja: pair.ja }
}

pub fn rung(study: &Study<'_>, rung: Rung) -> Pair {
    capital(study.rung(rung))
}

pub fn grade_name(study: &Study<'_>, grade: Grade) -> Pair {
    capital(study.words.both(|lang| report::grade_word(lang, grade)))
}

/// The glyph's name: a conflict has its own.
pub fn glyph_name(grade: Grade) -> &'static str {
    if grade.why() == Some(Why::Conflict) { "conflict" } else { grade.name() }
}

pub fn glyph(name: &str) -> Markup {
    html! { svg class=(format!("g g-{}", if name == "conflict" { "unresolved" } else { name })) aria-hidden="true" { use href=(format!("#g-{name}")) {} } }
}

/// Glyph and word, followed by the basis.
pub fn grade(study: &Study<'_>, grade: Grade, on: Option<Markup>) -> Markup {
    html! { span.grade { (glyph(glyph_name(grade))) span { (grade_name(study, grade)) @if let Some(on) = on { (on) } } } }
}

/// The glyph of a grade, for a table column whose heading explains it. The word is added for readers who cannot see the
/// glyph.
pub fn grade_cell(study: &Study<'_>, grade: Grade) -> Markup {
    html! { (glyph(glyph_name(grade))) span.vh { (grade_name(study, grade)) } }
}

pub fn why(study: &Study<'_>, why: Why) -> Pair {
    study.words.both(|lang| lang.text(&format!("check-why-{}", why.name())))
}

/// A command to copy, preceded by its missing prerequisites.
pub fn command(study: &Study<'_>, text: &str) -> Markup {
    let needs = Pair::join(&(study.input.needs)(text), study.words);
    html! {
        @if !needs.en.is_empty() { p.small.quiet { (study.words.say_with("site-needs-first", &[("needs", needs.into())])) } }
        (bare_command(study, text))
    }
}

/// Like [`command`], if the prerequisites were already shown.
pub fn bare_command(study: &Study<'_>, text: &str) -> Markup {
    html! { div.cmd { code { (shown(text)) } button.copy type="button" { (study.words.say("site-copy")) } } }
}

/// Twelve digits that link to the observation.
pub fn observation(id: &ObservationId) -> Markup {
    html! { a.mono.faint.nowrap href=(format!("observations.html#o-{}", id.short())) { (id.short()) } }
}

/// Raw evidence: copied next to the pages if it is short enough, else named with the command that shows it.
pub fn raw_evidence(study: &Study<'_>, evidence: &evidence::Evidence) -> Markup {
    let short = evidence.sha256.get(..12).unwrap_or(&evidence.sha256);
    if raw_files::is_copied(evidence.size) && study.raw(evidence).is_some() {
        study.linked.borrow_mut().insert(evidence.sha256.clone());
        return html! { a.mono href=(raw_files::path(&evidence.sha256)) { (short) } " " span.faint { (shown(&evidence.kind)) ", " (report::thousands(evidence.size)) " B" } };
    }
    html! { span.mono { (short) } " " span.faint { (study.words.say("site-raw-not-copied")) } }
}

/// One reason of a reading as a sentence, with links to what it cites.
pub fn reason(study: &Study<'_>, reading: &Reading, at: usize) -> Pair {
    let text = |lang: &report::Lang| {
        reading.reasons.get(at).map_or_else(String::new, |reason| report::reason_text(lang, reading, reason))
    };
    study.words.both(text)
}

pub fn reasons(study: &Study<'_>, reading: &Reading, most: usize) -> Markup {
    html! {
        ul.reasons {
            @for (at, one) in reading.reasons.iter().enumerate().take(most) {
                li { (reason(study, reading, at)) @if let Some(id) = one.observation() { " " (observation(id)) } }
            }
            @if reading.reasons.len() > most {
                li.faint { (study.words.say_with("site-more", &[("count", (reading.reasons.len() - most).into())])) }
            }
        }
    }
}

/// Shown in place of missing evidence: that there is none, why, and the command that fills the gap.
pub fn gap(study: &Study<'_>, why: &Pair, closes: Option<&str>) -> Markup {
    html! {
        div.gap {
            p lang="en" { (study.words.en.text("site-not-observed")) " " (shown(&sentence(&why.en))) }
            p lang="ja" { (study.words.ja.text("site-not-observed")) (shown(&why.ja)) }
            @if let Some(closes) = closes { (command(study, closes)) }
        }
    }
}

/// Begins with a capital, unless it begins with a name (`ollama-rocm-60303`, `rocBLAS`), and ends with a full stop.
pub fn sentence(text: &str) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    let mut chars = text.chars();
    let is_name = !first.trim_end_matches([',', ':', '.', ';']).chars().all(|c| c.is_ascii_lowercase() || c == '\'');
    let capital = || chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default();
    let text: String = if is_name { text.to_owned() } else { capital() };
    if text.is_empty() || text.ends_with(['.', '?', '!', '。']) { text } else { format!("{text}.") }
}

/// A heading of a section, which names it.
pub fn section(id: &str, title: Markup, body: Markup) -> Markup {
    html! { section aria-labelledby=(id) { h2 id=(id) { (title) } (body) } }
}

/// The head of a page: the location, the question, the answer, and a plain explanation.
pub fn head(
    study: &Study<'_>,
    page: &str,
    question: Markup,
    answer: Markup,
    standing: Markup,
    plain: Markup,
) -> Markup {
    html! {
        p.kicker { (study.words.say(&format!("site-nav-{page}"))) @if !study.date().is_empty() { " · " (study.date()) } }
        h1 { (question) }
        (answer)
        div.standing { (standing) }
        (plain)
    }
}

/// A plain explanation; its first words are bold.
pub fn plain(study: &Study<'_>, key: &str, args: &[(&'static str, Arg)]) -> Markup {
    study.words.par("plain", key, args)
}

/// The rungs with and without observations on a page, shown even without a grade.
pub fn seen_on(study: &Study<'_>, rungs: &[(Rung, bool)]) -> Markup {
    let line = |seen: bool, key: &str| {
        let names: Vec<Pair> =
            rungs.iter().filter(|(_, known)| *known == seen).map(|(one, _)| rung(study, *one)).collect();
        let said = study.words.pair(key, &[("rungs", Pair::join(&names, study.words).into())]);
        html! { @if !names.is_empty() { span.grade { span aria-hidden="true" { (dot(seen, &Pair::default())) } span { (said) } } } }
    };
    html! { (line(true, "site-seen-on")) (line(false, "site-unseen-on")) }
}

/// The next question, with the command that answers it, and the page to read next.
pub fn next(study: &Study<'_>, id: &str, question: Markup, closes: Option<&str>, to: &'static str) -> Markup {
    let to = study.or_next(to);
    html! {
        section.next aria-labelledby=(id) {
            h2.small.faint id=(id) { (study.words.say("site-next")) }
            p.q { (question) }
            @if let Some(closes) = closes { (command(study, closes)) }
            p { a href=(format!("{to}.html")) { (study.words.say(&format!("site-nav-{to}"))) } }
        }
    }
}

/// A column of a table: heading, and whether it contains numbers.
#[derive(Debug, Clone)]
pub struct Col {
    pub title: Markup,
    pub label: Pair,
    pub number: bool,
}

pub fn col(study: &Study<'_>, key: &str) -> Col {
    let label = study.words.pair(key, &[]);
    Col { title: study.words.say(key), label, number: false }
}

pub fn num(study: &Study<'_>, key: &str) -> Col {
    Col { number: true, ..col(study, key) }
}

/// A table that becomes a list of blocks on a narrow screen. The first cell of a row is its name.
pub fn table(columns: &[Col], rows: &[Vec<Markup>]) -> Markup {
    html! {
        div.scroll.wide tabindex="0" role="group" aria-label="Table / 表" {
            table.wrap-narrow {
                thead { tr { @for column in columns { th scope="col" class=[column.number.then_some("num")] { (column.title) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (at, (cell, column)) in row.iter().zip(columns).enumerate() {
                                @if at == 0 {
                                    th scope="row" class=[column.number.then_some("num")] { (cell) }
                                } @else {
                                    td class=[column.number.then_some("num")] data-en=(format!("{}: ", column.label.en)) data-ja=(format!("{}: ", column.label.ja)) { (cell) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The link to a table as CSV.
pub fn csv_link(study: &Study<'_>, name: &str) -> Markup {
    html! { p.small.csv { a href=(format!("data/{name}")) download=(name) { (study.words.say("site-csv")) } } }
}

pub fn mono(text: &str) -> Markup {
    html! { span.mono { (shown(text)) } }
}

/// The legend of the path colours.
pub fn path_key(study: &Study<'_>) -> Markup {
    let all = [("vec", "MMVQ MMVF"), ("tile", "MMQ MMF"), ("blas", "BLAS"), ("none", "?")];
    html! {
        ul.key {
            @for (class, names) in all {
                li { span class=(format!("sw p-{class}")) { (names) } (study.words.say(&format!("site-key-{class}"))) }
            }
        }
    }
}

/// A square that is filled where something was seen, and dashed where not.
pub fn dot(seen: bool, label: &Pair) -> Markup {
    html! {
        svg.hit viewBox="0 0 12 12" aria-hidden="true" {
            @if seen { rect x="1" y="1" width="10" height="10" fill="currentColor" {} }
            @else { rect x="1.5" y="1.5" width="9" height="9" fill="none" stroke="currentColor" stroke-dasharray="2 1.4" {} }
        }
        span.vh { (label.render()) }
    }
}
