//! Bounds of a symbolic integer over all inputs of a window, derived from its operations. The bounds are cheap and
//! never too narrow. They decide most comparisons without stepping through the counts.

use super::linear_pieces::{Kind, Number, Test, is_linear};
use super::machine::Machine;
use crate::syntax::ast::Binary;

/// The smallest and the largest value, in stored form.
type Bounds = (i64, i64);

/// The number `(value + slope * counts) / by`, rounded down.
struct Quotient {
    value: i128,
    slope: i128,
    by: i128,
}

impl Machine<'_> {
    /// The inputs of the window, as counts relative to the input of the run.
    pub(super) fn window(&self) -> Bounds {
        (self.from.saturating_sub(self.input), self.until.saturating_sub(self.input))
    }

    /// The outcome of a test, if the bounds of both sides decide it for every input of the window.
    pub(super) fn told_by_bounds(&self, test: Test, left: Number, right: Number) -> Option<bool> {
        let window = self.window();
        let (a, b) = (self.range_of(left, window)?, self.range_of(right, window)?);
        match test {
            // For unsigned numbers, the stored order is right only within each half of the range.
            Test::Below if a.0 < 0 || b.0 < 0 => None,
            Test::Less | Test::Below if a.1 < b.0 => Some(true),
            Test::Less | Test::Below if a.0 >= b.1 => Some(false),
            Test::Equal if a.1 < b.0 || b.1 < a.0 => Some(false),
            Test::Equal if a == b && a.0 == a.1 => Some(true),
            _ => None,
        }
    }

    /// The bounds of a number from the first to the last count. None if the operations do not determine a range, or if
    /// an intermediate value may overflow 64 bits.
    pub(super) fn range_of(&self, (value, dependence): Number, (first, last): Bounds) -> Option<Bounds> {
        if first > last {
            return None;
        }
        if is_linear(dependence) {
            let at = |count: i64| dependence.checked_mul(count).and_then(|rise| rise.checked_add(value));
            let (a, b) = (at(first)?, at(last)?);
            return Some((a.min(b), a.max(b)));
        }
        match self.kind_of(dependence)? {
            Kind::Binary(op, _, left, right) => {
                combine(*op, self.range_of(*left, (first, last))?, self.range_of(*right, (first, last))?)
            }
            Kind::Not(inner) => self.range_of(*inner, (first, last)).map(|(low, high)| (!high, !low)),
            Kind::Wrap(ty, inner) => match (self.range_of(*inner, (first, last)), ty.limits()) {
                (Some(inner), None) => Some(inner),
                (Some(inner), Some(_)) if ty.fits(inner.0) && ty.fits(inner.1) => Some(inner),
                (_, limits) => limits,
            },
        }
    }

    /// Whether a number never decreases up to the last count: an increasing linear number, or one divided by a
    /// constant.
    pub(super) fn rises(&self, (value, dependence): Number) -> bool {
        if is_linear(dependence) {
            let last = self.until.saturating_sub(self.input).max(0);
            return dependence >= 0 && dependence.checked_mul(last).and_then(|rise| rise.checked_add(value)).is_some();
        }
        match self.kind_of(dependence) {
            Some(&Kind::Binary(Binary::Div, _, left, (by, 0))) => {
                by > 0 && left.0 >= 0 && is_linear(left.1) && self.rises(left)
            }
            _ => false,
        }
    }

    /// Whether the result of comparing a non-decreasing number with a constant stays the same. Checking both ends is
    /// enough.
    pub(super) fn stays(&self, test: Test, left: Number, right: Number, truth: bool) -> bool {
        let (rising, constant) = match (left.1, right.1) {
            (_, 0) => (left, right.0),
            (0, _) => (right, left.0),
            _ => return false,
        };
        let last = self.until.saturating_sub(self.input).max(0);
        let first = self.from.saturating_sub(self.input);
        if !self.rises(rising) {
            return false;
        }
        let (Some(low), Some(high)) = (self.at(rising, first), self.at(rising, last)) else { return false };
        match test {
            // For unsigned numbers, the stored order is right only within each half of the range.
            Test::Below if constant < 0 || low.value < 0 => false,
            Test::Less | Test::Below if right.1 == 0 => test.of(high.value, constant) == truth,
            Test::Less | Test::Below => test.of(constant, high.value) == truth,
            Test::Equal => low.value == high.value || low.value > constant || high.value < constant,
        }
    }

    /// Writes a non-decreasing, non-negative number as a linear one divided by a constant, rounded down.
    fn quotient(&self, number: Number) -> Option<Quotient> {
        let of = |(value, slope): Number, by: i64| {
            let [value, slope, by] = [value, slope, by].map(i128::from);
            Quotient { value, slope, by }
        };
        if !self.rises(number) || number.0 < 0 {
            return None;
        }
        match self.kind_of(number.1) {
            _ if is_linear(number.1) => Some(of(number, 1)),
            Some(&Kind::Binary(Binary::Div, _, left, (by, 0))) => Some(of(left, by)),
            _ => None,
        }
    }

    /// Whether two quotients keep their order. Their difference before rounding is linear, so checking both ends is
    /// enough. Comparisons of tile counts with different widths often need this.
    pub(super) fn stays_apart(&self, test: Test, left: Number, right: Number, truth: bool) -> bool {
        if test == Test::Equal {
            return false;
        }
        let (Some(a), Some(b)) = (self.quotient(left), self.quotient(right)) else { return false };
        let ends = [self.from, self.until].map(|count| i128::from(count.saturating_sub(self.input).max(0)));
        ends.into_iter().all(|at| {
            let (left, right) = (a.value + a.slope * at, b.value + b.slope * at);
            match truth {
                // floor(x) <= x, and y - 1 < floor(y): the left side is less if x is less than the smallest value of
                // floor(y).
                true => left * b.by < (right - (b.by - 1)) * a.by,
                // Rounding down preserves `>=`.
                false => left * b.by >= right * a.by,
            }
        })
    }
}

/// Signed and unsigned operations agree for non-negative numbers. Other numbers get bounds only where the sign does not
/// matter.
fn combine(op: Binary, a: Bounds, b: Bounds) -> Option<Bounds> {
    let positive = a.0 >= 0 && b.0 >= 0;
    Some(match op {
        Binary::Add => (a.0.checked_add(b.0)?, a.1.checked_add(b.1)?),
        Binary::Sub => (a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?),
        Binary::Mul if positive => (a.0.checked_mul(b.0)?, a.1.checked_mul(b.1)?),
        Binary::Div if positive && b.0 > 0 => (a.0.checked_div(b.1)?, a.1.checked_div(b.0)?),
        Binary::Rem if positive && b.0 > 0 && a.1 < b.0 => a,
        Binary::Rem if positive && b.0 > 0 => (0, a.1.min(b.1 - 1)),
        Binary::BitAnd if positive => (0, a.1.min(b.1)),
        _ => return None,
    })
}
