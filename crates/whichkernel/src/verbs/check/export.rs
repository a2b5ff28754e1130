//! The readings for programs and documents: JSON, CSV, Markdown.

use super::text::answers;
use super::words::{because, summary};
use investigate::Graded;
use report::{Column, Lang, Table, grade_text, rung_text};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Everything, as data: whatever a report shows can be made from it.
pub fn json(graded: &Graded, schema: &str) -> Value {
    let counts = graded.counts();
    let investigation = &graded.investigation;
    let claims: Vec<Value> = graded
        .claims()
        .map(|(stated, reading)| {
            json!({
                "id": stated.claim.id,
                "phase": stated.phase,
                "page": investigation.pages.get(&stated.page),
                "text": stated.words,
                "rung": stated.claim.rung,
                "topic": stated.claim.topic,
                "about": stated.claim.about,
                "expected": stated.claim.expected,
                "scope": stated.claim.scope,
                "transfer": stated.claim.transfer,
                "expect": if stated.must_hold { "holds" } else { "any" },
                "grade": reading.grade.name(),
                "why": reading.grade.why(),
                "reasons": reading.reasons,
                "cites": reading.cites,
                "ladder": reading.ladder,
                "shows": stated.shows,
                "cannot": stated.cannot,
                "closes": graded.advice(stated, reading).map(|advice| advice.command),
                "needs": graded.advice(stated, reading).map(|advice| advice.needs),
            })
        })
        .collect();
    let questions: Vec<Value> = investigation
        .questions
        .iter()
        .zip(&graded.questions)
        .map(|(question, reading)| {
            json!({
                "id": question.id,
                "phase": question.phase,
                "page": investigation.pages.get(&question.page),
                "text": question.words,
                "answer": reading.conclusion.word(),
                "asked_of": reading.asked_of,
                "conclusion": reading.conclusion,
                "open": reading.open,
                "claims": reading.claims,
                "settled_by": reading.settled_by,
                "refuted": reading.refuted,
                "found": reading.found,
                "live": reading.live,
                "elsewhere": reading.elsewhere,
                "closes": graded.question_advice(question, reading).map(|advice| advice.command),
            })
        })
        .collect();
    let next: Vec<Value> = graded
        .next()
        .into_iter()
        .map(|next| json!({"command": next.advice.command, "needs": next.advice.needs, "claims": next.claims, "questions": next.questions, "possible": next.possible}))
        .collect();
    json!({
        "schema": schema,
        "title": investigation.title,
        "subject": investigation.subject,
        "summary": {
            "claims": graded.readings.len(),
            "confirmed": counts.confirmed,
            "inferred": counts.inferred,
            "limited": counts.limited,
            "refuted": counts.refuted,
            "unresolved": counts.unresolved,
            "failed": graded.failed(),
        },
        "claims": claims,
        "questions": questions,
        "next": next,
    })
}

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
                graded.advice(stated, reading).map(|advice| format!("`{}`", advice.command)).unwrap_or_default(),
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
            let _ = writeln!(out, "  - {}: `{}`", lang.text("check-answer-open"), advice.command);
        }
    }
    if let Some(next) = graded.next().first() {
        let _ = write!(out, "\n{} `{}`\n", lang.text("check-next"), next.advice.command);
    }
    out
}
