//! Output for users: languages, tables, exports.
//!
//! Input is readings as data, output is text; nothing here computes a grade.
#![forbid(unsafe_code)]

mod conclusion;
mod glossary;
mod numbers;
mod plain_words;
mod readings;
mod table;

pub use conclusion::{blind_text, conclusion_text, gaps};
pub use glossary::{Term, Terms, term, terms};
pub use numbers::{bytes, thousands};
pub use plain_words::{plain_about, plain_fact, plain_reason, plain_seen, plain_subject};
pub(crate) use readings::reason_with;
pub use readings::{grade_text, grade_word, paint, reason_text, reasons, rung_text};
pub use say::{Lang, guarded, help_text, help_texts, plain};
pub use table::{Align, Column, Table, csv_line, wrap};
