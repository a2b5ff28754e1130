//! The files behind an answer, and whether the answer survives a change of the sources. Unchanged answers are not
//! evaluated again.

use crate::tree::{Changes, Tree};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footprint {
    /// The files that were read.
    read: BTreeSet<String>,
    /// The directories of these files.
    around: BTreeSet<String>,
}

impl Footprint {
    /// The footprint of everything read from a tree so far.
    pub fn of(tree: &Tree) -> Footprint {
        let read: BTreeSet<String> = tree.reads().into_iter().collect();
        let around = read.iter().map(|path| directory(path).to_owned()).collect();
        Footprint { read, around }
    }

    /// Whether no file that was read changed, and none was added or removed that might have been found instead: files
    /// next to those that were read, and headers or build files anywhere. `before` states whether a file existed before
    /// the change.
    pub fn survives(&self, changes: &Changes, before: impl Fn(&str) -> bool) -> bool {
        changes.iter().all(|(path, id)| {
            let moved = id.is_none() || !before(path);
            let build = [".h", ".hpp", ".cuh", ".cmake", "CMakeLists.txt"].iter().any(|end| path.ends_with(end));
            !self.read.contains(path) && !(moved && (build || self.around.contains(directory(path))))
        })
    }
}

fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_survives_what_it_was_not_read_from_and_nothing_else() {
        let files = ["a/x.cu", "a/other.cu", "b/y.h"].map(|path| (path.to_owned(), Vec::new()));
        let tree = Tree::from_memory("t", files);
        tree.text("a/x.cu").expect("it is there");
        let print = Footprint::of(&tree);
        let survives = |path: &str, id: Option<&str>| {
            print.survives(&vec![(path.to_owned(), id.map(str::to_owned))], |path| tree.has(path))
        };
        assert!(!survives("a/x.cu", Some("1")), "what was read changed");
        assert!(survives("a/other.cu", Some("1")), "another file changed");
        assert!(!survives("a/new.cu", Some("1")) && !survives("a/other.cu", None), "one came or went beside it");
        assert!(!survives("c/new.h", Some("1")) && !survives("b/y.h", None), "a header may be found elsewhere");
        assert!(survives("c/new.cpp", Some("1")) && survives("b/y.h", Some("1")));
    }
}
