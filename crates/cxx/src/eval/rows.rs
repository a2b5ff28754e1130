//! Tables written as a long chain of ifs: `if (type == A && width == 16) return ...;`. After the first evaluation, the
//! machine knows which rows can match the current value and skips the others. The outcome is the same as checking each
//! row.

use super::machine::Machine;
use super::records::Rows;
use super::value::Value;
use crate::syntax::ast::{Binary, Expr, ExprKind, Stmt};
use crate::syntax::sym::FxMap;
use std::rc::Rc;

/// Blocks with fewer rows are evaluated statement by statement.
const MANY: usize = 16;

/// Whether a number is the same in every integer type of 32 bits or more.
fn small(value: i64) -> bool {
    (0..=i64::from(i32::MAX)).contains(&value)
}

impl Machine<'_> {
    /// The rows of a block, found when it is first run.
    pub(super) fn rows(&mut self, stmts: &[Stmt]) -> Option<Rc<Rows>> {
        if stmts.len() < MANY || self.trace.is_some() {
            return None;
        }
        let key = stmts.as_ptr() as usize;
        if let Some(known) = self.rows.get(&key) {
            return known.clone();
        }
        let found = self.find_rows(stmts).map(Rc::new);
        self.rows.insert(key, found.clone());
        found
    }

    fn find_rows(&mut self, stmts: &[Stmt]) -> Option<Rows> {
        let start = stmts.iter().position(|stmt| asked_first(stmt).is_some())?;
        let slot = asked_first(stmts.get(start)?)?.0;
        let mut by_value: FxMap<i64, Vec<usize>> = FxMap::default();
        let mut end = start;
        for (at, stmt) in stmts.iter().enumerate().skip(start) {
            // `CASE(...);` expands to a row and an empty statement.
            if matches!(stmt, Stmt::Empty) {
                continue;
            }
            let Some((_, value)) = asked_first(stmt).filter(|(of, _)| *of == slot) else { break };
            // The value of an enumerator is known after its first lookup. Any other expression is not a row.
            if self.is_fixed(value) {
                let steps = self.steps;
                self.eval(value).ok()?;
                self.steps = steps;
            }
            let Some((value, _)) = self.plain_number(value).filter(|(value, _)| small(*value)) else { break };
            by_value.entry(value).or_default().push(at);
            end = at + 1;
        }
        (end - start >= MANY).then_some(Rows { slot, of: start..end, by_value })
    }

    /// The next statement that has to be evaluated.
    pub(super) fn pass(&self, rows: Option<&Rows>, at: usize) -> usize {
        let Some(rows) = rows.filter(|rows| rows.of.contains(&at)) else { return at };
        match self.stack.get(self.slot(rows.slot) as usize) {
            Some(Value::Int(value, 0, _)) if small(*value) => {
                let list = rows.by_value.get(value).map_or(&[][..], Vec::as_slice);
                list.get(list.partition_point(|row| *row < at)).copied().unwrap_or(rows.of.end)
            }
            _ => at,
        }
    }
}

/// The variable that the condition of an `if` without `else` compares first, and the number or enumerator that it is
/// compared with.
fn asked_first(stmt: &Stmt) -> Option<(u32, &Expr)> {
    let Stmt::If { init: None, cond, other: None, .. } = stmt else { return None };
    let mut first = cond;
    while let ExprKind::Binary(Binary::And, left, _) = &first.kind {
        first = left;
    }
    let ExprKind::Binary(Binary::Eq, left, right) = &first.kind else { return None };
    let constant = |expr: &Expr| matches!(expr.kind, ExprKind::Int(..) | ExprKind::Name(_));
    match (&left.kind, &right.kind) {
        (ExprKind::Local(slot, _), _) if constant(right) => Some((*slot, right)),
        (_, ExprKind::Local(slot, _)) if constant(left) => Some((*slot, left)),
        _ => None,
    }
}
