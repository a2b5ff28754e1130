//! Reads declarations of a unit. Function bodies are kept as ranges of tokens.

use super::read::{Parsed, Reader, Stuck};
use super::tree::{Base, Body, Class, Expr, Field, Function, Global, Initial, Part, Template, Type};
use crate::syntax::files::Span;
use crate::syntax::lex::Kind;
use crate::syntax::sym::Sym;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// The declarations of a unit.
#[derive(Debug, Default)]
pub struct Declared {
    pub functions: Vec<Rc<Function>>,
    pub classes: Vec<Rc<Class>>,
    pub globals: Vec<Rc<Global>>,
    pub aliases: Vec<(Sym, Type)>,
    /// Enumerators in order: the enum's name and scopes, the enumerator, its value.
    pub enumerators: Vec<(Option<Sym>, Sym, Option<Expr>)>,
    /// Names of enums.
    pub enums: Vec<(Sym, Option<Type>)>,
}

impl Reader<'_> {
    /// Reads all declarations.
    pub fn unit(&mut self, out: &mut Declared, seen: &mut crate::syntax::sym::FxMap<(u16, u32), usize>) {
        let mut within: Vec<Option<Sym>> = Vec::new();
        while !self.done() {
            let (pos, start) = (self.pos, self.span());
            self.depth = 0;
            self.angle = false;
            // A header that several units include is read once.
            let key = (start.file, start.start);
            if !matches!(self.text(0), "}" | "namespace" | "extern")
                && let Some(count) = seen.get(&key)
                && self.same_end(*count)
            {
                self.pos += *count;
                continue;
            }
            if self.top(&mut within, out).is_err() {
                self.pos = pos;
                self.recover();
            }
            if self.pos == pos {
                self.pos += 1;
            }
            seen.insert(key, self.pos - pos);
        }
    }

    /// Whether as many tokens follow, all from the file in which the first one is.
    fn same_end(&self, count: usize) -> bool {
        self.pos + count <= self.end && count > 0
    }

    fn recover(&mut self) {
        while !self.done() {
            match self.text(0) {
                ";" => {
                    self.pos += 1;
                    return;
                }
                "{" => {
                    self.skip_group();
                    self.eat(";");
                    return;
                }
                "(" | "[" => self.skip_group(),
                "}" => return,
                _ => self.pos += 1,
            }
        }
    }

    fn top(&mut self, within: &mut Vec<Option<Sym>>, out: &mut Declared) -> Parsed<()> {
        match self.text(0) {
            ";" => self.pos += 1,
            "}" => {
                self.pos += 1;
                within.pop();
            }
            "namespace" => {
                self.pos += 1;
                let name = if self.is_name(0) { Some(self.ident()?) } else { None };
                self.want("{")?;
                within.push(name);
            }
            "extern" if self.tok(1).is_some_and(|tok| tok.kind == Kind::String) => {
                self.pos += 2;
                if self.eat("{") {
                    within.push(None);
                }
            }
            "using" if self.is_name(1) && self.is(2, "=") => {
                self.pos += 1;
                let name = self.ident()?;
                self.pos += 1;
                let ty = self.full_type()?;
                self.want(";")?;
                out.aliases.push((name, ty));
            }
            "typedef" => self.typedef(out)?,
            "template" if self.is(1, "<") => {
                let templates = self.templates()?;
                let around = within.iter().flatten().copied().collect();
                self.declared(templates, around, out)?;
            }
            "template" | "static_assert" | "_Static_assert" | "using" => return Err(Stuck),
            _ => {
                let around = within.iter().flatten().copied().collect();
                self.declared(Vec::new(), around, out)?;
            }
        }
        Ok(())
    }

    fn typedef(&mut self, out: &mut Declared) -> Parsed<()> {
        self.pos += 1;
        let defined = self.definition(Vec::new(), Vec::new(), out)?;
        let base = match defined {
            Some(ty) => ty,
            None => self.base_type()?,
        };
        loop {
            let mut ty = base.clone();
            self.stars(&mut ty);
            if self.is(0, "(") && self.is(1, "*") {
                self.pos += 2;
                let name = self.ident()?;
                ty.base = Base::Function;
                out.aliases.push((name, ty));
                self.recover();
                return Ok(());
            }
            let name = self.ident()?;
            if self.is(0, "(") {
                self.skip_group();
                ty.base = Base::Function;
            }
            self.dims(&mut ty)?;
            out.aliases.push((name, ty));
            if !self.eat(",") {
                return self.want(";");
            }
        }
    }

    /// A struct, class, union or enum with a body.
    fn definition(&mut self, templates: Vec<Template>, within: Vec<Sym>, out: &mut Declared) -> Parsed<Option<Type>> {
        let pos = self.pos;
        let plain = |base: Base| Type { base, pointers: 0, reference: false, constant: false, dims: Vec::new() };
        self.specifiers();
        if self.is(0, "enum") {
            if let Ok(name) = self.enumeration(out) {
                return Ok(Some(plain(match name {
                    Some(name) => Base::Name(Rc::new(super::tree::Name { path: vec![(name, None)] })),
                    None => Base::Int(crate::syntax::integer::IntTy::I32),
                })));
            }
        } else if matches!(self.text(0), "struct" | "class" | "union")
            && let Ok(class) = self.class(templates, within, out)
        {
            out.classes.push(class.clone());
            return Ok(Some(plain(Base::Class(class))));
        }
        self.pos = pos;
        Ok(None)
    }

    fn enumeration(&mut self, out: &mut Declared) -> Parsed<Option<Sym>> {
        self.want("enum")?;
        if !self.eat("class") {
            self.eat("struct");
        }
        let name = if self.is_name(0) { Some(self.ident()?) } else { None };
        let underlying = if self.eat(":") { Some(self.full_type()?) } else { None };
        self.want("{")?;
        if let Some(name) = name {
            out.enums.push((name, underlying));
        }
        // An enumerator without a value follows the one before it; the first is 0.
        let mut first = true;
        while !self.is(0, "}") {
            let item = self.ident()?;
            let mut value = if self.eat("=") { Some(self.assignment()?) } else { None };
            if first && value.is_none() {
                let kind = super::tree::ExprKind::Int(0, crate::syntax::integer::IntTy::I32);
                value = Some(Expr { kind, at: self.span() });
            }
            first = false;
            out.enumerators.push((name, item, value));
            if !self.eat(",") {
                break;
            }
        }
        self.want("}")?;
        Ok(name)
    }

    pub fn class(&mut self, templates: Vec<Template>, within: Vec<Sym>, out: &mut Declared) -> Parsed<Rc<Class>> {
        let at = self.span();
        let union = self.is(0, "union");
        self.pos += 1;
        self.specifiers();
        let mut within = within;
        let mut name = Sym(u32::MAX);
        if self.is_name(0) {
            name = self.ident()?;
            while self.eat("::") {
                within.push(name);
                name = self.ident()?;
            }
            if self.is(0, "<") {
                // A specialisation; it is not followed.
                return Err(Stuck);
            }
        }
        self.eat("final");
        let mut bases = Vec::new();
        if self.eat(":") {
            loop {
                while matches!(self.text(0), "public" | "private" | "protected" | "virtual") {
                    self.pos += 1;
                }
                bases.push(self.base_type()?);
                if !self.eat(",") {
                    break;
                }
            }
        }
        if !self.is(0, "{") {
            return Err(Stuck);
        }
        let from = self.pos + 1;
        self.skip_group();
        let after = self.pos;
        let mut around = within.clone();
        if name != Sym(u32::MAX) {
            around.push(name);
        }
        let mut members = Members::default();
        let mut inner = Reader { pos: from, end: after.saturating_sub(1), angle: false, ..*self };
        inner.members(&around, name, &mut members, out);
        Ok(Rc::new(Class {
            name,
            within,
            templates,
            bases,
            union,
            unit: self.unit,
            fields: members.fields,
            parts: members.parts,
            methods: RefCell::new(members.methods),
            types: RefCell::new(members.types),
            at,
        }))
    }

    fn members(&mut self, around: &[Sym], name: Sym, to: &mut Members, out: &mut Declared) {
        while !self.done() {
            let pos = self.pos;
            self.depth = 0;
            if self.member(around, name, to, out).is_err() {
                self.pos = pos;
                self.recover();
            }
            if self.pos == pos {
                self.pos += 1;
            }
        }
    }

    fn member(&mut self, around: &[Sym], class: Sym, to: &mut Members, out: &mut Declared) -> Parsed<()> {
        let start = self.span();
        let mut templates = Vec::new();
        match self.text(0) {
            ";" => {
                self.pos += 1;
                return Ok(());
            }
            "public" | "private" | "protected" if self.is(1, ":") => {
                self.pos += 2;
                return Ok(());
            }
            "using" if self.is_name(1) && self.is(2, "=") => {
                self.pos += 1;
                let name = self.ident()?;
                self.pos += 1;
                let ty = self.full_type()?;
                to.types.push((name, ty));
                return self.want(";");
            }
            "typedef" | "friend" | "using" | "static_assert" | "~" => return Err(Stuck),
            "virtual" if self.is(1, "~") => return Err(Stuck),
            "template" => templates = self.templates()?,
            _ => {}
        }
        self.eat("__extension__");
        if matches!(self.text(0), "struct" | "class" | "union" | "enum") {
            let classes = out.classes.len();
            if let Some(ty) = self.definition(templates.clone(), around.to_vec(), out)? {
                if let Base::Class(inner) = &ty.base {
                    if inner.name != Sym(u32::MAX) {
                        to.types.push((inner.name, ty.clone()));
                    }
                    let _ = classes;
                }
                if self.eat(";") {
                    if let Base::Class(inner) = &ty.base
                        && inner.name == Sym(u32::MAX)
                    {
                        // An unnamed union or struct: its members are members of this class.
                        to.parts.push(Part::Inner(inner.clone()));
                        for field in &inner.fields {
                            let (name, ty, init) = (field.name, field.ty.clone(), field.init.clone());
                            to.fields.push(Field { name, ty, init, is_static: field.is_static });
                        }
                    }
                    return Ok(());
                }
                return self.declarators(ty, (false, false), around, templates, start, &mut Sink::Class(to));
            }
            if self.is_name(1) && self.is(2, ";") {
                return Err(Stuck);
            }
        }
        let flags = self.specifiers();
        // A constructor.
        if self.tok(0).is_some_and(|tok| tok.sym == class) && self.is(1, "(") {
            let name = self.ident()?;
            let ty = unknown();
            let function = self.function(name, around.to_vec(), ty, templates, flags.0, start)?;
            to.methods.push(Rc::new(function));
            return Ok(());
        }
        // A conversion: `operator T() const`.
        if self.is(0, "operator") && self.tok(1).is_some_and(|tok| tok.kind == Kind::Ident) {
            self.pos += 1;
            let ty = self.full_type()?;
            let name = self.interner.get("operator").ok_or(Stuck)?;
            let function = self.function(name, around.to_vec(), ty, templates, false, start)?;
            to.methods.push(Rc::new(function));
            return Ok(());
        }
        let mut base = self.base_type()?;
        base.constant |= flags.1;
        self.declarators(base, (flags.0, flags.2), around, templates, start, &mut Sink::Class(to))
    }

    fn declared(&mut self, templates: Vec<Template>, within: Vec<Sym>, out: &mut Declared) -> Parsed<()> {
        let start = self.span();
        if let Some(ty) = self.definition(templates.clone(), within.clone(), out)? {
            if self.eat(";") {
                return Ok(());
            }
            return self.declarators(ty, (false, false), &within, templates, start, &mut Sink::Unit(out));
        }
        if matches!(self.text(0), "struct" | "class" | "union" | "enum") && self.is_name(1) && self.is(2, ";") {
            self.pos += 3;
            return Ok(());
        }
        let flags = self.specifiers();
        // `a::a(...)`: a constructor, and `a<T>::b::b(...)`; destructors are not followed.
        if let Some((path, name)) = self.constructor() {
            let mut around = within;
            around.extend(path);
            let function = self.function(name, around, unknown(), templates, flags.0, start)?;
            out.functions.push(Rc::new(function));
            return Ok(());
        }
        let mut base = self.base_type()?;
        base.constant |= flags.1;
        self.declarators(base, (flags.0, flags.2), &within, templates, start, &mut Sink::Unit(out))
    }

    /// The classes and the name of a constructor that is defined outside of its class.
    fn constructor(&mut self) -> Option<(Vec<Sym>, Sym)> {
        let pos = self.pos;
        let mut path = Vec::new();
        while self.is_name(0) {
            let name = self.ident().ok()?;
            if self.is(0, "<") {
                self.skip_angles();
            }
            if self.eat("::") {
                path.push(name);
                continue;
            }
            if self.is(0, "(") && path.last() == Some(&name) {
                return Some((path, name));
            }
            break;
        }
        self.pos = pos;
        None
    }

    fn declarators(
        &mut self,
        base: Type,
        (is_static, external): (bool, bool),
        within: &[Sym],
        templates: Vec<Template>,
        start: Span,
        to: &mut Sink<'_>,
    ) -> Parsed<()> {
        loop {
            let mut ty = base.clone();
            self.stars(&mut ty);
            self.specifiers();
            // A pointer to a function as a field or a variable.
            if self.is(0, "(") && self.is(1, "*") {
                self.pos += 2;
                self.specifiers();
                let name = self.ident()?;
                self.want(")")?;
                self.skip_group();
                ty.base = Base::Function;
                ty.pointers = 0;
                let init = if self.eat("=") { Some(self.assignment()?) } else { None };
                to.variable(
                    name,
                    ty,
                    init.map_or(Initial::None, Initial::Value),
                    (is_static, external),
                    self.unit,
                    start,
                );
                return self.want(";");
            }
            let mut around = within.to_vec();
            let mut name;
            loop {
                if self.is(0, "operator") {
                    self.pos += 1;
                    name = self.tok(0).map(|tok| tok.sym).ok_or(Stuck)?;
                    self.pos += 1;
                    while !self.done() && !self.is(0, "(") {
                        self.pos += 1;
                    }
                    if self.is(0, "(") && self.is(1, ")") && self.is(2, "(") {
                        self.pos += 2;
                    }
                    break;
                }
                name = self.ident()?;
                if self.is(0, "<") && self.known.templates.contains(&name) {
                    self.skip_angles();
                }
                if !self.eat("::") {
                    break;
                }
                around.push(name);
            }
            if self.is(0, "(") {
                let function = self.function(name, around, ty, templates, is_static, start)?;
                to.function(Rc::new(function));
                return Ok(());
            }
            self.dims(&mut ty)?;
            self.specifiers();
            if self.is(0, ":") {
                // A bit field.
                self.pos += 1;
                self.assignment()?;
            }
            let init = match self.text(0) {
                "=" => {
                    self.pos += 1;
                    Initial::Value(self.assignment()?)
                }
                "{" => Initial::Value(self.braces()?),
                _ => Initial::None,
            };
            to.variable(name, ty, init, (is_static, external), self.unit, start);
            if !self.eat(",") {
                return self.want(";");
            }
        }
    }

    fn function(
        &mut self,
        name: Sym,
        within: Vec<Sym>,
        ret: Type,
        templates: Vec<Template>,
        is_static: bool,
        start: Span,
    ) -> Parsed<Function> {
        let (params, variadic) = self.params()?;
        let at = self.since(start);
        let (mut body, mut inits, mut ret) = (None, None, ret);
        loop {
            match self.text(0) {
                ";" => {
                    self.pos += 1;
                    break;
                }
                "=" => {
                    // `= 0`, `= default`, `= delete`.
                    let made = self.is(1, "default");
                    self.pos += 2;
                    self.eat(";");
                    if made {
                        body = Some(self.pos..self.pos);
                    }
                    break;
                }
                "{" => {
                    let from = self.pos + 1;
                    self.skip_group();
                    body = Some(from..self.pos.saturating_sub(1));
                    break;
                }
                ":" => {
                    let from = self.pos + 1;
                    self.pos = from;
                    while self.is_name(0) {
                        while self.is_name(0) || self.is(0, "::") {
                            self.pos += 1;
                        }
                        if self.is(0, "<") {
                            self.skip_angles();
                        }
                        self.skip_group();
                        if !self.eat(",") {
                            break;
                        }
                    }
                    inits = Some(from..self.pos);
                }
                "->" => {
                    self.pos += 1;
                    ret = self.full_type()?;
                }
                "" => return Err(Stuck),
                "}" => return Err(Stuck),
                "(" => self.skip_group(),
                _ => self.pos += 1,
            }
        }
        let unit = self.unit;
        let parsed = OnceCell::new();
        Ok(Function { name, within, templates, params, variadic, ret, is_static, unit, at, body, inits, parsed })
    }

    /// The statements of a function.
    pub fn body(&mut self, inits: Option<std::ops::Range<usize>>) -> Body {
        let (pos, end) = (self.pos, self.end);
        let mut list = Vec::new();
        if let Some(range) = inits {
            (self.pos, self.end) = (range.start, range.end);
            while self.is_name(0) {
                let Ok(name) = self.name() else { break };
                let braces = self.is(0, "{");
                let args = if braces { self.braces().map(|list| vec![list]) } else { self.call_arguments() };
                let Ok(args) = args else { break };
                list.push((name.last(), args, braces));
                if !self.eat(",") {
                    break;
                }
            }
        }
        (self.pos, self.end) = (pos, end);
        let mut stmts = Vec::new();
        while !self.done() {
            stmts.push(self.statement());
        }
        Body { stmts, inits: list }
    }
}

#[derive(Default)]
struct Members {
    fields: Vec<Field>,
    parts: Vec<Part>,
    methods: Vec<Rc<Function>>,
    types: Vec<(Sym, Type)>,
}

enum Sink<'a> {
    Unit(&'a mut Declared),
    Class(&'a mut Members),
}

impl Sink<'_> {
    fn function(&mut self, function: Rc<Function>) {
        match self {
            Sink::Unit(out) => out.functions.push(function),
            Sink::Class(to) => to.methods.push(function),
        }
    }

    fn variable(
        &mut self,
        name: Sym,
        ty: Type,
        init: Initial,
        (is_static, external): (bool, bool),
        unit: usize,
        at: Span,
    ) {
        match self {
            Sink::Unit(out) => {
                let external = external && matches!(init, Initial::None);
                let internal = is_static || ty.constant;
                out.globals.push(Rc::new(Global { name, ty, init, external, internal, unit, at }));
            }
            Sink::Class(to) => {
                let init = match init {
                    Initial::Value(value) => Some(value),
                    _ => None,
                };
                if !is_static {
                    to.parts.push(Part::Field(ty.clone()));
                }
                to.fields.push(Field { name, ty, init, is_static });
            }
        }
    }
}

fn unknown() -> Type {
    Type { base: Base::Auto, pointers: 0, reference: false, constant: false, dims: Vec::new() }
}
