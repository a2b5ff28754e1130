//! Types at run time: what a name means here, how large it is, and what an object of it starts as.

use super::machine::{Machine, Run};
use super::value::{Agg, Instance, Place, Shape, Ty, Value};
use crate::cpp::ast::{Base, Designator, Expr, ExprKind, Initial, Name, Root, Struct, Type};
use crate::cpp::files::Span;
use crate::cpp::parse::Global;
use crate::cpp::sym::{self, Sym};
use std::rc::Rc;
use std::sync::Arc;

const MAX_ITEMS: usize = 1 << 16;

impl Machine<'_> {
    /// A type that is made of itself runs into the same bound as an endless expression.
    pub(super) fn resolve(&mut self, ty: &Type) -> Run<Ty> {
        self.step(ty.span)?;
        self.nested += 4;
        let found = self.resolve_type(ty);
        self.nested = self.nested.saturating_sub(4);
        found
    }

    fn resolve_type(&mut self, ty: &Type) -> Run<Ty> {
        let mut base = match &ty.base {
            Base::Void => Ty::Void,
            Base::Bool => Ty::Bool,
            Base::Int { bits, signed } => Ty::Int(*bits, *signed),
            Base::Float(bits) => Ty::Float(*bits),
            Base::Auto => Ty::Unknown,
            Base::Function => Ty::Func,
            Base::Inline(of) => Ty::Struct(Rc::new(Instance { of: of.clone(), args: Vec::new() })),
            Base::Local(slot) => match self.stack.get(self.slot(*slot) as usize) {
                Some(Value::Type(ty)) => ty.as_ref().clone(),
                _ => Ty::Unknown,
            },
            Base::Decltype(expr) => self.eval(expr)?.ty(),
            Base::Name(name) => self.resolve_name(name)?,
        };
        for _ in 0..ty.pointers {
            base = Ty::Ptr(Rc::new(base));
        }
        for dim in ty.dims.iter().rev() {
            let size = match dim {
                Some(expr) => {
                    let value = self.eval(expr)?;
                    self.settle(&value).and_then(|size| usize::try_from(size).ok()).filter(|&size| size <= MAX_ITEMS)
                }
                None => Some(0),
            };
            base = match size {
                Some(size) => Ty::Array(Rc::new(base), size),
                None => Ty::Unknown,
            };
        }
        Ok(base)
    }

    fn resolve_name(&mut self, name: &Name) -> Run<Ty> {
        let Some(last) = name.path.last() else { return Ok(Ty::Unknown) };
        if !matches!(name.root, Root::Global) || (name.path.len() > 1 && !self.is_namespace(name)) {
            // T::type, traits<x>::value_type.
            let Some(instance) = self.scope_of(name)? else { return Ok(Ty::Unknown) };
            let program = self.program;
            let found = program.members(&instance.of).types.iter().find(|(known, _)| *known == last.sym);
            return match found {
                Some((_, ty)) => self.within(&instance, |machine| machine.resolve(ty)),
                None => Ok(Ty::Unknown),
            };
        }
        let args = match &last.args {
            Some(args) => self.template_values(args)?,
            None => Vec::new(),
        };
        self.named(last.sym, args)
    }

    fn is_namespace(&self, name: &Name) -> bool {
        name.path.iter().rev().skip(1).all(|segment| self.program.structs(segment.sym).is_empty())
    }

    fn named(&mut self, name: Sym, args: Vec<Value>) -> Run<Ty> {
        let program = self.program;
        if let ("array", [Value::Type(item), Value::Int(count, 0)]) = (program.text(name), args.as_slice()) {
            let count = usize::try_from(*count).ok().filter(|&count| count <= MAX_ITEMS);
            return Ok(count.map_or(Ty::Unknown, |count| Ty::Array(item.clone(), count)));
        }
        if let Some(alias) = program.alias(name)
            && program.structs(name).is_empty()
        {
            return self.resolve(alias);
        }
        let candidates = program.structs(name);
        if candidates.is_empty() {
            return Ok(match program.enums.iter().any(|found| found.name == Some(name)) {
                true => Ty::Enum,
                false => Ty::Named(name),
            });
        }
        let mut general = None;
        for of in candidates {
            match &of.special {
                None => general = Some(of),
                Some(special) => {
                    let wanted = self.template_values(special)?;
                    let fits =
                        wanted.len() == args.len() && wanted.iter().zip(&args).all(|(a, b)| a.same(b) == Some(true));
                    if fits {
                        return Ok(Ty::Struct(Rc::new(Instance { of: of.clone(), args })));
                    }
                }
            }
        }
        Ok(match general {
            Some(of) => Ty::Struct(Rc::new(Instance { of: of.clone(), args })),
            None => Ty::Named(name),
        })
    }

    /// The struct that `a::b::last` looks into.
    pub(super) fn scope_of(&mut self, name: &Name) -> Run<Option<Rc<Instance>>> {
        let ty = match &name.root {
            Root::Local(slot) => match self.stack.get(self.slot(*slot) as usize) {
                Some(Value::Type(ty)) => ty.as_ref().clone(),
                Some(value) => value.ty(),
                None => Ty::Unknown,
            },
            Root::Decltype(expr) => self.eval(expr)?.ty(),
            Root::Global => {
                let Some(segment) = name.path.len().checked_sub(2).and_then(|at| name.path.get(at)) else {
                    return Ok(None);
                };
                let args = match &segment.args {
                    Some(args) => self.template_values(args)?,
                    None => Vec::new(),
                };
                self.named(segment.sym, args)?
            }
        };
        Ok(match ty {
            Ty::Struct(instance) => Some(instance),
            _ => None,
        })
    }

    /// Runs something with a struct's template parameters in scope.
    pub(super) fn within<T>(&mut self, instance: &Rc<Instance>, run: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        let base = self.stack.len();
        self.stack.extend(instance.args.iter().cloned());
        let missing = instance.of.templates.len().saturating_sub(instance.args.len());
        self.stack.extend(std::iter::repeat_n(Value::Uninit, missing + 8));
        let name = instance.of.name.unwrap_or(sym::STRUCT);
        let frame = super::machine::Frame { function: None, name, file: instance.of.span.file, base, this: None };
        self.enter(frame, instance.of.span)?;
        let result = run(self);
        self.frames.pop();
        self.stack.truncate(base);
        result
    }

    /// A constant of a struct, its own or a base's.
    pub(super) fn static_of(&mut self, instance: &Rc<Instance>, name: Sym) -> Run<Option<Value>> {
        self.step(instance.of.span)?;
        self.nested += 8;
        let value = self.find_static(instance, name);
        self.nested = self.nested.saturating_sub(8);
        value
    }

    fn find_static(&mut self, instance: &Rc<Instance>, name: Sym) -> Run<Option<Value>> {
        let program = self.program;
        let members = program.members(&instance.of);
        if let Some(field) = members.statics.iter().find(|field| field.name == Some(name)) {
            let Some(init) = &field.init else { return Ok(None) };
            return self.within(instance, |machine| {
                let value = machine.eval(init)?;
                machine.convert(&field.ty, value).map(Some)
            });
        }
        let mut next = 0;
        for item in &members.enumerators {
            if let Some(value) = &item.value {
                let value = self.within(instance, |machine| machine.eval(value))?;
                next = self.settle(&value).unwrap_or(next);
            }
            if item.name == name {
                return Ok(Some(Value::int(next)));
            }
            next += 1;
        }
        for base in &instance.of.bases {
            let ty = self.within(instance, |machine| machine.resolve(base))?;
            if let Ty::Struct(base) = ty
                && let Some(value) = self.static_of(&base, name)?
            {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    pub(super) fn size_of(&mut self, ty: &Ty) -> Option<usize> {
        self.layout(ty, 0).map(|(size, _)| size)
    }

    fn layout(&mut self, ty: &Ty, depth: usize) -> Option<(usize, usize)> {
        if depth > 16 {
            return None;
        }
        let plain = |size: usize| Some((size, size));
        match ty {
            Ty::Bool => plain(1),
            Ty::Int(bits, _) | Ty::Float(bits) => plain(usize::from(*bits) / 8),
            Ty::Enum => plain(4),
            Ty::Ptr(_) | Ty::Func => plain(8),
            Ty::Array(item, count) => {
                let (size, align) = self.layout(item, depth + 1)?;
                Some((size.checked_mul(*count)?, align))
            }
            Ty::Struct(instance) if instance.args.is_empty() => {
                let key = Arc::as_ptr(&instance.of) as usize;
                if let Some(&known) = self.layouts.get(&key) {
                    return known;
                }
                let layout = self.struct_layout(instance, depth);
                self.layouts.insert(key, layout);
                layout
            }
            Ty::Struct(instance) => self.struct_layout(instance, depth),
            Ty::Void | Ty::Named(_) | Ty::Unknown => None,
        }
    }

    fn struct_layout(&mut self, instance: &Rc<Instance>, depth: usize) -> Option<(usize, usize)> {
        let program = self.program;
        let (mut size, mut align) = (0usize, 1usize);
        for field in &program.members(&instance.of).fields {
            let ty = self.within(instance, |machine| machine.resolve(&field.ty)).ok()?;
            let (field_size, field_align) = self.layout(&ty, depth + 1)?;
            align = align.max(field_align);
            if instance.of.union {
                size = size.max(field_size);
            } else {
                size = size.checked_next_multiple_of(field_align)?.checked_add(field_size)?;
            }
        }
        // half2 and bfloat162 are words of four bytes to the compilers.
        let two = instance.of.name.is_some_and(|name| matches!(name, sym::HALF2 | sym::BF162));
        let align = if two { 4 } else { align };
        Some((size.checked_next_multiple_of(align)?, align))
    }

    pub(super) fn size_of_expr(&mut self, inner: &Expr, at: Span) -> Run<Value> {
        let value = match self.place(inner)? {
            Some(place) => self.peek(place).cloned().unwrap_or(Value::Opaque(at)),
            None => self.eval(inner)?,
        };
        let size = match &value {
            Value::Ptr(_) | Value::Pointer(_) | Value::Fn(_) => Some(8),
            Value::Agg(agg) if matches!(agg.shape, Shape::Array) => None,
            value => {
                let ty = value.ty();
                self.size_of(&ty)
            }
        };
        Ok(size.map_or(Value::Opaque(at), |size| Value::int(size as i64)))
    }

    /// What a variable of a type holds before anything is stored: zero where `zero`, else nothing known.
    pub(super) fn default_value(&mut self, ty: &Ty, zero: bool, at: Span) -> Run<Value> {
        self.step(at)?;
        self.nested += 4;
        let value = self.start_value(ty, zero, at);
        self.nested = self.nested.saturating_sub(4);
        value
    }

    fn start_value(&mut self, ty: &Ty, zero: bool, at: Span) -> Run<Value> {
        Ok(match ty {
            Ty::Struct(instance) => {
                if self.is_foreign(&instance.of) {
                    return Ok(Value::Opaque(at));
                }
                let program = self.program;
                let fields = &program.members(&instance.of).fields;
                let mut items = Vec::with_capacity(fields.len());
                for field in fields {
                    let value = match &field.init {
                        Some(init) => self.within(instance, |machine| match &init.kind {
                            ExprKind::Init(_) => {
                                let ty = machine.resolve(&field.ty)?;
                                machine.initialise(&ty, init)
                            }
                            _ => machine.eval(init),
                        })?,
                        None => {
                            let ty = self.within(instance, |machine| machine.resolve(&field.ty))?;
                            self.default_value(&ty, zero, at)?
                        }
                    };
                    items.push(value);
                }
                Value::Agg(Rc::new(Agg { shape: Shape::Struct(instance.clone()), items }))
            }
            Ty::Array(item, count) => {
                let one = self.default_value(item, zero, at)?;
                Value::array(vec![one; (*count).min(MAX_ITEMS)])
            }
            Ty::Named(name) => match self.program.text(*name) {
                "vector" => Value::array(Vec::new()),
                "string" => Value::Str("".into()),
                _ => Value::Opaque(at),
            },
            _ if !zero => Value::Uninit,
            Ty::Int(..) | Ty::Bool | Ty::Enum => Value::int(0),
            Ty::Float(_) => Value::Float(0.0),
            Ty::Ptr(_) | Ty::Func => Value::Null,
            Ty::Void | Ty::Unknown => Value::Uninit,
        })
    }

    /// Memory pools and the backend's own objects: what they do has no part in a choice.
    pub(super) fn is_foreign(&self, of: &Arc<Struct>) -> bool {
        of.name.is_some_and(|name| {
            let name = self.program.text(name);
            (name.contains("pool") && !name.ends_with("_alloc")) || name.contains("scope") || name.contains("guard")
        })
    }

    /// `{...}` for an object of a type.
    pub(super) fn initialise(&mut self, ty: &Ty, init: &Expr) -> Run<Value> {
        let ExprKind::Init(items) = &init.kind else {
            return self.eval(init);
        };
        match ty {
            Ty::Struct(instance) => {
                let program = self.program;
                let members = program.members(&instance.of);
                let has_constructor = members.methods.iter().any(|method| Some(method.name) == instance.of.name);
                if has_constructor && !items.is_empty() && items.iter().all(|(designator, _)| designator.is_none()) {
                    let args: Vec<Expr> = items.iter().map(|(_, value)| value.clone()).collect();
                    return self.construct(ty, &args, init.span);
                }
                let Value::Agg(mut object) = self.default_value(ty, true, init.span)? else {
                    return Ok(Value::Opaque(init.span));
                };
                let mut next = 0;
                for (designator, value) in items {
                    if let Some(Designator::Field(name)) = designator {
                        next = self.field_index(instance, *name).unwrap_or(usize::MAX);
                    }
                    let Some(field) = members.fields.get(next) else { break };
                    let value = match &value.kind {
                        ExprKind::Init(_) => {
                            let ty = self.within(instance, |machine| machine.resolve(&field.ty))?;
                            self.initialise(&ty, value)?
                        }
                        _ => {
                            let value = self.eval(value)?;
                            self.convert(&field.ty, value)?
                        }
                    };
                    if let Some(slot) = Rc::make_mut(&mut object).items.get_mut(next) {
                        *slot = value;
                    }
                    next += 1;
                }
                Ok(Value::Agg(object))
            }
            Ty::Array(item, count) => self.initialise_array(item, *count, items, init.span),
            Ty::Unknown | Ty::Named(_) => {
                let mut values = Vec::with_capacity(items.len());
                for (_, value) in items {
                    values.push(self.eval(value)?);
                }
                Ok(Value::array(values))
            }
            _ => match items.first() {
                Some((_, value)) => self.eval(value),
                None => self.default_value(ty, true, init.span),
            },
        }
    }

    fn initialise_array(
        &mut self,
        item: &Rc<Ty>,
        count: usize,
        items: &[(Option<Designator>, Expr)],
        at: Span,
    ) -> Run<Value> {
        let zero = self.default_value(item, true, at)?;
        let mut values = vec![zero.clone(); count.min(MAX_ITEMS)];
        // std::array a = {{...}}: the inner braces are the array itself.
        let items = match items {
            [(None, Expr { kind: ExprKind::Init(inner), .. })] if !matches!(**item, Ty::Struct(_) | Ty::Array(..)) => {
                inner
            }
            _ => items,
        };
        let mut next = 0usize;
        for (designator, value) in items {
            if let Some(Designator::Index(index)) = designator {
                let index = self.eval(index)?;
                next = self.settle(&index).and_then(|index| usize::try_from(index).ok()).unwrap_or(usize::MAX);
            }
            let value = self.initialise(item, value)?;
            if next >= MAX_ITEMS {
                break;
            }
            if next >= values.len() {
                values.resize(next + 1, zero.clone());
            }
            if let Some(slot) = values.get_mut(next) {
                *slot = value;
            }
            next += 1;
        }
        Ok(Value::array(values))
    }

    pub(super) fn initial_global(&mut self, global: &Global) -> Run<Value> {
        let base = self.stack.len();
        let frame =
            super::machine::Frame { function: None, name: global.name, file: global.span.file, base, this: None };
        self.enter(frame, global.span)?;
        let value = self.global_value(global);
        self.frames.pop();
        value
    }

    fn global_value(&mut self, global: &Global) -> Run<Value> {
        let ty = self.resolve(&global.ty)?;
        match &global.init {
            Initial::Value(init) if matches!(init.kind, ExprKind::Init(_)) => self.initialise(&ty, init),
            Initial::Value(init) => {
                let value = self.eval(init)?;
                self.convert(&global.ty, value)
            }
            Initial::Arguments(args) => self.construct(&ty, args, global.span),
            // Mutable state that nobody set: a global starts as zero, but what it is now nobody knows.
            Initial::None => Ok(Value::Opaque(global.span)),
        }
    }

    pub(super) fn construct(&mut self, ty: &Ty, args: &[Expr], at: Span) -> Run<Value> {
        if let [only] = args
            && matches!(only.kind, ExprKind::Init(_))
        {
            return self.initialise(ty, only);
        }
        match ty {
            Ty::Struct(instance) if !self.is_foreign(&instance.of) => self.construct_struct(instance, args, at),
            Ty::Named(name) if self.program.text(*name) == "vector" => {
                let size = match args.first() {
                    Some(size) => self.eval(size)?,
                    None => Value::int(0),
                };
                let fill = match args.get(1) {
                    Some(fill) => self.eval(fill)?,
                    None => Value::int(0),
                };
                let size = self.settle(&size).and_then(|size| usize::try_from(size).ok()).filter(|&size| size <= 4096);
                Ok(size.filter(|_| args.len() < 3).map_or(Value::Opaque(at), |size| Value::array(vec![fill; size])))
            }
            Ty::Named(name) if self.program.text(*name) == "string" && args.len() < 2 => match args.first() {
                Some(text) => {
                    let value = self.eval(text)?;
                    Ok(self.text_of(&value).map_or(Value::Opaque(at), |text| Value::Str(text.into())))
                }
                None => Ok(Value::Str("".into())),
            },
            Ty::Struct(_) | Ty::Named(_) | Ty::Unknown => {
                for arg in args {
                    self.eval(arg)?;
                }
                Ok(Value::Opaque(at))
            }
            _ => match args.first() {
                Some(value) => {
                    let value = self.eval(value)?;
                    self.convert_to(ty, value)
                }
                None => self.default_value(ty, true, at),
            },
        }
    }

    fn construct_struct(&mut self, instance: &Rc<Instance>, args: &[Expr], at: Span) -> Run<Value> {
        let program = self.program;
        let methods = &program.members(&instance.of).methods;
        let fits = |required: usize, most: usize| (required..=most).contains(&args.len());
        let found = methods.iter().find(|method| {
            let required = method.params.iter().filter(|param| param.default.is_none()).count();
            Some(method.name) == instance.of.name && fits(required, method.params.len())
        });
        let object = self.default_value(&Ty::Struct(instance.clone()), false, at)?;
        if let Some(constructor) = found {
            if constructor.body.is_none() {
                return Ok(Value::Opaque(at));
            }
            let place = self.push_temporary(object);
            self.call_method(constructor, instance, place, args, at)?;
            let object = self.read(place, at);
            self.drop_temporary(place);
            return Ok(object);
        }
        // dim3 grid(a, b): an aggregate by its fields in order.
        let Value::Agg(mut object) = object else { return Ok(Value::Opaque(at)) };
        let constructors = methods.iter().any(|method| Some(method.name) == instance.of.name);
        if let [only] = args {
            let value = self.eval(only)?;
            if Self::instance(&value).is_some() {
                return Ok(value);
            }
            if constructors {
                return Ok(Value::Opaque(at));
            }
            if let Some(slot) = Rc::make_mut(&mut object).items.first_mut() {
                *slot = value;
            }
            return Ok(Value::Agg(object));
        }
        if constructors && !args.is_empty() {
            self.stranger(None, args, at)?;
            return Ok(Value::Opaque(at));
        }
        for (index, arg) in args.iter().enumerate() {
            let value = self.eval(arg)?;
            if let Some(slot) = Rc::make_mut(&mut object).items.get_mut(index) {
                *slot = value;
            }
        }
        Ok(Value::Agg(object))
    }

    /// An object that has no name yet, on top of the stack.
    pub(super) fn push_temporary(&mut self, value: Value) -> Place {
        self.stack.push(value);
        Place::new((self.stack.len() - 1) as u32)
    }

    pub(super) fn drop_temporary(&mut self, place: Place) {
        self.stack.truncate(place.root as usize);
    }
}

/// What the questioner needs of a machine before a run.
impl Machine<'_> {
    /// A zeroed object of a struct that the tree defines.
    pub fn object(&mut self, name: &str) -> Run<Value> {
        let missing = |machine: &Self| machine.unsure(Span::default(), format!("the tree has no struct {name}"));
        let Some(sym) = self.program.interner.get(name) else { return Err(missing(self)) };
        let ty = self.named(sym, Vec::new())?;
        match self.default_value(&ty, true, Span::default())? {
            value @ Value::Agg(_) => Ok(value),
            _ => Err(missing(self)),
        }
    }

    pub fn field_mut<'v>(&self, object: &'v mut Value, field: &str) -> Option<&'v mut Value> {
        let Value::Agg(agg) = object else { return None };
        let Shape::Struct(instance) = agg.shape.clone() else { return None };
        let index = self.field_index(&instance, self.program.interner.get(field)?)?;
        Rc::make_mut(agg).items.get_mut(index)
    }

    pub fn field_names(&self, instance: &Instance) -> Vec<Option<&str>> {
        let fields = &self.program.members(&instance.of).fields;
        fields.iter().map(|field| field.name.map(|name| self.program.text(name))).collect()
    }
}
