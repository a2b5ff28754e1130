//! The import graph of a crate's source files, and its cycles.
//!
//! File A imports file B when the product code of A names something that is defined in B: by a `use`, or by a path in
//! the code (`crate::b::item`, `super::item`, `b::item` after `use crate::b`). Code under `#[cfg(test)]` does not
//! count.
//! - The name is followed to the file that defines it: through re-exports, imports of a parent, and globs.
//! - `mod b;` is not an import. Neither is a `pub use`, unless the code of the same file uses the name.
//! - `use crate::b` for a module b is not an import by itself; the paths that start with `b::` are.
//! - A method call is not an import. The place that names its type is.

mod modules;
mod tokens;

use modules::{Module, Modules, Names};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// For each file the files that it imports.
pub type Graph = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// The import graph of the crate whose root file this is.
pub fn graph(root: &Path) -> Graph {
    let modules = modules::modules(root);
    let mut graph = Graph::new();
    for (at, module) in &modules {
        let files = graph.entry(module.file.clone()).or_default();
        files.extend(imported_files(&modules, at, module).into_iter().filter(|file| *file != module.file));
    }
    graph
}

fn imported_files(modules: &Modules, at: &Names, module: &Module) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut resolve = |path: &[String]| {
        if let Some(Found::Item(file)) = resolve(modules, at, path, &mut Vec::new()) {
            files.push(file);
        }
    };
    for import in &module.imports {
        if import.name == "*" {
            let words = module.words.iter().filter(|word| !module.items.contains(*word));
            words.for_each(|word| resolve(&[import.path.as_slice(), std::slice::from_ref(word)].concat()));
        } else if !import.public || module.words.contains(&import.name) {
            resolve(&import.path);
        }
    }
    module.paths.iter().for_each(|path| resolve(path));
    files
}

enum Found {
    Module(Names),
    Item(PathBuf),
}

/// The meaning of a path in the module `at`. `None` for another crate's item and for a local variable. `open` contains
/// the names that are being resolved.
fn resolve(modules: &Modules, at: &Names, path: &[String], open: &mut Vec<(Names, String)>) -> Option<Found> {
    let (first, rest) = path.split_first()?;
    let start = match first.as_str() {
        "crate" => Found::Module(Names::new()),
        "self" => Found::Module(at.clone()),
        "super" => Found::Module(at[..at.len().checked_sub(1)?].to_vec()),
        _ => member(modules, at, first, open)?,
    };
    rest.iter().try_fold(start, |found, name| match found {
        Found::Module(within) if name == "super" => {
            Some(Found::Module(within[..within.len().checked_sub(1)?].to_vec()))
        }
        Found::Module(within) => member(modules, &within, name, open),
        item @ Found::Item(_) => Some(item),
    })
}

/// The meaning of a name in a module.
fn member(modules: &Modules, at: &Names, name: &str, open: &mut Vec<(Names, String)>) -> Option<Found> {
    let module = &modules[at];
    if module.children.contains(name) {
        return Some(Found::Module([at.as_slice(), &[name.to_owned()]].concat()));
    }
    if module.items.contains(name) {
        return Some(Found::Item(module.file.clone()));
    }
    let lookup = (at.clone(), name.to_owned());
    if open.contains(&lookup) {
        return None;
    }
    open.push(lookup);
    let named = module.imports.iter().filter(|import| import.name == name);
    let mut paths = named.map(|import| import.path.clone()).collect::<Vec<_>>();
    let globs = module.imports.iter().filter(|import| import.name == "*");
    paths.extend(globs.map(|import| [import.path.as_slice(), &[name.to_owned()]].concat()));
    let found = paths.iter().find_map(|path| resolve(modules, at, path, open));
    open.pop();
    found
}

/// Every set of two or more files in which each file reaches all others, the largest first.
pub fn circles(graph: &Graph) -> Vec<Vec<&PathBuf>> {
    let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        graph.keys().map(|file| (file, reached(graph, file))).collect();
    let mut circles: BTreeSet<Vec<&PathBuf>> = BTreeSet::new();
    for (file, from_it) in &reached {
        circles.insert(from_it.iter().copied().filter(|other| reached[other].contains(file)).collect());
    }
    let mut circles: Vec<_> = circles.into_iter().filter(|circle| circle.len() > 1).collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

fn reached<'g>(graph: &'g Graph, from: &Path) -> BTreeSet<&'g PathBuf> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&PathBuf> = graph[from].iter().collect();
    while let Some(file) = open.pop() {
        if reached.insert(file) {
            open.extend(&graph[file]);
        }
    }
    reached
}
