//! Objects that outlive the function that makes them: the heap, the pointers of `std` that own objects, atomic numbers
//! and maps. They are followed only in a run that starts with its process, because only such a run sees every change.

use super::init::MOST_IN_LIST;
use super::machine::Machine;
use super::records::Run;
use super::types::MAX_ITEMS;
use super::value::{MemoryPlace, Ty, Value};
use crate::syntax::ast::{Binary, Designator, Expr, ExprKind, Name, TemplateArg};
use crate::syntax::files::Span;
use crate::syntax::sym::{self, Sym};
use say::say;
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// The meaning of a type of `std` with these arguments.
    pub(super) fn library_type(&self, name: Sym, args: &[Value]) -> Option<Ty> {
        let ty = |at: usize| match args.get(at) {
            Some(Value::Type(ty)) => Some(ty.clone()),
            _ => None,
        };
        Some(match self.program.text(name) {
            // The type may be incomplete here: its name is then unknown.
            "shared_ptr" | "unique_ptr" | "weak_ptr" => Ty::Owner(ty(0).unwrap_or_else(|| Rc::new(Ty::Unknown))),
            "atomic" => ty(0)?.as_ref().clone(),
            "map" | "unordered_map" => Ty::Map(ty(0)?, ty(1)?),
            "deque" | "list" | "initializer_list" => Ty::List(ty(0)?),
            _ => return None,
        })
    }

    /// A new object on the heap.
    pub(super) fn allocate(&mut self, ty: &Ty, args: &[Expr], at: Span) -> Run<Value> {
        let outer = self.lasting.take();
        if let Ty::Struct(instance) = ty {
            self.lasting = Some(Arc::as_ptr(&instance.of) as usize);
        }
        let object = self.construct(ty, args, at);
        self.lasting = outer;
        Ok(Value::Ptr(self.global(object?)))
    }

    /// Functions of `std` that make objects or run a function.
    pub(super) fn library_call(&mut self, full: &Name, args: &[Expr], at: Span) -> Run<Option<Value>> {
        let [first, last] = full.path.as_slice() else { return Ok(None) };
        if first.sym != sym::STD {
            return Ok(None);
        }
        Ok(match self.program.text(last.sym) {
            "make_shared" | "make_unique" => {
                let Some([TemplateArg::Type(ty)]) = last.args.as_deref() else { return Ok(None) };
                let ty = self.resolve(ty)?;
                Some(match (&ty, args) {
                    // An object without a constructor is zeroed.
                    (Ty::Struct(instance), []) if !self.has_constructor(instance) => {
                        let object = self.default_value(&ty, true, at)?;
                        Value::Ptr(self.global(object))
                    }
                    _ => self.allocate(&ty, args, at)?,
                })
            }
            // The function runs at once. Its effects are those of a thread that has ended.
            "async" => {
                let Some((function, rest)) = args.split_first() else { return Ok(None) };
                let given: Vec<Expr> = rest.iter().map(|arg| self.referred(arg).clone()).collect();
                let function = self.eval(function)?;
                self.call_value(&function, &given, at)?;
                Some(Value::Opaque(at))
            }
            "to_string" => {
                let Some(value) = args.first() else { return Ok(None) };
                let value = self.eval(value)?;
                self.settle(&value).map(|number| Value::Str(number.to_string().into()))
            }
            "ref" | "cref" => match args {
                [only] => Some(self.eval(only)?),
                _ => None,
            },
            "find_if" => match args {
                [from, to, _] => match (self.decayed(from)?, self.decayed(to)?) {
                    // In an empty range, the function is never called.
                    (Value::Ptr(from), Value::Ptr(to)) if from == to => Some(Value::Ptr(to)),
                    _ => None,
                },
                _ => None,
            },
            "sort" | "stable_sort" => {
                let (from, to, order) = match args {
                    [from, to] => (from, to, None),
                    [from, to, order] => (from, to, Some(order)),
                    _ => return Ok(None),
                };
                let (Value::Ptr(from), Value::Ptr(to)) = (self.decayed(from)?, self.decayed(to)?) else {
                    return Ok(None);
                };
                let order = match order {
                    Some(order) => Some(self.eval(order)?),
                    None => None,
                };
                self.sort(from, to, order.as_ref(), at)?
            }
            "fill_n" => {
                let [from, count, value] = args else { return Ok(None) };
                let (from, count, value) = (self.decayed(from)?, self.eval(count)?, self.eval(value)?);
                let (Value::Ptr(mut place), Some(count)) = (from, self.settle(&count)) else { return Ok(None) };
                for _ in 0..count {
                    self.step(at)?;
                    self.store(place, value.clone())?;
                    let Some(next) = place.moved(1) else { break };
                    place = next;
                }
                Some(Value::Void)
            }
            _ => None,
        })
    }

    /// Sorts a range by insertion, as libstdc++ does for short ranges. None if it is not a range or too long.
    fn sort(&mut self, from: MemoryPlace, to: MemoryPlace, order: Option<&Value>, at: Span) -> Run<Option<Value>> {
        const SHORT: usize = 16;
        let Some(items) = self.range(from, to).filter(|items| items.len() <= SHORT) else { return Ok(None) };
        let mut sorted: Vec<Value> = Vec::with_capacity(items.len());
        for item in items {
            let mut position = sorted.len();
            while let Some(before) = position.checked_sub(1).and_then(|before| sorted.get(before)).cloned() {
                self.step(at)?;
                let less = match order {
                    Some(order) => self.call_with(order, vec![item.clone(), before])?,
                    None => self.binary(Binary::Lt, &item, &before, at)?,
                };
                match self.truth(&less) {
                    Some(true) => position -= 1,
                    Some(false) => break,
                    None => return Ok(None),
                }
            }
            sorted.insert(position, item);
        }
        let mut place = from;
        for item in sorted {
            self.write(place, item);
            let Some(next) = place.moved(1) else { return Ok(None) };
            place = next;
        }
        Ok(Some(Value::Void))
    }

    /// Treats `std::ref(x)` as x.
    fn referred<'e>(&self, expr: &'e Expr) -> &'e Expr {
        let ExprKind::Call(callee, args) = &expr.kind else { return expr };
        let ExprKind::Name(name) = &callee.kind else { return expr };
        match (name.path.as_slice(), args.as_slice()) {
            ([first, last], [only])
                if first.sym == sym::STD && matches!(self.program.text(last.sym), "ref" | "cref" | "move") =>
            {
                only
            }
            _ => expr,
        }
    }

    fn has_constructor(&self, instance: &super::value::Instance) -> bool {
        self.program.members(&instance.of).methods.iter().any(|method| Some(method.name) == instance.of.name)
    }

    /// The value of a member without an initialiser. The constructors of its objects run.
    pub(super) fn member_value(&mut self, ty: &Ty, zero: bool, at: Span) -> Run<Value> {
        match ty {
            Ty::Struct(instance) if self.starting && self.has_constructor(instance) => self.construct(ty, &[], at),
            Ty::Array(item, count) if self.starting && self.is_constructed(item) => {
                let mut items = Vec::new();
                for _ in 0..(*count).min(MAX_ITEMS) {
                    items.push(self.member_value(item, zero, at)?);
                }
                Ok(Value::array(items))
            }
            _ => self.default_value(ty, zero, at),
        }
    }

    /// Whether objects of this type are made by a constructor, which may give each one its own parts.
    pub(super) fn is_constructed(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Struct(instance) => self.has_constructor(instance),
            Ty::Array(item, _) => self.is_constructed(item),
            _ => false,
        }
    }

    /// Methods of owning pointers and of atomic numbers.
    pub(super) fn owner_method(
        &mut self,
        place: Option<MemoryPlace>,
        value: &Value,
        name: Sym,
        args: &[Expr],
        at: Span,
    ) -> Run<Option<Value>> {
        let pointer = matches!(value, Value::Ptr(_) | Value::Null | Value::Pointer(..));
        let number = matches!(value, Value::Int(..));
        Ok(match (self.program.text(name), args) {
            ("get" | "lock", []) if pointer => Some(value.clone()),
            ("expired", []) if pointer => Some(Value::bool(matches!(value, Value::Null))),
            ("reset", rest) if pointer => {
                let new = match rest.first() {
                    Some(new) => self.eval(new)?,
                    None => Value::Null,
                };
                let Some(place) = place else { return Ok(None) };
                self.write(place, new);
                Some(Value::Void)
            }
            ("load", _) if number => Some(value.clone()),
            ("store", [new, ..]) if number => {
                let (Some(place), new) = (place, self.eval(new)?) else { return Ok(None) };
                Some(self.store(place, new)?)
            }
            ("fetch_add", [by, ..]) if number => {
                let (Some(place), by) = (place, self.eval(by)?) else { return Ok(None) };
                let sum = self.binary(Binary::Add, value, &by, at)?;
                self.store(place, sum)?;
                Some(value.clone())
            }
            _ => None,
        })
    }

    /// The types of the map at a place.
    pub(super) fn map_at(&self, place: MemoryPlace) -> Option<(Rc<Ty>, Rc<Ty>)> {
        match self.peek(place) {
            Some(Value::Agg(agg)) => match agg.item.as_deref() {
                Some(Ty::Map(key, held)) => Some((key.clone(), held.clone())),
                _ => None,
            },
            _ => None,
        }
    }

    /// The place of `map[key]`, which is added if the map does not have it.
    pub(super) fn entry(&mut self, map: MemoryPlace, key: &Rc<Ty>, held: &Rc<Ty>, index: &Expr) -> Run<MemoryPlace> {
        let at = index.span;
        let wanted = self.key(key, index)?;
        let index = match self.find_key(map, &wanted) {
            Some(Some(index)) => index,
            Some(None) => {
                let value = self.default_value(held, true, at)?;
                self.add(map, (key, held), wanted, value, at)?
            }
            None => return Err(self.unsure(at, say!("cxx-open-map-key"))),
        };
        let place = map.part(index).and_then(|entry| entry.part(1));
        place.ok_or_else(|| self.unsure(at, say!("cxx-open-map-key")))
    }

    fn key(&mut self, ty: &Ty, expr: &Expr) -> Run<Value> {
        match ty {
            Ty::Struct(_) => self.initialise(ty, expr),
            _ => {
                let value = self.eval(expr)?;
                match (&value, ty) {
                    (Value::Str(_), _) => Ok(value),
                    (Value::Ptr(_) | Value::Agg(_), Ty::Named(name)) if *name == sym::STRING => {
                        Ok(self.text_of(&value).map_or(Value::Opaque(expr.span), |text| Value::Str(text.into())))
                    }
                    _ => self.convert_to(ty, value),
                }
            }
        }
    }

    /// The position of a key; the outer None if it cannot be compared.
    fn find_key(&mut self, map: MemoryPlace, wanted: &Value) -> Option<Option<usize>> {
        let count = match self.peek(map) {
            Some(Value::Agg(agg)) => agg.items.len(),
            _ => return None,
        };
        if let Value::Str(wanted) = wanted
            && let Some(known) = self.find_text(map, wanted)
        {
            return Some(known);
        }
        for index in 0..count {
            let key = self.peek(map.part(index)?.part(0)?)?.clone();
            match self.same_key(&key, wanted) {
                Some(true) => return Some(Some(index)),
                Some(false) => {}
                None => return None,
            }
        }
        Some(None)
    }

    /// The position of a text among the keys of a map, if all of them are texts.
    fn find_text(&self, map: MemoryPlace, wanted: &str) -> Option<Option<usize>> {
        let Value::Agg(map) = self.peek(map)? else { return None };
        for (index, entry) in map.items.iter().enumerate() {
            let Value::Agg(entry) = entry else { return None };
            match entry.items.first()? {
                Value::Str(key) if **key == *wanted => return Some(Some(index)),
                Value::Str(_) => {}
                _ => return None,
            }
        }
        Some(None)
    }

    fn same_key(&mut self, a: &Value, b: &Value) -> Option<bool> {
        match (a, b) {
            (Value::Int(..), Value::Int(..)) => Some(self.settle(a)? == self.settle(b)?),
            (Value::Str(a), Value::Str(b)) => Some(a == b),
            (Value::Ptr(a), Value::Ptr(b)) => Some(a == b),
            (Value::Null, Value::Null) => Some(true),
            (Value::Null, Value::Ptr(_)) | (Value::Ptr(_), Value::Null) => Some(false),
            (Value::Agg(a), Value::Agg(b)) if a.items.len() == b.items.len() => {
                let mut same = true;
                for (a, b) in a.items.iter().zip(&b.items) {
                    same &= self.same_key(a, b)?;
                }
                Some(same)
            }
            _ => None,
        }
    }

    fn add(
        &mut self,
        map: MemoryPlace,
        (key, held): (&Rc<Ty>, &Rc<Ty>),
        at_key: Value,
        value: Value,
        at: Span,
    ) -> Run<usize> {
        let unknown = |machine: &Self| machine.unsure(at, say!("cxx-open-map-key"));
        let Some(pair) = self.program.interner.get("pair") else { return Err(unknown(self)) };
        let args = vec![Value::Type(key.clone()), Value::Type(held.clone())];
        let ty = self.named_with(pair, args)?;
        let Value::Agg(mut entry) = self.default_value(&ty, true, at)? else { return Err(unknown(self)) };
        let count = match self.peek(map) {
            Some(Value::Agg(agg)) => agg.items.len(),
            _ => return Err(unknown(self)),
        };
        match Rc::make_mut(&mut entry).items.as_mut_slice() {
            [first, second] if count < MOST_IN_LIST => (*first, *second) = (at_key, value),
            _ => return Err(unknown(self)),
        }
        self.append(map, Value::Agg(entry));
        Ok(count)
    }

    /// Methods of maps. None for those that every container has.
    pub(super) fn map_method(
        &mut self,
        place: Option<MemoryPlace>,
        (key, held): (&Rc<Ty>, &Rc<Ty>),
        method: &str,
        args: &[Expr],
        at: Span,
    ) -> Run<Option<Value>> {
        let Some(map) = place else { return Ok(None) };
        let count = match self.peek(map) {
            Some(Value::Agg(agg)) => agg.items.len(),
            _ => return Ok(None),
        };
        let position = |index: usize| map.part(index).map_or(Value::Opaque(at), Value::Ptr);
        Ok(match (method, args) {
            ("find" | "count" | "contains" | "at", [wanted]) => {
                let wanted = self.key(key, wanted)?;
                Some(match (self.find_key(map, &wanted), method) {
                    (None, _) => Value::Opaque(at),
                    (Some(found), "find") => position(found.unwrap_or(count)),
                    (Some(found), "count") => Value::size(usize::from(found.is_some())),
                    (Some(found), "contains") => Value::bool(found.is_some()),
                    (Some(Some(found)), _) => match map.part(found).and_then(|entry| entry.part(1)) {
                        Some(place) => Value::Ref(place),
                        None => Value::Opaque(at),
                    },
                    (Some(None), _) => {
                        let what = self.program.files.text(at);
                        return Err(super::records::Stop::Abort { at, what });
                    }
                })
            }
            ("insert" | "emplace" | "try_emplace", given) => {
                let parts: Vec<&Expr> = match given {
                    [Expr { kind: ExprKind::Init(list), .. }] if list.len() == 2 => {
                        list.iter().map(|(_, value)| value).collect()
                    }
                    [_, _] => given.iter().collect(),
                    _ => return Ok(None),
                };
                let [first, second] = parts.as_slice() else { return Ok(None) };
                let wanted = self.key(key, first)?;
                let value = self.initialise(held, second)?;
                match self.find_key(map, &wanted) {
                    None => return Err(self.unsure(at, say!("cxx-open-map-key"))),
                    Some(Some(_)) => {}
                    Some(None) => drop(self.add(map, (key, held), wanted, value, at)?),
                }
                Some(Value::Opaque(at))
            }
            ("size" | "empty" | "begin" | "end" | "cbegin" | "cend" | "clear" | "reserve", []) => None,
            ("reserve", _) => Some(Value::Void),
            _ => {
                self.taint(map, at);
                Some(Value::Opaque(at))
            }
        })
    }

    /// `{{k, v}, ...}`.
    pub(super) fn initialise_map(
        &mut self,
        key: &Rc<Ty>,
        held: &Rc<Ty>,
        items: &[(Option<Designator>, Expr)],
        at: Span,
    ) -> Run<Value> {
        let place = self.push_temporary(Value::map(Vec::new(), key.clone(), held.clone()));
        for (_, item) in items {
            self.map_method(Some(place), (key, held), "insert", std::slice::from_ref(item), at)?;
        }
        let map = self.read(place, at);
        self.drop_temporary(place);
        Ok(map)
    }
}
