//! Values of whole programs. Every variable, field and item is a place of its own, so that pointers to any of them stay valid.

use super::tree::{Class, Expr, Lambda};
use crate::syntax::integer::IntTy;
use crate::syntax::sym::{FxMap, Sym};
use std::cell::RefCell;
use std::rc::Rc;

/// A variable, field or item.
pub type Place = Rc<RefCell<Value>>;

pub fn place(value: Value) -> Place {
    Rc::new(RefCell::new(value))
}

#[derive(Debug, Clone)]
pub enum Value {
    /// A variable that nothing has been stored in yet, of this type.
    Unset(Ty),
    /// Zeroed memory whose type is not known yet.
    Zero,
    Void,
    Null,
    Int(i64, IntTy),
    Float(f64, u8),
    /// A string, or a pointer to the first character of one.
    Str(Rc<str>),
    Ptr(Place),
    /// A pointer to an item of a list; also an iterator.
    At(Rc<List>, i64),
    /// An iterator of a map or set.
    MapAt(Rc<Map>, usize),
    Object(Rc<Object>),
    List(Rc<List>),
    Map(Rc<Map>),
    Tuple(Rc<Vec<Place>>),
    Fn(Rc<FnRef>),
    Lambda(Rc<Closure>),
    Type(Rc<Ty>),
    Pack(Rc<Vec<Value>>),
    /// Something of the host: a number that only the host understands, with its kind.
    Host(&'static str, i64),
}

#[derive(Debug)]
pub struct FnRef {
    pub name: Sym,
    pub unit: usize,
    pub class: Option<Rc<Class>>,
}

#[derive(Debug)]
pub struct List {
    pub items: RefCell<Vec<Place>>,
    pub item: RefCell<Ty>,
    /// Memory without a fixed size; its items start with this value.
    pub raw: RefCell<Option<Value>>,
    /// The items from last to first, for iterators that run backwards.
    pub reverse: RefCell<Option<Rc<List>>>,
}

/// Entries in the order of their keys, or of insertion.
#[derive(Debug)]
pub struct Map {
    /// Each entry is a pair of key and value; a set has only keys.
    pub entries: RefCell<Vec<(Value, Place)>>,
    pub value: Ty,
    pub sorted: bool,
    pub set: bool,
}

#[derive(Debug)]
pub struct Object {
    pub class: Rc<ClassOf>,
    pub fields: RefCell<FxMap<Sym, Place>>,
}

/// A class with its template arguments.
#[derive(Debug)]
pub struct ClassOf {
    /// None for memory whose fields are known only by their uses.
    pub class: Option<Rc<Class>>,
    pub args: Vec<Value>,
}

#[derive(Debug)]
pub struct Closure {
    pub lambda: Rc<Lambda>,
    pub vars: Vec<(Sym, Place)>,
    pub this: Option<Place>,
    pub class: Option<Rc<Class>>,
    pub templates: Vec<(Sym, Value)>,
    pub unit: usize,
}

#[derive(Debug, Clone)]
pub enum Ty {
    Unknown,
    Void,
    Int(IntTy),
    Float(u8),
    Ptr(Rc<Ty>),
    Str,
    List(Rc<Ty>),
    Array(Rc<Ty>, usize),
    Map(Rc<Ty>, Rc<Ty>, bool),
    Set(Rc<Ty>, bool),
    Tuple(Rc<Vec<Ty>>),
    Class(Rc<ClassOf>),
    Owner(Rc<Ty>),
    Func,
}

/// The result of an expression: a place, or a value that nothing else holds.
#[derive(Debug, Clone)]
pub enum Slot {
    Place(Place),
    Value(Value),
}

impl Slot {
    pub fn read(&self) -> Value {
        match self {
            Slot::Place(place) => place.borrow().clone(),
            Slot::Value(value) => value.clone(),
        }
    }

    /// A place with the value; a temporary one for a value.
    pub fn into_place(self) -> Place {
        match self {
            Slot::Place(place) => place,
            Slot::Value(value) => place(value),
        }
    }

    /// The value, as a copy if it is held elsewhere.
    pub fn take(self) -> Value {
        match self {
            Slot::Place(place) => place.borrow().copied(),
            Slot::Value(value) => value,
        }
    }
}

impl Value {
    pub fn int(value: i64) -> Value {
        Value::Int(value, IntTy::of(value))
    }

    pub fn size(value: usize) -> Value {
        Value::Int(value as i64, IntTy::U64)
    }

    pub fn bool(value: bool) -> Value {
        Value::Int(i64::from(value), IntTy::Bool)
    }

    pub fn list(items: Vec<Value>, item: Ty) -> Value {
        let items = RefCell::new(items.into_iter().map(place).collect());
        Value::List(Rc::new(List {
            items,
            item: RefCell::new(item),
            raw: RefCell::new(None),
            reverse: RefCell::default(),
        }))
    }

    pub fn map(value: Ty, sorted: bool, set: bool) -> Value {
        Value::Map(Rc::new(Map { entries: RefCell::default(), value, sorted, set }))
    }

    /// A copy of objects, lists and maps; pointers point to the same things.
    pub fn copied(&self) -> Value {
        let again = |inner: &Place| place(inner.borrow().copied());
        match self {
            Value::Object(object) => {
                let fields = object.fields.borrow().iter().map(|(name, inner)| (*name, again(inner))).collect();
                Value::Object(Rc::new(Object { class: object.class.clone(), fields: RefCell::new(fields) }))
            }
            Value::List(list) => {
                let items = list.items.borrow().iter().map(again).collect();
                let (item, raw) = (list.item.borrow().clone(), list.raw.borrow().clone());
                let (item, raw) = (RefCell::new(item), RefCell::new(raw));
                Value::List(Rc::new(List { items: RefCell::new(items), item, raw, reverse: RefCell::default() }))
            }
            Value::Map(map) => {
                let entries = map.entries.borrow().iter().map(|(key, inner)| (key.clone(), again(inner))).collect();
                let (value, sorted, set) = (map.value.clone(), map.sorted, map.set);
                Value::Map(Rc::new(Map { entries: RefCell::new(entries), value, sorted, set }))
            }
            Value::Tuple(items) => Value::Tuple(Rc::new(items.iter().map(again).collect())),
            other => other.clone(),
        }
    }

    pub fn number(&self) -> Option<i64> {
        match self {
            Value::Int(value, _) => Some(*value),
            Value::Zero => Some(0),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<Rc<str>> {
        match self {
            Value::Str(text) => Some(text.clone()),
            Value::Zero => Some("".into()),
            _ => None,
        }
    }

    /// Whether a condition holds; None for values without a truth.
    pub fn truth(&self) -> Option<bool> {
        Some(match self {
            Value::Int(value, _) => *value != 0,
            Value::Float(value, _) => *value != 0.0,
            Value::Null | Value::Zero => false,
            Value::Ptr(_) | Value::At(..) | Value::Fn(_) | Value::Lambda(_) | Value::Str(_) | Value::Host(..) => true,
            Value::List(_) => true,
            _ => return None,
        })
    }
}

impl List {
    pub fn raw(start: Value) -> Rc<List> {
        Rc::new(List {
            items: RefCell::default(),
            item: RefCell::new(Ty::Unknown),
            raw: RefCell::new(Some(start)),
            reverse: RefCell::default(),
        })
    }

    /// The place of an item; memory without a fixed size grows.
    pub fn at(&self, index: i64) -> Option<Place> {
        let index = usize::try_from(index).ok()?;
        if let Some(found) = self.items.borrow().get(index) {
            return Some(found.clone());
        }
        let start = self.raw.borrow().clone()?;
        let mut items = self.items.borrow_mut();
        if index > (1 << 24) {
            return None;
        }
        while items.len() <= index {
            items.push(place(start.copied()));
        }
        items.get(index).cloned()
    }
}

impl Object {
    /// An object whose fields are known only by their uses.
    pub fn loose() -> Value {
        let class = Rc::new(ClassOf { class: None, args: Vec::new() });
        Value::Object(Rc::new(Object { class, fields: RefCell::default() }))
    }

    pub fn field(&self, name: Sym) -> Option<Place> {
        if let Some(found) = self.fields.borrow().get(&name) {
            return Some(found.clone());
        }
        if self.class.class.is_some() {
            return None;
        }
        let made = place(Value::Zero);
        self.fields.borrow_mut().insert(name, made.clone());
        Some(made)
    }
}

/// An argument; a list in braces gets its meaning from the parameter.
#[derive(Debug, Clone)]
pub enum Arg {
    Slot(Slot),
    Braces(Expr),
}
