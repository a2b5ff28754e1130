//! Visits every variable, expression and call of a function, with the conditions around it.

use crate::syntax::ast::{Binary, Expr, ExprKind, Initial, Name, Stmt, Unary, Var};
use crate::syntax::files::Span;

/// A call by name, and the conditions that enclose it in the text.
#[derive(Debug)]
pub struct Call<'a> {
    pub name: &'a Name,
    pub args: &'a [Expr],
    pub at: Span,
    pub guards: Vec<&'a Expr>,
}

/// The parts of statements.
#[derive(Debug, Clone, Copy)]
pub enum Part<'a> {
    Var(&'a Var),
    /// Every expression, before its own parts.
    Expr(&'a Expr),
    /// The slot of a variable without a [`Var`]: of a range-for, an alias, or a parameter or capture of a lambda.
    Bound(u32),
    Unparsed(Span),
}

/// All calls of a list of statements, in the order of the text.
pub fn calls(stmts: &[Stmt]) -> Vec<Call<'_>> {
    let mut out = Vec::new();
    visit(stmts, &mut |part, guards| {
        if let Part::Expr(Expr { kind: ExprKind::Call(callee, args), span }) = part
            && let ExprKind::Name(name) = &callee.kind
        {
            out.push(Call { name, args, at: *span, guards: guards.to_vec() });
        }
    });
    out
}

/// Every part of a list of statements and of the lambdas in them, in the order of the text.
pub fn parts_of(stmts: &[Stmt]) -> Vec<Part<'_>> {
    let mut out = Vec::new();
    visit(stmts, &mut |part, _| out.push(part));
    out
}

/// Every part of an expression and of the lambdas in it, starting with the expression itself.
pub fn parts_in(expr: &Expr) -> Vec<Part<'_>> {
    let mut out = Vec::new();
    let mut seen = |part, _: &[&Expr]| out.push(part);
    Visit { seen: &mut seen, guards: Vec::new() }.expr(expr);
    out
}

/// Every slot that statements and the lambdas in them may write to: by assignment, or by giving access to it.
pub(crate) fn locals(stmts: &[Stmt], out: &mut Vec<u32>) {
    visit(stmts, &mut |part, _| {
        if let Part::Expr(expr) = part {
            given(expr, out);
        }
    });
}

fn visit<'a>(stmts: &'a [Stmt], seen: &mut dyn FnMut(Part<'a>, &[&'a Expr])) {
    let mut visit = Visit { seen, guards: Vec::new() };
    stmts.iter().for_each(|stmt| visit.stmt(stmt));
}

struct Visit<'a, 's> {
    seen: &'s mut dyn FnMut(Part<'a>, &[&'a Expr]),
    guards: Vec<&'a Expr>,
}

impl<'a> Visit<'a, '_> {
    fn stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Expr(expr) | Stmt::Return(Some(expr), _) | Stmt::Case(expr) => self.expr(expr),
            Stmt::Decl(vars) => {
                for var in vars {
                    (self.seen)(Part::Var(var), &self.guards);
                    match &var.init {
                        Initial::Value(value) => self.expr(value),
                        Initial::Arguments(args) => args.iter().for_each(|arg| self.expr(arg)),
                        Initial::None => {}
                    }
                }
            }
            Stmt::If { init, cond, then, other } => {
                init.iter().for_each(|init| self.stmt(init));
                self.expr(cond);
                self.guards.push(cond);
                self.stmt(then);
                other.iter().for_each(|other| self.stmt(other));
                self.guards.pop();
            }
            Stmt::Switch(switch) => {
                self.expr(&switch.value);
                self.guards.push(&switch.value);
                switch.body.iter().for_each(|stmt| self.stmt(stmt));
                self.guards.pop();
            }
            Stmt::For { init, cond, step, body } => {
                self.stmt(init);
                cond.iter().chain(step).for_each(|expr| self.expr(expr));
                self.stmt(body);
            }
            Stmt::Each { slot, parts, range, body, .. } => {
                self.bound(std::iter::once(slot).chain(parts));
                self.expr(range);
                self.stmt(body);
            }
            Stmt::While { cond, body, .. } => {
                self.expr(cond);
                self.stmt(body);
            }
            Stmt::Block(stmts) => stmts.iter().for_each(|stmt| self.stmt(stmt)),
            Stmt::Unparsed(span) | Stmt::Try(_, span) => (self.seen)(Part::Unparsed(*span), &self.guards),
            Stmt::Cases(pair) => pair.iter().for_each(|expr| self.expr(expr)),
            Stmt::Alias(slot, _) => self.bound([slot]),
            Stmt::Return(None, _) | Stmt::Break | Stmt::Continue | Stmt::Default | Stmt::Empty => {}
        }
    }

    fn bound<'b>(&mut self, slots: impl IntoIterator<Item = &'b u32>) {
        slots.into_iter().for_each(|slot| (self.seen)(Part::Bound(*slot), &self.guards));
    }

    fn expr(&mut self, expr: &'a Expr) {
        (self.seen)(Part::Expr(expr), &self.guards);
        match &expr.kind {
            ExprKind::Binary(Binary::And, left, right) => {
                self.expr(left);
                self.guards.push(left);
                self.expr(right);
                self.guards.pop();
                return;
            }
            ExprKind::Lambda(lambda) => {
                self.bound(
                    lambda.params.iter().map(|param| &param.slot).chain(lambda.own.iter().map(|(slot, _)| slot)),
                );
                lambda.own.iter().for_each(|(_, value)| self.expr(value));
                lambda.body.iter().for_each(|stmt| self.stmt(stmt));
            }
            _ => {}
        }
        for part in parts(expr) {
            self.expr(part);
        }
    }
}

/// The variables that this expression itself may change: by assignment, or by giving access to them.
pub fn given(expr: &Expr, out: &mut Vec<u32>) {
    match &expr.kind {
        ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => root(target, out),
        ExprKind::Unary(Unary::Address, inner) => root(inner, out),
        ExprKind::Call(callee, args) => {
            args.iter().for_each(|arg| root(arg, out));
            if let ExprKind::Member { base, .. } = &callee.kind {
                root(base, out);
            }
        }
        ExprKind::Construct(_, args) => args.iter().for_each(|arg| root(arg, out)),
        _ => {}
    }
}

fn root(expr: &Expr, out: &mut Vec<u32>) {
    match &expr.kind {
        ExprKind::Local(slot, _) => out.push(*slot),
        ExprKind::Member { base, .. } | ExprKind::Index(base, _) | ExprKind::Cast(_, base) => root(base, out),
        ExprKind::Unary(Unary::Deref, base) => root(base, out),
        ExprKind::Ternary(parts) => parts.iter().skip(1).for_each(|part| root(part, out)),
        _ => {}
    }
}

/// The direct parts of an expression, except the body of a lambda.
pub(crate) fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Unary(_, inner)
        | ExprKind::Cast(_, inner)
        | ExprKind::Pack(inner)
        | ExprKind::Fold { pattern: inner, .. }
        | ExprKind::SizeofExpr(inner)
        | ExprKind::SizeofPack(inner)
        | ExprKind::Step { target: inner, .. }
        | ExprKind::Member { base: inner, .. } => vec![inner],
        ExprKind::Binary(_, left, right)
        | ExprKind::Assign(_, left, right)
        | ExprKind::Comma(left, right)
        | ExprKind::Index(left, right) => vec![left, right],
        ExprKind::Ternary(parts) => parts.iter().collect(),
        ExprKind::Call(callee, args) => std::iter::once(callee.as_ref()).chain(args).collect(),
        ExprKind::Configured(callee, config, args) => {
            std::iter::once(callee.as_ref()).chain(config).chain(args).collect()
        }
        ExprKind::Construct(_, args) | ExprKind::New(_, args) => args.iter().collect(),
        ExprKind::Init(items) => items.iter().map(|(_, value)| value).collect(),
        ExprKind::Int(..)
        | ExprKind::Float(..)
        | ExprKind::Str(_)
        | ExprKind::Bool(_)
        | ExprKind::Null
        | ExprKind::Local(..)
        | ExprKind::Name(_)
        | ExprKind::This
        | ExprKind::SizeofType(_)
        | ExprKind::AlignofType(_)
        | ExprKind::Lambda(_)
        | ExprKind::Throw
        | ExprKind::Heap => Vec::new(),
    }
}
