//! One catalog file in memory. Its tree is read at once, its solutions on first use.

use super::{
    candidate::Candidate,
    strict::Required,
    tree::{Budget, Tree},
};
use crate::limits;
use codeobject::{Error, Problem, Result, msgpack::Reader};
use std::{
    cell::{Cell, OnceCell},
    collections::HashMap,
    ops::Range,
};

#[derive(Debug)]
pub struct CatalogFile {
    pub tree: Tree,
    data: Vec<u8>,
    solutions: HashMap<i64, Lazy>,
}

/// A solution, read on first use.
#[derive(Debug)]
struct Lazy {
    bytes: Range<usize>,
    /// None if the solution's bytes are damaged.
    read: OnceCell<Option<Candidate>>,
    /// The last query that checked the solution's predicates, and the result. A walk over a grid reaches the same
    /// solution many times.
    answered: Cell<(u64, bool)>,
}

impl CatalogFile {
    pub fn parse(data: Vec<u8>) -> Result<CatalogFile> {
        let size = data.len() as u64;
        if size > limits::FILE {
            return Err(Error::new(0, "catalog size", Problem::OverLimit { claimed: size, limit: limits::FILE }));
        }
        let mut reader = Reader::new(&data, 0);
        let mut tree = Tree::Unknown(String::new());
        let mut solutions = HashMap::new();
        let mut required = Required::new(&["solutions", "library"]);
        for _ in 0..reader.expect_map("catalog")? {
            let key = reader.expect_str("catalog key")?;
            required.note(key);
            match key {
                "solutions" => solutions = places(&mut reader)?,
                "library" => tree = Tree::read(&mut reader, &mut Budget::default(), 0)?,
                _ => reader.skip("catalog field")?,
            }
        }
        required.check(0)?;
        let left = reader.left() as u64;
        if left > 0 {
            return Err(Error::new(reader.offset(), "catalog", Problem::Trailing { left }));
        }
        Ok(CatalogFile { tree, data, solutions })
    }

    /// The solution with the cached result of the last query.
    pub(crate) fn remembered(&self, index: i64) -> Option<(&Candidate, &Cell<(u64, bool)>)> {
        let lazy = self.solutions.get(&index)?;
        Some((lazy.candidate(&self.data)?, &lazy.answered))
    }

    /// None if the solution does not exist or cannot be read.
    pub fn solution(&self, index: i64) -> Option<&Candidate> {
        self.solutions.get(&index)?.candidate(&self.data)
    }

    /// The solutions that use a kernel, and how many rows of tables name one of them.
    pub fn naming(&self, kernel: &str) -> (Vec<i64>, usize) {
        let uses = |index: &i64| self.solution(*index).is_some_and(|solution| solution.kernel == kernel);
        let mut solutions: Vec<i64> = self.indices().filter(uses).collect();
        solutions.sort_unstable();
        let mut tables = Vec::new();
        self.tree.tables(&mut tables);
        let rows = tables.iter().flat_map(|table| &table.entries);
        let count = rows.filter(|entry| solutions.binary_search(&entry.index).is_ok()).count();
        (solutions, count)
    }

    /// The numbers of all solutions, in no order.
    pub fn indices(&self) -> impl Iterator<Item = i64> {
        self.solutions.keys().copied()
    }
}

impl Lazy {
    fn candidate(&self, data: &[u8]) -> Option<&Candidate> {
        let read = || Candidate::read(&mut Reader::new(data.get(self.bytes.clone())?, 0)).ok();
        self.read.get_or_init(read).as_ref()
    }
}

/// The position of each solution in the file, by its number.
fn places(reader: &mut Reader<'_>) -> Result<HashMap<i64, Lazy>> {
    let count = reader.expect_array("solutions")?;
    if count > limits::SOLUTIONS {
        let problem = Problem::OverLimit { claimed: u64::from(count), limit: u64::from(limits::SOLUTIONS) };
        return Err(Error::new(reader.offset(), "solutions", problem));
    }
    let mut out = HashMap::new();
    for _ in 0..count {
        let start = reader.offset() as usize;
        let mut index = None;
        for _ in 0..reader.expect_map("solution")? {
            if reader.expect_raw("solution key")? == b"index" {
                index = Some(reader.expect_int("solution index")?);
            } else {
                reader.skip("solution field")?;
            }
        }
        let bytes = start..reader.offset() as usize;
        let index = index.ok_or_else(|| Error::new(start as u64, "solution index", Problem::Missing))?;
        let lazy = Lazy { bytes, read: OnceCell::new(), answered: Cell::new((0, false)) };
        if out.insert(index, lazy).is_some() {
            return Err(Error::new(start as u64, "unique solution index", Problem::Missing));
        }
    }
    Ok(out)
}
