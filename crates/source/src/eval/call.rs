//! Calls: which function a name means here, its arguments, its template arguments; and launches.

use super::exec::Flow;
use super::machine::{Frame, Launch, Machine, MemoKey, Run, Stop};
use super::value::{Closure, FnValue, Instance, Place, Shape, Ty, Value};
use crate::cpp::ast::{Base, Expr, ExprKind, Function, Name};
use crate::cpp::files::Span;
use crate::cpp::sym::Sym;
use std::rc::Rc;

impl<'p> Machine<'p> {
    pub(super) fn call(&mut self, callee: &Expr, args: &[Expr], at: Span) -> Run<Value> {
        match self.call_raw(callee, args, at)? {
            Value::Ref(place) => Ok(self.read(place, at)),
            value => Ok(value),
        }
    }

    /// As `call`, but a returned reference stays one.
    pub(super) fn call_raw(&mut self, callee: &Expr, args: &[Expr], at: Span) -> Run<Value> {
        match &callee.kind {
            ExprKind::Name(name) => self.call_name(name, args, at),
            ExprKind::Member { base, name, arrow } => self.call_member(base, *name, *arrow, args, at),
            _ => {
                let function = self.eval(callee)?;
                self.call_value(&function, args, at)
            }
        }
    }

    fn call_name(&mut self, name: &Name, args: &[Expr], at: Span) -> Run<Value> {
        let Some(last) = name.path.last() else { return Ok(Value::Opaque(at)) };
        if let Some(result) = self.builtin(name, last.sym, args, at)? {
            return Ok(result);
        }
        if !self.program.overloads(last.sym).is_empty() {
            let explicit = match &last.args {
                Some(list) => self.template_values(list)?,
                None => Vec::new(),
            };
            return self.call_function(last.sym, explicit, args, at);
        }
        if let Some(global) = self.program.global(last.sym) {
            let place = self.global_place(global)?;
            let value = self.read(place, at);
            return self.call_value(&value, args, at);
        }
        if self.program.is_type(last.sym) {
            let mut ty = crate::cpp::ast::Type {
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
        // A method of the object at hand, called by its bare name.
        if let Some(this) = self.frames.last().and_then(|frame| frame.this)
            && let Some(instance) = self.peek(this).and_then(Self::instance)
            && let Some(result) = self.method(&instance, this, last.sym, args, at)?
        {
            return Ok(result);
        }
        self.call_foreign(name, last.sym, args, at)
    }

    /// A function of the platform or the standard library that nothing here knows: its result, and what it was given
    /// to write to, are unknown from now on.
    pub(super) fn call_foreign(&mut self, full: &Name, name: Sym, args: &[Expr], at: Span) -> Run<Value> {
        let text = self.program.text(name);
        let (is_query, is_blas) = (is_query(text), is_blas(text));
        let values = self.stranger(Some(full), args, at)?;
        if is_blas {
            let launch = Launch {
                name,
                args: Vec::new(),
                grid: None,
                block: None,
                at,
                stack: self.names(),
                library: true,
                locals: Vec::new(),
            };
            self.launched(launch)?;
            return Ok(Value::int(0));
        }
        if !is_query && let Some(kernel) = self.kernel_among(&values) {
            return self.hand_over(&kernel, at);
        }
        Ok(Value::Opaque(at))
    }

    pub(super) fn call_value(&mut self, function: &Value, args: &[Expr], at: Span) -> Run<Value> {
        match function {
            Value::Fn(found) => {
                let found = found.clone();
                self.call_function(found.name, found.args.clone(), args, at)
            }
            Value::Lambda(closure) => {
                let closure = closure.clone();
                self.call_lambda(&closure, args, at)
            }
            Value::Type(ty) => {
                let ty = ty.clone();
                self.construct(&ty, args, at)
            }
            Value::Null => Err(Stop::Abort { at, what: "a call of a null function".to_owned() }),
            _ => {
                self.stranger(None, args, at)?;
                Ok(Value::Opaque(at))
            }
        }
    }

    fn call_lambda(&mut self, closure: &Rc<Closure>, args: &[Expr], at: Span) -> Run<Value> {
        let mut values = Vec::with_capacity(args.len());
        for (index, arg) in args.iter().enumerate() {
            let by_ref = closure.lambda.params.get(index).is_some_and(|param| param.ty.reference);
            values.push(self.argument(arg, by_ref)?);
        }
        // The lambda's variables live in the frame of the function that it was written in.
        let (function, name, file, this) = match self.frames.iter().rev().find(|frame| frame.base == closure.base) {
            Some(frame) => (frame.function, frame.name, frame.file, frame.this),
            None => return Err(self.unsure(at, "a lambda that outlived its function")),
        };
        for (param, value) in closure.lambda.params.iter().zip(values) {
            let root = closure.base.saturating_add(param.slot as usize);
            if let Some(slot) = self.stack.get_mut(root) {
                *slot = value;
            }
        }
        // No declared return type: the value is taken as it comes.
        self.enter(Frame { function: None, name, file, base: closure.base, this }, at)?;
        let _ = function;
        let flow = self.block(&closure.lambda.body);
        self.frames.pop();
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

    /// Arguments with packs spread out: `std::forward<Args>(args)...`.
    fn arguments(&mut self, args: &[Expr], function: Option<&Function>) -> Run<Vec<Value>> {
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

    pub(super) fn call_function(&mut self, name: Sym, explicit: Vec<Value>, args: &[Expr], at: Span) -> Run<Value> {
        let spread = args.iter().any(|arg| matches!(arg.kind, ExprKind::Pack(_)));
        let (picked, values) = if spread {
            let values = self.arguments(args, None)?;
            (self.pick(name, values.len(), &explicit, at)?, values)
        } else {
            let picked = self.pick(name, args.len(), &explicit, at)?;
            let function = picked.and_then(|index| self.program.function(index));
            (picked, self.arguments(args, function)?)
        };
        if let Some(kernel) = self.kernel_among(&values)
            && !is_query(self.program.text(name))
        {
            return self.hand_over(&kernel, at);
        }
        let Some(index) = picked else {
            if self.program.missing.contains(&name) {
                let program = self.program;
                let mut declared = program.overloads(name).iter().filter_map(|&index| program.function(index));
                let declared = declared.find(|function| function.params.len() >= values.len());
                // What returns nothing does something; if that is a launch, nobody would know.
                if declared
                    .is_some_and(|function| matches!(function.ret.base, Base::Void) && function.ret.pointers == 0)
                {
                    let name = self.program.text(name);
                    return Err(self.unsure(at, format!("{name} is declared, and defined nowhere in the tree")));
                }
                self.undefined(declared, &values, at);
                return Ok(Value::Opaque(at));
            }
            return Err(Stop::Need(name));
        };
        self.invoke(index, explicit, values, at)
    }

    /// Runs a function. With plain numbers as arguments its result is remembered: it can depend on nothing else.
    pub(super) fn invoke(&mut self, index: u32, explicit: Vec<Value>, values: Vec<Value>, at: Span) -> Run<Value> {
        let program = self.program;
        let Some(function) = program.function(index) else { return Ok(Value::Opaque(at)) };
        if self.trace_stop == Some(function.name)
            && let Some(trace) = self.trace.take()
        {
            self.traced = trace;
        }
        let key = if self.trace.is_none() { self.memo_key(index, function, &explicit, &values) } else { None };
        if let Some(key) = &key
            && let Some(value) = self.memo.get(key)
        {
            return Ok(value.clone());
        }
        let body = program.body(function);
        let base = self.stack.len();
        let frame = Frame { function: Some(index), name: function.name, file: function.span.file, base, this: None };
        self.stack.resize(base + body.slots as usize, Value::Uninit);
        self.enter(frame, at)?;
        let (effects, guesses) = (self.effects, self.script_at);
        let result = self.bind_and_run(function, explicit, values);
        self.frames.pop();
        self.stack.truncate(base);
        let result = result?;
        if let Some(key) = key
            && (self.effects, self.script_at) == (effects, guesses)
            && !matches!(result, Value::Void | Value::Opaque(_))
        {
            self.memo.insert(key, result.clone());
        }
        Ok(result)
    }

    /// The arguments as numbers, where they are nothing else: plain integers, and structs of them given by constant
    /// reference. A result can then depend on nothing else.
    fn memo_key(&self, index: u32, function: &Function, explicit: &[Value], values: &[Value]) -> Option<MemoKey> {
        let mut args = Vec::with_capacity(explicit.len() + values.len() + 1);
        for value in explicit {
            push_number(value, &mut args)?;
        }
        args.push(explicit.len() as i64);
        for (position, value) in values.iter().enumerate() {
            match value {
                Value::Ref(place) => {
                    if !function.params.get(position)?.ty.constant {
                        return None;
                    }
                    match self.peek(*place)? {
                        Value::Agg(agg) if agg.items.len() <= 16 => {
                            agg.items.iter().try_for_each(|item| push_number(item, &mut args))?;
                        }
                        value => push_number(value, &mut args)?,
                    }
                }
                value => push_number(value, &mut args)?,
            }
        }
        Some(MemoKey { function: index, args })
    }

    fn bind_and_run(&mut self, function: &Function, explicit: Vec<Value>, values: Vec<Value>) -> Run<Value> {
        let base = self.base();
        let templates = function.templates.len();
        self.bind_templates(function, explicit, &values)?;
        let mut values = values.into_iter();
        for (position, param) in function.params.iter().enumerate() {
            let value = if param.pack {
                Value::Pack(Rc::new(values.by_ref().collect()))
            } else {
                match values.next() {
                    Some(value) => self.convert(&param.ty, value)?,
                    None => match param.default.as_ref().or_else(|| self.declared_default(function, position)) {
                        Some(default) => {
                            let value = self.eval(default)?;
                            self.convert(&param.ty, value)?
                        }
                        None => Value::Uninit,
                    },
                }
            };
            if let Some(slot) = self.stack.get_mut(base + templates + position) {
                *slot = value;
            }
        }
        let program = self.program;
        Ok(match self.block(&program.body(function).stmts)? {
            Flow::Return(value) => value,
            _ => Value::Void,
        })
    }

    fn bind_templates(&mut self, function: &Function, explicit: Vec<Value>, values: &[Value]) -> Run<()> {
        let base = self.base();
        let given = explicit.len();
        let mut explicit = explicit.into_iter();
        for (position, param) in function.templates.iter().enumerate() {
            let value = if param.pack {
                Value::Pack(Rc::new(explicit.by_ref().collect()))
            } else if let Some(value) = explicit.next() {
                value
            } else if let Some(value) = self.deduce(function, position, values) {
                value
            } else {
                match &param.default {
                    Some(default) => {
                        let mut list = self.template_values(std::slice::from_ref(default))?;
                        list.pop().unwrap_or_default()
                    }
                    None if param.is_type => Value::Type(Rc::new(Ty::Unknown)),
                    None => Value::Opaque(function.span),
                }
            };
            let _ = given;
            if let Some(slot) = self.stack.get_mut(base + position) {
                *slot = value;
            }
        }
        Ok(())
    }

    /// A template parameter from the argument whose type names it: `const T * x`.
    fn deduce(&self, function: &Function, template: usize, values: &[Value]) -> Option<Value> {
        for (param, value) in function.params.iter().zip(values) {
            if !matches!(param.ty.base, Base::Local(slot) if slot as usize == template) {
                continue;
            }
            let value = match value {
                Value::Ref(place) => self.peek(*place)?,
                value => value,
            };
            let mut ty = value.ty();
            for _ in 0..param.ty.pointers {
                ty = match ty {
                    Ty::Ptr(inner) => inner.as_ref().clone(),
                    _ => Ty::Unknown,
                };
            }
            if !matches!(ty, Ty::Unknown) {
                return Some(Value::Type(Rc::new(ty)));
            }
        }
        None
    }

    /// The overload that a call means: by arity, on the host, with a body; the caller's own file first.
    fn pick(&mut self, name: Sym, args: usize, explicit: &[Value], at: Span) -> Run<Option<u32>> {
        let file = self.frames.last().map_or(u16::MAX, |frame| frame.file);
        let key = (name, args, explicit.len(), file);
        if let Some(&picked) = self.picks.get(&key) {
            return Ok(picked);
        }
        let program = self.program;
        let mut fits: Vec<(u32, &Function)> = Vec::new();
        let mut specialised = false;
        for &index in program.overloads(name) {
            let Some(function) = program.function(index) else { continue };
            let required = function.params.iter().filter(|p| p.default.is_none() && !p.pack).count();
            let open = function.variadic || function.params.iter().any(|param| param.pack);
            // A definition may leave its defaults to the declaration in the header.
            let needed = if self.has_defaults(name, function.params.len()) { 0 } else { required };
            let arity = args >= needed.min(required) && (args <= function.params.len() || open);
            let templates = explicit.len() <= function.templates.len() || function.templates.iter().any(|t| t.pack);
            if !arity || !(templates || function.special.is_some()) || function.is_device_only() {
                continue;
            }
            if function.body.is_none() {
                continue;
            }
            if let Some(special) = &function.special {
                specialised = true;
                let wanted = self.template_values(special)?;
                let same =
                    wanted.len() == explicit.len() && wanted.iter().zip(explicit).all(|(a, b)| a.same(b) == Some(true));
                if same {
                    return Ok(Some(index));
                }
                continue;
            }
            fits.push((index, function));
        }
        let picked = self.best(&fits, args, file, at)?;
        if picked.is_some() && !specialised && fits.len() == 1 {
            self.picks.insert(key, picked);
        }
        Ok(picked)
    }

    /// A default that only a declaration of the same function has.
    fn declared_default(&self, function: &Function, position: usize) -> Option<&'p Expr> {
        let same = |other: &&Function| other.params.len() == function.params.len();
        let program = self.program;
        let mut others =
            program.overloads(function.name).iter().filter_map(|&index| program.function(index)).filter(same);
        others.find_map(|other| other.params.get(position)?.default.as_ref())
    }

    fn has_defaults(&self, name: Sym, params: usize) -> bool {
        self.program.overloads(name).iter().filter_map(|&index| self.program.function(index)).any(|function| {
            function.params.len() == params && function.params.iter().any(|param| param.default.is_some())
        })
    }

    fn best(&self, fits: &[(u32, &Function)], args: usize, file: u16, at: Span) -> Run<Option<u32>> {
        let score = |function: &Function| {
            let exact = function.params.len() == args && !function.params.iter().any(|param| param.pack);
            let here = function.span.file == file;
            // A static of another unit is not visible from here; one of a header is.
            let internal = function.attrs & crate::cpp::ast::INTERNAL != 0;
            let hidden = internal && !here && crate::program::is_unit(self.program.files.path(function.span.file));
            (!hidden, here, exact, function.templates.is_empty())
        };
        let Some(top) = fits.iter().map(|(_, function)| score(function)).max() else { return Ok(None) };
        let mut ties = fits.iter().filter(|(_, function)| score(function) == top);
        let Some(&(index, first)) = ties.next() else { return Ok(None) };
        // A header without a guard is read once per unit: the same function again.
        match ties.find(|(_, other)| other.span != first.span) {
            Some((_, other)) => {
                let (name, place) = (self.program.text(other.name), self.program.files.place(other.span));
                Err(self.unsure(at, format!("which {name} is called is not known (another is at {place})")))
            }
            None => Ok(Some(index)),
        }
    }

    fn call_member(&mut self, base: &Expr, name: Sym, arrow: bool, args: &[Expr], at: Span) -> Run<Value> {
        let place = if arrow { None } else { self.place(base)? };
        let value = match place {
            Some(place) => self.peek(place).cloned().unwrap_or(Value::Opaque(at)),
            None => self.eval(base)?,
        };
        let (place, value) = match value {
            Value::Ptr(inner) | Value::Ref(inner) => (Some(inner), self.read(inner, at)),
            value => (place, value),
        };
        if let Some(instance) = Self::instance(&value)
            && !self.is_foreign(&instance.of)
        {
            // A field that holds a function.
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
        }
        for arg in args {
            let value = self.decayed(arg)?;
            self.poison_reached(&value, at);
        }
        // A method that is not known may change its object. The backend's context is what it is for a whole run.
        let kept = Self::instance(&self.here(place)).is_some_and(|instance| self.is_context(&instance));
        if let Some(place) = place
            && !kept
        {
            self.poison(place, at);
        }
        // What a memory pool hands out is not known, but it is something.
        if self.program.text(name) == "alloc" {
            return Ok(Value::Pointer(Rc::new(Ty::Unknown)));
        }
        Ok(Value::Opaque(at))
    }

    fn here(&self, place: Option<Place>) -> Value {
        place.and_then(|place| self.peek(place)).cloned().unwrap_or_default()
    }

    fn method(
        &mut self,
        instance: &Rc<Instance>,
        this: Place,
        name: Sym,
        args: &[Expr],
        at: Span,
    ) -> Run<Option<Value>> {
        let program = self.program;
        let methods = &program.members(&instance.of).methods;
        let found = methods.iter().find(|method| {
            let required = method.params.iter().filter(|param| param.default.is_none()).count();
            let arity = (required..=method.params.len()).contains(&args.len());
            method.name == name && arity && method.body.is_some() && !method.is_device_only()
        });
        match found {
            // The backend's context hands out streams and handles: nothing in them decides.
            Some(method) if !self.is_context(instance) => self.call_method(method, instance, this, args, at).map(Some),
            _ => Ok(None),
        }
    }

    fn is_context(&self, instance: &Instance) -> bool {
        instance.of.name.is_some_and(|name| self.program.text(name).ends_with("_context"))
    }

    pub(super) fn call_method(
        &mut self,
        method: &Function,
        instance: &Rc<Instance>,
        this: Place,
        args: &[Expr],
        at: Span,
    ) -> Run<Value> {
        let program = self.program;
        let values = self.arguments(args, Some(method))?;
        let body = program.body(method);
        let base = self.stack.len();
        self.stack.resize(base + body.slots as usize, Value::Uninit);
        let frame = Frame { function: None, name: method.name, file: method.span.file, base, this: Some(this) };
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
        this: Place,
        values: Vec<Value>,
    ) -> Run<Value> {
        let base = self.base();
        let program = self.program;
        let mut values = values.into_iter();
        for (position, param) in method.params.iter().enumerate() {
            let value = match (values.next(), &param.default) {
                (Some(value), _) => self.convert(&param.ty, value)?,
                (None, Some(default)) => self.eval(default)?,
                (None, None) => Value::Uninit,
            };
            if let Some(slot) = self.stack.get_mut(base + position) {
                *slot = value;
            }
        }
        let body = program.body(method);
        for (name, args) in &body.inits {
            let Some(index) = self.field_index(instance, *name) else { continue };
            let value = match args.as_slice() {
                [only] => self.eval(only)?,
                _ => Value::Opaque(method.span),
            };
            if let Some(place) = this.part(index) {
                self.write(place, value);
            }
        }
        Ok(match self.block(&body.stmts)? {
            Flow::Return(value) => value,
            _ => Value::Void,
        })
    }

    pub(super) fn names(&self) -> Vec<Sym> {
        self.frames.iter().map(|frame| frame.name).collect()
    }

    fn kernel_among(&self, values: &[Value]) -> Option<Rc<FnValue>> {
        values.iter().find_map(|value| match value {
            Value::Fn(found) if self.is_kernel(found.name) => Some(found.clone()),
            _ => None,
        })
    }

    pub(super) fn is_kernel(&self, name: Sym) -> bool {
        self.program.overloads(name).iter().filter_map(|&index| self.program.function(index)).any(Function::is_kernel)
    }

    /// A kernel given to a function that launches it.
    fn hand_over(&mut self, kernel: &Rc<FnValue>, at: Span) -> Run<Value> {
        let launch = self.launch_of(kernel, None, None, at)?;
        self.launched(launch)?;
        Ok(Value::Opaque(at))
    }

    pub(super) fn launch(&mut self, callee: &Expr, config: &[Expr], args: &[Expr], at: Span) -> Run<Value> {
        let function = self.eval(callee)?;
        let Value::Fn(kernel) = function else {
            return Err(self.unsure(callee.span, "a launch of what is not known"));
        };
        let mut dims = [None, None];
        for (slot, expr) in dims.iter_mut().zip(config) {
            let value = self.eval(expr)?;
            *slot = self.dim(&value);
        }
        let _ = args;
        let launch = self.launch_of(&kernel, dims[0], dims[1], at)?;
        self.launched(launch)?;
        Ok(Value::Void)
    }

    fn dim(&self, value: &Value) -> Option<[i64; 3]> {
        let number = |value: Option<&Value>| match value {
            Some(Value::Int(value, _)) => Some(*value),
            _ => None,
        };
        match value {
            Value::Int(value, _) => Some([*value, 1, 1]),
            Value::Agg(agg) if matches!(agg.shape, Shape::Struct(_)) => {
                Some([number(agg.items.first())?, number(agg.items.get(1))?, number(agg.items.get(2))?])
            }
            _ => None,
        }
    }

    fn launch_of(
        &mut self,
        kernel: &Rc<FnValue>,
        grid: Option<[i64; 3]>,
        block: Option<[i64; 3]>,
        at: Span,
    ) -> Run<Launch> {
        let program = self.program;
        let found = program.overloads(kernel.name).iter().filter_map(|&index| program.function(index));
        let function =
            found.into_iter().find(|function| function.is_kernel() && kernel.args.len() <= function.templates.len());
        let mut args = Vec::new();
        if let Some(function) = function {
            let base = self.stack.len();
            self.stack.resize(base + function.templates.len() + function.params.len(), Value::Uninit);
            let frame = Frame { function: None, name: kernel.name, file: function.span.file, base, this: None };
            self.enter(frame, at)?;
            let bound = self.bind_templates(function, kernel.args.clone(), &[]);
            let values = self.stack.get(base..base + function.templates.len()).unwrap_or_default().to_vec();
            self.frames.pop();
            self.stack.truncate(base);
            bound?;
            args = function.templates.iter().map(|param| param.name).zip(values).collect();
        }
        let locals = self.local_integers();
        Ok(Launch { name: kernel.name, args, grid, block, at, stack: self.names(), library: false, locals })
    }

    fn local_integers(&self) -> Vec<(Sym, i64)> {
        let Some(function) = self.function() else { return Vec::new() };
        let mut out = Vec::new();
        collect_locals(&self.program.body(function).stmts, &mut |name, slot| {
            if let Some(Value::Int(value, _)) = self.stack.get(self.base() + slot as usize) {
                out.push((name, *value));
            }
        });
        out
    }

    fn launched(&mut self, launch: Launch) -> Run<()> {
        self.effects += 1;
        let decides = (self.decides)(self.program, &launch);
        if self.launches.len() < 1000 {
            self.launches.push(launch);
        }
        if decides { Err(Stop::Decided) } else { Ok(()) }
    }
}

/// Declarations at a function's own level, where a launcher keeps its tile sizes.
fn collect_locals(stmts: &[crate::cpp::ast::Stmt], take: &mut impl FnMut(Sym, u32)) {
    for stmt in stmts {
        if let crate::cpp::ast::Stmt::Decl(vars) = stmt {
            vars.iter().for_each(|var| take(var.name, var.slot));
        }
    }
}

/// `std::forward<T>(x)` and `std::move(x)` are x.
fn forwarded(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Call(_, args) if args.len() == 1 => args.first().unwrap_or(expr),
        _ => expr,
    }
}

fn push_number(value: &Value, into: &mut Vec<i64>) -> Option<()> {
    match value {
        Value::Int(value, 0) => into.push(*value),
        Value::Null => into.push(i64::MIN + 1),
        _ => return None,
    }
    Some(())
}

/// Asks about a kernel without launching it.
fn is_query(name: &str) -> bool {
    ["FuncSetAttribute", "FuncGetAttributes", "Occupancy", "FuncSetCache", "SHARED_MEMORY_LIMIT", "FuncSetShared"]
        .iter()
        .any(|part| name.contains(part))
}

/// A matrix product of a BLAS library, under any vendor's name.
fn is_blas(name: &str) -> bool {
    let library = ["cublas", "hipblas", "rocblas", "mublas"].iter().any(|prefix| name.starts_with(prefix));
    library && ["gemm", "Gemm", "GEMM", "Matmul", "gemv"].iter().any(|part| name.contains(part))
}

/// Calls from outside.
impl Machine<'_> {
    pub fn call_by_name(&mut self, name: &str, values: Vec<Value>) -> Run<Value> {
        let at = Span::default();
        let Some(sym) = self.program.interner.get(name) else {
            return Err(self.unsure(at, format!("the tree has no function {name}")));
        };
        match self.pick(sym, values.len(), &[], at)? {
            Some(index) => self.invoke(index, Vec::new(), values, at),
            None if self.program.missing.contains(&sym) => {
                Err(self.unsure(at, format!("the tree defines {name} nowhere, or not with these arguments")))
            }
            None => Err(Stop::Need(sym)),
        }
    }

    /// Runs one function to its end, or to the launch that decides.
    pub fn run_function(&mut self, index: u32, values: Vec<Value>) -> Run<Value> {
        let at = self.program.function(index).map_or(Span::default(), |function| function.span);
        self.invoke(index, Vec::new(), values, at)
    }
}
