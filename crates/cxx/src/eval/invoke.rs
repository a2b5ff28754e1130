//! Runs a resolved function: binds its arguments and template arguments, and caches its result if it depends on nothing
//! else.

use super::exec::Flow;
use super::machine::{Frame, Machine, MemoKey};
use super::records::{Run, Stop};
use super::value::{Shape, Ty, Value};
use crate::syntax::ast::{Base, Function, Param, Type, View};
use crate::syntax::files::Span;
use say::say;
use std::rc::Rc;

/// The largest index sequence that is written out.
const MAX_SEQUENCE: usize = 256;

/// The arguments of a call; for a hand-off, only their types.
#[derive(Clone, Copy)]
pub(super) enum Given<'a> {
    Values(&'a [Value]),
    /// The types of the arguments. `Ty::Unknown` if a type cannot be determined.
    Types(&'a [Ty]),
}

impl<'p> Machine<'p> {
    /// Runs a function. If all arguments are plain numbers, caches the result, because it can depend on nothing else.
    pub(super) fn invoke(&mut self, index: u32, explicit: Vec<Value>, mut values: Vec<Value>, at: Span) -> Run<Value> {
        for value in &mut values {
            self.make_plain(value);
        }
        let program = self.program;
        let Some(function) = program.function(index) else { return Ok(Value::Opaque(at)) };
        if self.trace_stop == Some(function.name)
            && let Some(trace) = self.trace.take()
        {
            self.traced = trace;
        }
        let key = if self.trace.is_none() && !self.starting {
            self.memo_key(index, function, &explicit, &values)
        } else {
            None
        };
        let key = match key {
            Some(key) => match self.memo.get(&key) {
                Some(value) => {
                    let value = value.clone();
                    self.ran.recall(self.caller(), index);
                    self.scratch = key.args;
                    return Ok(value);
                }
                None => Some(key),
            },
            None => None,
        };
        self.ran.run(self.caller(), index);
        let body = program.body(function);
        let base = self.stack.len();
        let frame = Frame {
            function: Some(index),
            name: function.name,
            view: function.view(),
            base,
            this: None,
            reference: false,
        };
        self.stack.resize(base + body.slots as usize, Value::Uninit);
        self.enter(frame, at)?;
        let (effects, guesses) = (self.effects, self.guesses());
        let result = self.bind_and_run(function, explicit, values);
        self.frames.pop();
        self.stack.truncate(base);
        let result = result?;
        if let Some(key) = key
            && (self.effects, self.guesses()) == (effects, guesses)
            && !matches!(result, Value::Void | Value::Opaque(_))
        {
            self.memo.insert(key, result.clone());
        }
        Ok(result)
    }

    /// The arguments as a cache key, if they are plain integers or structs of them passed by constant reference. The
    /// result can then depend on nothing else.
    fn memo_key(&mut self, index: u32, function: &Function, explicit: &[Value], values: &[Value]) -> Option<MemoKey> {
        let mut args = std::mem::take(&mut self.scratch);
        args.clear();
        match self.numbers(function, explicit, values, &mut args) {
            Some(()) => Some(MemoKey { function: index, args }),
            None => {
                self.scratch = args;
                None
            }
        }
    }

    fn numbers(&self, function: &Function, explicit: &[Value], values: &[Value], args: &mut Vec<i64>) -> Option<()> {
        for value in explicit {
            push_number(value, args)?;
        }
        args.push(explicit.len() as i64);
        for (position, value) in values.iter().enumerate() {
            match value {
                Value::Ref(place) => {
                    if !function.params.get(position)?.ty.constant {
                        return None;
                    }
                    match self.peek(*place)? {
                        Value::Agg(agg) if agg.items.len() <= 16 => {
                            // Objects of different structs may hold the same numbers, so the struct is part of the key.
                            args.push(match &agg.shape {
                                Shape::Array => 0,
                                Shape::Struct(instance) if instance.args.is_empty() => {
                                    std::sync::Arc::as_ptr(&instance.of) as usize as i64
                                }
                                Shape::Struct(_) => return None,
                            });
                            args.push(agg.items.len() as i64);
                            agg.items.iter().try_for_each(|item| push_number(item, args))?;
                        }
                        value => push_number(value, args)?,
                    }
                }
                value => push_number(value, args)?,
            }
        }
        Some(())
    }

    pub(super) fn bind_and_run(&mut self, function: &Function, explicit: Vec<Value>, values: Vec<Value>) -> Run<Value> {
        let base = self.base();
        let templates = function.templates.len();
        self.bind_templates(function, explicit, Given::Values(&values))?;
        let mut values = values.into_iter();
        for (position, param) in function.params.iter().enumerate() {
            let value = if param.pack {
                Value::Pack(Rc::new(values.by_ref().collect()))
            } else {
                match values.next() {
                    Some(value) => self.convert(&param.ty, value)?,
                    None => match param.default.as_ref().or_else(|| self.declared_default(function, position)) {
                        Some(default) => {
                            let value = self.eval(default)?;
                            self.convert(&param.ty, value)?
                        }
                        None => Value::Uninit,
                    },
                }
            };
            if let Some(slot) = self.stack.get_mut(base + templates + position) {
                *slot = value;
            }
        }
        let program = self.program;
        Ok(match self.block(&program.body(function).stmts)? {
            Flow::Return(value) => value,
            _ => Value::Void,
        })
    }

    pub(super) fn bind_templates(&mut self, function: &Function, explicit: Vec<Value>, given: Given<'_>) -> Run<()> {
        let base = self.base();
        let mut explicit = explicit.into_iter();
        for (position, param) in function.templates.iter().enumerate() {
            let value = if param.pack {
                let list: Vec<Value> = explicit.by_ref().collect();
                let deduced = self.sequence_given(function, given).filter(|_| list.is_empty() && !param.is_type);
                deduced.unwrap_or_else(|| Value::Pack(Rc::new(list)))
            } else if let Some(value) = explicit.next() {
                match &param.ty {
                    Some(ty) => self.convert(ty, value)?,
                    None => value,
                }
            } else if let Some(value) = self.deduce(function, position, given) {
                value
            } else {
                match &param.default {
                    Some(default) => {
                        let mut list = self.template_values(std::slice::from_ref(default))?;
                        let value = list.pop().unwrap_or_default();
                        match &param.ty {
                            Some(ty) => self.convert(ty, value)?,
                            None => value,
                        }
                    }
                    None if param.is_type => Value::Type(Rc::new(Ty::Unknown)),
                    None => Value::Opaque(function.span),
                }
            };
            if let Some(slot) = self.stack.get_mut(base + position) {
                *slot = value;
            }
        }
        Ok(())
    }

    /// The numbers of `std::make_index_sequence<3>{}`.
    pub(super) fn index_sequence(&mut self, ty: &Type) -> Run<Option<Value>> {
        let Base::Name(name) = &ty.base else { return Ok(None) };
        let Some(last) = name.path.last() else { return Ok(None) };
        if self.program.text(last.sym) != "make_index_sequence" || ty.pointers > 0 {
            return Ok(None);
        }
        let count = self.template_values(last.args.as_deref().unwrap_or_default())?;
        let count = match count.as_slice() {
            [only] => self.settle(only).and_then(|count| usize::try_from(count).ok()),
            _ => None,
        };
        // Real packs have only a few items.
        let count = count.filter(|&count| count <= MAX_SEQUENCE);
        Ok(Some(match count {
            Some(count) => Value::Pack(Rc::new((0..count).map(Value::size).collect())),
            None => Value::Opaque(ty.span),
        }))
    }

    /// The argument for a parameter `std::index_sequence<I...>`: the numbers of the pack, or unknown.
    fn sequence_given(&self, function: &Function, given: Given<'_>) -> Option<Value> {
        let Given::Values(values) = given else { return None };
        let takes = |param: &Param| match &param.ty.base {
            Base::Name(name) => name.path.last().is_some_and(|last| self.program.text(last.sym) == "index_sequence"),
            _ => false,
        };
        let (_, value) = function.params.iter().zip(values).find(|(param, _)| takes(param))?;
        Some(match value {
            Value::Pack(_) => value.clone(),
            _ => Value::Opaque(function.span),
        })
    }

    /// Deduces a template parameter from the argument whose type names it: `const T * x`.
    fn deduce(&self, function: &Function, template: usize, given: Given<'_>) -> Option<Value> {
        for (position, param) in function.params.iter().enumerate() {
            if !matches!(param.ty.base, Base::Local(slot) if slot as usize == template) {
                continue;
            }
            let mut ty = match given {
                Given::Values(values) => match values.get(position)? {
                    Value::Ref(place) => self.peek(*place)?.ty(),
                    value => value.ty(),
                },
                Given::Types(types) => types.get(position)?.clone(),
            };
            for _ in 0..param.ty.pointers {
                ty = match ty {
                    Ty::Ptr(inner) => inner.as_ref().clone(),
                    _ => Ty::Unknown,
                };
            }
            if !matches!(ty, Ty::Unknown) {
                return Some(Value::Type(Rc::new(ty)));
            }
        }
        None
    }

    pub fn call_by_name(&mut self, name: &str, values: Vec<Value>) -> Run<Value> {
        let at = Span::default();
        let Some(sym) = self.program.interner.get(name) else {
            return Err(self.unsure(at, say!("cxx-open-no-function", name)));
        };
        match self.pick((sym, &[], View::ANYWHERE), (values.len(), &[]), &[], at)? {
            Some(index) => self.invoke(index, Vec::new(), values, at),
            None if self.program.missing.contains(&sym) => Err(self.unsure(at, say!("cxx-open-no-definition", name))),
            None => Err(Stop::Need(sym)),
        }
    }

    /// Calls a function value.
    pub fn call_with(&mut self, function: &Value, values: Vec<Value>) -> Run<Value> {
        let at = Span::default();
        let found = match function {
            Value::Fn(found) => found,
            Value::Lambda(closure) => return self.run_lambda(&closure.clone(), values, at),
            _ => return Ok(Value::Opaque(at)),
        };
        match self.pick((found.name, &[], found.view), (values.len(), &[]), &found.args, at)? {
            Some(index) => self.invoke(index, found.args.clone(), values, at),
            None => Err(Stop::Need(found.name)),
        }
    }

    /// Runs one function to its end, or to the hand-off that ends the run.
    pub fn run_function(&mut self, index: u32, values: Vec<Value>) -> Run<Value> {
        let at = self.program.function(index).map_or(Span::default(), |function| function.span);
        self.invoke(index, Vec::new(), values, at)
    }
}

fn push_number(value: &Value, into: &mut Vec<i64>) -> Option<()> {
    match value {
        Value::Int(value, 0, ty) => {
            // Keep the type of the argument, because a template may depend on it.
            into.push(*value);
            into.push(*ty as i64);
        }
        Value::Null => into.push(i64::MIN + 1),
        _ => return None,
    }
    Some(())
}
