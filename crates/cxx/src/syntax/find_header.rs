//! Finds a header in a tree by its name in an `#include`.

use super::files::Sources;

/// A header in angle brackets that is in the tree, in a directory that compilers search.
pub fn find_system(tree: &dyn Sources, wanted: &str) -> Option<String> {
    let ends = [format!("include/{wanted}"), format!("src/{wanted}")];
    let fits = |path: &&str| {
        ends.iter()
            .any(|end| path.strip_suffix(end.as_str()).is_some_and(|head| head.is_empty() || head.ends_with('/')))
    };
    tree.named(last(wanted)).into_iter().filter(fits).min_by_key(|path| path.len()).map(str::to_owned)
}

/// Finds a header by name: next to the including file, otherwise the one in the tree that shares the longest path with
/// that file.
pub fn find_include(tree: &dyn Sources, from: &str, wanted: &str) -> Option<String> {
    let dir = from.rsplit_once('/').map_or("", |(dir, _)| dir);
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in wanted.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." | "" => {}
            _ => parts.push(part),
        }
    }
    let beside = parts.join("/");
    if tree.has(&beside) {
        return Some(beside);
    }
    let name = wanted.trim_start_matches("../");
    let shared = |path: &str| path.bytes().zip(from.bytes()).take_while(|(a, b)| a == b).count();
    let fits = |path: &&str| path.strip_suffix(name).is_some_and(|head| head.is_empty() || head.ends_with('/'));
    let named = tree.named(last(name)).into_iter();
    named.filter(fits).max_by_key(|path| (shared(path), usize::MAX - path.len())).map(str::to_owned)
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
