//! The first screen of `check` and `investigate`: the answer, the refuted claims, the number of open claims with
//! reasons, and the next step.

use super::answer::answer_line;
use super::paths::path_table;
use super::text::{bold, hanging};
use super::words::advice_text;
use crate::context::Context;
use evidence::{Reading, Reason, Stated, Why, Word};
use investigate::{Graded, Looked};
use report::{Column, Lang, Table, paint, plain_seen};
use std::cmp::Reverse;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

const REFUTED: usize = 2;
const ANSWERS: usize = 1;
/// A pipe has no width: uses that of a plain terminal.
const WIDTH: usize = 80;

/// `looked`: the results of this run's observers; `phases`: include the counts of each phase.
pub fn render(graded: &Graded, looked: &[Looked], phases: bool, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = format!("{}\n", headline(graded, context));
    if let Some((question, table)) = path_table(graded, lang) {
        let _ = writeln!(out);
        hanging(&mut out, context, "", 2, &question);
        out.push_str(&indented(&table.text(context.width.map(|width| width.saturating_sub(2)))));
    }
    let answers = if phases { Vec::new() } else { answered(graded, context) };
    if !answers.is_empty() {
        let _ = writeln!(out);
    }
    for line in answers {
        hanging(&mut out, context, "", 2, &line);
    }
    let _ = writeln!(out);
    refuted(&mut out, graded, if phases { REFUTED - 1 } else { REFUTED }, context);
    hanging(&mut out, context, "", 2, &counts(graded, lang));
    let open = open(graded, lang);
    if !open.is_empty() {
        let list = open.join(lang.text("check-list-comma").trim_matches('"'));
        hanging(&mut out, context, "", 2, &lang.text_with("check-screen-open", &[("list", list.into())]));
    }
    if phases {
        let _ = writeln!(out);
        out.push_str(&phase_table(graded, lang).text(context.width));
    }
    if let Some(line) = could_not_look(looked, lang) {
        hanging(&mut out, context, &bold(context, "! "), 2, &line);
    }
    ending(&mut out, graded, context);
    out
}

/// The counts of each grade, why the rest is open, and the command that would decide most, in a few lines.
pub fn brief(graded: &Graded, context: &Context) -> String {
    let mut out = format!("{}\n", headline(graded, context));
    hanging(&mut out, context, "", 2, &counts(graded, &context.lang));
    ending(&mut out, graded, context);
    out
}

/// Whether the expected claims hold, the next step, and where to find more.
pub fn ending(out: &mut String, graded: &Graded, context: &Context) {
    let lang = &context.lang;
    let _ = writeln!(out);
    if let Some(held) = graded.expectation() {
        let conclusion = report::conclusion_text(lang, &held);
        // The conclusion itself begins with "Unknown".
        let text = match held.reach() {
            evidence::Reach::Unknown => conclusion,
            _ => {
                let word = lang.text(&format!("answer-{}", held.word().key()));
                lang.text_with("check-expected-word", &[("word", word.into()), ("conclusion", conclusion.into())])
            }
        };
        hanging(out, context, "", 2, &format!("{} {text}", lang.text("check-expected-question")));
    }
    if let Some(next) = graded.next().into_iter().next() {
        let closes = lang.text_with("check-next-closes", &[("count", (next.claims + next.questions).into())]);
        // Commands are for copying, so they are never wrapped.
        let advice = advice_text(lang, &next.advice);
        let _ = writeln!(out, "{} {advice} {}", bold(context, &lang.text("check-next")), lang.noted("", &closes));
    }
    // An empty list gives no advice.
    let more = if graded.counts().refuted > 0 { "check-screen-more" } else { "check-screen-more-all" };
    let _ = writeln!(out, "{}", lang.text(more));
}

fn headline(graded: &Graded, context: &Context) -> String {
    let lang = &context.lang;
    let title = graded.investigation.title.in_language(lang.code());
    let count = lang.text_with("check-screen-claims", &[("count", graded.readings.len().into())]);
    let room = context.width.unwrap_or(WIDTH).min(120).saturating_sub(title.width() + count.width());
    let gap = if room >= 2 { " ".repeat(room) } else { "  ".to_owned() };
    format!("{}{gap}{count}", bold(context, title))
}

/// Questions with an answer, the most certain first; the first one has its table.
fn answered(graded: &Graded, context: &Context) -> Vec<String> {
    let lang = &context.lang;
    let questions = graded.investigation.questions.iter().zip(&graded.questions);
    let has_table = path_table(graded, lang).is_some();
    let mut known: Vec<_> = questions
        .skip(usize::from(has_table))
        .filter(|(_, reading)| reading.conclusion.word() != Word::NotKnown)
        .collect();
    known.sort_by_key(|(_, reading)| reading.open);
    let line = |(question, reading): (&evidence::Question, &evidence::QuestionReading)| {
        format!("{} {}", question.words.in_language(lang.code()), answer_line(graded, question, reading, lang))
    };
    known.into_iter().take(ANSWERS).map(line).collect()
}

fn refuted(out: &mut String, graded: &Graded, most: usize, context: &Context) {
    let lang = &context.lang;
    let mut claims: Vec<(&Stated, &Reading)> = graded.claims().filter(|(_, r)| r.grade.is_refuted()).collect();
    claims.sort_by_key(|(stated, reading)| (!stated.must_hold, Reverse(reading.rung)));
    for (stated, reading) in claims.iter().take(most) {
        let words = stated.words.in_language(lang.code()).to_owned();
        let text = lang.text_with("check-screen-refuted", &[("text", words.into())]);
        let mark = paint(context.color, reading.grade, "x ");
        hanging(out, context, &mark, 2, &text);
        if let Some(saw) = instead(reading, lang) {
            hanging(out, context, "    ", 4, &lang.text_with("check-screen-seen", &[("saw", saw.into())]));
        }
    }
    let more = claims.len().saturating_sub(most);
    if more > 0 {
        let _ = writeln!(out, "  {}", lang.text_with("check-screen-more-refuted", &[("count", more.into())]));
    }
}

/// The value that was seen instead of the claimed one.
fn instead(reading: &Reading, lang: &Lang) -> Option<String> {
    let against = reading.reasons.iter().find_map(|reason| match reason {
        Reason::Contradicts { observation, .. } | Reason::NotThere { observation } => Some(observation),
        _ => None,
    })?;
    let cite = reading.cites.iter().find(|cite| cite.observation == *against)?;
    plain_seen(lang, cite)
}

fn counts(graded: &Graded, lang: &Lang) -> String {
    let counts = graded.counts();
    let args = [
        ("confirmed", counts.confirmed.into()),
        ("inferred", counts.inferred.into()),
        ("limited", counts.limited.into()),
        ("refuted", counts.refuted.into()),
        ("open", counts.unresolved.into()),
    ];
    lang.text_with("check-screen-counts", &args)
}

/// Why claims are open, the most frequent cause first, with the missing prerequisite.
fn open(graded: &Graded, lang: &Lang) -> Vec<String> {
    let mut causes: Vec<(usize, Why, Option<String>)> = Vec::new();
    for reading in &graded.readings {
        let Some(why) = reading.grade.why() else { continue };
        let name = reading.reasons.iter().find_map(|reason| match (why, reason) {
            (Why::NotHere, Reason::NotHere { what }) | (Why::NoDevice, Reason::NoDevice { what }) => Some(what.clone()),
            _ => None,
        });
        match causes.iter_mut().find(|cause| cause.1 == why && cause.2 == name) {
            Some((count, ..)) => *count += 1,
            None => causes.push((1, why, name)),
        }
    }
    causes.sort_by_key(|(count, why, _)| (Reverse(*count), *why));
    let text = |(count, why, name): &(usize, Why, Option<String>)| {
        let key = match why {
            // The sentence depends on whether the missing runtime can be fetched.
            Why::NotHere => match name.as_deref() {
                Some(name) if runtime::fetch::suites::suite(name).is_some() => "not-here-fetch",
                Some(_) => "not-here-own",
                None => "not-here",
            },
            Why::NoDevice | Why::OtherMachine => why.name(),
            _ => "other",
        };
        let args = [
            ("count", (*count).into()),
            ("name", name.clone().unwrap_or_default().into()),
            ("why", lang.text(&format!("check-why-{}", why.name())).into()),
        ];
        lang.text_with(&format!("check-open-{key}"), &args)
    };
    causes.iter().map(text).collect()
}

fn phase_table(graded: &Graded, lang: &Lang) -> Table {
    let count = |key: &'static str, title: &str| Column::right(key, lang.text(&format!("check-screen-{title}")));
    let mut table = Table::new(vec![
        Column::left("phase", lang.text("check-screen-phase")),
        count("confirmed", "confirmed"),
        count("inferred", "inferred"),
        count("limited", "limited"),
        count("refuted", "refuted-title"),
        count("open", "open-title"),
    ]);
    for (phase, counts) in graded.counts_by_phase() {
        let name = graded.investigation.phases.get(&phase).map_or("", |name| name.in_language(lang.code()));
        let number = |count: usize| if count == 0 { "-".to_owned() } else { count.to_string() };
        table.row([
            format!("{phase:?}  {name}"),
            number(counts.confirmed),
            number(counts.inferred),
            number(counts.limited),
            number(counts.refuted),
            number(counts.unresolved),
        ]);
    }
    table
}

/// Observers that could not run, with their reasons; each missing prerequisite is reported once.
fn could_not_look(looked: &[Looked], lang: &Lang) -> Option<String> {
    let comma = lang.text("check-list-comma").trim_matches('"').to_owned();
    let first = looked.iter().find(|one| one.blocked.is_some())?;
    let others: Vec<&str> = looked.iter().filter(|one| one.blocked.is_some()).map(|one| one.observer).collect();
    let why = first.blocked.as_ref().map(|why| lang.say(why)).unwrap_or_default();
    let args = [("who", others.join(&comma).into()), ("first", first.observer.into()), ("why", why.into())];
    Some(lang.text_with("investigate-could-not-look", &args))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
