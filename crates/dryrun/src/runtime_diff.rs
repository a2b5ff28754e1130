//! Compares the selections of two runtimes or two cards, cell by cell.

use crate::{Cell, Map, Selected};
use answer::Answer;
use evidence::{Basis, Conclusion, LeftOutWhy, Rung, Unit};
use launch::grammar::{Family, Path};
use say::Kept;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// The output of `diff A B` for two runtimes or two cards.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RuntimeDiff {
    /// The two sides, as the user named them.
    pub a: String,
    pub b: String,
    /// The number of cells (one type and column count on one card) that were requested from both sides.
    pub cells: u64,
    /// Whether both select the same, and how complete the comparison is.
    pub conclusion: Conclusion,
    pub differences: Vec<CellDifference>,
}

impl Answer for RuntimeDiff {
    const SCHEMA: &'static str = "whichkernel.diff-runtime/3";
}

say::named! {
    /// How two cells differ.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Aspect: name {
        Path = "path",
        /// A different kernel or pipeline.
        Kernel = "kernel",
        Grid = "grid",
        /// The same pipeline with different specialization constants or subgroup size.
        Constants = "constants",
        /// A launch that is not a product.
        Other = "other",
        /// One side has no answer, so it is unknown whether they differ.
        Problem = "problem",
    }
}

/// A cell in which the two sides select differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CellDifference {
    pub card: String,
    /// The type. Several types, separated by commas, if attention, norms and copies differ in the same way.
    #[serde(rename = "type")]
    pub kind: String,
    pub columns: u64,
    pub what: Aspect,
    pub a: Kept,
    pub b: Kept,
}

impl RuntimeDiff {
    pub fn new(names: (&str, &str), a: &[Map], b: &[Map]) -> RuntimeDiff {
        let mut differences = Vec::new();
        let (mut cells, mut answered) = (0, 0);
        for (left, right) in a.iter().zip(b) {
            for (first, second) in left.cells.iter().zip(&right.cells) {
                cells += 1;
                answered += u64::from(first.is_answered() && second.is_answered());
                compare(&left.plan.card.profile.name, first, second, &mut differences);
            }
        }
        let of = |one: &CellDifference| {
            let kinds: Vec<String> = one.kind.split(',').map(str::to_owned).collect();
            let (card, columns) = (one.card.clone(), one.columns);
            kinds.into_iter().map(move |kind| (card.clone(), kind, columns))
        };
        let known = differences.iter().filter(|one| one.what != Aspect::Problem);
        let differing: BTreeSet<(String, String, u64)> = known.flat_map(of).collect();
        let mut basis =
            Basis::listed(crate::verdict::NAME, [names.0, names.1], Rung::Selected, Unit::Cells, cells, answered);
        for map in a.iter().zip(b).flat_map(|(a, b)| [a, b]) {
            basis = basis.lost(map.cells.iter().map(|cell| cell.lost).sum());
            if !map.plan.described.ships {
                basis = basis.without(map.plan.card.profile.processor(), None, LeftOutWhy::OtherTarget);
            }
        }
        let conclusion = basis.equality(differing.len() as u64);
        RuntimeDiff { a: names.0.to_owned(), b: names.1.to_owned(), cells, conclusion, differences }
    }

    /// Whether both selected the same. A cell without an answer from both sides does not count as the same.
    pub fn is_same(&self) -> bool {
        self.differences.is_empty() && self.conclusion.unanswered() == 0 && self.conclusion.lost() == 0
    }
}

/// Compares family and tile first; if those agree, the kernels, then their grids.
fn compare(card: &str, a: &Cell, b: &Cell, found: &mut Vec<CellDifference>) {
    let side = |cell: &Cell| cell.problem.clone().map_or_else(|| cell.label().into(), Kept::from);
    let list = |cell: &Cell, text: &dyn Fn(&Selected) -> String| {
        let list: Vec<String> = cell.products().into_iter().map(text).collect();
        Kept::from(list.join("; "))
    };
    // Solution numbers change with every release, so only the kernel is compared.
    let kernel = |row: &Selected| row.kernel.clone();
    let grid = |row: &Selected| format!("{} {}", row.grid_text(), row.block_text());
    let answered = a.is_answered() && b.is_answered();
    let aspects = [
        (if answered { Aspect::Path } else { Aspect::Problem }, side(a), side(b)),
        (Aspect::Kernel, list(a, &kernel), list(b, &kernel)),
        (Aspect::Grid, list(a, &grid), list(b, &grid)),
    ];
    if let Some((what, a_says, b_says)) = aspects.into_iter().find(|(_, a, b)| a != b) {
        let (card, kind, columns) = (card.to_owned(), a.kind.clone(), a.columns);
        found.push(CellDifference { card, kind, columns, what, a: a_says, b: b_says });
    }
    others(card, a, b, found);
}

/// Whether a launch is neither a product nor its preparation. Unpacking and quantising belong to the chosen path.
fn stands_alone(row: &Selected) -> bool {
    let helper = matches!(row.family, Family::Dequantize | Family::Convert | Family::Repack | Family::GemmHelper);
    let of_a_path = row.path.is_some_and(|path| path != Path::FlashAttention);
    !helper && !of_a_path && !row.is_multiplication()
}

/// Compares attention, norms, copies and similar launches. Lists only those that the other side does not have, once for
/// all weight types that share them.
fn others(card: &str, a: &Cell, b: &Cell, found: &mut Vec<CellDifference>) {
    let list = |cell: &Cell| -> BTreeSet<String> {
        let text = |row: &Selected| format!("{} {} {}", row.kernel, row.grid_text(), row.block_text());
        cell.rows.iter().filter(|row| stands_alone(row)).map(text).collect()
    };
    // A failed run was already reported when the paths were compared.
    if a.problem.is_some() || b.problem.is_some() {
        return;
    }
    let (left, right) = (list(a), list(b));
    let only = |of: &BTreeSet<String>, other: &BTreeSet<String>| -> Kept {
        of.difference(other).cloned().collect::<Vec<_>>().join("; ").into()
    };
    let (a_says, b_says) = (only(&left, &right), only(&right, &left));
    if left == right {
        return;
    }
    let same = |known: &&mut CellDifference| {
        known.what == Aspect::Other
            && known.card == card
            && known.columns == a.columns
            && known.a == a_says
            && known.b == b_says
    };
    match found.iter_mut().find(same) {
        Some(known) => known.kind = format!("{},{}", known.kind, a.kind),
        None => found.push(CellDifference {
            card: card.to_owned(),
            kind: a.kind.clone(),
            columns: a.columns,
            what: Aspect::Other,
            a: a_says,
            b: b_says,
        }),
    }
}
