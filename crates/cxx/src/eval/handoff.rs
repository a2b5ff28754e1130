//! Hand-offs: functions that run elsewhere. A function is handed over by `f<<<...>>>(x)`, by a call that takes the
//! function, or inside a library. The hand-offs are the result of a run: which function, with which template arguments,
//! in which configuration.

use super::dialect::Outside;
use super::invoke::Given;
use super::machine::{Frame, Machine};
use super::records::{Handoff, Run, Stop};
use super::value::{FnValue, Shape, Ty, Value};
use crate::syntax::ast::{Expr, Function, Stmt};
use crate::syntax::files::Span;
use crate::syntax::sym::Sym;
use say::say;
use std::rc::Rc;

/// An upper bound for the hand-offs of one run. No graph node hands over this many functions.
const MOST: usize = 1 << 14;

impl Machine<'_> {
    pub(super) fn names(&self) -> Vec<Sym> {
        self.frames.iter().map(|frame| frame.name).collect()
    }

    pub(super) fn remote_among(&self, values: &[Value]) -> Option<Rc<FnValue>> {
        values.iter().find_map(|value| match value {
            Value::Fn(found) if self.is_remote(found.name) => Some(found.clone()),
            _ => None,
        })
    }

    fn is_remote(&self, name: Sym) -> bool {
        self.program.overloads(name).iter().filter_map(|&index| self.program.function(index)).any(Function::is_remote)
    }

    pub(super) fn outside(&self, name: Sym) -> Outside {
        (self.dialect.outside)(self.program.text(name))
    }

    /// Handles a call that hands over the remote function passed to it.
    pub(super) fn hand_over(&mut self, remote: &Rc<FnValue>, at: Span) -> Run<Value> {
        let handoff = self.handoff_of(remote, [None; 2], &[], at)?;
        self.handed_over(handoff)?;
        Ok(Value::Opaque(at))
    }

    /// Records work that is done inside a library.
    pub(super) fn hand_to_library(&mut self, name: Sym, at: Span) -> Run<()> {
        let (stack, locals) = (self.names(), Vec::new());
        self.handed_over(Handoff { name, args: Vec::new(), config: [None; 2], at, stack, library: true, locals })
    }

    pub(super) fn configured(&mut self, callee: &Expr, config: &[Expr], args: &[Expr], at: Span) -> Run<Value> {
        let function = self.eval(callee)?;
        let Value::Fn(remote) = function else {
            return Err(self.unsure(callee.span, say!("cxx-open-launched")));
        };
        let mut dims = [None; 2];
        for (slot, expr) in dims.iter_mut().zip(config) {
            let value = self.eval(expr)?;
            *slot = self.dim(&value);
        }
        let handoff = self.handoff_of(&remote, dims, args, at)?;
        self.handed_over(handoff)?;
        Ok(Value::Void)
    }

    fn dim(&mut self, value: &Value) -> Option<[i64; 3]> {
        let mut number = |value: Option<&Value>| match value {
            Some(Value::Int(value, dependence, _)) => Some(self.now((*value, *dependence))),
            _ => None,
        };
        match value {
            Value::Int(..) => Some([number(Some(value))?, 1, 1]),
            Value::Agg(agg) if matches!(agg.shape, Shape::Struct(_)) => {
                Some([number(agg.items.first())?, number(agg.items.get(1))?, number(agg.items.get(2))?])
            }
            _ => None,
        }
    }

    /// Describes the hand-off of a remote function, with all of its template arguments. Missing template arguments are
    /// deduced from the types of the function's arguments.
    pub fn handoff_of(
        &mut self,
        remote: &Rc<FnValue>,
        config: [Option<[i64; 3]>; 2],
        given: &[Expr],
        at: Span,
    ) -> Run<Handoff> {
        let program = self.program;
        let found = program.overloads(remote.name).iter().filter_map(|&index| program.function(index));
        let function =
            found.into_iter().find(|function| function.is_remote() && remote.args.len() <= function.templates.len());
        let mut args = Vec::new();
        if let Some(function) = function {
            let types: Vec<Ty> = match remote.args.len() < function.templates.len() {
                true => given.iter().map(|expr| self.static_type(expr).unwrap_or(Ty::Unknown)).collect(),
                false => Vec::new(),
            };
            let base = self.stack.len();
            self.stack.resize(base + function.templates.len() + function.params.len(), Value::Uninit);
            let frame =
                Frame { function: None, name: remote.name, view: function.view(), base, this: None, reference: false };
            self.enter(frame, at)?;
            let bound = self.bind_templates(function, remote.args.clone(), Given::Types(&types));
            let values = self.stack.get(base..base + function.templates.len()).unwrap_or_default().to_vec();
            self.frames.pop();
            self.stack.truncate(base);
            bound?;
            args = function.templates.iter().map(|param| param.name).zip(values).collect();
        }
        let locals = self.local_integers();
        Ok(Handoff { name: remote.name, args, config, at, stack: self.names(), library: false, locals })
    }

    fn local_integers(&self) -> Vec<(Sym, Value)> {
        let Some(function) = self.function() else { return Vec::new() };
        let mut out = Vec::new();
        collect_locals(&self.program.body(function).stmts, &mut |name, slot| {
            if let Some(value @ Value::Int(..)) = self.stack.get(self.base() + slot as usize) {
                out.push((name, value.clone()));
            }
        });
        out
    }

    fn handed_over(&mut self, handoff: Handoff) -> Run<()> {
        self.effects += 1;
        let decides = (self.decides)(self.program, &handoff);
        if decides && self.exploring {
            self.decision = (self.dialect.decision)(self, &handoff);
        }
        // Fail rather than drop a hand-off: the list must be complete.
        if self.handoffs.len() >= MOST {
            return Err(self.unsure(handoff.at, say!("cxx-open-handoffs")));
        }
        self.handoffs.push(handoff);
        if decides { Err(Stop::Decided) } else { Ok(()) }
    }
}

/// Declarations at the top level of a function.
fn collect_locals(stmts: &[Stmt], take: &mut impl FnMut(Sym, u32)) {
    for stmt in stmts {
        if let Stmt::Decl(vars) = stmt {
            vars.iter().for_each(|var| take(var.name, var.slot));
        }
    }
}
