//! Definitions of types: structs, enums, `typedef` and `using`. Struct bodies are skipped, and only their ranges are
//! recorded.

use super::decl::Declared;
use super::types::Specifiers;
use super::{Parsed, Parser, Stuck};
use crate::syntax::ast::{Base, Enum, Enumerator, Struct, TemplateParam, Type};
use crate::syntax::sym::{self, Sym};
use std::sync::{Arc, OnceLock};

impl Parser<'_> {
    pub(super) fn using(&mut self, templates: &[TemplateParam], out: &mut Declared) -> Parsed<()> {
        self.pos += 1;
        if self.eat(sym::NAMESPACE) {
            let mut last = None;
            while let Some(tok) = self.peek().filter(|tok| !tok.is(sym::SEMI)) {
                last = Some(tok.sym);
                self.pos += 1;
            }
            out.opened.extend(last);
        } else if self.is_ident(0) && self.at_ahead(1, sym::ASSIGN) {
            let name = self.ident()?;
            self.pos += 1;
            self.more.types.insert(name);
            if !templates.is_empty() {
                self.more.templates.insert(name);
            }
            // void (*)(int): a pointer to a function.
            let ty = self.type_id()?;
            // A template alias is known to be a type. Which type is known only if it is one of its parameters.
            if templates.is_empty() {
                out.aliases.push((name, ty));
            } else {
                out.picks.push((name, self.picked(templates, &ty)));
            }
        } else if !self.at(sym::STD) {
            let mut last = None;
            while let Some(tok) = self.peek().filter(|tok| !tok.is(sym::SEMI)) {
                last = Some(tok.sym);
                self.pos += 1;
            }
            out.brought.extend(last);
        }
        self.recover();
        Ok(())
    }

    /// The parameter that a type is equivalent to, and the number of stars.
    fn picked(&self, templates: &[TemplateParam], ty: &Type) -> Option<(usize, u8)> {
        let Base::Local(slot) = ty.base else { return None };
        let is = |param: &TemplateParam| param.is_type && param.name.and_then(|name| self.local(name)) == Some(slot);
        let position = templates.iter().position(is)?;
        let packs = templates.get(..=position)?.iter().any(|param| param.pack);
        (!packs && ty.dims.is_empty() && !ty.reference).then_some((position, ty.pointers))
    }

    pub(super) fn typedef(&mut self, out: &mut Declared) -> Parsed<()> {
        self.pos += 1;
        let mut specifiers = Specifiers::default();
        let ty = match self.definition(Vec::new(), out)? {
            Some(ty) => ty,
            None => self.specified_type(&mut specifiers)?,
        };
        loop {
            let mut ty = ty.clone();
            self.stars(&mut ty);
            if self.at(sym::LPAREN) {
                // typedef ret (*name)(params);
                while self.peek().is_some_and(|tok| !tok.is(sym::RPAREN)) && !self.is_ident(0) {
                    self.pos += 1;
                }
                ty.base = Base::Function;
            }
            self.skip_attributes(&mut specifiers);
            let name = self.ident()?;
            if matches!(ty.base, Base::Function) {
                self.recover();
                self.more.types.insert(name);
                out.aliases.push((name, ty));
                return Ok(());
            }
            self.dims(&mut ty)?;
            if self.at(sym::LPAREN) {
                self.skip_balanced();
                ty.base = Base::Function;
            }
            self.more.types.insert(name);
            out.aliases.push((name, ty));
            self.skip_attributes(&mut specifiers);
            if !self.eat(sym::COMMA) {
                return self.want(sym::SEMI);
            }
        }
    }

    /// A struct or enum defined in place; returns its type for the declarators that follow.
    pub(super) fn definition(&mut self, templates: Vec<TemplateParam>, out: &mut Declared) -> Parsed<Option<Type>> {
        let mark = self.mark();
        let mut specifiers = Specifiers::default();
        self.skip_attributes(&mut specifiers);
        let start = self.span();
        let named = |parser: &Self, name: Option<Sym>| {
            let mut ty = parser.unknown_type(start);
            if let Some(sym) = name {
                let path = vec![crate::syntax::ast::Segment { sym, args: None }];
                ty.base =
                    Base::Name(Box::new(crate::syntax::ast::Name { root: crate::syntax::ast::Root::Global, path }));
            }
            ty
        };
        if self.at(sym::ENUM) {
            if let Ok(found) = self.enum_definition() {
                self.more.types.extend(found.name);
                let mut ty = named(self, found.name);
                if found.name.is_none() {
                    ty.base = Base::Int { bits: 32, signed: true };
                }
                out.enums.push(found);
                return Ok(Some(ty));
            }
        } else if self.at(sym::STRUCT) || self.at(sym::CLASS) || self.at(sym::UNION) {
            let templated = !templates.is_empty();
            if let Ok(found) = self.struct_definition(templates) {
                let mut ty = named(self, found.name);
                match found.name {
                    Some(name) => {
                        self.more.types.insert(name);
                        if templated || found.special.is_some() {
                            self.more.templates.insert(name);
                        }
                        out.structs.push(found);
                    }
                    None => ty.base = Base::Inline(found),
                }
                return Ok(Some(ty));
            }
        }
        self.rewind(mark);
        Ok(None)
    }

    fn enum_definition(&mut self) -> Parsed<Enum> {
        let span = self.span();
        self.want(sym::ENUM)?;
        let scoped = self.eat(sym::CLASS) || self.eat(sym::STRUCT);
        let mut specifiers = Specifiers::default();
        self.skip_attributes(&mut specifiers);
        let name = if self.is_ident(0) { Some(self.ident()?) } else { None };
        let underlying = if self.eat(sym::COLON) { Some(self.type_id()?) } else { None };
        self.want(sym::LBRACE)?;
        let mut list = Vec::new();
        while !self.at(sym::RBRACE) {
            let name = self.ident()?;
            self.skip_attributes(&mut specifiers);
            let value = if self.eat(sym::ASSIGN) { Some(self.assignment()?) } else { None };
            list.push(Enumerator { name, value });
            if !self.eat(sym::COMMA) {
                break;
            }
        }
        self.want(sym::RBRACE)?;
        Ok(Enum { name, scoped, underlying, list, span, unit: self.unit, space: self.space })
    }

    pub(super) fn struct_definition(&mut self, templates: Vec<TemplateParam>) -> Parsed<Arc<Struct>> {
        let span = self.span();
        let union = self.at(sym::UNION);
        self.pos += 1;
        let mut aligned = None;
        if (self.at(sym::ALIGNAS) || self.at(sym::ALIGN)) && self.at_ahead(1, sym::LPAREN) {
            let from = self.pos + 2;
            self.pos += 1;
            self.skip_balanced();
            aligned = Some(from..self.pos.saturating_sub(1).max(from));
        }
        let mut specifiers = Specifiers::default();
        self.skip_attributes(&mut specifiers);
        let mut name = None;
        let mut special = None;
        if self.is_ident(0) {
            name = Some(self.ident()?);
            if self.at(sym::LT) {
                special = Some(self.try_template_args().ok_or(Stuck)?);
            }
        }
        self.eat(sym::FINAL);
        let mut bases = Vec::new();
        if self.eat(sym::COLON) {
            while !self.at(sym::LBRACE) {
                while self.at(sym::PUBLIC) || self.at(sym::PRIVATE) || self.at(sym::PROTECTED) || self.at(sym::VIRTUAL)
                {
                    self.pos += 1;
                }
                bases.push(self.type_id()?);
                if !self.eat(sym::COMMA) {
                    break;
                }
            }
        }
        if !self.at(sym::LBRACE) {
            return Err(Stuck);
        }
        let start = self.pos + 1;
        self.skip_balanced();
        let body = start..self.pos.saturating_sub(1).max(start);
        let text = name.map_or("", |name| self.interner.text(name));
        Ok(Arc::new(Struct {
            name,
            role: (self.names.vocabulary.role)(text),
            templates,
            special,
            bases,
            union,
            unit: self.unit,
            aligned,
            body,
            home: self.home,
            span,
            members: OnceLock::new(),
        }))
    }
}
