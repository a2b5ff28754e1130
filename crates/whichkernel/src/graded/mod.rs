//! A graded investigation for users: the screen, the whole list, one claim, Markdown and CSV. `check`, `investigate`
//! and `report` share the wording.

mod answer;
pub mod detail;
mod export;
mod paths;
pub mod screen;
pub mod text;
mod words;

pub use export::{csv, markdown};
pub use words::{MACHINE, NOTES, chosen, load, need_text, with_needs};
