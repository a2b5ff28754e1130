//! One cell of a map: a tensor type at a column count, what was selected for it, and the word that stands for it.

use crate::selection::Selected;
use launch::grammar::{self, Family, Path};

/// One type and column count.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Empty for a model whose tensors have types of their own.
    pub kind: String,
    pub columns: u64,
    pub rows: Vec<Selected>,
    /// Records of the run that were lost: what is here may not be all.
    pub lost: u64,
    /// Why there is nothing, in the program's own words.
    pub problem: Option<String>,
}

impl Cell {
    /// The products at the full width, the most frequent first; those of experts, whose columns are counted otherwise, too.
    pub fn products(&self) -> Vec<&Selected> {
        let own = |row: &Selected| self.kind.is_empty() || row.kind.as_deref() == Some(&self.kind);
        let full = |row: &&Selected| row.is_multiplication() && row.served == Some(self.columns) && own(row);
        let mut rows: Vec<&Selected> = self.rows.iter().filter(full).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        rows
    }

    /// The program came this far, and a product of this width was seen.
    pub fn is_answered(&self) -> bool {
        self.problem.is_none() && !self.products().is_empty()
    }

    /// The types of its products, each once.
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

    /// The same cell, for one of its types.
    #[must_use]
    pub fn of_kind(&self, kind: &str) -> Cell {
        let rows = self.rows.iter().filter(|row| row.kind.as_deref() == Some(kind)).cloned().collect();
        Cell { kind: kind.to_owned(), rows, ..self.clone() }
    }

    /// The label of one type in a cell that may hold several.
    pub fn label_of(&self, kind: &str) -> String {
        if self.kind.is_empty() { self.of_kind(kind).label() } else { self.label() }
    }

    /// One word for a table: `mmvq8`, `mmq112`, `mmq16/+sk` (a stream-k fix-up follows), `mmvf1/256`, `mmf7`, `BLAS`; behind
    /// `e:` what the experts take.
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

fn word(products: &[&Selected]) -> Option<String> {
    let main = products.iter().find(|row| row.family != Family::MmqFixup)?;
    let facts = grammar::read(&main.mangled);
    // Kernels for experts alone do not carry the number in their name.
    let columns = || facts.columns.map(u64::from).or(main.served).map(|n| n.to_string()).unwrap_or_default();
    Some(match main.path {
        Some(Path::Mmvq) => format!("mmvq{}", columns()),
        Some(Path::Mmq) => {
            let tile = facts.tile.map(|tile| tile.columns).or(facts.columns).unwrap_or(0);
            let fixup = products.iter().any(|row| row.family == Family::MmqFixup);
            format!("mmq{tile}{}", if fixup { "/+sk" } else { "" })
        }
        Some(Path::Mmvf) => format!("mmvf{}/{}", columns(), main.block.first().copied().unwrap_or(0)),
        Some(Path::Mmf) => {
            let tile = facts.columns.or(facts.tile.map(|tile| tile.columns));
            format!("mmf{}", tile.map(|n| n.to_string()).unwrap_or_default())
        }
        Some(path) => path.to_string(),
        None => "-".to_owned(),
    })
}
