//! A small MessagePack value: predicates are read into it before they are compiled.

use crate::limits;
use codeobject::{
    Error, Problem, Result,
    msgpack::{Reader, Token},
};

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

/// No predicate has more values than this; a longer one is damaged.
const MOST: u32 = 4096;

impl Value {
    pub fn read(reader: &mut Reader<'_>, depth: u32) -> Result<Value> {
        let start = reader.offset();
        if depth > limits::DEPTH {
            return Err(Error::new(start, "predicate", Problem::TooDeep { limit: limits::DEPTH }));
        }
        let over = |count: u32| {
            Error::new(start, "predicate", Problem::OverLimit { claimed: u64::from(count), limit: u64::from(MOST) })
        };
        Ok(match reader.token("predicate")? {
            Token::Bool(value) => Value::Bool(value),
            Token::Int(value) => Value::Int(value),
            Token::Uint(value) => Value::Uint(value),
            Token::Float(value) => Value::Float(value),
            Token::Str(value) => Value::Text(value.to_owned()),
            Token::Array(count) if count > MOST => return Err(over(count)),
            Token::Map(count) if count > MOST => return Err(over(count)),
            Token::Array(count) => {
                Value::List((0..count).map(|_| Value::read(reader, depth + 1)).collect::<Result<_>>()?)
            }
            Token::Map(count) => Value::Map(
                (0..count)
                    .map(|_| Ok((reader.expect_str("predicate key")?.to_owned(), Value::read(reader, depth + 1)?)))
                    .collect::<Result<_>>()?,
            ),
            Token::Nil | Token::Bytes(_) | Token::Ext(..) => Value::Nil,
        })
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        let Value::Map(entries) = self else { return None };
        entries.iter().find(|entry| entry.0 == key).map(|entry| &entry.1)
    }

    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    pub fn int(&self) -> Option<i64> {
        if let Value::Int(value) = self { Some(*value) } else { None }
    }

    pub fn unsigned(&self) -> Option<u64> {
        match self {
            Value::Int(value) => u64::try_from(*value).ok(),
            Value::Uint(value) => Some(*value),
            _ => None,
        }
    }

    pub fn flag(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            Value::Int(value) => Some(*value != 0),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Value]> {
        if let Value::List(items) = self { Some(items) } else { None }
    }
}
