//! Method calls, on objects of the tree's own structs and on known library types.

use super::exec::Flow;
use super::machine::{Frame, Machine};
use super::records::Run;
use super::value::{Instance, MemoryPlace, Ty, Value};
use crate::syntax::ast::{Expr, Function};
use crate::syntax::files::Span;
use crate::syntax::sym::{self, Sym};
use crate::syntax::vocabulary::Role;
use say::say;
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    pub(super) fn call_member(&mut self, base: &Expr, name: Sym, arrow: bool, args: &[Expr], at: Span) -> Run<Value> {
        let place = if arrow { None } else { self.place(base)? };
        if let Some(place) = place
            && self.grown(place, name, args)?
        {
            return Ok(Value::Void);
        }
        let value = match place {
            Some(place) => self.peek(place).cloned().unwrap_or(Value::Opaque(at)),
            None => self.eval(base)?,
        };
        if self.starting
            && !arrow
            && let Some(result) = self.owner_method(place, &value, name, args, at)?
        {
            return Ok(result);
        }
        let (place, value) = match value {
            Value::Ptr(inner) | Value::Ref(inner) => (Some(inner), self.read(inner, at)),
            value => (place, value),
        };
        if let Some(instance) = Self::instance(&value)
            && instance.of.role != Role::Foreign
        {
            // The called field holds a function.
            if let Value::Agg(agg) = &value
                && let Some(field) = self.field_of(agg, name)
            {
                return self.call_value(&field, args, at);
            }
            let place = match place {
                Some(place) => place,
                None => self.push_temporary(value),
            };
            if let Some(result) = self.method(&instance, place, name, args, at)? {
                return Ok(result);
            }
        } else if let Some(result) = self.container(place, &value, name, args, at)? {
            return Ok(result);
        } else {
            // An unknown method may write to a buffer.
            self.taint_buffer(&value, at);
        }
        for arg in args {
            let value = self.decayed(arg)?;
            self.taint_reached(&value, at);
        }
        // An unknown method may change its object. A context never changes during a run.
        let kept = Self::instance(&self.here(place)).is_some_and(|instance| instance.of.role == Role::Context);
        if let Some(place) = place
            && !kept
        {
            self.taint(place, at);
        }
        // Memory from a pool has an unknown address, but it is not null.
        if name == sym::ALLOC {
            return Ok(Value::Pointer(Rc::new(Ty::Unknown), None));
        }
        Ok(Value::Opaque(at))
    }

    fn here(&self, place: Option<MemoryPlace>) -> Value {
        place.and_then(|place| self.peek(place)).cloned().unwrap_or_default()
    }

    pub(super) fn method(
        &mut self,
        instance: &Rc<Instance>,
        this: MemoryPlace,
        name: Sym,
        args: &[Expr],
        at: Span,
    ) -> Run<Option<Value>> {
        let program = self.program;
        let methods = &program.members(&instance.of).methods;
        let fits = |method: &&Arc<Function>| {
            let required = method.params.iter().filter(|param| param.default.is_none()).count();
            let arity = (required..=method.params.len()).contains(&args.len());
            method.name == name && arity && !method.is_elsewhere_only()
        };
        let found: Vec<&Function> = methods.iter().filter(fits).map(|method| method.as_ref()).collect();
        let found = match found.as_slice() {
            [] => None,
            [only] => Some(*only),
            several if instance.of.role != Role::Context => match self.by_types(several, args) {
                Some(position) => several.get(position).copied(),
                None => {
                    let name = program.text(name);
                    return Err(self.unsure(at, say!("cxx-open-overload-several", name)));
                }
            },
            [first, ..] => Some(*first),
        };
        let found = match found {
            Some(method) if method.body.is_none() && self.starting => {
                let outside = instance.of.name.and_then(|of| program.outlined(of, name, method.params.len()));
                outside.or(Some(method))
            }
            found => found,
        };
        match found.filter(|method| method.body.is_some()) {
            // A context returns handles, whose contents do not affect decisions.
            Some(method) if instance.of.role != Role::Context || self.starting => {
                self.call_method(method, instance, this, args, at).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The only call operator that takes this many arguments; None if there is none, or more than one.
    pub(super) fn call_operator(&self, object: &Value, args: usize) -> Option<(Rc<Instance>, Arc<Function>)> {
        let instance = Self::instance(object).filter(|instance| instance.of.role == Role::Plain)?;
        let fits = |method: &&Arc<Function>| {
            let required = method.params.iter().filter(|param| param.default.is_none()).count();
            method.name == sym::OPERATOR && (required..=method.params.len()).contains(&args)
        };
        let mut found = self.program.members(&instance.of).methods.iter().filter(fits);
        let only = found.next().filter(|_| found.next().is_none())?.clone();
        let here = only.body.is_some() && !only.is_elsewhere_only() && !only.is_remote();
        here.then_some((instance, only))
    }

    /// Calls an object: `object(a, b)`. The struct's template arguments come from the object; the operator's own are
    /// deduced.
    pub(super) fn call_object(&mut self, object: &Value, args: &[Expr], at: Span) -> Run<Value> {
        let Some((instance, method)) = self.call_operator(object, args.len()) else { return Ok(Value::Opaque(at)) };
        let values = self.arguments(args, Some(&method))?;
        let this = self.push_temporary(object.clone());
        let base = self.stack.len();
        self.stack.resize(base + self.program.body(&method).slots as usize, Value::Uninit);
        let name = instance.of.name.unwrap_or(method.name);
        let reference = method.ret.reference;
        self.enter(Frame { function: None, name, view: method.view(), base, this: Some(this), reference }, at)?;
        let result = self.bind_and_run(&method, instance.args.clone(), values);
        self.frames.pop();
        self.drop_temporary(this);
        result
    }

    pub(super) fn call_method(
        &mut self,
        method: &Function,
        instance: &Rc<Instance>,
        this: MemoryPlace,
        args: &[Expr],
        at: Span,
    ) -> Run<Value> {
        let program = self.program;
        let values = self.arguments(args, Some(method))?;
        let body = program.body(method);
        let base = self.stack.len();
        self.stack.resize(base + body.slots as usize, Value::Uninit);
        let reference = method.ret.reference;
        let frame = Frame { function: None, name: method.name, view: method.view(), base, this: Some(this), reference };
        self.enter(frame, at)?;
        let result = self.run_method(method, instance, this, values);
        self.frames.pop();
        self.stack.truncate(base);
        result
    }

    fn run_method(
        &mut self,
        method: &Function,
        instance: &Rc<Instance>,
        this: MemoryPlace,
        values: Vec<Value>,
    ) -> Run<Value> {
        let base = self.base();
        let program = self.program;
        // An explicit specialisation has no parameters of its own.
        let own = instance.of.special.is_none() || !instance.of.templates.is_empty();
        let given = if own { instance.args.as_slice() } else { &[] };
        let templates = method.templates.len();
        for (position, param) in method.templates.iter().enumerate() {
            let value = match given.get(position) {
                Some(value) => value.clone(),
                None if param.is_type => Value::Type(Rc::new(Ty::Unknown)),
                None => Value::Opaque(method.span),
            };
            if let Some(slot) = self.stack.get_mut(base + position) {
                *slot = value;
            }
        }
        let mut values = values.into_iter();
        for (position, param) in method.params.iter().enumerate() {
            let value = match (values.next(), &param.default) {
                (Some(value), _) => self.convert(&param.ty, value)?,
                (None, Some(default)) => {
                    let value = self.eval(default)?;
                    self.convert(&param.ty, value)?
                }
                (None, None) => Value::Uninit,
            };
            if let Some(slot) = self.stack.get_mut(base + templates + position) {
                *slot = value;
            }
        }
        let body = program.body(method);
        for (name, args) in &body.inits {
            let Some(index) = self.field_index(instance, *name) else { continue };
            let field = program.members(&instance.of).fields.get(index);
            let bits = field.is_some_and(|field| field.bits);
            if field.is_some_and(|field| field.ty.reference)
                && let [only] = args.as_slice()
                && let (Some(to), Some(part)) = (self.place(only)?, this.part(index))
            {
                self.write(part, Value::Ref(to));
                continue;
            }
            let value = match args.as_slice() {
                [only] if field.is_some_and(|field| field.ty.pointers > 0) => self.decayed(only)?,
                [only] => self.eval(only)?,
                _ => Value::Opaque(method.span),
            };
            let value = if bits { Value::Opaque(method.span) } else { value };
            if let Some(place) = this.part(index) {
                self.store(place, value)?;
            }
        }
        match self.block(&body.stmts)? {
            Flow::Return(value) => self.convert(&method.ret, value),
            _ => Ok(Value::Void),
        }
    }
}
