//! The members of a struct: fields, constants, methods, nested types.

use super::types::Specifiers;
use super::{Parsed, Parser, Stuck};
use crate::syntax::ast::{Base, Enumerator, Expr, Field, Function, Members, Struct, TemplateParam, Type};
use crate::syntax::files::Span;
use crate::syntax::sym::{self, Sym};
use std::sync::Arc;

impl Parser<'_> {
    pub(super) fn members(&mut self, of: &Struct) -> Members {
        let mut out = Members { aligned: of.aligned.clone().map(|range| self.alignment(range)), ..Default::default() };
        // Two passes, because methods may use fields declared below them.
        let start = self.pos;
        self.member_list(of, &mut out, false);
        let names: Vec<Sym> = out.fields.iter().chain(&out.statics).filter_map(|field| field.name).collect();
        self.fields = Some(Arc::from(names));
        self.pos = start;
        let mut methods = Members::default();
        self.member_list(of, &mut methods, true);
        out.methods = methods.methods;
        out
    }

    /// The argument of `alignas(...)`; None if it is not a readable number.
    fn alignment(&mut self, range: std::ops::Range<usize>) -> Option<Expr> {
        let (pos, end) = (self.pos, self.end);
        (self.pos, self.end) = (range.start, range.end);
        let found = self.expression().ok().filter(|_| self.peek().is_none());
        (self.pos, self.end) = (pos, end);
        found
    }

    fn member_list(&mut self, of: &Struct, out: &mut Members, methods: bool) {
        while self.peek().is_some() {
            let before = self.mark();
            self.depth = 0;
            if self.member(of, out, methods).is_err() {
                self.rewind(before);
                self.recover();
            }
            // A method's parameter slots are its own; the struct's template parameters are kept.
            self.slots = before.slots;
            self.scopes.truncate(before.scopes);
            if self.pos == before.pos {
                self.pos += 1;
            }
        }
    }

    fn member(&mut self, of: &Struct, out: &mut Members, methods: bool) -> Parsed<()> {
        let start = self.span();
        if self.keyword(of, out, methods)? {
            return Ok(());
        }
        let mut specifiers = Specifiers::default();
        self.skip_attributes(&mut specifiers);
        // A constructor: the struct's own name followed by a parenthesis.
        if let Some(name) = of.name
            && self.at(name)
            && self.at_ahead(1, sym::LPAREN)
        {
            self.pos += 1;
            let ty = self.unknown_type(start);
            let function = self.function(name, ty, specifiers, of.templates.clone(), None, start)?;
            if methods {
                out.methods.push(Arc::new(function));
            }
            return Ok(());
        }
        let nested = self.at(sym::STRUCT) || self.at(sym::UNION) || self.at(sym::CLASS);
        let ahead = if self.is_ident(1) { 2 } else { 1 };
        let base = if nested && (self.at_ahead(ahead, sym::LBRACE) || self.at_ahead(ahead, sym::COLON)) {
            let inner = self.struct_definition(Vec::new())?;
            if let Some(name) = inner.name {
                self.local_types.push(name);
                self.local_structs.push((name, inner.clone()));
            }
            let named = inner.name.is_some();
            let mut ty = self.unknown_type(start);
            ty.base = Base::Inline(inner);
            if self.eat(sym::SEMI) {
                if !named {
                    out.fields.push(Field { name: None, ty, init: None, bits: false });
                }
                return Ok(());
            }
            ty
        } else {
            self.specified_type(&mut specifiers)?
        };
        self.member_names(of, out, methods, &base, specifiers, start)
    }

    /// Parses a member that begins with a keyword or a symbol; false, with nothing consumed, for any other member.
    fn keyword(&mut self, of: &Struct, out: &mut Members, methods: bool) -> Parsed<bool> {
        let start = self.span();
        let Some(tok) = self.peek() else { return Ok(true) };
        match tok.sym {
            sym::SEMI => self.pos += 1,
            sym::PUBLIC | sym::PRIVATE | sym::PROTECTED => self.pos += 2,
            sym::USING if self.is_ident(1) && self.at_ahead(2, sym::ASSIGN) => {
                self.pos += 1;
                let name = self.ident()?;
                self.pos += 1;
                let ty = self.type_id()?;
                self.local_types.push(name);
                out.types.push((name, ty));
                self.want(sym::SEMI)?;
            }
            sym::TEMPLATE if self.at_ahead(1, sym::LT) => {
                let types = self.local_types.len();
                let found = self.template_params().and_then(|own| self.call_operator(of, own, start));
                self.local_types.truncate(types);
                out.methods.extend(Some(Arc::new(found?)).filter(|_| methods));
            }
            sym::TILDE => {
                self.destructor(out);
                return Err(Stuck);
            }
            sym::VIRTUAL if self.at_ahead(1, sym::TILDE) => {
                self.pos += 1;
                self.destructor(out);
                return Err(Stuck);
            }
            sym::TEMPLATE | sym::FRIEND | sym::USING | sym::TYPEDEF | sym::STATIC_ASSERT => return Err(Stuck),
            sym::ENUM if self.at_ahead(1, sym::LBRACE) || self.at_ahead(2, sym::LBRACE) => {
                self.nested_enum(out)?;
                self.want(sym::SEMI)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The names declared with one type.
    fn member_names(
        &mut self,
        of: &Struct,
        out: &mut Members,
        methods: bool,
        base: &Type,
        mut specifiers: Specifiers,
        start: Span,
    ) -> Parsed<()> {
        loop {
            let mut ty = base.clone();
            self.stars(&mut ty);
            self.skip_attributes(&mut specifiers);
            if self.at(sym::OPERATOR) {
                let function = self.called(of, Vec::new(), ty, specifiers, start)?;
                out.methods.extend(Some(Arc::new(function)).filter(|_| methods));
                return Ok(());
            }
            // A pointer to a function as a field.
            if self.at(sym::LPAREN) && self.at_ahead(1, sym::STAR) {
                self.pos += 2;
                let name = self.ident()?;
                self.want(sym::RPAREN)?;
                self.skip_balanced();
                ty.base = Base::Function;
                out.fields.push(Field { name: Some(name), ty, init: None, bits: false });
                return self.want(sym::SEMI);
            }
            let name = self.ident()?;
            if self.at(sym::LPAREN) {
                // The struct's template parameters come first, as with `operator()`.
                let function = self.function(name, ty, specifiers, of.templates.clone(), None, start)?;
                if methods {
                    out.methods.push(Arc::new(function));
                }
                return Ok(());
            }
            self.dims(&mut ty)?;
            self.skip_attributes(&mut specifiers);
            let bits = self.at(sym::COLON);
            let init = match self.peek() {
                Some(tok) if tok.is(sym::ASSIGN) => {
                    self.pos += 1;
                    Some(if self.at(sym::LBRACE) { self.init_list()? } else { self.assignment()? })
                }
                Some(tok) if tok.is(sym::LBRACE) => Some(self.init_list()?),
                Some(tok) if tok.is(sym::COLON) => {
                    self.pos += 1;
                    self.assignment()?;
                    ty.base = Base::Auto;
                    None
                }
                _ => None,
            };
            let list = if specifiers.is_static { &mut out.statics } else { &mut out.fields };
            list.push(Field { name: Some(name), ty, init, bits });
            if !self.eat(sym::COMMA) {
                return self.want(sym::SEMI);
            }
        }
    }

    /// Parses a destructor `~name()`. Without a body here, it counts as defined elsewhere. An empty or defaulted
    /// destructor does nothing.
    fn destructor(&mut self, out: &mut Members) {
        self.pos += 2;
        self.skip_balanced();
        let rest = (0..8).take_while(|&by| !self.at_ahead(by, sym::SEMI) && !self.at_ahead(by, sym::LBRACE)).count();
        let nothing = self.at_ahead(rest, sym::LBRACE) && self.at_ahead(rest + 1, sym::RBRACE);
        let chosen = (0..rest).any(|by| self.at_ahead(by, sym::DEFAULT) || self.at_ahead(by, sym::DELETE));
        out.destroyed |= !nothing && !chosen;
    }

    /// Parses `template <...> ret operator()(...) {...}`. Other member templates are not parsed.
    fn call_operator(&mut self, of: &Struct, own: Vec<TemplateParam>, start: Span) -> Parsed<Function> {
        let mut specifiers = Specifiers::default();
        self.skip_attributes(&mut specifiers);
        let mut ty = self.specified_type(&mut specifiers)?;
        self.stars(&mut ty);
        self.skip_attributes(&mut specifiers);
        self.called(of, own, ty, specifiers, start)
    }

    /// Parses `operator()`, which is stored under the name `operator`. Its template parameters follow those of the
    /// struct, and the object provides the struct's arguments.
    fn called(
        &mut self,
        of: &Struct,
        own: Vec<TemplateParam>,
        ty: Type,
        specifiers: Specifiers,
        start: Span,
    ) -> Parsed<Function> {
        self.want(sym::OPERATOR)?;
        self.want(sym::LPAREN)?;
        self.want(sym::RPAREN)?;
        let templates = of.templates.iter().cloned().chain(own).collect();
        self.function(sym::OPERATOR, ty, specifiers, templates, None, start)
    }

    fn nested_enum(&mut self, out: &mut Members) -> Parsed<()> {
        self.pos += 1;
        if self.is_ident(0) {
            let name = self.ident()?;
            self.local_types.push(name);
        }
        self.want(sym::LBRACE)?;
        while !self.at(sym::RBRACE) {
            let name = self.ident()?;
            let value = if self.eat(sym::ASSIGN) { Some(self.assignment()?) } else { None };
            out.enumerators.push(Enumerator { name, value });
            if !self.eat(sym::COMMA) {
                break;
            }
        }
        self.want(sym::RBRACE)
    }

    /// Parses the member initialisers of a constructor: `a(1), b{2}`.
    pub(super) fn member_inits(&mut self) -> Vec<(Sym, Vec<Expr>)> {
        let mut out = Vec::new();
        while let Ok(name) = self.ident() {
            let args = match self.at(sym::LBRACE) {
                true => self.init_list().map(|list| vec![list]),
                false => self.arguments(),
            };
            let Ok(args) = args else { break };
            out.push((name, args));
            if !self.eat(sym::COMMA) {
                break;
            }
        }
        out
    }
}
