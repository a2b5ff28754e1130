//! Builtins: C strings, standard algorithms, assertions, and the functions that the dialect answers.

use super::builtin::Builtin;
use super::machine::Machine;
use super::records::{Run, Stop};
use super::value::Value;
use crate::syntax::ast::{Binary, Expr, Name, Root, TemplateArg};
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use crate::syntax::sym::Sym;
use say::say;

impl Machine<'_> {
    pub(super) fn builtin(&mut self, name: &Name, last: Sym, args: &[Expr], at: Span) -> Run<Option<Value>> {
        let Some(&builtin) = self.builtins.get(&last) else { return Ok(None) };
        let own = matches!(
            builtin,
            Builtin::Min
                | Builtin::Max
                | Builtin::Find
                | Builtin::Equal
                | Builtin::Fill
                | Builtin::Same
                | Builtin::Float(_)
        );
        // The tree may define its own `min` or `find`. The name means the function of `std` if it is qualified or if
        // the tree has no such function.
        if own && name.path.len() == 1 && !self.program.overloads(last).is_empty() {
            return Ok(None);
        }
        // The name belongs to another namespace or to a struct.
        let foreign = |first: &crate::syntax::ast::Segment| first.sym != crate::syntax::sym::STD;
        if name.path.len() > 1 && (name.path.first().is_some_and(foreign) || !matches!(name.root, Root::Global)) {
            return Ok(None);
        }
        let first = args.first();
        Ok(Some(match builtin {
            Builtin::Ignore => {
                if args.iter().any(super::taint::changes) {
                    // Only the macro's definition, which is not expanded, says whether a log call evaluates its
                    // arguments.
                    if !matches!(self.program.text(last), "printf" | "fprintf") {
                        return Err(self.unsure(at, say!("cxx-open-log-effects")));
                    }
                    for arg in args {
                        self.discard(arg)?;
                    }
                }
                Value::Void
            }
            Builtin::Check => {
                if let Some(expr) = first {
                    self.eval(expr)?;
                }
                Value::Void
            }
            // If assertions are compiled out, their side effects do not happen.
            Builtin::Assert if self.program.text(last) == "assert" && args.iter().any(super::taint::changes) => {
                return Err(self.unsure(at, say!("cxx-open-assert-effects")));
            }
            Builtin::Assert => {
                self.assert(first, at)?;
                Value::Void
            }
            Builtin::Abort => return Err(Stop::Abort { at, what: self.program.files.text(at) }),
            Builtin::Min | Builtin::Max => {
                let given = name.path.last().and_then(|segment| segment.args.as_ref()?.first());
                self.extreme(args, given, matches!(builtin, Builtin::Min), at)?
            }
            Builtin::Give(number) => self.give(first, Value::int(number))?,
            Builtin::Answer(answer) => answer(self, args, at)?,
            Builtin::Getenv => self.getenv(first, at)?,
            Builtin::UnlessFollowed if self.follows => return Ok(None),
            Builtin::Snprintf | Builtin::Strncpy | Builtin::Memcmp if !self.starting => return Ok(None),
            Builtin::Snprintf => self.snprintf(args, at)?,
            Builtin::Strncpy => self.strncpy(args, at)?,
            Builtin::Memcmp => self.memcmp(args, at)?,
            Builtin::Unknown | Builtin::UnlessFollowed => Value::Opaque(at),
            Builtin::Same => match first {
                Some(expr) => self.eval(expr)?,
                None => Value::Void,
            },
            Builtin::Find => self.find(args, at)?,
            Builtin::Equal => self.ranges_equal(args, at)?,
            Builtin::Fill => self.fill_range(args, at)?,
            Builtin::Memset => self.memset(args, at)?,
            Builtin::Memcpy => self.memcpy(args, at)?,
            Builtin::Float(function) => {
                let (value, bits) = match first.map(|expr| self.eval(expr)).transpose()? {
                    Some(Value::Float(value, bits)) => (value, bits),
                    Some(Value::Int(value, 0, ty)) => (ty.as_float(value), 64),
                    _ => return Ok(Some(Value::Opaque(at))),
                };
                // `floorf` takes a float, so the argument is rounded to float first.
                let bits = if self.program.text(last).ends_with('f') { 32 } else { bits };
                let value = super::convert::rounded(value, bits);
                Value::Float(super::convert::rounded(function(value), bits), bits)
            }
            _ => self.c_string(builtin, args, at)?,
        }))
    }

    /// A false assertion aborts. A true one ends the range before the first input for which it would be false.
    fn assert(&mut self, cond: Option<&Expr>, at: Span) -> Run<()> {
        let Some(cond) = cond else { return Ok(()) };
        let value = self.eval(cond)?;
        if self.truth(&value) == Some(false) {
            return Err(Stop::Abort { at, what: self.program.files.text(at) });
        }
        Ok(())
    }

    fn extreme(&mut self, args: &[Expr], given: Option<&TemplateArg>, least: bool, at: Span) -> Run<Value> {
        let mut values = Vec::new();
        let ty = match given {
            Some(TemplateArg::Type(ty)) => Some(self.resolve(ty)?),
            _ => None,
        };
        for arg in args {
            match self.eval(arg)? {
                Value::Agg(agg) if args.len() == 1 => values.extend(agg.items.iter().cloned()),
                value => values.push(value),
            }
        }
        let mut best: Option<Value> = None;
        for value in values {
            // `std::max<int64_t>(a, b)` converts both arguments.
            let value = match &ty {
                Some(ty) => self.convert_to(ty, value)?,
                None => value,
            };
            best = Some(match best {
                None => value,
                Some(known) => {
                    let less = self.binary(Binary::Lt, &value, &known, at)?;
                    match self.truth(&less) {
                        Some(less) if less == least => value,
                        Some(_) => known,
                        None => return Ok(Value::Opaque(at)),
                    }
                }
            });
        }
        Ok(best.unwrap_or(Value::Opaque(at)))
    }

    /// Stores a result through an output pointer; the call itself returns success.
    pub fn give(&mut self, target: Option<&Expr>, value: Value) -> Run<Value> {
        match target.map(|target| Ok((self.eval(target)?, target.span))).transpose()? {
            Some((Value::Ptr(place), _)) => drop(self.store(place, value)?),
            Some((other, at)) => self.taint_reached(&other, at),
            None => {}
        }
        Ok(Value::int(0))
    }

    fn find(&mut self, args: &[Expr], at: Span) -> Run<Value> {
        let [from, to, wanted] = args else { return Ok(Value::Opaque(at)) };
        let (from, to, wanted) = (self.eval(from)?, self.eval(to)?, self.eval(wanted)?);
        let (Value::Ptr(mut place), Value::Ptr(end)) = (from, to) else { return Ok(Value::Opaque(at)) };
        while place != end {
            self.step(at)?;
            let item = self.read(place, at);
            let equal = self.binary(Binary::Eq, &item, &wanted, at)?;
            match self.truth(&equal) {
                Some(true) => break,
                Some(false) => {}
                None => return Ok(Value::Opaque(at)),
            }
            let Some(next) = place.moved(1) else { break };
            place = next;
        }
        Ok(Value::Ptr(place))
    }

    /// The value of a name that neither the tree nor a scope declares.
    pub(super) fn constant(&mut self, name: &Name, last: Sym, at: Span) -> Run<Value> {
        let text = self.program.text(last);
        Ok(match text {
            "INT_MAX" | "INT32_MAX" => Value::int(i64::from(i32::MAX)),
            "INT_MIN" | "INT32_MIN" => Value::int(i64::from(i32::MIN)),
            "UINT_MAX" | "UINT32_MAX" => Value::typed(i64::from(u32::MAX), IntTy::U32),
            "UINT16_MAX" | "USHRT_MAX" => Value::int(i64::from(u16::MAX)),
            "INT16_MAX" | "SHRT_MAX" => Value::int(i64::from(i16::MAX)),
            "UINT8_MAX" | "UCHAR_MAX" => Value::int(i64::from(u8::MAX)),
            "INT64_MAX" | "LONG_MAX" | "LLONG_MAX" => Value::typed(i64::MAX, IntTy::I64),
            "INT64_MIN" | "LONG_MIN" | "LLONG_MIN" => Value::typed(i64::MIN, IntTy::I64),
            "SIZE_MAX" | "UINT64_MAX" | "ULONG_MAX" => Value::typed(-1, IntTy::U64),
            // The result of a search that finds nothing.
            "npos" => Value::typed(super::text::NPOS, IntTy::U64),
            "FLT_MAX" => Value::Float(f64::from(f32::MAX), 32),
            "INFINITY" => Value::Float(f64::INFINITY, 32),
            "is_same_v" | "is_same" => {
                let Some(args) = name.path.last().and_then(|segment| segment.args.as_ref()) else {
                    return Ok(Value::Opaque(at));
                };
                match self.template_values(args)?.as_slice() {
                    [a, b] => a.same(b).map_or(Value::Opaque(at), Value::bool),
                    _ => Value::Opaque(at),
                }
            }
            // std::is_same<A, B>::value
            "value" => match name.path.len().checked_sub(2).and_then(|index| name.path.get(index)) {
                Some(segment) if self.program.text(segment.sym) == "is_same" => {
                    let args = segment.args.clone().unwrap_or_default();
                    match self.template_values(&args)?.as_slice() {
                        [a, b] => a.same(b).map_or(Value::Opaque(at), Value::bool),
                        _ => Value::Opaque(at),
                    }
                }
                _ => Value::Opaque(at),
            },
            _ => {
                let told = self.dialect.constants.iter().find(|(known, _)| *known == text);
                match told {
                    Some((_, number)) => Value::int(*number),
                    None => (self.dialect.undeclared)(self, text).unwrap_or(Value::Opaque(at)),
                }
            }
        })
    }
}
