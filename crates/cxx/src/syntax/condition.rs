//! Evaluates `#if` and `#elif`: `defined`, integers, operators, and undefined names (which count as 0).

use super::files::{LoadError, Span};
use super::integer::{IntTy, literal};
use super::lex::{Kind, Tok, characters};
use super::macro_table::Macro;
use super::preprocess::Preprocessor;
use super::sym::{self, FxMap, Interner, Sym};
use std::sync::Arc;

const MAX_DEPTH: usize = 200;

pub(crate) fn evaluate(pp: &mut Preprocessor<'_>, line: &[Tok]) -> Result<bool, LoadError> {
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
            // The tree does not show what a compiler supports or which headers are installed. A query for that is
            // handled like a define without a value, under its own spelling. `defined(__has_include)` is not such a
            // query.
            sym::HAS_INCLUDE
            | sym::HAS_INCLUDE_NEXT
            | sym::HAS_BUILTIN
            | sym::HAS_ATTRIBUTE
            | sym::HAS_CPP_ATTRIBUTE
            | sym::HAS_FEATURE
                if toks.peek().is_some_and(|next| next.is(sym::LPAREN)) =>
            {
                let mut inner = Vec::new();
                let mut depth = 0usize;
                for tok in toks.by_ref() {
                    depth += usize::from(tok.is(sym::LPAREN));
                    if tok.is(sym::RPAREN) {
                        depth = depth.saturating_sub(1);
                        if depth == 0 {
                            break;
                        }
                    }
                    inner.push(*tok);
                }
                let answer = feature(pp, tok, inner.get(1..).unwrap_or_default())?;
                ready.push(number(answer));
            }
            _ => {
                if let Some(operator) = operator(tok, pp.interner) {
                    ready.push(operator);
                    continue;
                }
                // `true` and `false` are keywords and need no define.
                let word = matches!(tok.sym, sym::TRUE | sym::FALSE) || sym::is_positional(tok.sym);
                if tok.kind == Kind::Ident && !word && !pp.macros.table.has(tok.sym) {
                    pp.defined(tok);
                }
                ready.push(*tok);
            }
        }
    }
    let mut ready = pp.expand_list(&ready)?;
    if ready.iter().any(|tok| tok.kind == Kind::Ident && tok.sym == sym::DEFINED) {
        ready = defined_after(pp, &ready);
    }
    if let Some(unknown) = place_lines(pp, line, &mut ready) {
        return Ok(pp.defined(&unknown));
    }
    Ok(holds(&ready, pp.interner))
}

/// Replaces `__LINE__` by the line number. A condition that uses another positional macro, or an uncertain line number,
/// is recorded as a whole, like a define that no build file mentions. Returns the name for that record.
fn place_lines(pp: &mut Preprocessor<'_>, line: &[Tok], ready: &mut [Tok]) -> Option<Tok> {
    let positional = |tok: &&mut Tok| tok.kind == Kind::Ident && sym::is_positional(tok.sym);
    let mut unknown = None;
    for tok in ready.iter_mut().filter(positional) {
        match pp.certain_line(line).filter(|_| tok.sym == sym::LINE) {
            Some(number) => *tok = Tok { kind: Kind::Number, sym: sym::BODY, off: number, ..*tok },
            None => unknown = Some(*tok),
        }
    }
    let unknown = unknown?;
    let place = line.first().map_or(String::new(), |first| pp.files.place(Span::of(first)));
    let name = format!("{}({place})", pp.interner.text(unknown.sym));
    Some(Tok { sym: pp.interner.intern(&name), kind: Kind::Ident, ..unknown })
}

/// Handles `defined(X)` in the expansion of a macro. An undefined X is still a name; a defined X has been replaced.
fn defined_after(pp: &mut Preprocessor<'_>, line: &[Tok]) -> Vec<Tok> {
    let mut ready = Vec::with_capacity(line.len());
    let mut toks = line.iter().peekable();
    while let Some(tok) = toks.next() {
        if tok.kind != Kind::Ident || tok.sym != sym::DEFINED {
            ready.push(*tok);
            continue;
        }
        let mut inner = Vec::new();
        if toks.next_if(|tok| tok.is(sym::LPAREN)).is_some() {
            let mut depth = 1usize;
            for tok in toks.by_ref() {
                depth += usize::from(tok.is(sym::LPAREN));
                depth -= usize::from(tok.is(sym::RPAREN));
                if depth == 0 {
                    break;
                }
                inner.push(*tok);
            }
        } else {
            inner.extend(toks.next_if(|tok| tok.kind != Kind::Punct));
        }
        let defined = match inner.as_slice() {
            [name] if name.kind == Kind::Ident => pp.defined(name),
            _ => true,
        };
        ready.push(Tok { kind: Kind::Number, sym: Sym(0), flags: u8::from(defined), ..*tok });
    }
    ready
}

/// The alternative spellings of operators (`and`, `or`, `not`). No macro can have such a name.
fn operator(tok: &Tok, interner: &Interner) -> Option<Tok> {
    let sym = match interner.text(tok.sym) {
        _ if tok.kind != Kind::Ident => return None,
        "and" => sym::ANDAND,
        "or" => sym::OROR,
        "not" => sym::NOT,
        "not_eq" => sym::NE,
        "bitand" => sym::AMP,
        "bitor" => sym::PIPE,
        "xor" => sym::CARET,
        "compl" => sym::TILDE,
        _ => return None,
    };
    Some(Tok { kind: Kind::Punct, sym, ..*tok })
}

/// Whether a fully expanded condition holds.
fn holds(toks: &[Tok], interner: &Interner) -> bool {
    Reader { interner, toks, at: 0 }.ternary(0).0 != 0
}

/// Whether a condition holds under these defines instead of the build's own. None if a name in it is not `settled`,
/// because then the defines alone do not determine its meaning.
pub(crate) fn under(
    base: &FxMap<Sym, Arc<Macro>>,
    interner: &Interner,
    line: &[Tok],
    defines: &[(Sym, u32)],
    settled: &dyn Fn(Sym) -> bool,
) -> Option<bool> {
    let given = |name: Sym| defines.iter().find(|(known, _)| *known == name);
    let mut ready = Vec::with_capacity(line.len());
    let mut toks = line.iter();
    while let Some(tok) = toks.next() {
        match tok.kind {
            Kind::Ident if tok.sym == sym::DEFINED => {
                let mut name = toks.next()?;
                let paren = name.is(sym::LPAREN);
                if paren {
                    name = toks.next()?;
                }
                if name.kind != Kind::Ident || !settled(name.sym) || (paren && !toks.next()?.is(sym::RPAREN)) {
                    return None;
                }
                let defined = given(name.sym).is_some() || base.contains_key(&name.sym);
                ready.push(Tok { kind: Kind::Number, sym: Sym(0), flags: u8::from(defined), ..*tok });
            }
            Kind::Ident if operator(tok, interner).is_some() => ready.extend(operator(tok, interner)),
            Kind::Ident if !settled(tok.sym) || FEATURES.contains(&tok.sym) || sym::is_positional(tok.sym) => {
                return None;
            }
            Kind::Ident => match (given(tok.sym), base.get(&tok.sym).map(|made| (&made.params, &*made.body))) {
                (Some((_, value)), _) => ready.push(Tok { kind: Kind::Number, sym: sym::BODY, off: *value, ..*tok }),
                (None, Some((None, [only]))) if only.kind == Kind::Number => ready.push(*only),
                (None, Some(_)) => return None,
                (None, None) => ready.push(*tok),
            },
            _ => ready.push(*tok),
        }
    }
    Some(holds(&ready, interner))
}

const FEATURES: &[Sym] = &[
    sym::HAS_INCLUDE,
    sym::HAS_INCLUDE_NEXT,
    sym::HAS_BUILTIN,
    sym::HAS_ATTRIBUTE,
    sym::HAS_CPP_ATTRIBUTE,
    sym::HAS_FEATURE,
];

/// Evaluates `__has_include(<x>)` and similar. True for headers in the tree or the standard library. Any other query is
/// recorded as open.
fn feature(pp: &mut Preprocessor<'_>, asked: &Tok, inner: &[Tok]) -> Result<bool, LoadError> {
    let mut text: String = inner.iter().map(|tok| pp.interner.text(tok.sym)).collect();
    if matches!(asked.sym, sym::HAS_INCLUDE | sym::HAS_INCLUDE_NEXT)
        && let Some((wanted, quoted)) = pp.header(inner)?
    {
        if pp.finds(&wanted, quoted) || STANDARD.contains(&wanted.as_str()) {
            return Ok(true);
        }
        text = if quoted { format!("\"{wanted}\"") } else { format!("<{wanted}>") };
    }
    let name = format!("{}({text})", pp.interner.text(asked.sym));
    let sym = pp.interner.intern(&name);
    Ok(pp.defined(&Tok { sym, kind: Kind::Ident, ..*asked }))
}

/// Headers that come with every compiler.
const STANDARD: &[&str] = &[
    "algorithm",
    "array",
    "atomic",
    "cassert",
    "cfloat",
    "cinttypes",
    "climits",
    "cmath",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "functional",
    "initializer_list",
    "limits",
    "limits.h",
    "map",
    "memory",
    "mutex",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string",
    "string.h",
    "type_traits",
    "unordered_map",
    "utility",
    "vector",
];

struct Reader<'t> {
    interner: &'t Interner,
    toks: &'t [Tok],
    at: usize,
}

impl Reader<'_> {
    fn eat(&mut self, sym: Sym) -> bool {
        let is = self.toks.get(self.at).is_some_and(|tok| tok.is(sym));
        self.at += usize::from(is);
        is
    }

    fn ternary(&mut self, depth: usize) -> Number {
        let condition = self.binary(0, depth);
        if !self.eat(sym::QUESTION) || depth > MAX_DEPTH {
            return condition;
        }
        let yes = self.ternary(depth + 1);
        self.eat(sym::COLON);
        let no = self.ternary(depth + 1);
        (if condition.0 != 0 { yes.0 } else { no.0 }, yes.1 || no.1)
    }

    fn binary(&mut self, least: u8, depth: usize) -> Number {
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

    /// The next operator, its precedence and its number of tokens. The lexer emits `>` as single tokens, so two of them
    /// are a shift.
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

    fn unary(&mut self, depth: usize) -> Number {
        let Some(&tok) = self.toks.get(self.at) else { return (0, false) };
        self.at += 1;
        if depth > MAX_DEPTH {
            return (0, false);
        }
        match (tok.kind, tok.sym) {
            (Kind::Punct, sym::NOT) => (i64::from(self.unary(depth + 1).0 == 0), false),
            (Kind::Punct, sym::MINUS) => {
                let (value, unsigned) = self.unary(depth + 1);
                (value.wrapping_neg(), unsigned)
            }
            (Kind::Punct, sym::PLUS) => self.unary(depth + 1),
            (Kind::Punct, sym::TILDE) => {
                let (value, unsigned) = self.unary(depth + 1);
                (!value, unsigned)
            }
            (Kind::Punct, sym::LPAREN) => {
                let value = self.ternary(depth + 1);
                self.eat(sym::RPAREN);
                value
            }
            // The result of `defined` is a number token with the value in its flags. The value of a replaced name is in
            // its offset.
            (Kind::Number, Sym(0)) => (i64::from(tok.flags & 1), false),
            (Kind::Number, sym::BODY) => (i64::from(tok.off), false),
            (Kind::Number, sym) => {
                let (value, ty) = literal(self.interner.text(sym)).unwrap_or((0, IntTy::I64));
                // All numbers have the widest type. The suffix or the size decides whether a number is unsigned.
                (value, ty == IntTy::U64 || (ty == IntTy::U32 && self.interner.text(sym).contains(['u', 'U'])))
            }
            (Kind::Char, sym) => (characters(self.interner.text(sym)), false),
            (Kind::Ident, sym::TRUE) => (1, false),
            (Kind::Ident, _) => {
                // An undefined function-like name and its arguments together count as 0.
                if self.toks.get(self.at).is_some_and(|tok| tok.is(sym::LPAREN)) {
                    self.at += 1;
                    self.ternary(depth + 1);
                    self.eat(sym::RPAREN);
                }
                (0, false)
            }
            _ => (0, false),
        }
    }
}

/// The widest integer type, and whether it is unsigned.
type Number = (i64, bool);

fn apply(op: Sym, (left, a): Number, (right, b): Number) -> Number {
    let unsigned = a || b;
    let truth = |truth: bool| (i64::from(truth), false);
    let less = |x: i64, y: i64| if unsigned { (x as u64) < (y as u64) } else { x < y };
    let wide = |value: i64| (value, unsigned);
    match op {
        sym::OROR => truth(left != 0 || right != 0),
        sym::ANDAND => truth(left != 0 && right != 0),
        sym::PIPE => wide(left | right),
        sym::CARET => wide(left ^ right),
        sym::AMP => wide(left & right),
        sym::EQ => truth(left == right),
        sym::NE => truth(left != right),
        sym::LT => truth(less(left, right)),
        sym::GT => truth(less(right, left)),
        sym::LE => truth(!less(right, left)),
        sym::GE => truth(!less(left, right)),
        sym::SHL => (left.wrapping_shl(right as u32), a),
        sym::INC if a => ((left as u64).wrapping_shr(right as u32) as i64, a),
        sym::INC => (left.wrapping_shr(right as u32), a),
        sym::PLUS => wide(left.wrapping_add(right)),
        sym::MINUS => wide(left.wrapping_sub(right)),
        sym::STAR => wide(left.wrapping_mul(right)),
        sym::SLASH if unsigned => wide((left as u64).checked_div(right as u64).unwrap_or(0) as i64),
        sym::PERCENT if unsigned => wide((left as u64).checked_rem(right as u64).unwrap_or(0) as i64),
        sym::SLASH => wide(left.checked_div(right).unwrap_or(0)),
        sym::PERCENT => wide(left.checked_rem(right).unwrap_or(0)),
        _ => (0, false),
    }
}
