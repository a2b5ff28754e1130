//! Handles code that is not understood: everything that it may have written to becomes unknown, with the position as
//! the reason. A value is never kept merely because a call, a method or a target was not recognised.

use super::machine::Machine;
use super::records::Run;
use super::value::{Closure, MemoryPlace, Shape, Value};
use crate::syntax::ast::{Base, Expr, ExprKind, Function, Name, Unary};
use crate::syntax::files::Span;
use crate::syntax::sym;

/// Functions of `std` that only read their arguments.
const PURE: &[&str] = &[
    "abs",
    "fabs",
    "pow",
    "exp",
    "log",
    "round",
    "fmod",
    "isnan",
    "isinf",
    "to_string",
    "make_pair",
    "make_tuple",
    "make_unique",
    "make_shared",
    "size",
    "begin",
    "end",
    "cbegin",
    "cend",
    "data",
    "accumulate",
    "count",
    "count_if",
    "any_of",
    "all_of",
    "none_of",
    "min_element",
    "max_element",
    "gcd",
    "lcm",
    "clamp",
    "find_if",
    "distance",
    "next",
    "prev",
    "get",
    "as_const",
    "strcmp",
    "strncmp",
    "memcmp",
    "string",
    "tuple_size",
    "declval",
];

impl Machine<'_> {
    pub(super) fn taint(&mut self, place: MemoryPlace, at: Span) {
        self.write(place, Value::Opaque(at));
    }

    /// Marks a place as unknown. If it is an item of an array, marks the whole array, because a pointer can reach it all.
    pub(super) fn taint_around(&mut self, place: MemoryPlace, at: Span) {
        let whole = self.array_around(place).unwrap_or(place);
        self.taint(whole, at);
    }

    pub(super) fn in_array(&self, place: MemoryPlace) -> bool {
        self.array_around(place).is_some()
    }

    pub(super) fn array_around(&self, place: MemoryPlace) -> Option<MemoryPlace> {
        let mut whole = place;
        whole.len = whole.len.checked_sub(1)?;
        match self.peek(whole) {
            Some(Value::Agg(agg)) if matches!(agg.shape, Shape::Array) => Some(whole),
            _ => None,
        }
    }

    /// The value of an argument; an array decays to the address of its first item.
    pub(super) fn decayed(&mut self, arg: &Expr) -> Run<Value> {
        // Only a variable can be an array; a cast has its own type.
        if matches!(arg.kind, ExprKind::Local(..) | ExprKind::Name(_) | ExprKind::Member { .. } | ExprKind::Index(..))
            && let Some(place) = self.place(arg)?
            && matches!(self.peek(place), Some(Value::Agg(agg)) if matches!(agg.shape, Shape::Array))
        {
            return Ok(place.part(0).map_or(Value::Opaque(arg.span), Value::Ptr));
        }
        self.eval(arg)
    }

    /// Marks everything that an unknown function could write to through this value as unknown.
    pub(super) fn taint_reached(&mut self, value: &Value, at: Span) {
        match value {
            Value::Ptr(place) | Value::Ref(place) => self.taint_around(*place, at),
            Value::Lambda(closure) => self.taint_written(&closure.clone(), at),
            value => self.taint_buffer(value, at),
        }
    }

    /// Marks the captured variables that a lambda may write to as unknown, for when an unknown function calls it.
    fn taint_written(&mut self, closure: &Closure, at: Span) {
        let mut slots = Vec::new();
        crate::syntax::visit::locals(&closure.lambda.body, &mut slots);
        slots.sort_unstable();
        slots.dedup();
        let own = |slot: u32| {
            let kept = closure.lambda.copies.as_ref().is_none_or(|copies| copies.contains(&slot));
            kept || closure.lambda.params.iter().any(|param| param.slot == slot)
                || closure.lambda.own.iter().any(|(known, _)| *known == slot)
        };
        for slot in slots.into_iter().filter(|slot| !own(*slot)) {
            let root = closure.base.saturating_add(slot as usize);
            match self.stack.get(root) {
                Some(Value::Ref(place)) => {
                    let place = *place;
                    self.taint(place, at);
                }
                Some(Value::Type(_) | Value::Pack(_) | Value::Lambda(_) | Value::Fn(_)) | None => {}
                Some(_) => self.taint(MemoryPlace::new(root as u32), at),
            }
        }
    }

    /// The arguments of a call of an unknown function. C functions write only through pointers; functions of `std` may
    /// take references.
    pub(super) fn stranger(&mut self, name: Option<&Name>, args: &[Expr], at: Span) -> Run<Vec<Value>> {
        let first = name.and_then(|name| name.path.first()).map(|segment| segment.sym);
        let last = name.and_then(|name| name.path.last()).map_or("", |segment| self.program.text(segment.sym));
        let standard = first == Some(sym::STD);
        let pure = standard && PURE.contains(&last);
        let by_reference = (standard || name.is_none()) && !pure;
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            let value = self.decayed(arg)?;
            if by_reference
                && is_variable(arg)
                && let Some(place) = self.place(arg)?
            {
                self.taint(place, at);
            }
            values.push(value);
        }
        for value in &values {
            if !pure || matches!(value, Value::Lambda(_)) {
                self.taint_reached(value, at);
            }
        }
        Ok(values)
    }

    /// Handles a function that is declared but not defined: everything that its declaration lets it write to becomes
    /// unknown.
    pub(super) fn undefined(&mut self, declared: Option<&Function>, values: &[Value], at: Span) {
        for (position, value) in values.iter().enumerate() {
            let param = declared.and_then(|function| function.params.get(position));
            if param.is_none_or(|param| !param.ty.constant) {
                self.taint_reached(value, at);
            }
        }
    }

    /// Whether a function allocates memory. The address that it returns depends on every earlier call, but no decision
    /// depends on it.
    pub(super) fn hands_out_memory(&self, function: &Function) -> bool {
        let gives_memory = matches!(function.ret.base, Base::Void) && function.ret.pointers == 1;
        gives_memory && (self.dialect.hands_out_memory)(self.program.text(function.name))
    }

    /// Handles an assignment to an unknown place: the object that the target may be part of becomes unknown.
    pub(super) fn lost(&mut self, target: &Expr, at: Span) -> Run<()> {
        match &target.kind {
            ExprKind::Index(base, _) | ExprKind::Cast(_, base) => match self.place(base)? {
                Some(place) => match self.peek(place).cloned() {
                    Some(Value::Ptr(inner)) => self.taint_around(inner, at),
                    Some(Value::Pointer(_, address)) => self.overwritten(address, at),
                    _ => self.taint(place, at),
                },
                None => self.lost(base, at)?,
            },
            ExprKind::Member { base, arrow: false, .. } => match self.place(base)? {
                Some(place) => self.taint(place, at),
                None => self.lost(base, at)?,
            },
            ExprKind::Member { base, arrow: true, .. } | ExprKind::Unary(Unary::Deref, base) => {
                let value = self.eval(base)?;
                self.taint_reached(&value, at);
            }
            ExprKind::Ternary(parts) => {
                let [_, yes, no] = parts.as_ref();
                for side in [yes, no] {
                    match self.place(side)? {
                        Some(place) => self.taint(place, at),
                        None => self.lost(side, at)?,
                    }
                }
            }
            // In `x.at(i) = 1` and `std::get<0>(x) = 1`, the object or the argument changes.
            ExprKind::Call(callee, args) => {
                let object = match &callee.kind {
                    ExprKind::Member { base, .. } => Some(base.as_ref()),
                    _ => None,
                };
                for part in args.iter().chain(object) {
                    if let Some(place) = self.place(part)? {
                        self.taint(place, at);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn is_variable(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Local(..) => true,
        ExprKind::Member { base, .. } | ExprKind::Index(base, _) => is_variable(base),
        _ => false,
    }
}

/// Whether evaluating an expression may change a variable.
pub(super) fn changes(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Assign(..) | ExprKind::Step { .. })
        || crate::syntax::visit::parts(expr).into_iter().any(changes)
}
