//! The files of a lake, without reading the tables: which exist, and which the manifests name.

use crate::manifest::{self, Manifest, TABLES};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The paths of all manifests and tables, sorted.
#[derive(Debug, Default)]
pub struct LakeFiles {
    pub manifests: Vec<PathBuf>,
    pub tables: Vec<PathBuf>,
}

impl LakeFiles {
    /// Fails if the folder cannot be listed. A lake without tables has no files.
    pub fn list(dir: &Path) -> io::Result<LakeFiles> {
        fs::read_dir(dir)?;
        let mut files = LakeFiles::default();
        below(&dir.join(manifest::FOLDER), 0, "json", &mut files.manifests)?;
        for table in TABLES {
            below(&dir.join(table), 2, "parquet", &mut files.tables)?;
        }
        files.manifests.sort();
        files.tables.sort();
        Ok(files)
    }
}

/// Files with this extension, at most `deep` folders down: a table has a folder for each day and machine. Symlinks are
/// listed and not followed.
fn below(folder: &Path, deep: usize, extension: &str, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if deep > 0 {
                below(&path, deep - 1, extension, found)?;
            }
        } else if path.extension().is_some_and(|is| is == extension) {
            found.push(path);
        }
    }
    Ok(())
}

/// What the manifests and the names of the files show.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Inventory {
    /// The names of the machines by the value of their partition.
    pub machines: std::collections::BTreeMap<String, String>,
    /// Tables that a manifest names and that are missing.
    pub missing: Vec<PathBuf>,
    /// Tables that no manifest names: of an export that was interrupted, or from another program.
    pub unlisted: Vec<PathBuf>,
    /// Manifests that cannot be read.
    pub unread: Vec<PathBuf>,
    /// The number of tables of launches and of observations.
    pub launches: usize,
    pub observations: usize,
}

impl Inventory {
    pub fn of(dir: &Path) -> io::Result<Inventory> {
        let files = LakeFiles::list(dir)?;
        let mut inventory = Inventory::default();
        let mut unlisted: std::collections::BTreeSet<PathBuf> = files.tables.iter().cloned().collect();
        for path in &files.manifests {
            let Ok(Some((manifest, _))) = Manifest::read(path) else {
                inventory.unread.push(path.clone());
                continue;
            };
            for (table, days) in &manifest.tables {
                for day in days.keys() {
                    let file = dir.join(manifest.file(table, day));
                    if !unlisted.remove(&file) {
                        inventory.missing.push(file);
                    }
                }
            }
            inventory.machines.insert(manifest.machine, manifest.host);
        }
        inventory.unlisted = unlisted.into_iter().collect();
        let count = |table: &str| files.tables.iter().filter(|file| file.starts_with(dir.join(table))).count();
        (inventory.launches, inventory.observations) = (count("launches"), count("observations"));
        Ok(inventory)
    }
}
