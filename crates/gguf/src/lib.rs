//! GGUF models: reads headers, and writes skeleton models of any shape without weights.
//!
//! The crate does no I/O, has no unsafe code, and does not panic on any input. The reader takes the first bytes of a
//! file and reports how many more it needs. A skeleton is a header and a length, which the caller writes as a sparse
//! file. The format is described in ggml's docs/gguf.md.
#![forbid(unsafe_code)]

mod answers;
mod error;
mod file_type;
mod layers;
mod letters;
mod metadata;
mod mix;
mod path;
mod read;
mod shape;
mod skeleton;
mod types;
mod write;

pub use answers::{ExpertCount, ShapeLine, Shapes, Written};
pub use error::Error;
pub use file_type::{file_type_name, file_types, mix};
pub use mix::Mix;
pub use path::Path;
pub use read::{Gguf, Tensor, Value};
pub use shape::{Experts, Latent, Shape, known, names};
pub use skeleton::{Skeleton, absent, skeleton, skeleton_of, speaking};
pub use types::TensorType;

/// Tests the example on the crates.io page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
