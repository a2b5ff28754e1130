//! Configurations of hand-offs: up to three values with up to three numbers each, over all inputs of the run.
//!
//! An unknown value never ends a run: the hand-off remains valid, and the value has the reason why it is unknown.

use super::machine::Machine;
use super::records::{Run, Stop};
use super::settings::{Extent, ExtentPart, NotKnown, Setting};
use super::value::{Shape, Value};
use crate::program::Program;
use crate::syntax::ast::Expr;
use crate::syntax::files::Span;
use say::say;

/// The largest number of parts. A number with more is known for the first input only.
const MAX_PARTS: usize = 2048;

impl NotKnown {
    /// The reason of a run that ended without a hand-off; None if it ended for another reason.
    pub(super) fn of(program: &Program, stop: Stop) -> Option<Box<NotKnown>> {
        match stop {
            Stop::Undetermined { at, why } => Some(NotKnown::new(at, *why)),
            Stop::Fork(condition) => Some(NotKnown::new(condition.at, condition.why(program))),
            Stop::Abort { at, what } => Some(NotKnown::new(at, say!("cxx-open-abort", what))),
            Stop::Need(_) | Stop::Decided => None,
        }
    }
}

impl Machine<'_> {
    /// Evaluates one value of a configuration.
    pub(super) fn setting_of(&mut self, expr: &Expr) -> Run<Setting> {
        let (frames, stack, nested) = (self.frames.len(), self.stack.len(), self.nested);
        match self.eval(expr) {
            Ok(value) => Ok(self.setting(&value, expr.span)),
            Err(stop @ (Stop::Undetermined { .. } | Stop::Fork(_))) => {
                self.frames.truncate(frames);
                self.stack.truncate(stack);
                self.nested = nested;
                let program = self.program;
                Ok(Err(
                    NotKnown::of(program, stop).unwrap_or_else(|| NotKnown::new(expr.span, say!("cxx-open-condition")))
                ))
            }
            Err(stop) => Err(stop),
        }
    }

    /// A number, or a struct of three.
    pub(super) fn setting(&mut self, value: &Value, at: Span) -> Setting {
        match value {
            Value::Ref(place) => {
                let value = self.read(*place, at);
                self.setting(&value, at)
            }
            Value::Agg(agg) if matches!(agg.shape, Shape::Struct(_)) && agg.items.len() >= 3 => {
                let mut extents = [Extent::Fixed(1), Extent::Fixed(1), Extent::Fixed(1)];
                for (slot, item) in extents.iter_mut().zip(&agg.items) {
                    *slot = self.extent(item, at)?;
                }
                Ok(extents)
            }
            value => Ok([self.extent(value, at)?, Extent::Fixed(1), Extent::Fixed(1)]),
        }
    }

    fn extent(&mut self, value: &Value, at: Span) -> Result<Extent, Box<NotKnown>> {
        let from = match value {
            Value::Int(value, 0, _) => return Ok(Extent::Fixed(*value)),
            Value::Int(value, dependence, _) => return Ok(self.extent_over_inputs((*value, *dependence))),
            Value::Opaque(from) | Value::Unset(_, from) if *from != Span::default() => *from,
            _ => at,
        };
        Err(NotKnown::new(at, say!("cxx-open-value", value = self.program.files.text(from))))
    }

    /// Follows a number from the first input of the window to the last. If it cannot be followed, the window ends at its
    /// first input.
    fn extent_over_inputs(&mut self, number: (i64, i64)) -> Extent {
        let first = self.now(number);
        let mut parts = vec![ExtentPart { from: self.from, value: first, slope: 0 }];
        match self.follow(number, &mut parts) {
            Some(()) if parts.len() == 1 && parts.iter().all(|part| part.slope == 0) => Extent::Fixed(first),
            Some(()) => Extent::Parts(parts),
            None => {
                self.hold_point();
                Extent::Fixed(first)
            }
        }
    }

    fn follow(&self, number: (i64, i64), parts: &mut Vec<ExtentPart>) -> Option<()> {
        let mut add = |part: ExtentPart| {
            match parts.last_mut() {
                Some(last) if last.from == part.from => *last = part,
                Some(last) if last.slope == 0 && part.slope == 0 && last.value == part.value => {}
                _ => parts.push(part),
            }
            (parts.len() <= MAX_PARTS).then_some(())
        };
        if self.points && !self.wanted.is_empty() {
            let start = self.wanted.partition_point(|&count| count <= self.from);
            for &count in self.wanted.iter().skip(start).take_while(|&&count| count <= self.until) {
                let value = self.at(number, count.checked_sub(self.input)?)?.value;
                add(ExtentPart { from: count, value, slope: 0 })?;
            }
            return Some(());
        }
        let mut at = self.from;
        while at <= self.until {
            let piece = self.at(number, at.checked_sub(self.input)?)?;
            add(ExtentPart { from: at, value: piece.value, slope: piece.slope })?;
            at = at.saturating_add(piece.more).saturating_add(1);
            if at == i64::MAX {
                break;
            }
        }
        Some(())
    }
}
