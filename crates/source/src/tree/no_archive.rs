//! Archives, in a build without the libraries that unpack them.

use super::listing::{Listing, TreeError};
use std::path::Path;

pub(super) fn open(_: &Path, label: &str) -> Result<Listing, TreeError> {
    Err(TreeError::Archive { path: label.to_owned(), what: say::say!("source-no-archives") })
}
