//! The runtimes that can be examined: those the user names, those in the cache, and those installed on this machine.

use crate::find::{self, Found, Kind};
use crate::{Cache, index};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// A directory or file with a GPU stack, and its name in observations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub name: Option<String>,
    pub path: PathBuf,
    /// The paths to search for libraries: the path itself, or the files of the stack if they share a directory with
    /// other files, as in `/usr/lib`.
    pub parts: Vec<PathBuf>,
    /// A whole ROCm tree of the system: gigabytes of libraries that a language model server may never load.
    pub is_rocm_tree: bool,
}

/// All runtimes without duplicates, in this order: named ones, the cache, the system below `root`.
pub fn list(named: &[PathBuf], cache: &Cache, root: &Path) -> Vec<Installed> {
    let cached = index::list(cache).into_iter().filter_map(|(name, index)| index.ok().and(cache.root(&name)));
    let mut all: Vec<Installed> = Vec::new();
    for path in named.iter().cloned().chain(cached) {
        let path = path.canonicalize().unwrap_or(path);
        if !all.iter().any(|known| path.starts_with(&known.path)) {
            all.push(Installed { name: name(&path, cache), parts: vec![path.clone()], path, is_rocm_tree: false });
        }
    }
    let mut system = find::find(root);
    // Innermost first: a directory above an Ollama bundle is not a second installation.
    system.sort_by_key(|found| Reverse(found.path.components().count()));
    for found in system.into_iter().filter(|found| found.kind != Kind::Cuda) {
        let known = |file: &PathBuf| all.iter().any(|known| file.starts_with(&known.path));
        let parts: Vec<PathBuf> = found.libraries.iter().map(|one| one.path.clone()).filter(|it| !known(it)).collect();
        if !parts.is_empty() {
            let (name, is_rocm_tree) = (name(&found.path, cache), found.kind == Kind::Rocm);
            all.push(Installed { name, path: found.path, parts, is_rocm_tree });
        }
    }
    all
}

/// The stack of a path. An Ollama bundle is identified by its ROCm release (`ollama-rocm-60303`) in any location; a fetched or
/// added one by its name in the cache; a ROCm tree by its release.
pub fn name(path: &Path, cache: &Cache) -> Option<String> {
    let path = path.canonicalize().ok()?;
    let found = path.ancestors().filter(|dir| dir.is_dir()).take(3).find_map(|dir| find::look(dir, String::new()));
    let cached = || {
        let home = cache.runtimes();
        let inside = path.strip_prefix(home.canonicalize().unwrap_or(home)).ok()?;
        Some(inside.components().next()?.as_os_str().to_string_lossy().into_owned())
    };
    match &found {
        Some(bundle) if bundle.kind == Kind::Ollama => match digits(bundle) {
            Some(release) => Some(format!("ollama-rocm-{release}")),
            None => cached().or(Some("ollama".to_owned())),
        },
        Some(tree) if tree.kind == Kind::Rocm => {
            cached().or_else(|| digits(tree).map(|release| format!("rocm-{release}")))
        }
        _ => cached(),
    }
}

/// The digits at the end of AMD's builds: `librocblas.so.4.3.60303` -> `60303`.
fn digits(found: &Found) -> Option<&str> {
    found.libraries.iter().find_map(|library| {
        let name = library.path.file_name()?.to_str()?;
        crate::library_names::rocm_release(name)?;
        name.rsplit_once('.').map(|(_, digits)| digits)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_named_cached_and_installed_is_found_once_and_has_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path().canonicalize().unwrap();
        let make = |path: &str| {
            let path = here.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        };
        make("system/usr/local/lib/ollama/libggml-base.so");
        make("system/usr/local/lib/ollama/rocm/libggml-hip.so");
        make("system/usr/local/lib/ollama/rocm/librocblas.so.4.3.60303");
        make("system/opt/rocm-6.4.1/lib/libamdhip64.so.6.4.60401");
        make("build/libggml-hip.so");
        let cache = Cache::at(here.join("cache"));
        let all = list(&[here.join("build")], &cache, &here.join("system"));
        let names: Vec<Option<&str>> = all.iter().map(|one| one.name.as_deref()).collect();
        assert_eq!(names, [None, Some("ollama-rocm-60303"), Some("rocm-60401")], "{all:?}");
        // The library from the field notes, identified by its path alone.
        let library = here.join("system/usr/local/lib/ollama/rocm/libggml-hip.so");
        assert_eq!(name(&library, &cache).as_deref(), Some("ollama-rocm-60303"));
    }
}
