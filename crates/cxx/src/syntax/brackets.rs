//! Finds matching brackets, and token ranges that can be expanded by themselves.

use super::lex::{Kind, Tok};
use super::sym::{self, Sym};

/// Whether tokens keep their structure, whatever the macros in them expand to. This requires that there is no directive
/// and no token pasting, that brackets match, and that no macro argument ends inside another bracket.
pub(crate) fn is_plain(toks: &[Tok]) -> bool {
    let mut open = Open::default();
    toks.iter().all(|tok| open.take(tok)) && open.brackets.is_empty()
}

/// The position of the bracket that matches the first token; None if the tokens between are not plain.
pub(crate) fn plain_end(toks: &[Tok]) -> Option<usize> {
    let mut open = Open::default();
    for (at, tok) in toks.iter().enumerate() {
        if !open.take(tok) {
            return None;
        }
        if open.brackets.is_empty() {
            return Some(at);
        }
    }
    None
}

/// The open brackets, and how many of them are parentheses.
#[derive(Default)]
struct Open {
    brackets: Vec<Sym>,
    parens: usize,
}

impl Open {
    /// Returns false if the tokens are not plain because of this one.
    fn take(&mut self, tok: &Tok) -> bool {
        if tok.kind != Kind::Punct {
            return true;
        }
        match tok.sym {
            open @ (sym::LPAREN | sym::LBRACE | sym::LBRACKET) => {
                self.parens += usize::from(open == sym::LPAREN);
                self.brackets.push(open);
                true
            }
            sym::RPAREN => {
                self.parens = self.parens.saturating_sub(1);
                self.brackets.pop() == Some(sym::LPAREN)
            }
            sym::RBRACE => self.brackets.pop() == Some(sym::LBRACE),
            sym::RBRACKET => self.brackets.pop() == Some(sym::LBRACKET),
            sym::COMMA => self.parens == 0 || self.brackets.last() == Some(&sym::LPAREN),
            sym::HASH | sym::PASTE => false,
            _ => true,
        }
    }
}

/// The position that closes the brace at `open`. Counts only braces.
pub(crate) fn close(toks: &[Tok], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, tok) in toks.iter().enumerate().skip(open) {
        depth += usize::from(tok.is(sym::LBRACE));
        if tok.is(sym::RBRACE) {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at;
            }
        }
    }
    toks.len()
}
