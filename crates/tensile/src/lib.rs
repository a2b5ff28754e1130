//! rocBLAS and hipBLASLt catalogs: the `.dat` trees, their solutions, and the code objects with the kernels.
//!
//! Takes bytes and a list of names; never opens a file. No panic on any input; the input's size and the limits in
//! [`limits`] bound memory. Catalogs that reference each other in cycles are walked once.
#![forbid(unsafe_code)]

mod catalog;
mod coverage;
pub mod extop;
pub mod kernel_name;
mod layout;
pub mod limits;
pub mod lint;
mod node;
mod predicate;
pub mod select;
mod solution;

pub use catalog::Catalog;
pub use coverage::{Family, Files, Leaf, ReadError, Service, Trouble, Verdict, serve};
pub use layout::{Layout, Listing, Role};
pub use node::{Node, Row};
pub use predicate::Predicate;
pub use solution::Solution;

pub use codeobject::{Error, Problem, Result};

/// The example of the page on crates.io.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
