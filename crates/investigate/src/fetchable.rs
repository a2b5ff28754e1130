//! Finds runtimes that could be fetched, and the open claims that each can settle. Computed before a download and again
//! after it.

use crate::{Graded, abilities};
use evidence::{Looker, Reading, Rung, Scope, Stated, Subject};
use runtime::sources::{SourceTree, TREES};

/// A runtime or source that can be fetched, and the claims that it can settle.
#[derive(Debug, Clone)]
pub struct FetchStep {
    pub what: What,
    /// Ids of claims that are open now.
    pub can_close: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Tree(&'static SourceTree),
    /// Debian's llama.cpp for ROCm, with its tools.
    Debian,
}

const DEBIAN: &str = "debian-sid";
/// The targets in Debian's libggml-hip.so (version 0.27, as listed by `inspect`). The library has no code for other
/// targets.
const DEBIAN_TARGETS: &[&str] =
    &["gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx1010", "gfx1030", "gfx1100", "gfx1101", "gfx1102"];

impl Graded {
    /// The runtimes and sources that can settle open claims, the most useful first. `has_runtime` states whether a
    /// runtime with GPU code is already here.
    pub fn fetchable(&self, has_runtime: bool) -> Vec<FetchStep> {
        let mut steps: Vec<FetchStep> = TREES
            .iter()
            .map(|tree| FetchStep {
                what: What::Tree(tree),
                can_close: self.open(|stated| closed_by_tree(tree, stated)),
            })
            .collect();
        if !has_runtime {
            steps.push(FetchStep { what: What::Debian, can_close: self.open(closed_by_debian) });
        }
        steps.retain(|step| !step.can_close.is_empty());
        steps.sort_by_key(|step| std::cmp::Reverse(step.can_close.len()));
        steps
    }

    fn open(&self, closes: impl Fn(&Stated) -> bool) -> Vec<String> {
        let open = self.claims().filter(|(_, reading): &(_, &Reading)| reading.grade.is_unresolved());
        open.filter(|(stated, _)| closes(stated)).map(|(stated, _)| stated.claim.id.clone()).collect()
    }

    /// The claims of `ids` that are decided now.
    pub fn closed<'a>(&self, ids: &'a [String]) -> Vec<&'a String> {
        let open = |id: &&String| self.readings.iter().any(|it| it.claim == **id && it.grade.is_unresolved());
        ids.iter().filter(|id| !open(id)).collect()
    }
}

/// Whether a source tree can decide the claim: an observer of source trees covers it for this tree.
fn closed_by_tree(tree: &SourceTree, stated: &Stated) -> bool {
    let claim = &stated.claim;
    let subject = Subject::source(tree.name, tree.commit, Default::default());
    let mut scope = Scope { target: None, defines: None, ..claim.scope.clone() };
    scope.host = None;
    let named = scope.source.is_some();
    let seen = abilities(&["source".to_owned()]).into_iter().any(|able| {
        able.rung == claim.rung
            && matches!(able.looker, Looker::Verb(_))
            && able.view.covers(&claim.topic, &claim.about)
    });
    // Claims about the rules themselves (`matmul.*`) are excluded, because the embedded tables decide them.
    claim.rung == Rung::Declared
        && named
        && seen
        && !claim.topic.starts_with("matmul.")
        && scope.differences(&subject).is_empty()
}

fn closed_by_debian(stated: &Stated) -> bool {
    let claim = &stated.claim;
    let near = |target: &str| {
        let subject = Subject::file("libggml-hip.so", "").runtime(DEBIAN).target(target);
        claim.scope.differences(&subject).is_empty()
    };
    matches!(claim.rung, Rung::Shipped | Rung::Selected) && DEBIAN_TARGETS.iter().any(|target| near(target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::{Recorded, default_investigation};

    fn graded(observations: &[Recorded]) -> Graded {
        Graded::from_ledger(default_investigation().unwrap(), observations, &["source".to_owned()])
    }

    #[test]
    fn what_closes_nothing_is_not_offered() {
        let steps = graded(&[]).fetchable(false);
        let of = |name: &str| {
            let tree = |step: &&FetchStep| matches!(step.what, What::Tree(tree) if tree.name == name);
            steps.iter().find(tree).map_or(0, |step| step.can_close.len())
        };
        assert!(of("rocBLAS") >= 10 && of("ollama") >= 8, "{steps:?}");
        // No library of Debian contains the notes' target, so it must not be listed for those claims.
        let debian = steps.iter().find(|step| step.what == What::Debian);
        assert!(debian.is_none_or(|step| step.can_close == ["wavefront-gfx900"]), "{debian:?}");
        let all: Vec<String> = graded(&[]).readings.iter().map(|reading| reading.claim.clone()).collect();
        assert!(graded(&[]).closed(&all).is_empty());
    }
}
