//! Hand-offs: functions that run elsewhere. A function is handed over by `f<<<...>>>(x)`, by a call that takes the
//! function, or inside a library. The hand-offs are the result of a run: which function, with which template arguments,
//! in which configuration.

use super::dialect::Outside;
use super::invoke::Given;
use super::joined::Handing;
use super::machine::{Frame, Machine};
use super::records::{Handoff, Run, Stop};
use super::settings::{CallValue, Extent, Settings};
use super::value::{FnValue, Ty, Value};
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

    /// A call of an undefined function that receives a remote function and hands it over.
    pub(super) fn hand_over(&mut self, remote: &Rc<FnValue>, config: Option<Settings>, at: Span) -> Run<Value> {
        let handoff = self.handoff_of(remote, config, &[], at)?;
        self.handed_over(handoff)?;
        Ok(Value::Opaque(at))
    }

    /// The configuration among the arguments of a call of an undefined function.
    pub(super) fn given_configuration(&mut self, name: Sym, args: &[Expr], at: Span) -> Run<Option<Settings>> {
        let program = self.program;
        let Some(given) = (self.dialect.configuration)(program.text(name), args) else { return Ok(None) };
        if args.iter().any(super::taint::changes) {
            return Ok(None);
        }
        let values = given(self, args)?;
        Ok(values.map(|values| values.map(|value| self.setting(&value, at))))
    }

    /// A call of a function that hands over the remote function passed to it. The call counts as the hand-off; the
    /// function is run only for the configuration of a hand-off that answers the question.
    pub(super) fn hand_over_by(&mut self, call: &Handing, remote: &Rc<FnValue>) -> Run<Value> {
        let mut handoff = self.handoff_of(remote, None, &[], call.at)?;
        if self.configures && (self.decides)(self.program, &handoff) {
            handoff.config = Some(self.configuration_of(call, remote.name)?);
        }
        self.handed_over(handoff)?;
        Ok(Value::Opaque(call.at))
    }

    /// Records work that is done inside a library.
    pub(super) fn hand_to_library(&mut self, name: Sym, given: Vec<CallValue>, at: Span) -> Run<()> {
        let (stack, locals) = (self.names(), Vec::new());
        self.handed_over(Handoff { name, args: Vec::new(), config: None, at, stack, library: true, given, locals })
    }

    /// The arguments of a library call. They are read before the call, which may change what they point to.
    pub(super) fn call_values(&mut self, args: &[Expr], at: Span) -> Run<Vec<CallValue>> {
        if !self.configures || args.iter().any(super::taint::changes) {
            return Ok(Vec::new());
        }
        let mut out = Vec::with_capacity(args.len());
        for arg in args {
            let value = match self.eval(arg)? {
                Value::Ptr(place) => self.read(place, at),
                value => value,
            };
            out.push(match value {
                Value::Float(number, _) => CallValue::Float(number.to_bits()),
                Value::Int(..) => match self.setting(&value, at) {
                    Ok([number, ..]) => CallValue::Numbers(vec![number]),
                    Err(_) => CallValue::Unknown,
                },
                _ => CallValue::Unknown,
            });
        }
        Ok(out)
    }

    pub(super) fn configured(&mut self, callee: &Expr, config: &[Expr], args: &[Expr], at: Span) -> Run<Value> {
        let function = self.eval(callee)?;
        let Value::Fn(remote) = function else {
            return Err(self.unsure(callee.span, say!("cxx-open-handed")));
        };
        // Omitted values are 0.
        let none = || Ok([Extent::Fixed(0), Extent::Fixed(1), Extent::Fixed(1)]);
        let mut settings: Settings = [none(), none(), none()];
        for (slot, expr) in settings.iter_mut().zip(config) {
            *slot = self.setting_of(expr)?;
        }
        let handoff = self.handoff_of(&remote, Some(settings), args, at)?;
        self.handed_over(handoff)?;
        Ok(Value::Void)
    }

    /// Describes the hand-off of a remote function, with all of its template arguments. Missing template arguments are
    /// deduced from the types of the function's arguments.
    pub fn handoff_of(
        &mut self,
        remote: &Rc<FnValue>,
        config: Option<Settings>,
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
        Ok(Handoff {
            name: remote.name,
            args,
            config,
            at,
            stack: self.names(),
            library: false,
            given: Vec::new(),
            locals,
        })
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
        let decides = match self.seeking {
            Some(wanted) => handoff.name == wanted,
            None => (self.decides)(self.program, &handoff),
        };
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
