//! Determines whether a use of a variable only reads it. If that is uncertain, the use counts as a write. Any use that
//! may keep access to the variable (a reference, its address, an array as the address of its first item, an object made
//! from it, an unknown function) may write to it later.

use super::Program;
use super::expression_tokens::{closing, closing_of, computes, is_assignment, opening_of, returns_reference};
use crate::syntax::ast::{Base, Function, Struct, TemplateArg, Type};
use crate::syntax::lex::{Kind, Tok};
use crate::syntax::sym::{self, Sym};
use std::sync::Arc;

/// A variable to search for. Without a type, it is treated as a number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    pub name: Sym,
    pub ty: Option<&'a Type>,
    pub unit: u32,
}

impl Named<'_> {
    pub(crate) fn number(name: Sym) -> Named<'static> {
        Named { name, ty: None, unit: u32::MAX }
    }
}

/// The kind of object that a mention and its member path refer to.
#[derive(Debug, Clone)]
enum Part {
    /// A number or a pointer: a copy gives no access to the original.
    Number,
    /// The target of a pointer, which is not part of the variable.
    Elsewhere,
    /// An object or an array.
    Whole(Type),
    Unknown,
}

/// Functions of C and of `std` that take numbers by value or only read them.
const READERS: &[&str] = &[
    "abs",
    "labs",
    "llabs",
    "fabs",
    "fabsf",
    "min",
    "max",
    "clamp",
    "floor",
    "floorf",
    "ceil",
    "ceilf",
    "round",
    "roundf",
    "sqrt",
    "sqrtf",
    "log",
    "logf",
    "log2",
    "log2f",
    "exp",
    "expf",
    "pow",
    "powf",
    "printf",
    "fprintf",
    "snprintf",
    "to_string",
    "isnan",
    "isinf",
    "getenv",
    "gcd",
    "lcm",
];

/// Container methods that change nothing and give no write access.
const LOOKS: &[&str] = &["size", "length", "empty", "count", "capacity", "c_str"];

impl Program {
    /// Whether the use at `at` only reads the variable, or refers to something else.
    pub(crate) fn only_reads(&self, toks: &[Tok], at: usize, named: Named<'_>) -> bool {
        let tok = |index: usize| toks.get(index);
        let is = |index: Option<usize>, sym: Sym| index.and_then(tok).is_some_and(|tok| tok.is(sym));
        let before = |by: usize| at.checked_sub(by);
        if is(before(1), sym::DOT) || is(before(1), sym::ARROW) || self.declares(before(1).and_then(tok)) {
            return true;
        }
        // Go back over qualifiers, as in `space::name`.
        let mut first = at;
        while is(first.checked_sub(1), sym::SCOPE) {
            let name = first.checked_sub(2).filter(|&name| tok(name).is_some_and(|tok| self.is_name(tok)));
            first = name.unwrap_or(first - 1);
        }
        if is(first.checked_sub(1), sym::USING) || is(first.checked_sub(1), sym::SIZEOF) {
            return true;
        }
        let mut part = match named.ty {
            Some(ty) => self.part(ty, named.unit),
            None => Part::Number,
        };
        let mut end = at + 1;
        while let Some(next) = tok(end).filter(|next| next.kind == Kind::Punct) {
            match next.sym {
                sym::DOT | sym::ARROW => {
                    let Some(field) = tok(end + 1) else { return false };
                    if tok(end + 2).is_some_and(|next| next.is(sym::LPAREN)) {
                        let pointed = matches!(part, Part::Number) && next.is(sym::ARROW);
                        let looks = LOOKS.contains(&self.text(field.sym)) && self.is_of_std(&part);
                        return pointed || matches!(part, Part::Elsewhere) || looks;
                    }
                    part = self.field(part, field.sym, next.is(sym::ARROW), named.unit);
                    end += 2;
                }
                sym::LBRACKET => {
                    part = self.item(part, named);
                    end = closing(toks, end);
                }
                _ => break,
            }
        }
        // For `(a)`, look at the context of the parentheses.
        while is(first.checked_sub(1), sym::LPAREN) && is(Some(end), sym::RPAREN) && self.is_grouped(toks, first - 1) {
            (first, end) = (first - 1, end + 1);
        }
        match part {
            Part::Elsewhere => true,
            Part::Number => self.takes_number(toks, first, end, named),
            Part::Whole(ty) => self.takes_whole(toks, first, end, &ty, named),
            Part::Unknown => false,
        }
    }

    fn part(&self, ty: &Type, unit: u32) -> Part {
        if self.is_number(ty, unit, 0) { Part::Number } else { Part::Whole(ty.clone()) }
    }

    /// Whether a type is a number or a pointer.
    fn is_number(&self, ty: &Type, unit: u32, depth: usize) -> bool {
        if !ty.dims.is_empty() || ty.reference || depth > 8 {
            return false;
        }
        match &ty.base {
            _ if ty.pointers > 0 => true,
            Base::Bool | Base::Int { .. } | Base::Float(_) | Base::Function => true,
            Base::Name(name) => name.path.last().is_some_and(|last| {
                let alias = self.alias(last.sym, unit).filter(|_| !self.is_several(last.sym, unit));
                match alias {
                    _ if !self.structs(last.sym).is_empty() => false,
                    Some(alias) => self.is_number(alias, unit, depth + 1),
                    None => self.is_enum(last.sym),
                }
            }),
            _ => false,
        }
    }

    fn is_of_std(&self, part: &Part) -> bool {
        let Part::Whole(Type { base: Base::Name(name), .. }) = part else { return false };
        name.path.first().is_some_and(|first| first.sym == sym::STD)
    }

    fn item(&self, part: Part, named: Named<'_>) -> Part {
        let Part::Whole(mut ty) = part else {
            return if named.ty.is_none() { part } else { Part::Elsewhere };
        };
        if !ty.dims.is_empty() {
            ty.dims.remove(0);
            return self.part(&ty, named.unit);
        }
        let Base::Name(name) = &ty.base else { return Part::Unknown };
        let of = name.path.last().filter(|last| last.sym == sym::VECTOR || last.sym == sym::ARRAY);
        match of.and_then(|last| last.args.as_ref()?.first()) {
            Some(TemplateArg::Type(item)) => self.part(item, named.unit),
            _ => Part::Unknown,
        }
    }

    fn field(&self, part: Part, field: Sym, arrow: bool, unit: u32) -> Part {
        let ty = match part {
            Part::Elsewhere => return Part::Elsewhere,
            Part::Number if arrow => return Part::Elsewhere,
            Part::Number | Part::Unknown => return part,
            Part::Whole(ty) if !arrow && ty.dims.is_empty() => ty,
            Part::Whole(_) => return Part::Unknown,
        };
        let found = |of: &Arc<Struct>| {
            let field = self.members(of).fields.iter().find(|known| known.name == Some(field))?;
            Some(self.part(&field.ty, unit))
        };
        let part = match &ty.base {
            Base::Inline(of) => found(of),
            Base::Name(name) => {
                let all = name.path.last().map_or(&[][..], |last| self.structs(last.sym));
                let own = all.iter().find(|of| of.unit == unit && of.special.is_none());
                own.or_else(|| all.iter().find(|of| of.special.is_none())).and_then(found)
            }
            _ => None,
        };
        part.unwrap_or(Part::Unknown)
    }

    /// Whether the context of a number only reads its value.
    fn takes_number(&self, toks: &[Tok], first: usize, end: usize, named: Named<'_>) -> bool {
        let before = |by: usize| first.checked_sub(by).and_then(|index| toks.get(index));
        let is = |tok: Option<&Tok>, sym: Sym| tok.is_some_and(|tok| tok.is(sym));
        let (prev, next) = (before(1), toks.get(end));
        let punct = |tok: Option<&Tok>| tok.filter(|tok| tok.kind == Kind::Punct).map(|tok| tok.sym);
        let (left, right) = (punct(prev), punct(next));
        if right.is_some_and(is_assignment) || matches!(left, Some(sym::INC | sym::DEC)) {
            return false;
        }
        // `>>=` comes as two tokens. `in >> a` writes to a. A template argument may be a reference.
        let after = toks.get(end + 1);
        if right == Some(sym::GT)
            && (is(after, sym::GE) || left == Some(sym::LT) || (left == Some(sym::COMMA) && is(after, sym::LPAREN)))
        {
            return false;
        }
        if left == Some(sym::GT) && is(before(2), sym::GT) {
            return false;
        }
        // Taking its address gives write access; `a & x` does not take an address.
        if left == Some(sym::AMP) && !self.is_binary(toks, first - 1) {
            return false;
        }
        match right {
            Some(sym::LT | sym::QUESTION) => return true,
            Some(right) if computes(right) => return true,
            // The variable is a pointer, and the function that it points to is called.
            Some(sym::LPAREN) => return true,
            Some(sym::SEMI | sym::RPAREN | sym::RBRACKET | sym::COMMA | sym::RBRACE | sym::COLON) => {}
            _ => return false,
        }
        match left {
            Some(sym::NOT | sym::TILDE) => true,
            Some(left) if computes(left) => true,
            Some(sym::LT) => right != Some(sym::COMMA),
            Some(sym::LBRACKET) => right == Some(sym::RBRACKET),
            Some(sym::ASSIGN) => self.is_copied(toks, first - 1, named, false),
            Some(sym::LPAREN | sym::COMMA) => self.is_given_copied(toks, first, None, named),
            Some(sym::SEMI | sym::LBRACE | sym::RBRACE) => matches!(right, Some(sym::SEMI)),
            // A cast, unless it is to a reference or a pointer.
            Some(sym::RPAREN) => self.is_cast(toks, first - 1, named),
            Some(_) | None => match prev {
                Some(prev) if prev.is(sym::RETURN) => !returns_reference(toks, first - 1),
                Some(prev) => prev.is(sym::CASE),
                None => false,
            },
        }
    }

    /// Whether the context of an object or an array copies it or only reads it.
    fn takes_whole(&self, toks: &[Tok], first: usize, end: usize, ty: &Type, named: Named<'_>) -> bool {
        let (prev, next) = (first.checked_sub(1).and_then(|at| toks.get(at)), toks.get(end));
        let punct = |tok: Option<&Tok>| tok.filter(|tok| tok.kind == Kind::Punct).map(|tok| tok.sym);
        match (punct(prev), punct(next)) {
            (None, Some(sym::SEMI)) => {
                let returned = prev.is_some_and(|prev| prev.is(sym::RETURN));
                returned && ty.dims.is_empty() && !returns_reference(toks, first - 1)
            }
            (Some(sym::LPAREN | sym::COMMA), Some(sym::RPAREN | sym::COMMA)) => {
                self.is_given_copied(toks, first, Some(ty), named)
            }
            (Some(sym::ASSIGN), Some(sym::SEMI)) => {
                ty.dims.is_empty() && !ty.reference && self.is_copied(toks, first - 1, named, true)
            }
            // A range-based loop: `for (int x : list)`.
            (Some(sym::COLON), Some(sym::RPAREN)) => {
                let Some(open) =
                    toks.get(..first - 1).and_then(|list| list.iter().rposition(|tok| tok.is(sym::LPAREN)))
                else {
                    return false;
                };
                let declared = toks.get(open + 1..first - 1).unwrap_or_default();
                let way = declared.iter().any(|tok| tok.is(sym::AMP) || tok.is(sym::ANDAND) || tok.is(sym::STAR));
                let each = matches!(self.item(Part::Whole(ty.clone()), named), Part::Number);
                open.checked_sub(1).and_then(|at| toks.get(at)).is_some_and(|tok| tok.is(sym::FOR))
                    && each
                    && (!way || declared.iter().any(|tok| tok.is(sym::CONST)))
            }
            _ => false,
        }
    }

    /// Whether `x = a` or `int x = a` makes a copy that gives no access to `a`. Scans backwards from the `=`.
    fn is_copied(&self, toks: &[Tok], sign: usize, named: Named<'_>, whole: bool) -> bool {
        let ends = [sym::SEMI, sym::LBRACE, sym::RBRACE, sym::COMMA];
        let (mut depth, mut declared) = (0usize, Vec::new());
        for tok in toks.get(..sign).unwrap_or_default().iter().rev() {
            if tok.is(sym::RPAREN) || tok.is(sym::RBRACKET) {
                depth += 1;
            } else if tok.is(sym::LPAREN) || tok.is(sym::LBRACKET) {
                if depth == 0 {
                    break;
                }
                depth -= 1;
            } else if depth == 0 {
                if ends.iter().any(|end| tok.is(*end)) {
                    break;
                }
                declared.push(tok);
            }
        }
        declared.reverse();
        let has = |sym: Sym| declared.iter().any(|tok| tok.is(sym));
        // A reference, a designated field, or an object with template arguments.
        if has(sym::AMP) || has(sym::ANDAND) || has(sym::GT) || has(sym::DECLTYPE) || (whole && has(sym::STAR)) {
            return false;
        }
        match declared.as_slice() {
            [] => false,
            [first, ..] if first.is(sym::DOT) => false,
            list => {
                let word = |tok: &&Tok| tok.kind == Kind::Ident;
                let declares = list.windows(2).any(|pair| pair.iter().all(word)) || has(sym::STAR);
                let types = list.iter().rev().skip(1).filter(|tok| tok.kind == Kind::Ident);
                !declares || types.into_iter().all(|tok| whole || self.is_plain_type(tok.sym, named.unit))
            }
        }
    }

    /// Whether a word of a declaration can only declare a number.
    fn is_plain_type(&self, word: Sym, unit: u32) -> bool {
        let own = (sym::INT8_T..=sym::UINT_LEAST64_T).contains(&word) || word == sym::STD;
        let structs = !self.structs(word).is_empty();
        let alias = self.alias(word, unit).is_some_and(|ty| self.is_number(ty, unit, 1));
        own || self.interner.is_keyword(word) || (!structs && (alias || self.is_enum(word)))
    }

    /// Whether an argument is passed as a copy, judged by the callee's declaration, or by its name for a library
    /// function. `whole` is the type of the argument, unless that is a number.
    fn is_given_copied(&self, toks: &[Tok], at: usize, whole: Option<&Type>, named: Named<'_>) -> bool {
        let (mut depth, mut position, mut open) = (0usize, 0usize, at);
        loop {
            let Some(tok) = open.checked_sub(1).and_then(|before| toks.get(before)) else { return false };
            open -= 1;
            if tok.is(sym::RPAREN) || tok.is(sym::RBRACKET) || tok.is(sym::RBRACE) {
                depth += 1;
            } else if tok.is(sym::LPAREN) || tok.is(sym::LBRACKET) || tok.is(sym::LBRACE) {
                if depth == 0 {
                    if !tok.is(sym::LPAREN) {
                        return false;
                    }
                    break;
                }
                depth -= 1;
            } else if depth == 0 && tok.is(sym::COMMA) {
                position += 1;
            } else if depth == 0 && tok.is(sym::SEMI) {
                return false;
            }
        }
        let Some(mut callee) = open.checked_sub(1) else { return false };
        let tok = |index: usize| toks.get(index);
        if tok(callee).is_some_and(|tok| tok.is(sym::GT)) {
            let Some(from) = toks.get(..callee).and_then(|list| list.iter().rposition(|tok| tok.is(sym::LT))) else {
                return false;
            };
            let given = toks.get(from..callee).unwrap_or_default();
            if given.iter().any(|tok| tok.is(sym::AMP) || tok.is(sym::ANDAND) || tok.is(sym::GT)) {
                return false;
            }
            let Some(name) = from.checked_sub(1) else { return false };
            if tok(name).is_some_and(|tok| tok.is(sym::STATIC_CAST)) {
                return whole.is_none();
            }
            callee = name;
        }
        let Some(name) = tok(callee).filter(|tok| tok.kind == Kind::Ident).map(|tok| tok.sym) else { return false };
        if matches!(name, sym::SIZEOF | sym::ALIGNOF | sym::DECLTYPE) {
            return true;
        }
        if matches!(name, sym::IF | sym::WHILE | sym::SWITCH | sym::STATIC_ASSERT) {
            return whole.is_none();
        }
        let ahead = callee.checked_sub(1).and_then(tok);
        let after = |sym: Sym| ahead.is_some_and(|tok| tok.is(sym));
        if after(sym::DOT) || after(sym::ARROW) {
            return false;
        }
        let text = self.text(name);
        let space = if after(sym::SCOPE) { callee.checked_sub(2).and_then(tok) } else { None };
        let of_std = space.is_some_and(|space| space.sym == sym::STD);
        // Static functions of a struct are not examined.
        if space.is_some_and(|space| space.sym != sym::STD && self.is_type(space.sym)) {
            return false;
        }
        let overloads = if of_std { &[] } else { self.overloads(name) };
        if !overloads.is_empty() {
            let given = toks.get(at).map(|tok| tok.sym);
            let mut all = overloads.iter().filter_map(|&index| self.function(index));
            return all.all(|function| self.is_read_by(function, position, given, whole, named));
        }
        // The name is a function that the platform provides, or a macro written as a call.
        let told = self.vocabulary().kept.contains(&text) || (self.vocabulary().answered)(text);
        let library = READERS.contains(&text) || (of_std && text == "size");
        if told || (library && (whole.is_none() || text == "size")) {
            // The result may be assigned to, as in `std::max(a, b) = 1`.
            let close = closing_of(toks, open, sym::LPAREN, sym::RPAREN);
            return !toks.get(close).is_some_and(|tok| tok.kind == Kind::Punct && is_assignment(tok.sym));
        }
        // A conversion `float(a)`, but not `float & x(a)` or `object x(a)`.
        let type_alone = !ahead.is_some_and(|tok| tok.kind == Kind::Ident && !tok.is(sym::RETURN));
        whole.is_none() && type_alone && self.is_plain_type(name, named.unit)
    }

    fn is_read_by(
        &self,
        function: &Function,
        position: usize,
        given: Option<Sym>,
        whole: Option<&Type>,
        named: Named<'_>,
    ) -> bool {
        let Some(param) = function.params.get(position).or_else(|| function.params.last().filter(|last| last.pack))
        else {
            // Beyond the last parameter, arguments are passed by value; otherwise this is another function.
            return whole.is_none();
        };
        let ty = &param.ty;
        // `object name(a);` parses as a declaration of a function that takes an `a`.
        if matches!(&ty.base, Base::Name(name) if name.path.last().map(|last| last.sym) == given) {
            return false;
        }
        if ty.reference || ty.pointers > 0 || !ty.dims.is_empty() {
            return ty.constant || (whole.is_none() && !ty.reference);
        }
        match whole {
            Some(whole) => whole.dims.is_empty(),
            None => self.is_number(ty, named.unit, 0) || matches!(ty.base, Base::Local(_) | Base::Auto),
        }
    }

    /// Whether `(int) a` is a cast to a type that gives no access to `a`. `close` is the closing parenthesis.
    fn is_cast(&self, toks: &[Tok], close: usize, named: Named<'_>) -> bool {
        let Some(open) = toks.get(..close).and_then(|list| list.iter().rposition(|tok| tok.is(sym::LPAREN))) else {
            return false;
        };
        let words = toks.get(open + 1..close).unwrap_or_default();
        let name = |tok: &Tok| tok.kind == Kind::Ident && self.is_plain_type(tok.sym, named.unit);
        !words.is_empty() && words.iter().all(|tok| name(tok) || tok.is(sym::SCOPE))
    }

    /// Whether the parentheses that open here only group an expression. They do not if they belong to a call, a cast or
    /// a keyword.
    fn is_grouped(&self, toks: &[Tok], open: usize) -> bool {
        let Some(tok) = open.checked_sub(1).and_then(|at| toks.get(at)) else { return false };
        match tok.kind {
            Kind::Punct => !tok.is(sym::RPAREN) && !tok.is(sym::RBRACKET) && !tok.is(sym::GT) && !tok.is(sym::RBRACE),
            _ => tok.is(sym::RETURN),
        }
    }

    /// Whether a `&` is a binary operator.
    fn is_binary(&self, toks: &[Tok], at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        match toks.get(before) {
            // Distinguish `(int *) &a` from `f(x) & a`.
            Some(tok) if tok.is(sym::RPAREN) => {
                let open = opening_of(toks, before);
                open.and_then(|open| open.checked_sub(1))
                    .and_then(|at| toks.get(at))
                    .is_some_and(|tok| self.is_name(tok))
            }
            Some(tok) => match tok.kind {
                Kind::Ident => self.is_name(tok),
                Kind::Punct => tok.is(sym::RBRACKET),
                _ => true,
            },
            None => false,
        }
    }

    fn is_name(&self, tok: &Tok) -> bool {
        tok.kind == Kind::Ident && !self.interner.is_keyword(tok.sym)
    }

    /// Whether a name follows a type, so that it is a new declaration.
    fn declares(&self, prev: Option<&Tok>) -> bool {
        let Some(prev) = prev.filter(|prev| prev.kind == Kind::Ident) else { return false };
        let types =
            [sym::INT, sym::BOOL, sym::LONG, sym::SHORT, sym::CHAR, sym::FLOAT, sym::DOUBLE, sym::UNSIGNED, sym::AUTO];
        types.contains(&prev.sym) || prev.sym == sym::CONST || !self.interner.is_keyword(prev.sym)
    }
}
