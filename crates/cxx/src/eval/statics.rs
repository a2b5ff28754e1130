//! Statics of functions: each is made once. What its first call gave it holds for that run alone, anything else for all.

use super::machine::{Machine, Run};
use super::value::{Place, Value};
use crate::ast::{Expr, ExprKind, Initial, Var};
use crate::visit::parts;

impl Machine<'_> {
    pub(super) fn declare_static(&mut self, var: &Var, root: u32) -> Run<()> {
        let key = (u64::from(var.span.file) << 32 | u64::from(var.span.start), self.template_key());
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
                // What this call was given, or has made of it, another run has otherwise, also where it is a plain number here.
                let templates = self.function().map_or(0, |function| function.templates.len());
                let hangs = matches!(&var.init, Initial::Value(init) if reads_locals(init, templates));
                if varies || hangs || self.guesses() != guesses {
                    self.guessed_statics.push(key);
                }
                place.root
            }
        };
        self.set_slot(root, Value::Ref(Place::new(id)));
        Ok(())
    }

    /// Template arguments of the running function, folded: a template's statics are one per instance.
    fn template_key(&self) -> u64 {
        let Some(function) = self.function() else { return 0 };
        let values = (0..function.templates.len()).map(|at| self.stack.get(self.base() + at));
        values.fold(1, |key, value| match value {
            Some(Value::Int(value, ..)) => key.wrapping_mul(31).wrapping_add(*value as u64),
            _ => key.wrapping_mul(37),
        })
    }
}

/// Whether an expression reads a variable of the running function.
fn reads_locals(expr: &Expr, templates: usize) -> bool {
    match &expr.kind {
        ExprKind::Local(slot, _) => *slot as usize >= templates,
        ExprKind::This | ExprKind::Lambda(_) => true,
        _ => parts(expr).into_iter().any(|part| reads_locals(part, templates)),
    }
}
