//! One `.dat` file: solutions and the tree over them.

use crate::{
    limits,
    node::{Budget, Node},
    solution::Solution,
};
use codeobject::{Error, Problem, Result, msgpack::Reader};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    /// The solutions; empty in the root of a lazy catalog.
    pub solutions: Vec<Solution>,
    pub library: Option<Node>,
}

impl Catalog {
    pub fn parse(data: &[u8]) -> Result<Catalog> {
        let size = data.len() as u64;
        if size > limits::FILE {
            let problem = Problem::OverLimit { claimed: size, limit: limits::FILE };
            return Err(Error::new(0, "catalog size", problem));
        }
        let mut reader = Reader::new(data, 0);
        let mut out = Catalog::default();
        for _ in 0..reader.expect_map("catalog")? {
            match reader.expect_str("catalog key")? {
                "solutions" => {
                    let count = reader.expect_array("solutions")?;
                    if count > limits::SOLUTIONS {
                        let problem =
                            Problem::OverLimit { claimed: u64::from(count), limit: u64::from(limits::SOLUTIONS) };
                        return Err(Error::new(reader.offset(), "solutions", problem));
                    }
                    for _ in 0..count {
                        out.solutions.push(Solution::read(&mut reader)?);
                    }
                }
                "library" => out.library = Some(Node::read(&mut reader, &mut Budget::default(), 0)?),
                _ => reader.skip("catalog field")?,
            }
        }
        if !reader.is_at_end() {
            let left = reader.left() as u64;
            return Err(Error::new(reader.offset(), "end of the catalog", Problem::Trailing { left }));
        }
        Ok(out)
    }

    /// The leaves that this catalog references for a target, without duplicates.
    pub fn leaves(&self, target: Option<&str>) -> Vec<&str> {
        let mut out = Vec::new();
        if let Some(library) = &self.library {
            library.placeholders(target, &mut out);
        }
        let mut seen = std::collections::HashSet::new();
        out.retain(|name| seen.insert(*name));
        out
    }

    /// The solutions that a GPU of this target may use.
    pub fn solutions_for<'c>(&'c self, target: &'c str) -> impl Iterator<Item = &'c Solution> {
        self.solutions.iter().filter(move |solution| solution.processor.as_deref().is_none_or(|own| own == target))
    }
}
