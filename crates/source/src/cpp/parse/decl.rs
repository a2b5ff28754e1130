//! Declarations of a unit: what there is, with its signature; bodies are only measured.

use super::types::Specifiers;
use super::{Names, Parsed, Parser, Stuck};
use crate::cpp::ast::{Base, Enum, Enumerator, Function, Initial, Param, Struct, TemplateArg, TemplateParam, Type};
use crate::cpp::files::Span;
use crate::cpp::lex::{Kind, Tok};
use crate::cpp::sym::{self, Interner, Sym};
use std::sync::{Arc, OnceLock};

#[derive(Debug)]
pub struct Global {
    pub name: Sym,
    pub ty: Type,
    pub init: Initial,
    pub span: Span,
    /// `extern` with no value: it is defined elsewhere.
    pub external: bool,
}

#[derive(Debug, Default)]
pub struct Declared {
    pub functions: Vec<Function>,
    pub structs: Vec<Arc<Struct>>,
    pub enums: Vec<Enum>,
    pub globals: Vec<Global>,
    pub aliases: Vec<(Sym, Type)>,
    pub names: Names,
}

/// Everything that one unit declares.
pub fn declarations(toks: &[Tok], names: &Names, interner: &Interner, unit: u32) -> Declared {
    let mut parser = Parser::new(toks, 0..toks.len(), names, interner, unit);
    let mut out = Declared::default();
    while parser.peek().is_some() {
        let before = parser.pos;
        parser.depth = 0;
        parser.scopes.clear();
        parser.local_types.clear();
        parser.slots = 0;
        if parser.top(&mut out).is_err() {
            parser.pos = before;
            parser.recover();
        }
        if parser.pos == before {
            parser.pos += 1;
        }
    }
    out.names = std::mem::take(&mut parser.more);
    out
}

impl Parser<'_> {
    /// To the end of a declaration that was not understood.
    fn recover(&mut self) {
        while let Some(tok) = self.peek() {
            match tok.sym {
                _ if tok.kind != Kind::Punct => self.pos += 1,
                sym::SEMI => {
                    self.pos += 1;
                    return;
                }
                sym::LBRACE => {
                    self.skip_balanced();
                    self.eat(sym::SEMI);
                    return;
                }
                sym::LPAREN | sym::LBRACKET => self.skip_balanced(),
                sym::RBRACE => return,
                _ => self.pos += 1,
            }
        }
    }

    fn top(&mut self, out: &mut Declared) -> Parsed<()> {
        let Some(tok) = self.peek() else { return Ok(()) };
        match tok.sym {
            sym::SEMI | sym::RBRACE => {
                self.pos += 1;
                Ok(())
            }
            sym::NAMESPACE => {
                while self.peek().is_some_and(|tok| !tok.is(sym::LBRACE) && !tok.is(sym::SEMI)) {
                    self.pos += 1;
                }
                self.pos += 1;
                Ok(())
            }
            sym::EXTERN if self.ahead(1).is_some_and(|tok| tok.kind == Kind::String) => {
                self.pos += 2;
                self.eat(sym::LBRACE);
                Ok(())
            }
            sym::TEMPLATE if self.at_ahead(1, sym::LT) => {
                let templates = self.template_params()?;
                self.declaration(templates, out)
            }
            // An explicit instantiation declares nothing new.
            sym::TEMPLATE => Err(Stuck),
            sym::EXTERN if self.at_ahead(1, sym::TEMPLATE) => Err(Stuck),
            sym::STATIC_ASSERT | sym::STATIC_ASSERT_C => Err(Stuck),
            sym::USING => self.using(false, out),
            sym::TYPEDEF => self.typedef(out),
            _ => self.declaration(Vec::new(), out),
        }
    }

    pub(super) fn template_params(&mut self) -> Parsed<Vec<TemplateParam>> {
        self.want(sym::TEMPLATE)?;
        self.want(sym::LT)?;
        self.angle = true;
        let mut params = Vec::new();
        while !self.at(sym::GT) {
            let param = self.template_param();
            let Ok(param) = param else {
                self.angle = false;
                return Err(Stuck);
            };
            params.push(param);
            if !self.eat(sym::COMMA) {
                break;
            }
        }
        self.angle = false;
        self.want(sym::GT)?;
        Ok(params)
    }

    fn template_param(&mut self) -> Parsed<TemplateParam> {
        let is_type = (self.at(sym::TYPENAME) || self.at(sym::CLASS)) && !self.at_ahead(2, sym::SCOPE);
        if is_type {
            self.pos += 1;
        } else if self.at(sym::TEMPLATE) {
            return Err(Stuck);
        } else {
            let mut ty = self.type_id()?;
            if self.at(sym::LPAREN) {
                ty.base = Base::Function;
                self.skip_balanced();
            }
        }
        let pack = self.eat(sym::ELLIPSIS);
        let name = if self.is_ident(0) { Some(self.ident()?) } else { None };
        self.declare(name);
        if let (Some(name), true) = (name, is_type) {
            self.local_types.push(name);
        }
        let default = if self.eat(sym::ASSIGN) { Some(self.template_arg()?) } else { None };
        Ok(TemplateParam { name, is_type, default, pack })
    }

    fn using(&mut self, templated: bool, out: &mut Declared) -> Parsed<()> {
        self.pos += 1;
        if self.is_ident(0) && self.at_ahead(1, sym::ASSIGN) {
            let name = self.ident()?;
            self.pos += 1;
            self.more.types.insert(name);
            if templated {
                self.more.templates.insert(name);
            }
            // void (*)(int): a pointer to a function.
            let ty = self.type_id()?;
            // An alias with parameters of its own is known to be a type, not which.
            if !templated {
                out.aliases.push((name, ty));
            }
        }
        self.recover();
        Ok(())
    }

    fn typedef(&mut self, out: &mut Declared) -> Parsed<()> {
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

    /// A struct or enum that is defined right here; its type, for declarators that follow.
    fn definition(&mut self, templates: Vec<TemplateParam>, out: &mut Declared) -> Parsed<Option<Type>> {
        let mark = self.mark();
        let mut specifiers = Specifiers::default();
        self.skip_attributes(&mut specifiers);
        let start = self.span();
        let named = |parser: &Self, name: Option<Sym>| {
            let mut ty = parser.unknown_type(start);
            if let Some(sym) = name {
                let path = vec![crate::cpp::ast::Segment { sym, args: None }];
                ty.base = Base::Name(Box::new(crate::cpp::ast::Name { root: crate::cpp::ast::Root::Global, path }));
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
        let _ = self.eat(sym::CLASS) || self.eat(sym::STRUCT);
        let mut specifiers = Specifiers::default();
        self.skip_attributes(&mut specifiers);
        let name = if self.is_ident(0) { Some(self.ident()?) } else { None };
        if self.eat(sym::COLON) {
            self.type_id()?;
        }
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
        Ok(Enum { name, list, span })
    }

    pub(super) fn struct_definition(&mut self, templates: Vec<TemplateParam>) -> Parsed<Arc<Struct>> {
        let span = self.span();
        let union = self.at(sym::UNION);
        self.pos += 1;
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
        Ok(Arc::new(Struct {
            name,
            templates,
            special,
            bases,
            union,
            unit: self.unit,
            body,
            span,
            members: OnceLock::new(),
        }))
    }

    fn declaration(&mut self, templates: Vec<TemplateParam>, out: &mut Declared) -> Parsed<()> {
        let start = self.span();
        if self.at(sym::USING) {
            return self.using(!templates.is_empty(), out);
        }
        if let Some(base) = self.definition(templates.clone(), out)? {
            if self.eat(sym::SEMI) {
                return Ok(());
            }
            return self.declarators_of(base, Specifiers::default(), templates, start, out);
        }
        // A forward declaration makes the name a type, and `template <...>` makes it a template.
        if (self.at(sym::STRUCT) || self.at(sym::CLASS) || self.at(sym::ENUM) || self.at(sym::UNION))
            && self.is_ident(1)
            && self.at_ahead(2, sym::SEMI)
        {
            let name = self.ahead(1).map(|tok| tok.sym);
            self.more.types.extend(name);
            if !templates.is_empty() {
                self.more.templates.extend(name);
            }
            self.pos += 3;
            return Ok(());
        }
        let mut specifiers = Specifiers::default();
        let base = self.specified_type(&mut specifiers)?;
        self.declarators_of(base, specifiers, templates, start, out)
    }

    fn declarators_of(
        &mut self,
        base: Type,
        mut specifiers: Specifiers,
        templates: Vec<TemplateParam>,
        start: Span,
        out: &mut Declared,
    ) -> Parsed<()> {
        loop {
            let mut ty = base.clone();
            self.stars(&mut ty);
            self.skip_attributes(&mut specifiers);
            let name = self.ident()?;
            let special = if self.at(sym::LT) { Some(self.try_template_args().ok_or(Stuck)?) } else { None };
            if self.at(sym::LPAREN) {
                let function = self.function(name, ty, specifiers, templates, special, start)?;
                if !function.templates.is_empty() || function.special.is_some() {
                    self.more.templates.insert(name);
                }
                out.functions.push(function);
                return Ok(());
            }
            self.dims(&mut ty)?;
            self.skip_attributes(&mut specifiers);
            let init = if self.eat(sym::ASSIGN) {
                match self.at(sym::LBRACE) {
                    true => Initial::Value(self.init_list()?),
                    false => Initial::Value(self.assignment()?),
                }
            } else if self.at(sym::LBRACE) {
                Initial::Value(self.init_list()?)
            } else {
                Initial::None
            };
            let external = specifiers.external && matches!(init, Initial::None);
            out.globals.push(Global { name, ty, init, span: self.since(start), external });
            if !self.eat(sym::COMMA) {
                return self.want(sym::SEMI);
            }
        }
    }

    pub(super) fn function(
        &mut self,
        name: Sym,
        ret: Type,
        mut specifiers: Specifiers,
        templates: Vec<TemplateParam>,
        special: Option<Vec<TemplateArg>>,
        start: Span,
    ) -> Parsed<Function> {
        let (mut params, variadic) = self.params()?;
        for param in &mut params {
            param.slot = self.declare(param.name);
        }
        let span = self.since(start);
        let mut inits = None;
        let mut body = None;
        loop {
            let Some(tok) = self.peek() else { return Err(Stuck) };
            match tok.sym {
                sym::SEMI => {
                    self.pos += 1;
                    break;
                }
                sym::ASSIGN => {
                    self.recover();
                    break;
                }
                sym::LBRACE => {
                    let from = self.pos + 1;
                    self.skip_balanced();
                    body = Some(from..self.pos.saturating_sub(1).max(from));
                    break;
                }
                sym::COLON => {
                    let from = self.pos + 1;
                    self.pos = from;
                    // name(...) or name{...}, with commas between; the body's brace follows a closing one.
                    while self.is_ident(0) {
                        while self.is_ident(0) || self.at(sym::SCOPE) {
                            self.pos += 1;
                        }
                        self.skip_balanced();
                        if !self.eat(sym::COMMA) {
                            break;
                        }
                    }
                    inits = Some(from..self.pos);
                    if !self.at(sym::LBRACE) {
                        return Err(Stuck);
                    }
                }
                sym::ARROW => {
                    self.pos += 1;
                    self.type_id()?;
                }
                sym::CONST | sym::NOEXCEPT | sym::OVERRIDE | sym::FINAL | sym::AMP | sym::ANDAND => self.pos += 1,
                sym::LPAREN => self.skip_balanced(),
                _ => {
                    let before = self.pos;
                    self.skip_attributes(&mut specifiers);
                    if self.pos == before {
                        return Err(Stuck);
                    }
                }
            }
        }
        let owner = self.fields.clone();
        Ok(Function {
            name,
            templates,
            special,
            params,
            variadic,
            attrs: specifiers.attrs,
            ret,
            span,
            unit: self.unit,
            body,
            inits,
            owner,
            parsed: OnceLock::new(),
        })
    }

    pub(super) fn params(&mut self) -> Parsed<(Vec<Param>, bool)> {
        self.want(sym::LPAREN)?;
        let (angle, launch) = (std::mem::take(&mut self.angle), std::mem::take(&mut self.launch));
        let mut params = Vec::new();
        let mut variadic = false;
        if self.at(sym::VOID) && self.at_ahead(1, sym::RPAREN) {
            self.pos += 1;
        }
        while !self.at(sym::RPAREN) {
            if self.eat(sym::ELLIPSIS) {
                variadic = true;
                break;
            }
            params.push(self.param()?);
            if !self.eat(sym::COMMA) {
                break;
            }
        }
        (self.angle, self.launch) = (angle, launch);
        self.want(sym::RPAREN)?;
        Ok((params, variadic))
    }

    fn param(&mut self) -> Parsed<Param> {
        let mut specifiers = Specifiers::default();
        let mut ty = self.specified_type(&mut specifiers)?;
        self.stars(&mut ty);
        let pack = self.eat(sym::ELLIPSIS);
        self.skip_attributes(&mut specifiers);
        let mut name = None;
        if self.at(sym::LPAREN) {
            // A pointer to a function: ret (*name)(params).
            self.pos += 1;
            while self.eat(sym::STAR) || self.eat(sym::AMP) || self.eat(sym::CONST) {}
            if self.is_ident(0) {
                name = Some(self.ident()?);
            }
            self.want(sym::RPAREN)?;
            self.skip_balanced();
            ty.base = Base::Function;
        } else if self.is_ident(0) {
            name = Some(self.ident()?);
        }
        self.skip_attributes(&mut specifiers);
        self.dims(&mut ty)?;
        let default = match self.eat(sym::ASSIGN) {
            true if self.at(sym::LBRACE) => Some(self.init_list()?),
            true => Some(self.assignment()?),
            false => None,
        };
        Ok(Param { slot: 0, name, ty, default, pack })
    }
}
