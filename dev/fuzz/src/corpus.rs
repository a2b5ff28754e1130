//! The committed corpus: tiny files, by target.

use std::path::{Path, PathBuf};
use std::{fs, io};

pub fn directory(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

/// The files of one target in the order of their names.
pub fn load(target: &str) -> io::Result<Vec<Vec<u8>>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory(target))?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().map(fs::read).collect()
}
