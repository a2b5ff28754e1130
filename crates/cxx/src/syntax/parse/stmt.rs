//! Statements. The main difficulty is to decide whether a statement is a declaration.

use super::types::Specifiers;
use super::{Parsed, Parser, Stuck};
use crate::syntax::ast::{Expr, ExprKind, Stmt, Switch};
use crate::syntax::lex::{Kind, Tok};
use crate::syntax::sym::{self, Sym};
use std::sync::{Arc, OnceLock};

impl Parser<'_> {
    /// Parses one statement. An unreadable one is skipped to its end and kept as `Unparsed`.
    pub(super) fn statement(&mut self) -> Stmt {
        let mark = self.mark();
        let start = self.span();
        match self.try_statement() {
            Ok(stmt) => {
                self.depth = mark.depth;
                stmt
            }
            Err(Stuck) => {
                let slots = self.slots;
                self.rewind(mark);
                self.slots = slots;
                (self.angle, self.configured) = (false, false);
                self.lost_label |= self.at(sym::CASE) || self.at(sym::DEFAULT);
                self.skip_statement();
                Stmt::Unparsed(self.since(start))
            }
        }
    }

    fn skip_statement(&mut self) {
        let start = self.pos;
        while let Some(tok) = self.peek() {
            match tok.sym {
                _ if tok.kind != Kind::Punct => self.pos += 1,
                sym::SEMI => {
                    self.pos += 1;
                    break;
                }
                sym::LBRACE => {
                    self.skip_balanced();
                    if !(self.at(sym::SEMI) || self.at(sym::COMMA) || self.at(sym::RPAREN)) {
                        break;
                    }
                }
                sym::LPAREN | sym::LBRACKET => self.skip_balanced(),
                sym::RBRACE => break,
                _ => self.pos += 1,
            }
        }
        // Always make progress: consume a stray closing brace.
        if self.pos == start {
            self.pos += 1;
        }
    }

    pub(super) fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.deeper()?;
        self.want(sym::LBRACE)?;
        let (scope, types, structs) = (self.scopes.len(), self.local_types.len(), self.local_structs.len());
        let mut stmts = Vec::new();
        while !self.at(sym::RBRACE) {
            if self.peek().is_none() {
                return Err(Stuck);
            }
            stmts.push(self.statement());
        }
        self.scopes.truncate(scope);
        self.local_types.truncate(types);
        self.local_structs.truncate(structs);
        self.pos += 1;
        self.depth -= 1;
        Ok(stmts)
    }

    fn try_statement(&mut self) -> Parsed<Stmt> {
        self.deeper()?;
        // Skip attributes such as `[[fallthrough]];` and `[[likely]] {...}`.
        while self.at(sym::LBRACKET) && self.at_ahead(1, sym::LBRACKET) {
            self.skip_balanced();
        }
        let start = self.span();
        let Some(&tok) = self.peek() else { return Err(Stuck) };
        if tok.kind == Kind::Ident || tok.kind == Kind::Punct {
            match tok.sym {
                sym::SEMI => {
                    self.pos += 1;
                    return Ok(Stmt::Empty);
                }
                sym::LBRACE => return Ok(Stmt::Block(self.block()?)),
                sym::IF => return self.if_statement(),
                sym::SWITCH => return self.switch_statement(),
                sym::FOR => return self.for_statement(),
                sym::WHILE => {
                    self.pos += 1;
                    self.want(sym::LPAREN)?;
                    let cond = self.expression()?;
                    self.want(sym::RPAREN)?;
                    let body = Box::new(self.statement());
                    return Ok(Stmt::While { cond, body, first: true });
                }
                sym::DO => {
                    self.pos += 1;
                    let body = Box::new(self.statement());
                    self.want(sym::WHILE)?;
                    self.want(sym::LPAREN)?;
                    let cond = self.expression()?;
                    self.want(sym::RPAREN)?;
                    self.eat(sym::SEMI);
                    return Ok(Stmt::While { cond, body, first: false });
                }
                sym::RETURN => {
                    self.pos += 1;
                    let value = match self.peek() {
                        Some(tok) if tok.is(sym::SEMI) => None,
                        Some(tok) if tok.is(sym::LBRACE) => Some(self.init_list()?),
                        _ => Some(self.expression()?),
                    };
                    let span = self.since(start);
                    self.want(sym::SEMI)?;
                    return Ok(Stmt::Return(value, span));
                }
                sym::BREAK | sym::CONTINUE => {
                    self.pos += 1;
                    self.want(sym::SEMI)?;
                    return Ok(if tok.sym == sym::BREAK { Stmt::Break } else { Stmt::Continue });
                }
                sym::CASE => {
                    self.pos += 1;
                    let label = self.expression()?;
                    if self.eat(sym::ELLIPSIS) {
                        let last = self.expression()?;
                        self.want(sym::COLON)?;
                        return Ok(Stmt::Cases(Box::new([label, last])));
                    }
                    self.want(sym::COLON)?;
                    return Ok(Stmt::Case(label));
                }
                sym::DEFAULT if self.at_ahead(1, sym::COLON) => {
                    self.pos += 2;
                    return Ok(Stmt::Default);
                }
                sym::STATIC_ASSERT | sym::STATIC_ASSERT_C => return self.passed_over(),
                sym::USING | sym::TYPEDEF => {
                    let mark = self.mark();
                    return match self.local_alias(tok.sym == sym::USING) {
                        Ok(stmt) => Ok(stmt),
                        Err(Stuck) => {
                            self.rewind(mark);
                            // After `using a::f;`, f has another meaning.
                            if tok.sym == sym::USING && !self.at_ahead(1, sym::NAMESPACE) && !self.at_ahead(1, sym::STD)
                            {
                                return Err(Stuck);
                            }
                            self.passed_over()
                        }
                    };
                }
                sym::STRUCT | sym::UNION | sym::CLASS if self.local_definition() => return self.local_struct(),
                sym::ENUM if self.local_definition() => return self.local_enum(),
                // The writes of an assembler statement are not tracked.
                sym::TRY => {
                    self.pos += 1;
                    let body = self.block()?;
                    while self.eat(sym::CATCH) {
                        self.skip_balanced();
                        self.skip_balanced();
                    }
                    return Ok(Stmt::Try(body, self.since(start)));
                }
                sym::GOTO | sym::CATCH | sym::ASM | sym::ASM_GNU => return Err(Stuck),
                _ => {}
            }
        }
        if tok.kind == Kind::Ident && self.at_ahead(1, sym::LPAREN) && self.says_unused(tok.sym) {
            // `unused(x);` marks a variable as unused, which does not count as a use.
            let mark = self.mark();
            self.pos += 1;
            let from = self.pos;
            self.skip_balanced();
            let given = self.toks.get(from..self.pos).unwrap_or_default();
            let changes = |tok: &Tok| tok.kind == Kind::Punct && self.interner.text(tok.sym).ends_with('=');
            if !given.iter().any(|tok| changes(tok) || tok.is(sym::INC) || tok.is(sym::DEC)) {
                self.eat(sym::SEMI);
                return Ok(Stmt::Empty);
            }
            self.rewind(mark);
        }
        if self.declares() {
            let mark = self.mark();
            match self.declaration_statement() {
                Ok(stmt) => return Ok(stmt),
                Err(Stuck) => self.rewind(mark),
            }
        }
        let expr = self.expression()?;
        // Macros that expand to declarations may lack a semicolon; the next token then begins a statement.
        if !self.eat(sym::SEMI) && !matches!(expr.kind, ExprKind::Call(..)) {
            return Err(Stuck);
        }
        Ok(Stmt::Expr(expr))
    }

    fn says_unused(&self, name: Sym) -> bool {
        let prefixes = self.names.vocabulary.unused;
        !prefixes.is_empty() && prefixes.iter().any(|prefix| self.interner.text(name).starts_with(prefix))
    }

    fn if_statement(&mut self) -> Parsed<Stmt> {
        self.pos += 1;
        self.eat(sym::CONSTEXPR);
        self.want(sym::LPAREN)?;
        let scope = self.scopes.len();
        let mut init = None;
        if self.declares() {
            let mark = self.mark();
            match self.condition_declaration() {
                Ok((declared, None)) => init = Some(declared),
                Ok((declared, Some(cond))) => {
                    self.want(sym::RPAREN)?;
                    return self.finish_if(Some(Box::new(declared)), cond, scope);
                }
                Err(Stuck) => self.rewind(mark),
            }
        }
        let cond = self.expression()?;
        self.want(sym::RPAREN)?;
        self.finish_if(init.map(Box::new), cond, scope)
    }

    fn finish_if(&mut self, init: Option<Box<Stmt>>, cond: Expr, scope: usize) -> Parsed<Stmt> {
        let then = Box::new(self.statement());
        let other = if self.eat(sym::ELSE) { Some(Box::new(self.statement())) } else { None };
        self.scopes.truncate(scope);
        Ok(Stmt::If { init, cond, then, other })
    }

    /// Parses a declaration in a condition. `if (T x = a; cond)` gives no condition yet; `if (T x = a)` tests x.
    fn condition_declaration(&mut self) -> Parsed<(Stmt, Option<Expr>)> {
        let start = self.span();
        let vars = self.variables()?;
        if self.eat(sym::SEMI) {
            return Ok((Stmt::Decl(vars), None));
        }
        if !self.at(sym::RPAREN) {
            return Err(Stuck);
        }
        let last = vars.last().ok_or(Stuck)?;
        let slot = last.slot;
        self.mark_used(slot);
        let cond = self.node(ExprKind::Local(last.slot, last.name), start);
        Ok((Stmt::Decl(vars), Some(cond)))
    }

    fn switch_statement(&mut self) -> Parsed<Stmt> {
        self.pos += 1;
        self.want(sym::LPAREN)?;
        let scope = self.scopes.len();
        let mut init = None;
        let mark = self.mark();
        if self.declares() {
            match self.condition_declaration() {
                Ok((declared, None)) => init = Some(declared),
                _ => self.rewind(mark),
            }
        }
        let value = self.expression()?;
        self.want(sym::RPAREN)?;
        let lost = std::mem::take(&mut self.lost_label);
        let body = self.block()?;
        let hidden =
            std::mem::replace(&mut self.lost_label, lost) || body.iter().any(|stmt| !is_label(stmt) && has_label(stmt));
        self.scopes.truncate(scope);
        let switch = Stmt::Switch(Arc::new(Switch { value, body, hidden, jumps: OnceLock::new() }));
        Ok(match init {
            Some(init) => Stmt::Block(vec![init, switch]),
            None => switch,
        })
    }

    fn for_statement(&mut self) -> Parsed<Stmt> {
        self.pos += 1;
        self.want(sym::LPAREN)?;
        let scope = self.scopes.len();
        let mark = self.mark();
        if let Ok(each) = self.each_header() {
            let (slot, parts, by_ref, range) = each;
            let body = Box::new(self.statement());
            self.scopes.truncate(scope);
            return Ok(Stmt::Each { slot, parts, by_ref, range, body });
        }
        self.rewind(mark);
        let init = Box::new(self.statement());
        let cond = if self.at(sym::SEMI) { None } else { Some(self.expression()?) };
        self.want(sym::SEMI)?;
        let step = if self.at(sym::RPAREN) { None } else { Some(self.expression()?) };
        self.want(sym::RPAREN)?;
        let body = Box::new(self.statement());
        self.scopes.truncate(scope);
        Ok(Stmt::For { init, cond, step, body })
    }

    fn each_header(&mut self) -> Parsed<(u32, Vec<u32>, bool, Expr)> {
        let mut specifiers = Specifiers::default();
        let mut ty = self.specified_type(&mut specifiers)?;
        self.stars(&mut ty);
        let mut names = Vec::new();
        let name = if self.eat(sym::LBRACKET) {
            names.push(self.ident()?);
            while self.eat(sym::COMMA) {
                names.push(self.ident()?);
            }
            self.want(sym::RBRACKET)?;
            None
        } else {
            Some(self.ident()?)
        };
        self.want(sym::COLON)?;
        let range = if self.at(sym::LBRACE) { self.init_list()? } else { self.expression()? };
        self.want(sym::RPAREN)?;
        let slot = self.declare(name);
        let parts = names.into_iter().map(|name| self.declare(Some(name))).collect();
        Ok((slot, parts, ty.reference, range))
    }
}

fn is_label(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Case(_) | Stmt::Cases(_) | Stmt::Default)
}

/// Whether a statement contains a label of the switch around it.
fn has_label(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Case(_) | Stmt::Cases(_) | Stmt::Default => true,
        Stmt::Block(stmts) | Stmt::Try(stmts, _) => stmts.iter().any(has_label),
        Stmt::If { then, other, .. } => has_label(then) || other.as_deref().is_some_and(has_label),
        Stmt::For { body, .. } | Stmt::Each { body, .. } | Stmt::While { body, .. } => has_label(body),
        _ => false,
    }
}
