//! The ledger's facts about the libraries of a stack: dependencies, content of each build, loads and launches.

use crate::input::Study;
use crate::read::Read;
use evidence::{
    Account, Artifact, Basis, Conclusion, Finding, LeftOutWhy, ObservationId, Recorded, Rung, Unit, Witness,
};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub struct Stack {
    pub needs: BTreeMap<String, BTreeSet<String>>,
    /// The files by name, then by hash: two builds with one name are two files.
    pub files: BTreeMap<String, BTreeMap<String, Build>>,
    /// Kernels in separate files next to a library, by its name and then by runtime.
    pub catalogs: BTreeMap<String, BTreeMap<String, Catalog>>,
    pub loaded: BTreeSet<String>,
    pub launched: BTreeSet<String>,
    /// Observers that examined a process or its launches, with or without results.
    pub watched_loaded: BTreeSet<String>,
    pub watched_launched: BTreeSet<String>,
    /// Whether launches were lost or not seen.
    pub launches_partial: bool,
    /// Second accounts that all watches of launches share.
    pub launches_accounts: Option<BTreeSet<Witness>>,
}

/// A file, identified by its hash.
#[derive(Default)]
pub struct Build {
    pub label: String,
    pub runtimes: BTreeSet<String>,
    /// Target, kernels, observation.
    pub targets: BTreeMap<String, (String, Option<ObservationId>)>,
    pub bundles: BTreeMap<String, String>,
    pub facts: Vec<(Rung, say::Kept, ObservationId)>,
    pub read: Read,
}

/// A kernel catalog, like those of rocBLAS and hipBLASLt.
#[derive(Default)]
pub struct Catalog {
    /// Target, files, observation.
    pub targets: BTreeMap<String, (String, ObservationId)>,
    /// Targets, and whether the catalog serves them.
    pub serves: BTreeMap<String, (String, ObservationId)>,
    /// Targets whose files were listed completely, by how certain that is.
    pub listed: BTreeMap<String, Read>,
}

impl Stack {
    pub fn read(study: &Study<'_>) -> Stack {
        let mut stack = Stack::default();
        for recorded in study.input.observations {
            stack.catalog(recorded);
            let subject = recorded.subject();
            let views = &recorded.field_of_view().views;
            let looked = !matches!(recorded.finding(), Finding::Blocked { .. });
            let who = &recorded.observer().name;
            if recorded.rung() == Rung::Loaded && looked && views.iter().any(|view| view.topic.starts_with("library")) {
                stack.watched_loaded.insert(who.clone());
            }
            if recorded.rung() == Rung::Launched && looked && recorded.contaminated().is_none() {
                stack.launches_of(recorded);
            }
            let mut build = None;
            if let Artifact::File { name, sha256 } = &subject.artifact {
                let entry = stack.files.entry(name.clone()).or_default().entry(sha256.clone()).or_default();
                entry.label = study.file_label(subject).unwrap_or_default();
                entry.runtimes.extend(subject.runtime.clone());
                if *recorded.finding() == Finding::Swept && views.iter().any(|view| view.topic == "file.target") {
                    entry.read = entry.read.max(Read::of(recorded.coverage()));
                }
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
                ("library", _) if recorded.rung() == Rung::Loaded && !fact.value.is_nothing() => {
                    stack.watched_loaded.insert(recorded.observer().name.clone());
                    stack.loaded.extend(about("name"));
                }
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
        stack.by_soname();
        stack
    }

    fn launches_of(&mut self, recorded: &Recorded) {
        let coverage = recorded.coverage();
        self.watched_launched.insert(recorded.observer().name.clone());
        self.launches_partial |= !coverage.is_complete();
        let all = self.launches_accounts.get_or_insert_with(|| coverage.accounts.clone());
        all.retain(|witness| coverage.accounts.contains(witness));
    }

    /// Did all libraries that were seen as loaded also launch something? None if none was loaded, or launches were not
    /// observed.
    pub fn all_launch(&self) -> Option<Conclusion> {
        let (first, loaded) = (self.watched_launched.iter().next()?, self.loaded.len() as u64);
        let silent = self.loaded.iter().filter(|name| !self.launched.contains(*name)).count() as u64;
        let mut basis = Basis::new(first, ["libraries"], Rung::Launched, Unit::Libraries, loaded, loaded);
        basis = self.watched_launched.iter().chain(&self.watched_loaded).fold(basis, |basis, who| basis.by(who));
        if self.launches_partial {
            basis = basis.without("launches", None, LeftOutWhy::InPart);
        }
        for witness in self.launches_accounts.iter().flatten() {
            basis = basis.account(Account::searched(*witness));
        }
        (loaded > 0).then(|| basis.of_all(silent))
    }

    /// Facts about a kernel catalog: files, whether it serves, and that every name in it was read.
    fn catalog(&mut self, recorded: &Recorded) {
        let (fact, views) = (recorded.fact(), &recorded.field_of_view().views);
        let library = match fact {
            Some(fact) if ["catalog.files", "catalog.serves"].contains(&fact.topic.as_str()) => {
                fact.about.get("library")
            }
            None if *recorded.finding() == Finding::Swept && recorded.coverage().is_complete() => {
                views.iter().find(|view| view.topic == "catalog.files").and_then(|view| view.about.get("library"))
            }
            _ => None,
        };
        let (Some(library), Some(target)) = (library, recorded.subject().target.clone()) else { return };
        let runtime = recorded.subject().runtime.clone().unwrap_or_default();
        let catalog = self.catalogs.entry(format!("lib{library}.so")).or_default().entry(runtime).or_default();
        let said = |fact: &evidence::Fact| (fact.value.to_string(), recorded.id().clone());
        match fact {
            Some(fact) if fact.topic == "catalog.files" => {
                catalog.targets.insert(target, said(fact));
            }
            Some(fact) => {
                catalog.serves.insert(target, said(fact));
            }
            None => {
                let read = catalog.listed.entry(target).or_default();
                *read = (*read).max(Read::of(recorded.coverage()));
            }
        }
    }

    /// A file gets the name that its dependents use: `librocblas.so.4.4` is `librocblas.so.4`. Its catalog gets the
    /// same name.
    fn by_soname(&mut self) {
        let needed: BTreeSet<String> = self.needs.values().flatten().cloned().collect();
        let soname = |name: &str| {
            let longer = |known: &&String| name.strip_prefix(known.as_str()).is_some_and(|rest| rest.starts_with('.'));
            needed.iter().filter(|_| !needed.contains(name)).find(longer).cloned()
        };
        for (name, builds) in std::mem::take(&mut self.files) {
            self.files.entry(soname(&name).unwrap_or(name)).or_default().extend(builds);
        }
        for names in [&mut self.loaded, &mut self.launched] {
            *names = std::mem::take(names).into_iter().map(|name| soname(&name).unwrap_or(name)).collect();
        }
        let names = self.names();
        for (name, catalogs) in std::mem::take(&mut self.catalogs) {
            let longer = |known: &&String| known.strip_prefix(&name).is_some_and(|rest| rest.starts_with('.'));
            self.catalogs.insert(names.iter().find(longer).cloned().unwrap_or(name), catalogs);
        }
    }

    pub fn names(&self) -> BTreeSet<String> {
        let needed = self.needs.iter().flat_map(|(from, to)| std::iter::once(from).chain(to));
        let files = self.files.keys().chain(self.catalogs.keys());
        needed.chain(files).chain(&self.loaded).chain(&self.launched).cloned().collect()
    }

    /// Libraries that no other one needs.
    pub fn roots(&self) -> Vec<String> {
        let needed: BTreeSet<&String> = self.needs.values().flatten().collect();
        self.names().into_iter().filter(|name| !needed.contains(name)).collect()
    }

    /// Libraries that have a page.
    pub fn pages(&self) -> BTreeSet<&String> {
        self.files.keys().chain(self.catalogs.keys()).collect()
    }

    /// The number of targets for which any build of it, or its catalog, has code.
    pub fn targets(&self, name: &str) -> usize {
        let builds = self.files.get(name).into_iter().flat_map(BTreeMap::values);
        let catalogs = self.catalogs.get(name).into_iter().flat_map(BTreeMap::values);
        let files = catalogs.flat_map(|catalog| catalog.targets.keys());
        builds.flat_map(|build| build.targets.keys()).chain(files).collect::<BTreeSet<_>>().len()
    }
}

/// Topics that have no page of their own here: kernels are in the inventory, paths on the map.
fn is_plain(topic: &str) -> bool {
    !["matmul", "kernel", "blas", "isa"].iter().any(|elsewhere| topic.starts_with(elsewhere))
}
