//! Runs whole programs: every value is known. Whatever is not understood ends the run with its position.

use super::tree::{Class, Expr, ExprKind, Function, Name, Type};
use super::units::Units;
use super::value::{Arg, Place, Slot, Ty, Value, place};
use crate::syntax::files::{Sources, Span};
use crate::syntax::sym::{FxMap, Sym};
use std::rc::Rc;

/// Why a run ended.
#[derive(Debug, Clone)]
pub enum Halt {
    /// A construct or a function that is not followed.
    NotFollowed { at: Span, what: String },
    /// The program ends itself: a failed check or an exception.
    Ended { at: Span, what: String },
}

pub type Run<T> = Result<T, Halt>;

/// A function that the host provides: it gets the object, if it is a method, and the arguments.
pub type Native = Rc<dyn Fn(&mut Machine<'_>, Option<Place>, &[Slot]) -> Run<Slot>>;

/// A method with the class that declares it.
pub type Method = (Rc<Class>, Rc<Function>);

/// The most steps of a run.
const MOST_STEPS: u64 = 400_000_000;
/// The deepest nesting of calls and expressions; the caller provides a stack for it.
const DEEPEST: usize = 6_000;

#[derive(Debug)]
pub struct Frame {
    pub vars: Vec<(Sym, Place)>,
    pub this: Option<Place>,
    pub class: Option<Rc<Class>>,
    pub templates: Vec<(Sym, Value)>,
    pub unit: usize,
    /// Whether the function returns a reference.
    pub reference: bool,
    pub at: Span,
}

pub struct Machine<'t> {
    pub units: Units,
    pub tree: &'t dyn Sources,
    pub frames: Vec<Frame>,
    pub natives: FxMap<String, Native>,
    pub globals: FxMap<(Sym, usize), Place>,
    pub statics: FxMap<Span, Place>,
    pub static_fields: FxMap<(usize, Sym), Place>,
    pub(super) enumerated: FxMap<Sym, i64>,
    pub steps: u64,
    pub(super) depth: usize,
    pub(super) searched: crate::syntax::sym::FxSet<String>,
    /// The declared types that the running functions return.
    pub(super) returning: Vec<Option<Type>>,
    /// A class for functions outside of classes.
    pub(super) nowhere: Rc<Class>,
    /// The units that may be read when a definition is missing.
    pub within: fn(&str) -> bool,
    /// Names of kept macros and functions: those without effect, checks, and those that end the program.
    pub ignored: &'static [&'static str],
    pub asserted: &'static [&'static str],
    pub aborts: &'static [&'static str],
}

impl std::fmt::Debug for Machine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("steps", &self.steps).finish_non_exhaustive()
    }
}

impl<'t> Machine<'t> {
    pub fn new(units: Units, tree: &'t dyn Sources) -> Machine<'t> {
        let mut machine = Machine {
            units,
            tree,
            frames: Vec::new(),
            natives: FxMap::default(),
            globals: FxMap::default(),
            statics: FxMap::default(),
            static_fields: FxMap::default(),
            enumerated: FxMap::default(),
            steps: 0,
            depth: 0,
            searched: crate::syntax::sym::FxSet::default(),
            returning: Vec::new(),
            nowhere: Rc::new(Class {
                name: Sym(u32::MAX),
                within: Vec::new(),
                templates: Vec::new(),
                bases: Vec::new(),
                union: false,
                unit: usize::MAX,
                fields: Vec::new(),
                parts: Vec::new(),
                methods: std::cell::RefCell::default(),
                types: std::cell::RefCell::default(),
                at: Span::default(),
            }),
            within: |_| true,
            ignored: &[],
            asserted: &[],
            aborts: &[],
        };
        machine.add_library();
        machine
    }

    /// Provides a function (`name`) or a method (`Class::name`) of the host.
    pub fn provide(
        &mut self,
        name: &str,
        native: impl Fn(&mut Machine<'_>, Option<Place>, &[Slot]) -> Run<Slot> + 'static,
    ) {
        self.natives.insert(name.to_owned(), Rc::new(native));
    }

    pub fn here(&self) -> Span {
        self.frames.last().map_or(Span::default(), |frame| frame.at)
    }

    pub fn stuck<T>(&self, at: Span, what: impl Into<String>) -> Run<T> {
        Err(Halt::NotFollowed { at, what: what.into() })
    }

    pub fn lost<T>(&self, what: impl Into<String>) -> Run<T> {
        self.stuck(self.here(), what)
    }

    pub(super) fn step(&mut self, at: Span) -> Run<()> {
        self.steps += 1;
        if self.steps > MOST_STEPS || self.depth > DEEPEST {
            return self.stuck(at, "too many steps");
        }
        Ok(())
    }

    pub fn name(&self, sym: Sym) -> String {
        self.units.text(sym).to_owned()
    }

    /// The variable of this name in the running function.
    pub(super) fn variable(&self, name: Sym) -> Option<Place> {
        self.frames.last()?.vars.iter().rev().find(|(known, _)| *known == name).map(|(_, place)| place.clone())
    }

    pub(super) fn declare(&mut self, name: Sym, value: Place) {
        if let Some(frame) = self.frames.last_mut() {
            frame.vars.push((name, value));
        }
    }

    pub(super) fn unit(&self) -> usize {
        self.frames.last().map_or(usize::MAX, |frame| frame.unit)
    }

    pub(super) fn class(&self) -> Option<Rc<Class>> {
        self.frames.last().and_then(|frame| frame.class.clone())
    }

    pub(super) fn this(&self) -> Option<Place> {
        self.frames.last().and_then(|frame| frame.this.clone())
    }

    /// A field of the running method's object.
    fn own_field(&mut self, name: Sym) -> Option<Place> {
        let this = self.this()?;
        let value = this.borrow().clone();
        match value {
            Value::Object(object) => object.field(name),
            _ => None,
        }
    }

    /// The value of a name without a qualifier, or with one.
    pub(super) fn named(&mut self, name: &Rc<Name>, at: Span) -> Run<Slot> {
        let last = name.last();
        if name.path.len() == 1 {
            if let Some(found) = self.variable(last) {
                return Ok(Slot::Place(deref(found)));
            }
            if let Some(found) = self.own_field(last) {
                return Ok(Slot::Place(deref(found)));
            }
            let template = self.frames.last().and_then(|frame| {
                frame.templates.iter().rev().find(|(known, _)| *known == last).map(|(_, value)| value.clone())
            });
            if let Some(value) = template {
                return Ok(Slot::Value(value));
            }
            if let Some(class) = self.class()
                && let Some(found) = self.static_field(&class, last)?
            {
                return Ok(Slot::Place(found));
            }
        } else if let Some(found) = self.qualified(name)? {
            return Ok(found);
        }
        if let Some(value) = self.enumerator(last)? {
            return Ok(Slot::Value(value));
        }
        if let Some(found) = self.global(last)? {
            return Ok(Slot::Place(found));
        }
        if self.units.functions.contains_key(&last) || self.natives.contains_key(self.units.text(last)) {
            let unit = self.unit();
            return Ok(Slot::Value(Value::Fn(Rc::new(super::value::FnRef { name: last, unit, class: None }))));
        }
        if let Some(value) = super::constants::constant(self.units.text(last)) {
            return Ok(Slot::Value(value));
        }
        let text = self.name(last);
        self.stuck(at, format!("the name {text}"))
    }

    /// `A::b`: a static field.
    fn qualified(&mut self, name: &Rc<Name>) -> Run<Option<Slot>> {
        let path: Vec<Sym> = name.path.iter().map(|(sym, _)| *sym).collect();
        let Some((last, before)) = path.split_last() else { return Ok(None) };
        if let Some(class) = self.units.class_around(before) {
            if let Some(found) = self.static_field(&class, *last)? {
                return Ok(Some(Slot::Place(found)));
            }
            if let Some(found) = self.own_field(*last).filter(|_| self.this().is_some()) {
                return Ok(Some(Slot::Place(deref(found))));
            }
        }
        Ok(None)
    }

    pub(super) fn static_field(&mut self, class: &Rc<Class>, name: Sym) -> Run<Option<Place>> {
        let mut open = vec![class.clone()];
        while let Some(class) = open.pop() {
            if let Some(field) = class.fields.iter().find(|field| field.is_static && field.name == name) {
                let key = (Rc::as_ptr(&class) as usize, name);
                if let Some(known) = self.static_fields.get(&key) {
                    return Ok(Some(known.clone()));
                }
                let made = match &field.init {
                    Some(init) => {
                        let (ty, init) = (field.ty.clone(), init.clone());
                        self.within_class(&class, |machine| machine.initialised(&ty, &init))?
                    }
                    // Defined outside of the class.
                    None => return self.global(name),
                };
                let made = place(made);
                self.static_fields.insert(key, made.clone());
                return Ok(Some(made));
            }
            // Static fields of the class around and of the bases.
            if let Some(around) = self.units.class_around(&class.within) {
                open.push(around);
            }
            open.extend(self.bases(&class));
        }
        Ok(None)
    }

    /// Evaluates in the scope of a class, without an object.
    pub(super) fn within_class<T>(&mut self, class: &Rc<Class>, run: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        let frame = Frame {
            vars: Vec::new(),
            this: None,
            class: Some(class.clone()),
            templates: Vec::new(),
            unit: class.unit,
            reference: false,
            at: class.at,
        };
        self.frames.push(frame);
        let result = run(self);
        self.frames.pop();
        result
    }

    /// The classes that a class inherits from directly.
    pub(super) fn bases(&mut self, class: &Rc<Class>) -> Vec<Rc<Class>> {
        let named = |base: &Type| match &base.base {
            super::tree::Base::Name(name) => {
                let path: Vec<Sym> = name.path.iter().map(|(sym, _)| *sym).collect();
                self.units.class_around(&path).or_else(|| self.units.class_around(path.get(path.len() - 1..)?))
            }
            super::tree::Base::Class(class) => Some(class.clone()),
            _ => None,
        };
        class.bases.iter().filter_map(named).collect()
    }

    /// Whether a class is another one or inherits from it.
    pub(super) fn inherits(&mut self, class: &Rc<Class>, from: Sym) -> bool {
        let mut open = vec![class.clone()];
        while let Some(class) = open.pop() {
            if class.name == from {
                return true;
            }
            open.extend(self.bases(&class));
        }
        false
    }

    pub fn enumerator(&mut self, name: Sym) -> Run<Option<Value>> {
        if let Some(known) = self.enumerated.get(&name) {
            return Ok(Some(Value::Int(*known, crate::syntax::integer::IntTy::of(*known))));
        }
        // Values follow those before them; a long list is counted, not followed.
        let mut chain = vec![name];
        let mut base: Option<i64> = None;
        let Some(mut found) = self.units.enumerators.get(&name).cloned() else { return Ok(None) };
        loop {
            if let Some(value) = &found.value {
                let value = self.eval(value)?.number();
                base = value;
                break;
            }
            let Some(before) = found.before else { break };
            if let Some(known) = self.enumerated.get(&before) {
                base = Some(*known);
                chain.push(before);
                break;
            }
            chain.push(before);
            match self.units.enumerators.get(&before).cloned() {
                Some(next) => found = next,
                None => break,
            }
        }
        let Some(base) = base else { return self.lost("the value of an enumerator") };
        for (by, name) in chain.iter().rev().enumerate() {
            self.enumerated.insert(*name, base + by as i64);
        }
        let value = base + chain.len() as i64 - 1;
        Ok(Some(Value::Int(value, crate::syntax::integer::IntTy::of(value))))
    }

    pub(super) fn global(&mut self, name: Sym) -> Run<Option<Place>> {
        let unit = self.unit();
        let Some(all) = self.units.globals.get(&name) else { return Ok(None) };
        let own = all.iter().find(|global| global.unit == unit && !global.external);
        let found = own.or_else(|| all.iter().find(|global| !global.external)).cloned();
        let Some(global) = found else { return Ok(None) };
        let key = (name, global.unit);
        if let Some(known) = self.globals.get(&key) {
            return Ok(Some(known.clone()));
        }
        let made = place(Value::Zero);
        self.globals.insert(key, made.clone());
        let frame = Frame {
            vars: Vec::new(),
            this: None,
            class: None,
            templates: Vec::new(),
            unit: global.unit,
            reference: false,
            at: global.at,
        };
        self.frames.push(frame);
        let value = self.initial(&global.ty, &global.init, true);
        self.frames.pop();
        *made.borrow_mut() = value?.take();
        Ok(Some(made))
    }

    pub fn eval(&mut self, expr: &Expr) -> Run<Value> {
        match &expr.kind {
            ExprKind::Int(value, ty) => Ok(Value::Int(*value, *ty)),
            _ => match self.slot(expr)? {
                Slot::Place(place) => {
                    let value = place.borrow().clone();
                    match value {
                        Value::Unset(_) => {
                            let code = self.units.program.files.text(expr.at);
                            self.stuck(expr.at, format!("a value that nothing has set: {code}"))
                        }
                        value => Ok(value),
                    }
                }
                Slot::Value(value) => Ok(value),
            },
        }
    }

    pub fn truth(&mut self, expr: &Expr) -> Run<bool> {
        let value = self.eval(expr)?;
        match value.truth() {
            Some(truth) => Ok(truth),
            None => match self.converted_to_bool(&value)? {
                Some(truth) => Ok(truth),
                None => self.stuck(expr.at, "a condition"),
            },
        }
    }

    /// Resolves the type that a name means, as a class.
    pub fn class_named(&self, name: &str) -> Option<Rc<Class>> {
        let sym = self.units.sym(name)?;
        self.units.classes.get(&sym)?.first().cloned()
    }

    pub fn object(&mut self, class: &str) -> Run<Place> {
        let Some(found) = self.class_named(class) else { return self.lost(format!("the class {class}")) };
        let ty = Ty::Class(Rc::new(super::value::ClassOf { class: Some(found), args: Vec::new() }));
        Ok(place(self.zeroed(&ty)?))
    }

    /// An object made from arguments.
    pub fn make(&mut self, ty: &Ty, args: Vec<Slot>) -> Run<Value> {
        let args = args.into_iter().map(Arg::Slot).collect();
        let at = self.here();
        self.construct(ty, args, at)
    }

    /// A constant number of a class.
    pub fn static_number(&mut self, class: &str, name: &str) -> Run<Option<i64>> {
        let (Some(class), Some(name)) = (self.class_named(class), self.units.sym(name)) else { return Ok(None) };
        let found = self.static_field(&class, name)?;
        Ok(found.and_then(|found| found.borrow().number()))
    }

    /// The first enumerator of an enum with a value.
    pub fn enumerator_name(&mut self, of: &str, value: i64) -> Run<String> {
        let of = self.units.sym(of);
        let mut names: Vec<Sym> = self
            .units
            .enumerators
            .iter()
            .filter(|(_, it)| it.of == of && of.is_some())
            .map(|(name, _)| *name)
            .collect();
        names.sort_unstable_by_key(|name| name.0);
        for name in names {
            if self.enumerator(name)?.and_then(|found| found.number()) == Some(value) {
                return Ok(self.name(name));
            }
        }
        self.lost("an enumerator")
    }

    /// The place of a field, by name.
    pub fn field(&mut self, object: &Place, name: &str) -> Run<Place> {
        let value = object.borrow().clone();
        let sym = self.units.sym(name);
        match (value, sym) {
            (Value::Object(object), Some(sym)) => match object.field(sym) {
                Some(found) => Ok(deref(found)),
                None => self.lost(format!("the field {name}")),
            },
            (Value::Ptr(inner), Some(_)) => self.field(&inner, name),
            (Value::At(list, index), Some(_)) => match list.at(index) {
                Some(inner) => self.field(&inner, name),
                None => self.lost(format!("the field {name}")),
            },
            _ => self.lost(format!("the field {name}")),
        }
    }
}

/// A reference variable holds a pointer marked as one; its target is meant.
pub(super) fn deref(found: Place) -> Place {
    found
}
