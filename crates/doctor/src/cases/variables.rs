//! Variables that change the GPU's identity, hide it, or never reach the server.

use crate::cases::places::places;
use crate::cases::{Case, Weight};
use crate::environment::override_target;
use crate::fix::set_in_unit;
use crate::{Facts, Look};
use say::{key, say};

pub fn find(facts: &Facts) -> Vec<Case> {
    let mut cases = overrides(facts);
    cases.extend(hidden(facts));
    cases.extend(shell_only(facts));
    cases.extend(forced_library(facts));
    cases.extend(chatty(facts));
    cases.extend(unseen(facts));
    cases
}

/// The override makes the runtime load another target's code objects. This is right for a card without code of its own,
/// and wrong for any other card. `HSA_OVERRIDE_GFX_VERSION_1` applies only to node 1 of the topology, and takes
/// precedence over the variable without a number (topology.c of libhsakmt).
fn overrides(facts: &Facts) -> Vec<Case> {
    let mut cases = one_override(facts, OVERRIDE, &facts.targets());
    let mut names: Vec<&str> = all_variables(facts).filter(|name| node_of(name).is_some()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let gpu = facts.gpus.iter().find(|gpu| node_of(name) == Some(&gpu.node));
        let targets: Vec<&str> = gpu.and_then(|gpu| gpu.target.as_deref()).into_iter().collect();
        if targets.is_empty() && !facts.gpus.is_empty() {
            cases.extend(places(facts, name).into_iter().map(|(place, value)| {
                let nodes: Vec<&str> = facts.gpus.iter().map(|gpu| gpu.node.as_str()).collect();
                let what = say!("doctor-case-override-nowhere", place = place.name(), name, value, nodes);
                Case::new("override-nowhere", Weight::Warning, what).with_fix(place.unset(name))
            }));
            continue;
        }
        cases.extend(one_override(facts, name, &targets));
    }
    cases
}

const OVERRIDE: &str = "HSA_OVERRIDE_GFX_VERSION";

/// The node that a numbered override applies to.
fn node_of(name: &str) -> Option<&str> {
    let number = name.strip_prefix(OVERRIDE)?.strip_prefix('_')?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)
}

/// The names of all variables that are set in any process, in any unit or in this shell.
fn all_variables(facts: &Facts) -> impl Iterator<Item = &str> {
    let processes = facts.servers.running.iter().filter_map(|process| process.environment.found()).flatten();
    let units = facts.servers.units.iter().flat_map(|unit| &unit.environment);
    processes.chain(units).chain(&facts.environment).map(|variable| variable.name.as_str())
}

fn one_override(facts: &Facts, name: &str, targets: &[&str]) -> Vec<Case> {
    let mut cases = Vec::new();
    for (place, value) in places(facts, name) {
        let case = |id, weight, what| Case::new(id, weight, what).with_fix(place.unset(name));
        let Some(target) = override_target(value) else {
            cases.push(case(
                "override-unreadable",
                Weight::Problem,
                say!("doctor-case-override-unreadable", place = place.name(), name, value),
            ));
            continue;
        };
        if targets.is_empty() {
            continue;
        }
        if !targets.contains(&target.as_str()) {
            let what = say!("doctor-case-override", place = place.name(), name, value, target, real = targets);
            cases.push(case("override", Weight::Problem, what));
        } else if targets.len() == 1 {
            let what = say!("doctor-case-override-idle", place = place.name(), name, value, target);
            cases.push(case("override-idle", Weight::Note, what));
        }
    }
    cases
}

/// An empty list, or a list with only -1 and indices beyond the last GPU, hides all GPUs.
fn hidden(facts: &Facts) -> Vec<Case> {
    let mut cases = Vec::new();
    for name in ["ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"] {
        for (place, value) in places(facts, name) {
            let wrong = |word: &str| match word.trim().parse::<i64>() {
                Ok(index) => index < 0 || usize::try_from(index).is_ok_and(|index| index >= facts.gpus.len()),
                // A UUID may name a GPU. An empty text names none.
                Err(_) => word.trim().is_empty(),
            };
            if !facts.gpus.is_empty() && value.split(',').all(wrong) {
                let what = say!("doctor-case-hidden", name, value, place = place.name(), count = facts.gpus.len());
                cases.push(Case::new("hidden", Weight::Problem, what).with_fix(place.unset(name)));
            }
        }
    }
    cases
}

/// A variable exported in a shell does not reach a service that systemd started.
fn shell_only(facts: &Facts) -> Vec<Case> {
    let Some(server) = facts.servers.running.iter().find(|process| process.environment.found().is_some()) else {
        return Vec::new();
    };
    let decides = |name: &str| {
        // In a shell, OLLAMA_HOST is meant for the client, not for the server.
        let prefix = ["HSA_", "OLLAMA_", "ROCBLAS_"].iter().any(|prefix| name.starts_with(prefix));
        name != "OLLAMA_HOST" && (prefix || name.ends_with("_VISIBLE_DEVICES"))
    };
    let told = |value: &str| !value.is_empty() && value != ledger::redact::MARK;
    let shell = facts.environment.iter().filter(|variable| decides(&variable.name) && told(&variable.value));
    let missing = shell.filter(|variable| server.variable(&variable.name) != Some(&variable.value));
    let case = |variable: &crate::Variable| {
        let what = say!(
            "doctor-case-shell-only",
            name = variable.name,
            value = variable.value,
            pid = server.pid,
            server = server.role.name()
        );
        let case = Case::new("shell-only", Weight::Warning, what);
        match facts.servers.ollama_unit() {
            Some(unit) => case.with_fix(set_in_unit(unit, &variable.name, &variable.value)),
            None => case.say(key!("doctor-case-shell-only-fix")),
        }
    };
    missing.map(case).collect()
}

fn forced_library(facts: &Facts) -> Option<Case> {
    let (place, value) = places(facts, "OLLAMA_LLM_LIBRARY").into_iter().next()?;
    let there = facts.servers.ollama_libraries.iter().any(|path| path.rsplit('/').next() == Some(value));
    let (what, weight) = match there {
        true => (say!("doctor-case-forced", value, place = place.name()), Weight::Note),
        false => (say!("doctor-case-forced-missing", value, place = place.name()), Weight::Problem),
    };
    Some(Case::new("forced-library", weight, what).with_fix(place.unset("OLLAMA_LLM_LIBRARY")))
}

/// A log that was left enabled: every launch or BLAS call prints a line.
fn chatty(facts: &Facts) -> Vec<Case> {
    let mut cases = Vec::new();
    for process in &facts.servers.running {
        for name in ["AMD_LOG_LEVEL", "ROCBLAS_LAYER", "TENSILE_DB", "HIPBLASLT_LOG_MASK"] {
            if let Some(value) = process.variable(name).filter(|value| *value != "0") {
                let what = say!("doctor-case-chatty", name, value, pid = process.pid);
                cases.push(Case::new("chatty", Weight::Note, what));
            }
        }
    }
    cases
}

/// If another user's environment cannot be read, reports that instead of claiming that nothing is set.
fn unseen(facts: &Facts) -> Option<Case> {
    let hidden = facts.servers.running.iter().find(|process| process.environment == Look::Denied)?;
    let what = say!("doctor-case-unseen", pid = hidden.pid, server = hidden.role.name());
    Some(Case::new("unseen", Weight::Note, what).run("sudo whichkernel doctor"))
}
