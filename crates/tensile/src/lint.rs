//! Catalog entries that look like mistakes. Nothing is timed here: each finding is a candidate, shown with its
//! neighbours.

use crate::{
    coverage::{Files, ReadError},
    select::{CatalogFile, Distance, Entry, Table, Tree},
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A tile that is this many times smaller than those of all its neighbours is an island.
const ISLAND: u64 = 16;

#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// A row whose tile is far smaller than those of its neighbours along M, N and K.
    Island { leaf: String, key: [i64; 4], tile: [u64; 2], neighbours: Vec<([i64; 4], [u64; 2])> },
    /// Several rows with the same key and different solutions: only the first after sorting is ever used.
    Duplicate { leaf: String, key: [i64; 4], solutions: Vec<i64> },
    /// Solutions that no table refers to.
    NeverNamed { leaf: String, solutions: Vec<i64> },
    /// Tables with exact sizes only. For other sizes, the order of addresses decides, or there is no solution.
    NoFallback { leaf: String, solutions: usize },
    /// Rows of the tree for certain numbers of compute units, without a row for other numbers.
    OtherUnits { rows: Vec<String> },
    /// A file that cannot be read.
    Unreadable { leaf: String, why: String },
}

impl Finding {
    pub fn kind(&self) -> &'static str {
        match self {
            Finding::Island { .. } => "island",
            Finding::Duplicate { .. } => "duplicate",
            Finding::NeverNamed { .. } => "never-named",
            Finding::NoFallback { .. } => "no-fallback",
            Finding::OtherUnits { .. } => "other-units",
            Finding::Unreadable { .. } => "unreadable",
        }
    }

    pub fn leaf(&self) -> &str {
        match self {
            Finding::Island { leaf, .. }
            | Finding::Duplicate { leaf, .. }
            | Finding::NeverNamed { leaf, .. }
            | Finding::NoFallback { leaf, .. }
            | Finding::Unreadable { leaf, .. } => leaf,
            Finding::OtherUnits { .. } => "",
        }
    }
}

/// Reads the root of a target and every leaf that it refers to.
pub fn lint(files: &dyn Files, target: &str, progress: &mut dyn FnMut(&str)) -> Vec<Finding> {
    let mut out = Vec::new();
    let root = format!("TensileLibrary_lazy_{target}");
    let Some(file) = open(files, &root, &mut out) else { return out };
    if let Some(finding) = other_units(&file.tree) {
        out.push(finding);
    }
    let mut names = Vec::new();
    file.tree.leaves(&mut names);
    let names: BTreeSet<&str> = names.into_iter().collect();
    for name in names {
        progress(name);
        if let Some(leaf) = open(files, name, &mut out) {
            of_leaf(name, &leaf, &mut out);
        }
    }
    out
}

fn open(files: &dyn Files, name: &str, out: &mut Vec<Finding>) -> Option<CatalogFile> {
    let path = format!("{name}.dat");
    let data = files.read_checked(&path).map_err(|error| match error {
        ReadError::Unreadable(why) => why,
        ReadError::Altered => "the file differs from the one in its package".to_owned(),
    });
    let read = data.and_then(|data| CatalogFile::parse(data).map_err(|error| error.to_string()));
    read.map_err(|why| out.push(Finding::Unreadable { leaf: name.to_owned(), why })).ok()
}

fn of_leaf(name: &str, leaf: &CatalogFile, out: &mut Vec<Finding>) {
    let mut tables = Vec::new();
    leaf.tree.tables(&mut tables);
    let named: BTreeSet<i64> = tables.iter().flat_map(|table| table.entries.iter().map(|entry| entry.index)).collect();
    let mut unnamed: Vec<i64> = leaf.indices().filter(|index| !named.contains(index)).collect();
    unnamed.sort_unstable();
    if !unnamed.is_empty() && !tables.is_empty() {
        out.push(Finding::NeverNamed { leaf: name.to_owned(), solutions: unnamed });
    }
    if !tables.is_empty() && tables.iter().all(|table| table.distance == Distance::Equality) {
        out.push(Finding::NoFallback { leaf: name.to_owned(), solutions: named.len() });
    }
    for table in tables {
        duplicates(name, table, out);
        if table.distance == Distance::GridBased {
            islands(name, table, leaf, out);
        }
    }
}

fn duplicates(name: &str, table: &Table, out: &mut Vec<Finding>) {
    for same in table.entries.chunk_by(|a, b| a.key == b.key).filter(|same| same.len() > 1) {
        let solutions: Vec<i64> = same.iter().map(|entry| entry.index).collect();
        if solutions.iter().any(|index| *index != solutions[0]) {
            out.push(Finding::Duplicate { leaf: name.to_owned(), key: same[0].key, solutions });
        }
    }
}

fn islands(name: &str, table: &Table, leaf: &CatalogFile, out: &mut Vec<Finding>) {
    let mut tiles: HashMap<i64, Option<[u64; 2]>> = HashMap::new();
    let mut tile = |entry: &Entry| {
        let read = || leaf.solution(entry.index).map(|solution| solution.sizes.macro_tile);
        *tiles.entry(entry.index).or_insert_with(read)
    };
    let rows: BTreeMap<[i64; 4], &Entry> = table.entries.iter().rev().map(|entry| (entry.key, entry)).collect();
    // Rows that differ only in one axis, grouped by that axis and by the rest of the key.
    let mut lines: HashMap<(usize, [i64; 4]), BTreeMap<i64, &Entry>> = HashMap::new();
    for (key, entry) in &rows {
        for axis in [0, 1, 3] {
            let mut rest = *key;
            rest[axis] = 0;
            lines.entry((axis, rest)).or_default().insert(key[axis], entry);
        }
    }
    for (key, entry) in &rows {
        let Some(own) = tile(entry) else { continue };
        let mut neighbours = Vec::new();
        for axis in [0, 1, 3] {
            let mut rest = *key;
            rest[axis] = 0;
            let Some(line) = lines.get(&(axis, rest)) else { continue };
            let below = line.range(..key[axis]).next_back();
            let above = line.range(key[axis] + 1..).next();
            neighbours.extend(below.into_iter().chain(above).filter_map(|(_, near)| Some((near.key, tile(near)?))));
        }
        let area = own[0] * own[1];
        let smaller = |(_, near): &([i64; 4], [u64; 2])| near[0] * near[1] >= ISLAND * area;
        if neighbours.len() >= 4 && neighbours.iter().all(smaller) {
            out.push(Finding::Island { leaf: name.to_owned(), key: *key, tile: own, neighbours });
        }
    }
}

/// Rows of the root that require a number of compute units, if no row accepts any number.
fn other_units(tree: &Tree) -> Option<Finding> {
    let Tree::Rows(rows) = tree else { return None };
    let asks = |row: &crate::select::TreeRow| row.hardware && row.test.describe_all().contains("CUCount");
    let all: Vec<_> = rows.iter().filter(|row| row.hardware).collect();
    (!all.is_empty() && all.iter().all(|row| asks(row)))
        .then(|| Finding::OtherUnits { rows: all.iter().map(|row| row.test.describe_all()).collect() })
}
