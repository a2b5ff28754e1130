//! The tree of a catalog, compiled for walking.

use super::{
    strict::Required,
    table::{Axes, Distance, Entry, Table},
    test::Test,
    value::Value,
};
use crate::limits;
use codeobject::{Error, Problem, Result, msgpack::Reader};
use std::collections::HashMap;

#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// Rows in order; those whose test holds are searched until enough solutions are found.
    Rows(Vec<Row>),
    /// Chooses by the operation (which matrix is transposed).
    ByOperation(HashMap<String, Tree>),
    Table(Table),
    /// A leaf of a lazy catalog, by the base name of its file.
    Leaf(String),
    Single(i64),
    /// A node that is not implemented: its kind, and the unknown part.
    Unknown(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub test: Test,
    /// Whether the predicate tests the GPU. Only matching rows count, even where all solutions are listed.
    pub hardware: bool,
    pub tree: Tree,
}

/// The remaining budget of the limits.
#[derive(Debug)]
pub struct Budget {
    nodes: usize,
    rows: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { nodes: limits::NODES, rows: limits::ROWS }
    }
}

fn over(offset: u64, field: &'static str, limit: usize) -> Error {
    Error::new(offset, field, Problem::OverLimit { claimed: limit as u64 + 1, limit: limit as u64 })
}

/// The fields of a node in file order; the node's type decides which of them are used.
#[derive(Default)]
struct Fields {
    kind: String,
    rows: Option<Vec<Row>>,
    map: HashMap<String, Tree>,
    property: Option<Value>,
    properties: Vec<Value>,
    distance: String,
    /// The entries and the number of sizes in each key.
    table: Option<(Vec<Entry>, usize)>,
    text: String,
    index: Option<i64>,
    /// A field that no implemented node has.
    other: Option<String>,
}

impl Tree {
    pub(crate) fn read(reader: &mut Reader<'_>, budget: &mut Budget, depth: u32) -> Result<Tree> {
        let start = reader.offset();
        if depth > limits::DEPTH {
            return Err(Error::new(start, "library node", Problem::TooDeep { limit: limits::DEPTH }));
        }
        budget.nodes = budget.nodes.checked_sub(1).ok_or_else(|| over(start, "library nodes", limits::NODES))?;
        let mut fields = Fields::default();
        for _ in 0..reader.expect_map("library node")? {
            match reader.expect_str("node key")? {
                "type" => fields.kind = reader.expect_str("node type")?.to_owned(),
                "rows" => {
                    let rows = (0..reader.expect_array("rows")?).map(|_| Row::read(reader, budget, depth));
                    fields.rows = Some(rows.collect::<Result<_>>()?);
                }
                "map" => {
                    for _ in 0..reader.expect_map("map")? {
                        let key = reader.expect_str("map key")?.to_owned();
                        fields.map.insert(key, Tree::read(reader, budget, depth + 1)?);
                    }
                }
                "property" => fields.property = Some(Value::read(reader, depth)?),
                "properties" => {
                    if let Value::List(items) = Value::read(reader, depth)? {
                        fields.properties = items;
                    }
                }
                "distance" => fields.distance = reader.expect_str("distance")?.to_owned(),
                "table" => fields.table = Some(table(reader, budget)?),
                "value" => fields.text = reader.expect_str("value")?.to_owned(),
                "index" => fields.index = Some(reader.expect_int("index")?),
                other => {
                    fields.other = Some(other.to_owned());
                    reader.skip("node field")?;
                }
            }
        }
        Ok(fields.into_tree())
    }

    /// The tables below, whatever the product.
    pub fn tables<'t>(&'t self, out: &mut Vec<&'t Table>) {
        match self {
            Tree::Rows(rows) => rows.iter().for_each(|row| row.tree.tables(out)),
            Tree::ByOperation(map) => map.values().for_each(|tree| tree.tables(out)),
            Tree::Table(table) => out.push(table),
            Tree::Leaf(_) | Tree::Single(_) | Tree::Unknown(_) => {}
        }
    }

    /// The leaves below this node, for any product.
    pub fn leaves<'t>(&'t self, out: &mut Vec<&'t str>) {
        match self {
            Tree::Rows(rows) => rows.iter().for_each(|row| row.tree.leaves(out)),
            Tree::ByOperation(map) => map.values().for_each(|tree| tree.leaves(out)),
            Tree::Leaf(name) => out.push(name),
            Tree::Table(_) | Tree::Single(_) | Tree::Unknown(_) => {}
        }
    }
}

impl Fields {
    fn into_tree(self) -> Tree {
        let unknown = |what: &str| Tree::Unknown(format!("{} {what}", self.kind).trim().to_owned());
        match (self.kind.as_str(), self.other) {
            ("Hardware" | "Problem" | "ProblemMap" | "Matching" | "Placeholder" | "Single", Some(other)) => {
                unknown(&other)
            }
            ("Hardware" | "Problem", None) => self.rows.map_or_else(|| unknown("rows"), Tree::Rows),
            ("ProblemMap", None) => {
                match self.property.as_ref().and_then(|value| value.get("type")).and_then(Value::text) {
                    Some("OperationIdentifier") if !self.map.is_empty() => Tree::ByOperation(self.map),
                    other => unknown(other.unwrap_or_default()),
                }
            }
            ("Matching", None) => match (Distance::from_name(&self.distance), axes(&self.properties), self.table) {
                (Some(distance), Some(axes), Some((table, sizes)))
                    if (sizes == axes.count() || table.is_empty())
                        && (distance != Distance::GridBased || axes == Axes::Four) =>
                {
                    Tree::Table(Table::new(distance, axes, table))
                }
                _ => unknown(&self.distance),
            },
            ("Placeholder", None) if !self.text.is_empty() => Tree::Leaf(self.text),
            ("Single", None) => self.index.map_or_else(|| unknown(""), Tree::Single),
            _ => unknown(""),
        }
    }
}

/// The supported lists of sizes; None for any other list.
fn axes(properties: &[Value]) -> Option<Axes> {
    fn named(value: &Value) -> Option<&str> {
        let index = value.get("index").and_then(Value::int).unwrap_or(0);
        value.get("type").and_then(Value::text).filter(|_| index == 0)
    }
    match properties.iter().map(named).collect::<Option<Vec<_>>>()?.as_slice() {
        ["FreeSizeA", "FreeSizeB", "BoundSize"] => Some(Axes::Three),
        ["FreeSizeA", "FreeSizeB", "BatchSize", "BoundSize"] => Some(Axes::Four),
        _ => None,
    }
}

impl Row {
    fn read(reader: &mut Reader<'_>, budget: &mut Budget, depth: u32) -> Result<Row> {
        let start = reader.offset();
        let mut out = Row { test: Test::Never(String::new()), hardware: false, tree: Tree::Unknown(String::new()) };
        let mut required = Required::new(&["predicate", "library"]);
        for _ in 0..reader.expect_map("row")? {
            let key = reader.expect_str("row key")?;
            required.note(key);
            match key {
                "predicate" => {
                    let value = Value::read(reader, depth + 1)?;
                    out.hardware = value.get("type").and_then(Value::text) == Some("AMDGPU");
                    out.test = Test::compile(&value);
                }
                "library" => out.tree = Tree::read(reader, budget, depth + 1)?,
                _ => reader.skip("row field")?,
            }
        }
        required.check(start)?;
        Ok(out)
    }
}

/// The entries, and how many sizes each key has: three or four, the same in all.
fn table(reader: &mut Reader<'_>, budget: &mut Budget) -> Result<(Vec<Entry>, usize)> {
    let count = reader.expect_array("table")?;
    let mut entries = Vec::with_capacity((count as usize).min(reader.left() / 8));
    let mut sizes = None;
    for _ in 0..count {
        let start = reader.offset();
        budget.rows = budget.rows.checked_sub(1).ok_or_else(|| over(start, "table", limits::ROWS))?;
        let mut entry = Entry { key: [0; 4], index: -1, speed: 0.0 };
        let mut required = Required::new(&["key", "index"]);
        for _ in 0..reader.expect_map("table row")? {
            let name = reader.expect_str("table key")?;
            required.note(name);
            match name {
                "key" => {
                    let length = key(reader, &mut entry.key)?;
                    if *sizes.get_or_insert(length) != length {
                        return Err(Error::new(start, "table key of equal length", Problem::Missing));
                    }
                }
                "index" => entry.index = reader.expect_int("index")?,
                "speed" => entry.speed = reader.expect_number("speed")?,
                _ => reader.skip("table field")?,
            }
        }
        required.check(start)?;
        entries.push(entry);
    }
    Ok((entries, sizes.unwrap_or(0)))
}

/// The sizes of a row; no allocation, there are hundreds of thousands of rows.
fn key(reader: &mut Reader<'_>, out: &mut [i64; 4]) -> Result<usize> {
    let offset = reader.offset();
    let count = reader.expect_array("key")? as usize;
    let slots = out.get_mut(..count).ok_or_else(|| over(offset, "key", 4))?;
    for slot in slots {
        *slot = reader.expect_int("key")?;
    }
    Ok(count)
}
