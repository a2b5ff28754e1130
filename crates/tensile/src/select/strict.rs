//! Strict reading. A catalog has no checksum of its own. A field that is missing, or that has another type than in
//! every real catalog, is therefore treated as damage. The inventory of a catalog may skip such a field, but a choice
//! may not.

use codeobject::{Error, Problem, Result, msgpack::Reader};

pub fn unsigned(reader: &mut Reader<'_>, field: &'static str) -> Result<u64> {
    let offset = reader.offset();
    let value = reader.expect_int(field)?;
    u64::try_from(value).map_err(|_| Error::new(offset, field, Problem::Missing))
}

/// A short list of numbers: tiles have three, matrix instructions up to nine.
pub fn ints(reader: &mut Reader<'_>, field: &'static str) -> Result<Vec<i64>> {
    const MOST: u32 = 16;
    let offset = reader.offset();
    let count = reader.expect_array(field)?;
    if count > MOST {
        let problem = Problem::OverLimit { claimed: u64::from(count), limit: u64::from(MOST) };
        return Err(Error::new(offset, field, problem));
    }
    (0..count).map(|_| reader.expect_int(field)).collect()
}

/// The fields that a map must have.
#[derive(Debug)]
pub struct Required {
    names: &'static [&'static str],
    seen: u64,
}

impl Required {
    pub fn new(names: &'static [&'static str]) -> Required {
        Required { names, seen: 0 }
    }

    pub fn note(&mut self, key: &str) {
        if let Some(at) = self.names.iter().position(|name| *name == key) {
            self.seen |= 1 << at;
        }
    }

    /// An error names the first field that was not there.
    pub fn check(&self, offset: u64) -> Result<()> {
        match self.names.iter().enumerate().find(|(at, _)| self.seen & (1 << at) == 0) {
            Some((_, name)) => Err(Error::new(offset, name, Problem::Missing)),
            None => Ok(()),
        }
    }
}
