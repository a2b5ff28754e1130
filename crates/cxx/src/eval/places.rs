//! The memory place of an assignable expression, and the members of objects.

use super::machine::Machine;
use super::records::Run;
use super::value::{MemoryPlace, Shape, Value};
use crate::syntax::ast::{Expr, ExprKind, Root, Unary};
use crate::syntax::files::Span;
use crate::syntax::sym::Sym;

impl Machine<'_> {
    pub(super) fn member(&mut self, base: &Expr, name: Sym, arrow: bool, at: Span) -> Run<Value> {
        let place = if arrow { None } else { self.place(base)? };
        let value = match place {
            Some(place) => Value::Ptr(place),
            None => self.eval(base)?,
        };
        if let Value::Ptr(place) = value
            && let Some(field) = self.field_place(place, name)
        {
            return Ok(self.read(field, at));
        }
        Ok(match &value {
            // The result of an object's own `operator->`.
            Value::Agg(_) if arrow => Value::Opaque(at),
            Value::Agg(agg) => {
                self.field_of(agg, name).or_else(|| self.static_member(&value, name)).unwrap_or(Value::Opaque(at))
            }
            Value::Ptr(place) => match self.peek(*place).and_then(Self::instance) {
                Some(instance) => self.static_of(&instance, name)?.unwrap_or(Value::Opaque(at)),
                None => Value::Opaque(at),
            },
            _ => Value::Opaque(at),
        })
    }

    pub(super) fn static_member(&mut self, value: &Value, name: Sym) -> Option<Value> {
        let instance = Self::instance(value)?;
        self.static_of(&instance, name).ok().flatten()
    }

    /// The place of `base.name` or `base->name`; None if the base is not a struct in memory.
    pub(super) fn member_place(&mut self, base: &Expr, name: Sym, arrow: bool) -> Run<Option<MemoryPlace>> {
        let place = if arrow {
            match self.eval(base)? {
                Value::Ptr(place) => Some(place),
                _ => None,
            }
        } else {
            self.place(base)?
        };
        Ok(place.and_then(|place| self.field_place(place, name)))
    }

    pub(super) fn field_place(&self, place: MemoryPlace, name: Sym) -> Option<MemoryPlace> {
        let Some(Value::Agg(agg)) = self.peek(place) else { return None };
        let Shape::Struct(instance) = &agg.shape else { return None };
        let index = self.field_index(instance, name)?;
        let bits = self.program.members(&instance.of).fields.get(index).is_some_and(|field| field.bits);
        let part = place.part(index).filter(|_| !bits)?;
        // Follow a reference to its target.
        match self.peek(part) {
            Some(Value::Ref(inner)) => Some(*inner),
            _ => Some(part),
        }
    }

    /// The memory place that an expression names. None for temporary values and for memory that is not modelled.
    pub(super) fn place(&mut self, expr: &Expr) -> Run<Option<MemoryPlace>> {
        Ok(match &expr.kind {
            ExprKind::Local(slot, _) => {
                let root = self.slot(*slot);
                match self.stack.get(root as usize) {
                    Some(Value::Ref(place)) => Some(*place),
                    _ => Some(MemoryPlace::new(root)),
                }
            }
            ExprKind::Name(name) if matches!(name.root, Root::Global) && name.path.len() == 1 => {
                let Some(segment) = name.path.first() else { return Ok(None) };
                match self.program.visible_global(segment.sym, &[], self.view(), expr.span) {
                    Some(global) => Some(self.global_place(global)?),
                    None => None,
                }
            }
            ExprKind::Member { base, name, arrow } => self.member_place(base, *name, *arrow)?,
            ExprKind::Index(base, index) => {
                let whole = match self.place(base)? {
                    Some(place) => Some(place),
                    None => match self.eval(base)? {
                        Value::Ref(place) => Some(place),
                        Value::Ptr(place) => {
                            let index = self.eval(index)?;
                            let by = self.settle(&index);
                            return Ok(by.and_then(|by| place.moved(by)));
                        }
                        _ => None,
                    },
                };
                let Some(whole) = whole else { return Ok(None) };
                if let Some((key, held)) = self.map_at(whole) {
                    return self.entry(whole, &key, &held, index).map(Some);
                }
                let number = self.eval(index)?;
                let Some(number) = self.settle(&number) else { return Ok(None) };
                match self.peek(whole) {
                    Some(Value::Agg(agg)) if matches!(agg.shape, Shape::Array) => {
                        usize::try_from(number).ok().and_then(|index| whole.part(index))
                    }
                    Some(Value::Ptr(place)) => place.moved(number).or((number == 0).then_some(*place)),
                    _ => None,
                }
            }
            ExprKind::Unary(Unary::Deref, inner) => match self.eval(inner)? {
                Value::Ptr(place) => Some(place),
                _ => None,
            },
            ExprKind::Ternary(parts) if self.starting && !super::taint::changes(expr) => {
                let [cond, yes, no] = parts.as_ref();
                let value = self.eval(cond)?;
                let chosen = if self.decide(&value, cond)? { yes } else { no };
                self.place(chosen)?
            }
            // A pointer to memory that is not modelled is identified by its type.
            ExprKind::Cast(_, inner) => {
                self.place(inner)?.filter(|place| !matches!(self.peek(*place), Some(Value::Pointer(..))))
            }
            // The call is evaluated only once: its result stays on the stack while the caller runs.
            ExprKind::Call(callee, args) => match self.call_raw(callee, args, expr.span)? {
                Value::Ref(place) => Some(place),
                Value::Opaque(_) => None,
                value => Some(self.push_temporary(value)),
            },
            _ => None,
        })
    }

    pub(super) fn global_place(&mut self, index: u32) -> Run<MemoryPlace> {
        let index = if self.starting { self.program.definition_of(index) } else { index };
        if let Some(&root) = self.global_slots.get(&index) {
            return Ok(MemoryPlace::new(root));
        }
        let program = self.program;
        let Some(global) = program.globals.get(index as usize) else { return Ok(MemoryPlace::new(u32::MAX)) };
        let start = match self.resolve_in(global).and_then(|ty| ty.int_ty()) {
            Some(ty) => Value::Unset(ty, global.span),
            None => Value::Opaque(global.span),
        };
        let place = self.global(start);
        self.global_slots.insert(index, place.root);
        let (guesses, settled) = (self.guesses(), self.settled_so_far());
        self.ran.begin_lasting();
        let value = self.initial_global(global);
        self.ran.end_lasting();
        if self.has_settled(settled) || value.is_err() || self.guesses() != guesses {
            self.guessed_globals.push(index);
        }
        if !self.starting
            && let Some(written) = program.write_of_global(global)
        {
            self.put(place, Value::Opaque(written));
            return Ok(place);
        }
        // Initialising a global is not an effect of this run, so it is not undone when the run returns to another
        // count.
        self.put(place, value?);
        Ok(place)
    }
}
