//! Expressions, by precedence climbing.

use super::{Parsed, Parser, Stuck};
use crate::syntax::ast::{Binary, Expr, ExprKind, Type, Unary};
use crate::syntax::files::Span;
use crate::syntax::lex::{Kind, Tok};
use crate::syntax::sym::{self, Sym};

impl Parser<'_> {
    /// An expression, including the comma operator.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let (angle, configured) = (std::mem::take(&mut self.angle), std::mem::take(&mut self.configured));
        let result = self.comma();
        (self.angle, self.configured) = (angle, configured);
        result
    }

    fn comma(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let touched = self.touched.len();
        let mut left = self.assignment()?;
        while self.eat(sym::COMMA) {
            if self.at(sym::ELLIPSIS) && self.at_ahead(1, sym::RPAREN) {
                self.pos += 1;
                return Ok(self.fold(None, left, touched, false, start));
            }
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

    /// Whether the next token is `sym`, without white space before it.
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
            sym::GT if self.angle || (self.configured && self.closes_configuration()) => return None,
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

    fn closes_configuration(&self) -> bool {
        self.at(sym::GT) && self.at_ahead(1, sym::GT) && self.at_ahead(2, sym::GT)
    }

    fn binary(&mut self, least: u8) -> Parsed<Expr> {
        let start = self.span();
        let touched = self.touched.len();
        let mut left = self.unary()?;
        while let Some((op, level, width)) = self.binary_op() {
            if level < least {
                break;
            }
            self.pos += width;
            if self.at(sym::ELLIPSIS) && self.at_ahead(1, sym::RPAREN) {
                self.pos += 1;
                return Ok(self.fold(Some(op), left, touched, false, start));
            }
            let right = self.binary(level + 1)?;
            left = self.node(ExprKind::Binary(op, Box::new(left), Box::new(right)), start);
        }
        Ok(left)
    }

    /// A fold over the pattern. `touched` is where the slots that the pattern uses begin.
    fn fold(&self, op: Option<Binary>, pattern: Expr, touched: usize, left: bool, start: Span) -> Expr {
        let mut slots = self.touched.get(touched..).unwrap_or_default().to_vec();
        slots.sort_unstable();
        slots.dedup();
        self.node(ExprKind::Fold { op, pattern: Box::new(pattern), slots, left }, start)
    }

    /// Parses `... op pattern`, after the opening parenthesis.
    pub(super) fn left_fold(&mut self, start: Span) -> Parsed<Expr> {
        self.pos += 1;
        let touched = self.touched.len();
        let op = if self.eat(sym::COMMA) {
            None
        } else {
            let (op, _, width) = self.binary_op().ok_or(Stuck)?;
            self.pos += width;
            Some(op)
        };
        let pattern = self.unary()?;
        Ok(self.fold(op, pattern, touched, true, start))
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let Some(&tok) = self.peek() else { return Err(Stuck) };
        if tok.is(sym::NEW)
            && let Some(made) = self.made(start)
        {
            return Ok(made);
        }
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

    /// Parses `new T`, `new T(args)` and `new T{...}`. Arrays and placement are left to the caller.
    fn made(&mut self, start: Span) -> Option<Expr> {
        let mark = self.mark();
        self.pos += 1;
        let ty = if self.starts_type() { self.type_id().ok() } else { None };
        let args = match ty {
            Some(_) if self.at(sym::LBRACKET) => None,
            Some(_) if self.at(sym::LPAREN) => self.arguments().ok(),
            Some(_) if self.at(sym::LBRACE) => self.init_list().ok().map(|list| vec![list]),
            Some(_) => Some(Vec::new()),
            None => None,
        };
        match (ty, args) {
            (Some(ty), Some(args)) => Some(self.node(ExprKind::New(Box::new(ty), args), start)),
            _ => {
                self.rewind(mark);
                None
            }
        }
    }

    fn sizeof(&mut self, start: Span) -> Parsed<Expr> {
        let aligned = self.at(sym::ALIGNOF);
        self.pos += 1;
        if self.eat(sym::ELLIPSIS) {
            let inner = Box::new(self.unary()?);
            return Ok(self.node(ExprKind::SizeofPack(inner), start));
        }
        if self.at(sym::LPAREN) {
            let mark = self.mark();
            self.pos += 1;
            if self.starts_type()
                && let Ok(ty) = self.type_id()
                && self.eat(sym::RPAREN)
            {
                let ty = Box::new(ty);
                let kind = if aligned { ExprKind::AlignofType(ty) } else { ExprKind::SizeofType(ty) };
                return Ok(self.node(kind, start));
            }
            self.rewind(mark);
        }
        if aligned {
            return Err(Stuck);
        }
        let inner = Box::new(self.unary()?);
        Ok(self.node(ExprKind::SizeofExpr(inner), start))
    }

    /// Parses a cast `(T) x`. A parenthesised name is a cast only if it is a known type, or if a value cannot be
    /// followed by the next token: `(ENUMERATOR) && y` would parse as a cast but is not one.
    fn cast(&mut self, start: Span) -> Parsed<Option<Expr>> {
        let mark = self.mark();
        self.pos += 1;
        let (angle, configured) = (std::mem::take(&mut self.angle), std::mem::take(&mut self.configured));
        let known = self.starts_type();
        let plain = self.is_ident(0);
        let ty = if known || plain { self.type_id().ok() } else { None };
        (self.angle, self.configured) = (angle, configured);
        let Some(ty) = ty.filter(|_| self.eat(sym::RPAREN)) else {
            self.rewind(mark);
            return Ok(None);
        };
        let follows = self.peek().is_some_and(|tok| match tok.kind {
            Kind::Number | Kind::String | Kind::Char => true,
            Kind::Ident => !self.interner.is_keyword(tok.sym) || begins_value(tok.sym),
            Kind::Body => false,
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
        matches!(ty.base, crate::syntax::ast::Base::Local(_)) && ty.pointers == 0
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
                sym::TRIPLE_LT => {
                    self.pos += 1;
                    let config = self.configuration()?;
                    let args = self.arguments()?;
                    expr = self.node(ExprKind::Configured(Box::new(expr), config, args), start);
                }
                _ => return Ok(expr),
            }
        }
    }

    fn configuration(&mut self) -> Parsed<Vec<Expr>> {
        let (angle, configured) =
            (std::mem::replace(&mut self.angle, false), std::mem::replace(&mut self.configured, true));
        let mut config = Vec::new();
        loop {
            config.push(self.assignment()?);
            if !self.eat(sym::COMMA) {
                break;
            }
        }
        (self.angle, self.configured) = (angle, configured);
        for _ in 0..3 {
            self.want(sym::GT)?;
        }
        Ok(config)
    }

    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.want(sym::LPAREN)?;
        let (angle, configured) = (std::mem::take(&mut self.angle), std::mem::take(&mut self.configured));
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
        (self.angle, self.configured) = (angle, configured);
        self.want(sym::RPAREN)?;
        Ok(args)
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
