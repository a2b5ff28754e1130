//! Initial values of objects: by default, by `{...}`, by a constructor.

use super::machine::Machine;
use super::records::Run;
use super::types::MAX_ITEMS;
use super::value::{Agg, Instance, MemoryPlace, Shape, Ty, Value};
use crate::syntax::ast::{Base, Designator, Expr, ExprKind, Field, Function, Global, Initial, Unary};
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use crate::syntax::sym;
use crate::syntax::vocabulary::Role;
use say::say;
use std::rc::Rc;
use std::sync::Arc;

/// The largest number of items in a list, limited by the index type of a place.
pub(super) const MOST_IN_LIST: usize = u16::MAX as usize;

impl Machine<'_> {
    /// The value of a variable before anything is stored: zero if `zero`, else unknown.
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
                if instance.of.role == Role::Foreign {
                    return Ok(Value::Opaque(at));
                }
                let key = (Arc::as_ptr(&instance.of) as usize, zero);
                if let Some(known) = self.starts.get(&key).filter(|_| instance.args.is_empty()) {
                    return Ok(known.clone());
                }
                let guesses = self.guesses();
                let program = self.program;
                let fields = &program.members(&instance.of).fields;
                let mut items = Vec::with_capacity(fields.len());
                let mut constructed = false;
                for field in fields {
                    let value = match &field.init {
                        Some(init) => self.within(instance, |machine| match &init.kind {
                            ExprKind::Init(_) => {
                                let ty = machine.resolve(&field.ty)?;
                                machine.initialise(&ty, init)
                            }
                            _ => {
                                let value = machine.eval(init)?;
                                machine.convert(&field.ty, value)
                            }
                        })?,
                        None => {
                            let ty = self.within(instance, |machine| machine.resolve(&field.ty))?;
                            constructed |= self.starting && self.is_constructed(&ty);
                            self.member_value(&ty, zero, at)?
                        }
                    };
                    items.push(value);
                }
                let value = Value::Agg(Rc::new(Agg { shape: Shape::Struct(instance.clone()), items, item: None }));
                if !constructed && self.guesses() == guesses && self.is_start(&value) {
                    self.starts.insert(key, value.clone());
                }
                value
            }
            Ty::Array(item, count) => {
                let one = self.default_value(item, zero, at)?;
                // Items that own objects own different ones.
                if self.starting && owns(&one) {
                    let mut items = vec![one];
                    while items.len() < (*count).min(MAX_ITEMS) {
                        items.push(self.default_value(item, zero, at)?);
                    }
                    return Ok(Value::array(items));
                }
                Value::array(vec![one; (*count).min(MAX_ITEMS)])
            }
            Ty::List(item) => Value::list(Vec::new(), item.clone()),
            Ty::Map(key, held) => Value::map(Vec::new(), key.clone(), held.clone()),
            Ty::Owner(_) => Value::Null,
            Ty::Named(name) => match *name {
                sym::VECTOR => Value::Opaque(at),
                sym::STRING => Value::Str("".into()),
                _ => Value::Opaque(at),
            },
            Ty::Int(..) | Ty::Bool | Ty::Enum => {
                let ty = ty.int_ty().unwrap_or(IntTy::I32);
                if zero { Value::typed(0, ty) } else { Value::Unset(ty, Span::default()) }
            }
            // The variable has a type but no value yet.
            Ty::Float(bits) if !zero => Value::Float(f64::NAN, *bits),
            _ if !zero => Value::Uninit,
            Ty::Float(bits) => Value::Float(0.0, *bits),
            Ty::Ptr(_) | Ty::Func => Value::Null,
            Ty::Void | Ty::Unknown => Value::Uninit,
        })
    }

    /// Whether an initial value is the same wherever the object is created: it has only literals and unknown values.
    fn is_start(&self, value: &Value) -> bool {
        let literal = |field: &Field| match field.init.as_ref().map(|init| &init.kind) {
            None | Some(ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::Bool(_) | ExprKind::Null) => true,
            Some(_) => false,
        };
        match value {
            Value::Int(_, 0, _) | Value::Float(..) | Value::Null | Value::Uninit => true,
            Value::Unset(_, from) => *from == Span::default(),
            Value::Agg(agg) => {
                let plain = match &agg.shape {
                    Shape::Array => true,
                    Shape::Struct(of) => of.args.is_empty() && self.program.members(&of.of).fields.iter().all(literal),
                };
                plain && agg.items.iter().all(|item| self.is_start(item))
            }
            _ => false,
        }
    }

    /// Initialises an object of a type from `{...}`.
    pub(super) fn initialise(&mut self, ty: &Ty, init: &Expr) -> Run<Value> {
        let ExprKind::Init(items) = &init.kind else {
            let value = self.eval(init)?;
            return self.convert_to(ty, value);
        };
        match ty {
            Ty::Struct(instance) => {
                let program = self.program;
                // The object may keep a reference to its arguments and write to them.
                if instance.of.role == Role::Foreign {
                    let args: Vec<Expr> = items.iter().map(|(_, value)| value.clone()).collect();
                    return self.construct(ty, &args, init.span);
                }
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
                        _ if field.bits => {
                            self.eval(value)?;
                            Value::Opaque(init.span)
                        }
                        _ if field.ty.reference && matches!(value.kind, ExprKind::Local(..) | ExprKind::Name(_)) => {
                            match self.place(value)? {
                                Some(place) => Value::Ref(place),
                                None => self.eval(value)?,
                            }
                        }
                        ExprKind::Init(_) => {
                            let ty = self.within(instance, |machine| machine.resolve(&field.ty))?;
                            self.initialise(&ty, value)?
                        }
                        _ => {
                            let value = match field.ty.pointers > 0 {
                                true => self.decayed(value)?,
                                false => self.eval(value)?,
                            };
                            // Omitted inner braces: the following values also belong to this field.
                            if matches!(value, Value::Int(..) | Value::Float(..)) && self.has_parts(instance, field)? {
                                return Ok(Value::Opaque(init.span));
                            }
                            self.convert(&field.ty, value)?
                        }
                    };
                    if let Some(slot) = Rc::make_mut(&mut object).items.get_mut(next) {
                        *slot = value;
                    }
                    next += 1;
                }
                let object = Value::Agg(object);
                self.at_its_end(instance, &object, init.span)?;
                Ok(object)
            }
            Ty::Array(item, count) => self.initialise_array(item, *count, items, init.span),
            Ty::List(item) => {
                let mut values = Vec::with_capacity(items.len());
                for (_, value) in items {
                    values.push(self.initialise(item, value)?);
                }
                Ok(Value::list(values, item.clone()))
            }
            Ty::Map(key, held) => self.initialise_map(key, held, items, init.span),
            Ty::Unknown | Ty::Named(_) => {
                let mut values = Vec::with_capacity(items.len());
                for (_, value) in items {
                    values.push(self.eval(value)?);
                }
                // An unknown type may interpret a list in its own way (order, size, truth value).
                let known = match ty {
                    Ty::Named(name) => match self.program.text(*name) {
                        "initializer_list" => true,
                        // The items of `std::array a{...}` give its type.
                        "array" => self.starting,
                        _ => false,
                    },
                    _ => true,
                };
                Ok(if known { Value::array(values) } else { Value::Opaque(init.span) })
            }
            _ => match items.first() {
                Some((_, value)) => self.initialise(ty, value),
                None => self.default_value(ty, true, init.span),
            },
        }
    }

    /// Fails for a destructor that is not followed, because it may write to everything that the object refers to.
    fn at_its_end(&self, instance: &Instance, object: &Value, at: Span) -> Run<()> {
        if self.program.members(&instance.of).destroyed
            && instance.of.role == Role::Plain
            && self.lasting != Some(Arc::as_ptr(&instance.of) as usize)
            && let Value::Agg(object) = object
        {
            for item in &object.items {
                if let Value::Ref(place) | Value::Ptr(place) = item
                    && !matches!(self.peek(*place), None | Some(Value::Opaque(_) | Value::Uninit))
                {
                    return Err(self.unsure(at, say!("cxx-open-destructor")));
                }
            }
        }
        Ok(())
    }

    /// Whether the arguments include a number variable or its address.
    fn gives_number(&mut self, args: &[Expr]) -> Run<bool> {
        for arg in args {
            let inner = match &arg.kind {
                ExprKind::Unary(Unary::Address, inner) => inner,
                _ => arg,
            };
            if matches!(inner.kind, ExprKind::Local(..))
                && let Some(place) = self.place(inner)?
                && matches!(self.peek(place), Some(Value::Int(..) | Value::Float(..)))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a field is an array or an object.
    fn has_parts(&mut self, instance: &Rc<Instance>, field: &Field) -> Run<bool> {
        if field.ty.pointers > 0 || field.ty.reference {
            return Ok(false);
        }
        if !field.ty.dims.is_empty() {
            return Ok(true);
        }
        match field.ty.base {
            Base::Name(_) | Base::Inline(_) | Base::Local(_) => {
                let ty = self.within(instance, |machine| machine.resolve(&field.ty))?;
                Ok(matches!(ty, Ty::Struct(_) | Ty::Array(..)))
            }
            _ => Ok(false),
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

    /// The type of a global, if it can be determined.
    pub(super) fn resolve_in(&mut self, global: &Global) -> Option<Ty> {
        self.of_global(global, |machine| machine.resolve(&global.ty)).ok()
    }

    pub(super) fn initial_global(&mut self, global: &Global) -> Run<Value> {
        self.of_global(global, |machine| machine.global_value(global))
    }

    /// Evaluates in the scope of a global. Names are looked up in the global's unit instead of the caller's.
    fn of_global<T>(&mut self, global: &Global, run: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        let base = self.stack.len();
        let frame = super::machine::Frame {
            function: None,
            name: global.name,
            view: global.view(),
            base,
            this: None,
            reference: false,
        };
        self.enter(frame, global.span)?;
        let out = run(self);
        self.frames.pop();
        out
    }

    fn global_value(&mut self, global: &Global) -> Run<Value> {
        let ty = self.resolve(&global.ty)?;
        match self.program.initial(global) {
            Initial::Value(init) if matches!(init.kind, ExprKind::Init(_)) => self.initialise(&ty, init),
            Initial::Value(init) => {
                let value = self.eval(init)?;
                self.convert(&global.ty, value)
            }
            Initial::Arguments(args) => self.construct(&ty, args, global.span),
            // Mutable state: a global starts as zero, but its current value is unknown.
            Initial::None if self.starting && !global.external => match &ty {
                Ty::Struct(_) if self.is_constructed(&ty) => self.construct(&ty, &[], global.span),
                _ => self.default_value(&ty, true, global.span),
            },
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
            Ty::Struct(instance) if instance.of.role != Role::Foreign => self.construct_struct(instance, args, at),
            // A range between two positions.
            Ty::List(item) if self.starting && args.len() == 2 => {
                let (from, to) = match args {
                    [from, to] => (self.decayed(from)?, self.decayed(to)?),
                    _ => return Ok(Value::Opaque(at)),
                };
                if let (Value::Ptr(from), Value::Ptr(to)) = (&from, &to) {
                    let items = self.range(*from, *to);
                    return Ok(items.map_or(Value::Opaque(at), |items| Value::list(items, item.clone())));
                }
                let fill = self.convert_to(item, to)?;
                let size = self.settle(&from).and_then(|size| usize::try_from(size).ok());
                let size = size.filter(|&size| size <= MOST_IN_LIST);
                Ok(size.map_or(Value::Opaque(at), |size| Value::list(vec![fill; size], item.clone())))
            }
            Ty::List(item) => {
                let size = match args.first() {
                    Some(size) => self.eval(size)?,
                    None => Value::int(0),
                };
                let fill = match args.get(1) {
                    Some(fill) => {
                        let fill = self.eval(fill)?;
                        self.convert_to(item, fill)?
                    }
                    None => self.default_value(item, true, at)?,
                };
                // A copy of another container keeps its items. A range between two positions is unknown.
                if let Value::Agg(_) = size {
                    return Ok(if args.len() == 1 { size } else { Value::Opaque(at) });
                }
                let size =
                    self.settle(&size).and_then(|size| usize::try_from(size).ok()).filter(|&size| size <= MOST_IN_LIST);
                let made = |size| Value::list(vec![fill; size], item.clone());
                Ok(size.filter(|_| args.len() < 3).map_or(Value::Opaque(at), made))
            }
            Ty::Owner(_) | Ty::Map(..) if args.is_empty() => self.default_value(ty, true, at),
            Ty::Owner(_) => args.first().map_or(Ok(Value::Null), |given| self.eval(given)),
            Ty::Named(name) if *name == sym::STRING && args.len() < 2 => match args.first() {
                Some(text) => {
                    let value = self.eval(text)?;
                    Ok(self.text_of(&value).map_or(Value::Opaque(at), |text| Value::Str(text.into())))
                }
                None => Ok(Value::Str("".into())),
            },
            // A guard object may write to its arguments in its destructor.
            Ty::Struct(_) if self.gives_number(args)? => Err(self.unsure(at, say!("cxx-open-constructor"))),
            // An unknown constructor may write to its arguments, and keep references to them.
            Ty::Struct(_) | Ty::Named(_) | Ty::Unknown => {
                self.stranger(None, args, at)?;
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
        let mut found: Vec<&Function> = methods
            .iter()
            .filter(|method| {
                let required = method.params.iter().filter(|param| param.default.is_none()).count();
                Some(method.name) == instance.of.name && fits(required, method.params.len())
            })
            .map(|method| method.as_ref())
            .collect();
        // A copy constructor takes another object.
        let copies = |method: &Function| matches!(method.params.first().map(|param| &param.ty.base), Some(Base::Name(name)) if name.path.last().map(|last| last.sym) == instance.of.name);
        if found.len() > 1 {
            found.retain(|method| !copies(method));
        }
        let found = match found.as_slice() {
            [] => None,
            [only] => Some(*only),
            several => match self.by_types(several, args).and_then(|position| several.get(position)) {
                Some(chosen) => Some(*chosen),
                None => {
                    self.stranger(None, args, at)?;
                    return Ok(Value::Opaque(at));
                }
            },
        };
        let object = self.default_value(&Ty::Struct(instance.clone()), false, at)?;
        if let Some(constructor) = found {
            if constructor.body.is_none() {
                return Ok(Value::Opaque(at));
            }
            let place = self.push_temporary(object);
            self.call_method(constructor, instance, place, args, at)?;
            let object = self.read(place, at);
            self.drop_temporary(place);
            self.at_its_end(instance, &object, at)?;
            return Ok(object);
        }
        // In `T t(a, b)`, T is an aggregate, which is initialised field by field.
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
                *slot = match slot.int_ty() {
                    Some(ty) => self.convert_to(&Ty::of(ty), value)?,
                    None => value,
                };
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
                *slot = match slot.int_ty() {
                    Some(ty) => self.convert_to(&Ty::of(ty), value)?,
                    None => value,
                };
            }
        }
        Ok(Value::Agg(object))
    }

    /// Pushes a temporary object onto the stack.
    pub(super) fn push_temporary(&mut self, value: Value) -> MemoryPlace {
        self.stack.push(value);
        MemoryPlace::new((self.stack.len() - 1) as u32)
    }

    pub(super) fn drop_temporary(&mut self, place: MemoryPlace) {
        self.stack.truncate(place.root as usize);
    }
}

/// Whether a new object points to objects that its constructor made.
fn owns(value: &Value) -> bool {
    match value {
        Value::Ptr(_) => true,
        Value::Agg(agg) => agg.items.iter().any(owns),
        _ => false,
    }
}
