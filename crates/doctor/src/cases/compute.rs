//! Finds out where the work really happens: "100% GPU" in `ollama ps` is the scheduler's plan, not an observation.

use crate::Facts;
use crate::cases::{Case, Weight};
use crate::fix::{Fix, set_in_unit};
use say::{key, say};

pub fn find(facts: &Facts) -> Vec<Case> {
    let mut cases = on_cpu(facts);
    cases.extend(discovery(facts));
    cases
}

/// A worker without any GPU library computes on the CPU, whatever the logs say.
fn on_cpu(facts: &Facts) -> Vec<Case> {
    if facts.gpus.is_empty() && !facts.nvidia.present() {
        return Vec::new();
    }
    let gpu_library = |process: &&crate::Process| {
        ["libamdhip64.so", "libggml-hip.so", "libcuda.so", "libggml-cuda.so", "libggml-vulkan.so"]
            .iter()
            .any(|stem| process.loaded(stem) == Some(true))
    };
    let without =
        facts.servers.workers().filter(|process| process.libraries.found().is_some()).filter(|p| !gpu_library(p));
    let case = |process: &crate::Process| {
        let what = say!("doctor-case-on-cpu", pid = process.pid, server = process.role.name());
        debug(facts, Case::new("on-cpu", Weight::Problem, what))
    };
    without.filter(|process| !process.kfd).map(case).collect()
}

fn discovery(facts: &Facts) -> Vec<Case> {
    let here = !facts.gpus.is_empty() || facts.nvidia.present();
    let mut cases = Vec::new();
    for discovery in &facts.discovery {
        if let Some(failure) = discovery.failures.last() {
            let timeout = failure.contains("timeout") || failure.contains("timed out");
            let what = match timeout {
                true => say!("doctor-case-discovery-timeout", log = discovery.log, error = failure),
                false => say!("doctor-case-discovery-failure", log = discovery.log, error = failure),
            };
            cases.push(debug(facts, Case::new("discovery", Weight::Problem, what)));
        } else if discovery.cpu_only() && here {
            cases.push(debug(
                facts,
                Case::new("discovery", Weight::Problem, say!("doctor-case-discovery-cpu", log = discovery.log)),
            ));
        }
        if let Some(dropped) = discovery.dropped.last() {
            let what = say!("doctor-case-discovery-dropped", log = discovery.log, device = dropped);
            cases.push(debug(facts, Case::new("discovery-dropped", Weight::Problem, what)));
        }
        if let Some(offloaded) = discovery.offloaded.as_deref()
            && partial(offloaded)
        {
            let what = say!("doctor-case-offloaded", log = discovery.log, offloaded);
            cases.push(Case::new("partial-offload", Weight::Warning, what).say(key!("doctor-case-offloaded-fix")));
        }
    }
    cases
}

/// Suggests OLLAMA_DEBUG=2, the level that keeps the output of the discovery child process.
fn debug(facts: &Facts, case: Case) -> Case {
    match facts.servers.ollama_unit().map(|unit| set_in_unit(unit, "OLLAMA_DEBUG", "2")) {
        Some(Fix::Change { run, undo }) => case.change(run.and(&"journalctl -u ollama -f".into()), undo),
        _ => case.say(key!("doctor-debug-fix")),
    }
}

/// Whether the two numbers differ in a line such as `offloaded 20/29 layers to GPU`.
fn partial(text: &str) -> bool {
    let numbers = text.split(' ').nth(1).and_then(|word| word.split_once('/'));
    numbers.is_some_and(|(some, all)| some != all)
}
