//! Thrift's compact protocol, in which Parquet writes its metadata
//! (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>).

pub const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
pub const STRUCT: u8 = 12;

/// The fields of a struct, in ascending order.
#[derive(Debug, Default)]
pub struct Fields {
    pub bytes: Vec<u8>,
    last: u8,
}

impl Fields {
    fn head(&mut self, field: u8, kind: u8) {
        // Our field numbers are below 16 and ascending, so the difference always fits.
        self.bytes.push((field - self.last) << 4 | kind);
        self.last = field;
    }

    pub fn i32(&mut self, field: u8, value: i32) {
        self.head(field, I32);
        zigzag(&mut self.bytes, i64::from(value));
    }

    pub fn i64(&mut self, field: u8, value: i64) {
        self.head(field, I64);
        zigzag(&mut self.bytes, value);
    }

    pub fn text(&mut self, field: u8, text: &str) {
        self.head(field, BINARY);
        binary(&mut self.bytes, text);
    }

    pub fn fields(&mut self, field: u8, inner: Fields) {
        self.head(field, STRUCT);
        self.bytes.extend(inner.end());
    }

    pub fn structs(&mut self, field: u8, all: Vec<Fields>) {
        self.list(field, STRUCT, all.len());
        for one in all {
            self.bytes.extend(one.end());
        }
    }

    pub fn texts(&mut self, field: u8, all: &[&str]) {
        self.list(field, BINARY, all.len());
        for text in all {
            binary(&mut self.bytes, text);
        }
    }

    pub fn i32s(&mut self, field: u8, all: &[i32]) {
        self.list(field, I32, all.len());
        for value in all {
            zigzag(&mut self.bytes, i64::from(*value));
        }
    }

    fn list(&mut self, field: u8, kind: u8, len: usize) {
        self.head(field, LIST);
        if len < 15 {
            self.bytes.push((len as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            varint(&mut self.bytes, len as u64);
        }
    }

    /// Adds the stop field.
    pub fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

pub fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn zigzag(out: &mut Vec<u8>, value: i64) {
    varint(out, ((value << 1) ^ (value >> 63)) as u64);
}

fn binary(out: &mut Vec<u8>, text: &str) {
    varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// A value that was read. Files are untrusted, so the available bytes limit depth and size.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    Number(i64),
    Binary(&'a [u8]),
    List(Vec<Value<'a>>),
    Struct(Vec<(i16, Value<'a>)>),
    /// Doubles and maps, which are skipped.
    Other,
}

impl<'a> Value<'a> {
    pub fn field(&self, field: i16) -> Option<&Value<'a>> {
        match self {
            Value::Struct(fields) => fields.iter().find(|(known, _)| *known == field).map(|(_, value)| value),
            _ => None,
        }
    }

    pub fn number(&self, field: i16) -> Option<i64> {
        match self.field(field)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub fn text(&self, field: i16) -> Option<&'a str> {
        match self.field(field)? {
            Value::Binary(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    pub fn list(&self, field: i16) -> &[Value<'a>] {
        match self.field(field) {
            Some(Value::List(list)) => list,
            _ => &[],
        }
    }
}

const DEEPEST: usize = 16;

#[derive(Debug)]
pub struct Reader<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    pub fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn binary(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.varint()?).ok()?;
        let bytes = self.bytes.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(bytes)
    }

    pub fn fields(&mut self) -> Option<Value<'a>> {
        self.value(STRUCT, 0)
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<Value<'a>> {
        if depth > DEEPEST {
            return None;
        }
        Some(match kind {
            1 => Value::Number(1),
            2 => Value::Number(0),
            3 => Value::Number(i64::from(self.byte()? as i8)),
            4..=6 => Value::Number(self.zigzag()?),
            7 => {
                self.at = self.at.checked_add(8).filter(|at| *at <= self.bytes.len())?;
                Value::Other
            }
            BINARY => Value::Binary(self.binary()?),
            LIST | 10 => {
                let head = self.byte()?;
                let len = if head >> 4 == 15 { usize::try_from(self.varint()?).ok()? } else { usize::from(head >> 4) };
                // Each element has at least one byte.
                if len > self.bytes.len().saturating_sub(self.at) {
                    return None;
                }
                let mut list = Vec::new();
                for _ in 0..len {
                    // In a list, a bool takes one byte.
                    list.push(self.value(if matches!(head & 15, 1 | 2) { 3 } else { head & 15 }, depth + 1)?);
                }
                Value::List(list)
            }
            STRUCT => {
                let (mut fields, mut last) = (Vec::new(), 0i16);
                loop {
                    let head = self.byte()?;
                    if head == 0 {
                        return Some(Value::Struct(fields));
                    }
                    last = match head >> 4 {
                        0 => i16::try_from(self.zigzag()?).ok()?,
                        delta => last.checked_add(i16::from(delta))?,
                    };
                    fields.push((last, self.value(head & 15, depth + 1)?));
                }
            }
            _ => return None,
        })
    }
}
