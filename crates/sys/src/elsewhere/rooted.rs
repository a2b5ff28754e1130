//! Paths below another root. Windows creates no link without rights, so a link found there is followed as it is.

use super::regular_file;
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// A root directory in which absolute paths are looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inside {
    root: PathBuf,
}

impl Inside {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Inside { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn outside(&self, path: &Path) -> PathBuf {
        let mut inside = PathBuf::new();
        for part in path.components() {
            match part {
                Component::Normal(name) => inside.push(name),
                Component::ParentDir => {
                    inside.pop();
                }
                _ => {}
            }
        }
        // A path with a drive letter belongs to this machine.
        if path.is_absolute() && self.root == Path::new("/") { path.to_owned() } else { self.root.join(inside) }
    }

    pub fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    pub fn open(&self, path: &Path) -> io::Result<File> {
        regular_file::open(&self.outside(path))
    }

    /// The first bytes of a file there.
    pub fn start(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open(path)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    pub fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        std::fs::metadata(self.outside(path))
    }

    pub fn is_file(&self, path: &Path) -> bool {
        self.metadata(path).is_ok_and(|found| found.is_file())
    }

    pub fn is_dir(&self, path: &Path) -> bool {
        self.metadata(path).is_ok_and(|found| found.is_dir())
    }

    pub fn link(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::read_link(self.outside(path))
    }

    /// The names in a directory.
    pub fn names(&self, path: &Path) -> io::Result<Vec<OsString>> {
        std::fs::read_dir(self.outside(path))?.map(|entry| Ok(entry?.file_name())).collect()
    }
}
