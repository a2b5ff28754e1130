//! The tokens of a file with matched brackets, and queries for reading declarations.

use super::lex::{Token, Word};

pub struct Tokens<'s> {
    list: Vec<Token<'s>>,
    /// The matching bracket of each bracket; its own position if it has none.
    other: Vec<u32>,
}

/// The position of a function's name, and of its parameters' brackets.
pub struct Signature {
    pub name: usize,
    pub open: usize,
    pub close: usize,
}

/// Words followed by parentheses that are not functions.
const DECORATION: [&str; 10] = [
    "__attribute__",
    "__launch_bounds__",
    "alignas",
    "decltype",
    "noexcept",
    "__declspec",
    "requires",
    "sizeof",
    "void",
    "explicit",
];
/// Words that may appear between a function's parameters and its body.
const AFTER: [&str; 9] = ["const", "noexcept", "override", "final", "try", "volatile", "mutable", "requires", "throw"];

impl<'s> Tokens<'s> {
    pub fn new(list: Vec<Token<'s>>) -> Tokens<'s> {
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let mut other: Vec<u32> = (0..list.len()).map(number).collect();
        let mut open: Vec<usize> = Vec::new();
        for (at, token) in list.iter().enumerate().filter(|(_, token)| token.word == Word::Mark) {
            let wanted = match token.text {
                "(" | "[" | "{" => {
                    open.push(at);
                    continue;
                }
                ")" => "(",
                "]" => "[",
                "}" => "{",
                _ => continue,
            };
            // A closing brace also closes brackets left open inside it; any other bracket closes only its own kind.
            let text = |at: &usize| list.get(*at).map_or("", |token| token.text);
            let found = match open.last() {
                Some(last) if text(last) == wanted => Some(open.len() - 1),
                _ if wanted == "{" => open.iter().rposition(|at| text(at) == wanted),
                _ => None,
            };
            let Some(found) = found else { continue };
            let begin = open.get(found).copied().unwrap_or(at);
            open.truncate(found);
            if let Some(slot) = other.get_mut(begin) {
                *slot = number(at);
            }
            if let Some(slot) = other.get_mut(at) {
                *slot = number(begin);
            }
        }
        Tokens { list, other }
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn text(&self, at: usize) -> &'s str {
        self.list.get(at).map_or("", |token| token.text)
    }

    pub fn word(&self, at: usize) -> Option<Word> {
        self.list.get(at).map(|token| token.word)
    }

    pub fn is_name(&self, at: usize) -> bool {
        self.word(at) == Some(Word::Name)
    }

    pub fn line(&self, at: usize) -> u32 {
        self.list.get(at).map_or(0, |token| token.line)
    }

    /// The matching bracket; the same position if there is none.
    pub fn close(&self, at: usize) -> usize {
        self.other.get(at).map_or(at, |&other| other as usize)
    }

    /// The positions in a range that are not inside a bracket opened in it.
    pub fn top(&self, from: usize, to: usize) -> impl Iterator<Item = usize> {
        let mut at = from;
        std::iter::from_fn(move || {
            let here = at;
            if here >= to {
                return None;
            }
            at = match self.text(here) {
                "(" | "[" | "{" if self.close(here) > here => self.close(here),
                _ => here + 1,
            };
            Some(here)
        })
    }

    /// The position after the `>` that closes the `<` here; None if it is a comparison.
    pub fn angles(&self, at: usize) -> Option<usize> {
        let mut depth = 0i32;
        let mut here = at;
        while here < self.len() && here < at + 200 {
            match self.text(here) {
                "<" => depth += 1,
                ">" => depth -= 1,
                ">>>" => depth -= 3,
                ";" | "{" | "}" | "&&" | "||" | "<<<" => return None,
                "(" | "[" if self.close(here) > here => here = self.close(here),
                ")" | "]" => return None,
                _ => {}
            }
            here += 1;
            if depth <= 0 {
                return Some(here);
            }
        }
        None
    }

    /// The `<` of the template arguments that end before `after`.
    fn angles_back(&self, after: usize) -> Option<usize> {
        let mut depth = 0i32;
        for at in (after.saturating_sub(200)..after).rev() {
            match self.text(at) {
                ">" => depth += 1,
                ">>>" => depth += 3,
                "<" => depth -= 1,
                ";" | "{" | "}" => return None,
                _ => {}
            }
            if depth <= 0 {
                return Some(at);
            }
        }
        None
    }

    /// The function declared between two positions: the first name with brackets that is not a decoration.
    pub fn signature(&self, from: usize, to: usize) -> Option<Signature> {
        for open in self.top(from, to).filter(|&at| self.text(at) == "(" && at > from) {
            let mut name = open - 1;
            if self.text(name) == ">" {
                name = self.angles_back(open)?.checked_sub(1).filter(|&at| at >= from)?;
            }
            let operator = (from..open).rev().take(4).find(|&at| self.text(at) == "operator");
            let name = operator.unwrap_or(name);
            if !self.is_name(name) || DECORATION.contains(&self.text(name)) {
                continue;
            }
            let close = self.close(open);
            let after = close + 1;
            let operator_call = operator.is_some() && self.text(after) == "(";
            let body = after >= to
                || operator_call
                || AFTER.contains(&self.text(after))
                || matches!(self.text(after), ":" | "->" | "=");
            if body && close > open {
                // In `operator()(...)`, the second pair of parentheses has the parameters.
                let open = if operator_call { after } else { open };
                return Some(Signature { name, open, close: self.close(open) });
            }
        }
        None
    }

    /// The index at which a path such as `a::b<c>::name` begins.
    pub fn start_of_path(&self, name: usize) -> usize {
        let mut at = name;
        while at >= 2 && self.text(at - 1) == "::" {
            let before = at - 2;
            at = match self.text(before) {
                ">" => self.angles_back(before + 1).and_then(|open| open.checked_sub(1)).unwrap_or(before),
                _ => before,
            };
        }
        if at >= 1 && self.text(at - 1) == "~" { at - 1 } else { at }
    }

    /// The last qualifier and the name of the path that ends here: `llama_context`, `decode`.
    pub fn qualified(&self, name: usize) -> (String, String) {
        let before = if self.text(name.wrapping_sub(1)) == "~" { name - 1 } else { name };
        let text = format!("{}{}", if before < name { "~" } else { "" }, self.text(name));
        if before < 2 || self.text(before - 1) != "::" {
            return (String::new(), text);
        }
        let at = match self.text(before - 2) {
            ">" => self.angles_back(before - 1).and_then(|open| open.checked_sub(1)).unwrap_or(before - 2),
            _ => before - 2,
        };
        (self.text(at).to_owned(), text)
    }

    /// The tokens of a range as text, with names separated.
    pub fn joined(&self, from: usize, to: usize) -> String {
        let mut out = String::new();
        let mut name = false;
        for at in from..to.min(from + 64) {
            let is = self.is_name(at);
            if is && name {
                out.push(' ');
            }
            name = is;
            out.push_str(self.text(at));
        }
        out
    }
}
