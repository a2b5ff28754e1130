//! The logs that a library writes when a variable is set. They need a restart but no permission. Doctor does not run a
//! library with the variable, so the verdict is never `works`; it only states whether the library supports the
//! variable.

use crate::fix::{Fix, set_in_unit};
use crate::verdicts::{Status, Verdict};
use crate::{Facts, Trials};
use say::{key, say};

pub fn log(name: &'static str, variable: &'static str, value: &str, facts: &Facts, trials: &Trials) -> Verdict {
    let switches = || trials.switches.iter().filter(|switch| switch.variable == variable);
    let Some(known) = switches().find(|switch| switch.known == Some(true)) else {
        let why = match switches().next() {
            Some(switch) => say!("doctor-log-unknown", variable, library = switch.library),
            None => say!("doctor-log-absent", variable),
        };
        // Without an AMD GPU, nothing is missing, so there is no fix.
        let fix = if facts.gpus.is_empty() { None } else { Fix::say(key!("doctor-log-absent-fix")) };
        return Verdict::new(name, Status::Absent, why, fix);
    };
    let set = facts.servers.running.iter().find_map(|process| {
        let value = process.variable(variable)?;
        Some(say!("doctor-log-set", variable, pid = process.pid, value))
    });
    let why = say!("doctor-log-untested", variable, library = known.library);
    let fix = if set.is_some() || facts.gpus.is_empty() { None } else { restart(facts, variable, value) };
    Verdict::new(name, Status::Untested, why, fix).and(set)
}

/// How to start this host's server with the variable.
fn restart(facts: &Facts, variable: &str, value: &str) -> Option<Fix> {
    if let Some(unit) = facts.servers.ollama_unit() {
        return Some(set_in_unit(unit, variable, value));
    }
    let llama = facts.servers.binaries.iter().find(|binary| binary.path.ends_with("/llama-server"));
    let server = llama.map_or_else(|| "ollama serve".to_owned(), |binary| say::shell::word(&binary.path));
    Some(Fix::Do(say!("doctor-log-restart-fix", variable, value, server)))
}
