//! What types mean, the values that variables start with, and conversions.

use super::machine::{Machine, Run};
use super::tree::{Base, Class, Expr, ExprKind, Initial, Name, Type};
use super::value::{ClassOf, List, Object, Place, Slot, Ty, Value, place};
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use crate::syntax::sym::{FxMap, Sym};
use std::cell::RefCell;
use std::rc::Rc;

impl Machine<'_> {
    pub fn resolve(&mut self, ty: &Type) -> Run<Ty> {
        let mut found = match &ty.base {
            Base::Auto => Ty::Unknown,
            Base::Void => Ty::Void,
            Base::Int(int) => Ty::Int(*int),
            Base::Float(bits) => Ty::Float(*bits),
            Base::Function => Ty::Func,
            Base::Class(class) => class_type(class.clone(), Vec::new()),
            Base::Decltype(expr) => {
                let value = self.eval(expr)?;
                self.type_of(&value)
            }
            Base::Value(_) => Ty::Unknown,
            Base::Name(name) => self.resolve_name(name)?,
        };
        for _ in 0..ty.pointers {
            found = Ty::Ptr(Rc::new(found));
        }
        for dim in ty.dims.iter().rev() {
            let size = match dim {
                Some(dim) => self.eval(dim)?.number(),
                None => Some(0),
            };
            let Some(size) = size.and_then(|size| usize::try_from(size).ok()).filter(|size| *size <= 1 << 20) else {
                return self.lost("the size of an array");
            };
            found = match found {
                // Characters are text.
                Ty::Int(IntTy::I8) => Ty::Str,
                found => Ty::Array(Rc::new(found), size),
            };
        }
        Ok(found)
    }

    fn resolve_name(&mut self, name: &Rc<Name>) -> Run<Ty> {
        let last = name.last();
        let first = name.path.first().map_or(last, |(sym, _)| *sym);
        if name.path.len() > 1 && self.units.text(first) == "std" {
            return self.library_type(name);
        }
        if name.path.len() == 1 {
            let frame = self.frames.last();
            let template = frame.and_then(|frame| {
                frame.templates.iter().rev().find(|(known, _)| *known == last).map(|(_, value)| value.clone())
            });
            if let Some(Value::Type(ty)) = template {
                return Ok(ty.as_ref().clone());
            }
            if let Some(found) = self.variable(last)
                && let Value::Type(ty) = &*found.borrow()
            {
                return Ok(ty.as_ref().clone());
            }
            if let Some(class) = self.class()
                && let Some(ty) = self.nested_type(&class, last)
            {
                return self.with_arguments(&ty, name);
            }
        } else {
            let path: Vec<Sym> = name.path.iter().map(|(sym, _)| *sym).collect();
            let (_, before) = path.split_last().unwrap_or((&last, &[]));
            let around = self.units.class_around(before).or_else(|| {
                // `B::C` inside of a class that has B.
                let of = self.class()?;
                let ty = self.nested_type(&of, *before.last()?)?;
                match ty.base {
                    Base::Class(class) => Some(class),
                    _ => None,
                }
            });
            if let Some(class) = around
                && let Some(ty) = self.nested_type(&class, last)
            {
                return self.with_arguments(&ty, name);
            }
            if let Some(class) = self.units.class_around(&path) {
                return self.with_arguments(&plain(Base::Class(class)), name);
            }
        }
        if let Some(class) = self.units.classes.get(&last).and_then(|all| all.first()).cloned() {
            return self.with_arguments(&plain(Base::Class(class)), name);
        }
        if let Some(alias) = self.units.aliases.get(&last).cloned() {
            return self.resolve(&alias);
        }
        if let Some(underlying) = self.units.enums.get(&last).cloned() {
            return match underlying {
                Some(ty) => self.resolve(&ty),
                None => Ok(Ty::Int(IntTy::I32)),
            };
        }
        Ok(Ty::Unknown)
    }

    fn with_arguments(&mut self, ty: &Type, name: &Rc<Name>) -> Run<Ty> {
        match &ty.base {
            Base::Class(class) if ty.pointers == 0 => {
                let mut args = Vec::new();
                for arg in name.arguments().unwrap_or_default() {
                    args.push(self.template_value(arg)?);
                }
                for param in class.templates.iter().skip(args.len()) {
                    let Some(default) = &param.default else { break };
                    args.push(self.template_value(default)?);
                }
                Ok(class_type(class.clone(), args))
            }
            _ => self.resolve(ty),
        }
    }

    pub(super) fn template_value(&mut self, arg: &Type) -> Run<Value> {
        match &arg.base {
            Base::Value(expr) => self.eval(expr),
            _ => Ok(Value::Type(Rc::new(self.resolve(arg)?))),
        }
    }

    /// A type that a class, a class around it, or a base declares.
    pub(super) fn nested_type(&mut self, class: &Rc<Class>, name: Sym) -> Option<Type> {
        let mut open = vec![class.clone()];
        while let Some(class) = open.pop() {
            if let Some((_, ty)) = class.types.borrow().iter().find(|(known, _)| *known == name) {
                return Some(ty.clone());
            }
            // Declared in the class, defined outside of it.
            let mut path = class.within.clone();
            path.push(class.name);
            let inner = self.units.classes.get(&name).and_then(|all| all.iter().find(|inner| inner.within == path));
            if let Some(inner) = inner {
                return Some(plain(Base::Class(inner.clone())));
            }
            if let Some(around) = self.units.class_around(&class.within) {
                open.push(around);
            }
            open.extend(self.bases(&class));
        }
        None
    }

    pub(super) fn library_type(&mut self, name: &Rc<Name>) -> Run<Ty> {
        let text = self.name(name.last());
        let mut args = Vec::new();
        for arg in name.arguments().unwrap_or_default() {
            args.push(self.template_value(arg)?);
        }
        let ty = |at: usize| match args.get(at) {
            Some(Value::Type(ty)) => ty.clone(),
            _ => Rc::new(Ty::Unknown),
        };
        Ok(match text.as_str() {
            "string" | "string_view" => Ty::Str,
            "vector" | "deque" | "list" | "initializer_list" => Ty::List(ty(0)),
            "array" => match args.get(1).and_then(Value::number) {
                Some(size) => Ty::Array(ty(0), usize::try_from(size).unwrap_or_default()),
                None => Ty::List(ty(0)),
            },
            "map" => Ty::Map(ty(0), ty(1), true),
            "unordered_map" => Ty::Map(ty(0), ty(1), false),
            "set" => Ty::Set(ty(0), true),
            "unordered_set" => Ty::Set(ty(0), false),
            "pair" | "tuple" => Ty::Tuple(Rc::new((0..args.len()).map(|at| ty(at).as_ref().clone()).collect())),
            "unique_ptr" | "shared_ptr" | "weak_ptr" => Ty::Owner(ty(0)),
            "function" => Ty::Func,
            "atomic" | "reference_wrapper" => ty(0).as_ref().clone(),
            "conditional_t" => match args.first().and_then(Value::truth) {
                Some(truth) => ty(if truth { 1 } else { 2 }).as_ref().clone(),
                None => Ty::Unknown,
            },
            "bitset" => {
                let size = args.first().and_then(Value::number).and_then(|size| usize::try_from(size).ok());
                Ty::Set(Rc::new(Ty::Array(Rc::new(Ty::Int(IntTy::I32)), size.unwrap_or(0))), true)
            }
            _ => Ty::Unknown,
        })
    }

    pub(super) fn type_of(&self, value: &Value) -> Ty {
        match value {
            Value::Int(_, ty) => Ty::Int(*ty),
            Value::Float(_, bits) => Ty::Float(*bits),
            Value::Str(_) => Ty::Str,
            Value::Unset(ty) => ty.clone(),
            Value::Object(object) => Ty::Class(object.class.clone()),
            Value::List(list) => Ty::List(Rc::new(list.item.borrow().clone())),
            Value::Ptr(inner) => Ty::Ptr(Rc::new(self.type_of(&inner.borrow()))),
            Value::At(list, _) => Ty::Ptr(Rc::new(list.item.borrow().clone())),
            Value::Type(ty) => ty.as_ref().clone(),
            _ => Ty::Unknown,
        }
    }

    /// Every field of a class with those of its bases first, and the class that declares it.
    pub(super) fn all_fields(&mut self, class: &Rc<Class>) -> Vec<(Rc<Class>, usize)> {
        let mut list = Vec::new();
        for base in self.bases(class) {
            list.extend(self.all_fields(&base));
        }
        list.extend(
            class.fields.iter().enumerate().filter(|(_, field)| !field.is_static).map(|(at, _)| (class.clone(), at)),
        );
        list
    }

    /// The value of a variable without an initialiser. Numbers are unset unless `zero`.
    pub fn fresh(&mut self, ty: &Ty, zero: bool) -> Run<Value> {
        Ok(match ty {
            Ty::Class(of) => return self.fresh_object(of, zero),
            Ty::Array(item, count) => {
                let mut items = Vec::with_capacity(*count);
                let simple = !matches!(**item, Ty::Class(_) | Ty::Array(..) | Ty::List(_) | Ty::Map(..) | Ty::Set(..));
                if simple {
                    let one = self.fresh(item, zero)?;
                    items.extend(std::iter::repeat_n(one, *count));
                } else {
                    for _ in 0..*count {
                        items.push(self.fresh(item, zero)?);
                    }
                }
                Value::list(items, item.as_ref().clone())
            }
            Ty::List(item) => Value::list(Vec::new(), item.as_ref().clone()),
            Ty::Map(_, value, sorted) => Value::map(value.as_ref().clone(), *sorted, false),
            Ty::Set(value, sorted) => Value::map(value.as_ref().clone(), *sorted, true),
            Ty::Str => Value::Str("".into()),
            Ty::Owner(_) | Ty::Func => Value::Null,
            Ty::Tuple(list) => {
                let mut items = Vec::with_capacity(list.len());
                for ty in list.iter() {
                    items.push(place(self.fresh(ty, true)?));
                }
                Value::Tuple(Rc::new(items))
            }
            Ty::Int(int) if zero => Value::Int(0, *int),
            Ty::Float(bits) if zero => Value::Float(0.0, *bits),
            Ty::Ptr(_) if zero => Value::Null,
            Ty::Unknown | Ty::Void if zero => Value::Zero,
            other => Value::Unset(other.clone()),
        })
    }

    pub fn zeroed(&mut self, ty: &Ty) -> Run<Value> {
        self.fresh(ty, true)
    }

    /// An object with the initial values of its fields, before a constructor runs.
    fn fresh_object(&mut self, of: &Rc<ClassOf>, zero: bool) -> Run<Value> {
        let Some(class) = of.class.clone() else { return Ok(Object::loose()) };
        let fields = RefCell::new(FxMap::default());
        let object = Rc::new(Object { class: of.clone(), fields });
        let all = self.all_fields(&class);
        let frame = super::machine::Frame {
            vars: Vec::new(),
            this: Some(place(Value::Object(object.clone()))),
            class: Some(class.clone()),
            templates: bound(&class, &of.args),
            unit: class.unit,
            reference: false,
            at: class.at,
        };
        self.frames.push(frame);
        let mut result = Ok(());
        for (owner, at) in all {
            let Some(field) = owner.fields.get(at) else { continue };
            if let Some(frame) = self.frames.last_mut() {
                frame.class = Some(owner.clone());
                frame.unit = owner.unit;
            }
            let value = match &field.init {
                Some(init) => self.initialised(&field.ty, init),
                None => match self.resolve(&field.ty) {
                    Ok(Ty::Class(of)) if field.ty.pointers == 0 && !field.ty.reference => {
                        if of.class.as_ref().is_some_and(|class| self.needs_arguments(class)) {
                            Ok(Value::Unset(Ty::Class(of)))
                        } else if self.has_default_constructor(&of) {
                            self.construct(&Ty::Class(of), Vec::new(), owner.at)
                        } else {
                            self.fresh(&Ty::Class(of), zero)
                        }
                    }
                    Ok(ty) => self.fresh(&ty, zero),
                    Err(halt) => Err(halt),
                },
            };
            match value {
                Ok(value) => drop(object.fields.borrow_mut().insert(field.name, place(value))),
                Err(halt) => {
                    result = Err(halt);
                    break;
                }
            }
        }
        self.frames.pop();
        result.map(|()| Value::Object(object))
    }

    /// The value of a declaration.
    pub(super) fn initial(&mut self, ty: &Type, init: &Initial, zero: bool) -> Run<Slot> {
        match init {
            Initial::Value(expr) if ty.reference => self.slot(expr),
            Initial::Value(expr) => Ok(Slot::Value(self.initialised(ty, expr)?)),
            Initial::Arguments(list) => {
                let resolved = self.resolve(ty)?;
                let args = self.arguments(list)?;
                Ok(Slot::Value(self.construct(&resolved, args, list.first().map_or(Span::default(), |arg| arg.at))?))
            }
            Initial::None => {
                let resolved = self.resolve(ty)?;
                let value = match &resolved {
                    Ty::Class(of) if self.has_default_constructor(of) => {
                        self.construct(&resolved, Vec::new(), self.here())?
                    }
                    _ => self.fresh(&resolved, zero)?,
                };
                Ok(Slot::Value(value))
            }
        }
    }

    /// `T x = expr`.
    pub(super) fn initialised(&mut self, ty: &Type, expr: &Expr) -> Run<Value> {
        let resolved = self.resolve(ty)?;
        match &expr.kind {
            ExprKind::Init(_) => self.braced(&resolved, expr),
            _ => {
                let slot = self.slot(expr)?;
                // An array that initialises a pointer is the address of its first item.
                let value = match (&slot, matches!(resolved, Ty::Ptr(_)) || (ty.pointers > 0)) {
                    (_, true) => decayed(slot.read()),
                    _ => slot.take(),
                };
                if let Value::Unset(_) = value
                    && !matches!(resolved, Ty::Class(_))
                {
                    return self.stuck(expr.at, "a value that nothing has set");
                }
                self.convert(&resolved, value, expr.at)
            }
        }
    }

    /// A value of a type from `{...}`.
    pub(super) fn braced(&mut self, ty: &Ty, expr: &Expr) -> Run<Value> {
        let ExprKind::Init(items) = &expr.kind else {
            let value = self.slot(expr)?.take();
            return self.convert(ty, value, expr.at);
        };
        match ty {
            Ty::Class(of) => self.braced_object(of, items, expr.at),
            Ty::Array(item, count) => {
                // `{{a, b}}`: the inner braces are the array itself.
                let items = match items.as_slice() {
                    [(None, Expr { kind: ExprKind::Init(inner), .. })]
                        if !matches!(**item, Ty::Class(_) | Ty::Array(..) | Ty::Tuple(_)) =>
                    {
                        inner
                    }
                    _ => items,
                };
                let mut list = Vec::with_capacity((*count).max(items.len()));
                for (designator, value) in items {
                    if let (Some(_), ExprKind::Init(pair)) = (designator, &value.kind)
                        && let [(_, index), (_, value)] = pair.as_slice()
                    {
                        let index = self.eval(index)?.number().and_then(|index| usize::try_from(index).ok());
                        let Some(index) = index.filter(|index| *index < 1 << 16) else {
                            return self.stuck(value.at, "an index");
                        };
                        while list.len() <= index {
                            list.push(self.fresh(item, true)?);
                        }
                        let value = self.braced(item, value)?;
                        if let Some(slot) = list.get_mut(index) {
                            *slot = value;
                        }
                        continue;
                    }
                    list.push(self.braced(item, value)?);
                }
                while list.len() < *count {
                    list.push(self.fresh(item, true)?);
                }
                Ok(Value::list(list, item.as_ref().clone()))
            }
            Ty::List(item) => {
                let mut list = Vec::with_capacity(items.len());
                for (_, value) in items {
                    list.push(self.braced(item, value)?);
                }
                Ok(Value::list(list, item.as_ref().clone()))
            }
            Ty::Map(key, value, _) => {
                let made = self.fresh(ty, true)?;
                let Value::Map(map) = &made else { return Ok(made) };
                for (_, item) in items {
                    let ExprKind::Init(pair) = &item.kind else { return self.stuck(item.at, "an entry of a map") };
                    let [(_, first), (_, second)] = pair.as_slice() else { return self.stuck(item.at, "an entry") };
                    let first = self.braced(key, first)?;
                    let second = self.braced(value, second)?;
                    self.insert(map, first, second)?;
                }
                Ok(made)
            }
            Ty::Set(key, _) => {
                let made = self.fresh(ty, true)?;
                let Value::Map(map) = &made else { return Ok(made) };
                for (_, item) in items {
                    let key = self.braced(key, item)?;
                    self.insert(map, key, Value::Void)?;
                }
                Ok(made)
            }
            Ty::Tuple(types) => {
                let mut list = Vec::new();
                for (at, ty) in types.iter().enumerate() {
                    list.push(place(match items.get(at) {
                        Some((_, value)) => self.braced(ty, value)?,
                        None => self.fresh(ty, true)?,
                    }));
                }
                Ok(Value::Tuple(Rc::new(list)))
            }
            Ty::Unknown => {
                let mut list = Vec::with_capacity(items.len());
                for (_, value) in items {
                    list.push(self.slot(value)?.take());
                }
                Ok(Value::list(list, Ty::Unknown))
            }
            _ => match items.first() {
                Some((_, value)) => self.braced(ty, value),
                None => self.fresh(ty, true),
            },
        }
    }

    fn braced_object(&mut self, of: &Rc<ClassOf>, items: &[(Option<Sym>, Expr)], at: Span) -> Run<Value> {
        let ty = Ty::Class(of.clone());
        let Some(class) = of.class.clone() else { return self.stuck(at, "an object of an unknown class") };
        if items.is_empty() {
            return if self.has_default_constructor(of) {
                self.construct(&ty, Vec::new(), at)
            } else {
                self.fresh(&ty, true)
            };
        }
        if self.has_constructor(&class) && items.iter().all(|(field, _)| field.is_none()) {
            let list: Vec<Expr> = items.iter().map(|(_, value)| value.clone()).collect();
            let args = self.arguments(&list)?;
            return self.construct(&ty, args, at);
        }
        // `T{object}` copies it.
        if let [(None, only)] = items
            && !matches!(only.kind, ExprKind::Init(_))
        {
            let slot = self.slot(only)?;
            let same = matches!(&slot.read(), Value::Object(object) if object.class.class.as_ref().is_some_and(|c| c.name == class.name));
            if same {
                return Ok(slot.take());
            }
            return self.aggregate(&ty, &class, items, Some(slot));
        }
        self.aggregate(&ty, &class, items, None)
    }

    fn aggregate(
        &mut self,
        ty: &Ty,
        class: &Rc<Class>,
        items: &[(Option<Sym>, Expr)],
        first: Option<Slot>,
    ) -> Run<Value> {
        let made = self.fresh(ty, true)?;
        let Value::Object(object) = &made else { return Ok(made) };
        let all = self.all_fields(class);
        let mut next = 0;
        let mut first = first;
        for (name, value) in items {
            if let Some(name) = name {
                next = all
                    .iter()
                    .position(|(owner, at)| owner.fields.get(*at).is_some_and(|f| f.name == *name))
                    .unwrap_or(usize::MAX);
            }
            let Some((owner, index)) = all.get(next) else { return self.stuck(value.at, "a field of a list") };
            let Some(field) = owner.fields.get(*index) else { return self.stuck(value.at, "a field of a list") };
            if field.ty.reference {
                let slot = self.slot(value)?;
                object.fields.borrow_mut().insert(field.name, slot.into_place());
            } else {
                let resolved = self.in_class(owner, &made, |machine| machine.resolve(&field.ty))?;
                let value = match first.take() {
                    Some(slot) => {
                        let value = slot.take();
                        self.convert(&resolved, value, value_at(items))?
                    }
                    None => match &value.kind {
                        ExprKind::Init(_) => self.braced(&resolved, value)?,
                        _ => {
                            let slot = self.slot(value)?;
                            let given = if matches!(resolved, Ty::Ptr(_)) { decayed(slot.read()) } else { slot.take() };
                            self.convert(&resolved, given, value.at)?
                        }
                    },
                };
                object.fields.borrow_mut().insert(field.name, place(value));
            }
            next += 1;
        }
        Ok(made)
    }

    /// Evaluates in the scope of a class with an object of it.
    pub(super) fn in_class<T>(
        &mut self,
        class: &Rc<Class>,
        object: &Value,
        run: impl FnOnce(&mut Self) -> Run<T>,
    ) -> Run<T> {
        let args = match object {
            Value::Object(object) => object.class.args.clone(),
            _ => Vec::new(),
        };
        let frame = super::machine::Frame {
            vars: Vec::new(),
            this: None,
            class: Some(class.clone()),
            templates: bound(class, &args),
            unit: class.unit,
            reference: false,
            at: class.at,
        };
        self.frames.push(frame);
        let result = run(self);
        self.frames.pop();
        result
    }

    /// A value stored in a variable of a type.
    pub fn convert(&mut self, ty: &Ty, value: Value, at: Span) -> Run<Value> {
        Ok(match (ty, value) {
            (Ty::Int(int), Value::Int(number, from)) => {
                let number = if *int == IntTy::Bool { i64::from(number != 0) } else { int.wrap(number) };
                let _ = from;
                Value::Int(number, *int)
            }
            (Ty::Int(int), Value::Float(number, _)) if *int == IntTy::Bool => {
                Value::Int(i64::from(number != 0.0), *int)
            }
            (Ty::Int(int), Value::Float(number, _)) => {
                if !number.is_finite() || number.abs() > 9.2e18 {
                    return self.stuck(at, "a number that does not fit");
                }
                Value::Int(int.wrap(number as i64), *int)
            }
            (Ty::Int(int), Value::Zero) => Value::Int(0, *int),
            (
                Ty::Int(IntTy::Bool),
                value @ (Value::Ptr(_) | Value::Null | Value::At(..) | Value::Fn(_) | Value::Lambda(_) | Value::Str(_)),
            ) => Value::bool(value.truth().unwrap_or(false)),
            (Ty::Int(int), value @ (Value::Ptr(_) | Value::Null | Value::At(..))) => Value::Int(address(&value), *int),
            (Ty::Float(bits), Value::Int(number, from)) => rounded(from.as_float(number), *bits),
            (Ty::Float(bits), Value::Float(number, _)) => rounded(number, *bits),
            (Ty::Float(bits), Value::Zero) => Value::Float(0.0, *bits),
            (Ty::Ptr(item), Value::At(list, index)) => {
                // Memory gets its type from the pointer that holds it.
                if list.raw.borrow().is_some() && matches!(*list.item.borrow(), Ty::Unknown) {
                    self.type_memory(&list, item)?;
                }
                Value::At(list, index)
            }
            (Ty::Ptr(_) | Ty::Owner(_), Value::Int(0, _) | Value::Zero) => Value::Null,
            (Ty::Ptr(item), Value::List(list)) if !matches!(**item, Ty::List(_)) => Value::At(list, 0),
            (Ty::Str, Value::Object(object)) => self.converted(&object, "string", at)?,
            (Ty::Str, Value::Null) => Value::Null,
            (Ty::Str, Value::Zero | Value::Int(0, _)) => Value::Str("".into()),
            (Ty::Class(of), Value::Object(object)) => {
                let same = of
                    .class
                    .as_ref()
                    .zip(object.class.class.as_ref())
                    .is_none_or(|(a, b)| Rc::ptr_eq(a, b) || a.name == b.name);
                if same { Value::Object(object) } else { self.class_from(of, Value::Object(object), at)? }
            }
            (Ty::Class(_), Value::Zero) => self.fresh(ty, true)?,
            (
                Ty::Class(of),
                value @ (Value::Int(..) | Value::Float(..) | Value::Str(_) | Value::Ptr(_) | Value::List(_)),
            ) => self.class_from(of, value, at)?,
            (Ty::Array(item, count), Value::Str(text)) => {
                let _ = (item, count);
                Value::Str(text)
            }
            (Ty::List(item), Value::List(list)) => {
                if matches!(*list.item.borrow(), Ty::Unknown) {
                    *list.item.borrow_mut() = item.as_ref().clone();
                }
                Value::List(list)
            }
            (_, value) => value,
        })
    }

    fn class_from(&mut self, of: &Rc<ClassOf>, value: Value, at: Span) -> Run<Value> {
        // A class that derives from the wanted one is kept whole.
        if let (Value::Object(object), Some(wanted)) = (&value, &of.class)
            && let Some(class) = object.class.class.clone()
            && self.inherits(&class, wanted.name)
        {
            return Ok(value);
        }
        self.construct(&Ty::Class(of.clone()), vec![super::value::Arg::Slot(Slot::Value(value))], at)
    }

    /// Gives memory its type.
    fn type_memory(&mut self, list: &Rc<List>, item: &Ty) -> Run<()> {
        if matches!(item, Ty::Void | Ty::Unknown | Ty::Int(IntTy::I8 | IntTy::U8)) {
            return Ok(());
        }
        let start = match list.raw.borrow().as_ref() {
            Some(Value::Zero) => None,
            Some(other) => Some(other.clone()),
            None => None,
        };
        let start = match start {
            Some(start) => start,
            None => self.zeroed(item)?,
        };
        *list.item.borrow_mut() = item.clone();
        for slot in list.items.borrow().iter() {
            if matches!(*slot.borrow(), Value::Zero) {
                *slot.borrow_mut() = start.copied();
            }
        }
        *list.raw.borrow_mut() = Some(start);
        Ok(())
    }

    pub(super) fn converted_to_bool(&mut self, value: &Value) -> Run<Option<bool>> {
        let _ = value;
        Ok(None)
    }

    /// Stores a value where another one is, which keeps its type.
    pub fn store(&mut self, to: &Place, value: Value, at: Span) -> Run<()> {
        let held = to.borrow().clone();
        let value = match &held {
            Value::Int(_, ty) => self.convert(&Ty::Int(*ty), value, at)?,
            Value::Float(_, bits) => self.convert(&Ty::Float(*bits), value, at)?,
            Value::Unset(ty) => self.convert(&ty.clone(), value, at)?,
            Value::Str(_) => self.convert(&Ty::Str, value, at)?,
            Value::Object(object) => {
                let ty = Ty::Class(object.class.clone());
                let value = self.convert(&ty, value, at)?;
                if let Value::Object(new) = &value
                    && !Rc::ptr_eq(new, object)
                    && new.class.class.as_ref().zip(object.class.class.as_ref()).is_some_and(|(a, b)| Rc::ptr_eq(a, b))
                {
                    // Pointers to its fields stay valid.
                    let fields: Vec<(Sym, Place)> = new.fields.borrow().iter().map(|(k, v)| (*k, v.clone())).collect();
                    for (name, from) in fields {
                        let known = object.fields.borrow().get(&name).cloned();
                        let given = from.borrow().clone();
                        match known {
                            Some(known) if !Rc::ptr_eq(&known, &from) => *known.borrow_mut() = given,
                            Some(_) => {}
                            None => drop(object.fields.borrow_mut().insert(name, from)),
                        }
                    }
                    return Ok(());
                }
                value
            }
            Value::List(list) if list.raw.borrow().is_none() => match value {
                Value::List(new) => {
                    if !Rc::ptr_eq(&new, list) {
                        let items = new.items.borrow().clone();
                        *list.items.borrow_mut() = items;
                    }
                    return Ok(());
                }
                other => other,
            },
            _ => match value {
                Value::List(list) if matches!(held, Value::Null | Value::Ptr(_) | Value::At(..)) => Value::At(list, 0),
                other => other,
            },
        };
        *to.borrow_mut() = value;
        Ok(())
    }
}

fn value_at(items: &[(Option<Sym>, Expr)]) -> Span {
    items.first().map_or(Span::default(), |(_, value)| value.at)
}

pub(super) fn plain(base: Base) -> Type {
    Type { base, pointers: 0, reference: false, constant: false, dims: Vec::new() }
}

pub(super) fn class_type(class: Rc<Class>, args: Vec<Value>) -> Ty {
    Ty::Class(Rc::new(ClassOf { class: Some(class), args }))
}

/// The template parameters of a class with their arguments.
pub(super) fn bound(class: &Rc<Class>, args: &[Value]) -> Vec<(Sym, Value)> {
    class.templates.iter().zip(args).filter_map(|(param, value)| Some((param.name?, value.clone()))).collect()
}

/// An array where a pointer is wanted.
pub(super) fn decayed(value: Value) -> Value {
    match value {
        Value::List(list) => Value::At(list, 0),
        other => other,
    }
}

fn rounded(number: f64, bits: u8) -> Value {
    if bits == 32 { Value::Float(f64::from(number as f32), 32) } else { Value::Float(number, bits) }
}

/// A number that identifies what a pointer points to.
pub fn address(value: &Value) -> i64 {
    match value {
        Value::Ptr(inner) => match &*inner.borrow() {
            Value::Object(object) => Rc::as_ptr(object) as *const u8 as i64,
            _ => Rc::as_ptr(inner) as *const u8 as i64,
        },
        Value::At(list, index) => match list.at(*index) {
            Some(inner) => address(&Value::Ptr(inner)),
            None => (Rc::as_ptr(list) as *const u8 as i64).wrapping_add(index * 8),
        },
        Value::Int(value, _) | Value::Host(_, value) => *value,
        Value::Str(text) => text.as_ptr() as i64,
        Value::Fn(function) => Rc::as_ptr(function) as *const u8 as i64,
        Value::Lambda(closure) => Rc::as_ptr(closure) as *const u8 as i64,
        Value::List(list) => Rc::as_ptr(list) as *const u8 as i64,
        Value::MapAt(map, index) => (Rc::as_ptr(map) as *const u8 as i64).wrapping_add(*index as i64 + 1),
        _ => 0,
    }
}
