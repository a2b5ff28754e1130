//! What a person reads: languages, tables, exports.
//!
//! Readings come in as data and leave as text; nothing here computes a grade.
#![forbid(unsafe_code)]

mod conclusion;
mod lang;
mod plain;
mod readings;
mod table;

pub use conclusion::{conclusion_text, gaps};
pub use lang::Lang;
pub use plain::{guarded, plain};
pub use readings::{grade_text, grade_word, paint, reason_text, reasons, rung_text};
pub use table::{Align, Column, Table, csv_line, wrap};
