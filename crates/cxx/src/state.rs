//! State that outlives a call: a variable that anything in its unit writes to holds, when a dispatch comes, whatever was written
//! last, which no reading of the sources can tell. What it starts with is no answer.

use crate::ast::{Function, INTERNAL};
use crate::files::Span;
use crate::lex::{Kind, Tok};
use crate::parse::Global;
use crate::program::Program;
use crate::sym::{self, Sym};

/// Of `std`: what changes the variables that it is given.
const CHANGERS: &[&str] = &["swap", "exchange", "tie", "ref", "call_once", "iota", "fill", "sort"];

impl Program {
    /// Where a global is written to; None where nothing that can see it does.
    pub fn write_of_global(&self, global: &Global) -> Option<Span> {
        *global.written.get_or_init(|| self.find_write(global))
    }

    fn find_write(&self, global: &Global) -> Option<Span> {
        if global.fixed || self.dialect().settled.contains(&self.text(global.name)) {
            return None;
        }
        let own = self.write_in_unit(global.unit, global.name, global.span);
        if global.internal {
            return own;
        }
        let others = (0..self.unit_count()).filter(|&unit| unit != global.unit);
        own.or_else(|| others.into_iter().find_map(|unit| self.write_in_unit(unit, global.name, global.span)))
    }

    /// Where a static variable of a function is written to.
    pub fn write_of_static(&self, function: Option<&Function>, unit: u32, name: Sym, declared: Span) -> Option<Span> {
        match function {
            Some(function) => self.first_write(self.body_toks(function), name, declared),
            None => self.write_in_unit(unit, name, declared),
        }
    }

    fn write_in_unit(&self, unit: u32, name: Sym, declared: Span) -> Option<Span> {
        self.look_for(name);
        self.stretches(unit, name).find_map(|toks| self.first_write(toks, name, declared))
    }

    fn first_write(&self, toks: &[Tok], name: Sym, declared: Span) -> Option<Span> {
        let mentions = toks.iter().enumerate().filter(|(_, tok)| tok.sym == name && tok.kind == Kind::Ident);
        let own = |tok: &Tok| tok.file == declared.file && tok.off >= declared.start && tok.off < declared.end;
        mentions.into_iter().find(|(at, tok)| !own(tok) && self.writes(toks, *at)).map(|(_, tok)| Span::of(tok))
    }

    pub(crate) fn writes(&self, toks: &[Tok], at: usize) -> bool {
        let before = |by: usize| at.checked_sub(by).and_then(|at| toks.get(at));
        let is = |tok: Option<&Tok>, sym: Sym| tok.is_some_and(|tok| tok.is(sym));
        let prev = before(1);
        if is(prev, sym::DOT) || is(prev, sym::ARROW) || self.declares(prev) {
            return false;
        }
        if is(prev, sym::INC) || is(prev, sym::DEC) {
            return true;
        }
        // Its address is given away; `a & x` takes none.
        if is(prev, sym::AMP) && !before(2).is_some_and(|tok| self.is_operand(tok)) {
            return true;
        }
        let mut end = at + 1;
        while let Some(tok) = toks.get(end) {
            match tok.sym {
                sym::DOT | sym::ARROW if tok.kind == Kind::Punct => end += 2,
                sym::LBRACKET if tok.kind == Kind::Punct => end = closing(toks, end),
                // A method may change its object.
                sym::LPAREN if tok.kind == Kind::Punct && end > at + 1 => return true,
                _ => break,
            }
        }
        let next = toks.get(end);
        if next.is_some_and(|tok| tok.kind == Kind::Punct && is_assignment(tok.sym)) {
            return true;
        }
        let argument =
            (is(prev, sym::LPAREN) || is(prev, sym::COMMA)) && (is(next, sym::RPAREN) || is(next, sym::COMMA));
        argument && self.given_by_reference(toks, at)
    }

    /// Whether a name follows a type: then it is declared anew.
    fn declares(&self, prev: Option<&Tok>) -> bool {
        let Some(prev) = prev.filter(|prev| prev.kind == Kind::Ident) else { return false };
        let types =
            [sym::INT, sym::BOOL, sym::LONG, sym::SHORT, sym::CHAR, sym::FLOAT, sym::DOUBLE, sym::UNSIGNED, sym::AUTO];
        types.contains(&prev.sym) || prev.sym == sym::CONST || !self.interner.is_keyword(prev.sym)
    }

    fn is_operand(&self, tok: &Tok) -> bool {
        match tok.kind {
            Kind::Ident => !self.interner.is_keyword(tok.sym),
            Kind::Punct => tok.is(sym::RPAREN) || tok.is(sym::RBRACKET),
            _ => true,
        }
    }

    /// An argument of a call: by what the callee declares, or by its name where it is the library's.
    fn given_by_reference(&self, toks: &[Tok], at: usize) -> bool {
        let (mut depth, mut position, mut open) = (0usize, 0usize, at);
        while let Some(tok) = open.checked_sub(1).and_then(|before| toks.get(before)) {
            open -= 1;
            if tok.is(sym::RPAREN) {
                depth += 1;
            } else if tok.is(sym::LPAREN) {
                if depth == 0 {
                    break;
                }
                depth -= 1;
            } else if tok.is(sym::COMMA) && depth == 0 {
                position += 1;
            } else if tok.is(sym::SEMI) || tok.is(sym::LBRACE) {
                return false;
            }
        }
        let Some(callee) = open.checked_sub(1).and_then(|before| toks.get(before)) else { return false };
        let by_reference = |function: &Function| {
            function.params.get(position).is_some_and(|param| param.ty.reference && !param.ty.constant)
        };
        let mut declared = self.overloads(callee.sym).iter().filter_map(|&index| self.function(index));
        declared.any(by_reference) || CHANGERS.contains(&self.text(callee.sym))
    }
}

fn closing(toks: &[Tok], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, tok) in toks.iter().enumerate().skip(open) {
        if tok.is(sym::LBRACKET) {
            depth += 1;
        } else if tok.is(sym::RBRACKET) {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at + 1;
            }
        }
    }
    toks.len()
}

fn is_assignment(sym: Sym) -> bool {
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

impl Function {
    pub fn is_internal(&self) -> bool {
        self.attrs & INTERNAL != 0
    }
}
