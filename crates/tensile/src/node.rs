//! The tree that leads from a problem to a solution.

use crate::{
    limits,
    predicate::Predicate,
    solution::{int, ints},
};
use codeobject::{Error, Problem, Result, msgpack::Reader};

#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// The first row whose condition holds: `Hardware` tests the GPU, `Problem` the sizes and types.
    Rows { kind: String, rows: Vec<(Predicate, Node)> },
    /// Chooses by the value of a property, e.g. the operation's identifier.
    Map { property: String, entries: Vec<(String, Node)> },
    /// The nearest size in a table.
    Matching { properties: Vec<String>, distance: String, rows: Vec<Row> },
    /// Trained trees in order; the first one that accepts the problem gives its library.
    DecisionTree { features: Vec<String>, trees: Vec<(usize, Node)> },
    /// A leaf of a lazy catalog: the base name of its files.
    Placeholder(String),
    /// One solution for all sizes.
    Single(i64),
    /// An unknown kind of node, skipped.
    Other(String),
}

/// A size and the solution that was fastest for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub key: Vec<i64>,
    pub index: i64,
}

/// The remaining budget while one tree is read.
#[derive(Debug)]
pub(crate) struct Budget {
    nodes: usize,
    rows: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { nodes: limits::NODES, rows: limits::ROWS }
    }
}

impl Node {
    pub(crate) fn read(reader: &mut Reader<'_>, budget: &mut Budget, depth: u32) -> Result<Node> {
        let start = reader.offset();
        if depth > limits::DEPTH {
            return Err(Error::new(start, "library node", Problem::TooDeep { limit: limits::DEPTH }));
        }
        let over = |limit: usize| Problem::OverLimit { claimed: limit as u64 + 1, limit: limit as u64 };
        budget.nodes =
            budget.nodes.checked_sub(1).ok_or_else(|| Error::new(start, "library nodes", over(limits::NODES)))?;
        let mut kind = String::new();
        let mut node = None;
        let (mut properties, mut property, mut distance) = (Vec::new(), String::new(), String::new());
        let mut features = Vec::new();
        for _ in 0..reader.expect_map("library node")? {
            match reader.expect_str("node key")? {
                "type" => kind = reader.expect_str("node type")?.to_owned(),
                "rows" => {
                    let mut rows = Vec::new();
                    for _ in 0..reader.expect_array("rows")? {
                        rows.push(row(reader, budget, depth)?);
                    }
                    node = Some(Node::Rows { kind: String::new(), rows });
                }
                "map" => {
                    let mut entries = Vec::new();
                    for _ in 0..reader.expect_map("map")? {
                        let key = reader.expect_str("map key")?.to_owned();
                        entries.push((key, Node::read(reader, budget, depth + 1)?));
                    }
                    node = Some(Node::Map { property: String::new(), entries });
                }
                "features" => {
                    for _ in 0..reader.expect_array("features")? {
                        features.push(Predicate::read(reader, depth)?.kind);
                    }
                }
                "trees" => {
                    let mut trees = Vec::new();
                    for _ in 0..reader.expect_array("trees")? {
                        trees.push(tree(reader, budget, depth)?);
                    }
                    node = Some(Node::DecisionTree { features: Vec::new(), trees });
                }
                "table" => node = Some(table(reader, budget, over)?),
                "property" => property = Predicate::read(reader, depth)?.to_string(),
                "properties" => {
                    for _ in 0..reader.expect_array("properties")? {
                        properties.push(Predicate::read(reader, depth)?.to_string());
                    }
                }
                "distance" => distance = text_or_skip(reader, "distance")?,
                "value" => node = Some(Node::Placeholder(text_or_skip(reader, "value")?)),
                "index" => node = Some(Node::Single(int(reader, "index")?)),
                _ => reader.skip("node field")?,
            }
        }
        Ok(match node {
            Some(Node::Rows { rows, .. }) => Node::Rows { kind, rows },
            Some(Node::Map { entries, .. }) => Node::Map { property, entries },
            Some(Node::Matching { rows, .. }) => Node::Matching { properties, distance, rows },
            Some(Node::DecisionTree { trees, .. }) => Node::DecisionTree { features, trees },
            Some(Node::Placeholder(value)) if kind == "Placeholder" => Node::Placeholder(value),
            Some(Node::Single(index)) => Node::Single(index),
            _ => Node::Other(kind),
        })
    }

    /// The leaves that a GPU of this target can reach, in the tree's order; every one if `target` is None.
    pub fn placeholders<'n>(&'n self, target: Option<&str>, out: &mut Vec<&'n str>) {
        match self {
            Node::Rows { rows, .. } => {
                for (_, node) in rows.iter().filter(|(predicate, _)| target.is_none_or(|t| predicate.admits(t))) {
                    node.placeholders(target, out);
                }
            }
            Node::Map { entries, .. } => entries.iter().for_each(|(_, node)| node.placeholders(target, out)),
            Node::DecisionTree { trees, .. } => trees.iter().for_each(|(_, node)| node.placeholders(target, out)),
            Node::Placeholder(name) => out.push(name),
            Node::Matching { .. } | Node::Single(_) | Node::Other(_) => {}
        }
    }

    /// The solutions that the tables reference for this target.
    pub fn indices(&self, target: Option<&str>, out: &mut std::collections::BTreeSet<i64>) {
        match self {
            Node::Rows { rows, .. } => {
                for (_, node) in rows.iter().filter(|(predicate, _)| target.is_none_or(|t| predicate.admits(t))) {
                    node.indices(target, out);
                }
            }
            Node::Map { entries, .. } => entries.iter().for_each(|(_, node)| node.indices(target, out)),
            Node::DecisionTree { trees, .. } => trees.iter().for_each(|(_, node)| node.indices(target, out)),
            Node::Matching { rows, .. } => out.extend(rows.iter().map(|row| row.index)),
            Node::Single(index) => {
                out.insert(*index);
            }
            Node::Placeholder(_) | Node::Other(_) => {}
        }
    }

    /// Kinds of nodes that were skipped.
    pub fn unknown(&self) -> Vec<&str> {
        match self {
            Node::Rows { rows, .. } => rows.iter().flat_map(|(_, node)| node.unknown()).collect(),
            Node::Map { entries, .. } => entries.iter().flat_map(|(_, node)| node.unknown()).collect(),
            Node::DecisionTree { trees, .. } => trees.iter().flat_map(|(_, node)| node.unknown()).collect(),
            Node::Other(kind) => vec![kind],
            _ => Vec::new(),
        }
    }
}

fn row(reader: &mut Reader<'_>, budget: &mut Budget, depth: u32) -> Result<(Predicate, Node)> {
    let mut predicate = Predicate::default();
    let mut node = Node::Other(String::new());
    for _ in 0..reader.expect_map("row")? {
        match reader.expect_str("row key")? {
            "predicate" => predicate = Predicate::read(reader, depth + 1)?,
            "library" => node = Node::read(reader, budget, depth + 1)?,
            _ => reader.skip("row field")?,
        }
    }
    Ok((predicate, node))
}

/// A tree: the number of its splits, and its library.
fn tree(reader: &mut Reader<'_>, budget: &mut Budget, depth: u32) -> Result<(usize, Node)> {
    let mut splits = 0;
    let mut node = Node::Other(String::new());
    for _ in 0..reader.expect_map("decision tree")? {
        match reader.expect_str("decision tree key")? {
            "tree" => {
                splits = reader.expect_array("tree")? as usize;
                for _ in 0..splits {
                    reader.skip("split")?;
                }
            }
            "value" => node = Node::read(reader, budget, depth + 1)?,
            _ => reader.skip("decision tree field")?,
        }
    }
    Ok((splits, node))
}

fn table(reader: &mut Reader<'_>, budget: &mut Budget, over: impl Fn(usize) -> Problem) -> Result<Node> {
    let mut rows = Vec::new();
    for _ in 0..reader.expect_array("table")? {
        let start = reader.offset();
        budget.rows = budget.rows.checked_sub(1).ok_or_else(|| Error::new(start, "table", over(limits::ROWS)))?;
        let mut row = Row { key: Vec::new(), index: 0 };
        for _ in 0..reader.expect_map("table row")? {
            match reader.expect_str("table key")? {
                "key" => row.key = ints(reader, "key")?,
                "index" => row.index = int(reader, "index")?,
                _ => reader.skip("table field")?,
            }
        }
        rows.push(row);
    }
    Ok(Node::Matching { properties: Vec::new(), distance: String::new(), rows })
}

fn text_or_skip(reader: &mut Reader<'_>, field: &'static str) -> Result<String> {
    let mut ahead = reader.clone();
    match ahead.token(field)? {
        codeobject::msgpack::Token::Str(text) => {
            *reader = ahead;
            Ok(text.to_owned())
        }
        _ => reader.skip(field).map(|()| String::new()),
    }
}
