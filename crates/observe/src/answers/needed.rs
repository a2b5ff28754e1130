//! The chain of libraries that a file would load.

use super::shown;
use answer::Answer;
use runtime::linkage::Chain;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// The libraries that a file, or the files of a directory, would load.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Needed {
    file: String,
    /// The tree in which the libraries were searched for.
    root: String,
    needed: Vec<ChainAnswer>,
}

impl Answer for Needed {
    const SCHEMA: &'static str = "whichkernel.inspect-needed/1";
}

#[derive(Debug, Serialize, JsonSchema)]
struct ChainAnswer {
    objects: Vec<Object>,
    /// The edges of the graph: from and to, as indexes in `objects`.
    edges: Vec<(usize, usize)>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Object {
    name: String,
    path: String,
    soname: Option<String>,
    /// How the loader found the library; missing if it did not.
    how: &'static str,
    needed: Vec<String>,
    rpath: Vec<String>,
    runpath: Vec<String>,
    problem: Option<String>,
}

impl Needed {
    pub fn new(file: &Path, root: &Path, chains: &[Chain]) -> Self {
        let one = |chain: &Chain| ChainAnswer {
            objects: chain.objects.iter().map(object).collect(),
            edges: chain.edges.iter().map(|edge| (edge.from, edge.to)).collect(),
        };
        Needed { file: shown(file), root: shown(root), needed: chains.iter().map(one).collect() }
    }
}

fn object(object: &runtime::linkage::Object) -> Object {
    Object {
        name: object.name.clone(),
        path: shown(&object.path),
        soname: object.dynamic.soname.clone(),
        how: object.how.name(),
        needed: object.dynamic.needed.clone(),
        rpath: object.dynamic.rpath.clone(),
        runpath: object.dynamic.runpath.clone(),
        problem: object.problem.clone(),
    }
}
