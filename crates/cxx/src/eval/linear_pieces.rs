//! Data types for integers that depend on the inputs: the operation that produced one, and the pieces in which it is
//! linear.

use super::value::CURVED;
use crate::syntax::ast::Binary;
use crate::syntax::integer::IntTy;
use crate::syntax::sym::FxMap;
use std::cell::RefCell;

/// A value at the count of the run, and its dependence on the count: 0 (none), a slope, the index of a symbolic
/// integer, or CURVED.
pub(super) type Number = (i64, i64);

/// Dependences below this are indices of symbolic integers. No realistic slope is that steep.
pub(super) const SYMBOLIC: i64 = i64::MIN / 2;

#[derive(Debug)]
pub(super) struct SymbolicInt {
    pub(super) kind: Kind,
    pub(super) size: u32,
    /// Cached values at the wanted counts, by index. An inner None means that the number has no value there.
    pub(super) known: RefCell<Vec<Option<Option<Piece>>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// The flag is set for unsigned 64-bit operations, whose results differ from signed ones.
    Binary(Binary, bool, Number, Number),
    Not(Number),
    /// The number after it is stored into an integer of this type.
    Wrap(IntTy, Number),
}

/// A number that is linear for `more` counts after the requested one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub value: i64,
    pub(super) slope: i64,
    pub(super) more: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Test {
    Less,
    /// Unsigned 64-bit less-than.
    Below,
    Equal,
}

/// The range over which a comparison is known to keep its outcome, as counts relative to the input.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) truth: bool,
    /// Whether the outcome at the next count differs or cannot be determined.
    pub(super) ends: bool,
}

/// Caches within one run. The same operation on the same numbers gives the same symbolic integer. The known range of
/// each comparison is kept and extended when needed.
#[derive(Debug, Default)]
pub(super) struct Followed {
    pub(super) numbers: FxMap<Kind, i64>,
    pub(super) tests: FxMap<(Test, Number, Number), Held>,
}

impl Test {
    pub(super) fn of(self, left: i64, right: i64) -> bool {
        match self {
            Test::Less => left < right,
            Test::Below => (left as u64) < (right as u64),
            Test::Equal => left == right,
        }
    }
}

/// Whether a dependence is a slope (or 0), so that the number is known to be linear.
pub(super) fn is_linear(dependence: i64) -> bool {
    dependence > SYMBOLIC
}

/// Encodes a computed slope. A slope too steep for the encoding becomes CURVED.
pub(super) fn linear(slope: Option<i64>) -> i64 {
    slope.filter(|&slope| is_linear(slope)).unwrap_or(CURVED)
}

/// The number of further counts for which the test keeps its outcome, provided that both sides stay linear.
pub(super) fn keeps(test: Test, left: Piece, right: Piece) -> i64 {
    let Some(slope) = left.slope.checked_sub(right.slope) else { return 0 };
    let Some(difference) = left.value.checked_sub(right.value) else { return 0 };
    if test == Test::Below {
        let order = if (left.value < 0) == (right.value < 0) { keeps(Test::Less, left, right) } else { i64::MAX };
        return order.min(keeps_sign(left)).min(keeps_sign(right));
    }
    match (test, slope) {
        (_, 0) => i64::MAX,
        (Test::Less, s) if difference >= 0 && s < 0 => difference.checked_div(s.saturating_neg()).unwrap_or(0),
        (Test::Less, s) if difference < 0 && s > 0 => {
            difference.saturating_neg().saturating_sub(1).checked_div(s).unwrap_or(0)
        }
        (Test::Less | Test::Below, _) => i64::MAX,
        (Test::Equal, _) if difference == 0 => 0,
        (Test::Equal, s) if difference.checked_rem(s) == Some(0) => {
            let meets = difference.checked_div(s).unwrap_or(0).saturating_neg();
            if meets > 0 { meets - 1 } else { i64::MAX }
        }
        (Test::Equal, _) => i64::MAX,
    }
}

/// The number of counts for which a number keeps its sign.
fn keeps_sign(piece: Piece) -> i64 {
    let distance = match (piece.value < 0, piece.slope) {
        (_, 0) => return i64::MAX,
        (false, 1..) => i64::MAX - piece.value,
        (false, _) => piece.value,
        (true, 1..) => -1 - piece.value,
        (true, _) => piece.value - i64::MIN,
    };
    piece.slope.checked_abs().and_then(|slope| distance.checked_div(slope)).unwrap_or(0)
}

pub(super) fn combine(op: Binary, unsigned: bool, left: Piece, right: Piece) -> Option<Piece> {
    let value = plain(op, left.value, right.value, unsigned)?;
    let more = left.more.min(right.more);
    let fixed = Piece { value, slope: 0, more };
    let point = Piece { value, slope: 0, more: 0 };
    let sloped = |slope: Option<i64>| slope.map_or(point, |slope| Piece { value, slope, more });
    if left.slope == 0 && right.slope == 0 {
        return Some(fixed);
    }
    let divides = right.slope == 0 && right.value > 0 && left.value >= 0 && left.slope > 0;
    Some(match op {
        Binary::Add => sloped(left.slope.checked_add(right.slope)),
        Binary::Sub => sloped(left.slope.checked_sub(right.slope)),
        Binary::Mul if right.slope == 0 => sloped(left.slope.checked_mul(right.value)),
        Binary::Mul if left.slope == 0 => sloped(right.slope.checked_mul(left.value)),
        Binary::Shl if right.slope == 0 => sloped(power(right.value).and_then(|by| left.slope.checked_mul(by))),
        Binary::Shr if right.slope == 0 => match power(right.value) {
            Some(by) => {
                return combine(Binary::Div, unsigned, left, Piece { value: by, ..right })
                    .filter(|_| left.value >= 0)
                    .or(Some(point));
            }
            None => point,
        },
        // The quotient stays the same up to the next multiple; the remainder grows until then.
        Binary::Div | Binary::Rem if divides => {
            let (s, b) = (left.slope, right.value);
            // The formula is valid only while the value fits in 63 bits.
            let more = more.min((i64::MAX - left.value) / s);
            let fixed = Piece { more, ..fixed };
            let same = (b - 1 - left.value % b) / s;
            match (op, s % b) {
                (Binary::Div, 0) => Piece { value, slope: s / b, more },
                (Binary::Div, _) => Piece { value, slope: 0, more: more.min(same) },
                (_, 0) => fixed,
                _ => Piece { value, slope: s, more: more.min(same) },
            }
        }
        _ => point,
    })
}

fn power(by: i64) -> Option<i64> {
    u32::try_from(by).ok().and_then(|by| 1i64.checked_shl(by)).filter(|&power| power > 0)
}

/// Arithmetic on plain numbers; None for a division by zero and for operators that do not produce a number.
pub(super) fn plain(op: Binary, a: i64, b: i64, unsigned: bool) -> Option<i64> {
    Some(match op {
        Binary::Div if unsigned => (a as u64).checked_div(b as u64)? as i64,
        Binary::Rem if unsigned => (a as u64).checked_rem(b as u64)? as i64,
        Binary::Shr if unsigned => u32::try_from(b).ok().and_then(|by| (a as u64).checked_shr(by)).unwrap_or(0) as i64,
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::Div | Binary::Rem if b == 0 => return None,
        Binary::Div => a.wrapping_div(b),
        Binary::Rem => a.wrapping_rem(b),
        Binary::Shl => {
            u32::try_from(b).ok().and_then(|by| 1i64.checked_shl(by)).map_or(0, |factor| a.wrapping_mul(factor))
        }
        Binary::Shr => u32::try_from(b).ok().and_then(|by| a.checked_shr(by)).unwrap_or(0),
        Binary::BitAnd => a & b,
        Binary::BitOr => a | b,
        Binary::BitXor => a ^ b,
        Binary::Lt => i64::from(a < b),
        Binary::Gt => i64::from(a > b),
        Binary::Le => i64::from(a <= b),
        Binary::Ge => i64::from(a >= b),
        Binary::Eq => i64::from(a == b),
        Binary::Ne => i64::from(a != b),
        Binary::And => i64::from(a != 0 && b != 0),
        Binary::Or => i64::from(a != 0 || b != 0),
    })
}
