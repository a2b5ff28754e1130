//! The exact releases at which a path changed, from a range of llama.cpp releases that were all evaluated. Written by
//! `cargo xtask changes` from an atlas.

use crate::pins::number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::OnceLock;

#[derive(Debug, Deserialize)]
struct Evaluated {
    releases: Vec<Release>,
    /// Ranges of column counts with their paths: from, to, path.
    plans: Vec<Vec<(i64, i64, String)>>,
    /// By target and type: the release at which a plan begins, and the plan; both by position.
    cells: BTreeMap<String, BTreeMap<String, Vec<(usize, usize)>>>,
}

/// The first and the last release of the range, and the releases between them at which a path changed.
#[derive(Debug, Deserialize)]
struct Release {
    name: String,
    date: String,
    commit: String,
}

fn evaluated() -> Option<&'static Evaluated> {
    static EVALUATED: OnceLock<Option<Evaluated>> = OnceLock::new();
    EVALUATED.get_or_init(|| serde_json::from_str(include_str!("../tables/changes.json")).ok()).as_ref()
}

/// A range of releases that were all evaluated, and the changes among them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Changes<'t> {
    pub first: &'t str,
    pub last: &'t str,
    pub changes: Vec<PathChange<'t>>,
}

/// A release that chooses another path than the release before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathChange<'t> {
    pub version: &'t str,
    pub date: &'t str,
    /// The commit of the release.
    pub commit: &'t str,
    /// `UNDETERMINED` where the rules do not decide.
    pub before: &'t str,
    pub after: &'t str,
}

/// The changes for one cell; None if no range of releases has it.
pub fn changes(target: &str, kind: &str, columns: i64) -> Option<Changes<'static>> {
    let known = evaluated()?;
    let turns = known.cells.get(target)?.get(kind)?;
    let path = |plan: usize| {
        let spans = known.plans.get(plan)?;
        spans.iter().find(|(from, to, _)| (*from..=*to).contains(&columns)).map(|(.., path)| path.as_str())
    };
    let mut changes = Vec::new();
    let mut before = path(turns.first()?.1)?;
    for (at, plan) in turns.iter().skip(1) {
        let (release, after) = (known.releases.get(*at)?, path(*plan)?);
        if after != before {
            let Release { name, date, commit } = release;
            changes.push(PathChange { version: name, date, commit, before, after });
        }
        before = after;
    }
    Some(Changes { first: &known.releases.first()?.name, last: &known.releases.last()?.name, changes })
}

impl Changes<'_> {
    /// Whether a build is in the range.
    pub fn covers(&self, build: u64) -> bool {
        number(self.first).is_some_and(|first| first <= build) && number(self.last).is_some_and(|last| build <= last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision_table::all;

    /// At every release that has a table, the list of changes gives the same path as the table.
    #[test]
    fn the_changes_lead_from_table_to_table() {
        let mut compared = 0;
        for table in all() {
            let Some(build) = number(&table.version) else { continue };
            for (target, of) in &table.targets {
                for kind in of.types.keys() {
                    for columns in [1, 8, 9, 64, 290, 1024] {
                        let Some(known) = changes(target, kind, columns).filter(|known| known.covers(build)) else {
                            continue;
                        };
                        let until = |it: &&PathChange<'_>| number(it.version).is_some_and(|version| version <= build);
                        let now = known.changes.iter().rfind(until).map(|it| it.after);
                        let next = known.changes.iter().find(|it| !until(it)).map(|it| it.before);
                        let found = table.look_up(target, kind, columns).map(|found| found.path);
                        if let Some(path) = now.or(next) {
                            assert_eq!(found, Some(path), "{} {target} {kind} {columns}", table.version);
                            compared += 1;
                        }
                    }
                }
            }
        }
        assert!(compared > 100, "cells are compared at all: {compared}");
    }

    #[test]
    fn a_change_has_its_release_and_commit() {
        let known = changes("gfx1201", "Q4_K", 290).expect("a range of releases");
        let last = known.changes.last().expect("a change");
        assert_eq!((last.before, last.after), ("BLAS", "MMQ"));
        assert_eq!(last.commit.len(), 40);
        assert_eq!(changes("gfx9999", "Q4_K", 290), None);
    }
}
