//! Brackets and operators around a use of a variable, determined from tokens alone.

use crate::syntax::lex::Tok;
use crate::syntax::sym::{self, Sym};

/// Whether the function around a `return` returns a writable reference, as far as these tokens show.
pub(super) fn returns_reference(toks: &[Tok], at: usize) -> bool {
    let mut depth = 0usize;
    let mut here = at;
    while let Some(tok) = here.checked_sub(1).and_then(|before| toks.get(before)) {
        here -= 1;
        if tok.is(sym::RBRACE) {
            depth += 1;
        } else if tok.is(sym::LBRACE) && depth > 0 {
            depth -= 1;
        } else if tok.is(sym::LBRACE) {
            let ends = [sym::SEMI, sym::LBRACE, sym::RBRACE, sym::COLON, sym::ELSE, sym::DO, sym::TRY];
            let before = toks.get(..here).unwrap_or_default();
            let from = before.iter().rposition(|tok| ends.iter().any(|end| tok.is(*end))).map_or(0, |end| end + 1);
            let head = before.get(from..).unwrap_or_default();
            let Some(first) = head.first() else { continue };
            if [sym::IF, sym::FOR, sym::WHILE, sym::SWITCH, sym::CATCH].iter().any(|word| first.is(*word)) {
                continue;
            }
            // The head of `for (a; b; c) {` ends after its last semicolon, so it is not the head of a function.
            let opened = head.iter().filter(|tok| tok.is(sym::LPAREN)).count();
            if head.iter().filter(|tok| tok.is(sym::RPAREN)).count() > opened {
                continue;
            }
            // The part of `T & f(...)` and `[](...) -> T &` outside the parentheses.
            let mut nested = 0usize;
            let mut outside = head.iter().filter(|tok| {
                if tok.is(sym::LPAREN) || tok.is(sym::LBRACKET) {
                    nested += 1;
                } else if tok.is(sym::RPAREN) || tok.is(sym::RBRACKET) {
                    nested = nested.saturating_sub(1);
                }
                nested == 0
            });
            return outside.any(|tok| tok.is(sym::AMP) || tok.is(sym::ANDAND) || tok.is(sym::DECLTYPE));
        }
    }
    false
}

/// The position after the matching closing bracket.
pub(super) fn closing(toks: &[Tok], open: usize) -> usize {
    closing_of(toks, open, sym::LBRACKET, sym::RBRACKET)
}

pub(super) fn closing_of(toks: &[Tok], open: usize, opens: Sym, closes: Sym) -> usize {
    let mut depth = 0usize;
    for (at, tok) in toks.iter().enumerate().skip(open) {
        if tok.is(opens) {
            depth += 1;
        } else if tok.is(closes) {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at + 1;
            }
        }
    }
    toks.len()
}

pub(super) fn opening_of(toks: &[Tok], close: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, tok) in toks.get(..=close)?.iter().enumerate().rev() {
        if tok.is(sym::RPAREN) {
            depth += 1;
        } else if tok.is(sym::LPAREN) {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

pub(super) fn is_assignment(sym: Sym) -> bool {
    matches!(
        sym,
        sym::ASSIGN
            | sym::ADD_ASSIGN
            | sym::SUB_ASSIGN
            | sym::MUL_ASSIGN
            | sym::DIV_ASSIGN
            | sym::REM_ASSIGN
            | sym::AND_ASSIGN
            | sym::OR_ASSIGN
            | sym::XOR_ASSIGN
            | sym::SHL_ASSIGN
            | sym::INC
            | sym::DEC
    )
}

/// Whether a binary operator computes a number without changing its operands. `<` is excluded: it may open a template
/// argument list.
pub(super) fn computes(operator: Sym) -> bool {
    matches!(
        operator,
        sym::PLUS
            | sym::MINUS
            | sym::STAR
            | sym::SLASH
            | sym::PERCENT
            | sym::GT
            | sym::LE
            | sym::GE
            | sym::EQ
            | sym::NE
            | sym::ANDAND
            | sym::OROR
            | sym::AMP
            | sym::PIPE
            | sym::CARET
            | sym::SHL
    )
}
