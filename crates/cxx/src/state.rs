//! State that outlives a call: a variable that anything in its unit writes to holds, when a dispatch comes, whatever was written
//! last, which no reading of the sources can tell. What it starts with is no answer.

use crate::ast::{Base, Function, INTERNAL};
use crate::files::Span;
use crate::lex::{Kind, Tok};
use crate::parse::Global;
use crate::program::Program;
use crate::sym::{self, Sym};

/// Of `std`: what changes the variables that it is given.
const CHANGERS: &[&str] = &[
    "swap",
    "exchange",
    "tie",
    "ref",
    "call_once",
    "iota",
    "fill",
    "sort",
    "memcpy",
    "memset",
    "memmove",
    "strcpy",
    "strncpy",
    "snprintf",
    "sprintf",
    "sscanf",
    "copy",
    "copy_n",
    "transform",
    "for_each",
    "addressof",
];

impl Program {
    /// Where a global is written to; None where nothing that can see it does.
    pub fn write_of_global(&self, global: &Global) -> Option<Span> {
        *global.written.get_or_init(|| self.find_write(global))
    }

    fn find_write(&self, global: &Global) -> Option<Span> {
        if global.fixed || self.dialect().settled.contains(&self.text(global.name)) {
            return None;
        }
        // Units that nobody has read may write to what they can see.
        match global.internal {
            true => self.write_in_unit(global.unit, global.name, global.span).or_else(|| self.given_out(global)),
            false => Some(global.span),
        }
    }

    /// A function that returns a reference to it lets anybody write there.
    fn given_out(&self, global: &Global) -> Option<Span> {
        let returns = |pair: &[Tok]| matches!(pair, [a, b] if a.is(sym::RETURN) && b.sym == global.name);
        let gives = |function: &&Function| {
            function.unit == global.unit && function.ret.reference && !function.ret.constant && function.body.is_some()
        };
        let mut givers = self.functions.iter().filter(gives);
        givers.find(|function| self.body_toks(function).windows(2).any(returns)).map(|function| function.span)
    }

    /// Where a static variable of a function is written to.
    pub fn write_of_static(&self, function: Option<&Function>, unit: u32, name: Sym, declared: Span) -> Option<Span> {
        match function {
            Some(function) => {
                let toks = self.body_toks(function);
                let given = function.ret.reference && !function.ret.constant;
                let returns = |pair: &[Tok]| matches!(pair, [a, b] if a.is(sym::RETURN) && b.sym == name);
                match given.then(|| toks.windows(2).find(|pair| returns(pair))).flatten() {
                    // Whoever calls it can write there.
                    Some(pair) => pair.first().map(Span::of),
                    None => self.first_write(toks, name, declared),
                }
            }
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
        // `int & r = a`, `int * p = a`, `for (int & r : a)`: it is written to under another name, where that is not const.
        if (is(prev, sym::ASSIGN) || is(prev, sym::COLON) || is(prev, sym::LBRACE))
            && (is(before(3), sym::AMP) || is(before(3), sym::STAR) || is(before(3), sym::ANDAND))
            && before(2).is_some_and(|tok| tok.kind == Kind::Ident)
            && !self.is_constant(toks, at)
        {
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
        // `(a) = 1`: what stands around it in parentheses.
        let (mut first, mut end) = (at, end);
        while is(first.checked_sub(1).and_then(|at| toks.get(at)), sym::LPAREN)
            && is(toks.get(end), sym::RPAREN)
            && !first
                .checked_sub(2)
                .and_then(|at| toks.get(at))
                .is_some_and(|tok| self.is_operand(tok) || tok.kind == Kind::Ident)
        {
            (first, end) = (first - 1, end + 1);
        }
        let next = toks.get(end);
        // `>>=` comes in two.
        if is(next, sym::GT) && is(toks.get(end + 1), sym::GE) {
            return true;
        }
        // `in >> a`.
        if is(prev, sym::GT) && is(before(2), sym::GT) {
            return true;
        }
        // `(x ? a : b) = 1`.
        if (is(prev, sym::QUESTION) || is(prev, sym::COLON)) && self.is_side_of_target(toks, end) {
            return true;
        }
        // `object name{a}`: whoever it is may keep it.
        if (is(prev, sym::LBRACE) || is(prev, sym::COMMA))
            && (is(next, sym::RBRACE) || is(next, sym::COMMA))
            && self.makes_object(toks, at)
        {
            return true;
        }
        if next.is_some_and(|tok| tok.kind == Kind::Punct && is_assignment(tok.sym)) {
            return true;
        }
        let argument =
            (is(prev, sym::LPAREN) || is(prev, sym::COMMA)) && (is(next, sym::RPAREN) || is(next, sym::COMMA));
        argument && self.given_by_reference(toks, at)
    }

    /// Whether what stands here is a part of what is assigned to behind the next closing parenthesis.
    fn is_side_of_target(&self, toks: &[Tok], from: usize) -> bool {
        let mut depth = 0usize;
        for (at, tok) in toks.iter().enumerate().skip(from).take(64) {
            if tok.is(sym::LPAREN) {
                depth += 1;
            } else if tok.is(sym::RPAREN) {
                if depth == 0 {
                    return toks.get(at + 1).is_some_and(|tok| tok.kind == Kind::Punct && is_assignment(tok.sym));
                }
                depth -= 1;
            } else if tok.is(sym::SEMI) || tok.is(sym::LBRACE) {
                return false;
            }
        }
        false
    }

    /// Whether the braces around a token follow two names: a type's and a variable's.
    fn makes_object(&self, toks: &[Tok], at: usize) -> bool {
        let before = toks.get(..at).unwrap_or_default();
        let Some(open) = before.iter().rposition(|tok| tok.is(sym::LBRACE) || tok.is(sym::SEMI) || tok.is(sym::RBRACE))
        else {
            return false;
        };
        let name = |by: usize| {
            let tok = open.checked_sub(by).and_then(|at| toks.get(at));
            tok.is_some_and(|tok| tok.kind == Kind::Ident && !self.interner.is_keyword(tok.sym))
        };
        toks.get(open).is_some_and(|tok| tok.is(sym::LBRACE)) && name(1) && name(2)
    }

    /// Whether the declaration that a token stands in says `const`.
    fn is_constant(&self, toks: &[Tok], at: usize) -> bool {
        let ends = [sym::SEMI, sym::LBRACE, sym::RBRACE, sym::LPAREN];
        let before = toks.get(..at.saturating_sub(1)).unwrap_or_default();
        let declaration = before.iter().rev().take_while(|tok| !ends.iter().any(|end| tok.is(*end)));
        declaration.into_iter().any(|tok| tok.sym == sym::CONST || tok.sym == sym::CONSTEXPR)
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
        let given = toks.get(at).map(|tok| tok.sym);
        let by_reference = |function: &Function| {
            function.params.get(position).is_some_and(|param| {
                let reaches = param.ty.reference || param.ty.pointers > 0 || !param.ty.dims.is_empty();
                // `object name(a);` reads as a function that takes an `a`.
                let named =
                    matches!(&param.ty.base, Base::Name(name) if name.path.last().map(|last| last.sym) == given);
                if named {
                    return true;
                }
                reaches && !param.ty.constant
            })
        };
        let name =
            |tok: Option<&Tok>| tok.is_some_and(|tok| tok.kind == Kind::Ident && !self.interner.is_keyword(tok.sym));
        let ahead = open.checked_sub(2).and_then(|before| toks.get(before));
        let method = ahead.is_some_and(|tok| tok.is(sym::DOT) || tok.is(sym::ARROW));
        // A method, a constructor (`type(a)`, `type name(a)`) or a lambda that has a name: not looked into.
        if name(Some(callee))
            && self.overloads(callee.sym).is_empty()
            && (method || self.is_type(callee.sym) || name(ahead) || !self.globals_named(callee.sym).is_empty())
        {
            return true;
        }
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
