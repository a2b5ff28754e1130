//! CMake's syntax: commands with quoted, bracket or unquoted arguments.

use std::ops::Range;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct Command {
    /// The name in lower case, because CMake's command names are case-insensitive.
    pub name: String,
    pub line: usize,
    /// The text of the file, and the range between the command's parentheses. Most commands are skipped without parsing
    /// their arguments.
    text: Arc<str>,
    inside: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arg {
    pub text: String,
    /// Quoted arguments are never split into lists and never name variables in conditions.
    pub quoted: bool,
    /// Bracket arguments are not expanded at all.
    pub raw: bool,
}

/// An argument in its source form.
enum Written<'a> {
    Paren(&'a str),
    Bare(&'a str),
    /// Including the quotes.
    Quoted(&'a str),
    /// The text without the brackets.
    Bracket(&'a str),
}

pub fn parse(text: &Arc<str>) -> Vec<Command> {
    let mut reader = Reader { text, at: 0 };
    let (mut line, mut counted) = (1, 0);
    let mut commands = Vec::new();
    loop {
        reader.skip_space();
        let name = reader.word();
        if name.is_empty() {
            let Some(other) = reader.rest().chars().next() else { return commands };
            reader.at += other.len_utf8();
            continue;
        }
        reader.skip_space();
        if !reader.rest().starts_with('(') {
            continue;
        }
        let before = text.as_bytes().get(counted..reader.at).unwrap_or_default();
        line += memchr::memchr_iter(b'\n', before).count();
        counted = reader.at;
        reader.at += 1;
        let start = reader.at;
        let mut depth = 0;
        while reader.written(&mut depth).is_some() {}
        let inside = start..reader.at;
        commands.push(Command { name: name.to_ascii_lowercase(), line, text: text.clone(), inside });
    }
}

impl Command {
    pub fn args(&self) -> Vec<Arg> {
        let mut reader = Reader { text: self.text.get(..self.inside.end).unwrap_or_default(), at: self.inside.start };
        let mut depth = 0;
        let mut args = Vec::new();
        while let Some(written) = reader.written(&mut depth) {
            let (text, quoted, raw) = match written {
                Written::Paren(text) | Written::Bare(text) => (text.to_owned(), false, false),
                Written::Quoted(text) => (unquoted(text), true, false),
                Written::Bracket(text) => (text.to_owned(), true, true),
            };
            args.push(Arg { text, quoted, raw });
        }
        args
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Takes the next `count` bytes.
    fn take(&mut self, count: usize) -> &'a str {
        let taken = self.rest().get(..count).unwrap_or_default();
        self.at += taken.len();
        taken
    }

    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            let Some(comment) = rest.strip_prefix('#') else { return };
            self.at += match bracket(comment) {
                Some((_, end)) => end + 1,
                None => memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len()),
            };
        }
    }

    fn word(&mut self) -> &'a str {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let end = self.rest().bytes().take_while(|byte| is_word(byte)).count();
        self.take(end)
    }

    /// The next argument; None after the closing parenthesis and at the end of the text.
    fn written(&mut self, depth: &mut usize) -> Option<Written<'a>> {
        self.skip_space();
        let rest = self.rest();
        match rest.bytes().next()? {
            b')' if *depth == 0 => {
                self.at += 1;
                None
            }
            paren @ (b'(' | b')') => {
                *depth = if paren == b'(' { *depth + 1 } else { *depth - 1 };
                Some(Written::Paren(self.take(1)))
            }
            b'"' => Some(Written::Quoted(self.take(quoted(rest)))),
            _ => {
                if let Some((text, end)) = bracket(rest) {
                    self.at += end;
                    return Some(Written::Bracket(text));
                }
                // Always take at least one character.
                let end = bare(rest).max(rest.chars().next().map_or(1, char::len_utf8));
                Some(Written::Bare(self.take(end)))
            }
        }
    }
}

/// `[==[ ... ]==]`: its text and where it ends.
fn bracket(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix('[')?;
    let equals = rest.len() - rest.trim_start_matches('=').len();
    let body = rest.get(equals..)?.strip_prefix('[')?;
    let close = format!("]{}]", "=".repeat(equals));
    let at = body.find(&close)?;
    Some((body.get(..at)?, 2 + equals + at + close.len()))
}

/// The length of a quoted argument, including its quotes.
fn quoted(text: &str) -> usize {
    let mut at = 1;
    while let Some(next) = text.as_bytes().get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += next + 1;
        if text.as_bytes().get(at - 1) == Some(&b'"') {
            return at;
        }
        // Skip the character after a backslash.
        at += text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
    }
    text.len()
}

fn unquoted(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().skip(1);
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => break,
            },
            _ => out.push(c),
        }
    }
    out
}

/// The length of an unquoted argument; quotes inside it (`-DX="y"`) keep spaces together.
fn bare(text: &str) -> usize {
    let mut inside = false;
    let blank = |at: usize| text.get(at..).is_some_and(|rest| rest.starts_with(char::is_whitespace));
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => inside = !inside,
            _ if inside => {}
            b'(' | b')' | b'#' | b' ' | b'\t'..=b'\r' => return at,
            0x80.. if blank(at) => return at,
            _ => {}
        }
    }
    text.len()
}
