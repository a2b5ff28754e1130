//! Recognises and parses declarations inside functions.

use super::types::Specifiers;
use super::{Parsed, Parser};
use crate::syntax::ast::{ExprKind, Initial, Stmt, Var};
use crate::syntax::lex::Kind;
use crate::syntax::sym;
use crate::syntax::vocabulary::Word;

impl Parser<'_> {
    /// `using T = X;` and `typedef X T;` inside a function: T may depend on template arguments.
    pub(super) fn local_alias(&mut self, using: bool) -> Parsed<Stmt> {
        self.pos += 1;
        let (name, ty) = if using {
            let name = self.ident()?;
            self.want(sym::ASSIGN)?;
            (name, self.type_id()?)
        } else {
            let mut ty = self.specified_type(&mut Specifiers::default())?;
            self.stars(&mut ty);
            let name = self.ident()?;
            self.dims(&mut ty)?;
            (name, ty)
        };
        self.want(sym::SEMI)?;
        let slot = self.declare(Some(name));
        self.local_types.push(name);
        Ok(Stmt::Alias(slot, Box::new(ty)))
    }

    pub(super) fn passed_over(&mut self) -> Parsed<Stmt> {
        // `using T = ...;`, `typedef ... T;`, `struct T { ... };`: the name is a type from here on.
        let start = self.pos;
        let first = self.peek().map(|tok| tok.sym);
        let mut last = None;
        while let Some(tok) = self.peek() {
            if tok.is(sym::SEMI) {
                break;
            }
            if tok.is(sym::LBRACE) || tok.is(sym::LPAREN) || tok.is(sym::LBRACKET) {
                self.skip_balanced();
                continue;
            }
            if tok.kind == Kind::Ident {
                last = Some(tok.sym);
            }
            self.pos += 1;
        }
        self.eat(sym::SEMI);
        let named = match first {
            Some(sym::TYPEDEF) => last,
            Some(sym::USING | sym::STRUCT | sym::UNION | sym::CLASS | sym::ENUM) => {
                self.toks.get(start + 1).filter(|tok| tok.kind == Kind::Ident).map(|tok| tok.sym)
            }
            _ => None,
        };
        self.local_types.extend(named);
        Ok(Stmt::Empty)
    }

    /// `enum name { a = 1, b };` inside a function: local constants.
    pub(super) fn local_enum(&mut self) -> Parsed<Stmt> {
        let start = self.span();
        self.want(sym::ENUM)?;
        let name = if self.is_ident(0) { Some(self.ident()?) } else { None };
        let mut ty = self.unknown_type(start);
        ty.base = crate::syntax::ast::Base::Int { bits: 32, signed: true };
        let fixed = self.eat(sym::COLON);
        if fixed {
            ty = self.type_id()?;
        }
        let mut stmts = Vec::new();
        if let Some(name) = name {
            let slot = self.declare(Some(name));
            self.local_types.push(name);
            stmts.push(Stmt::Alias(slot, Box::new(ty.clone())));
        }
        // Without a declared underlying type, the type follows from the values.
        let ty = if fixed { ty } else { self.unknown_type(start) };
        self.want(sym::LBRACE)?;
        let mut vars: Vec<Var> = Vec::new();
        while !self.at(sym::RBRACE) {
            let from = self.span();
            let name = self.ident()?;
            let value = match (self.eat(sym::ASSIGN), vars.last()) {
                (true, _) => self.assignment()?,
                (false, None) => self.node(ExprKind::Int(0, crate::syntax::integer::IntTy::I32), from),
                (false, Some(last)) => {
                    let (slot, name) = (last.slot, last.name);
                    self.mark_used(slot);
                    let last = self.node(ExprKind::Local(slot, name), from);
                    let one = self.node(ExprKind::Int(1, crate::syntax::integer::IntTy::I32), from);
                    self.node(ExprKind::Binary(crate::syntax::ast::Binary::Add, Box::new(last), Box::new(one)), from)
                }
            };
            let slot = self.declare(Some(name));
            let span = self.since(from);
            let init = Initial::Value(value);
            vars.push(Var { slot, name, ty: ty.clone(), init, fixed: true, is_static: false, span });
            if !self.eat(sym::COMMA) {
                break;
            }
        }
        self.want(sym::RBRACE)?;
        // Variables declared together with the enum are not supported.
        self.want(sym::SEMI)?;
        stmts.push(Stmt::Decl(vars));
        Ok(Stmt::Block(stmts))
    }

    /// `struct name { ... };` or `struct { ... } variable;` inside a function.
    pub(super) fn local_struct(&mut self) -> Parsed<Stmt> {
        let defined = self.struct_definition(Vec::new())?;
        if let Some(name) = defined.name {
            self.local_types.push(name);
            self.local_structs.push((name, defined.clone()));
        }
        if self.eat(sym::SEMI) {
            return Ok(Stmt::Empty);
        }
        let mut ty = self.unknown_type(defined.span);
        ty.base = crate::syntax::ast::Base::Inline(defined);
        let vars = self.declarators(ty, Specifiers::default())?;
        self.want(sym::SEMI)?;
        Ok(Stmt::Decl(vars))
    }

    pub(super) fn local_definition(&self) -> bool {
        let at = if self.is_ident(1) { 2 } else { 1 };
        self.at_ahead(at, sym::LBRACE) || self.at_ahead(at, sym::COLON)
    }

    /// Whether a declaration begins here: a keyword that only starts declarations, a known type followed by a name, or
    /// two names in a row.
    pub(super) fn declares(&self) -> bool {
        let Some(tok) = self.peek() else { return false };
        if tok.kind != Kind::Ident && !tok.is(sym::SCOPE) && !tok.is(sym::LBRACKET) {
            return false;
        }
        match tok.sym {
            sym::STATIC
            | sym::CONST
            | sym::CONSTEXPR
            | sym::AUTO
            | sym::EXTERN
            | sym::VOLATILE
            | sym::THREAD_LOCAL
            | sym::REGISTER
            | sym::STRUCT
            | sym::ENUM
            | sym::UNION
            | sym::TYPENAME
            | sym::ATTRIBUTE => return true,
            sym::LBRACKET => return self.at_ahead(1, sym::LBRACKET),
            word if self.interner.word(word) == Some(Word::Storage) => return true,
            _ => {}
        }
        if self.local(tok.sym).is_some() && !self.local_types.contains(&tok.sym) {
            return false;
        }
        if self.starts_type() {
            // `T(x);`, `T{x};` and `T::f()` are values.
            return !(self.at_ahead(1, sym::LPAREN) || self.at_ahead(1, sym::LBRACE));
        }
        // An unknown name: `Name other`, `Name * other =`, `ns::Name<...> other`.
        let mut at = 1;
        while self.at_ahead(at, sym::SCOPE) && self.is_ident(at + 1) {
            at += 2;
        }
        if self.is_ident(at) {
            return true;
        }
        if self.at_ahead(at, sym::LT) {
            return self.closes_then_name(at);
        }
        let stars = (at..at + 3).take_while(|&by| self.at_ahead(by, sym::STAR) || self.at_ahead(by, sym::AMP)).count();
        let after = at + stars + 1;
        stars > 0
            && self.is_ident(at + stars)
            && (self.at_ahead(after, sym::ASSIGN)
                || self.at_ahead(after, sym::SEMI)
                || self.at_ahead(after, sym::COMMA))
    }

    /// `Unknown<...> name`: the list closes and a name follows.
    pub(super) fn closes_then_name(&self, open: usize) -> bool {
        let mut depth = 0i32;
        for by in open..open + 64 {
            let Some(tok) = self.ahead(by) else { return false };
            match tok.sym {
                sym::LT => depth += 1,
                sym::GT => depth -= 1,
                sym::SEMI | sym::LBRACE | sym::RBRACE | sym::ANDAND | sym::OROR => return false,
                _ => {}
            }
            if depth == 0 {
                let star = self.at_ahead(by + 1, sym::STAR) || self.at_ahead(by + 1, sym::AMP);
                return self.is_ident(by + 1 + usize::from(star));
            }
        }
        false
    }

    pub(super) fn declaration_statement(&mut self) -> Parsed<Stmt> {
        // `extern T name;` declares no variable of its own: the name is that of a global.
        if self.at(sym::EXTERN) {
            return self.passed_over();
        }
        let vars = self.variables()?;
        self.want(sym::SEMI)?;
        Ok(Stmt::Decl(vars))
    }

    /// Parses declarations such as `T a = 1, * b, c(2), d{3}`.
    pub(super) fn variables(&mut self) -> Parsed<Vec<Var>> {
        let mut specifiers = Specifiers::default();
        let base = self.specified_type(&mut specifiers)?;
        self.declarators(base, specifiers)
    }

    pub(super) fn declarators(&mut self, base: crate::syntax::ast::Type, specifiers: Specifiers) -> Parsed<Vec<Var>> {
        let mut vars = Vec::new();
        loop {
            let start = self.span();
            let mut ty = base.clone();
            self.stars(&mut ty);
            // Structured bindings (`auto [a, b] = ...`) and pointers to functions.
            let name = if self.at(sym::LPAREN) && self.at_ahead(1, sym::STAR) {
                self.pos += 2;
                let name = self.ident()?;
                self.want(sym::RPAREN)?;
                self.skip_balanced();
                ty.base = crate::syntax::ast::Base::Function;
                name
            } else {
                self.ident()?
            };
            self.dims(&mut ty)?;
            let init = if self.eat(sym::ASSIGN) {
                Initial::Value(if self.at(sym::LBRACE) { self.init_list()? } else { self.assignment()? })
            } else if self.at(sym::LPAREN) {
                Initial::Arguments(self.arguments()?)
            } else if self.at(sym::LBRACE) {
                Initial::Value(self.init_list()?)
            } else {
                Initial::None
            };
            // The slot is declared after the initialiser is parsed: `int x = x;` is rare, but shadowing with the outer
            // value is common.
            let slot = self.declare(Some(name));
            let span = self.since(start);
            let is_static = specifiers.is_static || specifiers.thread;
            vars.push(Var { slot, name, ty, init, fixed: specifiers.fixed, is_static, span });
            if !self.eat(sym::COMMA) {
                return Ok(vars);
            }
        }
    }
}
