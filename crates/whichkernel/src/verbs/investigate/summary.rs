//! Ten lines: the answers and how sure, what was refuted, what remains open, and the next best observation.

use crate::context::Context;
use crate::verbs::check::{answers, because, bold, hanging, summary};
use evidence::{Grade, Reading, Rung, Stated, Why};
use investigate::{Graded, Looked};
use report::{Lang, grade_word, paint, rung_text};
use std::cmp::Reverse;
use std::fmt::Write as _;

const ANSWERS: usize = 4;
const REFUTED: usize = 3;

pub fn render(graded: &Graded, looked: &[Looked], context: &Context) -> String {
    let lang = &context.lang;
    let mut lines = vec![
        Line::plain(graded.investigation.title.in_language(lang.code()).to_owned()).head(),
        Line::plain(observers(looked, lang)),
        Line::plain(summary(graded, lang)),
    ];
    let found = found(graded, context);
    if found.is_empty() {
        lines.push(Line::plain(lang.text("investigate-nothing")));
    }
    lines.extend(found.into_iter().take(ANSWERS));
    lines.extend(refuted(graded, context));
    lines.push(Line::plain(open(graded, lang)));
    let mut text: String = lines.iter().map(|line| line.render(context)).collect();
    if let Some(next) = graded.next(&crate::verbs::names()).into_iter().next() {
        let args = [("count", (next.claims + next.questions).into())];
        let closes = lang.text_with("check-next-closes", &args);
        // The last line is there to be copied: it is never broken.
        let _ = writeln!(text, "{} {}  ({closes})", bold(context, &lang.text("check-next")), next.command);
    }
    text
}

/// One of the ten lines. A terminal may be too narrow for it: then it is broken and goes on further in.
struct Line {
    label: String,
    paint: Option<Grade>,
    bold: bool,
    text: String,
}

impl Line {
    fn plain(text: String) -> Self {
        Line { label: String::new(), paint: None, bold: false, text }
    }

    fn head(self) -> Self {
        Line { bold: true, ..self }
    }

    fn graded(grade: Grade, rung: Rung, text: &str, lang: &Lang) -> Self {
        let label = format!("{} ({})", grade_word(lang, grade), rung_text(lang, rung));
        Line { text: format!("{label}: {text}"), label, paint: Some(grade), bold: false }
    }

    fn render(&self, context: &Context) -> String {
        let mut out = String::new();
        hanging(&mut out, context, "", 2, &self.text);
        match self.paint {
            Some(grade) => match out.strip_prefix(&self.label) {
                Some(rest) => format!("{}{rest}", paint(context.color, grade, &self.label)),
                None => out,
            },
            None if self.bold => bold(context, out.trim_end()) + "\n",
            None => out,
        }
    }
}

fn observers(looked: &[Looked], lang: &Lang) -> String {
    let one = |looked: &Looked| match &looked.blocked {
        Some(why) => format!("{} ({}: {why})", looked.observer, lang.text("investigate-blocked")),
        None => {
            let args = [("seen", looked.observations.into()), ("new", looked.recorded.into())];
            format!("{} ({})", looked.observer, lang.text_with("investigate-seen", &args))
        }
    };
    let list: Vec<String> = looked.iter().map(one).collect();
    let list = list.join(lang.text("check-list-comma").trim_matches('"'));
    if looked.is_empty() {
        lang.text("investigate-no-observers")
    } else {
        lang.text_with("investigate-looked", &[("list", list.into())])
    }
}

/// Questions that have an answer first, then the claims for which something speaks: surest first, then highest rung.
fn found(graded: &Graded, context: &Context) -> Vec<Line> {
    let lang = &context.lang;
    let mut lines = Vec::new();
    // A question that is open here and seen elsewhere comes after those that have an answer.
    let mut questions: Vec<_> = graded.investigation.questions.iter().zip(&graded.questions).collect();
    questions.sort_by_key(|(_, reading)| reading.open);
    for (question, reading) in questions {
        let Some(answer) = answers(graded, reading, lang).into_iter().next() else { continue };
        lines.push(Line::plain(format!("{} {answer}", question.words.in_language(lang.code()))));
    }
    let mut claims: Vec<(&Stated, &Reading)> = graded.claims().filter(|(_, r)| r.grade.strength() > 0).collect();
    claims.sort_by_key(|(_, reading)| (Reverse(reading.grade.strength()), Reverse(reading.rung)));
    let words = |stated: &Stated| stated.words.in_language(lang.code()).to_owned();
    lines.extend(
        claims.into_iter().map(|(stated, reading)| Line::graded(reading.grade, reading.rung, &words(stated), lang)),
    );
    lines
}

fn refuted(graded: &Graded, context: &Context) -> Vec<Line> {
    let lang = &context.lang;
    let mut claims: Vec<(&Stated, &Reading)> = graded.claims().filter(|(_, r)| r.grade.is_refuted()).collect();
    claims.sort_by_key(|(stated, reading)| (!stated.must_hold, Reverse(reading.rung)));
    let line = |(stated, reading): &(&Stated, &Reading)| {
        let why = because(lang, reading).into_iter().next().unwrap_or_default();
        let text = format!("{} — {why}", stated.words.in_language(lang.code()));
        Line::graded(reading.grade, reading.rung, &text, lang)
    };
    claims.iter().take(REFUTED).map(line).collect()
}

/// How much is open, and why, most frequent reason first.
fn open(graded: &Graded, lang: &Lang) -> String {
    let whys: Vec<Why> = graded.readings.iter().filter_map(|reading| reading.grade.why()).collect();
    let mut counts: Vec<(usize, Why)> = Vec::new();
    for why in &whys {
        match counts.iter_mut().find(|(_, known)| known == why) {
            Some((count, _)) => *count += 1,
            None => counts.push((1, *why)),
        }
    }
    counts.sort_by_key(|(count, why)| (Reverse(*count), *why));
    let text = |(count, why): &(usize, Why)| format!("{} {count}", lang.text(&format!("check-why-{}", why.name())));
    let list: Vec<String> = counts.iter().map(text).collect();
    let args = [
        ("claims", whys.len().into()),
        ("questions", graded.questions.iter().filter(|question| question.open).count().into()),
        ("why", list.join(lang.text("check-list-comma").trim_matches('"')).into()),
    ];
    lang.text_with("investigate-open", &args)
}
