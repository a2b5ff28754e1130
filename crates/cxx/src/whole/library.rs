//! The part of the standard library that host code uses: containers, strings, algorithms, memory and text.

use super::eval::kind;
use super::machine::{Halt, Machine, Run};
use super::tree::{Expr, Name};
use super::types::decayed;
use super::value::{Arg, List, Map, Place, Slot, Ty, Value, place};
use crate::syntax::ast::Binary;
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use std::rc::Rc;

impl Machine<'_> {
    /// Checks and logs that are kept as calls.
    pub(super) fn assertion(&mut self, name: &str, list: &[Expr], at: Span) -> Run<Option<Slot>> {
        if self.ignored.contains(&name) {
            return Ok(Some(Slot::Value(Value::Void)));
        }
        if self.asserted.contains(&name) {
            let holds = match list.first() {
                Some(cond) => self.truth(cond)?,
                None => false,
            };
            if !holds {
                return Err(Halt::Ended { at, what: self.units.program.files.text(at) });
            }
            return Ok(Some(Slot::Value(Value::Void)));
        }
        if self.aborts.contains(&name) {
            return Err(Halt::Ended { at, what: self.units.program.files.text(at) });
        }
        Ok(None)
    }

    pub(super) fn add_library(&mut self) {
        self.provide("memcpy", |machine, _, args| copy_memory(machine, args));
        self.provide("memmove", |machine, _, args| copy_memory(machine, args));
        self.provide("memset", |machine, _, args| fill_memory(machine, args));
        for name in ["malloc", "calloc"] {
            self.provide(name, |_, _, _| Ok(Slot::Value(Value::At(List::raw(Value::Zero), 0))));
        }
        self.provide("realloc", |_, _, args| {
            Ok(Slot::Value(match args.first().map(Slot::read) {
                Some(Value::At(list, index)) => Value::At(list, index),
                _ => Value::At(List::raw(Value::Zero), 0),
            }))
        });
        for name in ["free", "printf", "fprintf", "fputs", "fflush", "abort_unused"] {
            self.provide(name, |_, _, _| Ok(Slot::Value(Value::Void)));
        }
        self.provide("getenv", |_, _, _| Ok(Slot::Value(Value::Null)));
        self.provide("snprintf", |machine, _, args| {
            let text = formatted(machine, args.get(2..).unwrap_or_default())?;
            let length = text.len() as i64;
            if let Some(slot) = args.first() {
                write_text(slot, &text);
            }
            Ok(Slot::Value(Value::int(length)))
        });
        self.provide("strcmp", |machine, _, args| {
            let [a, b] = texts(machine, args)?;
            Ok(Slot::Value(Value::int(a.as_bytes().cmp(b.as_bytes()) as i64)))
        });
        self.provide("strncmp", |machine, _, args| {
            let [a, b] = texts(machine, args)?;
            let most = args.get(2).and_then(|slot| slot.read().number()).unwrap_or(0) as usize;
            let cut = |text: &Rc<str>| text.bytes().take(most).collect::<Vec<u8>>();
            Ok(Slot::Value(Value::int(cut(&a).cmp(&cut(&b)) as i64)))
        });
        self.provide("strlen", |machine, _, args| match args.first().and_then(|slot| slot.read().text()) {
            Some(text) => Ok(Slot::Value(Value::size(text.len()))),
            None => machine.lost("a length of text"),
        });
        self.provide("strstr", |machine, _, args| {
            let [a, b] = texts(machine, args)?;
            Ok(Slot::Value(match a.find(&*b) {
                Some(at) => Value::Str(a.get(at..).unwrap_or("").into()),
                None => Value::Null,
            }))
        });
        self.provide("strncpy", |_, _, args| {
            if let [to, from, ..] = args
                && let Some(text) = from.read().text()
            {
                write_text(to, &text);
            }
            Ok(Slot::Value(Value::Void))
        });
        self.provide("atoi", |_, _, args| {
            let text = args.first().and_then(|slot| slot.read().text()).unwrap_or_default();
            Ok(Slot::Value(Value::int(text.trim().parse().unwrap_or(0))))
        });
        for (name, function) in FLOATS {
            self.provide(name, move |machine, _, args| {
                let Some(Value::Float(x, bits)) = args.first().map(|slot| float(&slot.read())) else {
                    return machine.lost("a number");
                };
                let single = name.ends_with('f') && *name != "erf";
                let bits = if single { 32 } else { bits };
                let y = function(x);
                Ok(Slot::Value(Value::Float(if bits == 32 { f64::from(y as f32) } else { y }, bits)))
            });
        }
        for name in ["powf", "pow"] {
            self.provide(name, move |machine, _, args| {
                let (Some(Value::Float(x, a)), Some(Value::Float(y, b))) =
                    (args.first().map(|slot| float(&slot.read())), args.get(1).map(|slot| float(&slot.read())))
                else {
                    return machine.lost("a power");
                };
                let bits = if name == "powf" { 32 } else { a.max(b) };
                let z = if bits == 32 { f64::from((x as f32).powf(y as f32)) } else { x.powf(y) };
                Ok(Slot::Value(Value::Float(z, bits)))
            });
        }
        self.provide("abs", |machine, _, args| match args.first().map(Slot::read) {
            Some(Value::Int(value, ty)) => Ok(Slot::Value(Value::Int(value.abs(), ty))),
            Some(Value::Float(value, bits)) => Ok(Slot::Value(Value::Float(value.abs(), bits))),
            _ => machine.lost("a number"),
        });
        self.provide("isfinite", |_, _, args| {
            let finite =
                matches!(args.first().map(|slot| float(&slot.read())), Some(Value::Float(x, _)) if x.is_finite());
            Ok(Slot::Value(Value::bool(finite)))
        });
        self.provide("__atomic_fetch_add", |machine, _, args| {
            let [Value::Ptr(to), by] = [0, 1].map(|at| args.get(at).map_or(Value::Void, Slot::read)) else {
                return machine.lost("an atomic addition");
            };
            let old = to.borrow().clone();
            let new = machine.binary(Binary::Add, &old, &by, Span::default())?;
            machine.store(&to, new, Span::default())?;
            Ok(Slot::Value(old))
        });
        self.provide("va_start", |_, _, _| Ok(Slot::Value(Value::Void)));
        self.provide("va_end", |_, _, _| Ok(Slot::Value(Value::Void)));
    }

    pub(super) fn call_library(&mut self, name: &Rc<Name>, text: &str, list: &[Expr], at: Span) -> Run<Slot> {
        // `std::numeric_limits<T>::max()`.
        if name.path.len() == 3
            && let Some((sym, Some(args))) = name.path.get(1)
            && self.units.text(*sym) == "numeric_limits"
            && let [ty] = args.as_slice()
        {
            let ty = self.resolve(ty)?;
            return Ok(Slot::Value(limit(&ty, text).ok_or_else(|| Halt::NotFollowed { at, what: text.to_owned() })?));
        }
        match text {
            "make_unique" | "make_shared" => {
                let Some([ty]) = name.arguments() else { return self.stuck(at, "make_unique") };
                let ty = self.resolve(ty)?;
                let args = self.arguments(list)?;
                let made = self.construct(&ty, args, at)?;
                return Ok(Slot::Value(Value::Ptr(place(made))));
            }
            "move" | "forward" => {
                let [only] = list else { return self.stuck(at, "std::move") };
                return Ok(Slot::Value(self.slot(only)?.read()));
            }
            "min" | "max" => return self.extreme(text, list, at),
            "get" => {
                let (Some([which]), [only]) = (name.arguments(), list) else { return self.stuck(at, "std::get") };
                let index = self.template_value(which)?.number().and_then(|index| usize::try_from(index).ok());
                if let (Value::Tuple(items), Some(index)) = (self.slot(only)?.read(), index)
                    && let Some(item) = items.get(index)
                {
                    return Ok(Slot::Place(item.clone()));
                }
                return self.stuck(at, "std::get");
            }
            _ => {}
        }
        // A type of the library: `std::string(x)`, `std::vector<T>(n)`.
        let ty = self.library_type(name)?;
        if !matches!(ty, Ty::Unknown)
            && self.units.text(name.path.first().map_or(name.last(), |(sym, _)| *sym)) == "std"
        {
            let args = self.arguments(list)?;
            return Ok(Slot::Value(self.construct(&ty, args, at)?));
        }
        if matches!(text, "runtime_error" | "invalid_argument" | "logic_error") {
            return Err(Halt::Ended { at, what: self.units.program.files.text(at) });
        }
        if let Some(native) = self.natives.get(text).cloned() {
            let slots = self.slots(list)?;
            return native(self, None, &slots);
        }
        let slots = self.slots(list)?;
        self.algorithm(text, &slots, at)
    }

    fn extreme(&mut self, text: &str, list: &[Expr], at: Span) -> Run<Slot> {
        let slots = self.slots(list)?;
        let mut values: Vec<Value> = slots.iter().map(Slot::read).collect();
        if let [Value::List(items)] = values.clone().as_slice() {
            values = items.items.borrow().iter().map(|item| item.borrow().clone()).collect();
        }
        let mut values = values.into_iter();
        let Some(mut best) = values.next() else { return self.stuck(at, "a minimum") };
        for value in values {
            let op = if text == "min" { Binary::Lt } else { Binary::Gt };
            if self.binary(op, &value, &best, at)?.truth() == Some(true) {
                best = value;
            }
        }
        Ok(Slot::Value(best))
    }

    fn algorithm(&mut self, text: &str, slots: &[Slot], at: Span) -> Run<Slot> {
        let values: Vec<Value> = slots.iter().map(|slot| decayed(slot.read())).collect();
        let call = |machine: &mut Self, function: &Value, item: Place| {
            machine.call_value(function, vec![Arg::Slot(Slot::Place(item))], at).map(|slot| slot.read())
        };
        match (text, values.as_slice()) {
            ("fill", [Value::At(list, from), Value::At(_, to), value]) => {
                for index in *from..*to {
                    let Some(item) = list.at(index) else { return self.stuck(at, "a range") };
                    self.store(&item, value.copied(), at)?;
                }
                Ok(Slot::Value(Value::Void))
            }
            ("iota", [Value::At(list, from), Value::At(_, to), first]) => {
                for index in *from..*to {
                    let Some(item) = list.at(index) else { return self.stuck(at, "a range") };
                    let value = self.binary(Binary::Add, first, &Value::int(index - from), at)?;
                    self.store(&item, value, at)?;
                }
                Ok(Slot::Value(Value::Void))
            }
            ("fill_n", [Value::At(list, from), count, value]) => {
                for index in 0..count.number().unwrap_or(0) {
                    let Some(item) = list.at(from + index) else { return self.stuck(at, "a range") };
                    self.store(&item, value.copied(), at)?;
                }
                Ok(Slot::Value(Value::Void))
            }
            ("copy", [Value::At(list, from), Value::At(_, to), Value::At(into, first)]) => {
                for index in *from..*to {
                    let (Some(item), Some(target)) = (list.at(index), into.at(first + index - from)) else {
                        return self.stuck(at, "a range");
                    };
                    let value = item.borrow().copied();
                    self.store(&target, value, at)?;
                }
                Ok(Slot::Value(Value::At(into.clone(), first + to - from)))
            }
            (
                "all_of" | "any_of" | "none_of" | "find_if" | "count_if",
                [Value::At(list, from), Value::At(_, to), function],
            ) => {
                let mut count = 0;
                for index in *from..*to {
                    let Some(item) = list.at(index) else { return self.stuck(at, "a range") };
                    let Some(holds) = call(self, function, item)?.truth() else { return self.stuck(at, "a test") };
                    match (text, holds) {
                        ("all_of", false) => return Ok(Slot::Value(Value::bool(false))),
                        ("any_of", true) => return Ok(Slot::Value(Value::bool(true))),
                        ("none_of", true) => return Ok(Slot::Value(Value::bool(false))),
                        ("find_if", true) => return Ok(Slot::Value(Value::At(list.clone(), index))),
                        (_, true) => count += 1,
                        _ => {}
                    }
                }
                Ok(Slot::Value(match text {
                    "find_if" => Value::At(list.clone(), *to),
                    "count_if" => Value::int(count),
                    _ => Value::bool(text != "any_of"),
                }))
            }
            ("find" | "count", [Value::At(list, from), Value::At(_, to), wanted]) => {
                let mut count = 0;
                for index in *from..*to {
                    let Some(item) = list.at(index) else { return self.stuck(at, "a range") };
                    let item = item.borrow().clone();
                    if self.binary(Binary::Eq, &item, wanted, at)?.truth() == Some(true) {
                        if text == "find" {
                            return Ok(Slot::Value(Value::At(list.clone(), index)));
                        }
                        count += 1;
                    }
                }
                Ok(Slot::Value(if text == "find" { Value::At(list.clone(), *to) } else { Value::int(count) }))
            }
            ("max_element" | "min_element", [Value::At(list, from), Value::At(_, to)]) => {
                let mut best = *from;
                for index in *from..*to {
                    let (Some(item), Some(known)) = (list.at(index), list.at(best)) else {
                        return self.stuck(at, "a range");
                    };
                    let (item, known) = (item.borrow().clone(), known.borrow().clone());
                    let op = if text == "max_element" { Binary::Gt } else { Binary::Lt };
                    if self.binary(op, &item, &known, at)?.truth() == Some(true) {
                        best = index;
                    }
                }
                Ok(Slot::Value(Value::At(list.clone(), best)))
            }
            ("upper_bound", [Value::At(list, from), Value::At(_, to), value]) => {
                for index in *from..*to {
                    let Some(item) = list.at(index) else { return self.stuck(at, "a range") };
                    let item = item.borrow().clone();
                    if self.binary(Binary::Lt, value, &item, at)?.truth() == Some(true) {
                        return Ok(Slot::Value(Value::At(list.clone(), index)));
                    }
                }
                Ok(Slot::Value(Value::At(list.clone(), *to)))
            }
            ("rotate", [Value::At(list, from), Value::At(_, middle), Value::At(_, to)]) => {
                let places: Option<Vec<Place>> = (*from..*to).map(|index| list.at(index)).collect();
                let Some(places) = places else { return self.stuck(at, "a range") };
                let mut values: Vec<Value> = places.iter().map(|item| item.borrow().clone()).collect();
                let by = usize::try_from(middle - from).unwrap_or(0).min(values.len());
                values.rotate_left(by);
                for (item, value) in places.iter().zip(values) {
                    *item.borrow_mut() = value;
                }
                Ok(Slot::Value(Value::At(list.clone(), from + to - middle)))
            }
            ("accumulate", [Value::At(list, from), Value::At(_, to), start]) => {
                let mut sum = start.clone();
                for index in *from..*to {
                    let Some(item) = list.at(index) else { return self.stuck(at, "a range") };
                    let item = item.borrow().clone();
                    sum = self.binary(Binary::Add, &sum, &item, at)?;
                }
                Ok(Slot::Value(sum))
            }
            ("swap", [_, _]) => {
                if let [Slot::Place(a), Slot::Place(b)] = slots {
                    a.swap(b);
                }
                Ok(Slot::Value(Value::Void))
            }
            ("to_string", [value]) => {
                let text = match value {
                    Value::Int(value, ty) => ty.show(*value),
                    Value::Float(value, _) => format!("{value:.6}"),
                    _ => return self.stuck(at, "a number as text"),
                };
                Ok(Slot::Value(Value::Str(text.into())))
            }
            ("make_pair" | "make_tuple" | "pair" | "tuple", _) => {
                Ok(Slot::Value(Value::Tuple(Rc::new(slots.iter().map(|slot| place(slot.clone().take())).collect()))))
            }
            ("begin" | "end" | "size" | "data", [_]) => {
                let Some(slot) = slots.first() else { return self.stuck(at, "a range") };
                self.library_method(&slot.clone().into_place(), text, &[], at)
            }
            ("ref" | "cref", _) => Ok(slots.first().cloned().unwrap_or(Slot::Value(Value::Void))),
            ("next", [Value::At(list, from), ..]) => {
                let by = values.get(1).and_then(Value::number).unwrap_or(1);
                Ok(Slot::Value(Value::At(list.clone(), from + by)))
            }
            ("prev", [Value::At(list, from), ..]) => Ok(Slot::Value(Value::At(list.clone(), from - 1))),
            ("distance", [Value::At(_, from), Value::At(_, to)]) => Ok(Slot::Value(Value::Int(to - from, IntTy::I64))),
            ("sort" | "stable_sort", [Value::At(list, from), Value::At(_, to), rest @ ..]) => {
                self.sort(list, *from, *to, rest.first(), at)?;
                Ok(Slot::Value(Value::Void))
            }
            _ => {
                let kinds: Vec<&str> = values.iter().map(kind).collect();
                self.stuck(at, format!("the function {text} ({})", kinds.join(", ")))
            }
        }
    }

    fn sort(&mut self, list: &Rc<List>, from: i64, to: i64, order: Option<&Value>, at: Span) -> Run<()> {
        let (from, to) = (usize::try_from(from).unwrap_or(0), usize::try_from(to).unwrap_or(0));
        let mut items: Vec<Place> = list.items.borrow().get(from..to).unwrap_or_default().to_vec();
        for end in 1..items.len() {
            let mut at_index = end;
            while at_index > 0 {
                let (Some(a), Some(b)) = (items.get(at_index - 1).cloned(), items.get(at_index).cloned()) else {
                    break;
                };
                let less = match order {
                    Some(order) => {
                        let args = vec![Arg::Slot(Slot::Place(b)), Arg::Slot(Slot::Place(a))];
                        self.call_value(order, args, at)?.read()
                    }
                    None => {
                        let (a, b) = (a.borrow().clone(), b.borrow().clone());
                        self.binary(Binary::Lt, &b, &a, at)?
                    }
                };
                if less.truth() != Some(true) {
                    break;
                }
                items.swap(at_index - 1, at_index);
                at_index -= 1;
            }
        }
        for (slot, item) in list.items.borrow_mut().iter_mut().skip(from).zip(items) {
            *slot = item;
        }
        Ok(())
    }

    /// Adds an entry to a map or set; false if the key was there.
    pub(super) fn insert(&mut self, map: &Rc<Map>, key: Value, value: Value) -> Run<bool> {
        let at = self.here();
        let position = self.find_key(map, &key, at)?;
        if let Ok(_known) = position {
            return Ok(false);
        }
        let Err(position) = position else { return Ok(false) };
        map.entries.borrow_mut().insert(position, (key, place(value)));
        Ok(true)
    }

    /// The position of a key, or where it belongs.
    fn find_key(&mut self, map: &Rc<Map>, key: &Value, at: Span) -> Run<Result<usize, usize>> {
        let count = map.entries.borrow().len();
        for index in 0..count {
            let known = map.entries.borrow().get(index).map(|(known, _)| known.clone());
            let Some(known) = known else { break };
            if self.same_key(&known, key, at)? {
                return Ok(Ok(index));
            }
            if map.sorted && self.less_key(key, &known, at)? {
                return Ok(Err(index));
            }
        }
        Ok(Err(count))
    }

    fn same_key(&mut self, a: &Value, b: &Value, at: Span) -> Run<bool> {
        match (a, b) {
            (Value::Int(a, _), Value::Int(b, _)) => Ok(a == b),
            (Value::Str(a), Value::Str(b)) => Ok(a == b),
            (Value::Tuple(a), Value::Tuple(b)) => {
                for (a, b) in a.iter().zip(b.iter()) {
                    let (a, b) = (a.borrow().clone(), b.borrow().clone());
                    if !self.same_key(&a, &b, at)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Value::Object(_), Value::Object(_)) => Ok(!self.less_key(a, b, at)? && !self.less_key(b, a, at)?),
            _ => Ok(self.binary(Binary::Eq, a, b, at)?.truth() == Some(true)),
        }
    }

    fn less_key(&mut self, a: &Value, b: &Value, at: Span) -> Run<bool> {
        match (a, b) {
            (Value::Int(a, _), Value::Int(b, _)) => Ok(a < b),
            (Value::Str(a), Value::Str(b)) => Ok(a < b),
            // Pointers are ordered by address, which differs between runs; here by insertion.
            (Value::Object(_), Value::Object(_)) => match self.operator(Binary::Lt, a, b, at)? {
                Some(slot) => Ok(slot.read().truth() == Some(true)),
                None => Ok(false),
            },
            _ => Ok(false),
        }
    }

    /// `map[key]`.
    pub(super) fn entry(&mut self, map: &Rc<Map>, key: Value, at: Span) -> Run<Place> {
        let position = match self.find_key(map, &key, at)? {
            Ok(known) => known,
            Err(position) => {
                let value = self.fresh(&map.value.clone(), true)?;
                map.entries.borrow_mut().insert(position, (key, place(value)));
                position
            }
        };
        let found = map.entries.borrow().get(position).map(|(_, held)| held.clone());
        found.map_or_else(|| self.stuck(at, "an entry"), Ok)
    }

    pub(super) fn library_method(&mut self, object: &Place, name: &str, list: &[Expr], at: Span) -> Run<Slot> {
        let value = object.borrow().clone();
        match &value {
            Value::List(items) => self.list_method(object, items, name, list, at),
            Value::Map(map) => self.map_method(map, name, list, at),
            Value::Str(text) => self.text_method(object, text, name, list, at),
            // A pointer that owns its object.
            Value::Ptr(_)
            | Value::Null
            | Value::At(..)
            | Value::Zero
            | Value::Host(..)
            | Value::Fn(_)
            | Value::Lambda(_) => match name {
                "get" | "lock" => Ok(Slot::Value(value.clone())),
                "release" => {
                    *object.borrow_mut() = Value::Null;
                    Ok(Slot::Value(value.clone()))
                }
                "reset" => {
                    let new = match self.slots(list)?.first() {
                        Some(slot) => slot.read(),
                        None => Value::Null,
                    };
                    *object.borrow_mut() = new;
                    Ok(Slot::Value(Value::Void))
                }
                "expired" => Ok(Slot::Value(Value::bool(matches!(value, Value::Null)))),
                _ => {
                    let code = self.units.program.files.text(at);
                    self.stuck(at, format!("the method {name} of {}: {code}", kind(&value)))
                }
            },
            Value::Int(..) if name == "load" => Ok(Slot::Value(value.clone())),
            Value::Int(..) if name == "store" => {
                let slots = self.slots(list)?;
                if let Some(slot) = slots.first() {
                    let new = slot.read();
                    self.store(object, new, at)?;
                }
                Ok(Slot::Value(Value::Void))
            }
            other => {
                let code = self.units.program.files.text(at);
                let kind = kind(other);
                self.stuck(at, format!("the method {name} of {kind}: {code}"))
            }
        }
    }

    fn list_method(&mut self, object: &Place, items: &Rc<List>, name: &str, list: &[Expr], at: Span) -> Run<Slot> {
        let item = items.item.borrow().clone();
        let length = items.items.borrow().len();
        let none = Slot::Value(Value::Void);
        Ok(match name {
            "size" | "length" | "max_size" => Slot::Value(Value::size(length)),
            "empty" => Slot::Value(Value::bool(length == 0)),
            "begin" | "cbegin" | "data" => Slot::Value(Value::At(items.clone(), 0)),
            "end" | "cend" => Slot::Value(Value::At(items.clone(), length as i64)),
            "rbegin" => {
                let back: Vec<Place> = items.items.borrow().iter().rev().cloned().collect();
                let list = List::raw(Value::Zero);
                *list.raw.borrow_mut() = None;
                *list.items.borrow_mut() = back;
                *items.reverse.borrow_mut() = Some(list.clone());
                Slot::Value(Value::At(list, 0))
            }
            "rend" => match items.reverse.borrow().clone() {
                Some(list) => Slot::Value(Value::At(list, length as i64)),
                None => return self.stuck(at, "the end of a list"),
            },
            "front" | "back" | "at" => {
                let index = match name {
                    "front" => 0,
                    "back" => length as i64 - 1,
                    _ => match list.first() {
                        Some(index) => self.eval(index)?.number().unwrap_or(-1),
                        None => -1,
                    },
                };
                match items.at(index) {
                    Some(found) => Slot::Place(found),
                    None => return self.stuck(at, "an item past the end"),
                }
            }
            "reserve" | "shrink_to_fit" => none,
            "clear" => {
                items.items.borrow_mut().clear();
                none
            }
            "pop_back" => {
                items.items.borrow_mut().pop();
                none
            }
            "push_back" | "emplace_back" | "emplace" | "push_front" => {
                let args = self.arguments(list)?;
                let value = match (args.as_slice(), &item) {
                    ([Arg::Braces(expr)], _) => self.braced(&item, expr)?,
                    ([Arg::Slot(slot)], ty) if !matches!(ty, Ty::Class(_)) => {
                        let value = slot.clone().take();
                        self.convert(ty, value, at)?
                    }
                    ([Arg::Slot(slot)], Ty::Class(_)) if matches!(slot.read(), Value::Object(_)) => slot.clone().take(),
                    _ => self.construct(&item, args, at)?,
                };
                let made = place(value);
                items.items.borrow_mut().push(made.clone());
                Slot::Place(made)
            }
            "resize" | "assign" => {
                let slots = self.slots(list)?;
                if let (Some(Value::At(from, start)), Some(Value::At(_, end))) =
                    (slots.first().map(Slot::read), slots.get(1).map(Slot::read))
                {
                    let copied: Option<Vec<Place>> =
                        (start..end).map(|at| from.at(at).map(|item| place(item.borrow().copied()))).collect();
                    let Some(copied) = copied else { return self.stuck(at, "a range") };
                    *items.items.borrow_mut() = copied;
                    return Ok(none);
                }
                let count = slots.first().and_then(|slot| slot.read().number());
                let Some(count) = count.and_then(|count| usize::try_from(count).ok()).filter(|count| *count <= 1 << 22)
                else {
                    return self.stuck(at, "the size of a list");
                };
                if name == "assign" {
                    items.items.borrow_mut().clear();
                }
                items.items.borrow_mut().truncate(count);
                let fill = match slots.get(1) {
                    Some(slot) => {
                        let value = slot.clone().take();
                        Some(self.convert(&item, value, at)?)
                    }
                    None => None,
                };
                while items.items.borrow().len() < count {
                    let value = match &fill {
                        Some(fill) => fill.copied(),
                        None => match &item {
                            Ty::Class(of) if self.has_default_constructor(of) => {
                                self.construct(&item, Vec::new(), at)?
                            }
                            _ => self.fresh(&item, true)?,
                        },
                    };
                    items.items.borrow_mut().push(place(value));
                }
                none
            }
            "fill" => {
                let slots = self.slots(list)?;
                let Some(value) = slots.first().map(Slot::read) else { return self.stuck(at, "fill") };
                let all = items.items.borrow().clone();
                for slot in all {
                    self.store(&slot, value.copied(), at)?;
                }
                none
            }
            "insert" => {
                let slots = self.slots(list)?;
                let values: Vec<Value> = slots.iter().map(Slot::read).collect();
                match values.as_slice() {
                    [Value::At(_, position), Value::At(from, start), Value::At(_, end)] => {
                        let copied: Option<Vec<Place>> =
                            (*start..*end).map(|at| from.at(at).map(|item| place(item.borrow().copied()))).collect();
                        let Some(copied) = copied else { return self.stuck(at, "a range") };
                        let position = usize::try_from(*position).unwrap_or(length).min(length);
                        items.items.borrow_mut().splice(position..position, copied);
                    }
                    [Value::At(_, position), Value::List(more)] if !matches!(item, Ty::List(_)) => {
                        let position = usize::try_from(*position).unwrap_or(length).min(length);
                        let copied: Vec<Place> =
                            more.items.borrow().iter().map(|item| place(item.borrow().copied())).collect();
                        items.items.borrow_mut().splice(position..position, copied);
                    }
                    [Value::At(_, position), value] => {
                        let position = usize::try_from(*position).unwrap_or(length).min(length);
                        items.items.borrow_mut().insert(position, place(value.copied()));
                    }
                    _ => return self.stuck(at, "an insertion"),
                }
                none
            }
            "erase" => {
                let slots = self.slots(list)?;
                match slots.first().map(Slot::read) {
                    Some(Value::At(_, position)) if slots.len() == 1 && (position as usize) < length => {
                        items.items.borrow_mut().remove(position as usize);
                        Slot::Value(Value::At(items.clone(), position))
                    }
                    _ => return self.stuck(at, "an erasure"),
                }
            }
            "swap" => {
                let slots = self.slots(list)?;
                if let Some(Value::List(other)) = slots.first().map(Slot::read) {
                    items.items.swap(&other.items);
                }
                none
            }
            // A set of bits.
            "set" | "reset" | "test" => return self.stuck(at, format!("the method {name} of a list")),
            // A pointer that owns an array.
            "get" => Slot::Value(Value::At(items.clone(), 0)),
            _ => {
                let _ = object;
                return self.stuck(at, format!("the method {name} of a list"));
            }
        })
    }

    fn map_method(&mut self, map: &Rc<Map>, name: &str, list: &[Expr], at: Span) -> Run<Slot> {
        let count = map.entries.borrow().len();
        Ok(match name {
            "size" => Slot::Value(Value::size(count)),
            "empty" | "none" => Slot::Value(Value::bool(count == 0)),
            "any" => Slot::Value(Value::bool(count > 0)),
            "begin" | "cbegin" => Slot::Value(Value::MapAt(map.clone(), 0)),
            "end" | "cend" => Slot::Value(Value::MapAt(map.clone(), count)),
            "rbegin" if count > 0 => Slot::Value(Value::MapAt(map.clone(), count - 1)),
            "clear" => {
                map.entries.borrow_mut().clear();
                Slot::Value(Value::Void)
            }
            "reserve" => Slot::Value(Value::Void),
            // `reset()` of a set of bits.
            "reset" if list.is_empty() => {
                map.entries.borrow_mut().clear();
                Slot::Value(Value::Void)
            }
            "count" if list.is_empty() => Slot::Value(Value::size(count)),
            "find" | "count" | "contains" | "at" | "erase" | "test" | "reset" => {
                let Some(key) = self.slots(list)?.first().map(Slot::read) else { return self.stuck(at, "a key") };
                if let (Value::MapAt(_, index), "erase") = (&key, name) {
                    map.entries.borrow_mut().remove(*index);
                    return Ok(Slot::Value(Value::MapAt(map.clone(), *index)));
                }
                let key = self.as_key(map, key, at)?;
                let found = self.find_key(map, &key, at)?;
                match (name, found) {
                    ("find", Ok(index)) => Slot::Value(Value::MapAt(map.clone(), index)),
                    ("find", Err(_)) => Slot::Value(Value::MapAt(map.clone(), count)),
                    ("count", found) => Slot::Value(Value::size(usize::from(found.is_ok()))),
                    ("contains" | "test", found) => Slot::Value(Value::bool(found.is_ok())),
                    ("erase" | "reset", Ok(index)) => {
                        map.entries.borrow_mut().remove(index);
                        Slot::Value(Value::size(1))
                    }
                    ("erase" | "reset", Err(_)) => Slot::Value(Value::size(0)),
                    (_, Ok(index)) => match map.entries.borrow().get(index) {
                        Some((_, held)) => Slot::Place(held.clone()),
                        None => return self.stuck(at, "an entry"),
                    },
                    (_, Err(_)) => return Err(Halt::Ended { at, what: self.units.program.files.text(at) }),
                }
            }
            // Every bit of a set of bits.
            "set" if list.is_empty() => {
                let Ty::Array(_, size) = map.value else { return self.stuck(at, "a set of bits") };
                let all = (0..size.min(1 << 16)).map(|bit| (Value::size(bit), place(Value::Void))).collect();
                *map.entries.borrow_mut() = all;
                Slot::Value(Value::Void)
            }
            "insert" | "emplace" | "try_emplace" | "insert_or_assign" | "set" => {
                let args = self.slots(list)?;
                let (key, value) = match args.as_slice() {
                    [only] if map.set => (only.clone().take(), Value::Void),
                    [only] => match only.read() {
                        Value::Tuple(items) if items.len() == 2 => {
                            let part =
                                |at: usize| items.get(at).map(|item| item.borrow().copied()).unwrap_or(Value::Void);
                            (part(0), part(1))
                        }
                        Value::List(items) if items.items.borrow().len() == 2 => {
                            let part = |at: i64| items.at(at).map(|item| item.borrow().copied()).unwrap_or(Value::Void);
                            (part(0), part(1))
                        }
                        _ => return self.stuck(at, "an entry"),
                    },
                    [key, ..] if map.set => (key.clone().take(), Value::Void),
                    [key, value] => (key.clone().take(), value.clone().take()),
                    _ => return self.stuck(at, "an entry"),
                };
                let value = if map.set { value } else { self.convert(&map.value.clone(), value, at)? };
                let new = self.insert(map, key.clone(), value)?;
                let position = self.find_key(map, &key, at)?.unwrap_or(0);
                let parts = vec![place(Value::MapAt(map.clone(), position)), place(Value::bool(new))];
                Slot::Value(Value::Tuple(Rc::new(parts)))
            }
            _ => return self.stuck(at, format!("the method {name} of a map")),
        })
    }

    fn as_key(&mut self, map: &Rc<Map>, key: Value, at: Span) -> Run<Value> {
        let known = map.entries.borrow().first().map(|(known, _)| known.clone());
        match (known, key) {
            (Some(Value::Str(_)), Value::Object(object)) => self.converted(&object, "string", at),
            (_, key) => Ok(key),
        }
    }

    fn text_method(&mut self, object: &Place, text: &Rc<str>, name: &str, list: &[Expr], at: Span) -> Run<Slot> {
        let slots = self.slots(list)?;
        let first = slots.first().map(Slot::read);
        let given = first.as_ref().and_then(Value::text);
        let number =
            |at: usize| slots.get(at).and_then(|slot| slot.read().number()).and_then(|n| usize::try_from(n).ok());
        let found = |at: Option<usize>| Value::Int(at.map_or(-1, |at| at as i64), IntTy::U64);
        Ok(Slot::Value(match (name, given) {
            ("c_str" | "data" | "str", _) => Value::Str(text.clone()),
            ("size" | "length", _) => Value::size(text.len()),
            ("empty", _) => Value::bool(text.is_empty()),
            ("find", Some(wanted)) => found(text.find(&*wanted)),
            ("rfind", Some(wanted)) if number(1) == Some(0) => found(text.starts_with(&*wanted).then_some(0)),
            ("rfind", Some(wanted)) => found(text.rfind(&*wanted)),
            ("compare", Some(other)) => Value::int((**text).cmp(&*other) as i64),
            ("substr", _) => {
                let from = number(0).unwrap_or(0).min(text.len());
                let rest = text.get(from..).unwrap_or("");
                let cut = number(1).and_then(|most| rest.get(..most)).unwrap_or(rest);
                Value::Str(cut.into())
            }
            ("append" | "operator+=", Some(more)) => {
                let all: Rc<str> = format!("{text}{more}").into();
                *object.borrow_mut() = Value::Str(all.clone());
                Value::Str(all)
            }
            ("clear", _) => {
                *object.borrow_mut() = Value::Str("".into());
                Value::Void
            }
            ("resize" | "reserve", _) => Value::Void,
            _ => return self.stuck(at, format!("the method {name} of text")),
        }))
    }

    pub(super) fn construct_list(&mut self, ty: &Ty, item: &Rc<Ty>, args: Vec<Arg>, at: Span) -> Run<Value> {
        let slots: Vec<Slot> = match args.as_slice() {
            [Arg::Braces(expr)] => return self.braced(ty, &expr.clone()),
            _ => args
                .into_iter()
                .filter_map(|arg| match arg {
                    Arg::Slot(slot) => Some(slot),
                    Arg::Braces(_) => None,
                })
                .collect(),
        };
        match slots.as_slice() {
            [] => self.fresh(ty, true),
            [only] if matches!(only.read(), Value::List(_)) => Ok(only.clone().take()),
            [from, to] if matches!((from.read(), to.read()), (Value::At(..), Value::At(..))) => {
                let (Value::At(list, from), Value::At(_, to)) = (from.read(), to.read()) else {
                    return self.lost("a range");
                };
                let copied: Option<Vec<Value>> =
                    (from..to).map(|at| list.at(at).map(|item| item.borrow().copied())).collect();
                match copied {
                    Some(copied) => Ok(Value::list(copied, item.as_ref().clone())),
                    None => self.stuck(at, "a range"),
                }
            }
            [size, rest @ ..] => {
                let count = size
                    .read()
                    .number()
                    .and_then(|count| usize::try_from(count).ok())
                    .filter(|count| *count <= 1 << 22);
                let Some(count) = count else { return self.stuck(at, "the size of a list") };
                let mut values = Vec::with_capacity(count);
                for _ in 0..count {
                    values.push(match rest.first() {
                        Some(fill) => {
                            let value = fill.clone().take();
                            self.convert(item, value, at)?
                        }
                        None => match item.as_ref() {
                            Ty::Class(of) if self.has_default_constructor(of) => {
                                self.construct(item, Vec::new(), at)?
                            }
                            _ => self.fresh(item, true)?,
                        },
                    });
                }
                Ok(Value::list(values, item.as_ref().clone()))
            }
        }
    }

    pub(super) fn construct_text(&mut self, args: Vec<Arg>, at: Span) -> Run<Value> {
        let mut values = Vec::new();
        for arg in args {
            if let Arg::Slot(slot) = arg {
                values.push(slot.read());
            }
        }
        match values.as_slice() {
            [] => Ok(Value::Str("".into())),
            [Value::Str(text)] => Ok(Value::Str(text.clone())),
            [Value::Object(object)] => self.converted(&object.clone(), "string", at),
            [Value::Str(text), Value::Int(count, _)] => {
                Ok(Value::Str(text.get(..*count as usize).unwrap_or(text).into()))
            }
            // `std::string(buffer.data(), size)` of a list that a format wrote.
            [Value::At(list, 0), Value::Int(..)] => match list.at(0).map(|first| first.borrow().clone()) {
                Some(Value::Str(text)) => Ok(Value::Str(text)),
                _ => self.stuck(at, "text from a list"),
            },
            _ => self.stuck(at, "text"),
        }
    }

    pub(super) fn size_of(&mut self, ty: &Ty, at: Span) -> Run<usize> {
        Ok(match ty {
            Ty::Int(int) => usize::from(int.bits() / 8),
            Ty::Float(bits) => usize::from(bits / 8),
            Ty::Ptr(_) | Ty::Func | Ty::Owner(_) => 8,
            Ty::Array(item, count) => self.size_of(item, at)? * count,
            Ty::Str => 64,
            Ty::Class(of) => {
                let Some(class) = of.class.clone() else { return self.stuck(at, "a size") };
                self.layout(&class, at)?.0
            }
            _ => 8,
        })
    }

    /// The size and the alignment of a class. Parts of the library's types count as pointers.
    fn layout(&mut self, class: &Rc<super::tree::Class>, at: Span) -> Run<(usize, usize)> {
        use super::tree::{Part, Type};
        let (mut size, mut most) = (0_usize, 1_usize);
        for base in self.bases(class) {
            let (bytes, align) = self.layout(&base, at)?;
            size = size.next_multiple_of(align) + bytes;
            most = most.max(align);
        }
        for part in class.parts.clone() {
            let (bytes, align) = match part {
                Part::Inner(inner) => self.layout(&inner, at)?,
                Part::Field(ty) => {
                    let one = Type { dims: Vec::new(), ..ty.clone() };
                    let resolved = self.within_class(class, |machine| machine.resolve(&one))?;
                    let mut count = 1;
                    for dim in ty.dims.iter().flatten() {
                        let dim = self.within_class(class, |machine| machine.eval(dim))?.number();
                        count *= dim.and_then(|dim| usize::try_from(dim).ok()).unwrap_or(0);
                    }
                    let (bytes, align) = match &resolved {
                        Ty::Class(of) => match of.class.clone() {
                            Some(inner) => self.layout(&inner, at)?,
                            None => (8, 8),
                        },
                        Ty::Array(item, items) => {
                            let one = self.size_of(item, at)?;
                            (one * items, one.clamp(1, 8))
                        }
                        other => {
                            let bytes = self.size_of(other, at)?;
                            (bytes, bytes.clamp(1, 8))
                        }
                    };
                    (bytes * count, align)
                }
            };
            most = most.max(align);
            size = if class.union { size.max(bytes) } else { size.next_multiple_of(align) + bytes };
        }
        Ok((size.next_multiple_of(most), most))
    }
}

/// Functions of one number.
type OfFloat = fn(f64) -> f64;

const FLOATS: &[(&str, OfFloat)] = &[
    ("sqrtf", |x| f64::from((x as f32).sqrt())),
    ("sqrt", f64::sqrt),
    ("logf", |x| f64::from((x as f32).ln())),
    ("log", f64::ln),
    ("log2", f64::log2),
    ("log2f", |x| f64::from((x as f32).log2())),
    ("expf", |x| f64::from((x as f32).exp())),
    ("exp", f64::exp),
    ("floorf", f64::floor),
    ("floor", f64::floor),
    ("ceilf", f64::ceil),
    ("ceil", f64::ceil),
    ("roundf", f64::round),
    ("round", f64::round),
    ("fabsf", f64::abs),
    ("fabs", f64::abs),
    ("cosf", |x| f64::from((x as f32).cos())),
    ("sinf", |x| f64::from((x as f32).sin())),
];

fn float(value: &Value) -> Value {
    match value {
        Value::Int(value, ty) => Value::Float(ty.as_float(*value), 64),
        other => other.clone(),
    }
}

fn limit(ty: &Ty, which: &str) -> Option<Value> {
    Some(match (ty, which) {
        (Ty::Int(int), "max") => match int.limits() {
            Some((_, most)) => Value::Int(most, *int),
            None if int.signed() => Value::Int(i64::MAX, *int),
            None => Value::Int(-1, *int),
        },
        (Ty::Int(int), "min" | "lowest") => match int.limits() {
            Some((least, _)) => Value::Int(least, *int),
            None if int.signed() => Value::Int(i64::MIN, *int),
            None => Value::Int(0, *int),
        },
        (Ty::Float(32), "max") => Value::Float(f64::from(f32::MAX), 32),
        (Ty::Float(32), "lowest") => Value::Float(f64::from(f32::MIN), 32),
        (Ty::Float(bits), "infinity") => Value::Float(f64::INFINITY, *bits),
        (Ty::Float(64), "max") => Value::Float(f64::MAX, 64),
        (Ty::Float(32), "epsilon") => Value::Float(f64::from(f32::EPSILON), 32),
        _ => return None,
    })
}

fn texts(machine: &Machine<'_>, args: &[Slot]) -> Run<[Rc<str>; 2]> {
    match (args.first().and_then(|slot| slot.read().text()), args.get(1).and_then(|slot| slot.read().text())) {
        (Some(a), Some(b)) => Ok([a, b]),
        _ => machine.lost("two texts"),
    }
}

/// Writes text to a buffer of characters.
fn write_text(to: &Slot, text: &str) {
    let value = Value::Str(text.into());
    match (to, to.read()) {
        (_, Value::Ptr(inner)) => *inner.borrow_mut() = value,
        (_, Value::At(list, index)) => {
            if let Some(first) = list.at(index) {
                *first.borrow_mut() = value;
            }
        }
        (Slot::Place(place), _) => *place.borrow_mut() = value,
        _ => {}
    }
}

/// `printf` with the given arguments, the format first.
pub fn formatted(machine: &Machine<'_>, args: &[Slot]) -> Run<String> {
    let mut args = args.iter().map(Slot::read);
    let Some(format) = args.next().and_then(|format| format.text()) else { return machine.lost("a format") };
    let mut flat: Vec<Value> = Vec::new();
    for arg in args {
        match arg {
            Value::Pack(list) => flat.extend(list.iter().cloned()),
            other => flat.push(other),
        }
    }
    let mut args = flat.into_iter();
    let mut out = String::new();
    let mut rest = format.chars().peekable();
    while let Some(next) = rest.next() {
        if next != '%' {
            out.push(next);
            continue;
        }
        let mut spec = String::new();
        for c in rest.by_ref() {
            spec.push(c);
            if c.is_ascii_alphabetic() && !matches!(c, 'l' | 'z' | 'h' | 'j' | 't') || c == '%' {
                break;
            }
        }
        let value = if spec.ends_with('%') { Some(Value::Void) } else { args.next() };
        match (spec.chars().last(), value) {
            (Some('%'), _) => out.push('%'),
            (Some('s'), Some(Value::Str(text))) => out.push_str(&text),
            (Some('c'), Some(Value::Int(byte, _))) => out.push(char::from(byte as u8)),
            (_, Some(Value::Int(value, ty))) => out.push_str(&ty.show(value)),
            (_, Some(Value::Float(value, _))) => out.push_str(&value.to_string()),
            _ => return machine.lost("a formatted value"),
        }
    }
    Ok(out)
}

fn bytes_of(value: &Value) -> i64 {
    match value {
        Value::Int(_, ty) => i64::from(ty.bits() / 8),
        Value::Float(_, bits) => i64::from(bits / 8),
        Value::Unset(Ty::Int(ty)) => i64::from(ty.bits() / 8),
        Value::Unset(Ty::Float(bits)) => i64::from(bits / 8),
        _ => 8,
    }
}

fn copy_memory(machine: &mut Machine<'_>, args: &[Slot]) -> Run<Slot> {
    let [to, from, bytes] = args else { return machine.lost("memcpy") };
    let (to_value, from_value) = (decayed(to.read()), decayed(from.read()));
    let Some(bytes) = bytes.read().number() else { return machine.lost("memcpy") };
    let item = |value: &Value, at: i64| match value {
        Value::Ptr(inner) => match &*inner.borrow() {
            Value::List(list) => list.at(at),
            _ if at == 0 => Some(inner.clone()),
            _ => None,
        },
        Value::At(list, from) => list.at(from + at),
        _ => None,
    };
    if bytes == 0 {
        return Ok(Slot::Value(to_value));
    }
    // Text is one value.
    if let (Value::Str(text), _) = (&from_value, &to_value) {
        write_text(to, &text.clone());
        return Ok(Slot::Value(to_value));
    }
    let mut done = 0;
    let mut at = 0;
    while done < bytes {
        let (Some(source), Some(target)) = (item(&from_value, at), item(&to_value, at)) else {
            return machine.lost(format!("memcpy of {} to {}", kind(&from_value), kind(&to_value)));
        };
        let value = source.borrow().copied();
        let size = match &value {
            Value::Zero => bytes_of(&target.borrow()),
            Value::Object(_) => {
                let ty = machine.type_of(&value);
                machine.size_of(&ty, Span::default())? as i64
            }
            value => bytes_of(value),
        };
        *target.borrow_mut() = value;
        done += size.max(1);
        at += 1;
    }
    Ok(Slot::Value(to_value))
}

fn fill_memory(machine: &mut Machine<'_>, args: &[Slot]) -> Run<Slot> {
    let [to, byte, _] = args else { return machine.lost("memset") };
    let Some(byte) = byte.read().number() else { return machine.lost("memset") };
    let value = decayed(to.read());
    let start = match byte {
        0 => Value::Zero,
        -1 | 255 => Value::int(-1),
        _ => return machine.lost("memset with another byte"),
    };
    match &value {
        Value::At(list, 0) if list.raw.borrow().is_some() => {
            let item = list.item.borrow().clone();
            let start = match (&start, &item) {
                (Value::Zero, Ty::Unknown) => Value::Zero,
                (Value::Zero, item) => machine.zeroed(item)?,
                (_, Ty::Int(int)) => Value::Int(int.wrap(-1), *int),
                _ => start,
            };
            list.items.borrow_mut().clear();
            *list.raw.borrow_mut() = Some(start);
        }
        Value::At(list, from) => {
            let items: Vec<Place> =
                list.items.borrow().iter().skip(usize::try_from(*from).unwrap_or(0)).cloned().collect();
            for item in items {
                let ty = machine.type_of(&item.borrow());
                let zero = machine.zeroed(&ty)?;
                *item.borrow_mut() = if byte == 0 { zero } else { start.clone() };
            }
        }
        Value::Ptr(inner) => {
            let ty = machine.type_of(&inner.borrow());
            let zero = machine.zeroed(&ty)?;
            machine.store(inner, zero, Span::default())?;
        }
        // An address without memory behind it.
        Value::Int(..) | Value::Host(..) => {}
        _ => return machine.lost("memset"),
    }
    Ok(Slot::Value(value))
}
