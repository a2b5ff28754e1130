//! The index of a runtime in the cache: `index.json` next to the tree, with versions, hashes and omissions.

use crate::{
    cache::Cache,
    error::{Error, Result, at},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fs, path::Path};
use sys::files::{self, Access};

/// A runtime in the cache: its origin, its packages, and the parts that were left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Index {
    pub name: String,
    /// The runtime's origin: a suite and mirror, an archive's file name, or a directory.
    pub origin: String,
    /// True for a directory that was added in place: `root` is then a symlink to it.
    #[serde(default)]
    pub linked: bool,
    pub date: String,
    #[serde(default)]
    pub parts: Vec<String>,
    /// The targets whose files were written; empty means all.
    #[serde(default)]
    pub targets: Vec<String>,
    pub files: u64,
    pub bytes: u64,
    #[serde(default)]
    pub packages: Vec<Package>,
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// Archive entries that were not written because they are not files (device nodes) or lead outside.
    #[serde(default)]
    pub refused: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Package {
    pub package: String,
    pub version: String,
    pub suite: String,
    pub deb: String,
    pub size: u64,
    pub sha256: String,
    pub files: u64,
    pub bytes: u64,
    /// Files that belong to other targets and were not written.
    pub skipped_files: u64,
    pub skipped_bytes: u64,
}

/// A dependency that was not followed, and why, so that the gaps of a runtime are known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    pub package: String,
    pub by: String,
    pub reason: String,
}

impl answer::Answer for Index {
    const SCHEMA: &'static str = "whichkernel.runtime-index/1";
}

impl Index {
    pub fn read(dir: &Path) -> Result<Index> {
        let path = dir.join("index.json");
        let text = sys::regular_file::whole(&path, 256 << 20).map_err(at(&path))?;
        serde_json::from_slice(&text).map_err(|source| Error::Index { path, source })
    }

    pub fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join("index.json");
        let text = answer::json(self).map_err(|e| at(&path)(e.into()))?;
        files::replace(&path, Access::Public, text).map_err(at(&path))
    }

    pub fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.package == name)
    }
}

/// All runtimes in the cache, by name; one with an unreadable index is listed with the reason.
pub fn list(cache: &Cache) -> Vec<(String, Result<Index>)> {
    let Ok(entries) = fs::read_dir(cache.runtimes()) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .map(|name| {
            let index = Index::read(&cache.runtime(&name));
            (name, index)
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}
