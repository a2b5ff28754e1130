//! Records a tree for an investigation: the same observations as `source --chain --record` and `source TREE --record`.

use super::record_declared;
use crate::context::Context;
use callchain::File;
use callchain::rocblas::{Rocblas, read, wanted};
use evidence::Investigation;
use source::Tree;

/// The usual entry points of requests; the first that a tree serves is used.
pub const USUAL_ROUTES: [&str; 3] = ["/api/generate", "/completion", "/v1/completions"];

/// None if the tree is not rocBLAS.
pub fn find_rocblas(tree: &Tree) -> Option<Rocblas> {
    if !tree.paths().any(|path| path.ends_with("library/src/include/handle.hpp")) {
        return None;
    }
    let (texts, _) = source::tree::collect(std::slice::from_ref(tree), wanted);
    read(&texts.into_iter().map(File::from).collect::<Vec<_>>())
}

/// `spec`: as the verb accepts it. Follows the call paths that the claims ask about, in addition to those of a request.
pub fn look(spec: &str, investigation: &Investigation, context: &Context) -> say::Result<()> {
    context.progress(spec);
    let tree = Tree::open(spec)?;
    if let Some(found) = find_rocblas(&tree) {
        let files = tree.paths().filter(|path| wanted(path)).count();
        return record_declared::rocblas(&tree, &found, files, context);
    }
    let (texts, _) = source::tree::collect(std::slice::from_ref(&tree), callchain::wanted);
    let files: Vec<File> = texts.into_iter().map(File::from).collect();
    let index = callchain::index(&files);
    let served = |path: &&str| index.routes.iter().any(|entry| entry.path == **path);
    if let Some(route) = USUAL_ROUTES.into_iter().find(served) {
        let chains = callchain::trace(&index, route);
        record_declared::chains(&tree, &chains, &callchain::facts(&files), files.len(), context)?;
    }
    let name = if index.files.iter().any(|path| path.ends_with(".go")) { "ollama" } else { "llama.cpp" };
    let claims = investigation.claims.iter().map(|stated| &stated.claim).filter(|claim| claim.topic == "source.chain");
    let ends = claims.filter_map(|claim| Some((claim.about.get("from")?, claim.about.get("to")?)));
    let there = |name: &str| !index.named(name).is_empty();
    for (from, to) in ends.filter(|(from, to)| there(from) && there(to)) {
        let found = callchain::between(&index, from, to);
        let way = record_declared::Way { from, to, steps: found.as_deref() };
        record_declared::ways(&tree, name, &[way], files.len(), context)?;
    }
    Ok(())
}
