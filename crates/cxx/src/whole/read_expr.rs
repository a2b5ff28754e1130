//! Reads expressions.

use super::read::{Parsed, Reader, Stuck};
use super::tree::{Base, Expr, ExprKind, Lambda, Name, Param, Type};
use crate::syntax::ast::Binary;
use crate::syntax::files::Span;
use crate::syntax::integer::{IntTy, literal};
use crate::syntax::lex::Kind;
use std::rc::Rc;

impl Reader<'_> {
    fn node(&self, kind: ExprKind, start: Span) -> Expr {
        Expr { kind, at: self.since(start) }
    }

    pub fn expression(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let mut left = self.assignment()?;
        while self.is(0, ",") {
            self.pos += 1;
            let right = self.assignment()?;
            left = self.node(ExprKind::Comma(Box::new(left), Box::new(right)), start);
        }
        Ok(left)
    }

    pub fn assignment(&mut self) -> Parsed<Expr> {
        self.deeper()?;
        let found = self.assigned();
        self.depth -= 1;
        found
    }

    fn assigned(&mut self) -> Parsed<Expr> {
        let start = self.span();
        if self.is(0, "throw") {
            while !self.done() && !self.is(0, ";") {
                match self.text(0) {
                    "(" | "{" => self.skip_group(),
                    ")" => break,
                    _ => self.pos += 1,
                }
            }
            return Ok(self.node(ExprKind::Throw, start));
        }
        if self.is(0, "{") {
            return self.braces();
        }
        let left = self.ternary()?;
        let op = match self.text(0) {
            "=" => None,
            "+=" => Some(Binary::Add),
            "-=" => Some(Binary::Sub),
            "*=" => Some(Binary::Mul),
            "/=" => Some(Binary::Div),
            "%=" => Some(Binary::Rem),
            "&=" => Some(Binary::BitAnd),
            "|=" => Some(Binary::BitOr),
            "^=" => Some(Binary::BitXor),
            "<<=" => Some(Binary::Shl),
            ">" if !self.angle && self.is(1, ">=") && self.joined(1) => {
                self.pos += 1;
                Some(Binary::Shr)
            }
            _ => return Ok(left),
        };
        self.pos += 1;
        let right = self.assignment()?;
        Ok(self.node(ExprKind::Assign(op, Box::new(left), Box::new(right)), start))
    }

    fn ternary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let cond = self.binary(0)?;
        if !self.eat("?") {
            return Ok(cond);
        }
        let angle = std::mem::replace(&mut self.angle, false);
        let yes = self.expression();
        self.angle = angle;
        let yes = yes?;
        self.want(":")?;
        let no = self.assignment()?;
        Ok(self.node(ExprKind::Ternary(Box::new([cond, yes, no])), start))
    }

    /// The operator here, its strength, and how many tokens it has.
    fn operator(&self) -> Option<(Binary, u8, usize)> {
        Some(match self.text(0) {
            "||" => (Binary::Or, 1, 1),
            "&&" => (Binary::And, 2, 1),
            "|" => (Binary::BitOr, 3, 1),
            "^" => (Binary::BitXor, 4, 1),
            "&" => (Binary::BitAnd, 5, 1),
            "==" => (Binary::Eq, 6, 1),
            "!=" => (Binary::Ne, 6, 1),
            "<" => (Binary::Lt, 7, 1),
            "<=" => (Binary::Le, 7, 1),
            ">=" if self.angle => return None,
            ">=" => (Binary::Ge, 7, 1),
            ">" if self.angle => return None,
            ">" if self.is(1, ">=") && self.joined(1) => return None,
            ">" if self.is(1, ">") && self.joined(1) => (Binary::Shr, 8, 2),
            ">" => (Binary::Gt, 7, 1),
            "<<" => (Binary::Shl, 8, 1),
            "+" => (Binary::Add, 9, 1),
            "-" => (Binary::Sub, 9, 1),
            "*" => (Binary::Mul, 10, 1),
            "/" => (Binary::Div, 10, 1),
            "%" => (Binary::Rem, 10, 1),
            _ => return None,
        })
    }

    fn binary(&mut self, least: u8) -> Parsed<Expr> {
        let start = self.span();
        let mut left = self.unary()?;
        while let Some((op, strength, tokens)) = self.operator().filter(|(_, strength, _)| *strength > least) {
            self.pos += tokens;
            let right = self.binary(strength)?;
            left = self.node(ExprKind::Binary(op, Box::new(left), Box::new(right)), start);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        self.deeper()?;
        let found = self.prefixed();
        self.depth -= 1;
        found
    }

    fn prefixed(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let make = |inner: Expr, kind: fn(Box<Expr>) -> ExprKind| kind(Box::new(inner));
        let kind: Option<fn(Box<Expr>) -> ExprKind> = match self.text(0) {
            "!" => Some(ExprKind::Not),
            "-" => Some(ExprKind::Negate),
            "~" => Some(ExprKind::Complement),
            "*" => Some(ExprKind::Deref),
            "&" => Some(ExprKind::Address),
            _ => None,
        };
        if let Some(kind) = kind {
            self.pos += 1;
            let inner = self.unary()?;
            return Ok(self.node(make(inner, kind), start));
        }
        match self.text(0) {
            "+" => {
                self.pos += 1;
                return self.unary();
            }
            by @ ("++" | "--") => {
                self.pos += 1;
                let target = Box::new(self.unary()?);
                let by = if by == "++" { 1 } else { -1 };
                return Ok(self.node(ExprKind::Step { target, by, before: true }, start));
            }
            "sizeof" => return self.sizeof(start),
            "new" => return self.new_object(start),
            "delete" => {
                self.pos += 1;
                if self.is(0, "[") {
                    self.skip_group();
                }
                self.unary()?;
                return Ok(self.node(ExprKind::Delete, start));
            }
            "(" if self.is_cast() => {
                self.pos += 1;
                let angle = std::mem::replace(&mut self.angle, false);
                let ty = self.full_type();
                self.angle = angle;
                let ty = ty?;
                self.want(")")?;
                let inner = if self.is(0, "{") { self.braces()? } else { self.unary()? };
                return Ok(self.node(ExprKind::Cast(Box::new(ty), Box::new(inner)), start));
            }
            _ => {}
        }
        self.postfix()
    }

    /// Whether `(T)` begins here.
    fn is_cast(&self) -> bool {
        let mut ahead = Reader { angle: false, ..*self };
        ahead.pos += 1;
        if !ahead.starts_type() || ahead.full_type().is_err() || !ahead.eat(")") {
            return false;
        }
        // `(x) + 1` with a type named x is a cast of +1; names of values are never types here.
        match ahead.text(0) {
            "" => !ahead.done(),
            "(" | "{" | "!" | "~" | "*" | "&" | "-" | "+" | "sizeof" | "this" | "nullptr" | "true" | "false"
            | "static_cast" | "new" | "::" | "++" | "--" => true,
            _ => ahead.is_name(0) || ahead.starts_type(),
        }
    }

    fn sizeof(&mut self, start: Span) -> Parsed<Expr> {
        self.pos += 1;
        if self.is(0, "(") {
            let mut ahead = Reader { angle: false, ..*self };
            ahead.pos += 1;
            if ahead.starts_type()
                && let Ok(ty) = ahead.full_type()
                && ahead.eat(")")
            {
                self.pos = ahead.pos;
                return Ok(self.node(ExprKind::Sizeof(Box::new(ty)), start));
            }
        }
        let inner = self.unary()?;
        Ok(self.node(ExprKind::SizeofExpr(Box::new(inner)), start))
    }

    fn new_object(&mut self, start: Span) -> Parsed<Expr> {
        self.pos += 1;
        let mut ty = self.base_type()?;
        while self.eat("*") {
            ty.pointers += 1;
        }
        if self.eat("[") {
            let size = self.expression()?;
            self.want("]")?;
            if self.is(0, "{") || self.is(0, "(") {
                self.skip_group();
            }
            return Ok(self.node(ExprKind::NewArray(Box::new(ty), Box::new(size)), start));
        }
        let args = match self.text(0) {
            "(" => self.call_arguments()?,
            "{" => vec![self.braces()?],
            _ => Vec::new(),
        };
        Ok(self.node(ExprKind::New(Box::new(ty), args), start))
    }

    pub fn call_arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.want("(")?;
        let angle = std::mem::replace(&mut self.angle, false);
        let list = self.listed(")");
        self.angle = angle;
        list
    }

    fn listed(&mut self, end: &str) -> Parsed<Vec<Expr>> {
        let mut list = Vec::new();
        while !self.is(0, end) {
            let start = self.span();
            let mut value = self.assignment()?;
            if self.eat("...") {
                value = self.node(ExprKind::Pack(Box::new(value)), start);
            }
            list.push(value);
            if !self.eat(",") {
                break;
            }
        }
        self.want(end)?;
        Ok(list)
    }

    pub fn braces(&mut self) -> Parsed<Expr> {
        let start = self.span();
        self.want("{")?;
        let angle = std::mem::replace(&mut self.angle, false);
        let mut list = Vec::new();
        while !self.is(0, "}") {
            let mut field = None;
            if self.is(0, ".") && self.is_name(1) && (self.is(2, "=") || self.is(2, "{")) {
                self.pos += 1;
                field = Some(self.ident()?);
                self.eat("=");
            } else if self.is(0, "[") && !self.is(1, "]") && self.designates() {
                // `[INDEX] = value` of C: only in order.
                self.pos += 1;
                let index = self.expression()?;
                self.want("]")?;
                self.want("=")?;
                let value = self.assignment()?;
                let at = value.at;
                let pair = ExprKind::Init(vec![(None, index), (None, value)]);
                list.push((Some(crate::syntax::sym::Sym(u32::MAX)), Expr { kind: pair, at }));
                if !self.eat(",") {
                    break;
                }
                continue;
            }
            list.push((field, self.assignment()?));
            if !self.eat(",") {
                break;
            }
        }
        self.want("}")?;
        self.angle = angle;
        Ok(self.node(ExprKind::Init(list), start))
    }

    fn designates(&self) -> bool {
        let mut ahead = Reader { angle: false, ..*self };
        ahead.skip_group();
        ahead.is(0, "=")
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let mut value = self.primary()?;
        loop {
            value = match self.text(0) {
                "(" => {
                    let args = self.call_arguments()?;
                    self.node(ExprKind::Call(Box::new(value), args), start)
                }
                "[" => {
                    self.pos += 1;
                    let angle = std::mem::replace(&mut self.angle, false);
                    let index = self.expression();
                    self.angle = angle;
                    let index = index?;
                    self.want("]")?;
                    self.node(ExprKind::Index(Box::new(value), Box::new(index)), start)
                }
                text @ ("." | "->") => {
                    self.pos += 1;
                    let arrow = text == "->";
                    self.eat("~");
                    let name = Rc::new(self.name()?);
                    self.node(ExprKind::Member { base: Box::new(value), name, arrow }, start)
                }
                text @ ("++" | "--") => {
                    self.pos += 1;
                    let by = if text == "++" { 1 } else { -1 };
                    self.node(ExprKind::Step { target: Box::new(value), by, before: false }, start)
                }
                _ => return Ok(value),
            };
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let Some(tok) = self.tok(0) else { return Err(Stuck) };
        let spelled = self.interner.text(tok.sym);
        match tok.kind {
            Kind::Number => {
                self.pos += 1;
                let kind = number(spelled).ok_or(Stuck)?;
                return Ok(self.node(kind, start));
            }
            Kind::String => return self.string(start),
            Kind::Char => {
                self.pos += 1;
                let text = unquoted(spelled).ok_or(Stuck)?;
                let byte = text.bytes().next().unwrap_or(0);
                return Ok(self.node(ExprKind::Int(i64::from(byte as i8), IntTy::I8), start));
            }
            _ => {}
        }
        match spelled {
            "(" => {
                self.pos += 1;
                let angle = std::mem::replace(&mut self.angle, false);
                let inner = self.expression();
                self.angle = angle;
                let inner = inner?;
                self.want(")")?;
                return Ok(inner);
            }
            "[" => return self.lambda(start),
            "true" | "false" => {
                self.pos += 1;
                return Ok(self.node(ExprKind::Bool(spelled == "true"), start));
            }
            "nullptr" | "NULL" => {
                self.pos += 1;
                return Ok(self.node(ExprKind::Null, start));
            }
            "this" => {
                self.pos += 1;
                return Ok(self.node(ExprKind::This, start));
            }
            "static_cast" | "const_cast" | "reinterpret_cast" | "dynamic_cast" => {
                self.pos += 1;
                let list = self.try_arguments().ok_or(Stuck)?;
                let [ty] = <[Type; 1]>::try_from(list).map_err(|_| Stuck)?;
                let args = self.call_arguments()?;
                let [inner] = <[Expr; 1]>::try_from(args).map_err(|_| Stuck)?;
                if spelled == "dynamic_cast" {
                    let sym = self.interner.get("dynamic_cast").ok_or(Stuck)?;
                    let name = Rc::new(Name { path: vec![(sym, Some(vec![ty]))] });
                    let callee = Expr { kind: ExprKind::Name(name), at: start };
                    return Ok(self.node(ExprKind::Call(Box::new(callee), vec![inner]), start));
                }
                return Ok(self.node(ExprKind::Cast(Box::new(ty), Box::new(inner)), start));
            }
            _ => {}
        }
        // `T(x)`, `T{x}`: a value of a type.
        if self.starts_type() {
            let (pos, angle) = (self.pos, self.angle);
            if let Ok(ty) = self.base_type() {
                if self.is(0, "{") {
                    let inner = self.braces()?;
                    return Ok(self.node(ExprKind::Construct(Box::new(ty), vec![inner], true), start));
                }
                if self.is(0, "(") && !matches!(ty.base, Base::Name(_)) {
                    let args = self.call_arguments()?;
                    return Ok(self.node(ExprKind::Construct(Box::new(ty), args, false), start));
                }
            }
            (self.pos, self.angle) = (pos, angle);
        }
        let name = self.name()?;
        Ok(self.node(ExprKind::Name(Rc::new(name)), start))
    }

    fn string(&mut self, start: Span) -> Parsed<Expr> {
        let mut all = String::new();
        while let Some(tok) = self.tok(0).filter(|tok| tok.kind == Kind::String) {
            all.push_str(&unquoted(self.interner.text(tok.sym)).ok_or(Stuck)?);
            self.pos += 1;
        }
        Ok(self.node(ExprKind::Str(all.into()), start))
    }

    fn lambda(&mut self, start: Span) -> Parsed<Expr> {
        self.want("[")?;
        let (mut copies, mut own) = (false, Vec::new());
        while !self.is(0, "]") {
            match self.text(0) {
                "=" => {
                    copies = true;
                    self.pos += 1;
                }
                "&" if self.is(1, "]") || self.is(1, ",") => self.pos += 1,
                "this" => self.pos += 1,
                _ => {
                    let by_reference = self.eat("&");
                    self.eat("*");
                    if self.eat("this") {
                        continue;
                    }
                    let name = self.ident()?;
                    let value = if self.eat("=") { Some(self.assignment()?) } else { None };
                    if value.is_some() || !by_reference {
                        own.push((name, value));
                    }
                }
            }
            if !self.eat(",") {
                break;
            }
        }
        self.want("]")?;
        let params = if self.is(0, "(") { self.params()?.0 } else { Vec::new() };
        while matches!(self.text(0), "mutable" | "noexcept" | "constexpr") {
            self.pos += 1;
        }
        let angle = std::mem::replace(&mut self.angle, false);
        let ret = if self.eat("->") { Some(self.full_type()?) } else { None };
        let body = self.block()?;
        self.angle = angle;
        let at = self.since(start);
        Ok(Expr { kind: ExprKind::Lambda(Rc::new(Lambda { copies, own, params, ret, body, at })), at })
    }

    /// `(int a, T b = c, ...)`, and whether it ends in an ellipsis.
    pub fn params(&mut self) -> Parsed<(Vec<Param>, bool)> {
        self.want("(")?;
        let angle = std::mem::replace(&mut self.angle, false);
        let list = self.param_list();
        self.angle = angle;
        list
    }

    fn param_list(&mut self) -> Parsed<(Vec<Param>, bool)> {
        let mut list = Vec::new();
        let mut variadic = false;
        if self.is(0, "void") && self.is(1, ")") {
            self.pos += 1;
        }
        while !self.is(0, ")") {
            if self.eat("...") {
                variadic = true;
                break;
            }
            let mut ty = self.base_type()?;
            self.stars(&mut ty);
            let pack = self.eat("...");
            let mut name = None;
            if self.is(0, "(") && (self.is(1, "*") || self.is(1, "&")) {
                // A pointer to a function, or a reference to an array.
                let function = self.is(1, "*");
                self.pos += 2;
                if self.is_name(0) {
                    name = Some(self.ident()?);
                }
                self.want(")")?;
                if self.is(0, "(") {
                    self.skip_group();
                }
                if function {
                    ty.base = Base::Function;
                } else {
                    ty.reference = true;
                }
            } else if self.is_name(0) {
                name = Some(self.ident()?);
            }
            self.dims(&mut ty)?;
            self.specifiers();
            let default = if self.eat("=") { Some(self.assignment()?) } else { None };
            list.push(Param { name, ty, default, pack });
            if !self.eat(",") {
                break;
            }
        }
        self.want(")")?;
        Ok((list, variadic))
    }
}

fn number(text: &str) -> Option<ExprKind> {
    if let Some((value, ty)) = literal(text) {
        return Some(ExprKind::Int(value, ty));
    }
    let lower = text.to_ascii_lowercase();
    let hex = lower.starts_with("0x");
    let single = lower.ends_with('f') && !hex;
    let digits = lower.trim_end_matches(['f', 'l']).replace('\'', "");
    let value: f64 = digits.parse().ok()?;
    Some(if single { ExprKind::Float(f64::from(value as f32), 32) } else { ExprKind::Float(value, 64) })
}

/// The contents of a literal with its escapes.
fn unquoted(text: &str) -> Option<String> {
    if let Some(raw) = text.strip_prefix("R\"") {
        let open = raw.find('(')?;
        let close = raw.rfind(')')?;
        return raw.get(open + 1..close).map(str::to_owned);
    }
    let from = text.find(['"', '\''])?;
    let inner = text.get(from + 1..text.len().checked_sub(1)?)?;
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(next) = chars.next() {
        if next != '\\' {
            out.push(next);
            continue;
        }
        out.push(match chars.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            other => other,
        });
    }
    Some(out)
}
