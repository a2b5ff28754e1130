//! Every call that stands in a function, with the conditions around it.

use crate::ast::{Expr, ExprKind, Initial, Name, Stmt};
use crate::files::Span;

/// A call by name, and the conditions that stand around it in the text.
#[derive(Debug)]
pub struct Call<'a> {
    pub name: &'a Name,
    pub args: &'a [Expr],
    pub at: Span,
    pub guards: Vec<&'a Expr>,
}

/// All calls of a list of statements, in the order of the text.
pub fn calls(stmts: &[Stmt]) -> Vec<Call<'_>> {
    let mut visit = Visit { out: Vec::new(), guards: Vec::new(), slots: None };
    stmts.iter().for_each(|stmt| visit.stmt(stmt));
    visit.out
}

/// Every name that an expression mentions.
pub fn names<'a>(expr: &'a Expr, out: &mut Vec<&'a Name>) {
    if let ExprKind::Name(name) = &expr.kind {
        out.push(name);
    }
    for part in parts(expr) {
        names(part, out);
    }
}

/// Every slot that statements and the lambdas in them write to: by assignment, or by giving it away.
pub(crate) fn locals(stmts: &[Stmt], out: &mut Vec<u32>) {
    let mut visit = Visit { out: Vec::new(), guards: Vec::new(), slots: Some(out) };
    stmts.iter().for_each(|stmt| visit.stmt(stmt));
}

struct Visit<'a, 's> {
    slots: Option<&'s mut Vec<u32>>,
    out: Vec<Call<'a>>,
    guards: Vec<&'a Expr>,
}

impl<'a> Visit<'a, '_> {
    fn stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Expr(expr) | Stmt::Return(Some(expr), _) | Stmt::Case(expr) => self.expr(expr),
            Stmt::Decl(vars) => {
                for var in vars {
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
                self.guards.push(&switch.value);
                switch.body.iter().for_each(|stmt| self.stmt(stmt));
                self.guards.pop();
            }
            Stmt::For { init, cond, step, body } => {
                self.stmt(init);
                cond.iter().chain(step).for_each(|expr| self.expr(expr));
                self.stmt(body);
            }
            Stmt::Each { range, body, .. } => {
                self.expr(range);
                self.stmt(body);
            }
            Stmt::While { cond, body, .. } => {
                self.expr(cond);
                self.stmt(body);
            }
            Stmt::Block(stmts) => stmts.iter().for_each(|stmt| self.stmt(stmt)),
            Stmt::Return(None, _)
            | Stmt::Alias(..)
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Default
            | Stmt::Cases(_)
            | Stmt::Empty
            | Stmt::Unparsed(_) => {}
        }
    }

    fn expr(&mut self, expr: &'a Expr) {
        if let Some(slots) = &mut self.slots {
            given(expr, slots);
        }
        match &expr.kind {
            ExprKind::Call(callee, args) => {
                if let ExprKind::Name(name) = &callee.kind {
                    self.out.push(Call { name, args, at: expr.span, guards: self.guards.clone() });
                }
            }
            ExprKind::Binary(crate::ast::Binary::And, left, right) => {
                self.expr(left);
                self.guards.push(left);
                self.expr(right);
                self.guards.pop();
                return;
            }
            ExprKind::Lambda(lambda) => lambda.body.iter().for_each(|stmt| self.stmt(stmt)),
            _ => {}
        }
        for part in parts(expr) {
            self.expr(part);
        }
    }
}

/// The variables that this very expression may change.
fn given(expr: &Expr, out: &mut Vec<u32>) {
    match &expr.kind {
        ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => root(target, out),
        ExprKind::Unary(crate::ast::Unary::Address, inner) => root(inner, out),
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
        ExprKind::Unary(crate::ast::Unary::Deref, base) => root(base, out),
        ExprKind::Ternary(parts) => parts.iter().skip(1).for_each(|part| root(part, out)),
        _ => {}
    }
}

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
        ExprKind::Construct(_, args) => args.iter().collect(),
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
