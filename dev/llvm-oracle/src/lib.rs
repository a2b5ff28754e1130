//! LLVM's own tools as the oracle for the parsers' tests: the output of `llvm-readelf` for a code object, compared with
//! `codeobject`.
//!
//! Development only: it runs programs and is never part of the product.
#![forbid(unsafe_code)]

mod compare;
mod readelf;
mod tools;

pub use compare::differences;
pub use readelf::{Noted, Report, read};
pub use tools::{find, need};
