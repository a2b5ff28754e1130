//! Tokens of C, C++ and CUDA: names, numbers, strings and punctuation, each with its line. Macros are not expanded.
//!
//! Comments are dropped, except those that name a slot of a table (`/* .graph_compute = */`). All `#if` branches are
//! kept if each closes the braces that it opens. Otherwise only the first branch is kept, because the code after it
//! could not be read correctly.

use crate::index::Remap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    Name,
    Number,
    Text,
    Mark,
    /// A comment that names a slot: its text is the slot's name.
    Slot,
}

#[derive(Debug, Clone, Copy)]
pub struct Token<'s> {
    pub word: Word,
    pub text: &'s str,
    pub line: u32,
}

/// The tokens of a file, and the renamings made by `#define`.
pub fn lex(source: &str) -> (Vec<Token<'_>>, Vec<(String, Remap)>) {
    let mut lexer = Lexer { source, bytes: source.as_bytes(), at: 0, line: 1, out: Vec::new(), remaps: Vec::new() };
    let mut branches = Vec::new();
    lexer.run(&mut branches);
    (lexer.out, lexer.remaps)
}

/// An open `#if`: where its first branch began, and how many braces that branch left open.
struct Branch {
    start: usize,
    first: Option<i64>,
}

struct Lexer<'s> {
    source: &'s str,
    bytes: &'s [u8],
    at: usize,
    line: u32,
    out: Vec<Token<'s>>,
    remaps: Vec<(String, Remap)>,
}

/// Punctuation of more than one byte that the reader needs, longest first.
const MARKS: [&str; 8] = ["<<<", ">>>", "->", "::", "&&", "||", "==", "!="];

impl<'s> Lexer<'s> {
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn run(&mut self, branches: &mut Vec<Branch>) {
        let mut fresh = true;
        while self.at < self.bytes.len() {
            let byte = self.byte(0);
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.at += 1;
                    fresh = true;
                    continue;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' => self.at += 1,
                b'/' if self.byte(1) == b'/' => self.skip_line(),
                b'/' if self.byte(1) == b'*' => self.comment(),
                b'#' if fresh => self.directive(branches),
                b'"' => self.text(b'"'),
                b'\'' => self.text(b'\''),
                b'R' if self.byte(1) == b'"' => self.raw(),
                b'0'..=b'9' => {
                    self.take(Word::Number, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'\''))
                }
                _ if byte.is_ascii_alphabetic() || byte == b'_' => {
                    self.take(Word::Name, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
                }
                _ => self.mark(),
            }
            fresh = fresh && matches!(byte, b' ' | b'\t' | b'\r' | b'/');
        }
    }

    fn push(&mut self, word: Word, from: usize, to: usize, line: u32) {
        if let Some(text) = self.source.get(from..to) {
            self.out.push(Token { word, text, line });
        }
    }

    fn take(&mut self, word: Word, belongs: fn(u8) -> bool) {
        let from = self.at;
        while self.at < self.bytes.len() && belongs(self.byte(0)) {
            self.at += 1;
        }
        self.push(word, from, self.at, self.line);
    }

    fn mark(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = MARKS.iter().find(|mark| rest.starts_with(mark.as_bytes())).map_or(1, |mark| mark.len());
        self.push(Word::Mark, self.at, self.at + length, self.line);
        self.at += length;
    }

    fn skip_line(&mut self) {
        while self.at < self.bytes.len() && self.byte(0) != b'\n' {
            // A line continuation.
            if self.byte(0) == b'\\' && self.byte(1) == b'\n' {
                self.line += 1;
                self.at += 1;
            }
            self.at += 1;
        }
    }

    fn comment(&mut self) {
        let (from, line) = (self.at, self.line);
        let rest = self.source.get(from + 2..).unwrap_or_default();
        let end = rest.find("*/").map_or(self.bytes.len(), |at| from + 2 + at + 2);
        let inside = self.source.get(from + 2..end.saturating_sub(2).max(from + 2)).unwrap_or_default();
        self.line += u32::try_from(inside.matches('\n').count()).unwrap_or(0);
        self.at = end;
        let slot = inside.trim().strip_prefix('.').and_then(|slot| slot.trim_end().strip_suffix('=')).map(str::trim);
        if let Some(slot) = slot.filter(|slot| is_name(slot)) {
            self.out.push(Token { word: Word::Slot, text: slot, line });
        }
    }

    fn text(&mut self, quote: u8) {
        let (from, line) = (self.at, self.line);
        self.at += 1;
        while self.at < self.bytes.len() && self.byte(0) != quote && self.byte(0) != b'\n' {
            self.at += if self.byte(0) == b'\\' { 2 } else { 1 };
        }
        self.at = (self.at + 1).min(self.bytes.len());
        self.push(Word::Text, from, self.at, line);
    }

    /// Reads a raw string: `R"delimiter( ... )delimiter"`.
    fn raw(&mut self) {
        let (from, line) = (self.at, self.line);
        let rest = self.source.get(from + 2..).unwrap_or_default();
        let Some(open) = rest.find('(').filter(|&at| at <= 16) else {
            self.at += 1;
            return;
        };
        let close = format!("){}\"", rest.get(..open).unwrap_or_default());
        let end = rest.find(&close).map_or(self.bytes.len(), |at| from + 2 + at + close.len());
        let inside = self.source.get(from..end).unwrap_or_default();
        self.line += u32::try_from(inside.matches('\n').count()).unwrap_or(0);
        self.at = end;
        self.push(Word::Text, from, end, line);
    }

    fn directive(&mut self, branches: &mut Vec<Branch>) {
        let (from, line) = (self.at + 1, self.line);
        self.skip_line();
        let text = self.source.get(from..self.at).unwrap_or_default().trim();
        let (name, rest) = text.split_once(|c: char| c.is_whitespace() || c == '(').unwrap_or((text, ""));
        match name {
            "if" | "ifdef" | "ifndef" => branches.push(Branch { start: self.out.len(), first: None }),
            "else" | "elif" | "endif" => {
                if let Some(open) = branches.last_mut() {
                    let braces = braces(self.out.get(open.start..).unwrap_or_default());
                    match open.first {
                        None => open.first = Some(braces),
                        // The branches open or close different blocks: keep only the first.
                        Some(first) if first != 0 || braces != 0 => self.out.truncate(open.start),
                        Some(_) => {}
                    }
                    open.start = self.out.len();
                }
                if name == "endif" {
                    branches.pop();
                }
            }
            "define" => {
                let (from, to) = rest.trim().split_once(char::is_whitespace).unwrap_or_default();
                let to = to.split("//").next().unwrap_or("").trim();
                if is_name(from) && is_name(to) {
                    self.remaps.push((from.to_owned(), Remap { to: to.to_owned(), file: 0, line }));
                }
            }
            _ => {}
        }
    }
}

fn braces(tokens: &[Token]) -> i64 {
    let of = |token: &Token| match token.text {
        "{" if token.word == Word::Mark => 1,
        "}" if token.word == Word::Mark => -1,
        _ => 0,
    };
    tokens.iter().map(of).sum()
}

/// Whether a text is a name rather than a number or an expression.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_') && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<(&str, u32)> {
        lex(source).0.iter().map(|token| (token.text, token.line)).collect()
    }

    #[test]
    fn lines_survive_comments_strings_and_directives() {
        let source = "a /* x\n y */ b // c\n#define X \\\n 1\n\"s\\\"t\" R\"(q\n)\" d";
        assert_eq!(words(source), [("a", 1), ("b", 2), ("\"s\\\"t\"", 5), ("R\"(q\n)\"", 5), ("d", 6)]);
    }

    #[test]
    fn branches_that_open_different_braces_count_once() {
        assert_eq!(words("#if A\nif (x) {\n#else\nif (y) {\n#endif\n}").len(), 6);
        assert_eq!(words("#if A\nf();\n#else\ng();\n#endif").len(), 8);
    }

    #[test]
    fn a_comment_that_names_a_slot_stays() {
        let (tokens, _) = lex("{ /* .graph_compute = */ f, /* other */ g }");
        assert_eq!(
            tokens.iter().filter(|token| token.word == Word::Slot).map(|it| it.text).collect::<Vec<_>>(),
            ["graph_compute"]
        );
    }

    #[test]
    fn only_a_name_for_a_name_is_a_remap() {
        let (_, remaps) = lex("#define cublasCreate hipblasCreate\n#define N 4\n#define F(x) g(x)\n");
        assert_eq!(
            remaps.iter().map(|(from, to)| (from.as_str(), to.to.as_str())).collect::<Vec<_>>(),
            [("cublasCreate", "hipblasCreate")]
        );
    }
}
