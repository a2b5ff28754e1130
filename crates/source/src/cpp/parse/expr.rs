//! Expressions, by precedence climbing.

use super::{Parsed, Parser, Stuck};
use crate::cpp::ast::{Binary, Designator, Expr, ExprKind, Lambda, Name, Param, Root, Type, Unary};
use crate::cpp::files::Span;
use crate::cpp::lex::{Kind, Tok, character, float, integer, is_keyword};
use crate::cpp::sym::{self, Sym};
use std::sync::Arc;

impl Parser<'_> {
    /// With the comma operator.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let (angle, launch) = (std::mem::take(&mut self.angle), std::mem::take(&mut self.launch));
        let result = self.comma();
        (self.angle, self.launch) = (angle, launch);
        result
    }

    fn comma(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let mut left = self.assignment()?;
        while self.eat(sym::COMMA) {
            let right = self.assignment()?;
            left = self.node(ExprKind::Comma(Box::new(left), Box::new(right)), start);
        }
        Ok(left)
    }

    pub(super) fn assignment(&mut self) -> Parsed<Expr> {
        self.deeper()?;
        let start = self.span();
        let left = self.ternary()?;
        let result = match self.assign_op() {
            None => left,
            Some((op, width)) => {
                self.pos += width;
                let right = if self.at(sym::LBRACE) { self.init_list()? } else { self.assignment()? };
                self.node(ExprKind::Assign(op, Box::new(left), Box::new(right)), start)
            }
        };
        self.depth -= 1;
        Ok(result)
    }

    fn assign_op(&self) -> Option<(Option<Binary>, usize)> {
        let tok = self.peek().filter(|tok| tok.kind == Kind::Punct)?;
        let op = match tok.sym {
            sym::ASSIGN => return Some((None, 1)),
            sym::ADD_ASSIGN => Binary::Add,
            sym::SUB_ASSIGN => Binary::Sub,
            sym::MUL_ASSIGN => Binary::Mul,
            sym::DIV_ASSIGN => Binary::Div,
            sym::REM_ASSIGN => Binary::Rem,
            sym::AND_ASSIGN => Binary::BitAnd,
            sym::OR_ASSIGN => Binary::BitOr,
            sym::XOR_ASSIGN => Binary::BitXor,
            sym::SHL_ASSIGN => Binary::Shl,
            sym::GT if !self.angle && self.glued(sym::GE) => return Some((Some(Binary::Shr), 2)),
            _ => return None,
        };
        Some((Some(op), 1))
    }

    /// Whether the next token follows this one with no blank and is `sym`.
    fn glued(&self, sym: Sym) -> bool {
        let end = self.peek().map(Tok::end);
        self.ahead(1).is_some_and(|next| next.is(sym) && Some(next.off) == end)
    }

    fn ternary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let cond = self.binary(0)?;
        if !self.eat(sym::QUESTION) {
            return Ok(cond);
        }
        let angle = std::mem::take(&mut self.angle);
        let yes = self.assignment();
        self.angle = angle;
        let yes = yes?;
        self.want(sym::COLON)?;
        let no = self.assignment()?;
        Ok(self.node(ExprKind::Ternary(Box::new([cond, yes, no])), start))
    }

    fn binary_op(&self) -> Option<(Binary, u8, usize)> {
        let tok = self.peek().filter(|tok| tok.kind == Kind::Punct)?;
        Some(match tok.sym {
            sym::OROR => (Binary::Or, 1, 1),
            sym::ANDAND => (Binary::And, 2, 1),
            sym::PIPE => (Binary::BitOr, 3, 1),
            sym::CARET => (Binary::BitXor, 4, 1),
            sym::AMP => (Binary::BitAnd, 5, 1),
            sym::EQ => (Binary::Eq, 6, 1),
            sym::NE => (Binary::Ne, 6, 1),
            sym::LT => (Binary::Lt, 7, 1),
            sym::LE => (Binary::Le, 7, 1),
            sym::GE if !self.angle => (Binary::Ge, 7, 1),
            sym::GT if self.angle || (self.launch && self.closes_launch()) => return None,
            sym::GT if self.glued(sym::GE) => return None,
            sym::GT if self.glued(sym::GT) => (Binary::Shr, 8, 2),
            sym::GT => (Binary::Gt, 7, 1),
            sym::SHL => (Binary::Shl, 8, 1),
            sym::PLUS => (Binary::Add, 9, 1),
            sym::MINUS => (Binary::Sub, 9, 1),
            sym::STAR => (Binary::Mul, 10, 1),
            sym::SLASH => (Binary::Div, 10, 1),
            sym::PERCENT => (Binary::Rem, 10, 1),
            _ => return None,
        })
    }

    fn closes_launch(&self) -> bool {
        self.at(sym::GT) && self.at_ahead(1, sym::GT) && self.at_ahead(2, sym::GT)
    }

    fn binary(&mut self, least: u8) -> Parsed<Expr> {
        let start = self.span();
        let mut left = self.unary()?;
        while let Some((op, level, width)) = self.binary_op() {
            if level < least {
                break;
            }
            self.pos += width;
            let right = self.binary(level + 1)?;
            left = self.node(ExprKind::Binary(op, Box::new(left), Box::new(right)), start);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let Some(&tok) = self.peek() else { return Err(Stuck) };
        let simple = match tok.sym {
            _ if !matches!(tok.kind, Kind::Punct | Kind::Ident) => None,
            sym::MINUS => Some(Unary::Neg),
            sym::PLUS => Some(Unary::Plus),
            sym::NOT => Some(Unary::Not),
            sym::TILDE => Some(Unary::BitNot),
            sym::STAR => Some(Unary::Deref),
            sym::AMP => Some(Unary::Address),
            sym::INC | sym::DEC => {
                self.pos += 1;
                self.deeper()?;
                let target = Box::new(self.unary()?);
                self.depth -= 1;
                let by = if tok.sym == sym::INC { 1 } else { -1 };
                return Ok(self.node(ExprKind::Step { target, by, before: true }, start));
            }
            sym::SIZEOF | sym::ALIGNOF => return self.sizeof(start),
            sym::LPAREN => {
                if let Some(cast) = self.cast(start)? {
                    return Ok(cast);
                }
                None
            }
            sym::NEW | sym::DELETE | sym::THROW => {
                self.pos += 1;
                if self.starts_type() {
                    let _ = self.type_id();
                }
                while self.at(sym::LPAREN) || self.at(sym::LBRACKET) || self.at(sym::LBRACE) {
                    self.skip_balanced();
                }
                if self.is_ident(0) {
                    let _ = self.unary();
                }
                let kind = if tok.sym == sym::THROW { ExprKind::Throw } else { ExprKind::Heap };
                return Ok(self.node(kind, start));
            }
            _ => None,
        };
        if let Some(op) = simple {
            self.pos += 1;
            self.deeper()?;
            let inner = Box::new(self.unary()?);
            self.depth -= 1;
            return Ok(self.node(ExprKind::Unary(op, inner), start));
        }
        let primary = self.primary()?;
        self.postfix(primary, start)
    }

    fn sizeof(&mut self, start: Span) -> Parsed<Expr> {
        self.pos += 1;
        self.eat(sym::ELLIPSIS);
        if self.at(sym::LPAREN) {
            let mark = self.mark();
            self.pos += 1;
            if self.starts_type()
                && let Ok(ty) = self.type_id()
                && self.eat(sym::RPAREN)
            {
                return Ok(self.node(ExprKind::SizeofType(Box::new(ty)), start));
            }
            self.rewind(mark);
        }
        let inner = Box::new(self.unary()?);
        Ok(self.node(ExprKind::SizeofExpr(inner), start))
    }

    /// `(T) x`. A parenthesised name is a cast only if it is known as a type, or if what follows could not follow a
    /// value: `(ENUMERATOR) && y` has no error in it when read as a cast, and is none.
    fn cast(&mut self, start: Span) -> Parsed<Option<Expr>> {
        let mark = self.mark();
        self.pos += 1;
        let (angle, launch) = (std::mem::take(&mut self.angle), std::mem::take(&mut self.launch));
        let known = self.starts_type();
        let plain = self.is_ident(0);
        let ty = if known || plain { self.type_id().ok() } else { None };
        (self.angle, self.launch) = (angle, launch);
        let Some(ty) = ty.filter(|_| self.eat(sym::RPAREN)) else {
            self.rewind(mark);
            return Ok(None);
        };
        let follows = self.peek().is_some_and(|tok| match tok.kind {
            Kind::Number | Kind::String | Kind::Char => true,
            Kind::Ident => !is_keyword(tok.sym) || begins_value(tok.sym),
            Kind::Punct => {
                matches!(tok.sym, sym::LPAREN | sym::NOT | sym::TILDE | sym::LBRACE)
                    || (known && matches!(tok.sym, sym::AMP | sym::STAR | sym::MINUS | sym::PLUS | sym::INC | sym::DEC))
            }
        });
        let unknown_then_paren = !known && ty.pointers == 0 && self.at(sym::LPAREN);
        if !follows || unknown_then_paren || (!known && self.local_named(&ty)) {
            self.rewind(mark);
            return Ok(None);
        }
        self.deeper()?;
        let inner = if self.at(sym::LBRACE) { self.init_list()? } else { self.unary()? };
        self.depth -= 1;
        Ok(Some(self.node(ExprKind::Cast(Box::new(ty), Box::new(inner)), start)))
    }

    fn local_named(&self, ty: &Type) -> bool {
        matches!(ty.base, crate::cpp::ast::Base::Local(_)) && ty.pointers == 0
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let Some(&tok) = self.peek() else { return Err(Stuck) };
        let text = self.interner.text(tok.sym);
        let literal = match tok.kind {
            Kind::Number => Some(match integer(text) {
                Some(value) => ExprKind::Int(value),
                None => ExprKind::Float(float(text).ok_or(Stuck)?),
            }),
            Kind::Char => Some(ExprKind::Int(character(text).unwrap_or(0))),
            Kind::String => {
                self.pos += 1;
                // Adjacent literals are one; format macros (PRId64) may stand between them.
                while self.peek().is_some_and(|tok| tok.kind == Kind::String) {
                    self.pos += 1;
                }
                return Ok(self.node(ExprKind::Str(tok.sym), start));
            }
            Kind::Ident => match tok.sym {
                sym::TRUE => Some(ExprKind::Bool(true)),
                sym::FALSE => Some(ExprKind::Bool(false)),
                sym::NULLPTR | sym::NULL => Some(ExprKind::Null),
                sym::THIS => Some(ExprKind::This),
                sym::LINE | sym::COUNTER => Some(ExprKind::Int(0)),
                _ => None,
            },
            Kind::Punct => None,
        };
        if let Some(kind) = literal {
            self.pos += 1;
            return Ok(self.node(kind, start));
        }
        match tok.sym {
            sym::LPAREN => {
                self.pos += 1;
                let mut inner = self.expression()?;
                self.want(sym::RPAREN)?;
                inner.span = self.since(start);
                Ok(inner)
            }
            sym::LBRACKET => self.lambda(start),
            sym::LBRACE => self.init_list(),
            sym::STATIC_CAST | sym::CONST_CAST | sym::REINTERPRET_CAST | sym::DYNAMIC_CAST => {
                self.pos += 1;
                let mut args = self.try_template_args().ok_or(Stuck)?.into_iter();
                self.want(sym::LPAREN)?;
                let inner = Box::new(self.expression()?);
                self.want(sym::RPAREN)?;
                let Some(crate::cpp::ast::TemplateArg::Type(ty)) = args.next() else { return Err(Stuck) };
                Ok(self.node(ExprKind::Cast(Box::new(ty), inner), start))
            }
            _ => self.named(start),
        }
    }

    /// A name as a value; or a type's name followed by what constructs one.
    fn named(&mut self, start: Span) -> Parsed<Expr> {
        let tok = self.peek().filter(|tok| tok.kind == Kind::Ident || tok.is(sym::SCOPE)).ok_or(Stuck)?;
        if self.starts_type() {
            let mark = self.mark();
            let (angle, launch) = (std::mem::take(&mut self.angle), std::mem::take(&mut self.launch));
            let ty = self.constructed_type();
            (self.angle, self.launch) = (angle, launch);
            if let Ok(ty) = ty {
                if self.at(sym::LPAREN) {
                    let args = self.arguments()?;
                    return Ok(self.node(ExprKind::Construct(Box::new(ty), args), start));
                }
                if self.at(sym::LBRACE) {
                    let list = self.init_list()?;
                    return Ok(self.node(ExprKind::Construct(Box::new(ty), vec![list]), start));
                }
            }
            self.rewind(mark);
        }
        if is_keyword(tok.sym) && tok.sym != sym::DECLTYPE && tok.sym != sym::OPERATOR {
            return Err(Stuck);
        }
        if tok.sym == sym::DECLTYPE {
            self.pos += 1;
            let inner = self.decltype()?;
            self.want(sym::SCOPE)?;
            let path = self.name()?.path;
            let name = Name { root: Root::Decltype(Box::new(inner)), path };
            return Ok(self.node(ExprKind::Name(Box::new(name)), start));
        }
        if let Some(slot) = self.local(tok.sym)
            && !self.at_ahead(1, sym::SCOPE)
        {
            self.pos += 1;
            self.mark_used(slot);
            return Ok(self.node(ExprKind::Local(slot, tok.sym), start));
        }
        let is_field = self.fields.as_ref().is_some_and(|fields| fields.contains(&tok.sym));
        if is_field && !self.at_ahead(1, sym::SCOPE) && !self.at_ahead(1, sym::LPAREN) {
            self.pos += 1;
            let this = Box::new(Expr { kind: ExprKind::This, span: start });
            return Ok(self.node(ExprKind::Member { base: this, name: tok.sym, arrow: true }, start));
        }
        let name = self.name()?;
        Ok(self.node(ExprKind::Name(Box::new(name)), start))
    }

    /// A type as it stands before `(...)` or `{...}`: no stars, no dimensions.
    fn constructed_type(&mut self) -> Parsed<Type> {
        let mut specifiers = super::types::Specifiers::default();
        self.specified_type(&mut specifiers)
    }

    fn postfix(&mut self, mut expr: Expr, start: Span) -> Parsed<Expr> {
        loop {
            let Some(&tok) = self.peek() else { return Ok(expr) };
            if tok.kind != Kind::Punct {
                return Ok(expr);
            }
            match tok.sym {
                sym::LPAREN => {
                    let args = self.arguments()?;
                    expr = self.node(ExprKind::Call(Box::new(expr), args), start);
                }
                sym::LBRACKET => {
                    self.pos += 1;
                    let index = self.expression()?;
                    self.want(sym::RBRACKET)?;
                    expr = self.node(ExprKind::Index(Box::new(expr), Box::new(index)), start);
                }
                sym::DOT | sym::ARROW => {
                    self.pos += 1;
                    self.eat(sym::TEMPLATE);
                    self.eat(sym::TILDE);
                    let name = self.ident()?;
                    if self.at(sym::LT) && self.is_template(name) {
                        let _ = self.try_template_args();
                    }
                    let arrow = tok.sym == sym::ARROW;
                    expr = self.node(ExprKind::Member { base: Box::new(expr), name, arrow }, start);
                }
                sym::INC | sym::DEC => {
                    self.pos += 1;
                    let by = if tok.sym == sym::INC { 1 } else { -1 };
                    expr = self.node(ExprKind::Step { target: Box::new(expr), by, before: false }, start);
                }
                sym::LAUNCH => {
                    self.pos += 1;
                    let config = self.launch_config()?;
                    let args = self.arguments()?;
                    expr = self.node(ExprKind::Launch(Box::new(expr), config, args), start);
                }
                _ => return Ok(expr),
            }
        }
    }

    fn launch_config(&mut self) -> Parsed<Vec<Expr>> {
        let (angle, launch) = (std::mem::replace(&mut self.angle, false), std::mem::replace(&mut self.launch, true));
        let mut config = Vec::new();
        loop {
            config.push(self.assignment()?);
            if !self.eat(sym::COMMA) {
                break;
            }
        }
        (self.angle, self.launch) = (angle, launch);
        for _ in 0..3 {
            self.want(sym::GT)?;
        }
        Ok(config)
    }

    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.want(sym::LPAREN)?;
        let (angle, launch) = (std::mem::take(&mut self.angle), std::mem::take(&mut self.launch));
        let mut args = Vec::new();
        while !self.at(sym::RPAREN) {
            let start = self.span();
            let mut arg = if self.at(sym::LBRACE) { self.init_list()? } else { self.assignment()? };
            if self.eat(sym::ELLIPSIS) {
                arg = self.node(ExprKind::Pack(Box::new(arg)), start);
            }
            args.push(arg);
            if !self.eat(sym::COMMA) {
                break;
            }
        }
        (self.angle, self.launch) = (angle, launch);
        self.want(sym::RPAREN)?;
        Ok(args)
    }

    pub(super) fn init_list(&mut self) -> Parsed<Expr> {
        self.deeper()?;
        let start = self.span();
        self.want(sym::LBRACE)?;
        let (angle, launch) = (std::mem::take(&mut self.angle), std::mem::take(&mut self.launch));
        let mut items = Vec::new();
        while !self.at(sym::RBRACE) {
            let mut designator = None;
            if self.at(sym::DOT) && self.is_ident(1) {
                self.pos += 1;
                designator = Some(Designator::Field(self.ident()?));
                self.want(sym::ASSIGN)?;
            } else if self.at(sym::LBRACKET) {
                let mark = self.mark();
                self.pos += 1;
                match self.expression() {
                    Ok(index) if self.eat(sym::RBRACKET) && self.eat(sym::ASSIGN) => {
                        designator = Some(Designator::Index(Box::new(index)));
                    }
                    _ => self.rewind(mark),
                }
            }
            let value = if self.at(sym::LBRACE) { self.init_list()? } else { self.assignment()? };
            let value = match self.eat(sym::ELLIPSIS) {
                true => self.node(ExprKind::Pack(Box::new(value)), start),
                false => value,
            };
            items.push((designator, value));
            if !self.eat(sym::COMMA) {
                break;
            }
        }
        (self.angle, self.launch) = (angle, launch);
        self.depth -= 1;
        self.want(sym::RBRACE)?;
        Ok(self.node(ExprKind::Init(items), start))
    }

    fn lambda(&mut self, start: Span) -> Parsed<Expr> {
        self.skip_balanced();
        let scope = self.scopes.len();
        let mut params: Vec<Param> = Vec::new();
        if self.at(sym::LPAREN) {
            params = self.params()?.0;
            for param in &mut params {
                param.slot = self.declare(param.name);
            }
        }
        while !self.at(sym::LBRACE) {
            match self.peek() {
                Some(tok) if tok.is(sym::LPAREN) => self.skip_balanced(),
                Some(tok) if !tok.is(sym::SEMI) => self.pos += 1,
                _ => return Err(Stuck),
            }
        }
        let body = self.block()?;
        self.scopes.truncate(scope);
        Ok(self.node(ExprKind::Lambda(Arc::new(Lambda { params, body })), start))
    }
}

fn begins_value(keyword: Sym) -> bool {
    matches!(
        keyword,
        sym::TRUE
            | sym::FALSE
            | sym::NULLPTR
            | sym::THIS
            | sym::SIZEOF
            | sym::STATIC_CAST
            | sym::CONST_CAST
            | sym::REINTERPRET_CAST
            | sym::INT
            | sym::FLOAT
            | sym::BOOL
            | sym::NEW
    )
}
