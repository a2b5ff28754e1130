//! Types at run time: the meaning of a type name, and the constants of a struct.

use super::machine::Machine;
use super::records::Run;
use super::value::{Instance, Shape, Ty, Value};
use crate::syntax::ast::{Base, Enum, Expr, ExprKind, Name, Root, Struct, TemplateArg, Type, View};
use crate::syntax::files::Span;
use crate::syntax::sym::{self, Sym};
use say::say;
use std::rc::Rc;
use std::sync::Arc;

pub(super) const MAX_ITEMS: usize = 1 << 16;

impl Machine<'_> {
    /// The type that a spelled type means. A type defined in terms of itself runs into the nesting limit.
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

    /// Expands `of<T, I>...` to one type per item of the packs in it. Any other form gives one type.
    pub(super) fn expanded(&mut self, ty: &Type) -> Run<Vec<Value>> {
        let only = match &ty.base {
            Base::Name(name) if matches!(name.root, Root::Global) => match name.path.as_slice() {
                [only] => only,
                _ => return Ok(vec![self.type_value(ty)?]),
            },
            _ => return Ok(vec![self.type_value(ty)?]),
        };
        let mut given = Vec::new();
        for arg in only.args.as_deref().unwrap_or_default() {
            given.push(match arg {
                TemplateArg::Expr(expr) => self.eval(expr)?,
                TemplateArg::Type(Type { base: Base::Local(slot), pointers: 0, .. }) => {
                    match self.stack.get(self.slot(*slot) as usize) {
                        Some(pack @ Value::Pack(_)) => pack.clone(),
                        _ => self.template_values(std::slice::from_ref(arg))?.pop().unwrap_or_default(),
                    }
                }
                TemplateArg::Type(ty) => self.type_value(ty)?,
                TemplateArg::Expansion(_) => Value::Opaque(ty.span),
            });
        }
        let mut lengths = given.iter().filter_map(|value| match value {
            Value::Pack(list) => Some(list.len()),
            _ => None,
        });
        let Some(length) = lengths.next() else { return Ok(vec![self.type_value(ty)?]) };
        if lengths.any(|other| other != length) || !ty.dims.is_empty() {
            return Ok(vec![Value::Opaque(ty.span)]);
        }
        let mut out = Vec::with_capacity(length);
        for at in 0..length {
            let pick = |value: &Value| match value {
                Value::Pack(list) => list.get(at).cloned().unwrap_or_default(),
                value => value.clone(),
            };
            let found = self.named(only.sym, given.iter().map(pick).collect())?;
            let found = (0..ty.pointers).fold(found, |ty, _| Ty::Ptr(Rc::new(ty)));
            out.push(Value::Type(Rc::new(found)));
        }
        Ok(out)
    }

    fn type_value(&mut self, ty: &Type) -> Run<Value> {
        Ok(Value::Type(Rc::new(self.resolve(ty)?)))
    }

    fn is_namespace(&self, name: &Name) -> bool {
        name.path.iter().rev().skip(1).all(|segment| self.program.structs(segment.sym).is_empty())
    }

    pub(super) fn named_with(&mut self, name: Sym, args: Vec<Value>) -> Run<Ty> {
        self.find_named(name, args)
    }

    fn named(&mut self, name: Sym, args: Vec<Value>) -> Run<Ty> {
        if !args.is_empty() {
            return self.find_named(name, args);
        }
        let key = (name, self.view().unit);
        if let Some(known) = self.named_types.get(&key) {
            return Ok(known.clone());
        }
        let guesses = self.guesses();
        let ty = self.find_named(name, args)?;
        if self.guesses() == guesses {
            self.named_types.insert(key, ty.clone());
        }
        Ok(ty)
    }

    /// Template arguments with the defaults of those that are omitted.
    fn with_defaults(&mut self, of: &Arc<Struct>, args: &[Value]) -> Run<Vec<Value>> {
        let mut all = args.to_vec();
        for param in of.templates.iter().skip(args.len()) {
            let Some(default) = &param.default else { break };
            let instance = Rc::new(Instance { of: of.clone(), args: all.clone() });
            all.extend(self.within(&instance, |machine| machine.template_values(std::slice::from_ref(default)))?);
        }
        Ok(all)
    }

    /// The parameters of a partial specialisation for these arguments; None if it does not fit.
    fn bound(&mut self, of: &Arc<Struct>, special: &[TemplateArg], args: &[Value]) -> Run<Option<Vec<Value>>> {
        if special.len() != args.len() {
            return Ok(None);
        }
        let mut bound: Vec<Option<Value>> = vec![None; of.templates.len()];
        for (arg, given) in special.iter().zip(args) {
            if let Some(slot) = parameter(of, arg).and_then(|at| bound.get_mut(at)) {
                if slot.as_ref().is_some_and(|known| known.same(given) != Some(true)) {
                    return Ok(None);
                }
                *slot = Some(given.clone());
                continue;
            }
            let wanted = self.template_values(std::slice::from_ref(arg))?;
            if !matches!(wanted.as_slice(), [wanted] if wanted.same(given) == Some(true)) {
                return Ok(None);
            }
        }
        Ok(bound.into_iter().collect())
    }

    fn find_named(&mut self, name: Sym, args: Vec<Value>) -> Run<Ty> {
        let program = self.program;
        if let (sym::ARRAY, [Value::Type(item), Value::Int(count, 0, _)]) = (name, args.as_slice()) {
            let count = usize::try_from(*count).ok().filter(|&count| count <= MAX_ITEMS);
            return Ok(count.map_or(Ty::Unknown, |count| Ty::Array(item.clone(), count)));
        }
        if let (sym::VECTOR, [Value::Type(item), ..]) = (name, args.as_slice()) {
            return Ok(Ty::List(item.clone()));
        }
        if self.starting
            && let Some(ty) = self.library_type(name, &args)
        {
            return Ok(ty);
        }
        if program.is_several(name, self.view().unit) {
            return Ok(Ty::Unknown);
        }
        if let Some(alias) = program.alias(name, self.view().unit)
            && program.structs(name).is_empty()
        {
            return self.resolve(alias);
        }
        if let Some((position, stars)) = program.pick(name, self.view().unit)
            && program.structs(name).is_empty()
        {
            let Some(Value::Type(ty)) = args.get(position) else { return Ok(Ty::Unknown) };
            return Ok((0..stars).fold(ty.as_ref().clone(), |ty, _| Ty::Ptr(Rc::new(ty))));
        }
        let all = program.structs(name);
        // Prefer the unit's own definition, from the headers that it includes.
        let unit = self.view().unit;
        let own = all.iter().any(|of| of.unit == unit);
        if all.is_empty() {
            if !program.is_enum(name) {
                return Ok(Ty::Named(name));
            }
            // An enum with a declared underlying type.
            let with = |found: &&Enum| found.name == Some(name) && found.underlying.is_some();
            let own = program.enums.iter().filter(with).find(|found| found.unit == unit);
            return match own.or_else(|| program.enums.iter().find(with)).and_then(|found| found.underlying.as_ref()) {
                Some(underlying) => self.resolve(underlying),
                None => self.enum_of_ints(name, unit),
            };
        }
        let visible = || all.iter().filter(|of| !own || of.unit == unit);
        let general = visible().rfind(|of| of.special.is_none());
        let whole = match general.filter(|_| visible().any(|of| of.special.is_some())) {
            Some(general) => self.with_defaults(general, &args)?,
            None => args.clone(),
        };
        let mut partial: Option<(&Arc<Struct>, Vec<Value>)> = None;
        for of in visible() {
            let Some(special) = &of.special else { continue };
            if of.templates.is_empty() {
                let wanted = self.template_values(special)?;
                if wanted.len() == whole.len() && wanted.iter().zip(&whole).all(|(a, b)| a.same(b) == Some(true)) {
                    return Ok(Ty::Struct(Rc::new(Instance { of: of.clone(), args })));
                }
            } else if let Some(bound) = self.bound(of, special, &whole)? {
                // The specialisation that leaves the fewest parameters open is the most specialised.
                match &partial {
                    Some((_, known)) if known.len() == bound.len() => return Ok(Ty::Unknown),
                    Some((_, known)) if known.len() < bound.len() => {}
                    _ => partial = Some((of, bound)),
                }
            }
        }
        if let Some((of, args)) = partial {
            return Ok(Ty::Struct(Rc::new(Instance { of: of.clone(), args })));
        }
        Ok(match general {
            Some(of) => Ty::Struct(Rc::new(Instance { of: of.clone(), args })),
            None => Ty::Named(name),
        })
    }

    /// An enum without an underlying type is an int, unless one of its values does not fit.
    fn enum_of_ints(&mut self, name: Sym, unit: u32) -> Run<Ty> {
        let program = self.program;
        let named = |found: &&Enum| found.name == Some(name);
        let own = program.enums.iter().filter(named).find(|found| found.unit == unit);
        let Some(found) = own.or_else(|| program.enums.iter().find(named)) else { return Ok(Ty::Enum) };
        for value in found.list.iter().filter_map(|item| item.value.as_ref()) {
            let value = self.eval(value)?;
            if self.settle(&value).is_none_or(|value| i32::try_from(value).is_err()) {
                return Ok(Ty::Unknown);
            }
        }
        Ok(Ty::Enum)
    }

    /// The struct that contains `last` in `a::b::last`.
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

    /// Runs a closure with a struct's template parameters in scope.
    pub(super) fn within<T>(&mut self, instance: &Rc<Instance>, run: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        let base = self.stack.len();
        self.stack.extend(instance.args.iter().cloned());
        let missing = instance.of.templates.len().saturating_sub(instance.args.len());
        self.stack.extend(std::iter::repeat_n(Value::Uninit, missing + 8));
        let name = instance.of.name.unwrap_or(sym::STRUCT);
        let frame = super::machine::Frame {
            function: None,
            name,
            view: View { unit: instance.of.unit, space: 0 },
            base,
            this: None,
            reference: false,
        };
        self.enter(frame, instance.of.span)?;
        let result = run(self);
        self.frames.pop();
        self.stack.truncate(base);
        result
    }

    /// A constant of a struct or of one of its bases.
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
            // The value of a mutable static is whatever was written last, so it is unknown.
            if !field.ty.constant {
                return Ok(Some(Value::Opaque(field.ty.span)));
            }
            return self.within(instance, |machine| {
                let value = machine.eval(init)?;
                machine.convert(&field.ty, value).map(Some)
            });
        }
        let mut next = Some(0i64);
        for item in &members.enumerators {
            if let Some(value) = &item.value {
                let value = self.within(instance, |machine| machine.eval(value))?;
                next = self.settle(&value);
            }
            if item.name == name {
                return Ok(Some(next.map_or(Value::Opaque(instance.of.span), Value::int)));
            }
            next = next.and_then(|next| next.checked_add(1));
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
}

/// Methods with which the caller prepares a run.
impl Machine<'_> {
    /// A zeroed object of a struct that the tree defines.
    pub fn object(&mut self, name: &str) -> Run<Value> {
        let missing = |machine: &Self| machine.unsure(Span::default(), say!("cxx-open-no-struct", name));
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

/// The template parameter that an argument of a partial specialisation refers to.
fn parameter(of: &Struct, arg: &TemplateArg) -> Option<usize> {
    let named = |name: &Name| match name.path.as_slice() {
        [only] if only.args.is_none() && matches!(name.root, Root::Global) => {
            of.templates.iter().position(|param| param.name == Some(only.sym))
        }
        _ => None,
    };
    match arg {
        TemplateArg::Expr(Expr { kind: ExprKind::Local(slot, _), .. }) => Some(*slot as usize),
        TemplateArg::Expr(Expr { kind: ExprKind::Name(name), .. }) => named(name),
        TemplateArg::Type(ty) if ty.pointers == 0 && ty.dims.is_empty() => match &ty.base {
            Base::Local(slot) => Some(*slot as usize),
            Base::Name(name) => named(name),
            _ => None,
        },
        _ => None,
    }
}
