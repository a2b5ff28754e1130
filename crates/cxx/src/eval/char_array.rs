//! Functions of C on arrays of characters: `snprintf`, `strncpy`, `memcmp`.

use super::machine::Machine;
use super::records::Run;
use super::value::{MemoryPlace, Shape, Value};
use crate::syntax::ast::Expr;
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn snprintf(&mut self, args: &[Expr], at: Span) -> Run<Value> {
        let [target, size, format, rest @ ..] = args else { return Ok(Value::Opaque(at)) };
        let target = self.decayed(target)?;
        let size = self.eval(size)?;
        let size = self.settle(&size).and_then(|size| usize::try_from(size).ok());
        let format = self.text_arg(Some(format))?;
        let mut values = Vec::new();
        for arg in rest {
            values.push(self.decayed(arg)?);
        }
        let text = format.and_then(|format| self.formatted(&format, &values));
        let length = text.as_ref().map(String::len);
        if !self.put_text(&target, size, text) {
            self.taint_reached(&target, at);
            return Ok(Value::Opaque(at));
        }
        Ok(length.map_or(Value::Opaque(at), |length| Value::int(length as i64)))
    }

    /// `strncpy` fills the rest with NUL and writes no terminating NUL if the text is too long.
    pub(super) fn strncpy(&mut self, args: &[Expr], at: Span) -> Run<Value> {
        let [target, text, size] = args else { return Ok(Value::Opaque(at)) };
        let target = self.decayed(target)?;
        let text = self.text_arg(Some(text))?;
        let size = self.eval(size)?;
        let size = self.settle(&size).and_then(|size| usize::try_from(size).ok());
        let text = text.filter(|text| size.is_some_and(|size| text.len() < size));
        if !self.put_text(&target, size, text) {
            self.taint_reached(&target, at);
        }
        Ok(target)
    }

    /// `memcmp` of two arrays of bytes. It writes nothing, whatever it compares.
    pub(super) fn memcmp(&mut self, args: &[Expr], at: Span) -> Run<Value> {
        let [a, b, size] = args else { return Ok(Value::Opaque(at)) };
        let (a, b) = (self.decayed(a)?, self.decayed(b)?);
        let size = self.eval(size)?;
        let size = self.settle(&size).and_then(|size| usize::try_from(size).ok());
        let (Some(size), Value::Ptr(a), Value::Ptr(b)) = (size, a, b) else { return Ok(Value::Opaque(at)) };
        let (Some(a), Some(b)) = (self.bytes_at(a, size), self.bytes_at(b, size)) else { return Ok(Value::Opaque(at)) };
        Ok(Value::int(a.cmp(&b) as i64))
    }

    /// The first bytes of an array of numbers, or all bytes of an object of numbers without padding.
    fn bytes_at(&mut self, place: MemoryPlace, size: usize) -> Option<Vec<u8>> {
        let whole = match self.peek(place)? {
            Value::Agg(_) => place,
            _ => self.array_around(place).filter(|whole| whole.part(0) == Some(place))?,
        };
        let object = self.peek(whole)?.clone();
        let mut bytes = Vec::new();
        self.bytes_of(&object, &mut bytes)?;
        if matches!(&object, Value::Agg(agg) if matches!(agg.shape, Shape::Struct(_))) {
            let whole = self.size_of(&object.ty())?;
            (whole == bytes.len() && whole == size).then_some(bytes)
        } else {
            bytes.truncate(size);
            (bytes.len() == size).then_some(bytes)
        }
    }

    fn bytes_of(&mut self, value: &Value, into: &mut Vec<u8>) -> Option<()> {
        match value {
            Value::Agg(agg) => agg.items.iter().try_for_each(|item| self.bytes_of(item, into)),
            Value::Int(_, _, ty) => {
                let number = self.settle(value)?;
                into.extend(number.to_le_bytes().get(..usize::from(ty.bits()) / 8)?);
                Some(())
            }
            _ => None,
        }
    }

    /// The text for a format with plain conversions. None if a conversion or a value is not known.
    fn formatted(&mut self, format: &str, values: &[Value]) -> Option<String> {
        let mut out = String::new();
        let mut values = values.iter();
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            let (plain, conversion) = rest.split_at(at);
            out.push_str(plain);
            let conversion = conversion.get(1..)?;
            let length = conversion.len() - conversion.trim_start_matches(['l', 'h', 'z', 'j', 't']).len();
            let kind = conversion[length..].chars().next()?;
            match kind {
                '%' if length == 0 => out.push('%'),
                's' if length == 0 => out.push_str(&self.text_of(values.next()?)?),
                'd' | 'i' => out.push_str(&self.settle(values.next()?)?.to_string()),
                'u' => {
                    let number = self.settle(values.next()?)?;
                    // A negative number is printed in the width of its type.
                    out.push_str(&u64::try_from(number).ok()?.to_string());
                }
                _ => return None,
            }
            rest = &conversion[length + kind.len_utf8()..];
        }
        out.push_str(rest);
        values.next().is_none().then_some(out)
    }

    /// Writes a text with its terminating NUL into the array that begins at a pointer.
    fn put_text(&mut self, target: &Value, size: Option<usize>, text: Option<String>) -> bool {
        let (Value::Ptr(first), Some(size), Some(text)) = (target, size, text) else { return false };
        let Some(whole) = self.array_around(*first).filter(|whole| whole.part(0) == Some(*first)) else { return false };
        let Some(Value::Agg(array)) = self.peek(whole) else { return false };
        let mut array = array.clone();
        if size == 0 || size > array.items.len() || !text.is_ascii() || !matches!(array.shape, Shape::Array) {
            return false;
        }
        let bytes = text.bytes().take(size - 1).chain([0]);
        for (slot, byte) in Rc::make_mut(&mut array).items.iter_mut().zip(bytes) {
            *slot = Value::typed(i64::from(byte), IntTy::I8);
        }
        self.write(whole, Value::Agg(array));
        true
    }
}
