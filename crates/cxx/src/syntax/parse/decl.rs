//! Declarations of a unit with their signatures. Bodies are skipped, and only their ranges are recorded.

use super::signature_cache::SeenSignatures;
use super::types::Specifiers;
use super::{Names, Parsed, Parser, Stuck};
use crate::syntax::ast::{Enum, Function, Global, Initial, Struct, TemplateParam, Type};
use crate::syntax::files::Span;
use crate::syntax::lex::{Kind, Tok};
use crate::syntax::sym::{self, Interner, Sym};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The minimum number of tokens for which a list is parsed on demand.
const LONG: usize = 200;

/// The index of the argument that a template alias is equivalent to, and the number of stars.
pub type Pick = (usize, u8);

#[derive(Debug, Default)]
pub struct Declared {
    pub functions: Vec<Function>,
    pub structs: Vec<Arc<Struct>>,
    pub enums: Vec<Enum>,
    pub globals: Vec<Global>,
    pub aliases: Vec<(Sym, Type)>,
    /// Template aliases, with the argument that each is equivalent to. None for any other type.
    pub picks: Vec<(Sym, Option<Pick>)>,
    pub names: Names,
    /// The namespaces by number; the first is the global one.
    pub spaces: Vec<Vec<Sym>>,
    /// The last words of the namespaces in `using namespace x;`.
    pub opened: Vec<Sym>,
    /// Names from another namespace, by `using a::f;`.
    pub brought: Vec<Sym>,
    /// Operators overloaded for types of the tree, with the names in their parameters.
    pub operators: Vec<(Sym, Vec<Sym>)>,
}

/// Reads all declarations of one unit. `functions` is an empty list with spare capacity.
pub fn declarations(
    toks: &Arc<Vec<Tok>>,
    names: &Names,
    interner: &Interner,
    unit: u32,
    functions: Vec<Function>,
    seen: &mut SeenSignatures,
) -> Declared {
    let mut parser = Parser::new(toks, 0..toks.len(), names, interner, unit);
    let mut out = Declared { functions, ..Declared::default() };
    while parser.peek().is_some() {
        let before = parser.pos;
        parser.depth = 0;
        parser.scopes.clear();
        parser.local_types.clear();
        parser.slots = 0;
        if let Some(function) = parser.seen_function(seen) {
            parser.declared(function, &mut out);
            continue;
        }
        let (functions, types) = (out.functions.len(), parser.more.types.len());
        if parser.top(&mut out).is_err() {
            parser.pos = before;
            parser.recover();
        } else if let Some([only]) = out.functions.get(functions..)
            && types == parser.more.types.len()
        {
            parser.remember(only, before, toks, seen);
        }
        if parser.pos == before {
            parser.pos += 1;
        }
    }
    out.names = std::mem::take(&mut parser.more);
    out.spaces = std::mem::take(&mut parser.spaces);
    out
}

/// Parses the braced list of a global when its value is first needed. An unreadable list gives no value.
pub fn list(of: &Global, (toks, range): (&[Tok], Range<usize>), names: &Names, interner: &Interner) -> Initial {
    let mut parser = Parser::new(toks, range, names, interner, of.unit);
    parser.home = of.home;
    parser.init_list().map_or(Initial::None, Initial::Value)
}

impl Parser<'_> {
    /// Skips to the end of a declaration that was not understood.
    pub(super) fn recover(&mut self) {
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
            sym::SEMI => {
                self.pos += 1;
                Ok(())
            }
            sym::RBRACE => {
                self.pos += 1;
                if let Some(before) = self.opened.pop() {
                    (self.space, self.hidden) = before;
                }
                Ok(())
            }
            sym::NAMESPACE => self.namespace(false),
            sym::INLINE if self.at_ahead(1, sym::NAMESPACE) => {
                self.pos += 1;
                self.namespace(true)
            }
            sym::EXTERN if self.ahead(1).is_some_and(|tok| tok.kind == Kind::String) => {
                self.pos += 2;
                if self.eat(sym::LBRACE) {
                    self.opened.push((self.space, self.hidden));
                }
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
            sym::USING => self.using(&[], out),
            sym::TYPEDEF => self.typedef(out),
            _ => self.declaration(Vec::new(), out),
        }
    }

    /// Parses `namespace a::b {`, `inline namespace v2 {` and `namespace {`. Inline namespaces are transparent.
    fn namespace(&mut self, inline: bool) -> Parsed<()> {
        self.pos += 1;
        let mut path = self.spaces.get(self.space as usize).cloned().unwrap_or_default();
        let (mut named, mut inline) = (false, inline);
        while let Some(tok) = self.peek() {
            match tok.sym {
                sym::LBRACE => break,
                sym::SEMI | sym::ASSIGN => return Err(Stuck),
                sym::LBRACKET => {
                    self.skip_balanced();
                    continue;
                }
                sym::INLINE => inline = true,
                name if tok.kind == Kind::Ident && !self.interner.is_keyword(name) => {
                    named = true;
                    if !inline {
                        path.push(name);
                    }
                    inline = false;
                }
                _ => {}
            }
            self.pos += 1;
        }
        self.want(sym::LBRACE)?;
        self.opened.push((self.space, self.hidden));
        self.hidden |= !named;
        let known = self.spaces.iter().position(|space| *space == path);
        self.space = known.unwrap_or(self.spaces.len()) as u32;
        if known.is_none() {
            self.spaces.push(path);
        }
        Ok(())
    }

    fn declaration(&mut self, templates: Vec<TemplateParam>, out: &mut Declared) -> Parsed<()> {
        let start = self.span();
        if self.at(sym::USING) {
            return self.using(&templates, out);
        }
        if let Some(base) = self.definition(templates.clone(), out)? {
            if self.eat(sym::SEMI) {
                return Ok(());
            }
            return self.declarators_of(base, Specifiers::default(), templates, start, out);
        }
        // A forward declaration makes the name a type; with `template <...>`, also a template.
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

    fn declared(&mut self, function: Function, out: &mut Declared) {
        if !function.templates.is_empty() || function.special.is_some() {
            self.more.templates.insert(function.name);
        }
        out.functions.push(function);
    }

    /// Skips a braced list that is too long to be parsed before it is needed.
    fn long_list(&mut self) -> Option<Range<usize>> {
        let start = self.pos;
        // The list was already replaced by a body token.
        if self.peek().is_some_and(|tok| tok.kind == Kind::Body) {
            self.pos += 1;
            return Some(start..self.pos);
        }
        if !self.at(sym::LBRACE) {
            return None;
        }
        self.skip_balanced();
        let ends = self.at(sym::COMMA) || self.at(sym::SEMI);
        if ends && self.pos - start > LONG {
            return Some(start..self.pos);
        }
        self.pos = start;
        None
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
            if self.at(sym::OPERATOR) {
                let operator = self.ahead(1).map(|tok| tok.sym);
                while self.peek().is_some_and(|tok| !tok.is(sym::LPAREN)) {
                    self.pos += 1;
                }
                let from = self.pos;
                self.skip_balanced();
                let words = self.toks.get(from..self.pos).unwrap_or_default();
                let words = words.iter().filter(|tok| tok.kind == Kind::Ident).map(|tok| tok.sym).collect();
                out.operators.extend(operator.map(|operator| (operator, words)));
                return Err(Stuck);
            }
            let mut name = self.ident()?;
            if self.at(sym::SCOPE) && self.is_ident(1) && self.at_ahead(2, sym::LPAREN) {
                self.outlined = Some(name);
                self.pos += 1;
                name = self.ident()?;
            }
            let special = if self.at(sym::LT) { Some(self.try_template_args().ok_or(Stuck)?) } else { None };
            if self.at(sym::LPAREN) {
                let function = self.function(name, ty, specifiers, templates, special, start)?;
                self.declared(function, out);
                return Ok(());
            }
            self.dims(&mut ty)?;
            self.skip_attributes(&mut specifiers);
            let assigned = self.eat(sym::ASSIGN);
            let list = self.long_list();
            let init = match (assigned, self.at(sym::LBRACE)) {
                _ if list.is_some() => Initial::None,
                (_, true) => Initial::Value(self.init_list()?),
                (true, false) => Initial::Value(self.assignment()?),
                (false, false) => Initial::None,
            };
            let external = specifiers.external && list.is_none() && matches!(init, Initial::None);
            let internal = self.hidden || specifiers.is_static || (specifiers.fixed && !specifiers.external);
            let fixed = specifiers.fixed && ty.pointers == 0;
            let (span, unit, space) = (self.since(start), self.unit, self.space);
            out.globals.push(Global {
                name,
                ty,
                init,
                list,
                home: None,
                parsed: OnceLock::new(),
                span,
                external,
                internal,
                fixed,
                unit,
                space,
                written: OnceLock::new(),
            });
            if !self.eat(sym::COMMA) {
                return self.want(sym::SEMI);
            }
        }
    }
}
