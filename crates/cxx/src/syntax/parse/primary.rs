//! Primary expressions: literals, names, parentheses, braces, lambdas.

use super::{Parsed, Parser, Stuck};
use crate::syntax::ast::{Designator, Expr, ExprKind, Lambda, Name, Param, Root, Type};
use crate::syntax::files::Span;
use crate::syntax::integer::{IntTy, literal};
use crate::syntax::lex::{Kind, character, float, string};
use crate::syntax::sym;
use std::sync::Arc;

/// Slots captured by copy (None means all), and the lambda's own variables with their initial values.
type Captures = (Option<Vec<u32>>, Vec<(u32, Expr)>);

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let Some(&tok) = self.peek() else { return Err(Stuck) };
        let text = self.interner.text(tok.sym);
        let literal = match tok.kind {
            Kind::Number => Some(match literal(text) {
                Some((value, ty)) => ExprKind::Int(value, ty),
                None => float(text).map(|(value, bits)| ExprKind::Float(value, bits)).ok_or(Stuck)?,
            }),
            Kind::Char => Some(ExprKind::Int(character(text).ok_or(Stuck)?, IntTy::I8)),
            Kind::String => {
                // Adjacent string literals are concatenated.
                let mut whole = String::new();
                while let Some(tok) = self.peek().filter(|tok| tok.kind == Kind::String) {
                    whole.push_str(&string(self.interner.text(tok.sym)));
                    self.pos += 1;
                }
                return Ok(self.node(ExprKind::Str(whole.into()), start));
            }
            Kind::Ident => match tok.sym {
                sym::TRUE => Some(ExprKind::Bool(true)),
                sym::FALSE => Some(ExprKind::Bool(false)),
                sym::NULLPTR | sym::NULL => Some(ExprKind::Null),
                sym::THIS => Some(ExprKind::This),
                // Line numbers and counters are not modelled.
                sym::LINE | sym::COUNTER => Some(ExprKind::Heap),
                _ => None,
            },
            Kind::Punct | Kind::Body => None,
        };
        if let Some(kind) = literal {
            self.pos += 1;
            return Ok(self.node(kind, start));
        }
        match tok.sym {
            sym::LPAREN => {
                self.pos += 1;
                let mut inner = if self.at(sym::ELLIPSIS) { self.left_fold(start)? } else { self.expression()? };
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
                let Some(crate::syntax::ast::TemplateArg::Type(ty)) = args.next() else { return Err(Stuck) };
                Ok(self.node(ExprKind::Cast(Box::new(ty), inner), start))
            }
            _ => self.named(start),
        }
    }

    /// A name as a value, or a type name followed by constructor arguments.
    fn named(&mut self, start: Span) -> Parsed<Expr> {
        let tok = self.peek().filter(|tok| tok.kind == Kind::Ident || tok.is(sym::SCOPE)).ok_or(Stuck)?;
        if self.starts_type() || self.qualified_type(&[sym::LBRACE]) {
            let mark = self.mark();
            let (angle, configured) = (std::mem::take(&mut self.angle), std::mem::take(&mut self.configured));
            let ty = self.constructed_type();
            (self.angle, self.configured) = (angle, configured);
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
        if self.interner.is_keyword(tok.sym) && tok.sym != sym::DECLTYPE && tok.sym != sym::OPERATOR {
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

    /// A type before `(...)` or `{...}`: no stars and no dimensions.
    fn constructed_type(&mut self) -> Parsed<Type> {
        let mut specifiers = super::types::Specifiers::default();
        self.specified_type(&mut specifiers)
    }

    pub(super) fn init_list(&mut self) -> Parsed<Expr> {
        self.deeper()?;
        let start = self.span();
        self.want(sym::LBRACE)?;
        let (angle, configured) = (std::mem::take(&mut self.angle), std::mem::take(&mut self.configured));
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
        (self.angle, self.configured) = (angle, configured);
        self.depth -= 1;
        self.want(sym::RBRACE)?;
        Ok(self.node(ExprKind::Init(items), start))
    }

    /// Parses the captures of a lambda and its own variables: `[=]`, `[&, n]`, `[this, m = n + 1]`.
    fn captures(&mut self) -> Parsed<Captures> {
        self.want(sym::LBRACKET)?;
        let (mut copies, mut all, mut own) = (Vec::new(), false, Vec::new());
        let mut references = Vec::new();
        while !self.at(sym::RBRACKET) {
            if self.eat(sym::ASSIGN) {
                all = true;
            } else if self.eat(sym::AMP) {
                if self.is_ident(0) {
                    let name = self.ident()?;
                    // A capture by reference under a new name is not modelled.
                    if self.at(sym::ASSIGN) {
                        return Err(Stuck);
                    }
                    references.extend(self.local(name));
                }
            } else if self.eat(sym::THIS) || self.eat(sym::STAR) {
            } else {
                let name = self.ident()?;
                if self.eat(sym::ASSIGN) {
                    let value = self.assignment()?;
                    own.push((self.declare(Some(name)), value));
                } else if let Some(slot) = self.local(name) {
                    self.mark_used(slot);
                    copies.push(slot);
                }
            }
            if !self.eat(sym::COMMA) {
                break;
            }
        }
        self.want(sym::RBRACKET)?;
        // `[=, &n]` copies every variable but n.
        if all && !references.is_empty() {
            let others = self.scopes.iter().map(|(_, slot)| *slot).filter(|slot| !references.contains(slot));
            let own: Vec<u32> = own.iter().map(|(slot, _)| *slot).collect();
            copies.extend(others.filter(|slot| !own.contains(slot)));
            all = false;
        }
        Ok((if all { None } else { Some(copies) }, own))
    }

    fn lambda(&mut self, start: Span) -> Parsed<Expr> {
        let scope = self.scopes.len();
        let (copies, own) = self.captures()?;
        let mut params: Vec<Param> = Vec::new();
        if self.at(sym::LPAREN) {
            params = self.params()?.0;
            for param in &mut params {
                param.slot = self.declare(param.name);
            }
        }
        let mut ret = None;
        while !self.at(sym::LBRACE) {
            match self.peek() {
                Some(tok) if tok.is(sym::ARROW) => {
                    self.pos += 1;
                    let (angle, configured) = (std::mem::take(&mut self.angle), std::mem::take(&mut self.configured));
                    let found = self.type_id();
                    (self.angle, self.configured) = (angle, configured);
                    ret = Some(found?);
                }
                Some(tok) if tok.is(sym::LPAREN) => self.skip_balanced(),
                // A mutable lambda keeps state between calls, which is not modelled.
                Some(tok) if tok.is(sym::MUTABLE) => return Err(Stuck),
                Some(tok) if !tok.is(sym::SEMI) => self.pos += 1,
                _ => return Err(Stuck),
            }
        }
        let body = self.block()?;
        self.scopes.truncate(scope);
        Ok(self.node(ExprKind::Lambda(Arc::new(Lambda { copies, own, params, ret, body })), start))
    }
}
