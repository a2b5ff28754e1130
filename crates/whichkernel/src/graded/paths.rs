//! The headline table: which path for how many tokens, according to the source, the dry run, and live observation.

use evidence::{Conclusion, Found, Question, QuestionReading, Reason, Says};
use investigate::Graded;
use report::{Column, Lang, Table, conclusion_text};

/// The first question and the result of each rung, if it asks which path is taken.
pub fn path_table(graded: &Graded, lang: &Lang) -> Option<(String, Table)> {
    let (question, reading) = graded.path_question()?;
    let ask = question.ask.as_ref()?;
    let rows = graded.paths();
    if rows.is_empty() {
        return None;
    }
    let of = |key: &str, found: &[Found]| {
        let of = found.iter().find_map(|one| one.reading.cites.first()).map(|cite| cite.of.clone());
        match of {
            Some(of) => lang.text_with(key, &[("of", of.into())]),
            None => lang.text("check-screen-dryrun-none"),
        }
    };
    let source = ask.scope.source.clone().map(|source| match &ask.scope.commit {
        Some(commit) => format!("{source} {commit}"),
        None => source,
    });
    let source = lang.text_with("check-screen-source", &[("of", source.unwrap_or_else(|| "-".to_owned()).into())]);
    let mut table = Table::new(vec![
        Column::left("columns", lang.text("check-screen-tokens")),
        Column::left("declared", source),
        Column::left("selected", of("check-screen-dryrun", &reading.elsewhere)),
        Column::left("launched", lang.text("check-screen-live")),
    ]);
    let unseen = unseen(graded, question, reading, lang);
    for row in rows {
        let cell = |chosen: &Option<Conclusion>, nothing: &str| {
            chosen.as_ref().map_or_else(|| nothing.to_owned(), |chosen| cell_text(lang, chosen))
        };
        let not_observed = lang.text("check-screen-not-observed");
        table.row([
            row.columns.clone(),
            cell(&row.declared, &not_observed),
            cell(&row.selected, &not_observed),
            cell(&row.launched, &unseen),
        ]);
    }
    Some((question.words.in_language(lang.code()).to_owned(), table))
}

/// A path; for how many of the row's column counts it is known, if not for all; and whether it is limited.
fn cell_text(lang: &Lang, chosen: &Conclusion) -> String {
    let Says::Chosen { choices } = chosen.says() else { return conclusion_text(lang, chosen) };
    let choices = choices.iter().map(String::as_str).collect::<Vec<_>>().join(" | ");
    let key = match (chosen.unanswered() > 0, chosen.left_out().is_empty()) {
        _ if choices.is_empty() => return conclusion_text(lang, chosen),
        (false, true) => return choices,
        (true, true) => "check-screen-part",
        (true, false) => "check-screen-part-limited",
        (false, false) => "check-screen-limited-cell",
    };
    let asked = chosen.asked().unwrap_or_else(|| chosen.answered());
    let args = [("choices", choices.into()), ("answered", chosen.answered().into()), ("asked", asked.into())];
    lang.text_with(key, &args)
}

/// Why nothing was seen live: the missing prerequisites.
fn unseen(graded: &Graded, question: &Question, reading: &QuestionReading, lang: &Lang) -> String {
    let of = |id: &String| graded.readings.iter().find(|reading| reading.claim == *id);
    let open = question.all_claims().filter_map(|(id, _)| of(id)).filter(|it| it.rung == reading.asked_of);
    let mut missing = (None, None);
    for reason in open.flat_map(|reading| &reading.reasons) {
        match reason {
            Reason::NoDevice { what } => missing.0 = Some(what.clone()),
            Reason::NotHere { what } => missing.1 = Some(what.clone()),
            _ => {}
        }
    }
    match missing {
        (Some(target), _) => lang.text_with("check-screen-no-device", &[("target", target.into())]),
        (None, Some(runtime)) => lang.text_with("check-screen-no-runtime", &[("runtime", runtime.into())]),
        (None, None) => lang.text("check-screen-not-observed"),
    }
}
