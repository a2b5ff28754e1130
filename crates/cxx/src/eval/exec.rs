//! Executes statements.

use super::machine::Machine;
use super::records::{AskedCondition, Run, Stop};
use super::value::{GLOBAL_ROOT, MemoryPlace, Shape, Ty, Value};
use crate::syntax::ast::{Base, Binary, Expr, ExprKind, Initial, Jumps, Root, Stmt, Switch, Type, Var};
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use crate::syntax::sym::FxMap;
use say::say;
use std::rc::Rc;

/// The largest number of values that one label may match.
const MAX_LABELS: i64 = 4096;

pub(super) enum Flow {
    On,
    Break,
    Continue,
    Return(Value),
}

impl Machine<'_> {
    pub(super) fn block(&mut self, stmts: &[Stmt]) -> Run<Flow> {
        if self.exploring {
            return self.block_of_windows(stmts);
        }
        let rows = self.rows(stmts);
        let mut next = 0;
        loop {
            next = self.pass(rows.as_deref(), next);
            let Some(stmt) = stmts.get(next) else { break };
            next += 1;
            match self.exec(stmt)? {
                Flow::On => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::On)
    }

    pub(super) fn exec(&mut self, stmt: &Stmt) -> Run<Flow> {
        self.nested += 1;
        let flow = self.statement(stmt);
        self.nested = self.nested.saturating_sub(1);
        flow
    }

    fn statement(&mut self, stmt: &Stmt) -> Run<Flow> {
        match stmt {
            Stmt::Expr(expr) => {
                self.discard(expr)?;
            }
            Stmt::Decl(vars) => {
                for var in vars {
                    self.declare(var)?;
                }
            }
            Stmt::Alias(slot, ty) => self.alias(*slot, ty)?,
            Stmt::Block(stmts) => return self.block(stmts),
            // A fast path for tables written as a chain of ifs, in which most conditions are false.
            Stmt::If { init: None, cond, other: None, .. }
                if self.trace.is_none() && self.plain_truth(cond) == Some(false) => {}
            Stmt::If { init, cond, then, other } => {
                if let Some(init) = init {
                    self.exec(init)?;
                }
                if self.condition(cond)? {
                    return self.exec(then);
                }
                if let Some(other) = other {
                    return self.exec(other);
                }
            }
            Stmt::Switch(switch) => return self.switch(switch),
            Stmt::For { init, cond, step, body } => {
                self.exec(init)?;
                loop {
                    if let Some(cond) = cond
                        && !self.quiet_condition(cond)?
                    {
                        break;
                    }
                    match self.exec(body)? {
                        Flow::Break => break,
                        Flow::Return(value) => return Ok(Flow::Return(value)),
                        Flow::On | Flow::Continue => {}
                    }
                    if let Some(step) = step {
                        self.discard(step)?;
                    }
                }
            }
            Stmt::While { cond, body, first } => {
                let mut test = *first;
                loop {
                    if test && !self.quiet_condition(cond)? {
                        break;
                    }
                    test = true;
                    match self.exec(body)? {
                        Flow::Break => break,
                        Flow::Return(value) => return Ok(Flow::Return(value)),
                        Flow::On | Flow::Continue => {}
                    }
                }
            }
            Stmt::Each { slot, parts, by_ref, range, body } if parts.is_empty() => {
                return self.each(*slot, *by_ref, range, body);
            }
            Stmt::Each { parts, by_ref, range, body, .. } if self.starting => {
                return self.each_bound(parts, *by_ref, range, body);
            }
            Stmt::Each { range, .. } => return Err(self.unsure(range.span, say!("cxx-open-loop-binding"))),
            Stmt::Return(None, _) => return Ok(Flow::Return(Value::Void)),
            Stmt::Return(Some(value), at) => {
                let result = self.returned(value)?;
                if self.trace.is_some() && is_condition(value) {
                    self.note(value, *at, &result);
                }
                return Ok(Flow::Return(result));
            }
            Stmt::Break => return Ok(Flow::Break),
            Stmt::Continue => return Ok(Flow::Continue),
            Stmt::Case(_) | Stmt::Cases(_) | Stmt::Default | Stmt::Empty => {}
            Stmt::Try(stmts, _) if self.starting => return self.block(stmts),
            Stmt::Unparsed(at) | Stmt::Try(_, at) => return Err(self.unsure(*at, say!("cxx-open-statement"))),
        }
        Ok(Flow::On)
    }

    fn alias(&mut self, slot: u32, ty: &Type) -> Run<()> {
        let used = self.function().and_then(|function| self.program.body(function).used.get(slot as usize).copied());
        if used == Some(false) {
            return Ok(());
        }
        let ty = match self.resolve(ty) {
            // The value is unknown.
            Err(Stop::Undetermined { .. }) => Ty::Unknown,
            found => found?,
        };
        let root = self.slot(slot);
        self.set_slot(root, Value::Type(Rc::new(ty)));
        Ok(())
    }

    fn returned(&mut self, value: &Expr) -> Run<Value> {
        let function = self.function();
        if let ExprKind::Init(_) = value.kind
            && let Some(function) = function
        {
            let ty = self.resolve(&function.ret)?;
            return self.initialise(&ty, value);
        }
        // A returned reference stays a reference: `return info;` of a static must not copy it, and writes through the
        // reference must reach the caller's variable.
        let own = self.frames.last().is_some_and(|frame| frame.reference);
        let lambda = own && self.frames.last().is_some_and(|frame| frame.this.is_none());
        if (own || function.is_some_and(|function| function.ret.reference))
            && let Some(place) = self.place(value)?
            && (lambda || place.root & GLOBAL_ROOT != 0 || (place.root as usize) < self.base())
        {
            return Ok(Value::Ref(place));
        }
        let result = match function.is_some_and(|function| function.ret.pointers > 0) {
            true => self.decayed(value)?,
            false => self.eval(value)?,
        };
        match function {
            Some(function) if !matches!(result, Value::Opaque(_)) => self.convert(&function.ret, result),
            _ => Ok(result),
        }
    }

    fn each(&mut self, slot: u32, by_ref: bool, range: &Expr, body: &Stmt) -> Run<Flow> {
        let whole = self.place(range)?;
        let value = self.eval(range)?;
        let count = match &value {
            Value::Agg(agg) if matches!(agg.shape, Shape::Array) => agg.items.len(),
            _ => return Err(self.unsure(range.span, say!("cxx-open-loop-range"))),
        };
        for index in 0..count {
            self.step(range.span)?;
            let part = whole.and_then(|place| place.part(index)).filter(|_| by_ref);
            let item = match (part, &value) {
                (Some(place), _) => Value::Ref(place),
                (None, Value::Agg(agg)) => agg.items.get(index).cloned().unwrap_or_default(),
                _ => Value::Uninit,
            };
            let root = self.slot(slot);
            self.write(MemoryPlace::new(root), item);
            match self.exec(body)? {
                Flow::Break => break,
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::On | Flow::Continue => {}
            }
        }
        Ok(Flow::On)
    }

    /// `for (auto & [a, b] : range)`: the names are the fields of each item.
    fn each_bound(&mut self, parts: &[u32], by_ref: bool, range: &Expr, body: &Stmt) -> Run<Flow> {
        let unknown = |machine: &Self| machine.unsure(range.span, say!("cxx-open-loop-binding"));
        let Some(whole) = self.place(range)? else { return Err(unknown(self)) };
        let count = match self.peek(whole) {
            Some(Value::Agg(agg)) if matches!(agg.shape, Shape::Array) => agg.items.len(),
            _ => return Err(unknown(self)),
        };
        for index in 0..count {
            self.step(range.span)?;
            for (field, slot) in parts.iter().enumerate() {
                let part = whole.part(index).and_then(|item| item.part(field));
                let Some(part) = part.filter(|part| self.peek(*part).is_some()) else { return Err(unknown(self)) };
                let value = if by_ref { Value::Ref(part) } else { self.read(part, range.span) };
                let root = self.slot(*slot);
                self.write(MemoryPlace::new(root), value);
            }
            match self.exec(body)? {
                Flow::Break => break,
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::On | Flow::Continue => {}
            }
        }
        Ok(Flow::On)
    }

    fn declare(&mut self, var: &Var) -> Run<()> {
        self.step(var.span)?;
        if let Some(function) = self.function()
            && !self.program.body(function).used.get(var.slot as usize).copied().unwrap_or(true)
            && matches!(&var.init, Initial::Value(init) if is_plain(init))
        {
            return Ok(());
        }
        let root = self.slot(var.slot);
        // If code writes to a static, its value depends on earlier calls.
        if var.is_static && !self.starting {
            let written = match self.static_writes.get(&var.span) {
                Some(known) => *known,
                None => {
                    let (function, unit) = (self.function(), self.view().unit);
                    let constant = var.fixed && var.ty.pointers == 0;
                    let templates = function.map_or(0, |function| function.templates.len());
                    let found = match constant {
                        // The first call determines the value, but it is unknown which call is the first.
                        _ if super::statics::depends_on_call(var, templates) => Some(var.span),
                        true => None,
                        false => self.program.write_of_static(function, unit, var),
                    };
                    self.static_writes.insert(var.span, found);
                    found
                }
            };
            if let Some(written) = written {
                let ty = self.resolve(&var.ty)?;
                let value = ty.int_ty().map_or(Value::Opaque(written), |ty| Value::Unset(ty, written));
                self.set_slot(root, value);
                return Ok(());
            }
        }
        // The value of a static that is computed once is kept for all runs.
        let computed = matches!(var.init, Initial::Value(ref init) if !matches!(init.kind, ExprKind::Init(_)));
        let kept = var.is_static && (computed || self.starting);
        if kept {
            return self.declare_static(var, root);
        }
        let value = self.initial(var)?;
        self.set_slot(root, value);
        Ok(())
    }

    pub(super) fn initial(&mut self, var: &Var) -> Run<Value> {
        if var.ty.reference
            && let Initial::Value(init) = &var.init
            && let Some(place) = self.place(init)?
        {
            return Ok(Value::Ref(place));
        }
        match &var.init {
            Initial::Value(init) if matches!(init.kind, ExprKind::Init(_)) => {
                let ty = self.resolve(&var.ty)?;
                self.initialise(&ty, init)
            }
            // An array decays to the address of its first item.
            Initial::Value(init) if var.ty.pointers > 0 => {
                let value = self.decayed(init)?;
                self.convert(&var.ty, value)
            }
            Initial::Value(init) => {
                let value = self.eval(init)?;
                // `auto p = array` stores that address; `auto p = object` makes a copy.
                let array =
                    matches!(&value, Value::Agg(agg) if matches!(agg.shape, Shape::Array) && agg.item.is_none());
                let named = matches!(init.kind, ExprKind::Local(..) | ExprKind::Name(_) | ExprKind::Member { .. });
                if array && named && matches!(var.ty.base, Base::Auto) && !var.ty.constant {
                    return Ok(Value::Opaque(var.span));
                }
                self.convert(&var.ty, value)
            }
            Initial::Arguments(args) => {
                if let Some(buffer) = self.buffer(&var.ty, args, var.span)? {
                    return Ok(buffer);
                }
                let ty = self.resolve(&var.ty)?;
                self.construct(&ty, args, var.span)
            }
            Initial::None => {
                let ty = self.resolve(&var.ty)?;
                match &ty {
                    // An object with a constructor of its own.
                    Ty::Struct(_) if self.starting && !var.is_static => self.construct(&ty, &[], var.span),
                    _ => self.default_value(&ty, var.is_static && self.starting, var.span),
                }
            }
        }
    }

    fn switch(&mut self, switch: &Switch) -> Run<Flow> {
        if switch.hidden {
            return Err(self.unsure(switch.value.span, say!("cxx-open-switch-labels")));
        }
        let value = self.eval(&switch.value)?;
        let Value::Int(number, slope, ty) = value else {
            let Value::Opaque(from) = value else {
                return Err(self.unsure(switch.value.span, say!("cxx-open-switch-number")));
            };
            let why = say!("cxx-open-switch", value = self.program.files.text(from));
            return Err(self.unsure(switch.value.span, why));
        };
        let start = match switch.jumps.get() {
            Some(jumps) => {
                self.hold_labels(jumps.labels.keys().copied(), number, slope);
                jumps.labels.get(&self.now((number, slope))).copied().or(jumps.default)
            }
            None => self.find_label(switch, number, slope)?,
        };
        if self.trace.is_some() {
            self.note(&switch.value, switch.value.span, &Value::typed(number, ty));
        }
        let Some(start) = start else { return Ok(Flow::On) };
        match self.block(switch.body.get(start..).unwrap_or_default())? {
            Flow::Break => Ok(Flow::On),
            other => Ok(other),
        }
    }

    /// Ends the range before the count at which the number reaches another label.
    fn hold_labels(&mut self, labels: impl Iterator<Item = i64>, number: i64, slope: i64) {
        if slope == 0 {
            return;
        }
        for label in labels {
            self.equal((number, slope), (label, 0));
        }
    }

    fn find_label(&mut self, switch: &Switch, number: i64, slope: i64) -> Run<Option<usize>> {
        let mut jumps: FxMap<i64, usize> = FxMap::default();
        let (mut default, mut fixed) = (None, true);
        for (position, stmt) in switch.body.iter().enumerate() {
            match stmt {
                Stmt::Case(label) => {
                    fixed &= self.is_fixed(label);
                    let value = self.eval(label)?;
                    let Some(value) = self.settle(&value) else {
                        return Err(self.unsure(label.span, say!("cxx-open-label")));
                    };
                    jumps.entry(value).or_insert(position);
                }
                Stmt::Cases(ends) => {
                    let [first, last] = ends.as_ref();
                    fixed &= self.is_fixed(first) && self.is_fixed(last);
                    let (from, to) = (self.eval(first)?, self.eval(last)?);
                    let (Some(from), Some(to)) = (self.settle(&from), self.settle(&to)) else {
                        return Err(self.unsure(first.span, say!("cxx-open-label")));
                    };
                    if to.saturating_sub(from) >= MAX_LABELS {
                        return Err(self.unsure(first.span, say!("cxx-open-label-range")));
                    }
                    (from..=to).for_each(|value| {
                        jumps.entry(value).or_insert(position);
                    });
                }
                Stmt::Default => default = Some(position),
                _ => {}
            }
        }
        self.hold_labels(jumps.keys().copied(), number, slope);
        let found = jumps.get(&self.now((number, slope))).copied().or(default);
        if fixed {
            let _ = switch.jumps.set(Jumps { labels: jumps, default });
        }
        Ok(found)
    }

    /// Whether an expression has the same value in every run: literals and enumerators.
    pub(super) fn is_fixed(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Int(..) | ExprKind::Bool(_) => true,
            ExprKind::Name(name) => {
                name.path.last().is_some_and(|last| !self.program.enumerators_named(last.sym).is_empty())
            }
            ExprKind::Unary(_, inner) => self.is_fixed(inner),
            ExprKind::Binary(_, left, right) => self.is_fixed(left) && self.is_fixed(right),
            _ => false,
        }
    }

    /// The truth of a simple condition: equalities of plain numbers, joined by `&&`. None for any other condition.
    fn plain_truth(&self, cond: &Expr) -> Option<bool> {
        match &cond.kind {
            ExprKind::Binary(Binary::And, left, right) => match self.plain_truth(left)? {
                true => self.plain_truth(right),
                false => Some(false),
            },
            ExprKind::Binary(Binary::Eq, left, right) => {
                let ((a, x), (b, y)) = (self.plain_number(left)?, self.plain_number(right)?);
                let ty = x.common(y);
                Some(ty.wrap(a) == ty.wrap(b))
            }
            _ => None,
        }
    }

    pub(super) fn plain_number(&self, expr: &Expr) -> Option<(i64, IntTy)> {
        match &expr.kind {
            ExprKind::Int(value, ty) => Some((*value, *ty)),
            ExprKind::Bool(value) => Some((i64::from(*value), IntTy::Bool)),
            ExprKind::Local(slot, _) => match self.stack.get(self.slot(*slot) as usize) {
                Some(Value::Int(value, 0, ty)) => Some((*value, *ty)),
                _ => None,
            },
            ExprKind::Name(name) if matches!(name.root, Root::Global) => match name.path.as_slice() {
                [only] => self.enum_values.get(&(only.sym, self.view())).copied(),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn condition(&mut self, cond: &Expr) -> Run<bool> {
        let value = self.eval(cond)?;
        let truth = self.decide(&value, cond)?;
        if self.trace.is_some() {
            self.note(cond, cond.span, &Value::bool(truth));
        }
        Ok(truth)
    }

    fn quiet_condition(&mut self, cond: &Expr) -> Run<bool> {
        self.step(cond.span)?;
        let value = self.eval(cond)?;
        self.decide(&value, cond)
    }

    /// Records a condition with the values of the names in it.
    fn note(&mut self, cond: &Expr, at: Span, outcome: &Value) {
        let Some(trace) = self.trace.take() else { return };
        let mut values = Vec::new();
        let (until, steps) = (self.until, self.steps);
        self.leaves(cond, &mut values);
        (self.until, self.steps) = (until, steps);
        let mut trace = trace;
        let Some(frame) = self.frames.last() else {
            self.trace = Some(trace);
            return;
        };
        if trace.len() < 20_000 {
            trace.push(AskedCondition {
                function: frame.name,
                depth: self.frames.len(),
                at,
                outcome: self.show(outcome),
                values,
            });
        }
        self.trace = Some(trace);
    }
}

/// Whether a condition belongs in the list of reasons: a comparison or a logical expression, not a plain value.
fn is_condition(expr: &Expr) -> bool {
    use crate::syntax::ast::Unary;
    match &expr.kind {
        ExprKind::Binary(op, ..) => matches!(
            op,
            Binary::And | Binary::Or | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Eq | Binary::Ne
        ),
        ExprKind::Unary(Unary::Not, _) => true,
        ExprKind::Call(..) | ExprKind::Bool(_) | ExprKind::Ternary(_) => true,
        _ => false,
    }
}

/// Whether an expression only reads variables and fields, so that skipping it has no effect.
fn is_plain(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(..) | ExprKind::Local(..) | ExprKind::Null | ExprKind::Bool(_) => true,
        ExprKind::Member { base, .. } => is_plain(base),
        ExprKind::Index(base, index) => is_plain(base) && is_plain(index),
        ExprKind::Ternary(parts) => parts.iter().all(is_plain),
        _ => false,
    }
}
