//! The logs that a library writes when a variable is set. No permission is needed, but a restart is; and nothing
//! here has run with the variable, so `works` is never said, only that the library knows it.

use crate::Facts;
use crate::cases::set_in_unit;
use crate::message::Message;
use crate::trials::Trials;
use crate::verdicts::{Fix, Status, Verdict};

pub fn log(name: &'static str, variable: &'static str, value: &str, facts: &Facts, trials: &Trials) -> Verdict {
    let switches = || trials.switches.iter().filter(|switch| switch.variable == variable);
    let says = |key| Message::new(key).with("variable", variable);
    let Some(known) = switches().find(|switch| switch.known == Some(true)) else {
        let why = match switches().next() {
            Some(switch) => says("doctor-log-unknown").with("library", &switch.library),
            None => says("doctor-log-absent"),
        };
        // Where no AMD GPU is, nothing is missing.
        let fix = if facts.gpus.is_empty() { None } else { Fix::say("doctor-log-absent-fix") };
        return Verdict::new(name, Status::Absent, why, fix);
    };
    let set = facts.servers.running.iter().find_map(|process| {
        let value = process.variable(variable)?;
        Some(says("doctor-log-set").with("pid", process.pid).with("value", value))
    });
    let why = says("doctor-log-untested").with("library", &known.library);
    let fix = if set.is_some() || facts.gpus.is_empty() { None } else { Fix::run(restart(facts, variable, value)) };
    Verdict::new(name, Status::Untested, why, fix).and(set)
}

/// How this host's server would be started with the variable.
fn restart(facts: &Facts, variable: &str, value: &str) -> String {
    if facts.servers.units.iter().any(|unit| unit.path.ends_with("/ollama.service")) {
        return set_in_unit(variable, value);
    }
    let llama = facts.servers.binaries.iter().find(|binary| binary.path.ends_with("/llama-server"));
    match llama {
        Some(binary) => format!("{variable}={value} {} -m MODEL.gguf", binary.path),
        None => format!("{variable}={value} ollama serve"),
    }
}
