//! Parses tokens into the tree that the interpreter runs. Declarations are parsed when a unit is loaded. Bodies of
//! functions and structs are parsed only when they are needed: one question needs only a small part of a program.
//!
//! A statement that is not understood becomes `Unparsed` with its position. Reaching it makes a run "undetermined".

mod decl;
mod define;
mod expr;
mod function;
mod local_decl;
mod members;
mod primary;
mod signature_cache;
mod stmt;
mod types;

use super::ast::{Body, Expr, ExprKind, Function, Members, Struct};
use super::files::Span;
use super::lex::{BodyId, Kind, Tok};
use super::sym::{self, Interner, Sym, SymSet};
use super::vocabulary::{PLAIN, Vocabulary};
use std::ops::Range;
use std::sync::Arc;

pub use decl::{Declared, Pick, declarations, list};
pub use signature_cache::SeenSignatures;

/// The names of types and templates, which the parser needs to distinguish `(T) x` from `(a) x` and `f<1>(x)` from `a <
/// 1`.
#[derive(Debug)]
pub struct Names {
    pub types: SymSet,
    pub templates: SymSet,
    pub vocabulary: &'static Vocabulary,
}

impl Names {
    pub fn new(vocabulary: &'static Vocabulary) -> Names {
        Names { types: SymSet::default(), templates: SymSet::default(), vocabulary }
    }
}

impl Default for Names {
    fn default() -> Names {
        Names::new(&PLAIN)
    }
}

/// The parser does not support this construct. The caller decides how to continue.
#[derive(Debug, Clone, Copy)]
pub struct Stuck;

pub type Parsed<T> = Result<T, Stuck>;

/// The maximum nesting depth; real files stay under 60.
const MAX_DEPTH: usize = 150;

#[derive(Clone, Copy)]
struct Mark {
    pos: usize,
    depth: usize,
    slots: u32,
    scopes: usize,
}

pub(crate) struct Parser<'a> {
    toks: &'a [Tok],
    pos: usize,
    end: usize,
    names: &'a Names,
    interner: &'a Interner,
    unit: u32,
    /// The stored body that the tokens come from, if they are not from the unit.
    home: Option<BodyId>,
    /// Namespaces of this unit, without their inline and unnamed parts. Then the namespaces that are currently open,
    /// each with the one open before it.
    spaces: Vec<Vec<Sym>>,
    space: u32,
    opened: Vec<(u32, bool)>,
    /// Inside an unnamed namespace: visible only in this unit.
    hidden: bool,
    scopes: Vec<(Sym, u32)>,
    slots: u32,
    used: Vec<bool>,
    /// Every use of a slot, in order.
    touched: Vec<u32>,
    depth: usize,
    /// Fields that an unqualified name may mean inside a method.
    fields: Option<Arc<[Sym]>>,
    /// The struct of the method that is about to be parsed outside it.
    outlined: Option<Sym>,
    local_types: Vec<Sym>,
    local_structs: Vec<(Sym, Arc<Struct>)>,
    /// The names that this unit has declared so far.
    more: Names,
    /// Inside a template argument list, `>` closes the list. Inside a configuration (`f<<<a, b>>>(x)`), three of them
    /// close it.
    angle: bool,
    configured: bool,
    /// A label of a switch could not be read.
    lost_label: bool,
}

impl<'a> Parser<'a> {
    pub fn new(toks: &'a [Tok], range: Range<usize>, names: &'a Names, interner: &'a Interner, unit: u32) -> Self {
        let end = range.end.min(toks.len());
        Parser {
            toks,
            pos: range.start.min(end),
            end,
            names,
            interner,
            unit,
            home: None,
            spaces: vec![Vec::new()],
            space: 0,
            opened: Vec::new(),
            hidden: false,
            scopes: Vec::new(),
            slots: 0,
            used: Vec::new(),
            touched: Vec::new(),
            depth: 0,
            fields: None,
            outlined: None,
            local_types: Vec::new(),
            local_structs: Vec::new(),
            more: Names::default(),
            angle: false,
            configured: false,
            lost_label: false,
        }
    }

    fn peek(&self) -> Option<&'a Tok> {
        self.ahead(0)
    }

    fn ahead(&self, by: usize) -> Option<&'a Tok> {
        let at = self.pos.checked_add(by)?;
        if at >= self.end { None } else { self.toks.get(at) }
    }

    fn at(&self, sym: Sym) -> bool {
        self.peek().is_some_and(|tok| tok.is(sym))
    }

    fn at_ahead(&self, by: usize, sym: Sym) -> bool {
        self.ahead(by).is_some_and(|tok| tok.is(sym))
    }

    fn eat(&mut self, sym: Sym) -> bool {
        let is = self.at(sym);
        self.pos += usize::from(is);
        is
    }

    fn want(&mut self, sym: Sym) -> Parsed<()> {
        if self.eat(sym) { Ok(()) } else { Err(Stuck) }
    }

    fn ident(&mut self) -> Parsed<Sym> {
        match self.peek() {
            Some(tok) if tok.kind == Kind::Ident => {
                self.pos += 1;
                Ok(tok.sym)
            }
            _ => Err(Stuck),
        }
    }

    fn is_ident(&self, by: usize) -> bool {
        self.ahead(by).is_some_and(|tok| tok.kind == Kind::Ident && !self.interner.is_keyword(tok.sym))
    }

    fn span(&self) -> Span {
        self.peek().or_else(|| self.toks.get(self.pos.saturating_sub(1))).map_or(Span::default(), Span::of)
    }

    /// The span from `start` to the last token taken.
    fn since(&self, start: Span) -> Span {
        let last = self.toks.get(self.pos.saturating_sub(1)).map_or(start, Span::of);
        start.to(last)
    }

    fn node(&self, kind: ExprKind, start: Span) -> Expr {
        Expr { kind, span: self.since(start) }
    }

    fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(Stuck) } else { Ok(()) }
    }

    /// Skips past the matching closing bracket.
    fn skip_balanced(&mut self) {
        let mut depth = 0usize;
        while let Some(tok) = self.peek() {
            self.pos += 1;
            if tok.kind != Kind::Punct {
                continue;
            }
            match tok.sym {
                sym::LPAREN | sym::LBRACE | sym::LBRACKET => depth += 1,
                sym::RPAREN | sym::RBRACE | sym::RBRACKET => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    fn declare(&mut self, name: Option<Sym>) -> u32 {
        let slot = self.slots;
        self.slots = self.slots.saturating_add(1);
        if let Some(name) = name {
            self.scopes.push((name, slot));
        }
        slot
    }

    fn local(&self, name: Sym) -> Option<u32> {
        self.scopes.iter().rev().find(|(known, _)| *known == name).map(|&(_, slot)| slot)
    }

    fn mark_used(&mut self, slot: u32) {
        self.touched.push(slot);
        let slot = slot as usize;
        if slot >= self.used.len() {
            self.used.resize(slot + 1, false);
        }
        if let Some(used) = self.used.get_mut(slot) {
            *used = true;
        }
    }

    fn is_type_name(&self, name: Sym) -> bool {
        self.names.types.contains(name) || self.more.types.contains(name) || self.local_types.contains(&name)
    }

    fn is_template(&self, name: Sym) -> bool {
        self.names.templates.contains(name) || self.more.templates.contains(name)
    }

    fn mark(&self) -> Mark {
        Mark { pos: self.pos, depth: self.depth, slots: self.slots, scopes: self.scopes.len() }
    }

    /// Undoes everything parsed since `mark`, after a failed attempt.
    fn rewind(&mut self, mark: Mark) {
        (self.pos, self.depth, self.slots) = (mark.pos, mark.depth, mark.slots);
        self.scopes.truncate(mark.scopes);
    }
}

/// The statements of a function, parsed when it is first called.
pub fn body(function: &Function, (toks, range): (&[Tok], Range<usize>), names: &Names, interner: &Interner) -> Body {
    let mut parser = Parser::new(toks, range, names, interner, function.unit);
    parser.fields = function.owner.clone();
    parser.home = function.home.as_ref().map(|(body, _)| *body);
    for param in &function.templates {
        parser.declare(param.name);
        if let (Some(name), true) = (param.name, param.is_type) {
            parser.local_types.push(name);
        }
    }
    for param in &function.params {
        parser.declare(param.name);
    }
    let mut inits = Vec::new();
    if let Some(range) = &function.inits {
        let (pos, end) = (parser.pos, parser.end);
        (parser.pos, parser.end) = (range.start, range.end);
        inits = parser.member_inits();
        (parser.pos, parser.end) = (pos, end);
    }
    let mut stmts = Vec::new();
    while parser.peek().is_some() {
        stmts.push(parser.statement());
    }
    let mut used = std::mem::take(&mut parser.used);
    used.resize(parser.slots as usize, false);
    Body { stmts, inits, slots: parser.slots, used }
}

/// The members of a struct, parsed when its first object is needed.
pub fn members(of: &Struct, toks: &[Tok], names: &Names, interner: &Interner) -> Members {
    let mut parser = Parser::new(toks, of.body.clone(), names, interner, of.unit);
    parser.home = of.home;
    for param in &of.templates {
        parser.declare(param.name);
        if let (Some(name), true) = (param.name, param.is_type) {
            parser.local_types.push(name);
        }
    }
    parser.members(of)
}
