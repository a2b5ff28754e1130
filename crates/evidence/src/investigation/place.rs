//! Errors in an investigation file, with line and column.

use say::Message;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvestigationError {
    pub file: String,
    /// The line number, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    pub what: Message,
}

say::worded! { struct InvestigationError { file, line, column, what } => "evidence-investigation-error" }

impl InvestigationError {
    pub(crate) fn at(file: &str, text: &str, span: Option<Range<usize>>, what: Message) -> Self {
        let offset = span.map_or(0, |span| span.start);
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        InvestigationError { file: file.to_owned(), line, column, what }
    }
}
