//! Variables that make a GPU something else, hide it, or never reach the server.

use crate::Facts;
use crate::cases::{Case, Weight, places, set_in_unit};
use crate::environment::override_target;
use crate::host::Look;
use crate::message::Message;

pub fn find(facts: &Facts) -> Vec<Case> {
    let mut cases = overrides(facts);
    cases.extend(hidden(facts));
    cases.extend(shell_only(facts));
    cases.extend(forced_library(facts));
    cases.extend(chatty(facts));
    cases.extend(unseen(facts));
    cases
}

/// The override makes the runtime load another target's code objects. Right for a card without its own, wrong for one with.
fn overrides(facts: &Facts) -> Vec<Case> {
    let targets = facts.targets();
    let mut cases = Vec::new();
    for (place, value) in places(facts, "HSA_OVERRIDE_GFX_VERSION") {
        let says = |key| Message::new(key).with("place", &place).with("value", value);
        let Some(target) = override_target(value) else {
            cases.push(
                Case::new("override-unreadable", Weight::Problem, says("doctor-case-override-unreadable"))
                    .run(unset(&place)),
            );
            continue;
        };
        if targets.is_empty() {
            continue;
        }
        let real = targets.join(", ");
        if targets.contains(&target.as_str()) {
            if targets.len() == 1 {
                let what = says("doctor-case-override-idle").with("target", &target);
                cases.push(Case::new("override-idle", Weight::Note, what).run(unset(&place)));
            }
        } else {
            let what = says("doctor-case-override").with("target", &target).with("real", real);
            cases.push(Case::new("override", Weight::Problem, what).run(unset(&place)));
        }
    }
    cases
}

fn unset(place: &str) -> String {
    let name = "HSA_OVERRIDE_GFX_VERSION";
    if place.ends_with(".service") {
        "sudo systemctl edit ollama && sudo systemctl restart ollama".to_owned()
    } else if place == "shell" {
        format!("unset {name}")
    } else {
        format!("env -u {name} ollama serve")
    }
}

/// An empty list, -1, or an index beyond the last GPU leaves none (or fewer).
fn hidden(facts: &Facts) -> Vec<Case> {
    let mut cases = Vec::new();
    for name in ["ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"] {
        for (place, value) in places(facts, name) {
            let wrong = |word: &str| match word.trim().parse::<i64>() {
                Ok(index) => index < 0 || usize::try_from(index).is_ok_and(|index| index >= facts.gpus.len()),
                // A UUID, or nothing.
                Err(_) => word.trim().is_empty(),
            };
            if !facts.gpus.is_empty() && value.split(',').all(wrong) {
                let what =
                    Message::new("doctor-case-hidden").with("name", name).with("value", value).with("place", &place);
                cases.push(
                    Case::new("hidden", Weight::Problem, what.with("count", facts.gpus.len()))
                        .say("doctor-case-hidden-fix"),
                );
            }
        }
    }
    cases
}

/// What is exported in a shell does not reach a service that systemd started.
fn shell_only(facts: &Facts) -> Vec<Case> {
    let Some(server) = facts.servers.running.iter().find(|process| process.environment.found().is_some()) else {
        return Vec::new();
    };
    let has_unit = facts.servers.units.iter().any(|unit| unit.path.ends_with("/ollama.service"));
    let decides = |name: &str| {
        // In a shell OLLAMA_HOST is for the client.
        let prefix = ["HSA_", "OLLAMA_", "ROCBLAS_"].iter().any(|prefix| name.starts_with(prefix));
        name != "OLLAMA_HOST" && (prefix || name.ends_with("_VISIBLE_DEVICES"))
    };
    let told = |value: &str| !value.is_empty() && value != ledger::redact::MARK;
    let shell = facts.environment.iter().filter(|variable| decides(&variable.name) && told(&variable.value));
    let missing = shell.filter(|variable| server.variable(&variable.name) != Some(&variable.value));
    let case = |variable: &crate::Variable| {
        let what = Message::new("doctor-case-shell-only")
            .with("name", &variable.name)
            .with("value", &variable.value)
            .with("pid", server.pid)
            .with("server", server.role.name());
        let case = Case::new("shell-only", Weight::Warning, what);
        if has_unit {
            case.run(set_in_unit(&variable.name, &variable.value))
        } else {
            case.say("doctor-case-shell-only-fix")
        }
    };
    missing.map(case).collect()
}

fn forced_library(facts: &Facts) -> Option<Case> {
    let (place, value) = places(facts, "OLLAMA_LLM_LIBRARY").into_iter().next()?;
    let there = facts.servers.ollama_libraries.iter().any(|path| path.rsplit('/').next() == Some(value));
    let (key, weight) =
        if there { ("doctor-case-forced", Weight::Note) } else { ("doctor-case-forced-missing", Weight::Problem) };
    let what = Message::new(key).with("value", value).with("place", place);
    Some(Case::new("forced-library", weight, what).run("sudo systemctl edit ollama && sudo systemctl restart ollama"))
}

/// A log that somebody left on: every launch or BLAS call prints a line.
fn chatty(facts: &Facts) -> Vec<Case> {
    let mut cases = Vec::new();
    for process in &facts.servers.running {
        for name in ["AMD_LOG_LEVEL", "ROCBLAS_LAYER", "TENSILE_DB", "HIPBLASLT_LOG_MASK"] {
            if let Some(value) = process.variable(name).filter(|value| *value != "0") {
                let what =
                    Message::new("doctor-case-chatty").with("name", name).with("value", value).with("pid", process.pid);
                cases.push(Case::new("chatty", Weight::Note, what));
            }
        }
    }
    cases
}

/// Another user's environment cannot be read: say so, instead of saying that nothing is set.
fn unseen(facts: &Facts) -> Option<Case> {
    let hidden = facts.servers.running.iter().find(|process| process.environment == Look::Denied)?;
    let what = Message::new("doctor-case-unseen").with("pid", hidden.pid).with("server", hidden.role.name());
    Some(Case::new("unseen", Weight::Note, what).run("sudo whichkernel doctor"))
}
