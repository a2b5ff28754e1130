//! Integers that depend on the input. A linear one stores its slope. Any other stores the operation that produced it,
//! so that its value at other counts can be computed. For a decision, the machine searches forward from the current
//! count, piece by piece, for the first count at which the outcome would change. The run is valid up to that count and
//! no further.

use super::linear_pieces::{Held, Kind, Number, Piece, SymbolicInt, Test, combine, is_linear, keeps, linear};
use super::machine::Machine;
use super::value::{CURVED, Value};
use crate::syntax::ast::Binary;
use crate::syntax::integer::IntTy;
use std::cell::RefCell;

/// The largest number of operations in a symbolic integer. Decisions on a larger one are valid for one count only.
const MAX_SIZE: u32 = 64;
/// The largest number of wanted counts at which values are cached. Few counts are examined one by one.
const MAX_KEPT: usize = 64;
/// The largest number of pieces through which one decision is followed.
const MAX_PIECES: usize = 4096;

impl Machine<'_> {
    pub(super) fn binary_symbolic(
        &mut self,
        op: Binary,
        unsigned: bool,
        value: i64,
        left: Number,
        right: Number,
    ) -> Number {
        let (op, left, right) = match (op, right) {
            (Binary::Add, (by, 0)) => self.added(left, by),
            (Binary::Sub, (by, 0)) => self.added(left, by.wrapping_neg()),
            _ => (op, left, right),
        };
        let size = self.size_of_symbolic(left.1) + self.size_of_symbolic(right.1);
        let number = (value, self.add_symbolic(Kind::Binary(op, unsigned, left, right), size, &[left.1, right.1]));
        self.if_constant(number)
    }

    /// Merges repeated additions of constants, so that a loop that counts down produces one operation instead of many.
    fn added(&self, left: Number, by: i64) -> (Binary, Number, Number) {
        match self.kind_of(left.1) {
            Some(&Kind::Binary(Binary::Add, _, inner, (before, 0))) => {
                (Binary::Add, inner, (before.wrapping_add(by), 0))
            }
            _ => (Binary::Add, left, (by, 0)),
        }
    }

    /// A number that is constant over the window becomes a plain number. This is safe because values created in a
    /// window are not used in another.
    fn if_constant(&self, number: Number) -> Number {
        let (first, last) = self.window();
        match self.at(number, first) {
            Some(piece) if piece.slope == 0 && piece.more >= last.saturating_sub(first) => (piece.value, 0),
            _ => number,
        }
    }

    pub(super) fn not_symbolic(&mut self, number: Number) -> Number {
        if is_linear(number.1) {
            return (!number.0, linear(number.1.checked_neg()));
        }
        let size = self.size_of_symbolic(number.1);
        (!number.0, self.add_symbolic(Kind::Not(number), size, &[number.1]))
    }

    /// A number stored into fewer bits. Linear numbers that fit at both ends of the range are unchanged.
    pub(super) fn wrap_symbolic(&mut self, ty: IntTy, number: Number) -> Value {
        let (value, dependence) = self.wrapped(ty, number);
        Value::Int(value, dependence, ty)
    }

    pub(super) fn wrapped(&mut self, ty: IntTy, number: Number) -> Number {
        if number.1 == 0 {
            return (ty.wrap(number.0), 0);
        }
        if self.fits_throughout(ty, number) {
            return number;
        }
        let size = self.size_of_symbolic(number.1);
        let wrapped = (ty.wrap(number.0), self.add_symbolic(Kind::Wrap(ty, number), size, &[number.1]));
        self.if_constant(wrapped)
    }

    /// Whether a number obviously fits this type up to the last count.
    pub(super) fn fits_throughout(&self, ty: IntTy, number: Number) -> bool {
        let last = self.until.saturating_sub(self.input).max(0);
        let end = number.1.checked_mul(last).and_then(|rise| rise.checked_add(number.0));
        ty.limits().is_none()
            || (is_linear(number.1) && ty.fits(number.0) && end.is_some_and(|end| ty.fits(end)))
            || (self.rises(number) && ty.fits(number.0) && self.at(number, last).is_some_and(|end| ty.fits(end.value)))
            || self.range_of(number, (0, last)).is_some_and(|(low, high)| ty.fits(low) && ty.fits(high))
    }

    /// The number as a plain one. Ends the range before the count at which it would change.
    pub(super) fn settled(&mut self, number: Number) -> i64 {
        if number.1 == 0 {
            return number.0;
        }
        let now = self.now(number);
        self.equal(number, (now, 0));
        now
    }

    /// Turns a number that is constant over this window into a plain number. When the run goes back to a wider window,
    /// everything derived from it is computed again.
    pub(super) fn make_plain(&mut self, value: &mut Value) {
        if let Value::Int(number, dependence, _) = value
            && *dependence != 0
            && let Some(same) = self.same_throughout((*number, *dependence))
        {
            (*number, *dependence) = (same, 0);
            self.made_plain += 1;
        }
    }

    /// A snapshot of how far the input has influenced plain numbers, for [`Self::has_settled`].
    pub(super) fn settled_so_far(&self) -> (i64, u64) {
        (self.until, self.made_plain)
    }

    /// Whether the input influenced a plain number since `before`, for values that outlive a window. If so, this run
    /// continues with no further window.
    pub(super) fn has_settled(&mut self, before: (i64, u64)) -> bool {
        let settled = self.settled_so_far() != before;
        self.exploring &= !settled;
        settled
    }

    fn same_throughout(&self, number: Number) -> Option<i64> {
        let first = self.at(number, self.from.saturating_sub(self.input))?.value;
        if self.from == self.until {
            return Some(first);
        }
        // Changes matter only at the wanted counts.
        let start = self.wanted.partition_point(|&count| count <= self.from);
        let wanted = self.wanted.iter().enumerate().skip(start).take_while(|(_, count)| **count <= self.until);
        let value = |(index, count): (usize, &i64)| {
            let at = (count.saturating_sub(self.input), Some(index));
            self.at_wanted(number, at).map(|piece| piece.value)
        };
        (self.points && !self.wanted.is_empty() && wanted.map(value).all(|value| value == Some(first))).then_some(first)
    }

    fn add_symbolic(&mut self, kind: Kind, size: u32, parts: &[i64]) -> i64 {
        if size >= MAX_SIZE || parts.contains(&CURVED) {
            return CURVED;
        }
        if let Some(known) = self.followed.numbers.get(&kind) {
            return *known;
        }
        self.symbolic.push(SymbolicInt { kind, size: size + 1, known: RefCell::default() });
        let number = self.first_symbolic.saturating_add(self.symbolic.len() as i64);
        let number = if is_linear(CURVED.saturating_add(number)) { CURVED } else { CURVED + number };
        self.followed.numbers.insert(kind, number);
        number
    }

    /// Drops the symbolic integers of earlier runs. Any remaining references to them count as untracked.
    pub(super) fn forget_symbolic(&mut self) {
        self.first_symbolic = self.first_symbolic.saturating_add(self.symbolic.len() as i64);
        self.symbolic.clear();
        self.followed.numbers.clear();
        self.followed.tests.clear();
    }

    fn symbolic_int(&self, dependence: i64) -> Option<&SymbolicInt> {
        let number = dependence.checked_sub(CURVED)?.checked_sub(self.first_symbolic)?.checked_sub(1)?;
        self.symbolic.get(usize::try_from(number).ok()?)
    }

    pub(super) fn kind_of(&self, dependence: i64) -> Option<&Kind> {
        if is_linear(dependence) { None } else { self.symbolic_int(dependence).map(|known| &known.kind) }
    }

    fn size_of_symbolic(&self, dependence: i64) -> u32 {
        if is_linear(dependence) { 0 } else { self.symbolic_int(dependence).map_or(MAX_SIZE, |known| known.size) }
    }

    /// Whether left < right. The range is narrowed to the counts with the same outcome.
    pub(super) fn less(&mut self, left: Number, right: Number) -> bool {
        self.test(Test::Less, left, right)
    }

    /// Like [`Self::less`], for unsigned 64-bit numbers.
    pub(super) fn below(&mut self, left: Number, right: Number) -> bool {
        self.test(Test::Below, left, right)
    }

    pub(super) fn equal(&mut self, left: Number, right: Number) -> bool {
        self.test(Test::Equal, left, right)
    }

    fn test(&mut self, test: Test, left: Number, right: Number) -> bool {
        if left.1 == 0 && right.1 == 0 {
            return test.of(left.0, right.0);
        }
        let (first, last) = (self.from.saturating_sub(self.input), self.until.saturating_sub(self.input));
        let key = (test, left, right);
        let known = self.followed.tests.get(&key).filter(|held| held.from <= first && first <= held.to).copied();
        if let Some(held) = known.filter(|held| held.ends || held.to >= last) {
            self.hold_until(held.to);
            return held.truth;
        }
        let truth = match known {
            Some(held) => held.truth,
            None => test.of(self.now(left), self.now(right)),
        };
        let held = Held { from: known.map_or(first, |held| held.from), to: last, truth, ends: false };
        let told = |machine: &Self| machine.told_by_bounds(test, left, right) == Some(truth);
        if known.is_none()
            && (told(self) || self.stays(test, left, right, truth) || self.stays_apart(test, left, right, truth))
        {
            return self.keep(key, held);
        }
        let after = known.map_or(first, |held| held.to.saturating_add(1));
        let (to, ends) = match self.points {
            true => self.wanted_alike(key, truth, after, last),
            false => self.alike(key, truth, after, last),
        };
        // The run is always valid for the window's first count.
        self.hold_until(to);
        self.keep(key, Held { to, ends, ..held })
    }

    fn keep(&mut self, key: (Test, Number, Number), held: Held) -> bool {
        if !self.lost && held.from <= held.to {
            self.followed.tests.insert(key, held);
        }
        held.truth
    }

    /// Ends the range `to` counts after the input, but not before the window's first count.
    fn hold_until(&mut self, to: i64) {
        self.until = self.until.min(self.input.saturating_add(to)).max(self.from);
    }

    /// The last count up to which a test keeps its outcome, starting at `at`, and whether the outcome at the next count
    /// is known to differ.
    fn alike(&self, (test, left, right): (Test, Number, Number), truth: bool, mut at: i64, last: i64) -> (i64, bool) {
        for _ in 0..MAX_PIECES {
            if at > last {
                return (at - 1, false);
            }
            let (Some(a), Some(b)) = (self.at(left, at), self.at(right, at)) else { return (at - 1, true) };
            if test.of(a.value, b.value) != truth {
                return (at - 1, true);
            }
            let same = keeps(test, a, b).min(a.more).min(b.more);
            at = at.saturating_add(same).saturating_add(1);
        }
        (at - 1, false)
    }

    /// Like [`Self::alike`], for the wanted counts only.
    fn wanted_alike(
        &self,
        (test, left, right): (Test, Number, Number),
        truth: bool,
        at: i64,
        last: i64,
    ) -> (i64, bool) {
        let first = self.wanted.partition_point(|&count| count.saturating_sub(self.input) < at);
        // The window's first count is a wanted count, or is already known.
        let mut held = at.saturating_sub(1).max(self.from.saturating_sub(self.input));
        for (index, &count) in self.wanted.iter().enumerate().skip(first) {
            let at = count.saturating_sub(self.input);
            if at > last {
                break;
            }
            if at <= held {
                continue;
            }
            let [a, b] = [left, right].map(|number| self.at_wanted(number, (at, Some(index))));
            let (Some(a), Some(b)) = (a, b) else { return (held, true) };
            if test.of(a.value, b.value) != truth {
                return (held, true);
            }
            held = at;
        }
        (held, false)
    }

    /// The value after `at` more counts; None if there is none (a division by zero) or if it cannot be determined.
    pub(super) fn at(&self, number: Number, at: i64) -> Option<Piece> {
        self.at_wanted(number, (at, None))
    }

    /// Like [`Self::at`], but caches the value if the count is a wanted one.
    fn at_wanted(&self, (value, dependence): Number, at: (i64, Option<usize>)) -> Option<Piece> {
        if is_linear(dependence) {
            let value = value.wrapping_add(dependence.wrapping_mul(at.0));
            return Some(Piece { value, slope: dependence, more: i64::MAX });
        }
        let symbolic = self.symbolic_int(dependence)?;
        let Some(index) = at.1.filter(|index| *index < MAX_KEPT) else { return self.computed_at(&symbolic.kind, at) };
        if let Some(known) = symbolic.known.borrow().get(index).copied().flatten() {
            return known;
        }
        let piece = self.computed_at(&symbolic.kind, at);
        let mut known = symbolic.known.borrow_mut();
        if index >= known.len() {
            known.resize(index + 1, None);
        }
        if let Some(place) = known.get_mut(index) {
            *place = Some(piece);
        }
        piece
    }

    fn computed_at(&self, kind: &Kind, at: (i64, Option<usize>)) -> Option<Piece> {
        match kind {
            Kind::Binary(op, unsigned, left, right) => {
                combine(*op, *unsigned, self.at_wanted(*left, at)?, self.at_wanted(*right, at)?)
            }
            Kind::Not(inner) => {
                let inner = self.at_wanted(*inner, at)?;
                let slope = inner.slope.checked_neg()?;
                Some(Piece { value: !inner.value, slope, more: inner.more })
            }
            Kind::Wrap(ty, inner) => {
                let inner = self.at_wanted(*inner, at)?;
                let value = ty.wrap(inner.value);
                // The number stays linear up to the next limit of the type's range.
                let room = match (ty.limits(), inner.slope) {
                    (None, _) | (_, 0) => i64::MAX,
                    (Some((_, most)), up @ 1..) => (most - value).checked_div(up)?,
                    (Some((least, _)), down) => (value - least).checked_div(down.checked_neg()?)?,
                };
                Some(Piece { value, slope: inner.slope, more: inner.more.min(room) })
            }
        }
    }
}
