//! A MessagePack reader that is safe against hostile input: it pulls one token at a time, allocates nothing, and never
//! recurses. <https://github.com/msgpack/msgpack/blob/master/spec.md>

use crate::error::{Error, Problem, Result};
use say::key;

/// The depth limit for callers that recurse: metadata nests about six deep, Tensile's catalogs about thirty.
pub const DEPTH_LIMIT: u32 = 128;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'a> {
    Nil,
    Bool(bool),
    Int(i64),
    /// Used only for values that do not fit in [`Token::Int`].
    Uint(u64),
    Float(f64),
    Str(&'a str),
    Bytes(&'a [u8]),
    Ext(i8, &'a [u8]),
    /// An array; this number of values follows.
    Array(u32),
    /// A map; this number of key-value pairs follows.
    Map(u32),
}

impl Token<'_> {
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Token::Int(value) => u64::try_from(value).ok(),
            Token::Uint(value) => Some(value),
            _ => None,
        }
    }
}

/// A position in MessagePack bytes. `base` is added to the offsets in errors.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    data: &'a [u8],
    at: usize,
    base: u64,
}

impl<'a> Reader<'a> {
    pub fn new(data: &'a [u8], base: u64) -> Self {
        Reader { data, at: 0, base }
    }

    /// The absolute offset of the next token.
    pub fn offset(&self) -> u64 {
        self.base.saturating_add(self.at as u64)
    }

    pub fn is_at_end(&self) -> bool {
        self.at >= self.data.len()
    }

    /// The number of bytes left: no array or map can have more values than that.
    pub fn left(&self) -> usize {
        self.data.len().saturating_sub(self.at)
    }

    pub fn token(&mut self, field: &'static str) -> Result<Token<'a>> {
        let start = self.at;
        let token = self.read(field);
        if token.is_err() {
            self.at = start;
        }
        token
    }

    fn read(&mut self, field: &'static str) -> Result<Token<'a>> {
        let offset = self.offset();
        let byte = self.uint(1, field)? as u8;
        Ok(match byte {
            0x00..=0x7f => Token::Int(i64::from(byte)),
            0x80..=0x8f => self.map(u64::from(byte & 15), field)?,
            0x90..=0x9f => self.array(u64::from(byte & 15), field)?,
            0xa0..=0xbf => self.text(u64::from(byte & 31), field)?,
            0xc0 => Token::Nil,
            0xc1 => {
                let problem = Problem::Unexpected { found: 0xc1, expected: key!("codeobject-expected-msgpack") };
                return Err(Error::new(offset, field, problem));
            }
            0xc2 | 0xc3 => Token::Bool(byte == 0xc3),
            0xc4..=0xc6 => {
                let len = self.uint(1 << (byte - 0xc4), field)?;
                Token::Bytes(self.take(len, field)?)
            }
            0xc7..=0xc9 => {
                let len = self.uint(1 << (byte - 0xc7), field)?;
                self.ext(len, field)?
            }
            0xca => Token::Float(f64::from(f32::from_bits(self.uint(4, field)? as u32))),
            0xcb => Token::Float(f64::from_bits(self.uint(8, field)?)),
            0xcc..=0xcf => {
                let value = self.uint(1 << (byte - 0xcc), field)?;
                i64::try_from(value).map_or(Token::Uint(value), Token::Int)
            }
            0xd0 => Token::Int(i64::from(self.uint(1, field)? as i8)),
            0xd1 => Token::Int(i64::from(self.uint(2, field)? as i16)),
            0xd2 => Token::Int(i64::from(self.uint(4, field)? as i32)),
            0xd3 => Token::Int(self.uint(8, field)? as i64),
            0xd4..=0xd8 => self.ext(1 << (byte - 0xd4), field)?,
            0xd9..=0xdb => {
                let len = self.uint(1 << (byte - 0xd9), field)?;
                self.text(len, field)?
            }
            0xdc | 0xdd => {
                let count = self.uint(2 << (byte - 0xdc), field)?;
                self.array(count, field)?
            }
            0xde | 0xdf => {
                let count = self.uint(2 << (byte - 0xde), field)?;
                self.map(count, field)?
            }
            0xe0..=0xff => Token::Int(i64::from(byte as i8)),
        })
    }

    /// Skips one value of any kind. Nesting costs nothing, because only a count of pending values is kept. This is the
    /// hottest loop of every inventory: each note is skipped once to find the entries after its kernels. It therefore
    /// keeps its position in a register and reads only lengths.
    pub fn skip(&mut self, field: &'static str) -> Result<()> {
        self.skip_values(1, field)
    }

    /// Skips several values.
    pub fn skip_values(&mut self, count: u32, field: &'static str) -> Result<()> {
        let data = self.data;
        let mut at = self.at;
        let mut values = count as usize;
        while values > 0 {
            values -= 1;
            let Some(&byte) = data.get(at) else { return Err(self.short(at, 1, field)) };
            at += 1;
            let (width, unit, fixed) = match byte {
                0x00..=0x7f | 0xc0 | 0xc2 | 0xc3 | 0xe0..=0xff => continue,
                0x80..=0x8f => {
                    values += 2 * usize::from(byte & 15);
                    continue;
                }
                0x90..=0x9f => {
                    values += usize::from(byte & 15);
                    continue;
                }
                0xa0..=0xbf => (0, 0, usize::from(byte & 31)),
                0xcc | 0xd0 => (0, 0, 1),
                0xcd | 0xd1 => (0, 0, 2),
                0xca | 0xce | 0xd2 => (0, 0, 4),
                0xcb | 0xcf | 0xd3 => (0, 0, 8),
                0xd4..=0xd8 => (0, 0, (1 << (byte - 0xd4)) + 1),
                0xc4..=0xc6 => (1 << (byte - 0xc4), 0, 0),
                0xd9..=0xdb => (1 << (byte - 0xd9), 0, 0),
                0xc7..=0xc9 => (1 << (byte - 0xc7), 0, 1),
                0xdc | 0xdd => (2 << (byte - 0xdc), 1, 0),
                0xde | 0xdf => (2 << (byte - 0xde), 2, 0),
                0xc1 => {
                    let problem = Problem::Unexpected { found: 0xc1, expected: key!("codeobject-expected-msgpack") };
                    return Err(Error::new(self.base.saturating_add(at as u64 - 1), field, problem));
                }
            };
            let mut len = fixed;
            if width > 0 {
                let Some(number) = data.get(at..at + width) else { return Err(self.short(at, width, field)) };
                let number = number.iter().fold(0usize, |value, byte| (value << 8) | usize::from(*byte));
                at += width;
                // Reject counts that cannot fit in the remaining bytes.
                if unit > 0 {
                    values = values.saturating_add(number.saturating_mul(unit));
                } else {
                    len = len.saturating_add(number);
                }
            }
            if values > data.len() - at || len > data.len() - at {
                return Err(self.short(at, values.max(len), field));
            }
            at += len;
        }
        self.at = at;
        Ok(())
    }

    fn short(&self, at: usize, needed: usize, field: &'static str) -> Error {
        let left = self.data.len().saturating_sub(at) as u64;
        Error::new(self.base.saturating_add(at as u64), field, Problem::Truncated { needed: needed as u64, left })
    }

    /// The next text as bytes. Keys are only compared, so there is no UTF-8 check.
    #[inline]
    pub fn expect_raw(&mut self, field: &'static str) -> Result<&'a [u8]> {
        if let Some(&byte @ 0xa0..=0xbf) = self.data.get(self.at) {
            let start = self.at + 1;
            let end = start + usize::from(byte & 31);
            if let Some(text) = self.data.get(start..end) {
                self.at = end;
                return Ok(text);
            }
        }
        self.expect_str(field).map(str::as_bytes)
    }

    /// Skips these bytes if they are next in the input.
    #[inline(always)]
    pub fn eat<const N: usize>(&mut self, bytes: &[u8; N]) -> bool {
        let next = self.data.get(self.at..).and_then(<[u8]>::first_chunk::<N>);
        let found = next == Some(bytes);
        self.at += if found { N } else { 0 };
        found
    }

    /// The next value, if it is a number below 65,536. Most are below 128, which MessagePack encodes in one byte.
    #[inline]
    pub fn small(&mut self) -> Option<u32> {
        let (value, len) = match *self.data.get(self.at..)? {
            [byte @ ..0x80, ..] => (u32::from(byte), 1),
            [0xcc, byte, ..] => (u32::from(byte), 2),
            [0xcd, high, low, ..] => (u32::from(u16::from_be_bytes([high, low])), 3),
            _ => return None,
        };
        self.at += len;
        Some(value)
    }

    /// The number of pairs of the next value, which must be a map.
    #[inline]
    pub fn expect_map(&mut self, field: &'static str) -> Result<u32> {
        if let Some(&byte @ 0x80..=0x8f) = self.data.get(self.at) {
            self.at += 1;
            return Ok(u32::from(byte & 15));
        }
        let offset = self.offset();
        match self.token(field)? {
            Token::Map(count) => Ok(count),
            _ => Err(Error::new(offset, field, Problem::NotA(key!("codeobject-map")))),
        }
    }

    /// The number of elements of the next value, which must be an array.
    pub fn expect_array(&mut self, field: &'static str) -> Result<u32> {
        let offset = self.offset();
        match self.token(field)? {
            Token::Array(count) => Ok(count),
            _ => Err(Error::new(offset, field, Problem::NotA(key!("codeobject-array")))),
        }
    }

    /// The next value, which must be an integer that fits in 64 bits with its sign.
    pub fn expect_int(&mut self, field: &'static str) -> Result<i64> {
        let offset = self.offset();
        match self.token(field)? {
            Token::Int(value) => Ok(value),
            _ => Err(Error::new(offset, field, Problem::NotA(key!("codeobject-number")))),
        }
    }

    /// The next value, which must be a number.
    pub fn expect_number(&mut self, field: &'static str) -> Result<f64> {
        let offset = self.offset();
        match self.token(field)? {
            Token::Float(value) => Ok(value),
            Token::Int(value) => Ok(value as f64),
            _ => Err(Error::new(offset, field, Problem::NotA(key!("codeobject-number")))),
        }
    }

    /// The next value, which must be text, for example a map key.
    pub fn expect_str(&mut self, field: &'static str) -> Result<&'a str> {
        let offset = self.offset();
        match self.token(field)? {
            Token::Str(text) => Ok(text),
            _ => Err(Error::new(offset, field, Problem::NotA(key!("codeobject-text")))),
        }
    }

    fn uint(&mut self, len: u64, field: &'static str) -> Result<u64> {
        Ok(self.take(len, field)?.iter().fold(0, |value, byte| (value << 8) | u64::from(*byte)))
    }

    fn text(&mut self, len: u64, field: &'static str) -> Result<Token<'a>> {
        let offset = self.offset();
        let bytes = self.take(len, field)?;
        std::str::from_utf8(bytes).map(Token::Str).map_err(|_| Error::new(offset, field, Problem::NotText))
    }

    fn ext(&mut self, len: u64, field: &'static str) -> Result<Token<'a>> {
        let kind = self.uint(1, field)? as i8;
        Ok(Token::Ext(kind, self.take(len, field)?))
    }

    /// Rejects a count that cannot fit in the remaining bytes.
    fn array(&mut self, count: u64, field: &'static str) -> Result<Token<'a>> {
        self.fits(count, field)?;
        Ok(Token::Array(count as u32))
    }

    fn map(&mut self, count: u64, field: &'static str) -> Result<Token<'a>> {
        self.fits(count * 2, field)?;
        Ok(Token::Map(count as u32))
    }

    fn fits(&self, values: u64, field: &'static str) -> Result<()> {
        let left = self.left() as u64;
        if values <= left {
            return Ok(());
        }
        Err(Error::new(self.offset(), field, Problem::Truncated { needed: values, left }))
    }

    #[inline]
    fn take(&mut self, len: u64, field: &'static str) -> Result<&'a [u8]> {
        let rest = self.data.get(self.at..).unwrap_or_default();
        let taken = usize::try_from(len).ok().and_then(|len| rest.get(..len));
        let short = Problem::Truncated { needed: len, left: rest.len() as u64 };
        let taken = taken.ok_or_else(|| Error::new(self.offset(), field, short))?;
        self.at += taken.len();
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_is_read() {
        let data = [0x07, 0xe0, 0xcd, 1, 2, 0xd0, 0x80, 0xa2, b'h', b'i', 0xc3, 0x92, 0x01, 0x02, 0x81, 0x01, 0xc0];
        let mut reader = Reader::new(&data, 0);
        let mut next = || reader.token("test").unwrap();
        assert_eq!(next(), Token::Int(7));
        assert_eq!(next(), Token::Int(-32));
        assert_eq!(next(), Token::Int(0x102));
        assert_eq!(next(), Token::Int(-128));
        assert_eq!(next(), Token::Str("hi"));
        assert_eq!(next(), Token::Bool(true));
        assert_eq!(next(), Token::Array(2));
        reader.skip("test").unwrap();
        reader.skip("test").unwrap();
        reader.skip("test").unwrap();
        assert!(reader.is_at_end());
    }

    #[test]
    fn bombs_are_refused() {
        let deep = [0x91; 1 << 20];
        let error = Reader::new(&deep, 100).skip("bomb").unwrap_err();
        assert_eq!(error.problem, Problem::Truncated { needed: 1, left: 0 });
        let wide = [0xdd, 0xff, 0xff, 0xff, 0xff, 0xc0];
        let error = Reader::new(&wide, 100).skip("bomb").unwrap_err();
        assert!(matches!(error.problem, Problem::Truncated { .. }), "{error}");
    }
}
