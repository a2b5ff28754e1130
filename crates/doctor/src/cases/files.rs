//! Files of the wrong release, and files that are not there for this target.

use crate::cases::{Case, Weight, places};
use crate::environment::override_target;
use crate::message::Message;
use crate::{Facts, rocm};

pub fn find(facts: &Facts) -> Vec<Case> {
    let mut cases = catalogs(facts);
    cases.extend(mixed_in_process(facts));
    cases.extend(mixed_on_host(facts));
    cases
}

/// rocBLAS without a file for this target cannot run a GEMM on it; hipBLASLt falls back, with one line.
fn catalogs(facts: &Facts) -> Vec<Case> {
    // With the override, the runtime looks for the other target's files.
    let forced = places(facts, "HSA_OVERRIDE_GFX_VERSION").into_iter().find_map(|(_, value)| override_target(value));
    let targets: Vec<String> = match forced {
        Some(target) if !facts.gpus.is_empty() => vec![target],
        _ => facts.gpus.iter().filter(|gpu| !gpu.integrated).filter_map(|gpu| gpu.target.clone()).collect(),
    };
    let mut cases = Vec::new();
    for catalog in &facts.catalogs {
        for target in &targets {
            let says = |key| {
                Message::new(key)
                    .with("library", catalog.library)
                    .with("directory", &catalog.directory)
                    .with("target", target)
                    .with("others", catalog.targets.keys().cloned().collect::<Vec<_>>().join(" "))
            };
            if !catalog.targets.contains_key(target) {
                let case = Case::new("catalog-missing", Weight::Problem, says("doctor-case-catalog-missing"));
                cases.push(case.say("doctor-case-catalog-fix"));
            } else if !catalog.indexed.is_empty() && !catalog.indexed.contains(target) {
                let case = Case::new("catalog-no-index", Weight::Problem, says("doctor-case-catalog-no-index"));
                cases.push(case.say("doctor-case-catalog-fix"));
            }
        }
    }
    cases
}

fn mixed_in_process(facts: &Facts) -> Vec<Case> {
    let mixed = facts.servers.running.iter().filter(|process| process.releases().len() > 1);
    let case = |process: &crate::Process| {
        let what = Message::new("doctor-case-mixed-process")
            .with("pid", process.pid)
            .with("server", process.role.name())
            .with("releases", process.releases().join(", "));
        Case::new("mixed-in-process", Weight::Problem, what).say("doctor-case-mixed-process-fix")
    };
    mixed.map(case).collect()
}

fn mixed_on_host(facts: &Facts) -> Option<Case> {
    let versions = rocm::versions(&facts.rocm);
    if versions.len() < 2 {
        return None;
    }
    let places: Vec<String> = facts
        .rocm
        .iter()
        .filter_map(|release| Some(format!("{} {}", release.version.as_deref()?, release.directory)))
        .collect();
    let what = Message::new("doctor-case-mixed-host").with("places", places.join("; "));
    Some(Case::new("mixed-on-host", Weight::Warning, what).say("doctor-case-mixed-host-fix"))
}
