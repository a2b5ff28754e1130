//! A table of a page as a CSV for download: the same cells as text, in English.
//!
//! This way a table is defined only once.

use crate::csv;
use crate::input::Study;
use crate::parts::{self, Col};
use maud::{Markup, html};

/// The table, followed by a link to its CSV; `name` is the file name without `.csv`.
pub fn with_csv(study: &Study<'_>, name: &str, columns: &[Col], rows: &[Vec<Markup>]) -> Markup {
    let file = format!("{name}.csv");
    let titles: Vec<&str> = columns.iter().map(|column| column.label.en.as_str()).collect();
    let cells = rows.iter().map(|row| row.iter().map(|cell| text(&cell.0)).collect::<Vec<_>>());
    study.tables.borrow_mut().insert(file.clone(), csv::file(&titles, cells));
    html! { (parts::table(columns, rows)) (parts::csv_link(study, &file)) }
}

/// The English text of our own markup: no tags, no Japanese, no buttons.
fn text(markup: &str) -> String {
    let mut out = String::new();
    let mut rest = markup;
    // The element being skipped, and how many elements of the same name are open in it.
    let mut passed: Option<(String, usize)> = None;
    while let Some((before, tail)) = rest.split_once('<') {
        if passed.is_none() {
            out.push_str(before);
        }
        let (tag, after) = tail.split_once('>').unwrap_or((tail, ""));
        rest = after;
        let closing = tag.strip_prefix('/');
        let name = closing.unwrap_or(tag).split([' ', '/']).next().unwrap_or_default();
        match &mut passed {
            Some((of, open)) if of == name => {
                *open = if closing.is_some() { *open - 1 } else { *open + 1 };
                if *open == 0 {
                    passed = None;
                }
            }
            Some(_) => {}
            None if closing.is_none() && (tag.contains(" lang=\"ja\"") || name == "button") => {
                passed = Some((name.to_owned(), 1));
            }
            None if matches!(name, "li" | "br" | "p" | "td") => out.push(' '),
            None => {}
        }
    }
    if passed.is_none() {
        out.push_str(rest);
    }
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let plain = entities.iter().fold(out, |text, (entity, character)| text.replace(entity, character));
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn a_cell_reads_as_it_is_shown_in_english() {
        let cell = "<span class=\"g\"><svg><use href=\"#x\"></use></svg><span lang=\"en\">MMQ &amp; <b>BLAS</b></span><span lang=\"ja\">は<span>中</span></span></span>";
        assert_eq!(text(cell), "MMQ & BLAS");
        assert_eq!(text("<code>a &lt;b&gt;</code><button class=\"copy\">Copy</button>"), "a <b>");
        assert_eq!(text("<ul><li>one</li><li>two</li></ul>"), "one two");
        assert_eq!(text("cut <span"), "cut");
    }
}
