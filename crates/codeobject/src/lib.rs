//! Reads GPU code inside host files: offload bundles, CCOB, device ELF, kernel metadata and descriptors, the static
//! launch map of a host library, NVIDIA fatbins.
//!
//! The crate does no I/O, has no unsafe code, and does not panic on any input. The caller limits memory. Errors name
//! the offset and the field. All input is read through [`ReadAt`], so the same code works on a slice, on a large file,
//! and on a part of either.
//!
//! From a file to its kernels:
//!
//! ```
//! # fn main() -> codeobject::Result<()> {
//! # let file: Vec<u8> = Vec::new();
//! use codeobject::{CodeObject, Piece, Range, ReadAt, ccob, host, elf::Elf, walk};
//!
//! # if file.is_empty() { return Ok(()) }
//! let elf = Elf::parse(&file)?;
//! for section in host::fatbin_sections(&elf) {
//!     for piece in walk(&file, host::range_of(&elf, section), 0) {
//!         let Piece::Bundle(bundle) = piece else { continue };
//!         let opened = bundle.open(&file, ccob::DEFAULT_LIMIT)?;
//!         for entry in opened.table.entries.iter().filter(|entry| !entry.id.is_host()) {
//!             let contents = opened.contents(entry)?;
//!             let object = CodeObject::parse(&contents)?;
//!             for kernel in object.kernels() {
//!                 println!("{}: {:?} VGPRs", kernel?.name(), object.target);
//!             }
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod ar;
pub mod bundle;
pub mod ccob;
pub mod check;
mod code_object;
mod coverage;
mod demangle;
pub mod descriptor;
pub mod elf;
mod error;
pub mod host;
mod id;
mod kernel;
mod kernel_code;
pub mod kpack;
pub mod launch_map;
mod loader_handle;
pub mod metadata;
pub mod msgpack;
pub mod note;
pub mod nvidia;
pub mod pe;
mod read;
pub mod stub;
pub mod target;
mod walk;
mod zstd_frame;

pub use bundle::{Body, Bundle, Entry, Opened};
pub use ccob::Compression;
pub use code_object::CodeObject;
pub use coverage::{Coverage, Gap, Range};
pub use demangle::demangle;
pub use descriptor::Descriptor;
pub use error::{Error, Problem, Result};
pub use id::{EntryId, HOST};
pub use kernel::{Difference, Extent, Kernel};
pub use loader_handle::reads_loader_handles;
pub use metadata::{Argument, Detail, Metadata};
pub use read::{ReadAt, Window, check as check_range};
pub use stub::Stub;
pub use target::{TargetId, processor_in, processors_in};
pub use walk::{Piece, Walk, walk};

/// The size of the zstd frame that starts at `at`, from its headers alone.
pub fn zstd_frame_size(source: &dyn ReadAt, at: u64) -> Result<u64> {
    zstd_frame::size(source, at, source.len())
}

/// Tests the example on the crates.io page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
