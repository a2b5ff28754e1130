//! The content of a file: every bundle, entry, code object and kernel, with an account of every byte of device code.
//!
//! This crate opens files for `codeobject`'s parsers. Files are read with `pread`, not mapped: a file that shrinks
//! while it is read gives an error with an offset, not a signal. Bundles are read in parallel and handed out in order;
//! a budget limits what is unpacked at one time, and nothing is unpacked twice.
#![forbid(unsafe_code)]

mod budget;
mod byte_map;
mod dense;
mod dig;
mod digest;
mod directory_walk;
mod embedded;
mod erased;
mod file;
mod file_report;
mod has_code;
mod kpack;
mod marks;
mod object;
mod pack;
mod packed;
mod report;
mod scan;
mod serves;
mod sniff;
mod spirv;
mod streams;

pub use byte_map::{ByteMap, Part};
pub use digest::Sha256;
pub use directory_walk::{Met, Unread, walk_files};
pub use embedded::{Content, Embedded, Opaque};
pub use file::{File, OpenError};
pub use file_report::{BundleSummary, FileReport, Form, TargetSummary};
pub use has_code::has_code;
pub use kpack::{FoundArchive, Kpack, archives_of};
pub use object::{Format, Found, Look, Nothing, ObjectReport};
pub use pack::Pack;
pub use packed::{DeviceCode, Packed};
pub use report::inspect;
pub use scan::{BundleReport, Event, Options, scan, scan_object};
pub use serves::Serves;
pub use sniff::{Contents, Sniff, contents, sniff};
pub use spirv::SpirvModule;
pub use spirv_modules::Environment;
