//! Arithmetic and comparison. Results keep track of how they depend on the input.

use super::convert::rounded;
use super::linear_pieces::{Number, is_linear, linear, plain};
use super::machine::Machine;
use super::records::Run;
use super::value::{Ty, Value};
use crate::syntax::ast::Binary;
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use say::say;

impl Machine<'_> {
    pub(super) fn binary(&mut self, op: Binary, left: &Value, right: &Value, at: Span) -> Run<Value> {
        use Value::{Agg, Float, Fn, Int, Null, Opaque, Pointer, Ptr, Str, Type};
        Ok(match (left, right) {
            (&Int(a, s, x), &Int(b, t, y)) => self.integers(op, ((a, s), x), ((b, t), y), at)?,
            (&Float(a, x), &Float(b, y)) => floats(op, (a, x), (b, y), at),
            (&Float(a, x), &Int(_, _, ty)) => {
                self.settle(right).map_or(Opaque(at), |b| floats(op, (a, x), (ty.as_float(b), x), at))
            }
            (&Int(_, _, ty), &Float(b, y)) => {
                self.settle(left).map_or(Opaque(at), |a| floats(op, (ty.as_float(a), y), (b, y), at))
            }
            // For pointers, it is known whether they are null, but mostly not where they point.
            (Null, Null) => return Ok(equality(op, true).unwrap_or(Opaque(at))),
            (Null, Ptr(_) | Pointer(..) | Fn(_) | Str(_) | Agg(_) | Value::Lambda(_))
            | (Ptr(_) | Pointer(..) | Fn(_) | Str(_) | Agg(_) | Value::Lambda(_), Null) => {
                equality(op, false).unwrap_or(Opaque(at))
            }
            (Null, &Int(0, 0, _)) | (&Int(0, 0, _), Null) => equality(op, true).unwrap_or(Opaque(at)),
            (Ptr(a), Ptr(b)) => match op {
                Binary::Sub if a.root == b.root && a.len == b.len => {
                    let last = |place: &super::value::MemoryPlace| place.steps().last().copied().map_or(0, i64::from);
                    Value::typed(last(a) - last(b), IntTy::I64)
                }
                _ => equality(op, a == b).unwrap_or(Opaque(at)),
            },
            (Ptr(place), &Int(by, 0, _)) if matches!(op, Binary::Add | Binary::Sub) => {
                let by = if op == Binary::Add { by } else { -by };
                place.moved(by).map_or(Opaque(at), Ptr)
            }
            (Pointer(ty, Some(a)), Pointer(_, Some(b))) if op == Binary::Sub => {
                let size = if matches!(**ty, Ty::Void) { Some(1) } else { self.size_of(ty) };
                match size.and_then(|size| i64::try_from(size).ok()).filter(|size| *size > 0) {
                    Some(size) => Value::typed((a - b) / size, IntTy::I64),
                    None => Opaque(at),
                }
            }
            (Pointer(_, Some(a)), Pointer(_, Some(b))) => addresses(op, *a, *b).unwrap_or(Opaque(at)),
            (Pointer(..), _) if matches!(op, Binary::Add | Binary::Sub) && !matches!(right, Pointer(..)) => {
                self.beside(left, right, op == Binary::Sub)
            }
            (_, Pointer(..)) if op == Binary::Add => self.beside(right, left, false),
            (Fn(a), Fn(b)) => equality(op, a.name == b.name).unwrap_or(Opaque(at)),
            (Str(a), Str(b)) if op == Binary::Add => Str(format!("{a}{b}").into()),
            (Str(a), Str(b)) => equality(op, a == b).unwrap_or(Opaque(at)),
            (Type(_), _) | (_, Type(_)) => Opaque(at),
            _ => Opaque(first_unknown(left, right, at)),
        })
    }

    /// Moves a pointer by an offset. Its address stays known if the offset and the size of the pointee are known.
    fn beside(&mut self, pointer: &Value, by: &Value, back: bool) -> Value {
        let Value::Pointer(ty, address) = pointer else { return pointer.clone() };
        let size = match ty.as_ref() {
            Ty::Void => Some(1),
            ty => self.size_of(ty).and_then(|size| i64::try_from(size).ok()),
        };
        let moved = match (address, by, size) {
            (Some(address), Value::Int(by, 0, _), Some(size)) => {
                let by = by.checked_mul(size).and_then(|by| if back { by.checked_neg() } else { Some(by) });
                by.and_then(|by| address.checked_add(by))
            }
            _ => None,
        };
        Value::Pointer(ty.clone(), moved)
    }

    /// Converts both operands to their common type and computes in it. The result has that type.
    fn integers(&mut self, op: Binary, left: (Number, IntTy), right: (Number, IntTy), at: Span) -> Run<Value> {
        let shift = matches!(op, Binary::Shl | Binary::Shr);
        let ty = if shift { left.1.promoted() } else { left.1.common(right.1) };
        let number = self.brought(left, ty);
        let other = if shift { right.0 } else { self.brought(right, ty) };
        let below = |machine: &mut Self, a, b| match ty {
            IntTy::U64 => machine.below(a, b),
            _ => machine.less(a, b),
        };
        Ok(match op {
            Binary::Lt => Value::bool(below(self, number, other)),
            Binary::Gt => Value::bool(below(self, other, number)),
            Binary::Le => Value::bool(!below(self, other, number)),
            Binary::Ge => Value::bool(!below(self, number, other)),
            Binary::Eq => Value::bool(self.equal(number, other)),
            Binary::Ne => Value::bool(!self.equal(number, other)),
            Binary::And | Binary::Or => {
                let (a, b) = (!self.equal(number, (0, 0)), !self.equal(other, (0, 0)));
                Value::bool(if op == Binary::And { a && b } else { a || b })
            }
            Binary::Shl | Binary::Shr => {
                // The shift distance must be a plain number. Shifting by the width of the type or more is undefined.
                let by = self.settled(other);
                if !(0..i64::from(ty.bits())).contains(&by) {
                    return Ok(Value::Opaque(at));
                }
                let raw = self.computed(op, ty, number, (by, 0), at)?;
                self.wrap_symbolic(ty, raw)
            }
            _ => {
                let raw = self.computed(op, ty, number, other, at)?;
                self.in_range(op, ty, raw, (number, other), at)
            }
        })
    }

    /// Converts a number to another type, wrapping around if it does not fit.
    fn brought(&mut self, (number, from): (Number, IntTy), to: IntTy) -> Number {
        // Only a signed number that becomes an unsigned 32-bit number changes its stored form.
        if from.signed() && to == IntTy::U32 { self.wrapped(to, number) } else { number }
    }

    /// The raw result, before the check whether it fits the type.
    fn computed(&mut self, op: Binary, ty: IntTy, left: Number, right: Number, at: Span) -> Run<Number> {
        let ((a, s), (b, t)) = (left, right);
        let unsigned = ty == IntTy::U64;
        let Some(value) = plain(op, a, b, unsigned) else {
            // Whether the divisor is also zero at the window's first count is known only after a run that starts there.
            self.lost |= s != 0 || t != 0;
            return Err(self.unsure(at, say!("cxx-open-division")));
        };
        let last = self.until.saturating_sub(self.input).max(0);
        let within = || s.checked_mul(last).and_then(|rise| rise.checked_add(a)).is_some();
        let rises = t == 0 && b > 0 && a >= 0 && is_linear(s) && s > 0 && s % b == 0 && within();
        Ok(match op {
            _ if s == 0 && t == 0 => (value, 0),
            Binary::Add if is_linear(s) && is_linear(t) => (value, linear(s.checked_add(t))),
            Binary::Sub if is_linear(s) && is_linear(t) => (value, linear(s.checked_sub(t))),
            Binary::Mul if t == 0 && is_linear(s) => (value, linear(s.checked_mul(b))),
            Binary::Mul if s == 0 && is_linear(t) => (value, linear(t.checked_mul(a))),
            // The division has no remainder at any count.
            Binary::Div if rises => (value, s / b),
            Binary::Rem if rises => (value, 0),
            _ => self.binary_symbolic(op, unsigned, value, left, right),
        })
    }

    /// Unsigned numbers wrap around. Signed overflow is undefined, so the result is unknown.
    fn in_range(&mut self, op: Binary, ty: IntTy, raw: Number, of: (Number, Number), at: Span) -> Value {
        if !ty.signed() {
            return self.wrap_symbolic(ty, raw);
        }
        let Some((least, most)) = ty.limits() else {
            let overflows = raw.1 == 0 && overflows(op, of.0.0, of.1.0);
            return if overflows { Value::Opaque(at) } else { Value::Int(raw.0, raw.1, ty) };
        };
        let fits = match raw.1 {
            0 => ty.fits(raw.0),
            _ => self.fits_throughout(ty, raw) || (!self.less(raw, (least, 0)) && !self.less((most, 0), raw)),
        };
        if fits { Value::Int(raw.0, raw.1, ty) } else { Value::Opaque(at) }
    }

    /// The bitwise complement `~x`.
    pub(super) fn complement(&mut self, number: Number, ty: IntTy) -> Value {
        let raw = self.not_symbolic(number);
        self.wrap_symbolic(ty, raw)
    }
}

/// Whether an operation on two 64-bit numbers overflows.
fn overflows(op: Binary, a: i64, b: i64) -> bool {
    match op {
        Binary::Add => a.checked_add(b).is_none(),
        Binary::Sub => a.checked_sub(b).is_none(),
        Binary::Mul => a.checked_mul(b).is_none(),
        Binary::Div | Binary::Rem => a.checked_div(b).is_none(),
        _ => false,
    }
}

fn equality(op: Binary, equal: bool) -> Option<Value> {
    match op {
        Binary::Eq => Some(Value::bool(equal)),
        Binary::Ne => Some(Value::bool(!equal)),
        _ => None,
    }
}

fn first_unknown(left: &Value, right: &Value, at: Span) -> Span {
    match (left, right) {
        (Value::Opaque(from), _) | (_, Value::Opaque(from)) => *from,
        _ => at,
    }
}

/// Converts both operands to the wider of the two types, computes in it, and rounds the result to it.
fn floats(op: Binary, (a, x): (f64, u8), (b, y): (f64, u8), at: Span) -> Value {
    let bits = x.max(y);
    let (a, b) = (rounded(a, bits), rounded(b, bits));
    if a.is_nan() || b.is_nan() {
        return Value::Opaque(at);
    }
    let number = |value: f64| Value::Float(rounded(value, bits), bits);
    match op {
        Binary::Add => number(a + b),
        Binary::Sub => number(a - b),
        Binary::Mul => number(a * b),
        Binary::Div => number(a / b),
        Binary::Lt => Value::bool(a < b),
        Binary::Gt => Value::bool(a > b),
        Binary::Le => Value::bool(a <= b),
        Binary::Ge => Value::bool(a >= b),
        Binary::Eq => Value::bool(a == b),
        Binary::Ne => Value::bool(a != b),
        Binary::And => Value::bool(a != 0.0 && b != 0.0),
        Binary::Or => Value::bool(a != 0.0 || b != 0.0),
        _ => Value::Opaque(at),
    }
}

/// Compares two known addresses.
fn addresses(op: Binary, a: i64, b: i64) -> Option<Value> {
    Some(Value::bool(match op {
        Binary::Eq => a == b,
        Binary::Ne => a != b,
        Binary::Lt => a < b,
        Binary::Le => a <= b,
        Binary::Gt => a > b,
        Binary::Ge => a >= b,
        _ => return None,
    }))
}
