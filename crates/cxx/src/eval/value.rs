//! Values. An integer may depend on the input. It then stores its slope or its symbolic form, and every decision on it
//! narrows the range of inputs for which this run is valid. Therefore one run computes the exact answer for a whole
//! range.

use crate::syntax::ast::{Lambda, Struct, View};
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use crate::syntax::sym::Sym;
use std::rc::Rc;
use std::sync::Arc;

/// Marks an integer whose dependence cannot be tracked. A decision on it is valid for one input only.
pub const CURVED: i64 = i64::MIN;

#[derive(Debug, Clone, Default)]
pub enum Value {
    #[default]
    Uninit,
    /// An integer variable with an unknown value. It keeps its type and the position that made it unknown, if any.
    Unset(IntTy, Span),
    Void,
    Null,
    /// The value at the input of the run, its dependence on the input, and its type.
    Int(i64, i64, IntTy),
    /// The second field is the number of bits: 32 or 64.
    Float(f64, u8),
    Str(Rc<str>),
    Ptr(MemoryPlace),
    Ref(MemoryPlace),
    Fn(Rc<FnValue>),
    Lambda(Rc<Closure>),
    Agg(Rc<Agg>),
    Type(Rc<Ty>),
    Pack(Rc<Vec<Value>>),
    /// A non-null pointer to memory of this type that is not modelled; its address, if known.
    Pointer(Rc<Ty>, Option<i64>),
    /// An unknown value, and the position that made it unknown.
    Opaque(Span),
}

/// A function's name with template arguments, not yet called.
#[derive(Debug)]
pub struct FnValue {
    pub name: Sym,
    pub args: Vec<Value>,
    /// The scope in which the type was named.
    pub view: View,
}

#[derive(Debug)]
pub struct Closure {
    pub lambda: Arc<Lambda>,
    /// The start of the frame of the function that created the lambda.
    pub base: usize,
    /// The size of that frame.
    pub size: usize,
    /// The name of that function.
    pub name: Option<Sym>,
    /// The captured variables, by slot, with their values at the creation of the lambda.
    pub kept: Vec<(u32, Value)>,
}

#[derive(Debug, Clone)]
pub struct Agg {
    pub shape: Shape,
    pub items: Vec<Value>,
    /// The item type of a growable list.
    pub item: Option<Rc<Ty>>,
}

#[derive(Debug, Clone)]
pub enum Shape {
    Array,
    Struct(Rc<Instance>),
}

/// A struct with its template arguments.
#[derive(Debug)]
pub struct Instance {
    pub of: Arc<Struct>,
    pub args: Vec<Value>,
}

#[derive(Debug, Clone)]
pub enum Ty {
    Void,
    Bool,
    Int(u8, bool),
    Float(u8),
    Ptr(Rc<Ty>),
    Array(Rc<Ty>, usize),
    /// A `std::vector` with items of this type.
    List(Rc<Ty>),
    /// A `std::map` with these keys and values.
    Map(Rc<Ty>, Rc<Ty>),
    /// A pointer of `std` that owns its object: null until something is stored.
    Owner(Rc<Ty>),
    Struct(Rc<Instance>),
    Enum,
    Named(Sym),
    Func,
    Unknown,
}

/// A place in memory: a variable, and the path to a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPlace {
    pub root: u32,
    pub len: u8,
    pub path: [u16; 7],
}

/// Roots with this number or a higher one are globals.
pub const GLOBAL_ROOT: u32 = 1 << 31;

impl MemoryPlace {
    pub fn new(root: u32) -> MemoryPlace {
        MemoryPlace { root, len: 0, path: [0; 7] }
    }

    /// The place one level further down. None if that is deeper than real code needs.
    pub fn part(mut self, index: usize) -> Option<MemoryPlace> {
        *self.path.get_mut(usize::from(self.len))? = u16::try_from(index).ok()?;
        self.len += 1;
        Some(self)
    }

    pub fn steps(&self) -> &[u16] {
        self.path.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// The element `by` further on in the same array.
    pub fn moved(mut self, by: i64) -> Option<MemoryPlace> {
        let last = self.path.get_mut(usize::from(self.len).checked_sub(1)?)?;
        *last = u16::try_from(i64::from(*last).checked_add(by)?).ok()?;
        Some(self)
    }
}

impl Value {
    /// An int, or a long if the value does not fit an int.
    pub fn int(value: i64) -> Value {
        Value::Int(value, 0, IntTy::of(value))
    }

    pub fn typed(value: i64, ty: IntTy) -> Value {
        Value::Int(value, 0, ty)
    }

    pub fn char(byte: u8) -> Value {
        Value::Int(i64::from(byte as i8), 0, IntTy::I8)
    }

    /// The result of `sizeof`, `size()` and similar.
    pub fn size(value: usize) -> Value {
        Value::Int(value as i64, 0, IntTy::U64)
    }

    /// The declared type of a variable that holds this value, as far as the value shows.
    pub fn int_ty(&self) -> Option<IntTy> {
        match self {
            Value::Int(_, _, ty) | Value::Unset(ty, _) => Some(*ty),
            _ => None,
        }
    }

    pub fn bool(value: bool) -> Value {
        Value::Int(i64::from(value), 0, IntTy::Bool)
    }

    pub fn array(items: Vec<Value>) -> Value {
        Value::Agg(Rc::new(Agg { shape: Shape::Array, items, item: None }))
    }

    pub(super) fn map(items: Vec<Value>, key: Rc<Ty>, held: Rc<Ty>) -> Value {
        Value::list(items, Rc::new(Ty::Map(key, held)))
    }

    pub fn list(items: Vec<Value>, item: Rc<Ty>) -> Value {
        Value::Agg(Rc::new(Agg { shape: Shape::Array, items, item: Some(item) }))
    }

    /// Whether any number in the value depends on the input.
    pub fn varies(&self) -> bool {
        match self {
            Value::Int(_, dependence, _) => *dependence != 0,
            Value::Agg(agg) => agg.items.iter().any(Value::varies),
            Value::Pack(list) => list.iter().any(Value::varies),
            _ => false,
        }
    }

    /// The type that a template parameter would be deduced as.
    pub fn ty(&self) -> Ty {
        match self {
            Value::Pointer(ty, _) => Ty::Ptr(ty.clone()),
            Value::Float(_, bits) => Ty::Float(*bits),
            Value::Int(_, _, IntTy::Bool) | Value::Unset(IntTy::Bool, _) => Ty::Bool,
            Value::Int(_, _, ty) | Value::Unset(ty, _) => Ty::Int(ty.bits(), ty.signed()),
            Value::Fn(_) | Value::Lambda(_) => Ty::Func,
            Value::Agg(agg) => match &agg.shape {
                Shape::Struct(instance) => Ty::Struct(instance.clone()),
                Shape::Array => match &agg.item {
                    Some(item) if matches!(**item, Ty::Map(..)) => item.as_ref().clone(),
                    Some(item) => Ty::List(item.clone()),
                    None => Ty::Unknown,
                },
            },
            _ => Ty::Unknown,
        }
    }

    /// Equality of values that can be template arguments.
    pub fn same(&self, other: &Value) -> Option<bool> {
        Some(match (self, other) {
            (Value::Int(a, 0, _), Value::Int(b, 0, _)) => a == b,
            (Value::Null, Value::Null) => true,
            (Value::Fn(a), Value::Fn(b)) => a.name == b.name,
            (Value::Type(a), Value::Type(b)) => return a.same(b),
            (Value::Fn(_), Value::Null) | (Value::Null, Value::Fn(_)) => false,
            _ => return None,
        })
    }
}

impl Ty {
    pub fn of(ty: IntTy) -> Ty {
        if ty == IntTy::Bool { Ty::Bool } else { Ty::Int(ty.bits(), ty.signed()) }
    }

    pub fn int_ty(&self) -> Option<IntTy> {
        match self {
            Ty::Bool => Some(IntTy::Bool),
            Ty::Int(bits, signed) => Some(IntTy::new(*bits, *signed)),
            _ => None,
        }
    }

    /// Whether two types are the same; None if one of the types is not known precisely enough.
    pub fn same(&self, other: &Ty) -> Option<bool> {
        Some(match (self, other) {
            (Ty::Unknown, _) | (_, Ty::Unknown) => return None,
            (Ty::Void, Ty::Void) | (Ty::Bool, Ty::Bool) | (Ty::Func, Ty::Func) | (Ty::Enum, Ty::Enum) => true,
            (Ty::Int(a, x), Ty::Int(b, y)) => a == b && x == y,
            (Ty::Float(a), Ty::Float(b)) => a == b,
            (Ty::Ptr(a), Ty::Ptr(b)) => return a.same(b),
            (Ty::Array(a, n), Ty::Array(b, m)) => return if n == m { a.same(b) } else { Some(false) },
            (Ty::List(a), Ty::List(b)) | (Ty::Owner(a), Ty::Owner(b)) => return a.same(b),
            (Ty::Map(a, x), Ty::Map(b, y)) => {
                return match a.same(b) {
                    Some(true) => x.same(y),
                    other => other,
                };
            }
            (Ty::Named(a), Ty::Named(b)) => a == b,
            (Ty::Struct(a), Ty::Struct(b)) => {
                if a.of.name != b.of.name || a.args.len() != b.args.len() {
                    return Some(false);
                }
                for (x, y) in a.args.iter().zip(&b.args) {
                    match x.same(y) {
                        Some(true) => {}
                        other => return other,
                    }
                }
                true
            }
            _ => false,
        })
    }
}
