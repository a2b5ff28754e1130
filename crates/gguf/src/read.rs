//! Reads the header: metadata and the list of tensors.

use crate::{Error, TensorType};
use say::{Key, key};

/// The maximum number of entries, more than any model has. A file that claims more is rejected, so that memory stays
/// bounded.
const MOST_ENTRIES: u64 = 1 << 20;
const MOST_ELEMENTS: u64 = 1 << 28;
const MOST_TEXT: u64 = 1 << 26;
const MOST_DEPTH: u32 = 4;

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    /// An array, of which only the length is stored. The content, such as a vocabulary, is not needed here.
    Array {
        kind: u32,
        len: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    pub name: String,
    /// Dimensions, innermost first: a weight matrix is [columns, rows].
    pub dims: Vec<u64>,
    pub kind: TensorType,
    /// Counted from the start of the data.
    pub offset: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Gguf {
    pub version: u32,
    pub metadata: Vec<(String, Value)>,
    pub tensors: Vec<Tensor>,
    /// The offset at which the tensors' data begins.
    pub data_offset: u64,
}

impl Tensor {
    /// The size of the tensor's data. None if the type is unknown or the dimensions are invalid.
    pub fn bytes(&self) -> Option<u64> {
        let (block, size) = self.kind.block()?;
        let elements = self.dims.iter().try_fold(1_u64, |product, &dim| product.checked_mul(dim))?;
        elements.checked_div(block)?.checked_mul(size)
    }
}

impl Gguf {
    /// Reads the header from the first bytes of a file. [`Error::Truncated`] gives the number of bytes needed to
    /// continue.
    pub fn parse(bytes: &[u8]) -> Result<Gguf, Error> {
        let mut reader = Reader { bytes, at: 0 };
        let magic = reader.take(4, key!("gguf-field-magic"))?;
        if magic != b"GGUF" {
            return Err(Error::Magic { found: magic.to_vec() });
        }
        let version = reader.u32(key!("gguf-field-version"))?;
        if !(2..=3).contains(&version) {
            let swapped = version.swap_bytes() == 3;
            return Err(if swapped { Error::BigEndian { version } } else { Error::Version { version } });
        }
        let tensor_count = reader.count(key!("gguf-field-tensors"), MOST_ENTRIES)?;
        let pair_count = reader.count(key!("gguf-field-pairs"), MOST_ENTRIES)?;
        let mut metadata = Vec::new();
        for _ in 0..pair_count {
            let key = reader.text(key!("gguf-field-key"))?;
            let kind = reader.u32(key!("gguf-field-type"))?;
            metadata.push((key, reader.value(kind, 0)?));
        }
        let mut tensors = Vec::new();
        for _ in 0..tensor_count {
            tensors.push(reader.tensor()?);
        }
        let alignment = metadata
            .iter()
            .find_map(|(key, value)| match value {
                Value::Unsigned(alignment) if key == "general.alignment" => Some(*alignment),
                _ => None,
            })
            .filter(|alignment| alignment.is_power_of_two() && *alignment <= 1 << 20)
            .unwrap_or(32);
        let data_offset = (reader.at as u64).next_multiple_of(alignment);
        Ok(Gguf { version, metadata, tensors, data_offset })
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.metadata.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn number(&self, key: &str) -> Option<u64> {
        match *self.get(key)? {
            Value::Unsigned(value) => Some(value),
            Value::Signed(value) => u64::try_from(value).ok(),
            _ => None,
        }
    }

    pub fn architecture(&self) -> &str {
        self.text("general.architecture").unwrap_or_default()
    }

    /// A number of the model's architecture: `block_count` is `qwen2.block_count`.
    pub fn hyper(&self, key: &str) -> Option<u64> {
        self.number(&format!("{}.{key}", self.architecture()))
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: u64, field: Key) -> Result<&'a [u8], Error> {
        let have = self.bytes.len() as u64;
        let need = (self.at as u64).saturating_add(len);
        let cut = Error::Truncated { field, have, need };
        let end = usize::try_from(need).map_err(|_| cut.clone())?;
        let taken = self.bytes.get(self.at..end).ok_or(cut)?;
        self.at = end;
        Ok(taken)
    }

    fn number<const N: usize>(&mut self, field: Key) -> Result<[u8; N], Error> {
        let mut number = [0; N];
        number.copy_from_slice(self.take(N as u64, field)?);
        Ok(number)
    }

    fn u32(&mut self, field: Key) -> Result<u32, Error> {
        self.number(field).map(u32::from_le_bytes)
    }

    fn u64(&mut self, field: Key) -> Result<u64, Error> {
        self.number(field).map(u64::from_le_bytes)
    }

    fn count(&mut self, field: Key, most: u64) -> Result<u64, Error> {
        let offset = self.at as u64;
        let value = self.u64(field)?;
        if value > most { Err(Error::TooMany { field, offset, value }) } else { Ok(value) }
    }

    fn text(&mut self, field: Key) -> Result<String, Error> {
        let len = self.count(key!("gguf-field-text-length"), MOST_TEXT)?;
        let offset = self.at as u64;
        let bytes = self.take(len, field)?;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| Error::Text { offset })
    }

    fn value(&mut self, kind: u32, depth: u32) -> Result<Value, Error> {
        const FIELD: Key = key!("gguf-field-value");
        let offset = self.at as u64;
        Ok(match kind {
            0 => Value::Unsigned(self.number(FIELD).map(u8::from_le_bytes)?.into()),
            1 => Value::Signed(self.number(FIELD).map(i8::from_le_bytes)?.into()),
            2 => Value::Unsigned(self.number(FIELD).map(u16::from_le_bytes)?.into()),
            3 => Value::Signed(self.number(FIELD).map(i16::from_le_bytes)?.into()),
            4 => Value::Unsigned(self.u32(FIELD)?.into()),
            5 => Value::Signed(self.number(FIELD).map(i32::from_le_bytes)?.into()),
            6 => Value::Float(self.number(FIELD).map(f32::from_le_bytes)?.into()),
            7 => Value::Bool(self.number::<1>(FIELD)? != [0]),
            8 => Value::Text(self.text(FIELD)?),
            9 if depth < MOST_DEPTH => {
                let kind = self.u32(key!("gguf-field-array-type"))?;
                let len = self.count(key!("gguf-field-array-length"), MOST_ELEMENTS)?;
                match element(kind) {
                    Some(size) => drop(self.take(size.saturating_mul(len), key!("gguf-field-array"))?),
                    None => self.skip(kind, len, depth)?,
                }
                Value::Array { kind, len }
            }
            10 => Value::Unsigned(self.u64(FIELD)?),
            11 => Value::Signed(self.number(FIELD).map(i64::from_le_bytes)?),
            12 => Value::Float(self.number(FIELD).map(f64::from_le_bytes)?),
            _ => return Err(Error::ValueType { kind, offset }),
        })
    }

    /// Skips an array without storing its texts. Nested arrays are read up to a few levels.
    fn skip(&mut self, kind: u32, len: u64, depth: u32) -> Result<(), Error> {
        for _ in 0..len {
            if kind == 8 {
                let len = self.count(key!("gguf-field-text-length"), MOST_TEXT)?;
                self.take(len, key!("gguf-field-array-text"))?;
            } else {
                self.value(kind, depth + 1)?;
            }
        }
        Ok(())
    }

    fn tensor(&mut self) -> Result<Tensor, Error> {
        let name = self.text(key!("gguf-field-tensor-name"))?;
        let rank = self.u32(key!("gguf-field-tensor-rank"))?;
        if rank > 4 {
            return Err(Error::Rank { name, rank });
        }
        let mut dims = Vec::new();
        for _ in 0..rank {
            dims.push(self.u64(key!("gguf-field-tensor-dimension"))?);
        }
        let kind = TensorType(self.u32(key!("gguf-field-tensor-type"))?);
        Ok(Tensor { name, dims, kind, offset: self.u64(key!("gguf-field-tensor-offset"))? })
    }
}

/// The size in bytes of an element of a fixed-size type.
fn element(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}
