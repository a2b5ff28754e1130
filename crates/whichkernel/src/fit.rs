//! Fits text into the terminal: no line is wider, and no word of a command is broken.

use report::wrap;
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr;

/// Breaks lines that are wider than the terminal, and indents the continuation by two more columns. Coloured lines are
/// broken only at spaces.
pub fn fit(text: &str, width: Option<usize>) -> Cow<'_, str> {
    let Some(width) = width.filter(|width| *width >= 20 && text.lines().any(|line| visible(line) > *width)) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 64);
    for line in text.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        let indent = body.len() - body.trim_start_matches(' ').len();
        // A path that is longer than the line is not broken, because it could not be copied otherwise.
        let unbreakable = |word: &str| word.is_ascii() && visible(word) + indent + 2 > width;
        if visible(body) <= width || body.split(' ').any(unbreakable) {
            out.push_str(line);
            continue;
        }
        let indent = if indent + 2 > width / 2 { 0 } else { indent };
        // The first line has room for two more columns, but is broken at the same width to keep this simple.
        let room = width - indent - 2;
        for (at, part) in unbroken(body.trim_start_matches(' '), room).iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            out.push_str(&" ".repeat(if at > 0 { indent + 2 } else { indent }));
            out.push_str(part);
        }
        out.push_str(end);
    }
    Cow::Owned(out)
}

/// Wraps a command without breaking any word, even one longer than the line: a broken path could not be copied.
pub fn unbroken(text: &str, room: usize) -> Vec<String> {
    let long = |word: &str| word.is_ascii() && visible(word) > room;
    let has_long_word = text.is_ascii() && text.split(' ').any(long);
    if !text.contains('\u{1b}') && !has_long_word {
        return wrap(text, room);
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if visible(line) + 1 + visible(word) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The columns of a text without its colours (`ESC [ ... m`).
fn visible(text: &str) -> usize {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().map_or(0, UnicodeWidthStr::width);
    first + parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest).width()).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_and_no_word_is_lost() {
        let text = "short\n  a line that is much wider than the terminal, with some words\n\
                    長い日本語の行も端末の幅に収まるように折り返されます。\n\u{1b}[31mred words that are wider than the line\u{1b}[0m\n";
        let fitted = fit(text, Some(24));
        assert!(fitted.lines().all(|line| visible(line) <= 24), "{fitted}");
        assert!(fitted.starts_with("short\n  a line") && fitted.ends_with("\u{1b}[0m\n"), "{fitted}");
        let words = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        assert_eq!(words(&fitted), words(text));
        assert!(matches!(fit(text, None), Cow::Borrowed(_)) && matches!(fit("a\n", Some(24)), Cow::Borrowed(_)));
    }

    #[test]
    fn a_path_stays_whole() {
        let command = "run /a/very/long/path/that/is/wider/than/the/terminal --flag";
        assert_eq!(fit(command, Some(24)), command);
    }
}
