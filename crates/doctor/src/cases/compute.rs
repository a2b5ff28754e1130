//! Where the work really happens: "100% GPU" in `ollama ps` is what the scheduler planned, not what runs.

use crate::Facts;
use crate::cases::{Case, Weight};
use crate::fix::{Fix, set_in_unit};
use answer::Message;

pub fn find(facts: &Facts) -> Vec<Case> {
    let mut cases = on_cpu(facts);
    cases.extend(discovery(facts));
    cases
}

/// A worker without any GPU library computes on the CPU, whatever anybody prints.
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
        let what = Message::new("doctor-case-on-cpu").with("pid", process.pid).with("server", process.role.name());
        debug(facts, Case::new("on-cpu", Weight::Problem, what))
    };
    without.filter(|process| !process.kfd).map(case).collect()
}

fn discovery(facts: &Facts) -> Vec<Case> {
    let here = !facts.gpus.is_empty() || facts.nvidia.present();
    let mut cases = Vec::new();
    for discovery in &facts.discovery {
        let says = |key| Message::new(key).with("log", &discovery.log);
        if let Some(failure) = discovery.failures.last() {
            let timeout = failure.contains("timeout") || failure.contains("timed out");
            let key = if timeout { "doctor-case-discovery-timeout" } else { "doctor-case-discovery-failure" };
            cases.push(debug(facts, Case::new("discovery", Weight::Problem, says(key).with("error", failure))));
        } else if discovery.cpu_only() && here {
            cases.push(debug(facts, Case::new("discovery", Weight::Problem, says("doctor-case-discovery-cpu"))));
        }
        if let Some(dropped) = discovery.dropped.last() {
            let what = says("doctor-case-discovery-dropped").with("device", dropped);
            cases.push(debug(facts, Case::new("discovery-dropped", Weight::Problem, what)));
        }
        if let Some(offloaded) = discovery.offloaded.as_deref()
            && partial(offloaded)
        {
            let what = says("doctor-case-offloaded").with("offloaded", offloaded);
            cases.push(Case::new("partial-offload", Weight::Warning, what).say("doctor-case-offloaded-fix"));
        }
    }
    cases
}

/// OLLAMA_DEBUG=2 is the level at which the discovery child's own output is kept.
fn debug(facts: &Facts, case: Case) -> Case {
    match facts.servers.ollama_unit().map(|unit| set_in_unit(unit, "OLLAMA_DEBUG", "2")) {
        Some(Fix::Change { run, undo }) => case.change(run.and(&"journalctl -u ollama -f".into()), undo),
        _ => case.say("doctor-debug-fix"),
    }
}

/// `offloaded 20/29 layers to GPU`.
fn partial(text: &str) -> bool {
    let numbers = text.split(' ').nth(1).and_then(|word| word.split_once('/'));
    numbers.is_some_and(|(some, all)| some != all)
}
