//! The objects that a program or library loads, and the edges between them, in the loader's order.

use super::{
    dynamic::Dynamic,
    file::FileAt,
    search::{How, Search},
};
use std::{
    collections::{HashMap, VecDeque},
    path::{Path, PathBuf},
};

/// One loaded (or loadable) object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// The requested name: a NEEDED name, or the given path.
    pub name: String,
    /// The path that the loader would open, inside the root; empty if it was not found.
    pub path: PathBuf,
    /// The same path with symlinks resolved.
    pub real: PathBuf,
    pub how: How,
    pub dynamic: Dynamic,
    /// The object that requested this one first; None for the start of the chain.
    pub parent: Option<usize>,
    /// Why the object could not be read, if it exists.
    pub problem: Option<String>,
}

/// `from` names `to` in DT_NEEDED.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
}

/// A chain in loading order (breadth first), the loader's own search scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chain {
    pub objects: Vec<Object>,
    pub edges: Vec<Edge>,
}

/// The maximum number of objects, more than any program has: a hostile chain ends here.
const LIMIT: usize = 4096;

impl Chain {
    /// The chain of one file. Preloaded libraries come before the libraries that the file itself needs.
    pub fn of(search: &Search, start: &Path, preload: &[String]) -> Chain {
        let mut chain = Chain::default();
        let name = start.to_string_lossy().into_owned();
        let first = chain.push(search, &name, start.to_owned(), How::Start, None);
        for name in preload {
            let found = chain.find(search, name, first);
            let (path, how) = found.map_or((PathBuf::new(), How::Missing), |(path, _)| (path, How::Preload));
            chain.push(search, name, path, how, None);
        }
        chain.close(search);
        chain
    }

    /// Adds an object that the program opened itself, with its dependencies. False if it is already there.
    pub fn dlopen(&mut self, search: &Search, path: &Path) -> bool {
        if self.by_path(search, path).is_some() {
            return false;
        }
        self.push(search, &path.to_string_lossy(), path.to_owned(), How::Dlopen, None);
        self.close(search);
        true
    }

    pub fn by_path(&self, search: &Search, path: &Path) -> Option<usize> {
        let real = search.inside.resolve(path).unwrap_or_else(|_| path.to_owned());
        self.objects.iter().position(|object| !object.path.as_os_str().is_empty() && object.real == real)
    }

    /// The objects that name this one in DT_NEEDED.
    pub fn needed_by(&self, index: usize) -> impl Iterator<Item = &Object> {
        self.edges.iter().filter(move |edge| edge.to == index).filter_map(|edge| self.objects.get(edge.from))
    }

    /// Resolves the dependencies of every new object.
    fn close(&mut self, search: &Search) {
        let seen: std::collections::HashSet<usize> = self.edges.iter().map(|edge| edge.from).collect();
        let mut queue: VecDeque<usize> = (0..self.objects.len()).filter(|index| !seen.contains(index)).collect();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (index, object) in self.objects.iter().enumerate() {
            remember(&mut known, object, index);
        }
        while let Some(index) = queue.pop_front() {
            let needed = self.objects.get(index).map(|object| object.dynamic.needed.clone()).unwrap_or_default();
            for name in needed {
                let to = match known.get(&name) {
                    Some(&to) => to,
                    None if self.objects.len() >= LIMIT => continue,
                    None => {
                        let found = self.find(search, &name, index);
                        let existing = found.as_ref().and_then(|(path, _)| self.by_path(search, path));
                        if let Some(existing) = existing {
                            known.insert(name, existing);
                            existing
                        } else {
                            let (path, how) = found.unwrap_or((PathBuf::new(), How::Missing));
                            let to = self.push(search, &name, path, how, Some(index));
                            if let Some(object) = self.objects.get(to) {
                                remember(&mut known, object, to);
                            }
                            queue.push_back(to);
                            to
                        }
                    }
                };
                let edge = Edge { from: index, to };
                if !self.edges.contains(&edge) {
                    self.edges.push(edge);
                }
            }
        }
    }

    fn find(&self, search: &Search, name: &str, requester: usize) -> Option<(PathBuf, How)> {
        let mut chain = Vec::new();
        let mut at = Some(requester);
        while let Some(object) = at.and_then(|index| self.objects.get(index)) {
            chain.push((object.path.as_path(), &object.dynamic));
            at = object.parent;
        }
        // The program's own RPATH also applies to the dependencies of a dlopened library.
        if let Some(program) = self.objects.first().filter(|_| !chain.is_empty())
            && chain.last().is_none_or(|(path, _)| *path != program.path.as_path())
        {
            chain.push((program.path.as_path(), &program.dynamic));
        }
        search.find(name, &chain)
    }

    fn push(&mut self, search: &Search, name: &str, path: PathBuf, how: How, parent: Option<usize>) -> usize {
        let real = search.inside.resolve(&path).unwrap_or_else(|_| path.clone());
        let mut problem = None;
        let dynamic = if path.as_os_str().is_empty() {
            Dynamic::default()
        } else {
            let read = search.inside.open(&path).and_then(FileAt::new).map_err(|error| error.to_string());
            read.and_then(|file| Dynamic::read(&file).map_err(|error| error.to_string())).unwrap_or_else(|error| {
                problem = Some(error);
                Dynamic::default()
            })
        };
        self.objects.push(Object { name: name.to_owned(), path, real, how, dynamic, parent, problem });
        self.objects.len() - 1
    }
}

/// The loader identifies an object by the requested name and by its SONAME.
fn remember(known: &mut HashMap<String, usize>, object: &Object, index: usize) {
    known.entry(object.name.clone()).or_insert(index);
    if let Some(soname) = &object.dynamic.soname {
        known.entry(soname.clone()).or_insert(index);
    }
}

/// The objects that no other object names, in the chain's order: the roots of its tree.
pub fn roots_of(chain: &Chain) -> Vec<usize> {
    (0..chain.objects.len())
        .filter(|&index| chain.objects.get(index).is_some_and(|object| object.parent.is_none()))
        .collect()
}
