//! Feeds mutated files to the parsers. Development only.
//!
//! Stable Rust, no instrumentation: a small deterministic runner over a committed corpus of tiny files that
//! `made-files` builds. `cargo test` runs it briefly, `cargo xtask fuzz --seconds N` for N seconds. A crate with a
//! parser adds its target to [`TARGETS`] and a directory to `corpus/`.
#![forbid(unsafe_code)]

pub mod corpus;
mod records;
mod run;
mod targets;

pub use run::{Failure, run};
pub use targets::{TARGETS, Target};
