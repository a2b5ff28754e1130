//! `#if` and `#elif`: `defined`, integers, the operators, and names that nothing defines, which count as 0.

use super::files::LoadError;
use super::lex::{Kind, Tok, character, integer};
use super::preprocess::Preprocessor;
use super::sym::{self, Sym};

const MAX_DEPTH: usize = 200;

pub(super) fn evaluate(pp: &mut Preprocessor<'_>, line: &[Tok]) -> Result<bool, LoadError> {
    let mut ready = Vec::with_capacity(line.len());
    let mut toks = line.iter().peekable();
    while let Some(tok) = toks.next() {
        let number = |value: bool| Tok { kind: Kind::Number, sym: Sym(0), flags: u8::from(value), ..*tok };
        match tok.sym {
            sym::DEFINED if tok.kind == Kind::Ident => {
                let paren = toks.next_if(|tok| tok.is(sym::LPAREN)).is_some();
                let defined = toks.next().is_some_and(|name| pp.defined(name));
                if paren {
                    toks.next_if(|tok| tok.is(sym::RPAREN));
                }
                ready.push(number(defined));
            }
            // A compiler's features are not the sources' business: answered no, which all real uses guard for.
            sym::HAS_INCLUDE | sym::HAS_BUILTIN | sym::HAS_ATTRIBUTE | sym::HAS_CPP_ATTRIBUTE | sym::HAS_FEATURE => {
                let mut depth = 0usize;
                for tok in toks.by_ref() {
                    if tok.is(sym::LPAREN) {
                        depth += 1;
                    } else if tok.is(sym::RPAREN) {
                        depth = depth.saturating_sub(1);
                        if depth == 0 {
                            break;
                        }
                    }
                }
                ready.push(number(false));
            }
            _ => {
                if tok.kind == Kind::Ident && !pp.macros.table.contains_key(&tok.sym) {
                    pp.defined(tok);
                }
                ready.push(*tok);
            }
        }
    }
    let ready = pp.expand_list(&ready)?;
    let mut reader = Reader { pp, toks: &ready, at: 0 };
    Ok(reader.ternary(0) != 0)
}

struct Reader<'p, 'a, 't> {
    pp: &'p Preprocessor<'a>,
    toks: &'t [Tok],
    at: usize,
}

impl Reader<'_, '_, '_> {
    fn eat(&mut self, sym: Sym) -> bool {
        let is = self.toks.get(self.at).is_some_and(|tok| tok.is(sym));
        self.at += usize::from(is);
        is
    }

    fn ternary(&mut self, depth: usize) -> i64 {
        let condition = self.binary(0, depth);
        if !self.eat(sym::QUESTION) || depth > MAX_DEPTH {
            return condition;
        }
        let yes = self.ternary(depth + 1);
        self.eat(sym::COLON);
        let no = self.ternary(depth + 1);
        if condition != 0 { yes } else { no }
    }

    fn binary(&mut self, least: u8, depth: usize) -> i64 {
        let mut left = self.unary(depth);
        while let Some((op, level, width)) = self.operator() {
            if level < least || depth > MAX_DEPTH {
                break;
            }
            self.at += width;
            let right = self.binary(level + 1, depth + 1);
            left = apply(op, left, right);
        }
        left
    }

    /// `>` comes alone from the lexer: two of them are a shift.
    fn operator(&self) -> Option<(Sym, u8, usize)> {
        let tok = self.toks.get(self.at)?;
        if tok.kind != Kind::Punct {
            return None;
        }
        let double = self.toks.get(self.at + 1).is_some_and(|next| next.is(sym::GT) && next.off == tok.end());
        Some(match tok.sym {
            sym::OROR => (tok.sym, 1, 1),
            sym::ANDAND => (tok.sym, 2, 1),
            sym::PIPE => (tok.sym, 3, 1),
            sym::CARET => (tok.sym, 4, 1),
            sym::AMP => (tok.sym, 5, 1),
            sym::EQ | sym::NE => (tok.sym, 6, 1),
            sym::GT if double => (sym::INC, 8, 2),
            sym::LT | sym::GT | sym::LE | sym::GE => (tok.sym, 7, 1),
            sym::SHL => (tok.sym, 8, 1),
            sym::PLUS | sym::MINUS => (tok.sym, 9, 1),
            sym::STAR | sym::SLASH | sym::PERCENT => (tok.sym, 10, 1),
            _ => return None,
        })
    }

    fn unary(&mut self, depth: usize) -> i64 {
        let Some(&tok) = self.toks.get(self.at) else { return 0 };
        self.at += 1;
        if depth > MAX_DEPTH {
            return 0;
        }
        match (tok.kind, tok.sym) {
            (Kind::Punct, sym::NOT) => i64::from(self.unary(depth + 1) == 0),
            (Kind::Punct, sym::MINUS) => self.unary(depth + 1).wrapping_neg(),
            (Kind::Punct, sym::PLUS) => self.unary(depth + 1),
            (Kind::Punct, sym::TILDE) => !self.unary(depth + 1),
            (Kind::Punct, sym::LPAREN) => {
                let value = self.ternary(depth + 1);
                self.eat(sym::RPAREN);
                value
            }
            // What `defined` was replaced by: a number that stands in its own flags.
            (Kind::Number, Sym(0)) => i64::from(tok.flags & 1),
            (Kind::Number, sym) => integer(self.pp.interner.text(sym)).unwrap_or(0),
            (Kind::Char, sym) => character(self.pp.interner.text(sym)).unwrap_or(0),
            (Kind::Ident, sym::TRUE) => 1,
            (Kind::Ident, _) => {
                // A function-like name that nothing defines, with its arguments, is 0 as a whole.
                if self.toks.get(self.at).is_some_and(|tok| tok.is(sym::LPAREN)) {
                    self.at += 1;
                    self.ternary(depth + 1);
                    self.eat(sym::RPAREN);
                }
                0
            }
            _ => 0,
        }
    }
}

fn apply(op: Sym, left: i64, right: i64) -> i64 {
    match op {
        sym::OROR => i64::from(left != 0 || right != 0),
        sym::ANDAND => i64::from(left != 0 && right != 0),
        sym::PIPE => left | right,
        sym::CARET => left ^ right,
        sym::AMP => left & right,
        sym::EQ => i64::from(left == right),
        sym::NE => i64::from(left != right),
        sym::LT => i64::from(left < right),
        sym::GT => i64::from(left > right),
        sym::LE => i64::from(left <= right),
        sym::GE => i64::from(left >= right),
        sym::SHL => left.wrapping_shl(right as u32),
        sym::INC => left.wrapping_shr(right as u32),
        sym::PLUS => left.wrapping_add(right),
        sym::MINUS => left.wrapping_sub(right),
        sym::STAR => left.wrapping_mul(right),
        sym::SLASH => left.checked_div(right).unwrap_or(0),
        sym::PERCENT => left.checked_rem(right).unwrap_or(0),
        _ => 0,
    }
}
