//! Ten lines: the answers and how sure, what was refuted, what remains open, and the next best observation.

use super::Looked;
use crate::context::Context;
use crate::verbs::check::{Graded, answers, because, bold};
use evidence::{Grade, Reading, Rung, Stated, Why};
use report::{Lang, grade_word, paint, rung_text};
use std::cmp::Reverse;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const ANSWERS: usize = 4;
const REFUTED: usize = 3;

pub fn render(graded: &Graded, looked: &[Looked], context: &Context) -> String {
    let lang = &context.lang;
    let mut lines = vec![bold(context, &cut(graded.investigation.title.in_language(lang.code()), context.width))];
    lines.push(cut(&observers(looked, lang), context.width));
    lines.push(cut(&graded.summary(lang), context.width));
    let found = found(graded, context);
    if found.is_empty() {
        lines.push(cut(&lang.text("investigate-nothing"), context.width));
    }
    lines.extend(found.into_iter().take(ANSWERS));
    lines.extend(refuted(graded, context));
    lines.push(cut(&open(graded, lang), context.width));
    if let Some(next) = graded.next().into_iter().next() {
        let args = [("count", (next.claims + next.questions).into())];
        let closes = lang.text_with("check-next-closes", &args);
        // The last line is there to be copied: it is never cut.
        lines.push(format!("{} {}  ({closes})", bold(context, &lang.text("check-next")), next.command));
    }
    lines.join("\n") + "\n"
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
fn found(graded: &Graded, context: &Context) -> Vec<String> {
    let lang = &context.lang;
    let mut lines = Vec::new();
    // A question that is open here and seen elsewhere comes after those that have an answer.
    let mut questions: Vec<_> = graded.investigation.questions.iter().zip(&graded.questions).collect();
    questions.sort_by_key(|(_, reading)| reading.open);
    for (question, reading) in questions {
        let Some(answer) = answers(graded, reading, lang).into_iter().next() else { continue };
        // The answer is what counts: where both do not fit, the question gives way.
        let room = context.width.map(|width| width.saturating_sub(answer.width() + 1)).filter(|&room| room >= 20);
        let asked = cut(question.words.in_language(lang.code()), room);
        lines.push(cut(&format!("{asked} {answer}"), context.width));
    }
    let mut claims: Vec<(&Stated, &Reading)> = graded.claims().filter(|(_, r)| r.grade.strength() > 0).collect();
    claims.sort_by_key(|(_, reading)| (Reverse(reading.grade.strength()), Reverse(reading.rung)));
    let words = |stated: &Stated| stated.words.in_language(lang.code()).to_owned();
    lines.extend(
        claims.into_iter().map(|(stated, reading)| labelled(reading.grade, reading.rung, &words(stated), context)),
    );
    lines
}

fn refuted(graded: &Graded, context: &Context) -> Vec<String> {
    let lang = &context.lang;
    let mut claims: Vec<(&Stated, &Reading)> = graded.claims().filter(|(_, r)| r.grade.is_refuted()).collect();
    claims.sort_by_key(|(stated, reading)| (!stated.must_hold, Reverse(reading.rung)));
    let line = |(stated, reading): &(&Stated, &Reading)| {
        let why = because(lang, reading).into_iter().next().unwrap_or_default();
        let text = format!("{} — {why}", stated.words.in_language(lang.code()));
        labelled(reading.grade, reading.rung, &text, context)
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

fn labelled(grade: Grade, rung: Rung, text: &str, context: &Context) -> String {
    let label = format!("{} ({})", grade_word(&context.lang, grade), rung_text(&context.lang, rung));
    let line = cut(&format!("{label}: {text}"), context.width);
    match line.strip_prefix(label.as_str()) {
        Some(rest) => format!("{}{rest}", paint(context.color, grade, &label)),
        None => line,
    }
}

/// One line stays one line on a terminal; in a pipe nothing is cut.
fn cut(text: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|&width| text.width() > width) else { return text.to_owned() };
    let mut used = 0;
    let kept: String = text
        .chars()
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used < width
        })
        .collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_to_the_terminal_and_not_in_a_pipe() {
        assert_eq!(cut("short", Some(80)), "short");
        assert_eq!(cut("a line that is too long", Some(10)), "a line th…");
        assert!(cut("長い日本語の行です", Some(10)).width() <= 10);
        assert_eq!(cut("長い日本語の行です", None), "長い日本語の行です");
    }
}
