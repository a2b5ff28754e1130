//! A directory. Symlinks to files are followed; symlinks to directories are not, so there can be no loop.

use super::git;
use super::listing::{Entry, Listing, MAX_FILE, MAX_FILES, MAX_TOTAL, Skipped, TreeError, wanted};
use say::{Key, key, say};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const NEVER: &[&str] = &[".git", "node_modules", "target", "__pycache__", ".venv"];
const MAX_DEPTH: usize = 64;

pub(super) fn open(root: &Path, label: &str) -> Result<Listing, TreeError> {
    let mut found = Found { files: BTreeMap::new(), total: 0, skipped: Skipped::default() };
    walk(root, String::new(), 0, &mut found).map_err(|limit| TreeError::TooLarge { path: label.to_owned(), limit })?;
    if found.files.is_empty()
        && let Err(error) = fs::read_dir(root)
    {
        return Err(TreeError::Io { path: label.to_owned(), error });
    }
    Ok(Listing { commit: git::head(root), files: found.files.into(), skipped: found.skipped })
}

struct Found {
    files: BTreeMap<String, Entry>,
    total: u64,
    skipped: Skipped,
}

fn walk(dir: &Path, prefix: String, depth: usize, found: &mut Found) -> Result<(), Key> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => {
            found.skipped.add(if prefix.is_empty() { "." } else { prefix.as_str() }.to_owned(), error);
            return Ok(());
        }
    };
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                found.skipped.add(prefix.clone(), error);
                break;
            }
        };
        let Ok(name) = entry.file_name().into_string() else {
            found.skipped.add(format!("{prefix}{}", entry.file_name().display()), say!("source-skipped-utf8"));
            continue;
        };
        let Ok(kind) = entry.file_type() else { continue };
        let path = [prefix.as_str(), &name].concat();
        if kind.is_dir() {
            if depth >= MAX_DEPTH {
                found.skipped.add(path, say!("source-skipped-deep", most = MAX_DEPTH));
            } else if !NEVER.contains(&name.as_str()) {
                walk(&entry.path(), format!("{path}/"), depth + 1, found)?;
            }
        } else if wanted(&path) {
            // For a symlink, use the metadata of its target.
            let meta = if kind.is_symlink() { fs::metadata(entry.path()) } else { entry.metadata() };
            let Ok(meta) = meta else {
                found.skipped.add(path, say!("source-skipped-broken-link"));
                continue;
            };
            if !meta.is_file() {
                let why = if meta.is_dir() { key!("source-skipped-linked") } else { key!("source-skipped-special") };
                found.skipped.add(path, why);
                continue;
            }
            if meta.len() > MAX_FILE {
                found.skipped.add(path, say!("source-skipped-size", bytes = meta.len(), most = MAX_FILE));
                continue;
            }
            found.total = found.total.saturating_add(meta.len());
            if found.total > MAX_TOTAL || found.files.len() >= MAX_FILES {
                return Err(key!("source-limit-sources"));
            }
            found.files.insert(path, Entry::File);
        }
    }
    Ok(())
}

pub(super) fn read(full: &Path, path: &str) -> Result<Vec<u8>, TreeError> {
    let io = |error| TreeError::Io { path: path.to_owned(), error };
    let size = fs::metadata(full).map_err(io)?.len();
    if size > MAX_FILE {
        return Err(TreeError::FileTooLarge { path: path.to_owned(), size, limit: MAX_FILE });
    }
    sys::regular_file::whole(full, MAX_FILE).map_err(io)
}
