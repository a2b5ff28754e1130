//! External text (names in files, log lines, server answers, ledger entries), made safe for printing.
//!
//! A control character in a kernel's name could recolour a terminal, set its title, fill its clipboard or hide a line;
//! a direction mark could reverse a sentence. They are shown as `\u001b`: the same escape as in JSON, so that text,
//! CSV, Markdown and JSON agree.

use std::borrow::Cow;
use std::fmt::Write;

/// The text on one line, with all control characters, direction marks and line breaks escaped.
pub fn plain(text: &str) -> Cow<'_, str> {
    escaped(text, |_| None)
}

/// The last check before printing: escapes what is left. Line breaks and tabs stay and, if `styled`, so do the
/// sequences that this program writes: colours, and clearing the screen.
pub fn guarded(text: &str, styled: bool) -> Cow<'_, str> {
    escaped(text, |rest| match rest.as_bytes() {
        [b'\n' | b'\t', ..] => Some(1),
        [0x1b, b'[', after @ ..] if styled => {
            let numbers = after.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
            matches!(after.get(numbers), Some(b'm' | b'H' | b'J' | b'K')).then_some(numbers + 3)
        }
        _ => None,
    })
}

/// `keep` returns how many of the following bytes may stay unchanged.
fn escaped(text: &str, keep: impl Fn(&str) -> Option<usize>) -> Cow<'_, str> {
    // Nearly all text is harmless and may have a hundred megabytes: check bytes first, and characters only if a byte is
    // doubtful.
    if !text.bytes().any(|byte| byte < 0x20 || byte == 0x7f || byte == 0xc2 || byte == 0xe2) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut done = 0;
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if !is_unfit(c) {
            at += c.len_utf8();
            continue;
        }
        if let Some(kept) = text.get(at..).and_then(&keep) {
            at += kept;
            continue;
        }
        out.push_str(text.get(done..at).unwrap_or_default());
        let _ = match c {
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            c => write!(out, "\\u{:04x}", u32::from(c)),
        };
        at += c.len_utf8();
        done = at;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// C0, DEL and C1; separators of lines and paragraphs; marks of writing direction (UAX #9).
fn is_unfit(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_instead() {
        assert_eq!(plain("a\u{1b}]0;x\u{7}b\u{9b}1mc\u{202e}d\n"), "a\\u001b]0;x\\u0007b\\u009b1mc\\u202ed\\n");
        assert!(matches!(plain("mul_mat_q<Q4_K> カーネル é “x”"), Cow::Borrowed(_)));
    }

    #[test]
    fn the_last_look_leaves_lines_and_our_own_colours() {
        assert_eq!(guarded("a\tb\n\u{1b}[1;31mc\u{1b}[0m\n", true), "a\tb\n\u{1b}[1;31mc\u{1b}[0m\n");
        assert_eq!(guarded("\u{1b}[1;31mc", false), "\\u001b[1;31mc");
        assert_eq!(guarded("\u{1b}]52;c;eA==\u{7}\u{1b}[6n", true), "\\u001b]52;c;eA==\\u0007\\u001b[6n");
    }

    #[test]
    fn what_is_escaped_in_json_is_still_that_string() {
        let value = serde_json::json!({ "name": "a\u{9b}b\u{1b}" });
        let text = guarded(&value.to_string(), false).into_owned();
        assert!(text.is_ascii(), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok(), Some(value));
    }
}
