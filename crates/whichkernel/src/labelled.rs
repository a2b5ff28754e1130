//! Aligned lines of a label and a text; long text continues below itself. Commands are never wrapped.

use crate::context::Context;
use report::wrap;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

/// The text next to a label.
pub enum Entry {
    Text(String),
    /// A command to copy, which is never wrapped.
    Command(String),
}

impl From<String> for Entry {
    fn from(text: String) -> Entry {
        Entry::Text(text)
    }
}

/// `rows`: the label's message key (empty if the row continues the one above), and the text.
pub fn labelled(rows: &[(&str, Entry)], context: &Context) -> String {
    let label = |key: &str| if key.is_empty() { String::new() } else { context.lang.text(key) };
    let labels: Vec<String> = rows.iter().map(|(key, _)| label(key)).collect();
    let width = labels.iter().map(|label| label.width()).max().unwrap_or(0) + 2;
    let room = context.width.map_or(usize::MAX, |columns| columns.saturating_sub(width).max(20));
    let mut out = String::new();
    for (label, (_, entry)) in labels.iter().zip(rows) {
        let lines = match entry {
            Entry::Command(command) => vec![command.clone()],
            Entry::Text(text) => wrap(text, room),
        };
        for (i, line) in lines.iter().enumerate() {
            let label = if i == 0 { label.as_str() } else { "" };
            let pad = " ".repeat(width.saturating_sub(label.width()));
            let label = if context.color && i == 0 { format!("\x1b[1m{label}\x1b[0m") } else { label.to_owned() };
            let _ = writeln!(out, "{label}{pad}{line}");
        }
    }
    out
}
