//! Conversions, and the display form of values.

use super::machine::Machine;
use super::records::Run;
use super::value::{MemoryPlace, Shape, Ty, Value};
use crate::syntax::ast::{Base, Expr, ExprKind, Root, Segment, Type, View};
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use crate::syntax::sym::{self, Sym};
use std::rc::Rc;

/// Used for an unknown address: it is aligned, as memory from allocators is.
const ALIGNED: i64 = 0x7f00_0000_0000;

impl Machine<'_> {
    /// Converts a value as storing it in a variable of this type would.
    pub(super) fn convert(&mut self, ty: &Type, value: Value) -> Run<Value> {
        if ty.pointers == 0
            && ty.dims.is_empty()
            && let Base::Name(name) = &ty.base
            && matches!(value, Value::Agg(_) | Value::Ptr(_))
            && name.path.last().is_some_and(|last| last.sym == sym::STRING)
        {
            // A `std::string` made from a C string.
            let at = ty.span;
            return Ok(self.text_of(&value).map_or(Value::Opaque(at), |text| Value::Str(text.into())));
        }
        if ty.pointers > 0 || ty.reference || !ty.dims.is_empty() {
            return Ok(match value {
                Value::Int(0, 0, _) if ty.pointers > 0 => Value::Null,
                // The address of this array is unknown.
                Value::Agg(agg) if ty.pointers > 0 && !ty.reference && matches!(agg.shape, Shape::Array) => {
                    Value::Opaque(ty.span)
                }
                // `char name[] = "text"` is an array with a terminating NUL.
                Value::Str(text) if self.starting && is_text_array(ty) => text_array(&text),
                value => value,
            });
        }
        match &ty.base {
            Base::Bool => self.convert_to(&Ty::Bool, value),
            Base::Int { bits, signed } => self.convert_to(&Ty::Int(*bits, *signed), value),
            Base::Float(bits) => self.convert_to(&Ty::Float(*bits), value),
            // A name or a template parameter can denote an integer type.
            Base::Name(_) | Base::Local(_) | Base::Decltype(_)
                if matches!(value, Value::Int(..) | Value::Float(..)) =>
            {
                let found = self.resolve(ty)?;
                match self.keeps(ty, &found, &value) {
                    true => self.convert_to(&found, value),
                    false => Ok(Value::Opaque(ty.span)),
                }
            }
            _ => Ok(value),
        }
    }

    pub(super) fn convert_to(&mut self, ty: &Ty, value: Value) -> Run<Value> {
        let value = match (ty, &value) {
            (Ty::Int(..) | Ty::Bool | Ty::Enum, Value::Agg(_)) => self.constant_of(&value)?.unwrap_or(value),
            _ => value,
        };
        Ok(match (ty, value) {
            (Ty::Bool, value) => match self.truth(&value) {
                Some(truth) => Value::bool(truth),
                None => value,
            },
            (Ty::Int(bits, signed), Value::Int(value, dependence, _)) => {
                self.wrap_symbolic(IntTy::new(*bits, *signed), (value, dependence))
            }
            (Ty::Int(bits, signed), Value::Float(value, _)) => {
                let ty = IntTy::new(*bits, *signed);
                // Converting an out-of-range value is undefined.
                match ty.limits().is_none_or(|(least, most)| value >= least as f64 && value <= most as f64) {
                    true if ty == IntTy::U64 => Value::typed(value as u64 as i64, ty),
                    true => Value::typed(value as i64, ty),
                    false => Value::Opaque(Span::default()),
                }
            }
            (Ty::Enum, Value::Float(value, _)) => Value::int(value as i64),
            (Ty::Float(bits), Value::Int(..)) if *bits > 64 => Value::Opaque(Span::default()),
            (Ty::Float(bits), value @ Value::Int(_, _, ty)) => match self.settle(&value) {
                Some(number) => Value::Float(rounded(ty.as_float(number), *bits), *bits),
                None => value,
            },
            // The type has more precision than this interpreter supports.
            (Ty::Float(bits), Value::Float(..)) if *bits > 64 => Value::Opaque(Span::default()),
            (Ty::Float(bits), Value::Float(value, _)) => Value::Float(rounded(value, *bits), *bits),
            (_, value) => value,
        })
    }

    /// The number of an object of type `std::integral_constant`.
    fn constant_of(&mut self, value: &Value) -> Run<Option<Value>> {
        let Some(instance) = Self::instance(value) else { return Ok(None) };
        let name = instance.of.name.map_or("", |name| self.program.text(name));
        if !matches!(name, "integral_constant" | "bool_constant" | "true_type" | "false_type") {
            return Ok(None);
        }
        match self.program.interner.get("value") {
            Some(member) => self.static_of(&instance, member),
            None => Ok(None),
        }
    }

    /// Stores into a variable; the variable keeps its declared type.
    pub fn store(&mut self, place: MemoryPlace, new: Value) -> Run<Value> {
        let new = match (self.peek(place), new) {
            (Some(Value::Float(_, bits)), new @ (Value::Int(..) | Value::Float(..))) => {
                let ty = Ty::Float(*bits);
                self.convert_to(&ty, new)?
            }
            (Some(Value::Str(_)), new @ (Value::Agg(_) | Value::Ptr(_))) => {
                self.text_of(&new).map_or(new, |text| Value::Str(text.into()))
            }
            (Some(old), new) => match old.int_ty() {
                Some(ty) => self.convert_to(&Ty::of(ty), new)?,
                None => new,
            },
            (None, new) => new,
        };
        self.write(place, new.clone());
        Ok(new)
    }

    /// Whether converting to a type that may be unknown here preserves a number. Small numbers are preserved by every
    /// type that platform headers define under a plain name, unless the name refers to bytes. Templates and types of
    /// `std` may change the number.
    fn keeps(&self, ty: &Type, found: &Ty, value: &Value) -> bool {
        let Base::Name(name) = &ty.base else { return true };
        if !matches!(found, Ty::Named(_) | Ty::Unknown) || !matches!(value, Value::Int(..) | Value::Float(..)) {
            return true;
        }
        let (Root::Global, [only]) = (&name.root, name.path.as_slice()) else { return false };
        let text = self.program.text(only.sym);
        let wide = !(text.contains('8') || text.contains("char") || text.contains("byte"));
        only.args.is_none() && wide && matches!(value, Value::Int(0..=0x7fff, 0, _))
    }

    pub(super) fn cast(&mut self, ty: &Type, value: Value) -> Run<Value> {
        if ty.pointers == 0 && matches!(ty.base, Base::Void) {
            return Ok(Value::Void);
        }
        let target = self.resolve(ty)?;
        Ok(match (&target, value) {
            (Ty::Ptr(_), Value::Int(0, 0, _)) => Value::Null,
            (Ty::Ptr(to), Value::Int(address, 0, _)) if self.starting => Value::Pointer(to.clone(), Some(address)),
            (Ty::Ptr(to), Value::Pointer(_, address)) => Value::Pointer(to.clone(), address),
            (Ty::Ptr(_), value) => value,
            (Ty::Int(64, _), value @ (Value::Ptr(_) | Value::Pointer(..))) => match value {
                // Memory from an allocator is aligned to at least 256 bytes; the rest of its address is unknown.
                Value::Pointer(_, address) => {
                    Value::typed(address.unwrap_or(ALIGNED), target.int_ty().unwrap_or(IntTy::U64))
                }
                value => value,
            },
            (target, value) if !self.keeps(ty, target, &value) => Value::Opaque(ty.span),
            (target, value) => {
                let target = target.clone();
                self.convert_to(&target, value)?
            }
        })
    }

    pub(super) fn enumerator(&mut self, name: Sym, path: &[Segment]) -> Run<Option<Value>> {
        let key = (name, self.view());
        if let Some(&(value, ty)) = self.enum_values.get(&key).filter(|_| path.is_empty()) {
            return Ok(Some(Value::typed(value, ty)));
        }
        let Some((index, _)) = self.program.visible_enumerator(name, path, key.1) else { return Ok(None) };
        if let Some(&(value, ty)) = self.enums.get(&(index, name)) {
            if path.is_empty() {
                self.enum_values.insert(key, (value, ty));
            }
            return Ok(Some(Value::typed(value, ty)));
        }
        let program = self.program;
        let Some(found) = program.enums.get(index as usize) else { return Ok(None) };
        let mut next = 0i64;
        let mut known = true;
        let mut made: Vec<(Sym, i64)> = Vec::new();
        for item in &found.list {
            if let Some(expr) = &item.value {
                let base = self.stack.len();
                let frame = super::machine::Frame {
                    function: None,
                    name,
                    view: View { unit: found.unit, space: found.space },
                    base,
                    this: None,
                    reference: false,
                };
                self.enter(frame, found.span)?;
                let value = self.eval(expr);
                self.frames.pop();
                let value = value?;
                match self.settle(&value) {
                    Some(value) => (next, known) = (value, true),
                    None => known = false,
                }
            }
            if known {
                self.enums.insert((index, item.name), (next, IntTy::of(next)));
                made.push((item.name, next));
            }
            next = next.wrapping_add(1);
        }
        let ty = match &found.underlying {
            Some(ty) => self.resolve(ty)?.int_ty(),
            None => None,
        };
        let ty = ty.unwrap_or_else(|| underlying(made.iter().map(|(_, value)| *value)));
        for (name, value) in made {
            self.enums.insert((index, name), (value, ty));
        }
        Ok(self.enums.get(&(index, name)).map(|&(value, ty)| Value::typed(value, ty)))
    }

    /// The value of an enumerator, by its spelling.
    pub fn constant_named(&mut self, name: &str) -> Option<i64> {
        let sym = self.program.interner.get(name)?;
        match self.enumerator(sym, &[]).ok()?? {
            Value::Int(value, ..) => Some(value),
            _ => None,
        }
    }

    /// All (enumerator, value) pairs of the enum that `name` belongs to.
    pub fn siblings(&mut self, name: &str) -> Vec<(String, i64)> {
        let program = self.program;
        let Some(found) = program.interner.get(name).and_then(|sym| program.enumerators_named(sym).first()) else {
            return Vec::new();
        };
        let Some(list) = program.enums.get(found.0 as usize).map(|found| &found.list) else { return Vec::new() };
        let mut out = Vec::new();
        for item in list {
            if let Ok(Some(Value::Int(value, ..))) = self.enumerator(item.name, &[]) {
                out.push((program.text(item.name).to_owned(), value));
            }
        }
        out
    }

    /// Collects the names in a condition with their values, for the list of reasons. Does not repeat calls.
    pub(super) fn leaves(&mut self, expr: &Expr, out: &mut Vec<(String, String)>) {
        if out.len() >= 12 {
            return;
        }
        match &expr.kind {
            ExprKind::Local(..) | ExprKind::Member { .. } | ExprKind::Index(..) => {
                let text = self.program.files.text(expr.span);
                if out.iter().any(|(known, _)| *known == text) {
                    return;
                }
                if let Ok(value) = self.eval(expr)
                    && !matches!(value, Value::Opaque(_) | Value::Agg(_) | Value::Ptr(_) | Value::Pointer(..))
                {
                    let shown = self.show_as(expr, &value);
                    out.push((text, shown));
                }
            }
            ExprKind::Name(name) => {
                let Some(last) = name.path.last() else { return };
                // For an enumerator, the name is enough. For a constant, the list shows its number.
                if !self.program.enumerators_named(last.sym).is_empty() || !self.program.overloads(last.sym).is_empty()
                {
                    return;
                }
                if let Ok(value @ Value::Int(..)) = self.eval(expr) {
                    out.push((self.program.files.text(expr.span), self.show(&value)));
                }
            }
            ExprKind::Unary(_, inner) | ExprKind::Cast(_, inner) => self.leaves(inner, out),
            ExprKind::Binary(_, left, right) => {
                self.leaves(left, out);
                self.leaves(right, out);
            }
            ExprKind::Ternary(parts) => parts.iter().for_each(|part| self.leaves(part, out)),
            ExprKind::Call(_, args) => args.iter().for_each(|arg| self.leaves(arg, out)),
            _ => {}
        }
    }

    fn show_as(&mut self, expr: &Expr, value: &Value) -> String {
        let name = match &expr.kind {
            ExprKind::Local(_, name) | ExprKind::Member { name, .. } => self.program.text(*name),
            _ => "",
        };
        if let Value::Int(number, 0, _) = value {
            let shown = (self.dialect.show)(self, name, *number);
            if let Some(shown) = shown {
                return shown;
            }
        }
        self.show(value)
    }

    pub fn show(&self, value: &Value) -> String {
        match value {
            Value::Int(value, _, ty) => ty.show(*value),
            Value::Float(value, _) => value.to_string(),
            Value::Null => "nullptr".to_owned(),
            Value::Str(text) => format!("{text:?}"),
            Value::Fn(found) => self.program.text(found.name).to_owned(),
            Value::Type(ty) => self.show_type(ty),
            _ => "?".to_owned(),
        }
    }

    fn show_type(&self, ty: &Rc<Ty>) -> String {
        match ty.as_ref() {
            Ty::Void => "void".to_owned(),
            Ty::Bool => "bool".to_owned(),
            Ty::Int(32, true) => "int".to_owned(),
            Ty::Int(bits, true) => format!("int{bits}_t"),
            Ty::Int(bits, false) => format!("uint{bits}_t"),
            Ty::Float(32) => "float".to_owned(),
            Ty::Float(_) => "double".to_owned(),
            Ty::Ptr(inner) => format!("{} *", self.show_type(inner)),
            Ty::Struct(instance) => instance.of.name.map_or("struct", |name| self.program.text(name)).to_owned(),
            Ty::Named(name) => self.program.text(*name).to_owned(),
            _ => "?".to_owned(),
        }
    }

    /// The characters of a string or of a character array, up to the terminating NUL.
    pub fn text_of(&self, value: &Value) -> Option<String> {
        let chars = |items: &[Value]| {
            let mut text = String::new();
            for item in items {
                match item {
                    Value::Int(0, ..) => return Some(text),
                    Value::Int(value, ..) => text.push(char::from(u8::try_from(*value).ok()?)),
                    _ => return None,
                }
            }
            Some(text)
        };
        match value {
            // A string that contains NUL or a character outside ASCII differs between platforms.
            Value::Str(text) if text.bytes().any(|byte| byte == 0 || !byte.is_ascii()) => None,
            Value::Str(text) => Some(text.to_string()),
            Value::Agg(agg) if matches!(agg.shape, Shape::Array) => chars(&agg.items),
            Value::Ptr(place) => {
                let mut whole = *place;
                let Some(last) = usize::from(whole.len).checked_sub(1) else {
                    return self.peek(*place).and_then(|value| self.text_of(value));
                };
                if let Some(value @ (Value::Agg(_) | Value::Str(_))) = self.peek(*place) {
                    return self.text_of(value);
                }
                let from = usize::from(*whole.path.get(last)?);
                whole.len -= 1;
                match self.peek(whole) {
                    Some(Value::Agg(agg)) => chars(agg.items.get(from..)?),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The integer type of an enum without a declared underlying type: the first type that holds all of its values.
fn underlying(values: impl Iterator<Item = i64> + Clone) -> IntTy {
    let fit = |ty: IntTy| values.clone().all(|value| ty.fits(value));
    if fit(IntTy::I32) {
        IntTy::I32
    } else if fit(IntTy::U32) {
        IntTy::U32
    } else {
        IntTy::I64
    }
}

/// Rounds to the precision of the type. A float has 24 significant bits.
pub(super) fn rounded(value: f64, bits: u8) -> f64 {
    if bits == 32 { f64::from(value as f32) } else { value }
}

/// Whether a type is `char[]`, whose length its text gives.
fn is_text_array(ty: &Type) -> bool {
    ty.pointers == 0
        && !ty.reference
        && matches!(ty.dims.as_slice(), [None])
        && matches!(ty.base, Base::Int { bits: 8, .. })
}

fn text_array(text: &str) -> Value {
    let character = |byte: u8| Value::typed(i64::from(byte as i8), IntTy::I8);
    Value::array(text.bytes().chain([0]).map(character).collect())
}
