//! Methods of `std` containers and strings, as far as real decision code uses them. Any other method makes the object
//! unknown.

use super::init::MOST_IN_LIST;
use super::machine::Machine;
use super::records::Run;
use super::value::{Agg, MemoryPlace, Shape, Ty, Value};
use crate::syntax::ast::{Binary, Expr, ExprKind};
use crate::syntax::files::Span;
use crate::syntax::sym::Sym;
use std::rc::Rc;

impl Machine<'_> {
    /// Runs `list.push_back(x)` on a list in memory, without copying it. For any other call, evaluates nothing and
    /// returns false.
    pub(super) fn grown(&mut self, place: MemoryPlace, name: Sym, args: &[Expr]) -> Run<bool> {
        let [item] = args else { return Ok(false) };
        let (length, of) = match self.peek(place) {
            Some(Value::Agg(agg)) if matches!(agg.shape, Shape::Array) => (agg.items.len(), agg.item.clone()),
            _ => return Ok(false),
        };
        if length >= MOST_IN_LIST || self.exploring || self.program.text(name) != "push_back" {
            return Ok(false);
        }
        let item = match (&item.kind, of.as_deref()) {
            (ExprKind::Init(_), Some(of)) if self.starting => self.initialise(of, item)?,
            _ => self.eval(item)?,
        };
        let item = self.as_item(of.as_deref(), item)?;
        self.append(place, item);
        Ok(true)
    }

    pub(super) fn container(
        &mut self,
        place: Option<MemoryPlace>,
        value: &Value,
        name: Sym,
        args: &[Expr],
        at: Span,
    ) -> Run<Option<Value>> {
        let method = self.program.text(name);
        match value {
            Value::Agg(agg) if matches!(agg.shape, Shape::Array) => {
                let agg = agg.clone();
                if let Some(Ty::Map(key, of)) = agg.item.as_deref()
                    && let Some(result) = self.map_method(place, (key, of), method, args, at)?
                {
                    return Ok(Some(result));
                }
                self.sequence(place, (&agg.items, agg.item.clone()), method, args, at)
            }
            Value::Str(text) => {
                let text = text.clone();
                self.string_method(place, &text, method, args, at)
            }
            _ => Ok(self.buffer_method(value, method)),
        }
    }

    fn sequence(
        &mut self,
        place: Option<MemoryPlace>,
        (items, of): (&[Value], Option<Rc<Ty>>),
        method: &str,
        args: &[Expr],
        at: Span,
    ) -> Run<Option<Value>> {
        let unknown = Value::Opaque(at);
        let end = |index: usize| place.and_then(|place| place.part(index)).map_or(Value::Opaque(at), Value::Ptr);
        // A part of an object in memory, or of a temporary value.
        let item = |index: usize| match (place.and_then(|place| place.part(index)), items.get(index)) {
            (Some(part), Some(_)) => Value::Ref(part),
            (None, Some(item)) => item.clone(),
            (_, None) => Value::Opaque(at),
        };
        Ok(Some(match method {
            "size" | "length" => Value::size(items.len()),
            "empty" => Value::bool(items.is_empty()),
            "begin" | "data" | "cbegin" => end(0),
            "end" | "cend" => end(items.len()),
            "front" => item(0),
            "back" => item(items.len().wrapping_sub(1)),
            "reserve" | "shrink_to_fit" => Value::Void,
            "at" => {
                let [index] = args else { return Ok(None) };
                let index = self.eval(index)?;
                let index = self.settle(&index).and_then(|index| usize::try_from(index).ok());
                index.map_or(unknown, item)
            }
            "insert" | "assign" if self.starting && matches!(args.len(), 2 | 3) => {
                let mut given = Vec::new();
                for arg in args {
                    given.push(self.decayed(arg)?);
                }
                let (mut kept, range) = match (method, given.as_slice()) {
                    ("assign", [from, to]) => (Vec::new(), (from, to)),
                    ("insert", [at, from, to]) => match at {
                        Value::Ptr(at) if Some(*at) == place.and_then(|place| place.part(items.len())) => {
                            (items.to_vec(), (from, to))
                        }
                        _ => return Ok(None),
                    },
                    _ => return Ok(None),
                };
                let (Value::Ptr(from), Value::Ptr(to)) = range else { return Ok(None) };
                let Some(more) = self.range(*from, *to) else { return Ok(None) };
                for value in more {
                    kept.push(self.as_item(of.as_deref(), value)?);
                }
                if let Some(place) = place {
                    self.write(place, listed(kept, of));
                }
                Value::Void
            }
            // Only insertion at the end is supported; this is how code builds lists.
            "insert" => {
                let [at_end, more] = args else { return Ok(None) };
                let at_end = self.eval(at_end)?;
                if !matches!((at_end, end(items.len())), (Value::Ptr(a), Value::Ptr(b)) if a == b) {
                    return Ok(None);
                }
                let mut items = items.to_vec();
                let more = match self.eval(more)? {
                    Value::Agg(list) if matches!(list.shape, Shape::Array) => list.items.clone(),
                    value => vec![value],
                };
                for value in more {
                    items.push(self.as_item(of.as_deref(), value)?);
                }
                if let Some(place) = place {
                    self.write(place, listed(items, of));
                }
                Value::Void
            }
            "push_back" | "emplace_back" | "clear" | "pop_back" | "resize" | "assign" | "fill" => {
                let mut values = Vec::new();
                for (position, arg) in args.iter().enumerate() {
                    let value = self.eval(arg)?;
                    // The first argument of `resize` and `assign` is a count.
                    let counts = position == 0 && matches!(method, "resize" | "assign");
                    values.push(if counts { value } else { self.as_item(of.as_deref(), value)? });
                }
                let mut items = items.to_vec();
                if items.len() >= MOST_IN_LIST {
                    return Ok(None);
                }
                match (method, values.as_slice()) {
                    ("push_back" | "emplace_back", [only]) => items.push(only.clone()),
                    ("push_back" | "emplace_back", _) => items.push(unknown),
                    ("clear", _) => items.clear(),
                    ("pop_back", _) => drop(items.pop()),
                    ("fill", [value]) => {
                        for item in &mut items {
                            *item = match item.int_ty() {
                                Some(ty) => self.convert_to(&Ty::of(ty), value.clone())?,
                                None => value.clone(),
                            };
                        }
                    }
                    ("resize" | "assign", [Value::Int(count @ 0..=4096, 0, _), fill @ ..]) => {
                        if method == "assign" {
                            items.clear();
                        }
                        let fill = match (fill.first(), &of) {
                            (Some(fill), _) => fill.clone(),
                            (None, Some(of)) => self.default_value(of, true, at)?,
                            (None, None) => return Ok(None),
                        };
                        items.resize(*count as usize, fill);
                    }
                    _ => return Ok(None),
                }
                if let Some(place) = place {
                    self.write(place, listed(items, of));
                }
                Value::Void
            }
            _ => return Ok(None),
        }))
    }

    /// Converts a value to the item type of a list.
    fn as_item(&mut self, of: Option<&Ty>, value: Value) -> Run<Value> {
        match of {
            Some(of) => self.convert_to(of, value),
            None => Ok(value),
        }
    }

    /// Evaluates `std::equal(from, to, from, to)`, which compares two ranges item by item.
    pub(super) fn ranges_equal(&mut self, args: &[Expr], at: Span) -> Run<Value> {
        let mut ends = Vec::with_capacity(args.len());
        for arg in args {
            match self.decayed(arg)? {
                Value::Ptr(place) => ends.push(place),
                _ => return Ok(Value::Opaque(at)),
            }
        }
        let &[from, to, other, other_to] = ends.as_slice() else { return Ok(Value::Opaque(at)) };
        let (Some(first), Some(second)) = (self.range(from, to), self.range(other, other_to)) else {
            return Ok(Value::Opaque(at));
        };
        if first.len() != second.len() {
            return Ok(Value::bool(false));
        }
        for (a, b) in first.iter().zip(&second) {
            self.step(at)?;
            let equal = self.binary(Binary::Eq, a, b, at)?;
            match self.truth(&equal) {
                Some(true) => {}
                Some(false) => return Ok(Value::bool(false)),
                None => return Ok(Value::Opaque(at)),
            }
        }
        Ok(Value::bool(true))
    }

    /// The items between two positions of one array.
    pub(super) fn range(&self, from: MemoryPlace, to: MemoryPlace) -> Option<Vec<Value>> {
        let last = |place: &MemoryPlace| place.steps().last().copied().map(i64::from);
        let (start, end) = (last(&from)?, last(&to)?);
        if from.moved(end - start)? != to {
            return None;
        }
        (0..end - start).map(|by| self.peek(from.moved(by)?).cloned()).collect()
    }

    /// Evaluates `std::fill(from, to, value)`.
    pub(super) fn fill_range(&mut self, args: &[Expr], at: Span) -> Run<Value> {
        let [from, to, value] = args else { return Ok(Value::Opaque(at)) };
        let (from, to, value) = (self.decayed(from)?, self.decayed(to)?, self.eval(value)?);
        match (&from, &to) {
            (Value::Ptr(from), Value::Ptr(to)) if self.range(*from, *to).is_some() => {
                let mut place = *from;
                while place != *to {
                    self.step(at)?;
                    self.store(place, value.clone())?;
                    let Some(next) = place.moved(1) else { break };
                    place = next;
                }
            }
            _ => self.taint_reached(&from, at),
        }
        Ok(Value::Void)
    }
}

fn listed(items: Vec<Value>, item: Option<Rc<Ty>>) -> Value {
    Value::Agg(Rc::new(Agg { shape: Shape::Array, items, item }))
}
