//! Determines the downloads of a fetch, before anything large is downloaded.

use super::{
    Request,
    apt::{Apt, DEFAULT_KEYRING},
    execute::Plan,
    resolve::{Universe, closure},
    sources::system_mirror,
    suites::{SUITES, Suite, suite},
    targets::is_target,
};
use crate::{
    cache::Cache,
    error::{Error, Result},
    index::Index,
};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum Planned {
    /// The cache already has everything; the network was not used.
    Here(Box<Index>),
    Fetch(Box<Plan>),
}

/// Reads the suite's index and determines packages and sizes. With `update` false, a cached runtime with the requested
/// parts and targets is used unchanged.
pub fn plan(cache: &Cache, request: &Request, update: bool) -> Result<Planned> {
    let suite = suite(&request.suite).ok_or_else(|| Error::UnknownSuite {
        name: request.suite.clone(),
        known: SUITES.iter().map(|suite| suite.name.to_owned()).collect(),
    })?;
    let old = Index::read(&cache.runtime(suite.name)).ok();
    let parts = parts(suite, request, old.as_ref())?;
    let targets = targets(suite, request, old.as_ref())?;
    if let Some(old) = old.as_ref()
        && !update
        && parts.iter().all(|part| old.parts.contains(part))
        && covers(suite, old, &targets)
    {
        return Ok(Planned::Here(Box::new(old.clone())));
    }
    let system = system_mirror(Path::new("/etc/apt"));
    let mirror = request.mirror.clone().or_else(|| system.as_ref().map(|mirror| mirror.uri.clone()));
    let mirror = mirror.ok_or(Error::NoMirror)?;
    let keyring = request
        .keyring
        .clone()
        .or_else(|| system.and_then(|mirror| mirror.keyring))
        .unwrap_or_else(|| PathBuf::from(DEFAULT_KEYRING));
    let with_advice = |error| match error {
        Error::NoApt { .. } => Error::NoApt { advice: advice(suite, &parts) },
        other => other,
    };
    let apt = Apt::new(&cache.apt(suite.name), &mirror, &keyring, suite.suites)?;
    apt.update().map_err(with_advice)?;
    let indices = apt.indices(suite.suites)?;
    let names: Vec<&str> = parts.iter().map(String::as_str).collect();
    let closure = closure(suite, &names, &Universe::new(&indices))?;
    Ok(Planned::Fetch(Box::new(Plan { suite, parts, targets, mirror, closure, apt, old })))
}

/// The requested and the existing parts, in the suite's order.
fn parts(suite: &Suite, request: &Request, old: Option<&Index>) -> Result<Vec<String>> {
    for name in &request.parts {
        if suite.part(name).is_none() {
            return Err(Error::UnknownPart {
                name: name.clone(),
                suite: suite.name.to_owned(),
                known: suite.parts.iter().map(|part| part.name.to_owned()).collect(),
            });
        }
    }
    let asked = |name: &str| match request.parts.is_empty() {
        true => suite.default_parts.contains(&name),
        false => request.parts.iter().any(|part| part == name),
    };
    let there = |name: &str| old.is_some_and(|old| old.parts.iter().any(|part| part == name));
    Ok(suite.parts.iter().map(|part| part.name).filter(|name| asked(name) || there(name)).map(str::to_owned).collect())
}

/// The requested and the existing targets; empty means all.
fn targets(suite: &Suite, request: &Request, old: Option<&Index>) -> Result<Vec<String>> {
    let there = old.filter(|old| has_split_part(suite, old)).map(|old| old.targets.as_slice());
    let Some(asked) = &request.targets else { return Ok(there.unwrap_or_default().to_vec()) };
    if let Some(name) = asked.iter().find(|name| !is_target(name)) {
        return Err(Error::BadTarget { name: name.clone() });
    }
    if asked.is_empty() || there.is_some_and(<[String]>::is_empty) {
        return Ok(Vec::new());
    }
    let mut all: Vec<String> = asked.iter().chain(there.unwrap_or_default()).cloned().collect();
    all.sort();
    all.dedup();
    Ok(all)
}

fn covers(suite: &Suite, old: &Index, targets: &[String]) -> bool {
    !has_split_part(suite, old)
        || old.targets.is_empty()
        || (!targets.is_empty() && targets.iter().all(|target| old.targets.contains(target)))
}

fn has_split_part(suite: &Suite, index: &Index) -> bool {
    index.parts.iter().any(|name| suite.part(name).is_some_and(|part| part.split))
}

/// Instructions for systems without apt: the packages to download manually.
fn advice(suite: &Suite, parts: &[String]) -> String {
    let packages: Vec<&str> =
        parts.iter().filter_map(|name| suite.part(name)).flat_map(|part| part.packages).copied().collect();
    format!(
        "download these packages and what they depend on from https://packages.debian.org/{} (amd64): {}; then \
         `whichkernel runtime add --name {} *.deb`",
        suite.suites.first().copied().unwrap_or_default(),
        packages.join(", "),
        suite.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(parts: &[&str], targets: &[&str]) -> Index {
        let own = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        Index {
            name: "debian-sid".into(),
            origin: String::new(),
            linked: false,
            date: String::new(),
            parts: own(parts),
            targets: own(targets),
            files: 0,
            bytes: 0,
            packages: vec![],
            left_out: vec![],
            refused: vec![],
        }
    }

    fn asked(targets: Option<&[&str]>) -> Request {
        let targets = targets.map(|list| list.iter().map(|s| (*s).to_owned()).collect());
        Request { suite: "debian-sid".into(), targets, ..Request::default() }
    }

    #[test]
    fn targets_add_up_and_never_shrink_what_is_there() {
        let suite = suite("debian-sid").unwrap();
        let with = |request: Option<&[&str]>, old: Option<&Index>| targets(suite, &asked(request), old).unwrap();
        let (small, some, whole) = (index(&["ggml"], &[]), index(&["rocblas"], &["gfx900"]), index(&["rocblas"], &[]));
        assert_eq!(with(Some(&["gfx1100"]), None), ["gfx1100"]);
        assert_eq!(with(Some(&["gfx1100"]), Some(&small)), ["gfx1100"]);
        assert_eq!(with(Some(&["gfx1100"]), Some(&some)), ["gfx1100", "gfx900"]);
        assert_eq!(with(Some(&["gfx1100"]), Some(&whole)), [""; 0]);
        assert_eq!(with(None, Some(&some)), ["gfx900"]);
        assert_eq!(with(Some(&[]), Some(&some)), [""; 0]);
        assert!(matches!(targets(suite, &asked(Some(&["rx580"])), None), Err(Error::BadTarget { .. })));
    }

    #[test]
    fn a_cached_runtime_that_has_it_all_needs_no_network() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let place = cache.runtime("debian-sid");
        std::fs::create_dir_all(&place).unwrap();
        index(&["ggml", "tools", "rocblas"], &["gfx1100", "gfx900"]).write(&place).unwrap();
        let mut request = asked(Some(&["gfx900"]));
        assert!(matches!(plan(&cache, &request, false), Ok(Planned::Here(_))));
        request.parts = vec!["nonsense".into()];
        assert!(matches!(plan(&cache, &request, false), Err(Error::UnknownPart { .. })));
        request.suite = "debian-etch".into();
        assert!(matches!(plan(&cache, &request, false), Err(Error::UnknownSuite { .. })));
    }
}
