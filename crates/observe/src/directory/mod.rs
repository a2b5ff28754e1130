//! A directory or an unpacked package: its GPU libraries and kernel catalogs, its unexamined parts, and the conclusions for one
//! GPU.

mod conclusions;
mod libraries;

pub use conclusions::{CatalogSaid, DirectorySurvey};
pub use libraries::{Library, Survey, survey};
