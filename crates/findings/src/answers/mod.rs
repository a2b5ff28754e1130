//! The answers of `inspect` and `isa` about one file: a type for each shape, with its own schema name.

mod bundles;
mod catalog;
mod census;
mod file;
mod has;
mod kernels;
mod launch_map;
mod listing;
mod modules;
mod nvidia;

pub use bundles::{BundleRow, Bundles, Variant};
pub use catalog::{CatalogAnswer, CatalogAsked, CatalogFound, catalog, is_catalog};
pub use census::{CensusAnswer, census};
pub use file::{FileAnswer, HasTarget};
pub use has::{Has, HasAnswer};
pub use kernels::{AmdKernel, KernelRow, Kernels, NvidiaKernel, agprs, code_size};
pub use launch_map::{
    LaunchMapAnswer, MapRow, Unregistered, completeness, conclusion as map_conclusion, kind, vendor, wrappers,
};
pub use listing::{Line, Listed, Listing};
pub use modules::{ModuleRow, Modules, ModulesTotal};

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
