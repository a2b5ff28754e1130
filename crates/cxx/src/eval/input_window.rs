//! Moves from one range of inputs to the next without starting over. A run that reaches its hand-off provides the
//! answer for a range of inputs, called a window. For later counts, the machine restores its memory and reruns the
//! first statement whose outcome could differ. The statements before it have the same outcome for the later counts and
//! are not repeated.

use super::exec::Flow;
use super::linear_pieces::Number;
use super::machine::Machine;
use super::records::{Handoff, Run, Stop, Window};
use super::value::{MemoryPlace, Value};
use crate::syntax::ast::Stmt;

/// The state of a machine between two statements.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    until: i64,
    pub(super) undo: usize,
    pub(super) stack: usize,
    pub(super) handoffs: usize,
    frames: usize,
    nested: usize,
    steps: u64,
    pub(super) guessed: usize,
}

/// The largest number of old values kept. A run that writes more cannot be resumed at an earlier statement.
const MAX_UNDO: usize = 1 << 20;

impl Machine<'_> {
    /// Like `block`, but goes back after a hand-off if later inputs remain.
    pub(super) fn block_of_windows(&mut self, stmts: &[Stmt]) -> Run<Flow> {
        // Statements that narrowed the range of counts.
        let mut narrowed: Vec<(usize, Mark)> = Vec::new();
        let rows = self.rows(stmts);
        let mut next = 0;
        loop {
            next = self.pass(rows.as_deref(), next);
            let Some(stmt) = stmts.get(next) else { break };
            let mark = self.mark();
            let flow = self.exec(stmt);
            let narrows = mark.until > self.until;
            match flow {
                Ok(Flow::On) => {
                    if narrows {
                        narrowed.push((next, mark));
                    }
                    next += 1;
                }
                Err(Stop::Decided) => {
                    if narrows {
                        narrowed.push((next, mark));
                    }
                    match self.go_back(&mut narrowed) {
                        Some(again) => next = again,
                        None => return Err(Stop::Decided),
                    }
                }
                other => return other,
            }
        }
        Ok(Flow::On)
    }

    /// The statement to rerun for the next wanted count. None if this block has no more windows.
    fn go_back(&mut self, narrowed: &mut Vec<(usize, Mark)>) -> Option<usize> {
        if !self.exploring || self.lost {
            return None;
        }
        let from = self.next_wanted(self.until)?;
        // Skip marks whose counts were not requested.
        while let Some((statement, mark)) = narrowed.pop() {
            if mark.until < from {
                continue;
            }
            let handoff = self.handoffs.pop()?;
            let window = self.window_of(handoff)?;
            self.windows.push(window);
            self.restore(&mark);
            self.from = from;
            return Some(statement);
        }
        None
    }

    /// The window that ended with this hand-off.
    pub fn window_of(&mut self, handoff: Handoff) -> Option<Window> {
        let decision = self.decision.take().filter(|_| !self.lost)?;
        Some(Window { from: self.from, to: self.until, decision, handoff })
    }

    fn next_wanted(&self, after: i64) -> Option<i64> {
        if self.wanted.is_empty() {
            return after.checked_add(1);
        }
        self.wanted.get(self.wanted.partition_point(|&count| count <= after)).copied()
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            until: self.until,
            undo: self.undo.len(),
            stack: self.stack.len(),
            handoffs: self.handoffs.len(),
            frames: self.frames.len(),
            nested: self.nested,
            steps: self.steps,
            guessed: self.guessed_statics.len(),
        }
    }

    pub(super) fn restore(&mut self, mark: &Mark) {
        self.stack.truncate(mark.stack);
        while self.undo.len() > mark.undo {
            if let Some((place, old)) = self.undo.pop() {
                self.put(place, old);
            }
        }
        self.forget_statics(mark.guessed);
        self.handoffs.truncate(mark.handoffs);
        self.frames.truncate(mark.frames);
        (self.until, self.nested, self.steps) = (mark.until, mark.nested, mark.steps);
    }

    /// Saves the value at a memory location before it is overwritten.
    pub(super) fn remember(&mut self, place: MemoryPlace) {
        if !self.exploring && self.journals == 0 {
            return;
        }
        if self.undo.len() >= MAX_UNDO && self.journals == 0 {
            self.exploring = false;
            return;
        }
        if let Some(old) = self.peek(place) {
            self.undo.push((place, old.clone()));
        }
    }

    /// The value of a number at the first count of this window. If it cannot be computed, the window is invalid and the
    /// caller starts over at that count.
    pub(super) fn now(&mut self, number: Number) -> i64 {
        if number.1 == 0 || self.from == self.input {
            return number.0;
        }
        match self.at(number, self.from.saturating_sub(self.input)) {
            Some(piece) => piece.value,
            None => {
                self.lost = true;
                number.0
            }
        }
    }

    /// Limits the run to the window's first count and returns that count.
    pub fn one_count(&mut self) -> i64 {
        self.hold_point();
        self.from
    }

    pub(super) fn set_slot(&mut self, root: u32, value: Value) {
        self.remember(MemoryPlace::new(root));
        if let Some(slot) = self.stack.get_mut(root as usize) {
            *slot = value;
        }
    }
}
