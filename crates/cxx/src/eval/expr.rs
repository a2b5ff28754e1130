//! The values of expressions.

use super::machine::Machine;
use super::records::{Run, Stop};
use super::value::{Agg, FnValue, MemoryPlace, Shape, Ty, Value};
use crate::syntax::ast::{Base, Binary, Expr, ExprKind, Name, Root, TemplateArg, Type, Unary};
use crate::syntax::files::Span;
use crate::syntax::sym::{self, Sym};
use std::rc::Rc;

impl Machine<'_> {
    /// Evaluates an expression for its effects only.
    pub(super) fn discard(&mut self, expr: &Expr) -> Run<()> {
        match &expr.kind {
            ExprKind::Comma(left, right) => {
                self.discard(left)?;
                self.discard(right)
            }
            _ => self.eval(expr).map(|_| ()),
        }
    }

    pub fn eval(&mut self, expr: &Expr) -> Run<Value> {
        match self.leaf(expr) {
            Some(value) => {
                self.steps += 1;
                Ok(value)
            }
            None => self.eval_node(expr),
        }
    }

    /// Fast path for literals and plain variables, which are most of the evaluated expressions.
    #[inline]
    fn leaf(&self, expr: &Expr) -> Option<Value> {
        match &expr.kind {
            ExprKind::Int(value, ty) => Some(Value::typed(*value, *ty)),
            ExprKind::Local(slot, _) => match self.stack.get(self.slot(*slot) as usize) {
                Some(&Value::Int(value, dependence, ty)) => Some(Value::Int(value, dependence, ty)),
                _ => None,
            },
            _ => None,
        }
    }

    #[inline(never)]
    fn eval_node(&mut self, expr: &Expr) -> Run<Value> {
        self.step(expr.span)?;
        self.nested += 1;
        let value = self.value(expr);
        self.nested = self.nested.saturating_sub(1);
        value
    }

    fn value(&mut self, expr: &Expr) -> Run<Value> {
        Ok(match &expr.kind {
            ExprKind::Int(value, ty) => Value::typed(*value, *ty),
            ExprKind::Float(value, bits) => Value::Float(*value, *bits),
            ExprKind::Bool(value) => Value::bool(*value),
            ExprKind::Str(text) => Value::Str(text.as_ref().into()),
            ExprKind::Null => Value::Null,
            ExprKind::Local(slot, _) => {
                let root = self.slot(*slot) as usize;
                match self.stack.get(root) {
                    Some(Value::Ref(place)) => self.read(*place, expr.span),
                    Some(Value::Uninit | Value::Unset(..)) | None => {
                        self.read(MemoryPlace::new(root as u32), expr.span)
                    }
                    Some(value) => value.clone(),
                }
            }
            ExprKind::Name(name) => self.name_value(name, expr.span)?,
            ExprKind::This => {
                self.frames.last().and_then(|frame| frame.this).map_or(Value::Opaque(expr.span), Value::Ptr)
            }
            ExprKind::Unary(op, inner) => self.unary(*op, inner, expr.span)?,
            ExprKind::Step { target, by, before } => self.step_by(target, *by, *before)?,
            ExprKind::Binary(Binary::And, left, right) => self.logical(left, right, false, expr.span)?,
            ExprKind::Binary(Binary::Or, left, right) => self.logical(left, right, true, expr.span)?,
            ExprKind::Binary(op, left, right) => {
                let mut first = self.eval(left)?;
                // In pointer arithmetic, an array decays to the address of its first item.
                if matches!(op, Binary::Add | Binary::Sub)
                    && matches!(&first, Value::Agg(agg) if matches!(agg.shape, Shape::Array))
                {
                    first = self.decayed(left)?;
                }
                let right = self.eval(right)?;
                if self.program.has_operators() && self.program.defines_operator(op.spelled()) {
                    return Ok(Value::Opaque(expr.span));
                }
                self.binary(*op, &first, &right, expr.span)?
            }
            ExprKind::Assign(op, target, value) => self.assign(*op, target, value, expr.span)?,
            ExprKind::Ternary(parts) => {
                let [cond, yes, no] = parts.as_ref();
                let value = self.eval(cond)?;
                let (chosen, other) = if self.decide(&value, cond)? { (yes, no) } else { (no, yes) };
                let value = self.eval(chosen)?;
                self.balanced(value, other)?
            }
            ExprKind::Call(callee, args) => self.call(callee, args, expr.span)?,
            ExprKind::Configured(callee, config, args) => self.configured(callee, config, args, expr.span)?,
            ExprKind::Index(base, index) => self.index(base, index, expr.span)?,
            ExprKind::Member { base, name, arrow } => self.member(base, *name, *arrow, expr.span)?,
            ExprKind::Cast(ty, inner) => {
                let value = match &inner.kind {
                    ExprKind::Init(_) => {
                        let ty = self.resolve(ty)?;
                        return self.initialise(&ty, inner);
                    }
                    // An array cast to a pointer points to its first element.
                    _ if ty.pointers > 0 => match self.place(inner)? {
                        Some(place) => match self.peek(place) {
                            Some(Value::Agg(agg)) if matches!(agg.shape, Shape::Array) => {
                                place.part(0).map_or(Value::Opaque(expr.span), Value::Ptr)
                            }
                            _ => self.read(place, expr.span),
                        },
                        None => self.eval(inner)?,
                    },
                    _ => self.eval(inner)?,
                };
                self.cast(ty, value)?
            }
            ExprKind::Construct(ty, args) => {
                if let Some(numbers) = self.index_sequence(ty)? {
                    return Ok(numbers);
                }
                // The parser reads `T::f(x)` as if f were a type.
                if let Base::Name(name) = &ty.base
                    && let Some(result) = self.call_static(name, args, expr.span)?
                {
                    return Ok(result);
                }
                if let Some(hidden) = self.hidden_by_function(ty, args) {
                    return self.call_function((hidden, &[], self.view()), Vec::new(), args, expr.span);
                }
                let ty = self.resolve(ty)?;
                self.construct(&ty, args, expr.span)?
            }
            ExprKind::SizeofType(ty) => {
                let ty = self.resolve(ty)?;
                self.size_of(&ty).map_or(Value::Opaque(expr.span), Value::size)
            }
            ExprKind::SizeofExpr(inner) => self.size_of_expr(inner, expr.span)?,
            ExprKind::SizeofPack(inner) => match self.eval(inner)? {
                Value::Pack(list) => Value::size(list.len()),
                _ => Value::Opaque(expr.span),
            },
            ExprKind::AlignofType(ty) => {
                let ty = self.resolve(ty)?;
                self.align_of(&ty).map_or(Value::Opaque(expr.span), Value::size)
            }
            ExprKind::Lambda(lambda) => self.closure(lambda)?,
            ExprKind::Init(_) => self.initialise(&Ty::Unknown, expr)?,
            ExprKind::Comma(left, right) => {
                let first = self.eval(left)?;
                let second = self.eval(right)?;
                // Objects may overload the comma operator.
                if Self::instance(&first).is_some() { Value::Opaque(expr.span) } else { second }
            }
            ExprKind::Pack(inner) => self.eval(inner)?,
            ExprKind::Fold { op, pattern, slots, left } => self.fold(*op, pattern, slots, *left, expr.span)?,
            ExprKind::Throw => {
                return Err(Stop::Abort { at: expr.span, what: self.program.files.text(expr.span) });
            }
            ExprKind::New(ty, args) if self.starting => {
                let ty = self.resolve(ty)?;
                self.allocate(&ty, args, expr.span)?
            }
            ExprKind::New(..) | ExprKind::Heap => Value::Opaque(expr.span),
        })
    }

    /// The name of a function that hides a struct of the same name: `struct f {}; f * f(void); ... f()`.
    fn hidden_by_function(&self, ty: &Type, args: &[Expr]) -> Option<Sym> {
        let Base::Name(name) = &ty.base else { return None };
        let (Root::Global, [only]) = (&name.root, name.path.as_slice()) else { return None };
        let braces = matches!(args, [Expr { kind: ExprKind::Init(_), .. }]);
        let plain = ty.pointers == 0 && only.args.is_none() && !braces && self.starting;
        (plain && !self.program.overloads(only.sym).is_empty()).then_some(only.sym)
    }

    fn unary(&mut self, op: Unary, inner: &Expr, at: Span) -> Run<Value> {
        if op == Unary::Address {
            return Ok(match self.place(inner)? {
                Some(place) => Value::Ptr(place),
                None => match self.eval(inner)? {
                    value @ (Value::Fn(_) | Value::Pointer(..)) => value,
                    _ => Value::Opaque(at),
                },
            });
        }
        let value = self.eval(inner)?;
        Ok(match (op, &value) {
            (Unary::Deref, Value::Ptr(place)) => self.read(*place, at),
            (Unary::Deref, Value::Fn(_)) => value,
            (Unary::Deref, Value::Agg(agg)) if matches!(agg.shape, Shape::Array) => {
                agg.items.first().cloned().unwrap_or(Value::Opaque(at))
            }
            (Unary::Deref, Value::Pointer(ty, address)) => self.told(ty, *address).unwrap_or(Value::Opaque(at)),
            (Unary::Deref, _) => Value::Opaque(at),
            (Unary::Not, value) => match self.truth(value) {
                Some(truth) => Value::bool(!truth),
                None => value.clone(),
            },
            (Unary::Neg, Value::Int(..)) => self.binary(Binary::Sub, &Value::int(0), &value, at)?,
            (Unary::Neg, Value::Float(a, bits)) => Value::Float(-a, *bits),
            (Unary::Plus, Value::Int(a, s, ty)) => Value::Int(*a, *s, ty.promoted()),
            (Unary::Plus, _) => value,
            (Unary::BitNot, Value::Int(a, s, ty)) => self.complement((*a, *s), ty.promoted()),
            (_, Value::Opaque(from)) => Value::Opaque(*from),
            _ => Value::Opaque(at),
        })
    }

    /// Folds the pattern over the packs in it. `&&` and `||` stop as soon as the result is known.
    fn fold(&mut self, op: Option<Binary>, pattern: &Expr, slots: &[u32], left: bool, at: Span) -> Run<Value> {
        let mut packs: Vec<(u32, Rc<Vec<Value>>)> = Vec::new();
        for &slot in slots {
            let root = self.slot(slot);
            if let Some(Value::Pack(list)) = self.stack.get(root as usize) {
                packs.push((root, list.clone()));
            }
        }
        let Some(count) = packs.first().map(|(_, list)| list.len()) else { return Ok(Value::Opaque(at)) };
        if packs.iter().any(|(_, list)| list.len() != count) {
            return Ok(Value::Opaque(at));
        }
        let mut values = Vec::with_capacity(count);
        let mut ended = Ok(None);
        for index in 0..count {
            for (root, list) in &packs {
                self.set_slot(*root, list.get(index).cloned().unwrap_or_default());
            }
            ended = self.eval(pattern).and_then(|value| match op {
                Some(Binary::And | Binary::Or) => {
                    let truth = self.decide(&value, pattern)?;
                    Ok((truth == (op == Some(Binary::Or))).then_some(truth))
                }
                _ => {
                    values.push(value);
                    Ok(None)
                }
            });
            if !matches!(ended, Ok(None)) {
                break;
            }
        }
        for (root, list) in packs {
            self.set_slot(root, Value::Pack(list));
        }
        if let Some(truth) = ended? {
            return Ok(Value::bool(truth));
        }
        match op {
            Some(op @ (Binary::And | Binary::Or)) => Ok(Value::bool(op == Binary::And)),
            None => Ok(values.pop().unwrap_or(Value::Void)),
            Some(op) => {
                if !left {
                    values.reverse();
                }
                let mut values = values.into_iter();
                let Some(mut sum) = values.next() else { return Ok(Value::Opaque(at)) };
                for value in values {
                    sum = if left { self.binary(op, &sum, &value, at)? } else { self.binary(op, &value, &sum, at)? };
                }
                Ok(sum)
            }
        }
    }

    /// Evaluates `&&` and `||`. One side may be unknown: `false && unknown` is false, `true || unknown` is true.
    fn logical(&mut self, left: &Expr, right: &Expr, settles: bool, _at: Span) -> Run<Value> {
        let first = self.eval(left)?;
        let known = self.truth(&first);
        if known == Some(settles) {
            return Ok(Value::bool(settles));
        }
        // Evaluating the other side matters only if it has side effects.
        if known.is_none() && super::taint::changes(right) && self.decide(&first, left)? == settles {
            return Ok(Value::bool(settles));
        }
        let second = self.eval(right)?;
        let other = self.truth(&second);
        Ok(match (known, other) {
            (_, Some(truth)) if truth == settles => Value::bool(settles),
            (Some(_), Some(_)) => Value::bool(!settles),
            (None, _) => unknown_of(first, left.span),
            (_, None) => unknown_of(second, right.span),
        })
    }

    fn assign(&mut self, op: Option<Binary>, target: &Expr, value: &Expr, at: Span) -> Run<Value> {
        // The right side is evaluated first. The order makes no difference if neither side has effects.
        let acts = |expr: &Expr| super::taint::changes(expr) || super::static_type::calls(expr);
        let named = matches!(target.kind, ExprKind::Local(..) | ExprKind::Name(_));
        let first = match !named && !matches!(value.kind, ExprKind::Init(_)) && (acts(target) || acts(value)) {
            true => Some(self.eval(value)?),
            false => None,
        };
        let place = self.place(target)?;
        let mut new = match (&value.kind, place) {
            _ if first.is_some() => match first.unwrap_or_default() {
                // The value may be a list or the address of its first item. The interpreter cannot distinguish them
                // here.
                Value::Agg(agg) if matches!(agg.shape, Shape::Array) => Value::Opaque(at),
                first => first,
            },
            (ExprKind::Init(_), Some(place)) => {
                let ty = self.peek(place).map_or(Ty::Unknown, Value::ty);
                self.initialise(&ty, value)?
            }
            // Assigned to a pointer, an array decays to the address of its first item.
            (_, Some(place))
                if matches!(
                    self.peek(place),
                    Some(Value::Ptr(_) | Value::Null | Value::Pointer(..) | Value::Uninit)
                ) =>
            {
                self.decayed(value)?
            }
            _ => self.eval(value)?,
        };
        let Some(place) = place else {
            self.lost(target, at)?;
            return Ok(if op.is_some() { Value::Opaque(at) } else { new });
        };
        if let Some(op) = op {
            let old = self.read(place, target.span);
            new = self.binary(op, &old, &new, at)?;
            self.make_plain(&mut new);
        }
        self.store(place, new)
    }

    fn step_by(&mut self, target: &Expr, by: i64, before: bool) -> Run<Value> {
        let Some(place) = self.place(target)? else {
            self.lost(target, target.span)?;
            return Ok(Value::Opaque(target.span));
        };
        let old = self.read(place, target.span);
        let new = self.binary(Binary::Add, &old, &Value::int(by), target.span)?;
        let new = self.store(place, new)?;
        Ok(if before { new } else { old })
    }

    fn index(&mut self, base: &Expr, index: &Expr, at: Span) -> Run<Value> {
        if self.starting
            && let Some(whole) = self.place(base)?
            && let Some((key, held)) = self.map_at(whole)
        {
            let place = self.entry(whole, &key, &held, index)?;
            return Ok(self.read(place, at));
        }
        let number = self.eval(index)?;
        let base = match self.place(base)? {
            Some(place) => self.read(place, at),
            None => self.eval(base)?,
        };
        Ok(match (&base, &number) {
            (Value::Agg(agg), number) if matches!(agg.shape, Shape::Array) => {
                let agg = agg.clone();
                self.item(&agg, number, at)
            }
            (Value::Ptr(place), Value::Int(by, 0, _)) => match (place.moved(*by), by) {
                (Some(place), _) => self.read(place, at),
                (None, 0) => self.read(*place, at),
                _ => Value::Opaque(at),
            },
            (Value::Str(text), Value::Int(by, 0, _)) if text.is_ascii() => {
                let byte = usize::try_from(*by).ok().and_then(|by| text.as_bytes().get(by));
                Value::char(byte.copied().unwrap_or(0))
            }
            (Value::Pointer(..), Value::Int(..)) => match self.binary(Binary::Add, &base, &number, at)? {
                Value::Pointer(ty, address) => self.told(&ty, address).unwrap_or(Value::Opaque(at)),
                _ => Value::Opaque(at),
            },
            _ => Value::Opaque(at),
        })
    }

    fn item(&mut self, agg: &Agg, index: &Value, at: Span) -> Value {
        let Some(index) = self.settle(index) else { return Value::Opaque(at) };
        match usize::try_from(index).ok().and_then(|index| agg.items.get(index)) {
            Some(Value::Uninit | Value::Unset(..)) | None => Value::Opaque(at),
            Some(value) => value.clone(),
        }
    }

    pub(super) fn template_values(&mut self, args: &[TemplateArg]) -> Run<Vec<Value>> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            let value = match arg {
                TemplateArg::Type(ty) => Value::Type(Rc::new(self.resolve(ty)?)),
                TemplateArg::Expr(expr) => self.eval(expr)?,
                TemplateArg::Expansion(ty) => Value::Pack(Rc::new(self.expanded(ty)?)),
            };
            match value {
                Value::Pack(list) => values.extend(list.iter().cloned()),
                value => values.push(value),
            }
        }
        Ok(values)
    }

    fn name_value(&mut self, name: &Name, at: Span) -> Run<Value> {
        let Some(last) = name.path.last() else { return Ok(Value::Opaque(at)) };
        let alone = matches!(name.root, Root::Global) && name.path.len() == 1;
        let before = if alone || name.path.first().is_some_and(|first| first.sym == sym::STD) {
            &[]
        } else {
            // The name is `X::member` of a struct, an enum or a namespace.
            if let Some(instance) = self.scope_of(name)?
                && let Some(value) = self.static_of(&instance, last.sym)?
            {
                return Ok(value);
            }
            name.path.split_last().map_or(&[][..], |(_, before)| before)
        };
        if let Some(value) = self.enumerator(last.sym, before)? {
            return Ok(value);
        }
        if let Some(global) = self.program.visible_global(last.sym, before, self.view(), at) {
            let place = self.global_place(global)?;
            return Ok(self.read(place, at));
        }
        if !self.program.overloads(last.sym).is_empty() {
            let args = match &last.args {
                Some(args) => self.template_values(args)?,
                None => Vec::new(),
            };
            return Ok(Value::Fn(Rc::new(FnValue { name: last.sym, args, view: self.view() })));
        }
        self.constant(name, last.sym, at)
    }
}

fn unknown_of(value: Value, at: Span) -> Value {
    match value {
        Value::Opaque(_) => value,
        _ => Value::Opaque(at),
    }
}
