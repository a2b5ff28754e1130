//! One cell of a map: a tensor type at a column count, its selection, and its label.

use crate::selection::Selected;
use launch::grammar::{self, Family, Path};
use say::Message;
use schemars::JsonSchema;
use serde::Serialize;

/// One type and column count.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The tensor type. Empty for a model whose tensors have their own types.
    pub kind: String,
    pub columns: u64,
    pub rows: Vec<Selected>,
    /// The number of lost records of the run. If it is not 0, the cell may be incomplete.
    pub lost: u64,
    /// Whether the graphs that the program computed agree with the launches.
    pub agreed: bool,
    /// Why there is no answer.
    pub problem: Option<Message>,
}

/// The result of one side for a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// The path of the dense products. None if this side has no path, saw no launch, or saw only experts.
    pub path: Option<Path>,
    /// Columns of a tile or a block. 0 if the path has none or the number is unknown.
    pub tile: u64,
    /// The label for display: `mmq112`, `mmq112/+sk`; "?" undetermined, "-" nothing seen, "!" the run failed.
    pub label: String,
    /// How the product is launched; None for libraries, and if it is unknown.
    pub shape: Option<WayShape>,
}

/// Grid, block and dynamic shared memory of a product. An unknown part is null and has its reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WayShape {
    pub grid: Option<[i64; 3]>,
    pub block: Option<[i64; 3]>,
    /// Warps (waves) of a block; null where the card's wave size is unknown.
    pub warps: Option<i64>,
    /// Dynamic shared memory of a block in bytes.
    pub shared: Option<i64>,
    /// Why a part is unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undetermined: Vec<String>,
}

impl WayShape {
    /// `grid 128x1x1, block 32x8x1, warps 8, shared 0`; `?` for an unknown part.
    pub fn told(&self) -> String {
        let number = |number: Option<i64>| number.map_or("?".to_owned(), |number| number.to_string());
        let dims =
            |dims: Option<[i64; 3]>| dims.map_or("?".to_owned(), |dims| dims.map(|dim| dim.to_string()).join("x"));
        let [grid, block] = [self.grid, self.block].map(dims);
        format!("grid {grid}, block {block}, warps {}, shared {}", number(self.warps), number(self.shared))
    }

    /// The shape of an observed launch. `warp`: the threads in a wave of the card.
    fn seen(row: &Selected, warp: Option<u32>) -> WayShape {
        let numbers = |dims: [u32; 3]| dims.map(i64::from);
        let threads = row.block.iter().fold(1_i64, |all, one| all.saturating_mul(i64::from(*one)));
        let grid = match row.grids.as_slice() {
            [only] => Some(numbers(*only)),
            _ => None,
        };
        let several = || format!("grid: {} different grids in this run", row.grids.len());
        WayShape {
            grid,
            block: Some(numbers(row.block)),
            warps: warp.filter(|warp| *warp > 0).map(|warp| (threads + i64::from(warp) - 1) / i64::from(warp)),
            shared: Some(row.shared.into()),
            undetermined: if grid.is_none() { vec![several()] } else { Vec::new() },
        }
    }
}

impl Cell {
    /// The products at the full width, most frequent first. Includes those of experts, whose columns are counted
    /// differently.
    pub fn products(&self) -> Vec<&Selected> {
        let own = |row: &Selected| self.kind.is_empty() || row.kind.as_deref() == Some(&self.kind);
        let full = |row: &&Selected| row.is_multiplication() && row.served == Some(self.columns) && own(row);
        let mut rows: Vec<&Selected> = self.rows.iter().filter(full).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        rows
    }

    /// Whether the program reached this cell and launched a product of this width.
    pub fn is_answered(&self) -> bool {
        self.problem.is_none() && !self.products().is_empty()
    }

    /// The types of the cell's products, without duplicates.
    pub fn kinds(&self) -> Vec<String> {
        if !self.kind.is_empty() {
            return vec![self.kind.clone()];
        }
        let products = self.rows.iter().filter(|row| row.is_multiplication());
        let mut kinds: Vec<String> = products.filter_map(|row| row.kind.clone()).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    }

    /// This cell, limited to one of its types.
    #[must_use]
    pub fn of_kind(&self, kind: &str) -> Cell {
        let rows = self.rows.iter().filter(|row| row.kind.as_deref() == Some(kind)).cloned().collect();
        Cell { kind: kind.to_owned(), rows, ..self.clone() }
    }

    /// The result for one type of a cell that may have several.
    pub fn way_of(&self, kind: &str, warp: Option<u32>) -> Way {
        if self.kind.is_empty() { self.of_kind(kind).way(warp) } else { self.way(warp) }
    }

    fn way(&self, warp: Option<u32>) -> Way {
        let dense: Vec<&Selected> = self.products().into_iter().filter(|row| !row.routed).collect();
        let main = main_of(&dense);
        let (path, tile) = main.map_or((None, 0), |main| (main.path, tile(main)));
        let shape = main.filter(|main| main.calls.is_empty()).map(|main| WayShape::seen(main, warp));
        Way { path, tile, label: self.label(), shape }
    }

    /// A short label for a table: `mmvq8`, `mmq112`, `mmq16/+sk` (followed by a stream-k fix-up), `mmvf1/256`, `mmf7`,
    /// `BLAS`; the part after `e:` is for experts.
    pub fn label(&self) -> String {
        let (experts, dense): (Vec<&Selected>, Vec<&Selected>) =
            self.products().into_iter().partition(|row| row.routed);
        match (word(&dense), word(&experts)) {
            (Some(dense), Some(experts)) => format!("{dense},e:{experts}"),
            (Some(dense), None) => dense,
            (None, Some(experts)) => format!("e:{experts}"),
            (None, None) if self.problem.is_some() => "!".to_owned(),
            (None, None) => "-".to_owned(),
        }
    }
}

/// The multiplication itself, without its helper launches.
fn main_of<'s>(products: &[&'s Selected]) -> Option<&'s Selected> {
    products.iter().copied().find(|row| row.family != Family::MmqFixup)
}

/// Columns of a block or a tile; 0 if the path has none, or if no name contains them.
fn tile(main: &Selected) -> u64 {
    let facts = grammar::read(&main.mangled);
    let of_tile = facts.tile.map(|tile| tile.columns);
    let found = match main.path {
        // The names of kernels that are only for experts do not contain the number.
        Some(Path::Mmvq | Path::Mmvf) => facts.columns.map(u64::from).or(main.served),
        Some(Path::Mmq) => of_tile.or(facts.columns).map(u64::from),
        Some(Path::Mmf) => facts.columns.or(of_tile).map(u64::from),
        _ => None,
    };
    found.unwrap_or(0)
}

fn word(products: &[&Selected]) -> Option<String> {
    let main = main_of(products)?;
    let number = tile(main);
    let shown = if number > 0 { number.to_string() } else { String::new() };
    Some(match main.path {
        Some(Path::Mmvq) => format!("mmvq{shown}"),
        Some(Path::Mmq) => {
            let fixup = products.iter().any(|row| row.family == Family::MmqFixup);
            format!("mmq{number}{}", if fixup { "/+sk" } else { "" })
        }
        Some(Path::Mmvf) => format!("mmvf{shown}/{}", main.block.first().copied().unwrap_or(0)),
        Some(Path::Mmf) => format!("mmf{shown}"),
        Some(path) => path.to_string(),
        None => "-".to_owned(),
    })
}
