//! SPIR-V modules in a binary: found, read, counted, and known again by their hash.
//!
//! A program that computes through Vulkan carries its kernels as SPIR-V; the driver compiles them to the GPU's own
//! instructions when a pipeline is made. What is shipped is therefore the module, not the code. No I/O, no unsafe, no panic on
//! any input; memory is bounded by the input. Format: the Khronos SPIR-V specification, sections 2.3 (physical layout) and
//! 2.4 (logical layout).
#![forbid(unsafe_code)]

mod find;
mod identity;
mod module;
mod words;

pub use find::{Found, HEADER_BYTES, find, is_header, length};
pub use identity::identity;
pub use module::{Constant, EntryPoint, Environment, Module};
pub use words::MAGIC;
