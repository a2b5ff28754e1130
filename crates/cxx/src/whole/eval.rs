//! Expressions and statements.

use super::machine::{Halt, Machine, Run};
use super::tree::{Expr, ExprKind, Stmt, Variable};
use super::types::{address, decayed};
use super::value::{Arg, Closure, List, Object, Place, Slot, Ty, Value, place};
use crate::syntax::ast::Binary;
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use crate::syntax::sym::Sym;
use std::rc::Rc;

/// How a statement ended.
#[derive(Debug)]
pub enum Flow {
    On,
    Break,
    Continue,
    Return(Slot),
}

impl Machine<'_> {
    /// The place or the value of an expression.
    pub fn slot(&mut self, expr: &Expr) -> Run<Slot> {
        self.step(expr.at)?;
        self.depth += 1;
        let found = self.slot_of(expr);
        self.depth -= 1;
        found
    }

    fn slot_of(&mut self, expr: &Expr) -> Run<Slot> {
        let at = expr.at;
        Ok(match &expr.kind {
            ExprKind::Int(value, ty) => Slot::Value(Value::Int(*value, *ty)),
            ExprKind::Float(value, bits) => Slot::Value(Value::Float(*value, *bits)),
            ExprKind::Str(text) => Slot::Value(Value::Str(text.clone())),
            ExprKind::Bool(value) => Slot::Value(Value::bool(*value)),
            ExprKind::Null => Slot::Value(Value::Null),
            ExprKind::This => match self.this() {
                Some(this) => Slot::Value(Value::Ptr(this)),
                None => return self.stuck(at, "this"),
            },
            ExprKind::Name(name) => self.named(name, at)?,
            ExprKind::Not(inner) => Slot::Value(Value::bool(!self.truth(inner)?)),
            ExprKind::Negate(inner) => {
                let value = self.eval(inner)?;
                Slot::Value(match value {
                    Value::Float(value, bits) => Value::Float(-value, bits),
                    value => self.binary(Binary::Sub, &Value::int(0), &value, at)?,
                })
            }
            ExprKind::Complement(inner) => match self.eval(inner)? {
                Value::Int(value, ty) => Slot::Value(Value::Int(ty.promoted().wrap(!value), ty.promoted())),
                _ => return self.stuck(at, "a complement"),
            },
            ExprKind::Deref(inner) => {
                let value = self.eval(inner)?;
                self.pointed(&value, at)?
            }
            ExprKind::Address(inner) => {
                let slot = self.slot(inner)?;
                Slot::Value(match slot {
                    // The address of an array is that of its items.
                    Slot::Place(place) => Value::Ptr(place),
                    Slot::Value(value @ Value::Fn(_)) => value,
                    Slot::Value(value) => Value::Ptr(place(value)),
                })
            }
            ExprKind::Step { target, by, before } => {
                let Slot::Place(to) = self.slot(target)? else { return self.stuck(at, "a step") };
                let old = to.borrow().clone();
                let new = self.binary(Binary::Add, &old, &Value::int(*by), at)?;
                self.store(&to, new, at)?;
                if *before { Slot::Place(to) } else { Slot::Value(old) }
            }
            ExprKind::Binary(op @ (Binary::And | Binary::Or), left, right) => {
                let settles = *op == Binary::Or;
                let first = self.truth(left)?;
                Slot::Value(Value::bool(if first == settles { settles } else { self.truth(right)? }))
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.eval(left)?, self.eval(right)?);
                if matches!((&left, &right), (Value::Object(_), _) | (_, Value::Object(_)))
                    && let Some(result) = self.operator(*op, &left, &right, at)?
                {
                    return Ok(result);
                }
                Slot::Value(self.binary(*op, &left, &right, at)?)
            }
            ExprKind::Assign(op, target, value) => self.assign(*op, target, value, at)?,
            ExprKind::Ternary(parts) => {
                let [cond, yes, no] = parts.as_ref();
                let chosen = if self.truth(cond)? { yes } else { no };
                let slot = self.slot(chosen)?;
                // `c ? 1.0f : 2` is a float; only numbers differ.
                match slot.read() {
                    Value::Int(number, ty) => {
                        let other = if std::ptr::eq(chosen, yes) { no } else { yes };
                        match &other.kind {
                            ExprKind::Float(_, bits) => Slot::Value(Value::Float(ty.as_float(number), *bits)),
                            _ => slot,
                        }
                    }
                    _ => slot,
                }
            }
            ExprKind::Call(callee, args) => return self.call(callee, args, at),
            ExprKind::Index(base, index) => self.indexed(base, index, at)?,
            ExprKind::Member { base, name, arrow } => {
                let object = self.base_place(base, *arrow)?;
                self.member(&object, name.last(), at)?
            }
            ExprKind::Cast(ty, inner) => {
                let resolved = self.resolve(ty)?;
                match &inner.kind {
                    ExprKind::Init(_) => Slot::Value(self.braced(&resolved, inner)?),
                    _ => {
                        let slot = self.slot(inner)?;
                        if ty.reference {
                            return Ok(slot);
                        }
                        let value = match &resolved {
                            Ty::Void => return Ok(Slot::Value(Value::Void)),
                            Ty::Ptr(_) => decayed(slot.read()),
                            _ => slot.take(),
                        };
                        Slot::Value(self.convert(&resolved, value, at)?)
                    }
                }
            }
            ExprKind::Construct(ty, args, braces) => {
                let resolved = self.resolve(ty)?;
                Slot::Value(match (args.as_slice(), braces) {
                    ([only], true) => self.braced(&resolved, only)?,
                    _ => {
                        let args = self.arguments(args)?;
                        self.construct(&resolved, args, at)?
                    }
                })
            }
            ExprKind::Sizeof(ty) => {
                let resolved = self.resolve(ty)?;
                let size = self.size_of(&resolved, at)?;
                Slot::Value(Value::size(size))
            }
            ExprKind::SizeofExpr(inner) => {
                // The operand is not evaluated in C++: without a value, it is an item of memory that is about to be made.
                let value = match self.slot(inner) {
                    Ok(slot) => slot.read(),
                    Err(Halt::NotFollowed { .. }) => Value::Null,
                    Err(halt) => return Err(halt),
                };
                let size = match &value {
                    Value::List(list) => {
                        let item = list.item.borrow().clone();
                        let count = list.items.borrow().len();
                        self.size_of(&item, at)? * count
                    }
                    other => {
                        let ty = self.type_of(other);
                        self.size_of(&ty, at)?
                    }
                };
                Slot::Value(Value::size(size))
            }
            ExprKind::Lambda(lambda) => {
                let Some(frame) = self.frames.last() else { return self.stuck(at, "a lambda") };
                let mut vars = frame.vars.clone();
                let (this, class) = (frame.this.clone(), frame.class.clone());
                let (templates, unit) = (frame.templates.clone(), frame.unit);
                if lambda.copies {
                    for (_, held) in &mut vars {
                        let copy = held.borrow().copied();
                        *held = place(copy);
                    }
                }
                for (name, value) in &lambda.own {
                    let value = match value {
                        Some(value) => self.slot(value)?.take(),
                        None => match self.variable(*name) {
                            Some(found) => found.borrow().copied(),
                            None => return self.stuck(at, "a captured variable"),
                        },
                    };
                    vars.push((*name, place(value)));
                }
                let closure = Closure { lambda: lambda.clone(), vars, this, class, templates, unit };
                Slot::Value(Value::Lambda(Rc::new(closure)))
            }
            ExprKind::Init(_) => Slot::Value(self.braced(&Ty::Unknown, expr)?),
            ExprKind::Comma(left, right) => {
                self.slot(left)?;
                self.slot(right)?
            }
            ExprKind::New(ty, args) => {
                let resolved = self.resolve(ty)?;
                let value = match args.as_slice() {
                    [only] if matches!(only.kind, ExprKind::Init(_)) => self.braced(&resolved, only)?,
                    [] if !matches!(resolved, Ty::Class(_)) => self.fresh(&resolved, true)?,
                    _ => {
                        let args = self.arguments(args)?;
                        self.construct(&resolved, args, at)?
                    }
                };
                Slot::Value(Value::Ptr(place(value)))
            }
            ExprKind::NewArray(ty, size) => {
                let resolved = self.resolve(ty)?;
                let Some(size) = self.eval(size)?.number().and_then(|size| usize::try_from(size).ok()) else {
                    return self.stuck(at, "the size of an array");
                };
                let value = self.fresh(&Ty::Array(Rc::new(resolved), size.min(1 << 20)), true)?;
                Slot::Value(decayed(value))
            }
            ExprKind::Delete => Slot::Value(Value::Void),
            ExprKind::Throw => {
                return Err(Halt::Ended { at, what: self.units.program.files.text(at) });
            }
            ExprKind::Pack(inner) => self.slot(inner)?,
        })
    }

    /// The object that `.` or `->` follows.
    pub(super) fn base_place(&mut self, base: &Expr, arrow: bool) -> Run<Place> {
        if !arrow {
            return Ok(self.slot(base)?.into_place());
        }
        let value = self.eval(base)?;
        Ok(self.pointed(&value, base.at)?.into_place())
    }

    /// What a pointer points to.
    pub(super) fn pointed(&mut self, value: &Value, at: Span) -> Run<Slot> {
        Ok(match value {
            Value::Ptr(inner) => Slot::Place(inner.clone()),
            Value::At(list, index) => match list.at(*index) {
                Some(inner) => Slot::Place(inner),
                None => return self.stuck(at, "a pointer past the end"),
            },
            Value::MapAt(map, index) => match map.entries.borrow().get(*index) {
                Some((key, _)) if map.set => Slot::Value(key.clone()),
                Some((key, held)) => Slot::Value(Value::Tuple(Rc::new(vec![place(key.clone()), held.clone()]))),
                None => return self.stuck(at, "an iterator at the end"),
            },
            Value::Fn(_) | Value::Lambda(_) => Slot::Value(value.clone()),
            Value::List(list) => match list.at(0) {
                Some(inner) => Slot::Place(inner),
                None => return self.stuck(at, "an empty array"),
            },
            Value::Str(text) => Slot::Value(Value::Int(i64::from(text.bytes().next().unwrap_or(0) as i8), IntTy::I8)),
            Value::Null | Value::Zero => {
                let code = self.units.program.files.text(at);
                return self.stuck(at, format!("a null pointer: {code}"));
            }
            Value::Object(_) => {
                let held = place(value.clone());
                if let Some(result) = self.unary_operator("*", &held)? {
                    return Ok(result);
                }
                if let Some(result) = self.unary_operator("->", &held)? {
                    let value = result.read();
                    return self.pointed(&value, at);
                }
                return self.stuck(at, "a dereferenced object");
            }
            _ => {
                let code = self.units.program.files.text(at);
                return self.stuck(at, format!("a pointer: {code}"));
            }
        })
    }

    pub(super) fn member(&mut self, object: &Place, name: Sym, at: Span) -> Run<Slot> {
        let value = object.borrow().clone();
        match value {
            Value::Object(of) => match of.field(name) {
                Some(found) => Ok(Slot::Place(found)),
                None => {
                    if let Some(class) = of.class.class.clone()
                        && let Some(found) = self.static_field(&class, name)?
                    {
                        return Ok(Slot::Place(found));
                    }
                    let text = self.name(name);
                    self.stuck(at, format!("the field {text}"))
                }
            },
            Value::Zero => {
                *object.borrow_mut() = Object::loose();
                self.member(object, name, at)
            }
            Value::Tuple(items) => {
                let index = match self.units.text(name) {
                    "first" => 0,
                    "second" => 1,
                    _ => usize::MAX,
                };
                match items.get(index) {
                    Some(item) => Ok(Slot::Place(item.clone())),
                    None => self.stuck(at, "a part of a pair"),
                }
            }
            Value::List(list) => match list.at(0) {
                Some(first) => self.member(&first, name, at),
                None => self.stuck(at, "a field of an array"),
            },
            other => {
                let text = self.name(name);
                let code = self.units.program.files.text(at);
                self.stuck(at, format!("the field {text} of {} ({code})", kind(&other)))
            }
        }
    }

    fn indexed(&mut self, base: &Expr, index: &Expr, at: Span) -> Run<Slot> {
        let slot = self.slot(base)?;
        let value = slot.read();
        if let Value::Map(map) = &value {
            let key = self.slot(index)?.take();
            return self.entry(map, key, at).map(Slot::Place);
        }
        let index = self.eval(index)?;
        let Some(number) = index.number() else { return self.stuck(at, "an index") };
        let found = match &value {
            Value::List(list) => list.at(number),
            Value::At(list, from) => list.at(from + number),
            Value::Ptr(inner) if number == 0 => Some(inner.clone()),
            Value::Ptr(inner) => match &*inner.borrow() {
                Value::List(list) => list.at(number),
                _ => None,
            },
            Value::Zero => {
                let list = List::raw(Value::Zero);
                if let Slot::Place(held) = &slot {
                    *held.borrow_mut() = Value::List(list.clone());
                }
                list.at(number)
            }
            Value::Str(text) => {
                let byte = usize::try_from(number).ok().and_then(|at| text.as_bytes().get(at).copied());
                return Ok(Slot::Value(Value::Int(i64::from(byte.unwrap_or(0) as i8), IntTy::I8)));
            }
            _ => None,
        };
        match found {
            Some(found) => Ok(Slot::Place(found)),
            None => {
                let code = self.units.program.files.text(at);
                self.stuck(at, format!("an item: {code} [{number}] of {}", kind(&value)))
            }
        }
    }

    fn assign(&mut self, op: Option<Binary>, target: &Expr, value: &Expr, at: Span) -> Run<Slot> {
        let Slot::Place(to) = self.slot(target)? else { return self.stuck(at, "an assignment") };
        let new = match (&value.kind, op) {
            (ExprKind::Init(_), None) => {
                let ty = {
                    let held = to.borrow();
                    match &*held {
                        Value::List(list) => Ty::List(Rc::new(list.item.borrow().clone())),
                        held => self.type_of(held),
                    }
                };
                self.braced(&ty, value)?
            }
            (_, None) => {
                let slot = self.slot(value)?;
                match (&*to.borrow(), slot.read()) {
                    (Value::Null | Value::Ptr(_) | Value::At(..), Value::List(list)) => Value::At(list, 0),
                    _ => slot.take(),
                }
            }
            (_, Some(op)) => {
                let right = self.eval(value)?;
                let left = to.borrow().clone();
                self.binary(op, &left, &right, at)?
            }
        };
        self.store(&to, new, at)?;
        Ok(Slot::Place(to))
    }

    pub fn binary(&mut self, op: Binary, left: &Value, right: &Value, at: Span) -> Run<Value> {
        use Binary::{Add, Eq, Ge, Gt, Le, Lt, Ne, Sub};
        Ok(match (left, right) {
            (Value::Int(a, x), Value::Int(b, y)) => return self.integers(op, (*a, *x), (*b, *y), at),
            (Value::Zero, Value::Int(_, ty)) => return self.binary(op, &Value::Int(0, *ty), right, at),
            (Value::Int(_, ty), Value::Zero) => return self.binary(op, left, &Value::Int(0, *ty), at),
            (Value::Float(a, x), Value::Float(b, y)) => return self.floats(op, *a, *b, (*x).max(*y), at),
            (Value::Float(a, bits), Value::Int(b, ty)) => return self.floats(op, *a, ty.as_float(*b), *bits, at),
            (Value::Int(a, ty), Value::Float(b, bits)) => return self.floats(op, ty.as_float(*a), *b, *bits, at),
            (Value::Float(a, bits), Value::Zero) => return self.floats(op, *a, 0.0, *bits, at),
            (Value::Str(a), Value::Str(b)) => match op {
                Eq => Value::bool(a == b),
                Ne => Value::bool(a != b),
                Lt => Value::bool(a < b),
                Gt => Value::bool(a > b),
                Add => Value::Str(format!("{a}{b}").into()),
                _ => return self.stuck(at, "an operation on text"),
            },
            (Value::Str(text), Value::Int(byte, IntTy::I8)) if op == Add => {
                Value::Str(format!("{text}{}", char::from(*byte as u8)).into())
            }
            (Value::Str(text), Value::Int(by, _)) if op == Add => {
                let rest = usize::try_from(*by).ok().and_then(|by| text.get(by..)).unwrap_or("");
                Value::Str(rest.into())
            }
            (Value::At(list, from), Value::Int(by, _)) if matches!(op, Add | Sub) => {
                Value::At(list.clone(), if op == Add { from + by } else { from - by })
            }
            (Value::Int(by, _), Value::At(list, from)) if op == Add => Value::At(list.clone(), from + by),
            (Value::MapAt(map, from), Value::Int(by, _)) if op == Add => {
                Value::MapAt(map.clone(), usize::try_from(*from as i64 + by).unwrap_or(usize::MAX))
            }
            (Value::List(list), Value::Int(by, _)) if op == Add => Value::At(list.clone(), *by),
            (Value::At(a, x), Value::At(b, y)) if Rc::ptr_eq(a, b) => match op {
                Sub => Value::Int(x - y, IntTy::I64),
                Eq => Value::bool(x == y),
                Ne => Value::bool(x != y),
                Lt => Value::bool(x < y),
                Gt => Value::bool(x > y),
                Le => Value::bool(x <= y),
                Ge => Value::bool(x >= y),
                _ => return self.stuck(at, "an operation on pointers"),
            },
            (Value::MapAt(a, x), Value::MapAt(b, y)) if Rc::ptr_eq(a, b) => match op {
                Eq => Value::bool(x == y),
                Ne => Value::bool(x != y),
                _ => return self.stuck(at, "an operation on iterators"),
            },
            // An address of the host: no memory is behind it.
            (Value::Host(kind, base), Value::Int(by, _)) if matches!(op, Add | Sub) => {
                Value::Host(kind, if op == Add { base + by } else { base - by })
            }
            (Value::Host(_, a), Value::Host(_, b)) => match op {
                Sub => Value::Int(a - b, IntTy::I64),
                Eq => Value::bool(a == b),
                Ne => Value::bool(a != b),
                Lt => Value::bool(a < b),
                Gt => Value::bool(a > b),
                Le => Value::bool(a <= b),
                Ge => Value::bool(a >= b),
                _ => return self.stuck(at, "an operation on addresses"),
            },
            // `buffer + offset`, where the offset is an object that the host placed.
            (Value::Null | Value::Zero | Value::Int(..) | Value::At(..), Value::Ptr(_)) if op == Add => right.clone(),
            (Value::Ptr(_), Value::Int(..)) if op == Add => Value::Host("past", 0),
            (Value::Fn(a), Value::Fn(b)) if matches!(op, Eq | Ne) => Value::bool((a.name == b.name) == (op == Eq)),
            (Value::List(a), Value::List(b)) if matches!(op, Eq | Ne) => {
                let (a, b) = (a.items.borrow().clone(), b.items.borrow().clone());
                let mut same = a.len() == b.len();
                for (a, b) in a.iter().zip(&b) {
                    let (a, b) = (a.borrow().clone(), b.borrow().clone());
                    same &= self.binary(Eq, &a, &b, at)?.truth() == Some(true);
                }
                Value::bool(same == (op == Eq))
            }
            // Sets of bits.
            (Value::Map(a), Value::Map(b))
                if a.set && b.set && matches!(op, Eq | Ne | Binary::BitAnd | Binary::BitOr) =>
            {
                let keys = |map: &Rc<super::value::Map>| -> Vec<Option<i64>> {
                    map.entries.borrow().iter().map(|(key, _)| key.number()).collect()
                };
                let (x, y) = (keys(a), keys(b));
                match op {
                    Eq | Ne => Value::bool((x == y) == (op == Eq)),
                    _ => {
                        let made = Value::map(a.value.clone(), true, true);
                        if let Value::Map(map) = &made {
                            let all = a.entries.borrow().clone();
                            let more = b.entries.borrow().clone();
                            for (key, _) in all.iter().chain(&more) {
                                let both = x.contains(&key.number()) && y.contains(&key.number());
                                if both || op == Binary::BitOr {
                                    self.insert(map, key.clone(), Value::Void)?;
                                }
                            }
                        }
                        made
                    }
                }
            }
            (Value::Void, _) | (_, Value::Void) => return self.stuck(at, "a value"),
            (Value::Int(number, _), Value::Null) | (Value::Null, Value::Int(number, _)) if matches!(op, Eq | Ne) => {
                Value::bool((*number == 0) == (op == Eq))
            }
            _ if matches!(op, Eq | Ne) && is_pointer(left) && is_pointer(right) => {
                let same = address(left) == address(right);
                Value::bool(same == (op == Eq))
            }
            _ => {
                let code = self.units.program.files.text(at);
                return self.stuck(at, format!("{} {} {}: {code}", kind(left), op.spelled(), kind(right)));
            }
        })
    }

    fn integers(&mut self, op: Binary, (a, x): (i64, IntTy), (b, y): (i64, IntTy), at: Span) -> Run<Value> {
        let ty = if matches!(op, Binary::Shl | Binary::Shr) { x.promoted() } else { x.common(y) };
        let (a, b) = (ty.wrap(a), if matches!(op, Binary::Shl | Binary::Shr) { b } else { ty.wrap(b) });
        let unsigned = ty == IntTy::U64;
        let (ua, ub) = (a as u64, b as u64);
        let compare = if unsigned { ua.cmp(&ub) } else { a.cmp(&b) };
        let number = match op {
            Binary::Lt => return Ok(Value::bool(compare.is_lt())),
            Binary::Gt => return Ok(Value::bool(compare.is_gt())),
            Binary::Le => return Ok(Value::bool(compare.is_le())),
            Binary::Ge => return Ok(Value::bool(compare.is_ge())),
            Binary::Eq => return Ok(Value::bool(compare.is_eq())),
            Binary::Ne => return Ok(Value::bool(compare.is_ne())),
            Binary::And => return Ok(Value::bool(a != 0 && b != 0)),
            Binary::Or => return Ok(Value::bool(a != 0 || b != 0)),
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::Mul => a.wrapping_mul(b),
            Binary::Div | Binary::Rem if b == 0 => return self.stuck(at, "a division by zero"),
            Binary::Div if unsigned => (ua / ub) as i64,
            Binary::Rem if unsigned => (ua % ub) as i64,
            Binary::Div => a.wrapping_div(b),
            Binary::Rem => a.wrapping_rem(b),
            Binary::Shl => a.wrapping_shl(b as u32),
            Binary::Shr if unsigned => ua.wrapping_shr(b as u32) as i64,
            Binary::Shr => a.wrapping_shr(b as u32),
            Binary::BitAnd => a & b,
            Binary::BitOr => a | b,
            Binary::BitXor => a ^ b,
        };
        if ty.signed() && !ty.fits(number) {
            return self.stuck(at, "an overflow");
        }
        Ok(Value::Int(ty.wrap(number), ty))
    }

    fn floats(&mut self, op: Binary, a: f64, b: f64, bits: u8, at: Span) -> Run<Value> {
        let number = match op {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            Binary::Lt => return Ok(Value::bool(a < b)),
            Binary::Gt => return Ok(Value::bool(a > b)),
            Binary::Le => return Ok(Value::bool(a <= b)),
            Binary::Ge => return Ok(Value::bool(a >= b)),
            Binary::Eq => return Ok(Value::bool(a == b)),
            Binary::Ne => return Ok(Value::bool(a != b)),
            _ => return self.stuck(at, "an operation on floats"),
        };
        Ok(Value::Float(if bits == 32 { f64::from(number as f32) } else { number }, bits))
    }

    pub(super) fn block(&mut self, stmts: &[Stmt]) -> Run<Flow> {
        let vars = self.frames.last().map_or(0, |frame| frame.vars.len());
        let flow = self.run_all(stmts);
        if let Some(frame) = self.frames.last_mut() {
            frame.vars.truncate(vars);
        }
        flow
    }

    fn run_all(&mut self, stmts: &[Stmt]) -> Run<Flow> {
        for stmt in stmts {
            match self.exec(stmt)? {
                Flow::On => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::On)
    }

    pub(super) fn exec(&mut self, stmt: &Stmt) -> Run<Flow> {
        self.depth += 1;
        let flow = self.statement(stmt);
        self.depth -= 1;
        flow
    }

    fn scoped(&mut self, run: impl FnOnce(&mut Self) -> Run<Flow>) -> Run<Flow> {
        let vars = self.frames.last().map_or(0, |frame| frame.vars.len());
        let flow = run(self);
        if let Some(frame) = self.frames.last_mut() {
            frame.vars.truncate(vars);
        }
        flow
    }

    fn statement(&mut self, stmt: &Stmt) -> Run<Flow> {
        match stmt {
            Stmt::Expr(expr) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.at = expr.at;
                }
                self.slot(expr)?;
            }
            Stmt::Declare(list) => {
                for var in list {
                    self.declared(var)?;
                }
            }
            Stmt::Bind { names, reference, value } => self.bind(names, *reference, value)?,
            Stmt::Alias(name, ty) => {
                let ty = self.resolve(ty)?;
                self.declare(*name, place(Value::Type(Rc::new(ty))));
            }
            Stmt::Block(stmts) | Stmt::Try(stmts) => return self.block(stmts),
            Stmt::If { init, cond, then, other } => {
                return self.scoped(|machine| {
                    if let Some(init) = init {
                        machine.exec(init)?;
                    }
                    match (machine.truth(cond)?, other) {
                        (true, _) => machine.exec(then),
                        (false, Some(other)) => machine.exec(other),
                        (false, None) => Ok(Flow::On),
                    }
                });
            }
            Stmt::Switch(value, stmts) => return self.switch(value, stmts),
            Stmt::For { init, cond, step, body } => {
                return self.scoped(|machine| {
                    if let Some(init) = init {
                        machine.exec(init)?;
                    }
                    loop {
                        if let Some(cond) = cond
                            && !machine.truth(cond)?
                        {
                            return Ok(Flow::On);
                        }
                        match machine.exec(body)? {
                            Flow::Break => return Ok(Flow::On),
                            Flow::Return(slot) => return Ok(Flow::Return(slot)),
                            Flow::On | Flow::Continue => {}
                        }
                        if let Some(step) = step {
                            machine.slot(step)?;
                        }
                    }
                });
            }
            Stmt::While { cond, body, first } => {
                let mut test = *first;
                loop {
                    if test && !self.truth(cond)? {
                        return Ok(Flow::On);
                    }
                    test = true;
                    match self.exec(body)? {
                        Flow::Break => return Ok(Flow::On),
                        Flow::Return(slot) => return Ok(Flow::Return(slot)),
                        Flow::On | Flow::Continue => {}
                    }
                }
            }
            Stmt::Each { names, reference, range, body } => return self.each(names, *reference, range, body),
            Stmt::Return(None, _) => return Ok(Flow::Return(Slot::Value(Value::Void))),
            Stmt::Return(Some(value), at) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.at = *at;
                }
                if let ExprKind::Init(_) = value.kind {
                    return self.braced_return(value);
                }
                let slot = self.slot(value)?;
                let reference = self.frames.last().is_some_and(|frame| frame.reference);
                if reference {
                    return Ok(Flow::Return(slot));
                }
                // A local variable is moved out.
                let local = matches!(&value.kind, ExprKind::Name(name) if name.path.len() == 1 && self.variable(name.last()).is_some());
                let value = if local { slot.read() } else { slot.take() };
                return Ok(Flow::Return(Slot::Value(value)));
            }
            Stmt::Break => return Ok(Flow::Break),
            Stmt::Continue => return Ok(Flow::Continue),
            Stmt::Case(_) | Stmt::Default | Stmt::Empty => {}
            Stmt::Unread(at) => {
                let code = self.units.program.files.text(*at);
                return self.stuck(
                    *at,
                    format!("a statement that was not read: {}", code.chars().take(120).collect::<String>()),
                );
            }
        }
        Ok(Flow::On)
    }

    /// `return {a, b};` makes a value of the function's type.
    fn braced_return(&mut self, value: &Expr) -> Run<Flow> {
        let ret = self.returning.last().cloned().flatten();
        let ty = match &ret {
            Some(ty) => self.resolve(ty)?,
            None => Ty::Unknown,
        };
        Ok(Flow::Return(Slot::Value(self.braced(&ty, value)?)))
    }

    fn declared(&mut self, var: &Variable) -> Run<()> {
        self.step(var.at)?;
        if let Some(frame) = self.frames.last_mut() {
            frame.at = var.at;
        }
        if var.is_static {
            let known = self.statics.get(&var.at).cloned();
            let held = match known {
                Some(known) => known,
                None => {
                    let made = self.initial(&var.ty, &var.init, true)?.into_place();
                    self.statics.insert(var.at, made.clone());
                    made
                }
            };
            self.declare(var.name, held);
            return Ok(());
        }
        let slot = self.initial(&var.ty, &var.init, false)?;
        let held = match slot {
            Slot::Place(held) if var.ty.reference => held,
            slot => place(slot.take()),
        };
        self.declare(var.name, held);
        Ok(())
    }

    fn bind(&mut self, names: &[Sym], reference: bool, value: &Expr) -> Run<()> {
        let slot = self.slot(value)?;
        let whole = if reference { slot.into_place() } else { place(slot.take()) };
        let parts = self.parts(&whole, names.len(), value.at)?;
        for (name, part) in names.iter().zip(parts) {
            self.declare(*name, part);
        }
        Ok(())
    }

    /// The parts of a pair, an array or an object.
    fn parts(&mut self, whole: &Place, count: usize, at: Span) -> Run<Vec<Place>> {
        let value = whole.borrow().clone();
        match value {
            Value::Tuple(items) if items.len() >= count => Ok(items.to_vec()),
            Value::List(list) if list.items.borrow().len() >= count => Ok(list.items.borrow().clone()),
            Value::Object(object) => {
                let Some(class) = object.class.class.clone() else { return self.stuck(at, "parts of an object") };
                let mut parts = Vec::new();
                for (owner, index) in self.all_fields(&class) {
                    let name = owner.fields.get(index).map(|field| field.name);
                    parts.extend(name.and_then(|name| object.field(name)));
                }
                Ok(parts)
            }
            _ => self.stuck(at, "parts of a value"),
        }
    }

    fn switch(&mut self, value: &Expr, stmts: &[Stmt]) -> Run<Flow> {
        let value = self.eval(value)?;
        let Some(number) = value.number() else { return self.stuck(self.here(), "a switch") };
        let (mut start, mut default) = (None, None);
        for (at, stmt) in stmts.iter().enumerate() {
            match stmt {
                Stmt::Case(label) if self.eval(label)?.number() == Some(number) => {
                    start = Some(at);
                    break;
                }
                Stmt::Default => default = Some(at),
                _ => {}
            }
        }
        let Some(start) = start.or(default) else { return Ok(Flow::On) };
        match self.block(stmts.get(start..).unwrap_or_default())? {
            Flow::Break => Ok(Flow::On),
            other => Ok(other),
        }
    }

    fn each(&mut self, names: &[Sym], reference: bool, range: &Expr, body: &Stmt) -> Run<Flow> {
        let slot = self.slot(range)?;
        let mut whole = slot.read();
        if let Value::Object(_) = &whole
            && let Some(list) = self.iterated(&slot.clone().into_place())?
        {
            whole = list;
        }
        let items: Vec<Place> = match &whole {
            Value::List(list) => list.items.borrow().clone(),
            Value::Map(map) => {
                let entry = |(key, held): &(Value, Place)| {
                    place(if map.set {
                        key.clone()
                    } else {
                        Value::Tuple(Rc::new(vec![place(key.clone()), held.clone()]))
                    })
                };
                map.entries.borrow().iter().map(entry).collect()
            }
            other => {
                let kind = kind(other);
                return self.stuck(range.at, format!("a loop over {kind}"));
            }
        };
        for item in items {
            self.step(range.at)?;
            let flow = self.scoped(|machine| {
                let held = if reference { item.clone() } else { place(item.borrow().copied()) };
                match names {
                    [only] => machine.declare(*only, held),
                    several => {
                        let parts = machine.parts(&held, several.len(), range.at)?;
                        for (name, part) in several.iter().zip(parts) {
                            machine.declare(*name, part);
                        }
                    }
                }
                machine.exec(body)
            })?;
            match flow {
                Flow::Break => break,
                Flow::Return(slot) => return Ok(Flow::Return(slot)),
                Flow::On | Flow::Continue => {}
            }
        }
        Ok(Flow::On)
    }

    /// The arguments of a call, each a place or a value.
    pub(super) fn arguments(&mut self, list: &[Expr]) -> Run<Vec<Arg>> {
        let mut args = Vec::with_capacity(list.len());
        for expr in list {
            match &expr.kind {
                ExprKind::Init(_) => args.push(Arg::Braces(expr.clone())),
                ExprKind::Pack(inner) => match self.pack(inner)? {
                    Some(values) => args.extend(values.into_iter().map(|value| Arg::Slot(Slot::Value(value)))),
                    None => args.push(Arg::Slot(self.slot(inner)?)),
                },
                _ => args.push(Arg::Slot(self.slot(expr)?)),
            }
        }
        Ok(args)
    }

    /// The values of `args...` or `std::forward<T>(args)...`.
    fn pack(&mut self, expr: &Expr) -> Run<Option<Vec<Value>>> {
        let inner = match &expr.kind {
            ExprKind::Call(_, args) if args.len() == 1 => args.first().unwrap_or(expr),
            _ => expr,
        };
        Ok(match self.slot(inner)?.read() {
            Value::Pack(list) => Some(list.to_vec()),
            _ => None,
        })
    }
}

fn is_pointer(value: &Value) -> bool {
    matches!(
        value,
        Value::Null
            | Value::Zero
            | Value::Ptr(_)
            | Value::At(..)
            | Value::Fn(_)
            | Value::Lambda(_)
            | Value::Str(_)
            | Value::Host(..)
            | Value::Int(0, _)
            | Value::List(_)
            | Value::MapAt(..)
    )
}

/// What a value is, for a message.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Unset(_) => "unset",
        Value::Zero => "zeroed memory",
        Value::Void => "nothing",
        Value::Null => "null",
        Value::Int(..) => "an integer",
        Value::Float(..) => "a float",
        Value::Str(_) => "text",
        Value::Ptr(_) => "a pointer",
        Value::At(..) => "a pointer to an item",
        Value::MapAt(..) => "an iterator",
        Value::Object(_) => "an object",
        Value::List(_) => "a list",
        Value::Map(_) => "a map",
        Value::Tuple(_) => "a pair",
        Value::Fn(_) => "a function",
        Value::Lambda(_) => "a lambda",
        Value::Type(_) => "a type",
        Value::Pack(_) => "a pack",
        Value::Host(..) => "an address",
    }
}
