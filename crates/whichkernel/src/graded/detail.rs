//! Everything about one claim: the chain of evidence, and its limits.

use super::text::{bold, closes, hanging};
use crate::context::Context;
use investigate::Graded;
use report::{grade_text, paint, reasons, rung_text};
use std::fmt::Write as _;

pub fn render(graded: &Graded, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = String::new();
    for (stated, reading) in graded.claims() {
        let words = |words: &evidence::Words| words.in_language(lang.code()).to_owned();
        let _ = writeln!(out, "{}", bold(context, &words(&stated.words)));
        let _ = writeln!(out, "{}", paint(context.color, reading.grade, &grade_text(lang, reading.grade)));
        let mut line = |key: &str, args: &[(&'static str, String)]| {
            let args: Vec<_> = args.iter().map(|(name, text)| (*name, text.as_str().into())).collect();
            hanging(&mut out, context, "  ", 4, &lang.text_with(key, &args));
        };
        if let Some(page) = graded.investigation.pages.get(&stated.page) {
            line("check-said-on", &[("page", words(page))]);
        }
        let about = &stated.claim.about;
        let topic =
            if about.0.is_empty() { stated.claim.topic.clone() } else { format!("{} [{about}]", stated.claim.topic) };
        let rung = rung_text(lang, stated.claim.rung);
        line("check-expected", &[("rung", rung), ("topic", topic), ("expected", stated.claim.expected.to_string())]);
        line("check-subject", &[("subject", stated.claim.scope.to_string())]);
        if stated.must_hold {
            line("check-must-hold", &[]);
        }
        let steps = reading.ladder.iter().filter(|step| step.holds + step.contradicts > 0);
        let steps: Vec<String> =
            steps.map(|step| format!("{} +{} -{}", rung_text(lang, step.rung), step.holds, step.contradicts)).collect();
        if !steps.is_empty() {
            line("check-ladder", &[("steps", steps.join(", "))]);
        }
        for (key, said) in [("check-shows", &stated.shows), ("check-cannot", &stated.cannot)] {
            if let Some(said) = said {
                line(key, &[("text", words(said))]);
            }
        }
        if reading.grade.is_unresolved() {
            closes(&mut out, context, 2, graded.advice(stated, reading).as_ref());
        }
        for reason in reasons(lang, reading) {
            hanging(&mut out, context, "- ", 2, &reason);
        }
    }
    out
}
