//! An answer: the solution that the library chooses, or why there is none.

use super::table::Key;

/// Why an answer was not computed: the deciding fact that is unknown here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotComputed {
    /// The library's version was not compared with the rules here.
    Version(String),
    /// A kind of node of the tree.
    Node(String),
    /// A predicate.
    Predicate(String),
    /// A file that the tree names and that is not there.
    Missing(String),
    /// A file that cannot be read: its name and the reason.
    Damaged(String, String),
    /// A file that differs from the one in its package.
    Altered(String),
    /// A solution that a table names and that the leaf does not have, or not whole.
    Solution(i64),
    /// The call itself is of a kind that is not covered.
    Call(Uncovered),
    /// The library is built to pass products on to hipBLASLt.
    HandsOver,
}

/// Calls that are not covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncovered {
    /// A size is 0.
    Empty,
    /// A size that the library's interface does not have.
    TooLarge,
    /// hipBLASLt with arrays of pointers.
    Pointers,
    /// Products of different sizes in one call.
    Grouped,
    /// A word of the question that is not understood.
    Unclear,
}

/// A solution as the library would return it.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    pub index: i64,
    pub kernel: String,
    pub name: String,
    /// The leaf that contains the solution; empty if the root contains it.
    pub leaf: String,
    /// The kind of table and the row that led to the solution; None if no table led to it.
    pub row: Option<(&'static str, Key)>,
    pub macro_tile: [u64; 2],
    pub depth_u: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    /// The library's first answer.
    Determined(Chosen),
    /// The library takes one of these by the order of their addresses in memory.
    OneOf(Vec<Chosen>),
    /// The library has no solution, or refuses the call.
    None,
    /// rocBLAS calls its own gemv kernel instead of a solution.
    Gemv,
    NotComputed(NotComputed),
}

/// How the answer came about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// Leaves whose row of the tree matched, in order.
    pub leaves: Vec<String>,
    /// Solutions that a table led to and that a predicate rejected, with the predicate.
    pub rejected: Vec<(i64, String)>,
}
