//! Conditions in a tree: `{type, value | index}`, nested by And, Or and Not.

use codeobject::{
    Error, Problem, Result,
    msgpack::{Reader, Token},
};
use std::fmt;

/// A condition, with the parts needed for display and queries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Predicate {
    pub kind: String,
    /// A plain value as text, a list of them joined by commas.
    pub value: String,
    pub index: Option<i64>,
    pub inner: Vec<Predicate>,
}

impl Predicate {
    pub(crate) fn read(reader: &mut Reader<'_>, depth: u32) -> Result<Predicate> {
        if depth > crate::limits::DEPTH {
            let limit = crate::limits::DEPTH;
            return Err(Error::new(reader.offset(), "predicate", Problem::TooDeep { limit }));
        }
        let mut out = Predicate::default();
        for _ in 0..reader.expect_map("predicate")? {
            match reader.expect_str("predicate key")? {
                "type" => out.kind = reader.expect_str("predicate type")?.to_owned(),
                "index" => match reader.token("predicate index")? {
                    Token::Int(index) => out.index = Some(index),
                    other => skip_rest(reader, other)?,
                },
                "value" => out.value(reader, depth)?,
                _ => reader.skip("predicate field")?,
            }
        }
        Ok(out)
    }

    fn value(&mut self, reader: &mut Reader<'_>, depth: u32) -> Result<()> {
        let mut ahead = reader.clone();
        match ahead.token("predicate value")? {
            Token::Map(_) => self.inner.push(Predicate::read(reader, depth + 1)?),
            Token::Array(count) => {
                *reader = ahead;
                for _ in 0..count {
                    let mut ahead = reader.clone();
                    match ahead.token("predicate value")? {
                        Token::Map(_) => self.inner.push(Predicate::read(reader, depth + 1)?),
                        token => self.scalar(reader, ahead, token)?,
                    }
                }
            }
            token => self.scalar(reader, ahead, token)?,
        }
        Ok(())
    }

    fn scalar<'a>(&mut self, reader: &mut Reader<'a>, ahead: Reader<'a>, token: Token<'a>) -> Result<()> {
        let text = match token {
            Token::Str(text) => text.to_owned(),
            Token::Int(number) => number.to_string(),
            Token::Uint(number) => number.to_string(),
            Token::Float(number) => number.to_string(),
            Token::Bool(value) => value.to_string(),
            Token::Array(_) | Token::Map(_) => return reader.skip("predicate value"),
            _ => String::new(),
        };
        *reader = ahead;
        if !self.value.is_empty() {
            self.value.push(',');
        }
        self.value.push_str(&text);
        Ok(())
    }

    /// The processor that this condition tests, if it tests one. `AMDGPU` wraps `Processor`.
    pub fn processor(&self) -> Option<&str> {
        match self.kind.as_str() {
            "Processor" => Some(&self.value),
            "AMDGPU" | "And" => self.inner.iter().find_map(Predicate::processor),
            _ => None,
        }
    }

    /// Whether a GPU of this target could pass, considering only tests of the processor.
    pub fn admits(&self, target: &str) -> bool {
        self.processor().is_none_or(|processor| processor == target)
    }
}

fn skip_rest(reader: &mut Reader<'_>, token: Token<'_>) -> Result<()> {
    let values = match token {
        Token::Array(count) => u64::from(count),
        Token::Map(count) => 2 * u64::from(count),
        _ => 0,
    };
    for _ in 0..values {
        reader.skip("predicate field")?;
    }
    Ok(())
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if let Some(index) = self.index {
            write!(f, "[{index}]")?;
        }
        if !self.value.is_empty() {
            write!(f, "={}", self.value)?;
        }
        if !self.inner.is_empty() {
            f.write_str("(")?;
            for (i, inner) in self.inner.iter().enumerate() {
                write!(f, "{}{inner}", if i > 0 { ", " } else { "" })?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}
