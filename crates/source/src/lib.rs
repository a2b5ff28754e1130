//! The rules that a source tree declares, evaluated: preprocessor, parser, interpreter, call chains.
//!
//! Nothing from the tree is ever executed. What is not understood is undetermined, with its place.
#![forbid(unsafe_code)]

pub mod chain;
pub mod rocblas;
pub mod tree;

pub use tree::{Tree, TreeError};
