//! AMDGPU instruction decoder: format, length and mnemonic of every word, and the instruction census that uses it.
//!
//! The crate does no I/O, has no unsafe code, allocates nothing per instruction, and does not panic on any input.
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

/// Tests the example on the crates.io page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
