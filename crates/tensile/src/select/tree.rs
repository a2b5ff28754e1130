//! The tree of a catalog, compiled for walking.

use super::{
    table::{Axes, Distance, Entry, Table},
    test::Test,
    value::Value,
};
use crate::{
    limits,
    solution::{int, ints, scalar},
};
use codeobject::{
    Error, Problem, Result,
    msgpack::{Reader, Token},
};
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
    rows: Vec<Row>,
    map: HashMap<String, Tree>,
    property: Option<Value>,
    properties: Vec<Value>,
    distance: String,
    table: Vec<Entry>,
    text: String,
    index: Option<i64>,
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
                    for _ in 0..reader.expect_array("rows")? {
                        fields.rows.push(Row::read(reader, budget, depth)?);
                    }
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
                "distance" => fields.distance = text(reader, "distance")?,
                "table" => fields.table = table(reader, budget)?,
                "value" => fields.text = text(reader, "value")?,
                "index" => fields.index = Some(int(reader, "index")?),
                _ => reader.skip("node field")?,
            }
        }
        Ok(fields.into_tree())
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
        match self.kind.as_str() {
            "Hardware" | "Problem" => Tree::Rows(self.rows),
            "ProblemMap" => match self.property.as_ref().and_then(|value| value.get("type")).and_then(Value::text) {
                Some("OperationIdentifier") => Tree::ByOperation(self.map),
                other => unknown(other.unwrap_or_default()),
            },
            "Matching" => match (Distance::from_name(&self.distance), axes(&self.properties)) {
                (Some(distance), Some(axes)) if distance != Distance::GridBased || axes == Axes::Four => {
                    Tree::Table(Table::new(distance, axes, self.table))
                }
                _ => unknown(&self.distance),
            },
            "Placeholder" => Tree::Leaf(self.text),
            "Single" => self.index.map_or_else(|| unknown(""), Tree::Single),
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
        let mut out = Row { test: Test::Never(String::new()), hardware: false, tree: Tree::Unknown(String::new()) };
        for _ in 0..reader.expect_map("row")? {
            match reader.expect_str("row key")? {
                "predicate" => {
                    let value = Value::read(reader, depth + 1)?;
                    out.hardware = value.get("type").and_then(Value::text) == Some("AMDGPU");
                    out.test = Test::compile(&value);
                }
                "library" => out.tree = Tree::read(reader, budget, depth + 1)?,
                _ => reader.skip("row field")?,
            }
        }
        Ok(out)
    }
}

fn table(reader: &mut Reader<'_>, budget: &mut Budget) -> Result<Vec<Entry>> {
    let count = reader.expect_array("table")?;
    let mut entries = Vec::with_capacity((count as usize).min(reader.left() / 8));
    for _ in 0..count {
        let start = reader.offset();
        budget.rows = budget.rows.checked_sub(1).ok_or_else(|| over(start, "table", limits::ROWS))?;
        let mut entry = Entry { key: [0; 4], index: -1, speed: 0.0 };
        for _ in 0..reader.expect_map("table row")? {
            match reader.expect_str("table key")? {
                "key" => {
                    for (slot, value) in entry.key.iter_mut().zip(ints(reader, "key")?) {
                        *slot = value;
                    }
                }
                "index" => entry.index = int(reader, "index")?,
                "speed" => {
                    entry.speed = match scalar(reader, "speed")? {
                        Token::Float(value) => value,
                        Token::Int(value) => value as f64,
                        _ => 0.0,
                    }
                }
                _ => reader.skip("table field")?,
            }
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn text(reader: &mut Reader<'_>, field: &'static str) -> Result<String> {
    Ok(match scalar(reader, field)? {
        Token::Str(text) => text.to_owned(),
        _ => String::new(),
    })
}
