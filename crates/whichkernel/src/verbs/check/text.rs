//! The readings for a person: phase by phase, each claim with its grade and why, then what to do next.

use super::graded::{Graded, because};
use crate::context::Context;
use evidence::{QuestionReading, Reading, Stated};
use report::{Lang, grade_word, paint, rung_text, wrap};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

pub fn render(graded: &Graded, context: &Context, ledger: bool) -> String {
    let lang = &context.lang;
    let mut out = format!("{}\n", bold(context, graded.investigation.title.in_language(lang.code())));
    if !ledger {
        let dir = context.ledger.to_string_lossy();
        let _ = writeln!(out, "{}", lang.text_with("check-empty-ledger", &[("dir", dir.into())]));
    }
    for (id, name) in &graded.investigation.phases {
        let mut claims = graded.claims().filter(|(stated, _)| stated.phase == *id).peekable();
        if claims.peek().is_none() {
            continue;
        }
        let args = [("id", format!("{id:?}").into()), ("name", name.in_language(lang.code()).into())];
        let _ = writeln!(out, "\n{}", bold(context, &lang.text_with("check-phase", &args)));
        for (stated, reading) in claims {
            claim(&mut out, stated, reading, context);
        }
    }
    questions(&mut out, graded, context);
    let _ = writeln!(out, "\n{}", bold(context, &graded.summary(lang)));
    let failed = graded.failed();
    if failed > 0 {
        let _ = writeln!(out, "{}", lang.text_with("check-failed", &[("count", failed.into())]));
    }
    if let Some(next) = graded.next().into_iter().next() {
        let closes = lang.text_with("check-next-closes", &[("count", (next.claims + next.questions).into())]);
        let _ = writeln!(out, "{} {}  ({closes})", lang.text("check-next"), next.command);
    }
    let _ = writeln!(out, "{}", lang.text("check-more"));
    out
}

fn claim(out: &mut String, stated: &Stated, reading: &Reading, context: &Context) {
    let lang = &context.lang;
    let words = stated.words.in_language(lang.code());
    let label = grade_word(lang, reading.grade);
    let text = format!("{words}  [{}, {}]", stated.claim.id, rung_text(lang, reading.rung));
    hanging(
        out,
        context,
        &paint(context.color, reading.grade, &pad(&label, label_width(lang))),
        label_width(lang),
        &text,
    );
    let inner = label_width(lang) + 2;
    let indent = " ".repeat(inner);
    for reason in because(lang, reading) {
        hanging(out, context, &indent, inner, &reason);
    }
    if reading.grade.is_unresolved() {
        let closes = lang.text_with("check-closes", &[("command", stated.closes.as_str().into())]);
        hanging(out, context, &indent, inner, &closes);
    }
}

fn questions(out: &mut String, graded: &Graded, context: &Context) {
    let lang = &context.lang;
    if graded.questions.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", bold(context, &lang.text("check-questions")));
    for (question, reading) in graded.investigation.questions.iter().zip(&graded.questions) {
        hanging(out, context, "", 2, question.words.in_language(lang.code()));
        for answer in answers(graded, reading, lang) {
            hanging(out, context, "    ", 4, &answer);
        }
        if reading.open {
            let closes = lang.text_with("check-closes", &[("command", question.closes.as_str().into())]);
            hanging(out, context, "    ", 4, &format!("{}; {closes}", lang.text("check-answer-open")));
        }
    }
}

/// What answers a question, one line each: claims that hold, values seen, claims that were refuted.
pub fn answers(graded: &Graded, reading: &QuestionReading, lang: &Lang) -> Vec<String> {
    let claim = |id: &String| graded.claims().find(|(stated, _)| stated.claim.id == *id);
    let mut lines = Vec::new();
    for (stated, reading) in reading.settled_by.iter().filter_map(claim) {
        let args = [
            ("grade", report::grade_text(lang, reading.grade).into()),
            ("rung", rung_text(lang, reading.rung).into()),
            ("text", stated.words.in_language(lang.code()).into()),
        ];
        lines.push(lang.text_with("check-answer-by", &args));
    }
    for found in reading.found.iter().filter(|found| !found.grade.is_refuted()) {
        // A value without its rung and subject would say more than was seen.
        let subject = found.reading.cites.first().map_or("", |cite| cite.subject.as_str());
        let args = [
            ("grade", report::grade_text(lang, found.grade).into()),
            ("rung", rung_text(lang, found.reading.rung).into()),
            ("subject", subject.into()),
            ("about", found.about.as_str().into()),
            ("value", found.value.as_str().into()),
        ];
        lines.push(lang.text_with("check-answer-value", &args));
    }
    for (stated, _) in reading.refuted.iter().filter_map(claim) {
        lines.push(lang.text_with("check-answer-not", &[("text", stated.words.in_language(lang.code()).into())]));
    }
    lines
}

/// Writes `first`, then the text; further lines begin where the text does.
pub fn hanging(out: &mut String, context: &Context, first: &str, indent: usize, text: &str) {
    let room = context.width.map_or(usize::MAX, |width| width.saturating_sub(indent).max(20));
    for (i, line) in wrap(text, room).iter().enumerate() {
        let lead = if i == 0 { first.to_owned() } else { " ".repeat(indent) };
        let _ = writeln!(out, "{lead}{line}");
    }
}

fn label_width(lang: &Lang) -> usize {
    let all = ["confirmed", "inferred", "limited", "unresolved", "refuted"];
    2 + all.iter().map(|name| lang.text(&format!("check-grade-{name}")).width()).max().unwrap_or(0)
}

pub fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

pub fn bold(context: &Context, text: &str) -> String {
    if context.color { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
}
