//! A directory or an unpacked package: its GPU libraries and kernel catalogs, what of it nobody looked at, and what may be
//! concluded of it for one GPU.

mod conclusions;
mod libraries;

pub use conclusions::{CatalogSaid, DirectorySurvey};
pub use libraries::{Library, Survey, survey};
