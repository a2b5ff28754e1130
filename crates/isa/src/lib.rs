//! AMDGPU instruction decoder: format, length and mnemonic of every word, and the census built on it.
//!
//! No I/O, no unsafe, no allocation per instruction, no panic on any input.
#![forbid(unsafe_code)]

pub mod census;
mod counts;
mod decode;
mod family;
mod fast_decode;
mod form;
pub mod layout;
mod limits;
pub mod mnemonic;
mod stub_proof;
mod table;
mod target;

pub use decode::{DecodeStep, Decoder, Instruction, Walk};
pub use family::{Family, MATRIX};
pub use mnemonic::{Form, Mnemonic};
pub use stub_proof::Proof;
pub use target::{TARGETS, Target};

/// The example of the page on crates.io.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
