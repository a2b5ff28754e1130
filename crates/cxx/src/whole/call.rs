//! Calls of functions, methods, constructors and operators.

use super::eval::{Flow, kind};
use super::machine::{Frame, Machine, Method, Native, Run};
use super::tree::{Class, Expr, ExprKind, Function, Name, Param, Type};
use super::types::{bound, class_type, decayed};
use super::value::{Arg, Closure, FnRef, Object, Place, Slot, Ty, Value, place};
use crate::syntax::ast::Binary;
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use crate::syntax::sym::Sym;
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn call(&mut self, callee: &Expr, list: &[Expr], at: Span) -> Run<Slot> {
        match &callee.kind {
            ExprKind::Name(name) => self.call_name(name, list, at),
            ExprKind::Member { base, name, arrow } => self.call_member(base, name, *arrow, list, at),
            _ => {
                let function = self.eval(callee)?;
                let args = self.arguments(list)?;
                self.call_value(&function, args, at)
            }
        }
    }

    fn call_name(&mut self, name: &Rc<Name>, list: &[Expr], at: Span) -> Run<Slot> {
        let last = name.last();
        let text = self.name(last);
        if name.path.len() == 1 {
            if let Some(found) = self.variable(last) {
                let value = found.borrow().clone();
                if let Value::Type(ty) = value {
                    let args = self.arguments(list)?;
                    return Ok(Slot::Value(self.construct(&ty, args, at)?));
                }
                let args = self.arguments(list)?;
                return self.call_value_at(&value, Some(found), args, at);
            }
            if text == "dynamic_cast" {
                return self.dynamic_cast(name, list, at);
            }
            if let Some(result) = self.assertion(&text, list, at)? {
                return Ok(result);
            }
        }
        let std = name.path.len() > 1 && name.path.first().is_some_and(|(first, _)| self.units.text(*first) == "std");
        if std {
            return self.call_library(name, &text, list, at);
        }
        // A method or a called field of the running object.
        if name.path.len() == 1
            && let Some(this) = self.this()
        {
            if let Some(native) = self.native_method(&this, &text) {
                let slots = self.slots(list)?;
                return native(self, Some(this), &slots);
            }
            let methods = self.methods_of(&this, last, self.class());
            if !methods.is_empty() {
                let args = self.arguments(list)?;
                return self.call_methods(&methods, this, name, args, at);
            }
            let field = match &*this.borrow() {
                Value::Object(object) => object.field(last),
                _ => None,
            };
            if let Some(field) = field {
                let value = field.borrow().clone();
                let args = self.arguments(list)?;
                return self.call_value_at(&value, Some(field), args, at);
            }
        }
        if let Some(native) = self.natives.get(&text).cloned()
            && name.path.len() == 1
        {
            let slots = self.slots(list)?;
            return native(self, None, &slots);
        }
        // `A::f()`: a static method, or a method of a base.
        if name.path.len() > 1 {
            let path: Vec<Sym> = name.path.iter().map(|(sym, _)| *sym).collect();
            let before = path.get(..path.len() - 1).unwrap_or_default();
            if let Some(class) = self.units.class_around(before) {
                let methods: Vec<Method> = self.own_methods(&class, last);
                if !methods.is_empty() {
                    let args = self.arguments(list)?;
                    let this = self.this().unwrap_or_else(|| place(Value::Void));
                    return self.call_methods(&methods, this, name, args, at);
                }
            }
        } else if let Some(class) = self.class() {
            // A static method of the class or of one around it.
            let mut around = Some(class);
            while let Some(class) = around {
                let methods = self.own_methods(&class, last);
                if !methods.is_empty() {
                    let args = self.arguments(list)?;
                    let this = place(Value::Void);
                    return self.call_methods(&methods, this, name, args, at);
                }
                around = self.units.class_around(&class.within);
            }
        }
        if self.units.functions.contains_key(&last) {
            let args = self.arguments(list)?;
            return self.call_function(last, name.arguments(), args, at);
        }
        let is_nested = self.class().is_some_and(|class| self.nested_type(&class, last).is_some());
        let is_template = self.frames.last().is_some_and(|frame| {
            frame.templates.iter().any(|(known, value)| *known == last && matches!(value, Value::Type(_)))
        });
        if self.units.is_type(last) || is_nested || is_template {
            let ty = self.resolve(&super::types::plain(super::tree::Base::Name(name.clone())))?;
            let args = self.arguments(list)?;
            return Ok(Slot::Value(self.construct(&ty, args, at)?));
        }
        if let Some(found) = self.global(last)? {
            let value = found.borrow().clone();
            let args = self.arguments(list)?;
            return self.call_value_at(&value, Some(found), args, at);
        }
        if let Some(native) = self.natives.get(&text).cloned() {
            let slots = self.slots(list)?;
            return native(self, None, &slots);
        }
        self.call_library(name, &text, list, at)
    }

    pub(super) fn slots(&mut self, list: &[Expr]) -> Run<Vec<Slot>> {
        let mut slots = Vec::with_capacity(list.len());
        for arg in self.arguments(list)? {
            slots.push(match arg {
                Arg::Slot(slot) => slot,
                Arg::Braces(expr) => Slot::Value(self.braced(&Ty::Unknown, &expr)?),
            });
        }
        Ok(slots)
    }

    fn native_method(&mut self, this: &Place, name: &str) -> Option<Native> {
        let class = match &*this.borrow() {
            Value::Object(object) => object.class.class.clone()?,
            _ => return None,
        };
        let mut open = vec![class];
        while let Some(class) = open.pop() {
            if let Some(found) = self.natives.get(&format!("{}::{name}", self.units.text(class.name))) {
                return Some(found.clone());
            }
            open.extend(self.bases(&class));
        }
        None
    }

    fn dynamic_cast(&mut self, name: &Rc<Name>, list: &[Expr], at: Span) -> Run<Slot> {
        let [only] = list else { return self.stuck(at, "a dynamic_cast") };
        let Some([ty]) = name.arguments() else { return self.stuck(at, "a dynamic_cast") };
        let wanted = match self.resolve(ty)? {
            Ty::Ptr(inner) => match inner.as_ref() {
                Ty::Class(of) => of.class.clone(),
                _ => None,
            },
            Ty::Class(of) => of.class.clone(),
            _ => None,
        };
        let Some(wanted) = wanted else { return self.stuck(at, "a dynamic_cast") };
        let slot = self.slot(only)?;
        let value = slot.read();
        let object = match &value {
            Value::Ptr(inner) => inner.borrow().clone(),
            other => other.clone(),
        };
        let fits = match &object {
            Value::Object(object) => match object.class.class.clone() {
                Some(class) => self.inherits(&class, wanted.name),
                None => false,
            },
            _ => false,
        };
        Ok(if fits { slot } else { Slot::Value(Value::Null) })
    }

    fn call_member(&mut self, base: &Expr, name: &Rc<Name>, arrow: bool, list: &[Expr], at: Span) -> Run<Slot> {
        let last = name.last();
        let object = if arrow {
            let value = self.eval(base)?;
            self.pointed(&value, base.at)?.into_place()
        } else {
            self.slot(base)?.into_place()
        };
        let value = object.borrow().clone();
        let text = self.name(last);
        if let Value::Object(of) = &value {
            if let Some(native) = self.native_method(&object, &text) {
                let slots = self.slots(list)?;
                return native(self, Some(object), &slots);
            }
            let within = match name.path.as_slice() {
                // `x->Base::f()`.
                [.., (class, _), _] => self.units.classes.get(class).and_then(|all| all.first()).cloned(),
                _ => of.class.class.clone(),
            };
            let methods = self.methods_of(&object, last, within);
            if !methods.is_empty() {
                let args = self.arguments(list)?;
                return self.call_methods(&methods, object, name, args, at);
            }
            if let Some(field) = of.field(last) {
                let value = field.borrow().clone();
                let args = self.arguments(list)?;
                return self.call_value_at(&value, Some(field), args, at);
            }
        }
        self.library_method(&object, &text, list, at)
    }

    /// The methods of a class with this name, without those of its bases.
    fn own_methods(&mut self, class: &Rc<Class>, name: Sym) -> Vec<Method> {
        let mut open = vec![class.clone()];
        while let Some(class) = open.pop() {
            let found: Vec<Method> = class
                .methods
                .borrow()
                .iter()
                .filter(|method| method.name == name)
                .map(|method| (class.clone(), method.clone()))
                .collect();
            if !found.is_empty() {
                return found;
            }
            open.extend(self.bases(&class));
        }
        Vec::new()
    }

    /// The methods that a name means for an object: those of the most derived class that has the name.
    pub(super) fn methods_of(&mut self, object: &Place, name: Sym, within: Option<Rc<Class>>) -> Vec<Method> {
        let class = match &*object.borrow() {
            Value::Object(object) => object.class.class.clone(),
            _ => return Vec::new(),
        };
        let Some(class) = class else { return Vec::new() };
        // A constructor's name is its class, not a method.
        let own = self.own_methods(&class, name);
        if own.is_empty() {
            return within.map_or_else(Vec::new, |within| self.own_methods(&within, name));
        }
        own
    }

    fn call_methods(
        &mut self,
        methods: &[Method],
        this: Place,
        name: &Rc<Name>,
        args: Vec<Arg>,
        at: Span,
    ) -> Run<Slot> {
        let mut methods = methods.to_vec();
        let (class, method) = match self.best(&methods, &args, at)? {
            Some(found) => found,
            None => {
                let text = self.name(name.last());
                return self.stuck(at, format!("the overload of {text}"));
            }
        };
        let method = if method.body.is_none() {
            // Defined in a unit that is not read yet.
            if !self.search(&class, method.name)? {
                let text = self.name(method.name);
                let of = self.name(class.name);
                return self.stuck(at, format!("the method {of}::{text}, which is only declared"));
            }
            methods = self.own_methods(&class, method.name);
            match self.best(&methods, &args, at)? {
                Some((_, found)) if found.body.is_some() => found,
                _ => {
                    let text = self.name(method.name);
                    return self.stuck(at, format!("the method {text}, which is only declared"));
                }
            }
        } else {
            method
        };
        self.run_method(&class, &method, this, name.arguments(), args, at)
    }

    /// Reads the unit that defines a method; false if none is found.
    fn search(&mut self, class: &Rc<Class>, name: Sym) -> Run<bool> {
        let (of, method) = (self.name(class.name), self.name(name));
        self.search_text(&format!("{of}::{method}"), &of)
    }

    pub(super) fn search_text(&mut self, text: &str, word: &str) -> Run<bool> {
        let _ = word;
        if !self.searched.insert(text.to_owned()) {
            return Ok(false);
        }
        let tree = self.tree;
        let mut found: Vec<String> = Vec::new();
        for path in tree.paths().filter(|path| self.units.program.vocabulary().is_unit(path)) {
            if (self.within)(path) && tree.text(path).is_ok_and(|content| content.contains(text)) {
                found.push(path.to_owned());
            }
        }
        let mut any = false;
        for path in found {
            match self.units.load(tree, &path) {
                Ok(new) => any |= new,
                Err(error) => return self.lost(format!("{path}: {error:?}")),
            }
        }
        Ok(any)
    }

    pub(super) fn run_method(
        &mut self,
        class: &Rc<Class>,
        method: &Rc<Function>,
        this: Place,
        explicit: Option<&[Type]>,
        args: Vec<Arg>,
        at: Span,
    ) -> Run<Slot> {
        let of = match &*this.borrow() {
            Value::Object(object) => object.class.args.clone(),
            _ => Vec::new(),
        };
        let mut templates = bound(class, &of);
        let own = method.templates.len() > class.templates.len() || class.templates.is_empty();
        if own {
            let more = self.deduced(method, explicit, &args)?;
            templates.extend(more);
        }
        let this =
            if method.is_static { None } else { Some(this).filter(|this| !matches!(*this.borrow(), Value::Void)) };
        self.run(method, Some(class.clone()), this, templates, args, at)
    }

    /// Template arguments of a function, given or deduced.
    fn deduced(&mut self, function: &Rc<Function>, explicit: Option<&[Type]>, args: &[Arg]) -> Run<Vec<(Sym, Value)>> {
        let mut out = Vec::new();
        for (at, template) in function.templates.iter().enumerate() {
            let Some(name) = template.name else { continue };
            if let Some(given) = explicit.and_then(|list| list.get(at)) {
                out.push((name, self.template_value(given)?));
                continue;
            }
            let position = function.params.iter().position(|param| names(&param.ty, name));
            let value = match position.and_then(|at| args.get(at)) {
                Some(Arg::Slot(slot)) => Some(slot.read()),
                _ => None,
            };
            match (value, &template.default) {
                (Some(value), _) => {
                    let ty = self.type_of(&value);
                    out.push((name, Value::Type(Rc::new(ty))));
                }
                (None, Some(default)) => out.push((name, self.template_value(default)?)),
                (None, None) => {}
            }
        }
        Ok(out)
    }

    pub(super) fn call_function(
        &mut self,
        name: Sym,
        explicit: Option<&[Type]>,
        args: Vec<Arg>,
        at: Span,
    ) -> Run<Slot> {
        let text = self.name(name);
        if let Some(native) = self.natives.get(&text).cloned() {
            let mut slots = Vec::new();
            for arg in args {
                slots.push(match arg {
                    Arg::Slot(slot) => slot,
                    Arg::Braces(expr) => Slot::Value(self.braced(&Ty::Unknown, &expr)?),
                });
            }
            return native(self, None, &slots);
        }
        let unit = self.unit();
        for again in [true, false] {
            let all = self.units.functions.get(&name).cloned().unwrap_or_default();
            let visible: Vec<Rc<Function>> = all
                .iter()
                .filter(|function| {
                    function.body.is_some()
                        && (!function.is_static || function.unit == unit || self.in_header(function))
                })
                .cloned()
                .collect();
            // A function of the same unit hides those of others.
            let own: Vec<Rc<Function>> = visible.iter().filter(|function| function.unit == unit).cloned().collect();
            for list in [own, visible] {
                let methods: Vec<Method> = list.into_iter().map(|function| (self.nowhere.clone(), function)).collect();
                if let Some((_, found)) = self.best(&methods, &args, at)? {
                    let templates = self.deduced(&found, explicit, &args)?;
                    return self.run(&found, None, None, templates, args, at);
                }
            }
            if !again || !self.search_text(&format!("{text}("), &text)? {
                break;
            }
        }
        self.stuck(at, format!("the function {text}"))
    }

    fn in_header(&self, function: &Function) -> bool {
        let path = self.units.program.files.path(function.at.file);
        path.ends_with(".h") || path.ends_with(".hpp")
    }

    /// The function that the arguments fit best.
    fn best(&mut self, methods: &[Method], args: &[Arg], _at: Span) -> Run<Option<Method>> {
        let mut found: Option<(u32, Method)> = None;
        for (class, method) in methods {
            let required = method.params.iter().filter(|param| param.default.is_none() && !param.pack).count();
            let most = method.params.len();
            let pack = method.params.last().is_some_and(|param| param.pack);
            let fits = args.len() >= required && (args.len() <= most || method.variadic || pack);
            let fits = fits || (args.len() < required && args.len() >= self.with_defaults(method));
            if !fits {
                continue;
            }
            if methods.len() == 1 {
                return Ok(Some((class.clone(), method.clone())));
            }
            let mut score = Some(u32::from(method.body.is_none()));
            for (param, arg) in method.params.iter().zip(args) {
                score = match (score, self.rank(class, method, param, arg)?) {
                    (Some(score), Some(rank)) => Some(score + rank * 4),
                    _ => None,
                };
            }
            if let Some(score) = score
                && found.as_ref().is_none_or(|(best, _)| score < *best)
            {
                found = Some((score, (class.clone(), method.clone())));
            }
        }
        Ok(found.map(|(_, method)| method))
    }

    /// How many arguments a function needs if another declaration has defaults.
    fn with_defaults(&self, function: &Rc<Function>) -> usize {
        let all = self.units.functions.get(&function.name);
        let same = |other: &&Rc<Function>| other.params.len() == function.params.len();
        let needs = |other: &Rc<Function>| other.params.iter().filter(|param| param.default.is_none()).count();
        all.into_iter().flatten().filter(same).map(needs).min().unwrap_or(usize::MAX)
    }

    /// How well an argument fits; None if it does not.
    fn rank(&mut self, class: &Rc<Class>, method: &Rc<Function>, param: &Param, arg: &Arg) -> Run<Option<u32>> {
        if method.templates.iter().any(|template| template.name.is_some_and(|name| names(&param.ty, name))) {
            return Ok(Some(2));
        }
        let of = class.clone();
        let ty = self.in_class(&of, &Value::Void, |machine| machine.resolve(&param.ty)).unwrap_or(Ty::Unknown);
        let value = match arg {
            Arg::Slot(slot) => slot.read(),
            Arg::Braces(_) => {
                return Ok(Some(match ty {
                    Ty::List(_) | Ty::Array(..) | Ty::Class(_) | Ty::Map(..) => 0,
                    _ => 3,
                }));
            }
        };
        Ok(match (&ty, &value) {
            (Ty::Unknown, _) => Some(2),
            (_, Value::Unset(_)) => Some(2),
            (Ty::Int(a), Value::Int(_, b)) => Some(if a == b { 0 } else { 1 + u32::from(*a == IntTy::Bool) }),
            (Ty::Int(IntTy::Bool), Value::Ptr(_) | Value::At(..)) => Some(5),
            (Ty::Int(_), Value::Float(..)) => Some(3),
            (Ty::Float(a), Value::Float(_, b)) => Some(u32::from(a != b)),
            (Ty::Float(_), Value::Int(..)) => Some(3),
            (Ty::Str, Value::Str(_)) => Some(0),
            (Ty::Str, Value::Null) => Some(3),
            (Ty::Str, Value::Object(_)) => Some(3),
            (Ty::Ptr(inner), Value::Str(_)) => matches!(**inner, Ty::Int(IntTy::I8)).then_some(0),
            (Ty::Ptr(_) | Ty::Owner(_) | Ty::Func, Value::Null | Value::Zero) => Some(1),
            (Ty::Ptr(_), Value::Int(0, _)) => Some(4),
            (Ty::Ptr(inner) | Ty::Owner(inner), Value::Ptr(target)) => match (inner.as_ref(), &*target.borrow()) {
                (Ty::Class(of), Value::Object(object)) => self.derived(of.class.clone(), object.class.class.clone()),
                (Ty::Class(_), _) => Some(3),
                _ => Some(2),
            },
            (Ty::Ptr(_), Value::At(..) | Value::List(_)) => Some(1),
            (Ty::Func, Value::Fn(_) | Value::Lambda(_)) => Some(0),
            (Ty::Class(of), Value::Object(object)) => self.derived(of.class.clone(), object.class.class.clone()),
            (Ty::Class(_), Value::Int(..) | Value::Str(_) | Value::Ptr(_)) => Some(6),
            (Ty::List(_), Value::List(_)) | (Ty::Array(..), Value::List(_)) => Some(0),
            (Ty::Map(..) | Ty::Set(..), Value::Map(_)) => Some(0),
            (Ty::Tuple(_), Value::Tuple(_)) => Some(0),
            (Ty::Ptr(_), Value::Host(..) | Value::Fn(_)) => Some(1),
            _ => None,
        })
    }

    fn derived(&mut self, wanted: Option<Rc<Class>>, given: Option<Rc<Class>>) -> Option<u32> {
        let (Some(wanted), Some(given)) = (wanted, given) else { return Some(3) };
        if wanted.name == given.name {
            return Some(0);
        }
        self.inherits(&given, wanted.name).then_some(1)
    }

    /// Binds arguments and runs a function.
    fn run(
        &mut self,
        function: &Rc<Function>,
        class: Option<Rc<Class>>,
        this: Option<Place>,
        templates: Vec<(Sym, Value)>,
        args: Vec<Arg>,
        at: Span,
    ) -> Run<Slot> {
        self.step(at)?;
        let body = self.units.body(function);
        let reference = function.ret.reference;
        let frame = Frame { vars: Vec::new(), this, class, templates, unit: function.unit, reference, at: function.at };
        // Lists in braces are evaluated by the caller, but their types belong to the function.
        let args = self.prepared(&frame, &function.params, args)?;
        self.frames.push(frame);
        self.returning.push(Some(function.ret.clone()));
        let result = self.bound_and_run(function, args, &body.stmts, at);
        self.returning.pop();
        self.frames.pop();
        result
    }

    /// Gives lists in braces the types of their parameters.
    fn prepared(&mut self, frame: &Frame, params: &[Param], args: Vec<Arg>) -> Run<Vec<Slot>> {
        let mut slots = Vec::with_capacity(args.len());
        for (at, arg) in args.into_iter().enumerate() {
            slots.push(match arg {
                Arg::Slot(slot) => slot,
                Arg::Braces(expr) => {
                    let ty = match params.get(at) {
                        Some(param) => {
                            let around = Frame {
                                vars: Vec::new(),
                                this: None,
                                class: frame.class.clone(),
                                templates: frame.templates.clone(),
                                unit: frame.unit,
                                reference: false,
                                at: frame.at,
                            };
                            self.frames.push(around);
                            let ty = self.resolve(&param.ty);
                            self.frames.pop();
                            ty?
                        }
                        None => Ty::Unknown,
                    };
                    Slot::Value(self.braced(&ty, &expr)?)
                }
            });
        }
        Ok(slots)
    }

    fn bound_and_run(
        &mut self,
        function: &Rc<Function>,
        args: Vec<Slot>,
        stmts: &[super::tree::Stmt],
        at: Span,
    ) -> Run<Slot> {
        self.bind_params(&function.params, args, Some(function), at)?;
        let flow = self.block(stmts)?;
        self.returned(flow, &function.ret, at)
    }

    fn returned(&mut self, flow: Flow, ret: &Type, at: Span) -> Run<Slot> {
        match flow {
            Flow::Return(Slot::Place(place)) if ret.reference => Ok(Slot::Place(place)),
            Flow::Return(slot) => {
                let value = slot.take();
                let ty = self.resolve(ret)?;
                Ok(Slot::Value(match value {
                    Value::Void => Value::Void,
                    value => self.convert(&ty, value, at)?,
                }))
            }
            _ => Ok(Slot::Value(Value::Void)),
        }
    }

    fn bind_params(&mut self, params: &[Param], args: Vec<Slot>, function: Option<&Rc<Function>>, at: Span) -> Run<()> {
        let mut args = args.into_iter();
        for (position, param) in params.iter().enumerate() {
            if param.pack {
                let rest: Vec<Value> = args.by_ref().map(Slot::take).collect();
                if let Some(name) = param.name {
                    self.declare(name, place(Value::Pack(Rc::new(rest))));
                }
                continue;
            }
            let held = match args.next() {
                Some(slot) => {
                    let ty = self.resolve(&param.ty)?;
                    self.argument(&param.ty, &ty, slot, at)?
                }
                None => {
                    let default = param.default.clone().or_else(|| function.and_then(|f| self.default_of(f, position)));
                    let Some(default) = default else { return self.stuck(at, "a missing argument") };
                    place(self.initialised(&param.ty, &default)?)
                }
            };
            if let Some(name) = param.name {
                self.declare(name, held);
            }
        }
        let rest: Vec<Value> = args.map(Slot::take).collect();
        if let Some(name) = self.units.sym("...").filter(|_| !rest.is_empty()) {
            self.declare(name, place(Value::Pack(Rc::new(rest))));
        }
        Ok(())
    }

    fn argument(&mut self, param: &Type, ty: &Ty, slot: Slot, at: Span) -> Run<Place> {
        if param.reference {
            let value = slot.read();
            let same = match (ty, &value) {
                (Ty::Str, Value::Object(_)) => false,
                (Ty::Class(_), Value::Object(_)) => true,
                (Ty::Class(_), Value::Null | Value::Int(..) | Value::Str(_) | Value::List(_)) => false,
                (Ty::Class(_), Value::Ptr(_)) => false,
                (Ty::Int(a), Value::Int(_, b)) => a == b || !param.constant,
                (Ty::Float(a), Value::Float(_, b)) => a == b || !param.constant,
                (Ty::Int(_), Value::Float(..)) | (Ty::Float(_), Value::Int(..)) => false,
                _ => true,
            };
            if same {
                return Ok(slot.into_place());
            }
        }
        let value = if matches!(ty, Ty::Ptr(_)) || !param.dims.is_empty() { decayed(slot.read()) } else { slot.take() };
        if let Value::Unset(_) = value {
            return self.stuck(at, "an argument that nothing has set");
        }
        let ty = if param.dims.is_empty() { ty.clone() } else { Ty::Unknown };
        Ok(place(self.convert(&ty, value, at)?))
    }

    /// A default that another declaration of the function has.
    fn default_of(&self, function: &Rc<Function>, position: usize) -> Option<Expr> {
        let all = self.units.functions.get(&function.name)?;
        let mut same = all.iter().filter(|other| other.params.len() == function.params.len());
        same.find_map(|other| other.params.get(position)?.default.clone())
    }

    pub fn call_value(&mut self, function: &Value, args: Vec<Arg>, at: Span) -> Run<Slot> {
        self.call_value_at(function, None, args, at)
    }

    fn call_value_at(&mut self, function: &Value, held: Option<Place>, args: Vec<Arg>, at: Span) -> Run<Slot> {
        match function {
            Value::Fn(found) => {
                let found: Rc<FnRef> = found.clone();
                let outer = self.frames.last().map(|frame| frame.unit);
                if let Some(frame) = self.frames.last_mut() {
                    frame.unit = found.unit;
                }
                let result = self.call_function(found.name, None, args, at);
                if let (Some(frame), Some(outer)) = (self.frames.last_mut(), outer) {
                    frame.unit = outer;
                }
                result
            }
            Value::Lambda(closure) => {
                let closure = closure.clone();
                self.call_lambda(&closure, args, at)
            }
            Value::Object(_) => {
                let this = held.unwrap_or_else(|| place(function.clone()));
                let Some(name) = self.units.sym("(") else { return self.stuck(at, "a call") };
                let methods = self.methods_of(&this, name, None);
                if methods.is_empty() {
                    return self.stuck(at, "a call of an object");
                }
                let name = Rc::new(Name { path: vec![(name, None)] });
                self.call_methods(&methods, this, &name, args, at)
            }
            Value::Ptr(inner) => {
                let value = inner.borrow().clone();
                self.call_value_at(&value, Some(inner.clone()), args, at)
            }
            other => {
                let code = self.units.program.files.text(at);
                let kind = kind(other);
                self.stuck(at, format!("a call of {kind}: {code}"))
            }
        }
    }

    fn call_lambda(&mut self, closure: &Rc<Closure>, args: Vec<Arg>, at: Span) -> Run<Slot> {
        let lambda = closure.lambda.clone();
        let reference = lambda.ret.as_ref().is_some_and(|ret| ret.reference);
        let frame = Frame {
            vars: closure.vars.clone(),
            this: closure.this.clone(),
            class: closure.class.clone(),
            templates: closure.templates.clone(),
            unit: closure.unit,
            reference,
            at: lambda.at,
        };
        let args = self.prepared(&frame, &lambda.params, args)?;
        self.frames.push(frame);
        self.returning.push(lambda.ret.clone());
        let result = self.run_lambda(&lambda, args, at);
        self.returning.pop();
        self.frames.pop();
        result
    }

    fn run_lambda(&mut self, lambda: &Rc<super::tree::Lambda>, args: Vec<Slot>, at: Span) -> Run<Slot> {
        self.bind_params(&lambda.params, args, None, at)?;
        match self.block(&lambda.body)? {
            Flow::Return(slot) => match &lambda.ret {
                Some(ret) => self.returned(Flow::Return(slot), ret, at),
                None => Ok(Slot::Value(slot.take())),
            },
            _ => Ok(Slot::Value(Value::Void)),
        }
    }

    pub(super) fn has_constructor(&self, class: &Rc<Class>) -> bool {
        class.methods.borrow().iter().any(|method| method.name == class.name)
    }

    /// Whether every constructor of a class needs arguments.
    pub(super) fn needs_arguments(&self, class: &Rc<Class>) -> bool {
        let methods = class.methods.borrow();
        let mut found = methods.iter().filter(|method| method.name == class.name).peekable();
        found.peek().is_some() && found.all(|method| method.params.iter().any(|param| param.default.is_none()))
    }

    /// Whether an object is made by running code, even without arguments.
    pub(super) fn has_default_constructor(&mut self, of: &Rc<super::value::ClassOf>) -> bool {
        let Some(class) = of.class.clone() else { return false };
        if self.has_constructor(&class) {
            return true;
        }
        self.bases(&class).iter().any(|base| self.has_constructor(base))
    }

    /// An object or value of a type, made from arguments.
    pub fn construct(&mut self, ty: &Ty, args: Vec<Arg>, at: Span) -> Run<Value> {
        match ty {
            Ty::Class(of) => {
                let Some(class) = of.class.clone() else { return self.stuck(at, "an object of an unknown class") };
                // A copy.
                if let [Arg::Slot(slot)] = args.as_slice()
                    && let Value::Object(object) = slot.read()
                    && object.class.class.as_ref().is_some_and(|known| known.name == class.name)
                {
                    return Ok(slot.clone().take());
                }
                if !self.has_constructor(&class) && !args.is_empty() {
                    return self.aggregate_of(ty, &class, args, at);
                }
                let made = self.fresh(ty, false)?;
                let this = place(made.clone());
                self.run_constructor(&class, &this, args, at)?;
                Ok(made)
            }
            Ty::List(item) | Ty::Array(item, _) => self.construct_list(ty, item, args, at),
            Ty::Str => self.construct_text(args, at),
            Ty::Tuple(types) => {
                let mut items = Vec::new();
                for (position, arg) in args.into_iter().enumerate() {
                    let ty = types.get(position).cloned().unwrap_or(Ty::Unknown);
                    items.push(place(match arg {
                        Arg::Slot(slot) => {
                            let value = slot.take();
                            self.convert(&ty, value, at)?
                        }
                        Arg::Braces(expr) => self.braced(&ty, &expr)?,
                    }));
                }
                if items.is_empty() {
                    return self.fresh(ty, true);
                }
                Ok(Value::Tuple(Rc::new(items)))
            }
            _ => match args.into_iter().next() {
                Some(Arg::Slot(slot)) => {
                    let value = slot.take();
                    self.convert(ty, value, at)
                }
                Some(Arg::Braces(expr)) => self.braced(ty, &expr),
                None => self.fresh(ty, true),
            },
        }
    }

    fn aggregate_of(&mut self, ty: &Ty, class: &Rc<Class>, args: Vec<Arg>, at: Span) -> Run<Value> {
        let made = self.fresh(ty, true)?;
        let Value::Object(object) = &made else { return Ok(made) };
        let all = self.all_fields(class);
        for ((owner, index), arg) in all.iter().zip(args) {
            let Some(field) = owner.fields.get(*index) else { continue };
            let resolved = self.in_class(owner, &made, |machine| machine.resolve(&field.ty))?;
            let value = match arg {
                Arg::Slot(slot) if field.ty.reference => {
                    object.fields.borrow_mut().insert(field.name, slot.into_place());
                    continue;
                }
                Arg::Slot(slot) => {
                    let value = slot.take();
                    self.convert(&resolved, value, at)?
                }
                Arg::Braces(expr) => self.braced(&resolved, &expr)?,
            };
            object.fields.borrow_mut().insert(field.name, place(value));
        }
        Ok(made)
    }

    fn run_constructor(&mut self, class: &Rc<Class>, this: &Place, args: Vec<Arg>, at: Span) -> Run<()> {
        let methods: Vec<Method> = class
            .methods
            .borrow()
            .iter()
            .filter(|method| method.name == class.name)
            .map(|method| (class.clone(), method.clone()))
            .collect();
        if methods.is_empty() {
            for base in self.bases(class) {
                self.run_constructor(&base, this, Vec::new(), at)?;
            }
            return Ok(());
        }
        let Some((_, mut found)) = self.best(&methods, &args, at)? else {
            let name = self.name(class.name);
            return self.stuck(at, format!("the constructor of {name}"));
        };
        if found.body.is_none() {
            self.search(class, class.name)?;
            let methods: Vec<Method> = class
                .methods
                .borrow()
                .iter()
                .filter(|method| method.name == class.name && method.body.is_some())
                .map(|method| (class.clone(), method.clone()))
                .collect();
            match self.best(&methods, &args, at)? {
                Some((_, other)) => found = other,
                None => {
                    let name = self.name(class.name);
                    return self.stuck(at, format!("the constructor of {name}, which is only declared"));
                }
            }
        }
        let of = match &*this.borrow() {
            Value::Object(object) => object.class.args.clone(),
            _ => Vec::new(),
        };
        let body = self.units.body(&found);
        let frame = Frame {
            vars: Vec::new(),
            this: Some(this.clone()),
            class: Some(class.clone()),
            templates: bound(class, &of),
            unit: found.unit,
            reference: false,
            at: found.at,
        };
        let args = self.prepared(&frame, &found.params, args)?;
        self.frames.push(frame);
        self.returning.push(None);
        let result = self.constructed(class, this, &found, &body, args, at);
        self.returning.pop();
        self.frames.pop();
        result
    }

    fn constructed(
        &mut self,
        class: &Rc<Class>,
        this: &Place,
        function: &Rc<Function>,
        body: &Rc<super::tree::Body>,
        args: Vec<Slot>,
        at: Span,
    ) -> Run<()> {
        self.bind_params(&function.params, args, Some(function), at)?;
        // Another constructor of the class.
        if let Some((_, list, _)) = body.inits.iter().find(|(name, ..)| *name == class.name) {
            let args = self.arguments(list)?;
            self.run_constructor(class, this, args, at)?;
        } else {
            for base in self.bases(class) {
                let given = body.inits.iter().find(|(name, ..)| *name == base.name);
                let args = match given {
                    Some((_, list, _)) => self.arguments(list)?,
                    None => Vec::new(),
                };
                self.run_constructor(&base, this, args, at)?;
            }
        }
        let object: Rc<Object> = match &*this.borrow() {
            Value::Object(object) => object.clone(),
            _ => return self.stuck(at, "a constructor"),
        };
        let bases: Vec<Sym> = self.bases(class).iter().map(|base| base.name).collect();
        for (name, list, _) in &body.inits {
            if *name == class.name || bases.contains(name) {
                continue;
            }
            let Some(field) = class.fields.iter().find(|field| field.name == *name) else {
                let text = self.name(*name);
                return self.stuck(at, format!("the initialiser of {text}"));
            };
            if field.ty.reference
                && let [only] = list.as_slice()
            {
                let slot = self.slot(only)?;
                object.fields.borrow_mut().insert(*name, slot.into_place());
                continue;
            }
            let resolved = self.resolve(&field.ty)?;
            let value = match list.as_slice() {
                [only] if matches!(only.kind, ExprKind::Init(_)) => self.braced(&resolved, only)?,
                [only] if !matches!(resolved, Ty::List(_) | Ty::Class(_)) => {
                    let slot = self.slot(only)?;
                    let value = if matches!(resolved, Ty::Ptr(_)) { decayed(slot.read()) } else { slot.take() };
                    self.convert(&resolved, value, only.at)?
                }
                list => {
                    let args = self.arguments(list)?;
                    self.construct(&resolved, args, at)?
                }
            };
            let held = object.field(*name);
            match held {
                Some(held) => *held.borrow_mut() = value,
                None => drop(object.fields.borrow_mut().insert(*name, place(value))),
            }
        }
        self.block(&body.stmts)?;
        Ok(())
    }

    /// An operator that a class defines.
    pub(super) fn operator(&mut self, op: Binary, left: &Value, right: &Value, at: Span) -> Run<Option<Slot>> {
        let spelled = match op {
            Binary::Shr | Binary::Gt => ">",
            op => op.spelled(),
        };
        let Some(name) = self.units.sym(spelled) else { return Ok(None) };
        if let Value::Object(_) = left {
            let this = place(left.clone());
            let methods = self.methods_of(&this, name, None);
            if !methods.is_empty() {
                let name = Rc::new(Name { path: vec![(name, None)] });
                let args = vec![Arg::Slot(Slot::Value(right.clone()))];
                return self.call_methods(&methods, this, &name, args, at).map(Some);
            }
        }
        Ok(None)
    }

    pub(super) fn unary_operator(&mut self, op: &str, object: &Place) -> Run<Option<Slot>> {
        let Some(name) = self.units.sym(op) else { return Ok(None) };
        let methods: Vec<Method> =
            self.methods_of(object, name, None).into_iter().filter(|(_, m)| m.params.is_empty()).collect();
        if methods.is_empty() {
            return Ok(None);
        }
        let name = Rc::new(Name { path: vec![(name, None)] });
        let at = self.here();
        self.call_methods(&methods, object.clone(), &name, Vec::new(), at).map(Some)
    }

    /// `operator T()`.
    pub(super) fn converted(&mut self, object: &Rc<Object>, _to: &str, at: Span) -> Run<Value> {
        let this = place(Value::Object(object.clone()));
        let Some(name) = self.units.sym("operator") else { return self.stuck(at, "a conversion") };
        let methods = self.methods_of(&this, name, None);
        let Some((class, method)) = methods.first().cloned() else {
            return self.stuck(at, "a conversion of an object");
        };
        Ok(self.run_method(&class, &method, this, None, Vec::new(), at)?.take())
    }

    /// The items of an object with `begin` and `end`.
    pub(super) fn iterated(&mut self, object: &Place) -> Run<Option<Value>> {
        let (Some(begin), Some(end)) = (self.units.sym("begin"), self.units.sym("end")) else { return Ok(None) };
        let at = self.here();
        let mut ends = Vec::new();
        for name in [begin, end] {
            let methods = self.methods_of(object, name, None);
            if methods.is_empty() {
                return Ok(None);
            }
            let name = Rc::new(Name { path: vec![(name, None)] });
            ends.push(self.call_methods(&methods, object.clone(), &name, Vec::new(), at)?.read());
        }
        match ends.as_slice() {
            [Value::At(list, from), Value::At(_, to)] => {
                let items: Option<Vec<Place>> = (*from..*to).map(|at| list.at(at)).collect();
                let Some(items) = items else { return Ok(None) };
                let made = super::value::List {
                    items: std::cell::RefCell::new(items),
                    item: std::cell::RefCell::new(Ty::Unknown),
                    raw: std::cell::RefCell::new(None),
                    reverse: std::cell::RefCell::default(),
                };
                Ok(Some(Value::List(Rc::new(made))))
            }
            [Value::MapAt(map, _), _] => Ok(Some(Value::Map(map.clone()))),
            _ => Ok(None),
        }
    }

    /// Calls a function of the program by name.
    pub fn call_named(&mut self, name: &str, args: Vec<Slot>) -> Run<Slot> {
        let Some(sym) = self.units.sym(name) else { return self.lost(format!("the function {name}")) };
        let args = args.into_iter().map(Arg::Slot).collect();
        self.call_function(sym, None, args, Span::default())
    }

    /// Calls a function that only its own unit sees; nothing if no unit has it.
    pub fn call_hidden(&mut self, name: &str, args: Vec<Slot>) -> Run<Slot> {
        let all = self.units.sym(name).and_then(|name| self.units.functions.get(&name)).cloned().unwrap_or_default();
        match all.iter().find(|function| function.body.is_some()) {
            Some(found) => {
                let args = args.into_iter().map(Arg::Slot).collect();
                self.run(found, None, None, Vec::new(), args, Span::default())
            }
            None => Ok(Slot::Value(Value::Void)),
        }
    }

    /// Calls a method of an object by name.
    pub fn call_method_named(&mut self, object: &Place, name: &str, args: Vec<Slot>) -> Run<Slot> {
        let Some(sym) = self.units.sym(name) else { return self.lost(format!("the method {name}")) };
        let methods = self.methods_of(object, sym, None);
        if methods.is_empty() {
            return self.lost(format!("the method {name}"));
        }
        let name = Rc::new(Name { path: vec![(sym, None)] });
        let args = args.into_iter().map(Arg::Slot).collect();
        self.call_methods(&methods, object.clone(), &name, args, Span::default())
    }

    /// The type of a class, by name.
    pub fn class_ty(&self, name: &str) -> Option<Ty> {
        Some(class_type(self.class_named(name)?, Vec::new()))
    }
}

/// Whether a type mentions a template parameter.
fn names(ty: &Type, name: Sym) -> bool {
    match &ty.base {
        super::tree::Base::Name(path) => path.path.iter().any(|(sym, args)| {
            *sym == name || args.as_ref().is_some_and(|args| args.iter().any(|arg| names(arg, name)))
        }),
        super::tree::Base::Value(expr) => matches!(&expr.kind, ExprKind::Name(path) if path.last() == name),
        _ => false,
    }
}
