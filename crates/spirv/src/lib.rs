//! SPIR-V modules in a binary: finds, reads, counts and identifies them by hash.
//!
//! A program that computes through Vulkan contains its kernels as SPIR-V; the driver compiles them to the GPU's own
//! instructions when a pipeline is created. So a program ships the module, not the code. No I/O, no unsafe, no panic on
//! any input; the input's size bounds memory. Format: the Khronos SPIR-V specification, sections 2.3 (physical layout)
//! and 2.4 (logical layout).
#![forbid(unsafe_code)]

mod find;
mod identity;
mod module;
mod words;

pub use find::{Found, HEADER_BYTES, find, is_header, length};
pub use identity::identity;
pub use module::{Constant, EntryPoint, Environment, Module};
pub use words::MAGIC;
