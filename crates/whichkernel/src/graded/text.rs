//! Every reading for users: phase by phase, each claim with its grade, the reason, and the command that would decide
//! it.

use super::answer::answer_line;
use super::words::{because, needs_text, summary};
use crate::context::Context;
use evidence::{Found, Grade, Question, QuestionReading, Reading, Rung, Stated};
use investigate::{Advice, Graded};
use report::{Lang, grade_word, paint, rung_text, wrap};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

/// Every claim, phase by phase.
pub fn render(graded: &Graded, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = format!("{}\n", bold(context, graded.investigation.title.in_language(lang.code())));
    for (id, name) in &graded.investigation.phases {
        let mut claims = graded.claims().filter(|(stated, _)| stated.phase == *id).peekable();
        if claims.peek().is_none() {
            continue;
        }
        let args = [("id", format!("{id:?}").into()), ("name", name.in_language(lang.code()).into())];
        let _ = writeln!(out, "\n{}", bold(context, &lang.text_with("check-phase", &args)));
        for (stated, reading) in claims {
            claim(&mut out, graded, stated, reading, context);
        }
    }
    questions(&mut out, graded, context);
    let _ = writeln!(out, "\n{}", bold(context, &summary(graded, lang)));
    if let Some((stated, _)) = graded.claims().next() {
        let _ = writeln!(out, "{}", lang.text_with("check-more", &[("id", stated.claim.id.as_str().into())]));
    }
    out
}

fn claim(out: &mut String, graded: &Graded, stated: &Stated, reading: &Reading, context: &Context) {
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
        closes(out, context, inner, graded.advice(stated, reading).as_ref());
    }
}

/// The command that decides the claim, and below it the prerequisites that are missing here.
pub fn closes(out: &mut String, context: &Context, indent: usize, advice: Option<&Advice>) {
    let lang = &context.lang;
    let Some(advice) = advice else {
        return hanging(out, context, &" ".repeat(indent), indent, &lang.text("check-no-advice"));
    };
    let command = lang.text_with("check-closes", &[("command", advice.command.as_str().into())]);
    hanging(out, context, &" ".repeat(indent), indent + 2, &command);
    if !advice.needs.is_empty() {
        let needs = lang.text_with("check-lacks", &[("needs", needs_text(lang, &advice.needs).into())]);
        hanging(out, context, &" ".repeat(indent + 2), indent + 2, &needs);
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
        for line in answers(graded, question, reading, lang) {
            hanging(out, context, "    ", 4, &line);
        }
        if reading.open {
            closes(out, context, 4, graded.question_advice(question, reading).as_ref());
        }
    }
}

/// The answer, and observations of other subjects.
pub fn answers(graded: &Graded, question: &Question, reading: &QuestionReading, lang: &Lang) -> Vec<String> {
    let mut lines = vec![answer_line(graded, question, reading, lang)];
    lines.extend(values(&reading.elsewhere, "check-answer-elsewhere", lang));
    lines
}

/// The claims that are relevant to a question, one line each.
pub fn claims_seen(graded: &Graded, reading: &QuestionReading, lang: &Lang) -> Vec<String> {
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
    for (stated, reading) in reading.refuted.iter().filter_map(claim) {
        let args =
            [("rung", rung_text(lang, reading.rung).into()), ("text", stated.words.in_language(lang.code()).into())];
        lines.push(lang.text_with("check-answer-refuted", &args));
    }
    lines
}

/// The values that were seen on this rung.
pub fn values_seen(reading: &QuestionReading, rung: Rung, lang: &Lang) -> Vec<String> {
    let of = [&reading.found, &reading.live].into_iter().flatten().filter(|one| one.reading.rung == rung);
    let found: Vec<Found> = of.cloned().collect();
    values(&found, "check-answer-seen", lang)
}

/// The findings, one line per grade and subject: a value without its rung and subject would claim too much.
fn values(found: &[Found], key: &str, lang: &Lang) -> Vec<String> {
    let subject =
        |found: &Found| found.reading.cites.first().map_or_else(String::new, |cite| report::plain_subject(lang, cite));
    let mut groups: Vec<(Grade, String, Vec<&Found>)> = Vec::new();
    for one in found.iter().filter(|found| found.grade.strength() > 0) {
        let (grade, subject) = (one.grade, subject(one));
        match groups.iter_mut().find(|group| (group.0, &group.1) == (grade, &subject)) {
            Some(group) => group.2.push(one),
            None => groups.push((grade, subject, vec![one])),
        }
    }
    let line = |(grade, subject, found): (Grade, String, Vec<&Found>)| {
        let pairs: Vec<(&str, &str)> = found.iter().map(|one| (one.about.as_str(), one.value.as_str())).collect();
        let args = [
            ("grade", report::grade_text(lang, grade).into()),
            ("rung", rung_text(lang, found.first().map_or(Rung::Declared, |one| one.reading.rung)).into()),
            ("subject", subject.into()),
            ("seen", together(&pairs).join("; ").into()),
        ];
        lang.text_with(key, &args)
    };
    groups.into_iter().map(line).collect()
}

/// `columns=8 type=Q4_K` and `columns=9 type=Q4_K` with the same value are combined: `columns 8,9, Q4_K: MMQ`.
fn together(pairs: &[(&str, &str)]) -> Vec<String> {
    type Words<'a> = Vec<(&'a str, Vec<&'a str>)>;
    let mut rows: Vec<(Words<'_>, &str)> = Vec::new();
    for (about, value) in pairs {
        let words: Words<'_> = about
            .split(' ')
            .map(|word| word.split_once('=').unwrap_or((word, "")))
            .map(|(k, v)| (k, vec![v]))
            .collect();
        let differing = |row: &Words<'_>| -> Option<Vec<usize>> {
            let same_keys = row.len() == words.len() && row.iter().zip(&words).all(|(a, b)| a.0 == b.0);
            same_keys.then(|| (0..row.len()).filter(|&i| row[i].1 != words[i].1).collect())
        };
        let near = rows.iter_mut().filter(|row| row.1 == *value).find_map(|row| match differing(&row.0)?.as_slice() {
            [at] => Some((row, *at)),
            _ => None,
        });
        match near {
            Some((row, at)) => row.0[at].1.extend(&words[at].1),
            None => rows.push((words, value)),
        }
    }
    let number = |text: &str| text.split("..").next().and_then(|text| text.parse().ok()).unwrap_or(u64::MAX);
    rows.sort_by_key(|(words, _)| words.iter().filter_map(|(_, values)| values.iter().map(|v| number(v)).min()).min());
    let text = |(words, value): &(Words<'_>, &str)| {
        let about: Vec<String> = words
            .iter()
            .map(|(key, values)| {
                let mut values = values.clone();
                values.sort_by_key(|value| (number(value), *value));
                let values = values.join(",").replace("..", "-");
                if values.is_empty() || matches!(*key, "type" | "name" | "observer") {
                    if values.is_empty() { (*key).to_owned() } else { values }
                } else {
                    format!("{key} {values}")
                }
            })
            .collect();
        if about.join("").is_empty() { (*value).to_owned() } else { format!("{}: {value}", about.join(", ")) }
    };
    rows.iter().map(text).collect()
}

/// Writes `first`, then the text; further lines are indented to the start of the text.
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

#[cfg(test)]
mod tests {
    use super::together;

    #[test]
    fn what_differs_in_one_word_is_said_once() {
        let pairs = [
            ("columns=9 type=Q4_K", "MMQ"),
            ("columns=12 type=Q4_K", "MMQ"),
            ("columns=1..8 type=Q4_K", "MMVQ"),
            ("columns=9 type=Q6_K", "MMQ"),
            ("", "140"),
        ];
        let expected = ["columns 1-8, Q4_K: MMVQ", "columns 9,12, Q4_K: MMQ", "columns 9, Q6_K: MMQ", "140"];
        assert_eq!(together(&pairs), expected);
    }
}
