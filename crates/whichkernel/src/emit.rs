//! Prints an answer, or an error, in the requested format.

use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context, Format};
use crate::fit::fit;
use answer::Answer;
use evidence::{Conclusion, Word};
use report::{Lang, Table};
use say::error;
use schemars::JsonSchema;
use serde::Serialize;
use std::ffi::OsStr;
use std::process::ExitCode;

/// How an answer is shown to users. Every [`Answer`] can already be written as JSON.
pub trait Show: Answer {
    /// The content for text, CSV and Markdown; None for an answer that is not a table and has only text and JSON.
    fn table(&self, lang: &Lang) -> Option<Table>;

    /// The text for a terminal or a pipe, with a final newline.
    fn text(&self, context: &Context) -> String {
        self.table(&context.lang).map(|table| table.text(context.width)).unwrap_or_default()
    }
}

/// The formats for users and tables. JSON is not included, because it is created only here, from the answer itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain {
    Text,
    Csv,
    Md,
}

impl Context {
    /// Prints an answer whose text or table needs more data than the answer contains. Only the requested format is
    /// created.
    pub fn emit_as<A: Answer>(
        &self,
        format: Format,
        answer: impl FnOnce() -> A,
        plain: impl FnOnce(Plain) -> say::Result<String>,
    ) -> say::Result<()> {
        self.print(&match format {
            Format::Json => answer::json(&answer())?,
            Format::Text => fit(&plain(Plain::Text)?, self.width).into_owned(),
            Format::Csv => plain(Plain::Csv)?,
            Format::Md => plain(Plain::Md)?,
        })
    }

    pub fn emit<A: Show>(&self, format: Format, answer: &A) -> say::Result<()> {
        let table = || {
            let none = || error!("no-table");
            answer.table(&self.lang).ok_or_else(none)
        };
        self.print(&match format {
            Format::Text => fit(&answer.text(self), self.width).into_owned(),
            Format::Json => answer::json(answer)?,
            Format::Csv => table()?.csv(),
            Format::Md => table()?.markdown(),
        })
    }
}

/// A command failed. With `--format json`, this is printed on standard output if nothing was printed yet. The same
/// message is always printed on standard error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Failure {
    /// The error message, as printed on standard error.
    pub error: String,
    /// The exit code.
    pub exit: u8,
    /// The input that failed, if there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl Answer for Failure {
    const SCHEMA: &'static str = "whichkernel.error/1";
}

impl Failure {
    pub fn new(error: String) -> Failure {
        Failure { error, exit: COULD_NOT_RUN, file: None }
    }
}

/// Whether the command line requests JSON, before it is parsed. Words after `--` belong to another program.
pub fn json_asked<S: AsRef<OsStr>>(line: impl IntoIterator<Item = S>) -> bool {
    let mut before = None;
    for word in line {
        let word = word.as_ref().to_owned();
        if word == "--" {
            return false;
        }
        if word == "--format=json" || (word == "json" && before.is_some_and(|before| before == "--format")) {
            return true;
        }
        before = Some(word);
    }
    false
}

/// The exit code: 0 for yes, 1 for no, 2 for unknown.
pub fn exit_code(conclusion: &Conclusion) -> ExitCode {
    match conclusion.word() {
        Word::Yes => ExitCode::SUCCESS,
        Word::No => ExitCode::from(CHECK_FAILED),
        Word::Partly | Word::NotKnown => ExitCode::from(COULD_NOT_RUN),
    }
}

#[cfg(test)]
mod tests {
    use super::json_asked;

    #[test]
    fn json_is_asked_for_before_the_other_command_begins() {
        assert!(json_asked(["whichkernel", "check", "--format", "json"]));
        assert!(json_asked(["whichkernel", "watch", "--format=json", "--", "x"]));
        assert!(!json_asked(["whichkernel", "watch", "--", "x", "--format", "json"]));
        assert!(!json_asked(["whichkernel", "inspect", "json"]));
        assert!(!json_asked(["whichkernel", "--format", "text", "json"]));
    }
}
