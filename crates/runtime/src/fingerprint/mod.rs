//! Identifies a build: the ROCm release and compilers from their traces in the file, a window of ggml versions from its
//! kernels.
//!
//! The result is a window, not a guess: a kernel's name with its number of template arguments and parameters existed in
//! the source between two builds of llama.cpp, and nowhere else. `cargo xtask fingerprint-table` creates the table of
//! these spans from the project's history; it is committed with its provenance.

mod compiler;
mod kernels;
mod shape;
mod source;
mod table;
mod window;

pub use compiler::{Tools, tools};
pub use kernels::{ggml_kernels, kernel_names};
pub use shape::Shape;
pub use source::{is_cuda, shapes_in_text, shapes_in_tree};
pub use table::{FingerprintTable, Span};
pub use window::{Against, Window, against_table, against_tree, window};
