//! The readings for spreadsheets and documents: CSV, Markdown.

use super::text::answers;
use super::words::{because, summary};
use investigate::{Advice, Graded};
use report::{Column, Lang, Table, grade_text, rung_text};
use std::fmt::Write as _;

pub fn csv(graded: &Graded, lang: &Lang) -> String {
    let keys = ["id", "phase", "page", "rung", "grade", "why", "expect", "text", "because", "closes"];
    let mut table = Table::new(keys.map(|key| Column::left(key, key)).to_vec());
    for (stated, reading) in graded.claims() {
        let page = graded.investigation.pages.get(&stated.page).map_or("", |page| page.in_language(lang.code()));
        table.row([
            stated.claim.id.clone(),
            format!("{:?}", stated.phase),
            page.to_owned(),
            reading.rung.to_string(),
            reading.grade.name().to_owned(),
            reading.grade.why().map_or("", evidence::Why::name).to_owned(),
            if stated.must_hold { "holds" } else { "any" }.to_owned(),
            stated.words.in_language(lang.code()).to_owned(),
            because(lang, reading).join(" / "),
            graded.advice(stated, reading).map(|advice| advice.command).unwrap_or_default(),
        ]);
    }
    table.csv()
}

pub fn markdown(graded: &Graded, lang: &Lang) -> String {
    let investigation = &graded.investigation;
    let mut out = format!("# {}\n\n{}\n", investigation.title.in_language(lang.code()), summary(graded, lang));
    for (id, name) in &investigation.phases {
        let mut table = Table::new(
            ["grade", "text", "rung", "why", "page", "closes"]
                .map(|key| Column::left(key, lang.text(&format!("check-title-{key}"))))
                .to_vec(),
        );
        for (stated, reading) in graded.claims().filter(|(stated, _)| stated.phase == *id) {
            let page = investigation.pages.get(&stated.page).map_or("", |page| page.in_language(lang.code()));
            table.row([
                grade_text(lang, reading.grade),
                stated.words.in_language(lang.code()).to_owned(),
                rung_text(lang, reading.rung),
                because(lang, reading).join("<br>"),
                page.to_owned(),
                graded.advice(stated, reading).map(|advice| advice_markdown(lang, &advice)).unwrap_or_default(),
            ]);
        }
        if !table.is_empty() {
            let args = [("id", format!("{id:?}").into()), ("name", name.in_language(lang.code()).into())];
            let _ = write!(out, "\n## {}\n\n{}", lang.text_with("check-phase", &args), table.markdown());
        }
    }
    if !graded.questions.is_empty() {
        let _ = write!(out, "\n## {}\n\n", lang.text("check-questions"));
    }
    for (question, reading) in investigation.questions.iter().zip(&graded.questions) {
        let _ = writeln!(out, "- {}", question.words.in_language(lang.code()));
        for answer in answers(graded, question, reading, lang) {
            let _ = writeln!(out, "  - {answer}");
        }
        if let Some(advice) = graded.question_advice(question, reading) {
            let _ = writeln!(out, "  - {}: {}", lang.text("check-answer-open"), advice_markdown(lang, &advice));
        }
    }
    if let Some(next) = graded.next().first() {
        let _ = write!(out, "\n{} {}\n", lang.text("check-next"), advice_markdown(lang, &next.advice));
    }
    out
}

/// The missing prerequisites, then the command as code.
fn advice_markdown(lang: &Lang, advice: &Advice) -> String {
    super::words::with_needs(lang, &format!("`{}`", advice.command), &advice.needs)
}
