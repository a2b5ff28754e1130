//! What the ledger says of the libraries of a stack: who needs whom, what each build of a file holds, what was loaded and
//! launched.

use crate::input::Study;
use evidence::{Artifact, ObservationId, Rung};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub struct Stack {
    pub needs: BTreeMap<String, BTreeSet<String>>,
    /// By name, then by hash: two builds of one name are two files.
    pub files: BTreeMap<String, BTreeMap<String, Build>>,
    pub loaded: BTreeSet<String>,
    pub launched: BTreeSet<String>,
    /// Whether anybody looked at a process, or at launches.
    pub watched_loaded: bool,
    pub watched_launched: bool,
}

/// One file, by its hash.
#[derive(Default)]
pub struct Build {
    pub label: String,
    pub runtimes: BTreeSet<String>,
    /// Target, kernels, observation.
    pub targets: BTreeMap<String, (String, Option<ObservationId>)>,
    pub bundles: BTreeMap<String, String>,
    pub facts: Vec<(Rung, String, ObservationId)>,
    /// Its device code was read to the last byte.
    pub complete: bool,
}

impl Stack {
    pub fn read(study: &Study<'_>) -> Stack {
        let mut stack = Stack::default();
        for recorded in study.input.observations {
            let subject = recorded.subject();
            let views = &recorded.field_of_view().views;
            stack.watched_loaded |=
                recorded.rung() == Rung::Loaded && views.iter().any(|view| view.topic.starts_with("library"));
            stack.watched_launched |= recorded.rung() == Rung::Launched;
            let mut build = None;
            if let Artifact::File { name, sha256 } = &subject.artifact {
                let entry = stack.files.entry(name.clone()).or_default().entry(sha256.clone()).or_default();
                entry.label = study.file_label(subject).unwrap_or_default();
                entry.runtimes.extend(subject.runtime.clone());
                entry.complete |= *recorded.finding() == evidence::Finding::Swept
                    && recorded.coverage().is_complete()
                    && views.iter().any(|view| view.topic == "file.target");
                if recorded.rung() >= Rung::Launched {
                    stack.launched.insert(name.clone());
                }
                build = Some(entry);
            }
            let Some(fact) = recorded.fact() else { continue };
            let about = |key: &str| fact.about.get(key).map(str::to_owned);
            match (fact.topic.as_str(), build) {
                ("library.needs", _) => {
                    if let (Some(from), Some(to)) = (about("from"), about("to")) {
                        stack.needs.entry(from).or_default().insert(to);
                    }
                }
                ("library", _) if recorded.rung() == Rung::Loaded => stack.loaded.extend(about("name")),
                ("library", _) if recorded.rung() == Rung::Launched && !fact.value.is_nothing() => {
                    stack.launched.extend(about("name"))
                }
                ("file.target", Some(build)) => {
                    if let Some(target) = about("name") {
                        build.targets.insert(target, (fact.value.to_string(), Some(recorded.id().clone())));
                    }
                }
                ("file.bundles", Some(build)) => {
                    if let Some(target) = &subject.target {
                        build.bundles.insert(target.clone(), fact.value.to_string());
                    }
                }
                (topic, Some(build)) if is_plain(topic) => {
                    build.facts.push((recorded.rung(), evidence::saw(recorded), recorded.id().clone()));
                }
                _ => {}
            }
        }
        // Who saw a library loaded has looked.
        stack.watched_loaded |= !stack.loaded.is_empty();
        stack
    }

    pub fn names(&self) -> BTreeSet<String> {
        let needed = self.needs.iter().flat_map(|(from, to)| std::iter::once(from).chain(to));
        needed.chain(self.files.keys()).chain(&self.loaded).chain(&self.launched).cloned().collect()
    }

    /// Those that nothing needs.
    pub fn roots(&self) -> Vec<String> {
        let needed: BTreeSet<&String> = self.needs.values().flatten().collect();
        self.names().into_iter().filter(|name| !needed.contains(name)).collect()
    }

    /// How many targets any build of it has code for.
    pub fn targets(&self, name: &str) -> usize {
        let builds = self.files.get(name).into_iter().flat_map(BTreeMap::values);
        builds.flat_map(|build| build.targets.keys()).collect::<BTreeSet<_>>().len()
    }
}

/// What has no page of its own: kernels are in the inventory, paths on the map.
fn is_plain(topic: &str) -> bool {
    !["matmul", "kernel", "blas", "isa"].iter().any(|elsewhere| topic.starts_with(elsewhere))
}
