//! Arithmetic and comparison, with the dependence on the column count carried through.

use super::machine::{Machine, Run, slope};
use super::value::{CURVED, Value};
use crate::cpp::ast::Binary;
use crate::cpp::files::Span;

impl Machine<'_> {
    pub(super) fn binary(&mut self, op: Binary, left: &Value, right: &Value, at: Span) -> Run<Value> {
        use Value::{Agg, Float, Fn, Int, Null, Opaque, Pointer, Ptr, Str, Type};
        Ok(match (left, right) {
            (&Int(a, s), &Int(b, t)) => self.integers(op, (a, s), (b, t), at)?,
            (&Float(a), &Float(b)) => floats(op, a, b),
            (&Float(a), &Int(b, t)) => {
                if t != 0 {
                    self.hold_point();
                }
                floats(op, a, b as f64)
            }
            (&Int(a, s), &Float(b)) => {
                if s != 0 {
                    self.hold_point();
                }
                floats(op, a as f64, b)
            }
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

    fn integers(&mut self, op: Binary, left: (i64, i64), right: (i64, i64), at: Span) -> Run<Value> {
        let ((a, s), (b, t)) = (left, right);
        let constant = s == 0 && t == 0;
        Ok(match op {
            Binary::Add => Value::Int(a.wrapping_add(b), slope(s, t, i64::checked_add).unwrap_or(CURVED)),
            Binary::Sub => Value::Int(a.wrapping_sub(b), slope(s, t, i64::checked_sub).unwrap_or(CURVED)),
            Binary::Mul => Value::Int(a.wrapping_mul(b), product(left, right)),
            Binary::Div | Binary::Rem if b == 0 => return Err(self.unsure(at, "a division by zero")),
            Binary::Div if constant => Value::int(a.wrapping_div(b)),
            Binary::Rem if constant => Value::int(a.wrapping_rem(b)),
            Binary::Div => self.quotient(left, right),
            Binary::Rem => self.remainder(left, right),
            Binary::Shl if t == 0 => match u32::try_from(b).ok().and_then(|by| 1i64.checked_shl(by)) {
                Some(factor) => Value::Int(a.wrapping_mul(factor), product(left, (factor, 0))),
                None => Value::int(0),
            },
            Binary::Shr if constant => Value::int(a.checked_shr(b as u32).unwrap_or(0)),
            Binary::Shr if t == 0 => match u32::try_from(b).ok().and_then(|by| 1i64.checked_shl(by)) {
                Some(factor) if factor > 0 => self.quotient(left, (factor, 0)),
                _ => Value::int(0),
            },
            Binary::Lt => Value::bool(self.less(left, right)),
            Binary::Gt => Value::bool(self.less(right, left)),
            Binary::Le => Value::bool(!self.less(right, left)),
            Binary::Ge => Value::bool(!self.less(left, right)),
            Binary::Eq => Value::bool(self.equal(left, right)),
            Binary::Ne => Value::bool(!self.equal(left, right)),
            Binary::BitAnd => Value::Int(a & b, curved_unless(constant)),
            Binary::BitOr => Value::Int(a | b, curved_unless(constant)),
            Binary::BitXor => Value::Int(a ^ b, curved_unless(constant)),
            Binary::Shl | Binary::Shr => Value::Int(0, CURVED),
            Binary::And => Value::bool(a != 0 && b != 0),
            Binary::Or => Value::bool(a != 0 || b != 0),
        })
    }

    /// Rounded down to the same quotient for the rest of the range, or linear where the divisor divides the slope.
    fn quotient(&mut self, (a, s): (i64, i64), (b, t): (i64, i64)) -> Value {
        if t != 0 || s == CURVED || s <= 0 || a < 0 || b <= 0 {
            return Value::Int(a.wrapping_div(b), CURVED);
        }
        if s % b == 0 {
            return Value::Int(a / b, s / b);
        }
        self.hold_for((b - 1 - a % b) / s);
        Value::int(a / b)
    }

    fn remainder(&mut self, (a, s): (i64, i64), (b, t): (i64, i64)) -> Value {
        if t != 0 || s == CURVED || s <= 0 || a < 0 || b <= 0 {
            return Value::Int(a.wrapping_rem(b), CURVED);
        }
        if s % b == 0 {
            return Value::int(a % b);
        }
        self.hold_for((b - 1 - a % b) / s);
        Value::Int(a % b, s)
    }
}

fn curved_unless(constant: bool) -> i64 {
    if constant { 0 } else { CURVED }
}

fn product((a, s): (i64, i64), (b, t): (i64, i64)) -> i64 {
    match (s, t) {
        (0, 0) => 0,
        (CURVED, _) | (_, CURVED) => CURVED,
        (s, 0) => s.checked_mul(b).unwrap_or(CURVED),
        (0, t) => t.checked_mul(a).unwrap_or(CURVED),
        _ => CURVED,
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
