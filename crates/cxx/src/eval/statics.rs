//! Statics of functions: each is made once. What its first call gave it holds for that run alone, anything else for all.

use super::machine::Machine;
use super::records::Run;
use super::value::{MemoryPlace, Ty, Value};
use crate::syntax::ast::{Expr, ExprKind, Initial, Stmt, Var};
use crate::syntax::visit::parts;
use std::hash::{Hash, Hasher};

impl Machine<'_> {
    pub(super) fn declare_static(&mut self, var: &Var, root: u32) -> Run<()> {
        let Some(instance) = self.template_key() else {
            // Of a lambda, a method or an instance that is not told from others: made anew for each call.
            let value = self.initial(var)?;
            self.set_slot(root, value);
            return Ok(());
        };
        let key = (u64::from(var.span.file) << 32 | u64::from(var.span.start), instance);
        let id = match self.statics.get(&key) {
            Some(&id) => {
                if self.trace.is_some() {
                    let reads = self.env_of_statics.get(&key).cloned().unwrap_or_default();
                    reads.into_iter().for_each(|at| self.tell_environment(at));
                }
                id
            }
            None => {
                let (guesses, reads, settled) = (self.guesses(), self.env_reads.len(), self.settled_so_far());
                self.ran.begin_lasting();
                let value = self.initial(var);
                self.ran.end_lasting();
                let place = self.global(value?);
                self.statics.insert(key, place.root);
                if let Some(reads) = self.env_reads.get(reads..).filter(|reads| !reads.is_empty()) {
                    self.env_of_statics.insert(key, reads.to_vec());
                }
                // One that hangs on the input of its first call holds for this very run.
                let varies = self.has_settled(settled) || self.peek(place).is_some_and(Value::varies);
                if varies {
                    self.hold_point();
                }
                if varies || self.guesses() != guesses {
                    self.guessed_statics.push(key);
                }
                place.root
            }
        };
        self.set_slot(root, Value::Ref(MemoryPlace::new(id)));
        Ok(())
    }

    /// Template arguments of the running function, folded: a template's statics are one per instance. None where they are not
    /// plain enough to tell instances apart.
    fn template_key(&self) -> Option<u64> {
        let function = self.function()?;
        let mut folded = std::hash::DefaultHasher::new();
        for at in 0..function.templates.len() {
            match self.stack.get(self.base() + at)? {
                Value::Int(value, 0, _) => (0, value).hash(&mut folded),
                Value::Type(ty) => match ty.as_ref() {
                    Ty::Void => 1.hash(&mut folded),
                    Ty::Bool => 2.hash(&mut folded),
                    Ty::Int(bits, signed) => (3, bits, signed).hash(&mut folded),
                    Ty::Float(bits) => (4, bits).hash(&mut folded),
                    Ty::Struct(instance) if instance.args.is_empty() => {
                        (5, std::sync::Arc::as_ptr(&instance.of) as usize).hash(&mut folded);
                    }
                    _ => return None,
                },
                _ => return None,
            }
        }
        Some(folded.finish())
    }
}

/// Whether what a static begins as hangs on what its first call was given or made: variables of the running function, or its object.
pub(super) fn hangs_on_call(var: &Var, templates: usize) -> bool {
    let mut read = Read { slots: Vec::new(), own: Vec::new(), this: false };
    match &var.init {
        Initial::None => {}
        Initial::Value(init) => read.expr(init),
        Initial::Arguments(args) => args.iter().for_each(|arg| read.expr(arg)),
    }
    // Template parameters, and what a lambda has for itself, are nobody's arguments.
    let own = &read.own;
    read.this || read.slots.iter().any(|slot| *slot as usize >= templates && !own.contains(slot))
}

struct Read {
    slots: Vec<u32>,
    own: Vec<u32>,
    this: bool,
}

impl Read {
    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Local(slot, _) => self.slots.push(*slot),
            ExprKind::This => self.this = true,
            ExprKind::Lambda(lambda) => {
                self.own.extend(lambda.params.iter().map(|param| param.slot));
                self.own.extend(lambda.own.iter().map(|(slot, _)| *slot));
                lambda.own.iter().for_each(|(_, value)| self.expr(value));
                lambda.body.iter().for_each(|stmt| self.stmt(stmt));
            }
            _ => parts(expr).into_iter().for_each(|part| self.expr(part)),
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Expr(expr) | Stmt::Return(Some(expr), _) | Stmt::Case(expr) => self.expr(expr),
            Stmt::Decl(vars) => {
                for var in vars {
                    self.own.push(var.slot);
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
                self.stmt(then);
                other.iter().for_each(|other| self.stmt(other));
            }
            Stmt::Switch(switch) => {
                self.expr(&switch.value);
                switch.body.iter().for_each(|stmt| self.stmt(stmt));
            }
            Stmt::For { init, cond, step, body } => {
                self.stmt(init);
                cond.iter().chain(step).for_each(|expr| self.expr(expr));
                self.stmt(body);
            }
            Stmt::Each { slot, parts, range, body, .. } => {
                self.own.push(*slot);
                self.own.extend(parts);
                self.expr(range);
                self.stmt(body);
            }
            Stmt::While { cond, body, .. } => {
                self.expr(cond);
                self.stmt(body);
            }
            Stmt::Block(stmts) => stmts.iter().for_each(|stmt| self.stmt(stmt)),
            Stmt::Cases(pair) => pair.iter().for_each(|expr| self.expr(expr)),
            Stmt::Alias(slot, _) => self.own.push(*slot),
            Stmt::Return(None, _) | Stmt::Break | Stmt::Continue | Stmt::Default | Stmt::Empty | Stmt::Unparsed(_) => {}
        }
    }
}
