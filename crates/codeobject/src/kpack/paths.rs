//! The order in which the runtime searches for an archive, computed without opening any file.

use super::reference::Reference;
use crate::target::TargetId;
use std::path::{Path, PathBuf};

/// The placeholder for the target in a search path.
const PLACEHOLDER: &str = "@GFXARCH@";

/// The environment variables that affect the search for archives; lists of files, separated by colons.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// ROCM_KPACK_DISABLE: the runtime loads nothing from archives.
    pub disabled: bool,
    /// ROCM_KPACK_PATH: the runtime searches only these files.
    pub instead: Vec<PathBuf>,
    /// ROCM_KPACK_PATH_PREFIX: the runtime searches these files first.
    pub before: Vec<PathBuf>,
}

impl Environment {
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Self {
        let list = |name: &str| {
            let text = get(name).unwrap_or_default();
            text.split(':').filter(|part| !part.is_empty()).map(PathBuf::from).collect()
        };
        Environment {
            disabled: get("ROCM_KPACK_DISABLE").is_some_and(|value| !value.is_empty() && !value.starts_with('0')),
            instead: list("ROCM_KPACK_PATH"),
            before: list("ROCM_KPACK_PATH_PREFIX"),
        }
    }
}

/// A target with all subsets of its features, most specific first: `gfx90a:sramecc+:xnack-`, ..., `gfx90a`.
pub fn variants(target: &TargetId) -> Vec<String> {
    let features: Vec<String> =
        target.features().take(8).map(|(name, on)| format!(":{name}{}", if on { '+' } else { '-' })).collect();
    let count = features.len();
    let full = (1u32 << count) - 1;
    let chosen = |mask: u32| {
        let kept = features.iter().enumerate().filter(|(i, _)| mask & (1 << (count - 1 - i)) != 0);
        kept.fold(target.processor.clone(), |name, (_, feature)| name + feature)
    };
    (0..=full).rev().map(chosen).collect()
}

/// The files that the runtime tries for a library at `library`, in order. Without a target, a path with a placeholder
/// is returned unchanged, and the caller lists the directory.
pub fn candidates(
    reference: &Reference,
    library: &Path,
    target: Option<&TargetId>,
    environment: &Environment,
) -> Vec<PathBuf> {
    if !environment.instead.is_empty() {
        return environment.instead.clone();
    }
    let mut paths = environment.before.clone();
    let beside = library.parent().unwrap_or(Path::new(""));
    for path in &reference.search_paths {
        match target.filter(|_| path.contains(PLACEHOLDER)) {
            Some(target) => {
                let named = variants(target).into_iter().map(|name| beside.join(path.replace(PLACEHOLDER, &name)));
                paths.extend(named);
            }
            None => paths.push(beside.join(path)),
        }
    }
    paths
}

/// The target in the name of a file that matches a search path: `gfx1201` for `x_@GFXARCH@.kpack` and
/// `x_gfx1201.kpack`.
pub fn target_in(pattern: &str, file: &str) -> Option<String> {
    let pattern = pattern.rsplit('/').next().unwrap_or(pattern);
    let (before, after) = pattern.split_once(PLACEHOLDER)?;
    let target = file.strip_prefix(before)?.strip_suffix(after)?;
    target.starts_with("gfx").then(|| target.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_archive_comes_first() {
        let target = TargetId::parse("gfx90a:sramecc+:xnack-").expect("a target");
        assert_eq!(variants(&target), ["gfx90a:sramecc+:xnack-", "gfx90a:sramecc+", "gfx90a:xnack-", "gfx90a"]);
        let reference = Reference {
            name: "lib/x".into(),
            search_paths: vec!["../.kpack/x_@GFXARCH@.kpack".into(), "y.kpack".into()],
        };
        let plain = TargetId::parse("gfx1201").expect("a target");
        let library = Path::new("/opt/rocm/lib/libx.so");
        let found = candidates(&reference, library, Some(&plain), &Environment::default());
        assert_eq!(found, [Path::new("/opt/rocm/lib/../.kpack/x_gfx1201.kpack"), Path::new("/opt/rocm/lib/y.kpack")]);
        let get = |name: &str| (name == "ROCM_KPACK_PATH").then(|| "/a.kpack::/b.kpack".to_owned());
        let instead = Environment::read(get);
        assert_eq!(candidates(&reference, library, None, &instead), [Path::new("/a.kpack"), Path::new("/b.kpack")]);
        assert!(Environment::read(|name| (name == "ROCM_KPACK_DISABLE").then(|| "1".into())).disabled);
    }
}
