//! Function-local statics, each initialised once. If a value depends on the first call, it is valid for that run only;
//! otherwise it is valid for all runs.

use super::machine::Machine;
use super::records::Run;
use super::value::{MemoryPlace, Ty, Value};
use crate::syntax::ast::{Expr, ExprKind, Initial, Var};
use crate::syntax::visit::{Part, parts_in};
use std::hash::{Hash, Hasher};

impl Machine<'_> {
    pub(super) fn declare_static(&mut self, var: &Var, root: u32) -> Run<()> {
        // A lambda has one set of statics, wherever it runs.
        let instance = self.template_key().or((self.starting && self.function().is_none()).then_some(0));
        let Some(instance) = instance else {
            // If a static of a lambda, a method or an instance cannot be distinguished from others, it is initialised
            // again for each call.
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
                // A static that depends on the input of its first call is valid for this run only.
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

    /// A hash of the running function's template arguments: a template has one set of statics per instance. None if the
    /// arguments are too complex to distinguish instances.
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

/// Whether the initial value of a static depends on its first call: on variables or the object of the running function.
pub(super) fn depends_on_call(var: &Var, templates: usize) -> bool {
    let (mut read, mut own, mut this) = (Vec::new(), Vec::new(), false);
    let parts = match &var.init {
        Initial::None => Vec::new(),
        Initial::Value(init) => parts_in(init),
        Initial::Arguments(args) => args.iter().flat_map(parts_in).collect(),
    };
    for part in parts {
        match part {
            Part::Var(var) => own.push(var.slot),
            Part::Bound(slot) => own.push(slot),
            Part::Expr(Expr { kind: ExprKind::Local(slot, _), .. }) => read.push(*slot),
            Part::Expr(Expr { kind: ExprKind::This, .. }) => this = true,
            Part::Expr(_) | Part::Unparsed(_) => {}
        }
    }
    // Template parameters, and the variables of a lambda, do not come from the call.
    this || read.iter().any(|slot| *slot as usize >= templates && !own.contains(slot))
}
