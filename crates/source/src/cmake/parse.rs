//! CMake's syntax: commands with arguments, in quotes, brackets or bare.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Lower case: CMake's command names have no case.
    pub name: String,
    pub args: Vec<Arg>,
    pub line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arg {
    pub text: String,
    /// Quoted arguments are never split into lists and never name variables in conditions.
    pub quoted: bool,
    /// Bracket arguments are not expanded at all.
    pub raw: bool,
}

pub fn parse(text: &str) -> Vec<Command> {
    let mut reader = Reader { rest: text, line: 1 };
    let mut commands = Vec::new();
    loop {
        reader.skip_space();
        let name = reader.word();
        if name.is_empty() {
            if !reader.advance(1) {
                return commands;
            }
            continue;
        }
        reader.skip_space();
        if !reader.rest.starts_with('(') {
            continue;
        }
        let line = reader.line;
        reader.advance(1);
        let args = reader.args();
        commands.push(Command { name: name.to_ascii_lowercase(), args, line });
    }
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Reader<'a> {
    /// Over `count` bytes (to the next boundary); false at the end.
    fn advance(&mut self, count: usize) -> bool {
        let mut at = count.min(self.rest.len());
        while !self.rest.is_char_boundary(at) {
            at += 1;
        }
        let (taken, rest) = self.rest.split_at(at);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        at > 0
    }

    fn skip_space(&mut self) {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.advance(blank);
            if !self.rest.starts_with('#') {
                return;
            }
            let end = match bracket(self.rest.get(1..).unwrap_or_default()) {
                Some((_, end)) => end + 1,
                None => self.rest.find('\n').unwrap_or(self.rest.len()),
            };
            self.advance(end);
        }
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let word = self.rest.get(..end).unwrap_or_default();
        self.advance(end);
        word
    }

    fn args(&mut self) -> Vec<Arg> {
        let mut args = Vec::new();
        let mut depth = 0usize;
        loop {
            self.skip_space();
            let Some(first) = self.rest.chars().next() else { return args };
            match first {
                ')' if depth == 0 => {
                    self.advance(1);
                    return args;
                }
                '(' | ')' => {
                    depth = if first == '(' { depth + 1 } else { depth - 1 };
                    args.push(Arg { text: first.to_string(), quoted: false, raw: false });
                    self.advance(1);
                }
                '"' => {
                    let (text, end) = quoted(self.rest);
                    args.push(Arg { text, quoted: true, raw: false });
                    self.advance(end);
                }
                _ => {
                    if let Some((text, end)) = bracket(self.rest) {
                        args.push(Arg { text, quoted: true, raw: true });
                        self.advance(end);
                        continue;
                    }
                    let end = bare(self.rest);
                    args.push(Arg {
                        text: self.rest.get(..end).unwrap_or_default().to_owned(),
                        quoted: false,
                        raw: false,
                    });
                    if !self.advance(end.max(1)) {
                        return args;
                    }
                }
            }
        }
    }
}

/// `[==[ ... ]==]`: its text and where it ends.
fn bracket(text: &str) -> Option<(String, usize)> {
    let rest = text.strip_prefix('[')?;
    let equals = rest.len() - rest.trim_start_matches('=').len();
    let body = rest.get(equals..)?.strip_prefix('[')?;
    let close = format!("]{}]", "=".repeat(equals));
    let at = body.find(&close)?;
    Some((body.get(..at)?.to_owned(), 2 + equals + at + close.len()))
}

fn quoted(text: &str) -> (String, usize) {
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (out, at + 1),
            '\\' => match chars.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, other)) => out.push(other),
                None => break,
            },
            _ => out.push(c),
        }
    }
    (out, text.len())
}

/// A bare argument; quotes inside it (`-DX="y"`) keep blanks together.
fn bare(text: &str) -> usize {
    let mut inside = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => inside = !inside,
            _ if inside => {}
            '(' | ')' | '#' => return at,
            _ if c.is_whitespace() => return at,
            _ => {}
        }
    }
    text.len()
}
