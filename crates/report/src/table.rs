//! One table, four formats: aligned text that fits the terminal, CSV, Markdown and JSON.

use crate::plain;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// `key` names the column in CSV and JSON; `title` is the heading for readers.
#[derive(Debug, Clone)]
pub struct Column {
    pub key: &'static str,
    pub title: String,
    pub align: Align,
}

impl Column {
    pub fn left(key: &'static str, title: impl Into<String>) -> Self {
        Column { key, title: title.into(), align: Align::Left }
    }

    pub fn right(key: &'static str, title: impl Into<String>) -> Self {
        Column { key, title: title.into(), align: Align::Right }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(columns: Vec<Column>) -> Self {
        Table { columns, rows: Vec::new() }
    }

    /// A row shorter than the header is filled with empty cells, a longer one is truncated. Control characters are
    /// escaped.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let fit = |cell: S| {
            let cell: String = cell.into();
            match plain(&cell) {
                Cow::Owned(escaped) => escaped,
                Cow::Borrowed(_) => cell,
            }
        };
        let mut row: Vec<String> = cells.into_iter().map(fit).collect();
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Aligned columns, two spaces apart. If the table is wider than `width`, the widest left-aligned column is
    /// wrapped; numbers never are. `width` None (a pipe) wraps nothing.
    pub fn text(&self, width: Option<usize>) -> String {
        let mut widths: Vec<usize> = self.columns.iter().map(|column| column.title.width()).collect();
        for row in &self.rows {
            for (cell, width) in row.iter().zip(&mut widths) {
                *width = (*width).max(cell.width());
            }
        }
        if let Some(limit) = width {
            self.shrink(&mut widths, limit);
        }
        let mut out = String::new();
        let titles: Vec<String> = self.columns.iter().map(|column| column.title.clone()).collect();
        self.line(&mut out, &titles, &widths);
        for row in &self.rows {
            self.line(&mut out, row, &widths);
        }
        out
    }

    /// Like [`Self::text`], but never wider than `width`: titles wrap, and no cell is cut inside a word. If the table
    /// still does not fit, the columns in `spare` are left out, in their order.
    pub fn fitted(mut self, width: Option<usize>, spare: &[&str]) -> String {
        let Some(limit) = width else { return self.text(None) };
        let total = |widths: &[usize]| widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
        for key in spare {
            if total(&self.least()) <= limit {
                break;
            }
            self.leave_out(key);
        }
        let (least, mut widths) = (self.least(), self.least());
        for (at, wide) in widths.iter_mut().enumerate() {
            *wide = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.width()).fold(*wide, usize::max);
        }
        while total(&widths) > limit {
            let widest = (0..widths.len()).filter(|&at| widths[at] > least[at]).max_by_key(|&at| widths[at]);
            let Some(at) = widest else { break };
            widths[at] -= 1;
        }
        let mut out = String::new();
        let titles: Vec<String> = self.columns.iter().map(|column| column.title.clone()).collect();
        self.line(&mut out, &titles, &widths);
        self.rows.iter().for_each(|row| self.line(&mut out, row, &widths));
        out
    }

    /// The longest word of each column; a number counts as one word. A title wraps at spaces only: a Japanese one above
    /// narrow numbers would otherwise be broken after every character.
    fn least(&self) -> Vec<usize> {
        let word = |text: &str| pieces(text).into_iter().map(|piece| piece.trim_end().width()).max().unwrap_or(0);
        let title = |text: &str| text.split(' ').map(UnicodeWidthStr::width).max().unwrap_or(0);
        let of = |(at, column): (usize, &Column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(at));
            let cells = cells.map(|cell| if column.align == Align::Left { word(cell) } else { cell.width() });
            cells.fold(title(&column.title), usize::max)
        };
        self.columns.iter().enumerate().map(of).collect()
    }

    /// The table without one of its columns.
    pub fn without(mut self, key: &str) -> Table {
        self.leave_out(key);
        self
    }

    fn leave_out(&mut self, key: &str) {
        let Some(at) = self.columns.iter().position(|column| column.key == key) else { return };
        self.columns.remove(at);
        self.rows.iter_mut().filter(|row| at < row.len()).for_each(|row| drop(row.remove(at)));
    }

    fn shrink(&self, widths: &mut [usize], limit: usize) {
        const LEAST: usize = 12;
        let gaps = 2 * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > limit {
            let widest = (0..widths.len())
                .filter(|&i| self.columns[i].align == Align::Left && widths[i] > LEAST)
                .max_by_key(|&i| widths[i]);
            let Some(i) = widest else { return };
            let over = widths.iter().sum::<usize>() + gaps - limit;
            let second = (0..widths.len())
                .filter(|&j| j != i && self.columns[j].align == Align::Left)
                .map(|j| widths[j])
                .max()
                .unwrap_or(LEAST);
            let floor = second.clamp(LEAST, widths[i] - 1);
            widths[i] = (widths[i].saturating_sub(over)).max(floor).min(widths[i] - 1);
        }
    }

    fn line(&self, out: &mut String, cells: &[String], widths: &[usize]) {
        let wrapped: Vec<Vec<String>> = cells.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
        for y in 0..height {
            let mut text = String::new();
            for (x, column) in self.columns.iter().enumerate() {
                let piece = wrapped[x].get(y).map_or("", String::as_str);
                let pad = " ".repeat(widths[x].saturating_sub(piece.width()));
                match column.align {
                    Align::Left => text.extend([piece, &pad]),
                    Align::Right => text.extend([pad.as_str(), piece]),
                }
                text.push_str("  ");
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
    }

    /// RFC 4180, with the header line.
    pub fn csv(&self) -> String {
        let mut out = String::new();
        csv_line(&mut out, self.columns.iter().map(|column| column.key));
        for row in &self.rows {
            csv_line(&mut out, row.iter().map(String::as_str));
        }
        out
    }

    pub fn markdown(&self) -> String {
        let mut out = String::new();
        let escape = |cell: &str| cell.replace('|', "\\|").replace('\n', " ");
        let titles: Vec<String> = self.columns.iter().map(|column| escape(&column.title)).collect();
        let _ = writeln!(out, "| {} |", titles.join(" | "));
        let rules: Vec<&str> =
            self.columns.iter().map(|column| if column.align == Align::Right { "---:" } else { "---" }).collect();
        let _ = writeln!(out, "| {} |", rules.join(" | "));
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        out
    }

    /// An array of objects by column key; cells are strings.
    pub fn json(&self) -> Value {
        let object = |row: &Vec<String>| {
            let cells = self.columns.iter().zip(row).map(|(column, cell)| (column.key.to_owned(), cell.clone().into()));
            Value::Object(cells.collect::<Map<_, _>>())
        };
        Value::Array(self.rows.iter().map(object).collect())
    }
}

/// One CSV line; cells are quoted if necessary. A cell that a spreadsheet would interpret as a formula gets a leading
/// quote mark, so that it is shown as text; numbers stay numbers.
pub fn csv_line<'a>(out: &mut String, cells: impl Iterator<Item = &'a str>) {
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            out.push(',');
        }
        let cell = plain(cell);
        let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell != "-" && cell.parse::<f64>().is_err();
        let cell = if formula { Cow::Owned(format!("'{cell}")) } else { cell };
        if cell.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
            out.push('"');
            out.push_str(&cell.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&cell);
        }
    }
    out.push('\n');
}

/// Lines of at most `width` columns: broken at spaces and around wide characters (Japanese has no spaces) if possible,
/// otherwise inside a word (a kernel's name can be longer than any line).
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    use unicode_width::UnicodeWidthChar;
    if text.width() <= width {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for piece in pieces(text) {
        if used > 0 && used + piece.trim_end().width() > width {
            lines.push(std::mem::take(&mut line).trim_end().to_owned());
            used = 0;
        }
        for c in piece.chars() {
            let w = c.width().unwrap_or(0);
            if used + w > width && used > 0 && c != ' ' {
                lines.push(std::mem::take(&mut line).trim_end().to_owned());
                used = 0;
            }
            line.push(c);
            used += w;
        }
    }
    if !line.trim_end().is_empty() {
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// The parts that stay together. No line starts with a closing mark or ends with an opening one.
fn pieces(text: &str) -> Vec<&str> {
    use unicode_width::UnicodeWidthChar;
    const CLOSING: &str = "。、,.)）」』!?ー";
    const OPENING: &str = "(（「『";
    let wide = |c: char| c.width() == Some(2);
    let katakana = |c: char| ('\u{30a1}'..='\u{30ff}').contains(&c);
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        let breaks = before.is_some_and(|before: char| {
            before == ' '
                || ((wide(before) || wide(c))
                    && c != ' '
                    && !CLOSING.contains(c)
                    && !OPENING.contains(before)
                    // A word in katakana stays whole.
                    && !(katakana(before) && katakana(c)))
        });
        if breaks {
            pieces.extend(text.get(start..at));
            start = at;
        }
        before = Some(c);
    }
    pieces.extend(text.get(start..));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new(vec![Column::left("name", "Name"), Column::right("size", "Size")]);
        table.row(["mul_mat_q<Q4_K, 8>", "918"]);
        table.row(["日本語の名前", "7"]);
        table
    }

    #[test]
    fn numbers_stand_in_one_column_in_any_script() {
        let text = sample().text(None);
        let ends: Vec<usize> = text.lines().map(UnicodeWidthStr::width).collect();
        assert!(ends.iter().all(|&end| end == ends[0]), "{text}");
    }

    #[test]
    fn a_narrow_terminal_wraps_and_loses_nothing() {
        let text = sample().text(Some(22));
        assert!(text.lines().all(|line| line.width() <= 22), "{text}");
        let joined: String = text.split_whitespace().collect();
        assert!(joined.contains("mul_mat_q<Q4_K,"));
    }

    #[test]
    fn japanese_fills_its_lines() {
        let lines = wrap("子プロセスが、本来使わないライブラリをマップしました (LD_PRELOAD=/lib/libm.so.6)。", 20);
        assert!(lines.iter().all(|line| line.width() <= 20 && !line.starts_with(['。', '、'])), "{lines:?}");
        assert!(lines[0].width() >= 17, "{lines:?}");
    }

    #[test]
    fn a_cell_is_neither_a_formula_nor_an_order_to_the_terminal() {
        let mut out = String::new();
        csv_line(&mut out, ["=1+1", "-3", "-", "@x", "+1e5", "a\u{1b}[2J", "-cmd|"].into_iter());
        assert_eq!(out, "'=1+1,-3,-,'@x,+1e5,a\\u001b[2J,'-cmd|\n");
        let mut table = Table::new(vec![Column::left("name", "Name")]);
        table.row(["a\u{1b}[2J\nfake line"]);
        for text in [table.text(None), table.csv(), table.markdown(), table.json().to_string()] {
            assert!(!text.contains('\u{1b}') && text.contains("u001b"), "{text}");
        }
        assert_eq!(table.text(None).lines().count(), 2);
    }

    #[test]
    fn a_table_fits_without_cutting_a_word() {
        let columns =
            || vec![Column::left("name", "Name"), Column::right("ms", "Prompt ms"), Column::right("spare", "Reported")];
        let table = |name: &str| {
            let mut table = Table::new(columns());
            table.row([name, "1184.8", "290"]);
            table
        };
        let wide = table("rep_3_nocache").fitted(Some(80), &["spare"]);
        assert_eq!(wide, "Name           Prompt  Reported\n                   ms\nrep_3_nocache  1184.8       290\n");
        let narrow = table("rep_3_nocache").fitted(Some(24), &["spare"]);
        assert!(!narrow.contains("Reported") && narrow.contains("rep_3_nocache  1184.8"), "{narrow}");
        assert!(narrow.lines().all(|line| line.width() <= 24), "{narrow}");
        assert_eq!(table("x").fitted(None, &["spare"]), table("x").text(None));
    }

    #[test]
    fn a_japanese_title_is_not_broken_after_every_character() {
        let mut table = Table::new(vec![Column::left("name", "名前"), Column::right("asked", "実評価")]);
        table.row(["a", "1"]);
        assert_eq!(table.fitted(Some(80), &[]), "名前  実評価\na          1\n");
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        assert_eq!(sample().csv().lines().nth(1), Some("\"mul_mat_q<Q4_K, 8>\",918"));
    }
}
