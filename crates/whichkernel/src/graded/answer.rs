//! A question's answer in a line. It begins with Yes, No, Partly, Unknown or, for "which" questions, Known; then its
//! rung, then the observation.

use super::text::{claims_seen, values_seen};
use evidence::{Question, QuestionReading, Word};
use investigate::Graded;
use report::{Lang, rung_text};

pub fn answer_line(graded: &Graded, question: &Question, reading: &QuestionReading, lang: &Lang) -> String {
    let word = word(question, reading, lang);
    let conclusion = &reading.conclusion;
    if conclusion.word() == Word::NotKnown {
        return format!("{word}.");
    }
    let rung = rung_text(lang, conclusion.rung());
    let key = if conclusion.not_observed().is_some() { "check-answer-below" } else { "check-answer-on" };
    let on = lang.text_with(key, &[("rung", rung.into())]);
    let mut seen = values_seen(reading, conclusion.rung(), lang);
    seen.extend(claims_seen(graded, reading, lang));
    let head = lang.text_with("check-answer-head", &[("word", word.into()), ("on", on.into())]);
    let space = if lang.is_japanese() { "" } else { " " };
    match seen.into_iter().next() {
        Some(first) => format!("{head}{space}{first}"),
        None => head,
    }
}

fn word(question: &Question, reading: &QuestionReading, lang: &Lang) -> String {
    match reading.conclusion.word() {
        // A "which" question is not answered with yes.
        Word::Yes | Word::Partly if !question.is_yes_or_no() && !reading.open => lang.text("check-answer-known"),
        word => lang.text(&format!("answer-{}", word.key())),
    }
}
