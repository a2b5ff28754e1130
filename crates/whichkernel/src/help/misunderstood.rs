//! Errors of the command line in the reader's language: clap's errors are translated by their kind, not by their words.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use report::Lang;
use say::Message;
use std::fmt::Write as _;

/// English uses clap's own text. For other languages the kind selects the sentence, and clap's names are inserted.
pub fn misunderstood(error: &clap::Error, lang: &Lang) -> String {
    if !lang.is_japanese() || shows_help(error.kind()) {
        return error.render().to_string();
    }
    let named = |kind| error.get(kind).map(text).unwrap_or_default();
    let args = [
        ("arg", named(ContextKind::InvalidArg).into()),
        ("value", named(ContextKind::InvalidValue).into()),
        ("prior", named(ContextKind::PriorArg).into()),
        ("command", named(ContextKind::InvalidSubcommand).into()),
        ("why", cause(error).map(|why| lang.say(&why)).unwrap_or_default().into()),
    ];
    let mut out = lang.text_with(key(error.kind()), &args);
    let suggested =
        [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue].map(named);
    if let Some(one) = suggested.iter().find(|one| !one.is_empty()) {
        let _ = write!(out, "{}", lang.text_with("usage-near", &[("near", one.as_str().into())]));
    }
    let valid = named(ContextKind::ValidValue);
    if !valid.is_empty() {
        let _ = write!(out, "\n  {}", lang.text_with("help-values", &[("value", valid.into())]));
    }
    if let Some(usage) = error.get(ContextKind::Usage).map(text) {
        let usage = usage.trim().trim_start_matches("Usage:").trim().to_owned();
        let _ = write!(out, "\n\n{} {usage}", lang.text("help-heading-usage"));
    }
    format!("{out}\n\n{}\n", lang.text("usage-more"))
}

/// Help is already translated.
fn shows_help(kind: ErrorKind) -> bool {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    matches!(kind, DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand | DisplayVersion)
}

/// The message of our own value parser.
fn cause(error: &clap::Error) -> Option<Message> {
    std::error::Error::source(error).map(Message::of)
}

fn key(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidValue => "usage-invalid-value",
        ErrorKind::UnknownArgument => "usage-unknown-argument",
        ErrorKind::InvalidSubcommand => "usage-unknown-command",
        ErrorKind::NoEquals => "usage-no-equals",
        ErrorKind::ValueValidation => "usage-refused-value",
        ErrorKind::TooManyValues => "usage-too-many",
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => "usage-too-few",
        ErrorKind::ArgumentConflict => "usage-conflict",
        ErrorKind::MissingRequiredArgument => "usage-missing",
        ErrorKind::MissingSubcommand => "usage-missing-command",
        ErrorKind::InvalidUtf8 => "usage-not-utf8",
        _ => "usage-other",
    }
}

fn text(value: &ContextValue) -> String {
    match value {
        ContextValue::String(one) => one.clone(),
        ContextValue::Strings(many) => many.join(", "),
        ContextValue::StyledStr(one) => one.to_string(),
        ContextValue::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::misunderstood;
    use report::Lang;

    #[test]
    fn what_is_wrong_with_a_line_is_said_in_japanese() {
        let lang = Lang::new("ja");
        for (line, word) in [
            ("whichkernel chekc", "check"),
            ("whichkernel check --onyl refuted", "--only"),
            ("whichkernel check --only wrong", "refuted"),
            ("whichkernel check --only refuted --all", "--all"),
            ("whichkernel runtime fetch", "NAME"),
            ("whichkernel ledger", "コマンド"),
            ("whichkernel explain --columns many", "many"),
            ("whichkernel explain --columns", "--columns"),
            ("whichkernel doctor too much", "too"),
        ] {
            let error = super::super::command(&lang).try_get_matches_from(line.split(' ')).expect_err(line);
            let said = misunderstood(&error, &lang);
            assert!(said.contains(word), "{line}: {said}");
            let english = ["error:", "Usage", "tip:", "unexpected", "required", "invalid", "For more", "cannot"];
            let left = english.iter().find(|english| said.contains(**english));
            assert!(left.is_none(), "{line}: {left:?} in {said}");
        }
    }
}
