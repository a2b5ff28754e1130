//! Arithmetic and comparison, with the dependence on the input carried through.

use super::machine::{Machine, Run};
use super::symbolic_int::{Number, is_linear, linear, plain};
use super::value::Value;
use crate::ast::Binary;
use crate::files::Span;

impl Machine<'_> {
    pub(super) fn binary(&mut self, op: Binary, left: &Value, right: &Value, at: Span) -> Run<Value> {
        use Value::{Agg, Float, Fn, Int, Null, Opaque, Pointer, Ptr, Str, Type};
        Ok(match (left, right) {
            (&Int(a, s), &Int(b, t)) => self.integers(op, (a, s), (b, t), at)?,
            (&Float(a), &Float(b)) => floats(op, a, b),
            (&Float(a), Int(..)) => self.settle(right).map_or(Opaque(at), |b| floats(op, a, b as f64)),
            (Int(..), &Float(b)) => self.settle(left).map_or(Opaque(at), |a| floats(op, a as f64, b)),
            // Pointers: whether they are null is known, where they point mostly is not.
            (Null, Null) => return Ok(equality(op, true).unwrap_or(Opaque(at))),
            (Null, Ptr(_) | Pointer(_) | Fn(_) | Str(_) | Agg(_) | Value::Lambda(_))
            | (Ptr(_) | Pointer(_) | Fn(_) | Str(_) | Agg(_) | Value::Lambda(_), Null) => {
                equality(op, false).unwrap_or(Opaque(at))
            }
            (Null, &Int(0, 0)) | (&Int(0, 0), Null) => equality(op, true).unwrap_or(Opaque(at)),
            (Ptr(a), Ptr(b)) => match op {
                Binary::Sub if a.root == b.root && a.len == b.len => {
                    let last = |place: &super::value::Place| place.steps().last().copied().map_or(0, i64::from);
                    Value::int(last(a) - last(b))
                }
                _ => equality(op, a == b).unwrap_or(Opaque(at)),
            },
            (Ptr(place), &Int(by, 0)) if matches!(op, Binary::Add | Binary::Sub) => {
                let by = if op == Binary::Add { by } else { -by };
                place.moved(by).map_or(Opaque(at), Ptr)
            }
            (Pointer(_), _) if matches!(op, Binary::Add | Binary::Sub) && !matches!(right, Pointer(_)) => left.clone(),
            (_, Pointer(_)) if op == Binary::Add => right.clone(),
            (Fn(a), Fn(b)) => equality(op, a.name == b.name).unwrap_or(Opaque(at)),
            (Str(a), Str(b)) => equality(op, a == b).unwrap_or(Opaque(at)),
            (Type(_), _) | (_, Type(_)) => Opaque(at),
            _ => Opaque(first_unknown(left, right, at)),
        })
    }

    fn integers(&mut self, op: Binary, left: Number, right: Number, at: Span) -> Run<Value> {
        let ((a, s), (b, t)) = (left, right);
        Ok(match op {
            Binary::Lt => Value::bool(self.less(left, right)),
            Binary::Gt => Value::bool(self.less(right, left)),
            Binary::Le => Value::bool(!self.less(right, left)),
            Binary::Ge => Value::bool(!self.less(left, right)),
            Binary::Eq => Value::bool(self.equal(left, right)),
            Binary::Ne => Value::bool(!self.equal(left, right)),
            _ => {
                let Some(value) = plain(op, a, b) else {
                    // Whether it is one at the window's own first count, too, only a run from there can tell.
                    self.lost |= s != 0 || t != 0;
                    return Err(self.unsure(at, "a division by zero"));
                };
                match op {
                    _ if s == 0 && t == 0 => Value::int(value),
                    Binary::And | Binary::Or => {
                        let (a, b) = (!self.equal(left, (0, 0)), !self.equal(right, (0, 0)));
                        Value::bool(if op == Binary::And { a && b } else { a || b })
                    }
                    Binary::Add if is_linear(s) && is_linear(t) => Value::Int(value, linear(s.checked_add(t))),
                    Binary::Sub if is_linear(s) && is_linear(t) => Value::Int(value, linear(s.checked_sub(t))),
                    Binary::Mul if t == 0 && is_linear(s) => Value::Int(value, linear(s.checked_mul(b))),
                    Binary::Mul if s == 0 && is_linear(t) => Value::Int(value, linear(t.checked_mul(a))),
                    // Divided without a rest at every count.
                    Binary::Div if t == 0 && b > 0 && a >= 0 && is_linear(s) && s > 0 && s % b == 0 => {
                        Value::Int(value, s / b)
                    }
                    Binary::Rem if t == 0 && b > 0 && a >= 0 && is_linear(s) && s > 0 && s % b == 0 => {
                        Value::int(value)
                    }
                    _ => self.binary_symbolic(op, value, left, right),
                }
            }
        })
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

fn floats(op: Binary, a: f64, b: f64) -> Value {
    match op {
        Binary::Add => Value::Float(a + b),
        Binary::Sub => Value::Float(a - b),
        Binary::Mul => Value::Float(a * b),
        Binary::Div => Value::Float(a / b),
        Binary::Lt => Value::bool(a < b),
        Binary::Gt => Value::bool(a > b),
        Binary::Le => Value::bool(a <= b),
        Binary::Ge => Value::bool(a >= b),
        Binary::Eq => Value::bool(a == b),
        Binary::Ne => Value::bool(a != b),
        Binary::And => Value::bool(a != 0.0 && b != 0.0),
        Binary::Or => Value::bool(a != 0.0 || b != 0.0),
        _ => Value::Float(f64::NAN),
    }
}
