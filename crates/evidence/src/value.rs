//! An observed value: plain data with the same form in TOML, JSON and the ledger.

use schemars::JsonSchema;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A value. `Nothing` is an answer: the observer looked for exactly this and did not find it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    Nothing,
    Bool(bool),
    Int(i64),
    Real(f64),
    Text(String),
    List(Vec<Value>),
}

/// Chooses the kind by the first character instead of trying one kind after another, because a ledger has a million
/// values.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
        from.deserialize_any(Plainly)
    }
}

struct Plainly;

impl<'de> Visitor<'de> for Plainly {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, true or false, a number, a text, or a list of such")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        Value::deserialize(from)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or(Value::Real(value as f64), Value::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Real(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }
}

/// A key that is equal for all values that are the [same](Value::same).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Likeness {
    Number(u64),
    List(usize),
    Text(String),
    Other(Option<bool>),
}

impl Value {
    /// A key that is equal for values that are the same. Each value then needs to be compared only with those of equal
    /// key.
    pub(crate) fn likeness(&self) -> Likeness {
        match (self.number(), self) {
            // Adding zero turns -0.0 into 0.0.
            (Some(number), _) => Likeness::Number((number + 0.0).to_bits()),
            (None, Value::List(items)) => Likeness::List(items.len()),
            (None, Value::Text(text)) => Likeness::Text(text.clone()),
            (None, Value::Bool(value)) => Likeness::Other(Some(*value)),
            (None, _) => Likeness::Other(None),
        }
    }

    /// Whether nothing was there: null, zero, false, or an empty list or text.
    pub fn is_nothing(&self) -> bool {
        match self {
            Value::Nothing => true,
            Value::Bool(b) => !b,
            Value::Int(n) => *n == 0,
            Value::Real(x) => *x == 0.0,
            Value::Text(t) => t.is_empty(),
            Value::List(items) => items.is_empty(),
        }
    }

    /// The value as a number, also if it is a text that spells one (`"36"`, `"0x7550"`).
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Int(n) => Some(*n as f64),
            Value::Real(x) => Some(*x),
            Value::Text(text) => match text.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).ok().map(|n| n as f64),
                None => text.parse().ok(),
            },
            _ => None,
        }
    }

    /// JSON has no infinities, so facts cannot contain them.
    pub(crate) fn is_finite(&self) -> bool {
        match self {
            Value::Real(x) => x.is_finite(),
            Value::List(items) => items.iter().all(Value::is_finite),
            _ => true,
        }
    }

    /// Whether both are the same value in any spelling, like 30000 and "0x7530".
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Text(a), Value::Text(b)) if a == b => true,
            (Value::List(a), Value::List(b)) => {
                a.len() == b.len()
                    && a.iter().all(|x| b.iter().any(|y| x.same(y)))
                    && b.iter().all(|y| a.iter().any(|x| x.same(y)))
            }
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a == b,
                _ => self == other,
            },
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Nothing => f.write_str("nothing"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(n) => write!(f, "{n}"),
            Value::Real(x) => write!(f, "{x}"),
            Value::Text(text) => f.write_str(text),
            Value::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                Ok(())
            }
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Value::Int(value.into())
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Value::Int(value.into())
    }
}

/// Used for counts and sizes. A number beyond i64 (no file is that large) becomes a real number.
impl From<u64> for Value {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or(Value::Real(value as f64), Value::Int)
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Value::from(value as u64)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Real(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Value::Text(value)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Value::List(items.into_iter().map(Into::into).collect())
    }
}
