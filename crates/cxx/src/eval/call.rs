//! Calls: resolves the callee (a builtin, a function, a lambda, a type, an unknown function) and evaluates its
//! arguments.

use super::builtin::Builtin;
use super::dialect::Outside;
use super::exec::Flow;
use super::joined::Handing;
use super::machine::{Frame, Machine};
use super::records::{Run, Stop};
use super::value::{Closure, Shape, Ty, Value};
use crate::syntax::ast::{Base, Expr, ExprKind, Function, Lambda, Name, Root, Segment, Type, View};
use crate::syntax::files::Span;
use crate::syntax::sym::{self, Sym};
use say::say;
use std::rc::Rc;
use std::sync::Arc;

/// The largest number of base classes that are searched.
const MAX_BASES: usize = 64;

impl<'p> Machine<'p> {
    pub(super) fn call(&mut self, callee: &Expr, args: &[Expr], at: Span) -> Run<Value> {
        match self.call_raw(callee, args, at)? {
            Value::Ref(place) => Ok(self.read(place, at)),
            value => Ok(value),
        }
    }

    /// Like `call`, but keeps a returned reference as a reference.
    pub(super) fn call_raw(&mut self, callee: &Expr, args: &[Expr], at: Span) -> Run<Value> {
        match &callee.kind {
            ExprKind::Name(name) => self.call_name(name, args, at),
            ExprKind::Member { base, name, arrow } => self.call_member(base, *name, *arrow, args, at),
            _ => {
                // The dialect may have a builtin for a lambda that is stored in a variable of this name.
                if let ExprKind::Local(_, name) = &callee.kind
                    && let Some(&Builtin::Answer(answer)) = self.builtins.get(name)
                {
                    return answer(self, args, at);
                }
                let function = self.eval(callee)?;
                self.call_value(&function, args, at)
            }
        }
    }

    fn call_name(&mut self, name: &Name, args: &[Expr], at: Span) -> Run<Value> {
        let Some(last) = name.path.last() else { return Ok(Value::Opaque(at)) };
        // A method of the current object takes precedence over outer functions of the same name.
        if name.path.len() == 1
            && let Some(this) = self.frames.last().and_then(|frame| frame.this)
            && let Some(instance) = self.peek(this).and_then(Self::instance)
            && self.program.members(&instance.of).methods.iter().any(|method| method.name == last.sym)
            && let Some(result) = self.method(&instance, this, last.sym, args, at)?
        {
            return Ok(result);
        }
        if let Some(result) = self.builtin(name, last.sym, args, at)? {
            return Ok(result);
        }
        if !self.program.overloads(last.sym).is_empty() {
            if name.path.len() == 1 && self.has_base_method(last.sym) {
                let name = self.program.text(last.sym);
                return Err(self.unsure(at, say!("cxx-open-overload-base", name)));
            }
            let explicit = match &last.args {
                Some(list) => self.template_values(list)?,
                None => Vec::new(),
            };
            let before = name.path.len().checked_sub(1).and_then(|before| name.path.get(..before)).unwrap_or_default();
            return self.call_function((last.sym, before, self.view()), explicit, args, at);
        }
        if let Some(global) = self.program.visible_global(last.sym, &[], self.view(), at) {
            let place = self.global_place(global)?;
            let value = self.read(place, at);
            return self.call_value(&value, args, at);
        }
        if self.program.is_type(last.sym) {
            let mut ty = crate::syntax::ast::Type {
                base: Base::Name(Box::new(name.clone())),
                pointers: 0,
                reference: false,
                constant: false,
                dims: Vec::new(),
                span: at,
            };
            ty.reference = false;
            let ty = self.resolve(&ty)?;
            return self.construct(&ty, args, at);
        }
        // A method of the current object, called by its unqualified name.
        if let Some(this) = self.frames.last().and_then(|frame| frame.this)
            && let Some(instance) = self.peek(this).and_then(Self::instance)
            && let Some(result) = self.method(&instance, this, last.sym, args, at)?
        {
            return Ok(result);
        }
        if let Some(result) = self.call_static(name, args, at)? {
            return Ok(result);
        }
        self.call_foreign(name, last.sym, args, at)
    }

    /// Whether a base class of the current object has a method of this name.
    fn has_base_method(&self, name: Sym) -> bool {
        let this = self.frames.last().and_then(|frame| frame.this);
        let Some(instance) = this.and_then(|this| self.peek(this)).and_then(Self::instance) else { return false };
        let program = self.program;
        let mut open: Vec<&Type> = instance.of.bases.iter().collect();
        let mut seen = 0;
        while let Some(base) = open.pop().filter(|_| seen < MAX_BASES) {
            seen += 1;
            let Base::Name(base) = &base.base else { return true };
            for of in base.path.last().map_or(&[][..], |last| program.structs(last.sym)) {
                if program.members(of).methods.iter().any(|method| method.name == name) {
                    return true;
                }
                open.extend(&of.bases);
            }
        }
        !open.is_empty()
    }

    /// Runs a static function of a struct, as in `T::convert(x)`, if it has to be followed.
    pub(super) fn call_static(&mut self, name: &Name, args: &[Expr], at: Span) -> Run<Option<Value>> {
        let within = name.path.len() + usize::from(!matches!(name.root, Root::Global)) > 1;
        let Some(last) = name.path.last().filter(|_| within && (self.follows || self.configures)) else {
            return Ok(None);
        };
        let Some(instance) = self.scope_of(name)? else { return Ok(None) };
        let this = self.push_temporary(Value::Void);
        let result = self.method(&instance, this, last.sym, args, at)?;
        self.drop_temporary(this);
        Ok(result)
    }

    /// Evaluates `std::size(array)`.
    fn size_of_array(&mut self, name: &Name, args: &[Expr]) -> Run<Option<Value>> {
        let ([first, last], [only]) = (name.path.as_slice(), args) else { return Ok(None) };
        if first.sym != sym::STD || self.program.text(last.sym) != "size" || super::taint::changes(only) {
            return Ok(None);
        }
        Ok(match self.eval(only)? {
            Value::Agg(agg) if matches!(agg.shape, Shape::Array) => Some(Value::size(agg.items.len())),
            _ => None,
        })
    }

    /// Calls an unknown platform or standard library function. Its result becomes unknown, and so does everything that
    /// it may write to.
    pub(super) fn call_foreign(&mut self, full: &Name, name: Sym, args: &[Expr], at: Span) -> Run<Value> {
        if let Some(size) = self.size_of_array(full, args)? {
            return Ok(size);
        }
        if self.starting
            && let Some(value) = self.library_call(full, args, at)?
        {
            return Ok(value);
        }
        let outside = self.outside(name);
        // The call may change its arguments, so the configuration is read first.
        let config = self.given_configuration(name, args, at)?;
        let given = if outside == Outside::Work { self.call_values(args, at)? } else { Vec::new() };
        let values = self.stranger(Some(full), args, at)?;
        if outside == Outside::Work || (outside == Outside::Moves && self.follows) {
            self.hand_to_library(name, given, at)?;
            if outside == Outside::Moves {
                self.moved(&values, at);
            }
            return Ok(Value::int(0));
        }
        if outside != Outside::Query
            && let Some(remote) = self.remote_among(&values)
        {
            return self.hand_over(&remote, config, at);
        }
        Ok(Value::Opaque(at))
    }

    pub(super) fn call_value(&mut self, function: &Value, args: &[Expr], at: Span) -> Run<Value> {
        match function {
            Value::Fn(found) => {
                let found = found.clone();
                self.call_function((found.name, &[], found.view), found.args.clone(), args, at)
            }
            Value::Lambda(closure) => {
                let closure = closure.clone();
                self.call_lambda(&closure, args, at)
            }
            Value::Type(ty) => {
                let ty = ty.clone();
                self.construct(&ty, args, at)
            }
            Value::Null => Err(Stop::Abort { at, what: self.program.files.text(at) }),
            Value::Agg(_) if self.call_operator(function, args.len()).is_some() => self.call_object(function, args, at),
            _ => {
                self.unfollowed = self.unfollowed.or(Some(at));
                self.stranger(None, args, at)?;
                Ok(Value::Opaque(at))
            }
        }
    }

    /// Makes a lambda with the values of the variables that it captures.
    pub(super) fn closure(&mut self, lambda: &Arc<Lambda>) -> Run<Value> {
        let base = self.base();
        let mut kept = Vec::new();
        match &lambda.copies {
            Some(slots) => {
                for &slot in slots {
                    kept.push((slot, self.held(slot)));
                }
            }
            // Capture every variable of the frame.
            None => {
                for slot in 0..self.stack.len().saturating_sub(base) as u32 {
                    kept.push((slot, self.held(slot)));
                }
            }
        }
        for (slot, value) in &lambda.own {
            let value = self.eval(value)?;
            kept.push((*slot, value));
        }
        let (size, name) = (self.stack.len().saturating_sub(base), self.frames.last().map(|frame| frame.name));
        Ok(Value::Lambda(Rc::new(Closure { lambda: lambda.clone(), base, size, name, kept })))
    }

    /// The value of a variable, or of its target if it is a reference.
    fn held(&self, slot: u32) -> Value {
        match self.stack.get(self.slot(slot) as usize) {
            Some(Value::Ref(place)) => self.peek(*place).cloned().unwrap_or_default(),
            Some(value) => value.clone(),
            None => Value::Uninit,
        }
    }

    fn call_lambda(&mut self, closure: &Rc<Closure>, args: &[Expr], at: Span) -> Run<Value> {
        let mut values = Vec::with_capacity(args.len());
        for (index, arg) in args.iter().enumerate() {
            let param = closure.lambda.params.get(index);
            values.push(match (&arg.kind, param) {
                (ExprKind::Init(_), Some(param)) if matches!(param.ty.base, Base::Name(_)) => {
                    let ty = self.resolve(&param.ty)?;
                    self.initialise(&ty, arg)?
                }
                // `int n[]` is a pointer: writes go to the caller's array.
                (_, Some(param)) if !param.ty.reference && (param.ty.pointers > 0 || !param.ty.dims.is_empty()) => {
                    self.decayed(arg)?
                }
                _ => self.argument(arg, param.is_some_and(|param| param.ty.reference))?,
            });
        }
        self.run_lambda(closure, values, at)
    }

    /// Runs a lambda with these arguments; defaults follow.
    pub(super) fn run_lambda(&mut self, closure: &Rc<Closure>, mut values: Vec<Value>, at: Span) -> Run<Value> {
        for param in closure.lambda.params.iter().skip(values.len()) {
            let Some(default) = &param.default else { break };
            values.push(self.eval(default)?);
        }
        // The lambda's variables live in the frame of the enclosing function. A lambda that captures nothing, or only
        // copies, may outlive that function, so it gets a frame of its own.
        let nothing = closure.lambda.copies.as_ref().is_some_and(Vec::is_empty) && closure.lambda.own.is_empty();
        let alone = nothing || self.starting && closure.lambda.copies.is_none();
        let is = |frame: &&Frame| frame.base == closure.base && Some(frame.name) == closure.name;
        let written_in = self.frames.iter().rev().find(is);
        let ((function, name, view, this), base) = match (written_in, self.frames.last()) {
            (Some(frame), _) => ((frame.function, frame.name, frame.view, frame.this), closure.base),
            (None, Some(frame)) if alone => ((None, frame.name, frame.view, None), self.stack.len()),
            _ => return Err(self.unsure(at, say!("cxx-open-lambda-outlived"))),
        };
        let before = self.stack.len();
        if base != closure.base || before < base.saturating_add(closure.size) {
            self.stack.resize(before.max(base.saturating_add(closure.size)), Value::Uninit);
        }
        for (param, value) in closure.lambda.params.iter().zip(values) {
            let root = base.saturating_add(param.slot as usize);
            let value = self.convert(&param.ty, value)?;
            self.set_slot(root as u32, value);
        }
        // The captured values replace the variables' slots while the lambda runs.
        let mut around = Vec::with_capacity(closure.kept.len());
        for (slot, value) in &closure.kept {
            if closure.lambda.params.iter().any(|param| param.slot == *slot) {
                continue;
            }
            let root = base.saturating_add(*slot as usize) as u32;
            around.push((root, self.stack.get(root as usize).cloned().unwrap_or_default()));
            self.set_slot(root, value.clone());
        }
        // The lambda's variables have one frame, so a recursive call would overwrite them.
        let this_one = Arc::as_ptr(&closure.lambda) as usize;
        if self.lambdas.contains(&this_one) {
            return Err(self.unsure(at, say!("cxx-open-lambda-recursive")));
        }
        // Without a declared return type, the value is returned unchanged.
        let reference = closure.lambda.ret.as_ref().is_some_and(|ret| ret.reference);
        self.enter(Frame { function: None, name, view, base, this, reference }, at)?;
        let _ = function;
        self.lambdas.push(this_one);
        let done = self.block(&closure.lambda.body);
        self.lambdas.pop();
        let flow = match (done, &closure.lambda.ret) {
            (Ok(Flow::Return(value)), Some(ty)) => self.convert(ty, value).map(Flow::Return),
            (flow, _) => flow,
        };
        self.frames.pop();
        for (root, value) in around {
            self.set_slot(root, value);
        }
        self.stack.truncate(before);
        Ok(match flow? {
            Flow::Return(value) => value,
            _ => Value::Void,
        })
    }

    fn argument(&mut self, arg: &Expr, by_ref: bool) -> Run<Value> {
        if by_ref && let Some(place) = self.place(arg)? {
            return Ok(Value::Ref(place));
        }
        self.eval(arg)
    }

    /// The arguments with packs expanded: `std::forward<Args>(args)...`.
    pub(super) fn arguments(&mut self, args: &[Expr], function: Option<&Function>) -> Run<Vec<Value>> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            let by_ref =
                function.and_then(|function| function.params.get(values.len())).is_some_and(|p| p.ty.reference);
            let value = match &arg.kind {
                ExprKind::Pack(inner) => {
                    let inner = forwarded(inner);
                    match self.eval(inner)? {
                        Value::Pack(list) => {
                            values.extend(list.iter().cloned());
                            continue;
                        }
                        value => value,
                    }
                }
                ExprKind::Init(_) => match function.and_then(|function| function.params.get(values.len())) {
                    Some(param) if matches!(param.ty.base, Base::Name(_)) => {
                        let ty = self.resolve(&param.ty)?;
                        self.initialise(&ty, arg)?
                    }
                    _ => self.eval(arg)?,
                },
                _ => {
                    let param = function.and_then(|function| function.params.get(values.len()));
                    match param.is_some_and(|param| param.ty.pointers > 0 || !param.ty.dims.is_empty()) && !by_ref {
                        true => self.decayed(arg)?,
                        false => self.argument(arg, by_ref)?,
                    }
                }
            };
            values.push(value);
        }
        Ok(values)
    }

    /// Calls a function. `called` is the name, its qualifier and the scope of the lookup.
    pub(super) fn call_function(
        &mut self,
        called: (Sym, &[Segment], View),
        explicit: Vec<Value>,
        args: &[Expr],
        at: Span,
    ) -> Run<Value> {
        let name = called.0;
        let spread = args.iter().any(|arg| matches!(arg.kind, ExprKind::Pack(_)));
        let (picked, values) = if spread {
            let values = self.arguments(args, None)?;
            (self.pick(called, (values.len(), &[]), &explicit, at)?, values)
        } else {
            let picked = self.pick(called, (args.len(), args), &explicit, at)?;
            let function = picked.and_then(|index| self.program.function(index));
            (picked, self.arguments(args, function)?)
        };
        if let Some(remote) = self.remote_among(&values)
            && self.outside(name) != Outside::Query
        {
            let Some(index) = picked else { return self.hand_over(&remote, None, at) };
            let call = Handing { index, explicit, values, at };
            if !self.follows {
                return self.hand_over_by(&call, &remote);
            }
            let before = self.handoffs.len();
            let result = self.invoke_joined(&call);
            // If the call could not be followed, it may hand over the function in an unknown configuration.
            if self.seeking.is_none() && !matches!(result, Ok(_) | Err(Stop::Need(_))) && self.handoffs.len() == before
            {
                self.hand_over(&remote, None, at)?;
            }
            return result;
        }
        let Some(index) = picked else {
            if self.program.missing.contains(&name) {
                let program = self.program;
                let mut declared = program.overloads(name).iter().filter_map(|&index| program.function(index));
                let declared = declared.find(|function| function.params.len() >= values.len());
                // A void function is called for its effect. The effect may be a hand-off, so the call must not be
                // skipped.
                if declared
                    .is_some_and(|function| matches!(function.ret.base, Base::Void) && function.ret.pointers == 0)
                {
                    let name = self.program.text(name);
                    return Err(self.unsure(at, say!("cxx-open-declared", name)));
                }
                self.undefined(declared, &values, at);
                return Ok(Value::Opaque(at));
            }
            return Err(Stop::Need(name));
        };
        if let Some(function) = self.program.function(index).filter(|function| self.hands_out_memory(function)) {
            self.undefined(Some(function), &values, at);
            return Ok(Value::Pointer(Rc::new(Ty::Unknown), None));
        }
        self.invoke(index, explicit, values, at)
    }
}

/// Treats `std::forward<T>(x)` and `std::move(x)` as x.
fn forwarded(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Call(_, args) if args.len() == 1 => args.first().unwrap_or(expr),
        _ => expr,
    }
}
