//! Files of the wrong release, and missing files for this target.

use crate::cases::places::places;
use crate::cases::{Case, Weight};
use crate::environment::override_target;
use crate::{Facts, rocm};
use gpu::{Arch, TargetId};
use say::{key, say};

pub fn find(facts: &Facts) -> Vec<Case> {
    let mut cases = catalogs(facts);
    cases.extend(device_code(facts));
    cases.extend(mixed_in_process(facts));
    cases.extend(mixed_on_host(facts));
    cases
}

/// Without a file for this target, rocBLAS cannot run a GEMM on it. hipBLASLt prints one line and falls back.
fn catalogs(facts: &Facts) -> Vec<Case> {
    let mut cases = Vec::new();
    for catalog in &facts.catalogs {
        for target in &targets(facts) {
            // Matches the target's exact name: unlike HIP, Tensile does not look for a generic target's files.
            if !catalog.targets.contains_key(target) {
                let case = Case::new(
                    "catalog-missing",
                    Weight::Problem,
                    say!(
                        "doctor-case-catalog-missing",
                        library = catalog.library,
                        directory = catalog.directory,
                        target,
                        others = catalog.targets.keys().cloned().collect::<Vec<_>>().join(" ")
                    ),
                );
                cases.push(case.say(key!("doctor-case-catalog-fix")));
            } else if !catalog.indexed.is_empty() && !catalog.indexed.contains(target) {
                let case = Case::new(
                    "catalog-no-index",
                    Weight::Problem,
                    say!(
                        "doctor-case-catalog-no-index",
                        library = catalog.library,
                        directory = catalog.directory,
                        target
                    ),
                );
                cases.push(case.say(key!("doctor-case-catalog-fix")));
            }
        }
    }
    cases
}

/// The targets that the runtime looks for. An override replaces the card's own target.
fn targets(facts: &Facts) -> Vec<String> {
    let forced = places(facts, "HSA_OVERRIDE_GFX_VERSION").into_iter().find_map(|(_, value)| override_target(value));
    match forced {
        Some(target) if !facts.gpus.is_empty() => vec![target],
        _ => facts.gpus.iter().filter(|gpu| !gpu.integrated).filter_map(|gpu| gpu.target.clone()).collect(),
    }
}

/// The target whose code the device would load: its own or a generic one. None if neither is shipped.
fn takes<'t>(target: &str, shipped: impl IntoIterator<Item = &'t String>) -> Option<String> {
    let device = Arch::Amd(TargetId::parse(target)?);
    device.takes(shipped.into_iter().map(String::as_str)).map(|taken| taken.code.to_owned())
}

/// Finds libraries without code for this card. A library whose code is in archives needs the archive for this card.
fn device_code(facts: &Facts) -> Vec<Case> {
    let disabled = places(facts, "ROCM_KPACK_DISABLE").into_iter().find(|(_, value)| !matches!(*value, "" | "0"));
    let mut cases = Vec::new();
    for code in &facts.device_code {
        let paths = code.packed.as_ref().map(|packed| packed.search_paths.join(" ")).unwrap_or_default();
        if let (Some((place, _)), true) = (disabled, code.packed.is_some()) {
            let what = say!("doctor-case-kpack-disabled", library = code.library, place = place.name());
            let case = Case::new("kpack-disabled", Weight::Problem, what);
            cases.push(case.with_fix(place.unset("ROCM_KPACK_DISABLE")));
            continue;
        }
        for target in targets(facts) {
            match takes(&target, &code.targets) {
                None if code.packed.is_some() => {
                    let what = say!(
                        "doctor-case-kpack-missing",
                        library = code.library,
                        paths,
                        others = if code.targets.is_empty() { "-".to_owned() } else { code.targets.join(" ") },
                        target
                    );
                    cases.push(Case::new("kpack-missing", Weight::Problem, what).say(key!("doctor-case-kpack-fix")));
                }
                // The library may be one of several backends, and the program may use another one.
                None => {
                    let what = say!(
                        "doctor-case-no-code",
                        library = code.library,
                        others = if code.targets.is_empty() { "-".to_owned() } else { code.targets.join(" ") },
                        target
                    );
                    cases.push(Case::new("no-device-code", Weight::Warning, what).say(key!("doctor-case-no-code-fix")));
                }
                Some(taken) if !taken.starts_with(&target) => {
                    let what = say!("doctor-case-generic-code", library = code.library, target, taken);
                    cases.push(Case::new("generic-code", Weight::Note, what));
                }
                Some(_) => {}
            }
        }
        if facts.gpus.is_empty() && code.packed.as_ref().is_some_and(|packed| packed.archives.is_empty()) {
            let case = Case::new(
                "kpack-missing",
                Weight::Warning,
                say!("doctor-case-kpack-none", library = code.library, paths),
            );
            cases.push(case.say(key!("doctor-case-kpack-fix")));
        }
    }
    cases
}

fn mixed_in_process(facts: &Facts) -> Vec<Case> {
    let mixed = facts.servers.running.iter().filter(|process| process.releases().len() > 1);
    let case = |process: &crate::Process| {
        let what = say!(
            "doctor-case-mixed-process",
            pid = process.pid,
            server = process.role.name(),
            releases = process.releases()
        );
        Case::new("mixed-in-process", Weight::Problem, what).say(key!("doctor-case-mixed-process-fix"))
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
    let what = say!("doctor-case-mixed-host", places = places.join("; "));
    Some(Case::new("mixed-on-host", Weight::Warning, what).say(key!("doctor-case-mixed-host-fix")))
}
