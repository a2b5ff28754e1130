//! Images that the program compiled or unpacked, and loaded, itself. The stand-in keeps those that come without a file.

use launch::table::KernelInfo;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A kernel by the hash of its image and its name.
pub type Loaded = HashMap<(u64, String), KernelInfo>;

/// The path of a kept image.
pub(crate) fn kept(directory: &Path, hash: u64) -> PathBuf {
    directory.join(format!("image.{hash:016x}"))
}
