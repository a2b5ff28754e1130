//! Text: C strings, `std::string`, and the raw copies that fill them. A string is stored as its characters, whether the
//! code uses an array, a pointer or an object.

use super::builtin::Builtin;
use super::machine::Machine;
use super::records::Run;
use super::value::{MemoryPlace, Shape, Ty, Value};
use crate::syntax::ast::{Expr, ExprKind};
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use std::cmp::Ordering;
use std::rc::Rc;

/// The bits of `std::string::npos`, the largest unsigned number.
pub(super) const NPOS: i64 = -1;

impl Machine<'_> {
    pub(super) fn text_arg(&mut self, arg: Option<&Expr>) -> Run<Option<String>> {
        let Some(arg) = arg else { return Ok(None) };
        let value = match self.place(arg)? {
            Some(place) => self.read(place, arg.span),
            None => self.eval(arg)?,
        };
        Ok(self.text_of(&value))
    }

    pub(super) fn c_string(&mut self, builtin: Builtin, args: &[Expr], at: Span) -> Run<Value> {
        if matches!(builtin, Builtin::Strcpy) {
            return self.strcpy(args, at);
        }
        let first = self.text_arg(args.first())?;
        if matches!(builtin, Builtin::Strtok) {
            return self.strtok(args, first, at);
        }
        if let Builtin::Strtoul(ty) = builtin {
            return self.strtoul(args, first, ty, at);
        }
        let Some(text) = first else { return Ok(Value::Opaque(at)) };
        Ok(match builtin {
            Builtin::Strlen => Value::size(text.len()),
            // The result for a number that does not fit an int depends on the library.
            Builtin::Atoi => match i32::try_from(leading_number(&text, 10)) {
                Ok(number) => Value::int(i64::from(number)),
                Err(_) => Value::Opaque(at),
            },
            Builtin::Strcspn | Builtin::Strstr | Builtin::Strcmp => {
                let Some(other) = self.text_arg(args.get(1))? else { return Ok(Value::Opaque(at)) };
                match builtin {
                    Builtin::Strcspn => {
                        let end = text.find(|c| other.contains(c)).unwrap_or(text.len());
                        Value::size(end)
                    }
                    Builtin::Strcmp => order(text.as_bytes().cmp(other.as_bytes())),
                    _ if text.contains(&other) => Value::Pointer(Rc::new(Ty::Int(8, true)), None),
                    _ => Value::Null,
                }
            }
            _ => Value::Opaque(at),
        })
    }

    fn strtoul(&mut self, args: &[Expr], text: Option<String>, ty: IntTy, at: Span) -> Run<Value> {
        // The position where the number ends is not tracked.
        if let Some(end) = args.get(1)
            && let Value::Ptr(end) = self.eval(end)?
        {
            self.taint(end, at);
        }
        let radix = match args.get(2) {
            Some(radix) => self.eval(radix)?,
            None => Value::int(10),
        };
        Ok(match (text, radix) {
            (Some(text), Value::Int(radix @ 2..=36, 0, _)) => {
                let number = leading_number(&text, radix as u32);
                // Out-of-range numbers are clamped.
                let number = match ty {
                    IntTy::U64 if number.unsigned_abs() > u128::from(u64::MAX) => -1,
                    IntTy::U64 => number as i64,
                    _ => number.clamp(i64::MIN.into(), i64::MAX.into()) as i64,
                };
                Value::typed(number, ty)
            }
            _ => Value::Opaque(at),
        })
    }

    fn strcpy(&mut self, args: &[Expr], at: Span) -> Run<Value> {
        let text = self.text_arg(args.get(1))?;
        let place = match args.first() {
            Some(target) => self.place(target)?,
            None => None,
        };
        match (text, place) {
            (Some(text), Some(place)) if matches!(self.peek(place), Some(Value::Agg(_))) => {
                self.store_text(place, &text);
            }
            (_, Some(place)) => match self.peek(place).cloned() {
                Some(Value::Ptr(inner)) => self.taint(inner, at),
                Some(Value::Pointer(_, address)) => self.overwritten(address, at),
                _ => self.taint(place, at),
            },
            _ => self.overwritten(None, at),
        }
        Ok(Value::Opaque(at))
    }

    fn store_text(&mut self, place: MemoryPlace, text: &str) {
        let length = match self.peek(place) {
            Some(Value::Agg(agg)) => agg.items.len(),
            _ => 0,
        };
        let mut chars: Vec<Value> = text.bytes().map(Value::char).collect();
        chars.resize(length.max(chars.len() + 1), Value::char(0));
        self.write(place, Value::array(chars));
    }

    /// Evaluates `strtok`, which returns one piece of a string per call.
    fn strtok(&mut self, args: &[Expr], first: Option<String>, at: Span) -> Run<Value> {
        if let Some(text) = first {
            self.token_rest = Some(text);
            // `strtok` writes a terminator into the string after each piece.
            if let Some(target) = args.first() {
                let given = self.decayed(target)?;
                self.taint_reached(&given, at);
            }
        }
        let Some(separators) = self.text_arg(args.get(1))? else { return Ok(Value::Opaque(at)) };
        let Some(rest) = self.token_rest.take() else { return Ok(Value::Null) };
        let rest = rest.trim_start_matches(|c| separators.contains(c));
        if rest.is_empty() {
            return Ok(Value::Null);
        }
        let end = rest.find(|c| separators.contains(c)).unwrap_or(rest.len());
        let (piece, tail) = rest.split_at(end);
        self.token_rest = Some(tail.to_owned());
        Ok(Value::Str(piece.into()))
    }

    /// Copies whole objects and single items. A partly copied array is unknown afterwards.
    pub(super) fn memcpy(&mut self, args: &[Expr], at: Span) -> Run<Value> {
        let [to, from, rest @ ..] = args else { return Ok(Value::Void) };
        let (to, from) = (self.decayed(to)?, self.decayed(from)?);
        let bytes = match rest.first() {
            Some(bytes) => self.eval(bytes)?,
            None => Value::Opaque(at),
        };
        let Value::Ptr(to) = to else {
            self.taint_reached(&to, at);
            return Ok(Value::Void);
        };
        if let (Some(whole), Value::Ptr(from)) = (self.whole_array(to, rest)?, &from)
            && let Some(items) = self.array_from(*from, whole)
        {
            self.write(whole, items);
            return Ok(Value::Void);
        }
        let value = match from {
            Value::Ptr(from) => self.read(from, at),
            _ => Value::Opaque(at),
        };
        // The bytes of zero are zero in every type.
        let value = match (&value, self.peek(to)) {
            (Value::Int(0, 0, ty), Some(Value::Float(_, bits))) if ty.bits() == *bits => Value::Float(0.0, *bits),
            _ => value,
        };
        let ty = value.ty();
        // The same bytes are a different number in another type.
        let held = self.peek(to).cloned().unwrap_or_default();
        let same = match (&value, &held) {
            (Value::Opaque(_), _) | (_, Value::Uninit | Value::Opaque(_)) => true,
            (Value::Float(_, a), Value::Float(_, b)) => a == b,
            (Value::Int(..), Value::Int(..) | Value::Unset(..)) => value.int_ty() == held.int_ty(),
            (Value::Int(..) | Value::Float(..), _) | (_, Value::Int(..) | Value::Unset(..) | Value::Float(..)) => false,
            _ => true,
        };
        if !same {
            self.taint_around(to, at);
            return Ok(Value::Void);
        }
        match (self.size_of(&ty), self.settle(&bytes)) {
            (Some(size), Some(bytes)) if bytes == size as i64 => self.write(to, value),
            (None, _) | (_, None) if !self.in_array(to) => self.write(to, value),
            // The copy is longer than the item pointed to, so it also writes the following items.
            _ => self.taint_around(to, at),
        }
        Ok(Value::Void)
    }

    /// The array that begins here, if the length is the `sizeof` of that array.
    fn whole_array(&mut self, to: MemoryPlace, bytes: &[Expr]) -> Run<Option<MemoryPlace>> {
        let [Expr { kind: ExprKind::SizeofExpr(measured), .. }] = bytes else { return Ok(None) };
        let declared = matches!(measured.kind, ExprKind::Member { .. });
        let Some(whole) = self.array_around(to).filter(|whole| declared && whole.part(0) == Some(to)) else {
            return Ok(None);
        };
        // Only a member that is declared as an array has the size of its items.
        let known = matches!(self.size_of_expr(measured, measured.span)?, Value::Int(..));
        Ok(self.place(measured)?.filter(|place| known && *place == whole))
    }

    /// Another array with the same number of items that begins here.
    fn array_from(&self, from: MemoryPlace, like: MemoryPlace) -> Option<Value> {
        let other = self.array_around(from).filter(|other| other.part(0) == Some(from))?;
        match (self.peek(other)?, self.peek(like)?) {
            (Value::Agg(a), Value::Agg(b)) if a.items.len() == b.items.len() => {
                let mut pairs = a.items.iter().zip(&b.items);
                pairs.all(|(new, old)| as_wide(new, old)).then(|| Value::Agg(a.clone()))
            }
            _ => None,
        }
    }

    pub(super) fn memset(&mut self, args: &[Expr], at: Span) -> Run<Value> {
        let mut values = Vec::new();
        for arg in args {
            values.push(self.decayed(arg)?);
        }
        match values.as_slice() {
            [Value::Ptr(place), Value::Int(0, 0, _), bytes @ ..] => {
                let whole = self.peek(*place).cloned().unwrap_or_default();
                // Check whether the length covers the whole object: by its size or, if the size is unknown, by a
                // `sizeof`.
                let size = self.size_of(&whole.ty()).and_then(|size| i64::try_from(size).ok());
                let given = bytes.first().and_then(|bytes| self.settle(bytes));
                let named = args.get(2).is_some_and(|bytes| match &bytes.kind {
                    ExprKind::SizeofExpr(inner) => !matches!(inner.kind, ExprKind::Member { .. } | ExprKind::Index(..)),
                    ExprKind::SizeofType(_) => true,
                    _ => false,
                });
                let all = if size.is_some() && given.is_some() { size == given } else { named };
                match whole {
                    Value::Agg(agg) if all && matches!(agg.shape, Shape::Struct(_)) => {
                        let zero = self.default_value(&Value::Agg(agg).ty(), true, at)?;
                        self.write(*place, zero);
                    }
                    // An array or a part of one: the number of bytes decides how much of it is written.
                    _ => self.taint_around(*place, at),
                }
            }
            [target, ..] => self.taint_reached(target, at),
            _ => {}
        }
        Ok(Value::Void)
    }

    /// Methods of `std::string`. None if the method is unknown.
    pub(super) fn string_method(
        &mut self,
        place: Option<MemoryPlace>,
        text: &str,
        method: &str,
        args: &[Expr],
        at: Span,
    ) -> Run<Option<Value>> {
        let unknown = Ok(Some(Value::Opaque(at)));
        Ok(Some(match method {
            "c_str" | "data" => Value::Str(text.into()),
            "size" | "length" => Value::size(text.len()),
            "empty" => Value::bool(text.is_empty()),
            "find" | "rfind" => {
                let Some(wanted) = self.piece(args.first())? else { return unknown };
                let from = match args.get(1) {
                    Some(from) => {
                        let from = self.eval(from)?;
                        self.settle(&from)
                    }
                    None => Some(if method == "find" { 0 } else { NPOS }),
                };
                let Some(from) = from else { return unknown };
                let from = index(from, text.len());
                let found = match method {
                    "find" => text.get(from..).and_then(|rest| rest.find(&wanted)).map(|found| found + from),
                    _ => text
                        .get(..from.saturating_add(wanted.len()).min(text.len()))
                        .and_then(|part| part.rfind(&wanted)),
                };
                Value::typed(found.map_or(NPOS, |found| found as i64), IntTy::U64)
            }
            "starts_with" | "ends_with" => match self.piece(args.first())? {
                Some(piece) if method == "starts_with" => Value::bool(text.starts_with(&piece)),
                Some(piece) => Value::bool(text.ends_with(&piece)),
                None => return unknown,
            },
            "compare" => match args {
                [other] => match self.piece(Some(other))? {
                    Some(other) => order(text.as_bytes().cmp(other.as_bytes())),
                    None => return unknown,
                },
                [from, count, other] => {
                    let bounds = self.bounds(&[from, count])?;
                    match (bounds.as_slice(), self.piece(Some(other))?) {
                        (&[Some(from), Some(count)], Some(other)) => {
                            order(part(text, from, count).as_bytes().cmp(other.as_bytes()))
                        }
                        _ => return unknown,
                    }
                }
                _ => return unknown,
            },
            "substr" => match self.bounds(&args.iter().collect::<Vec<_>>())?.as_slice() {
                [] => Value::Str(text.into()),
                &[Some(from)] => Value::Str(part(text, from, NPOS).into()),
                &[Some(from), Some(count)] => Value::Str(part(text, from, count).into()),
                _ => return unknown,
            },
            "front" | "back" => {
                let byte = if method == "front" { text.bytes().next() } else { text.bytes().last() };
                byte.map_or(Value::Opaque(at), Value::char)
            }
            "erase" | "resize" | "clear" | "append" | "push_back" | "pop_back" => {
                let changed = self.changed(text, method, args)?;
                let value = changed.map_or(Value::Opaque(at), |text| Value::Str(text.into()));
                if let Some(place) = place {
                    self.write(place, value.clone());
                }
                value
            }
            _ => return Ok(None),
        }))
    }

    /// The text after a method that changes it; None if an argument is unknown.
    fn changed(&mut self, text: &str, method: &str, args: &[Expr]) -> Run<Option<String>> {
        if let ("append" | "push_back", [only]) = (method, args) {
            return Ok(self.piece(Some(only))?.map(|piece| format!("{text}{piece}")));
        }
        let numbers = self.bounds(&args.iter().collect::<Vec<_>>())?;
        let at = |position: i64| index(position, text.len());
        let join = |keep: usize, from: usize| Some(format!("{}{}", text.get(..keep)?, text.get(from..)?));
        Ok(match (method, numbers.as_slice()) {
            ("clear", []) | ("erase", []) => Some(String::new()),
            ("pop_back", []) => text.get(..text.len().saturating_sub(1)).map(str::to_owned),
            ("resize", &[Some(length)]) if (0..=text.len() as i64).contains(&length) => join(at(length), text.len()),
            ("erase", &[Some(from)]) => join(at(from), text.len()),
            ("erase", &[Some(from), Some(count)]) => join(at(from), at(from).saturating_add(at(count)).min(text.len())),
            _ => None,
        })
    }

    fn bounds(&mut self, args: &[&Expr]) -> Run<Vec<Option<i64>>> {
        let mut out = Vec::with_capacity(args.len());
        for arg in args {
            let value = self.eval(arg)?;
            out.push(self.settle(&value));
        }
        Ok(out)
    }

    /// A string, or one character given as a number.
    fn piece(&mut self, arg: Option<&Expr>) -> Run<Option<String>> {
        let Some(arg) = arg else { return Ok(None) };
        let value = self.eval(arg)?;
        Ok(match self.settle(&value) {
            Some(code) => u8::try_from(code).ok().filter(u8::is_ascii).map(|byte| char::from(byte).to_string()),
            None => self.text_of(&value),
        })
    }
}

/// Positions are unsigned: a position stored as a negative number is past the end.
fn index(position: i64, length: usize) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX).min(length)
}

fn part(text: &str, from: i64, count: i64) -> &str {
    let start = index(from, text.len());
    let end = start.saturating_add(index(count, text.len())).min(text.len());
    text.get(start..end.max(start)).unwrap_or_default()
}

fn order(order: Ordering) -> Value {
    Value::int(order as i64)
}

/// The number at the start of a text, as C parses it: blanks, a sign, `0x` before hexadecimal digits.
fn leading_number(text: &str, radix: u32) -> i128 {
    let text = text.trim_start();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let bare = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).filter(|_| radix == 16);
    let text = bare.unwrap_or(text);
    let end = text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len());
    let digits = text.get(..end).unwrap_or_default();
    let number = if digits.is_empty() { 0 } else { i128::from_str_radix(digits, radix).unwrap_or(i128::MAX) };
    if negative { number.saturating_neg() } else { number }
}

/// Whether an item has as many bytes as the item that it replaces, as far as the two values show.
fn as_wide(new: &Value, old: &Value) -> bool {
    match (new, old.int_ty()) {
        (Value::Int(_, _, ty) | Value::Unset(ty, _), Some(old)) => *ty == old,
        // A parameter word may hold a floating-point number.
        (Value::Float(_, bits), Some(old)) => old.bits() == *bits,
        _ => false,
    }
}
