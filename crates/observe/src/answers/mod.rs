//! The answers of `inspect` and `isa`: a type for each shape, with its own schema name.
//!
//! This module observes nothing itself; it builds each answer from an inventory, a census or a process.

mod bundles;
mod census;
mod directory;
mod file;
mod fingerprint;
mod has;
mod kernels;
mod launch_map;
mod listing;
mod modules;
mod needed;
mod nvidia;
mod process;

pub use bundles::{BundleRow, Bundles, Variant};
pub use census::{CensusAnswer, census};
pub use directory::{Catalog, Directory, FamilyService, Library, Pack, ServiceAnswer, Serving};
pub use file::{FileAnswer, HasTarget};
pub use fingerprint::Fingerprinted;
pub use has::{Has, HasAnswer};
pub use kernels::{AmdKernel, KernelRow, Kernels, NvidiaKernel, agprs, code_size};
pub use launch_map::{
    LaunchMapAnswer, MapRow, Unregistered, completeness, conclusion as map_conclusion, kind, vendor, wrappers,
};
pub use listing::{Line, Listed, Listing};
pub use modules::{ModuleRow, Modules, ModulesTotal};
pub use needed::Needed;
pub use process::ProcessAnswer;

use answer::Answer;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// Converts a path for output. Bytes that are not text are replaced, so that this cannot fail.
pub fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The code objects of a file, written as files.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Extracted {
    pub dir: String,
    pub files: u64,
    pub bytes: u64,
}

impl Answer for Extracted {
    const SCHEMA: &'static str = "whichkernel.inspect-extract/1";
}
