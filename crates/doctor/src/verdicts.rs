//! Turns facts and trials into one line per observer: the status (works, blocked, absent or untested), the reason, and
//! the fix.
//!
//! The functions are pure: the same facts and trials give the same verdicts. `works` requires a successful trial.

use crate::{Facts, Trials};
use say::say;

mod logs;
mod probes;
mod tools;
mod verdict;

pub use crate::verdicts::verdict::{Status, Verdict};

/// The verb of whichkernel that uses each observer. `None` if no verb does, because the observer disturbs its target.
const USERS: [(&str, Option<&str>); 12] = [
    ("uprobe", Some("watch")),
    ("bpf", Some("watch")),
    ("tracefs", Some("watch")),
    ("preload", Some("watch")),
    ("ptrace", None),
    ("maps", Some("inspect")),
    ("rocprofv3", None),
    ("rocblas-log", Some("watch")),
    ("tensile-log", Some("watch")),
    ("amd-log", Some("watch")),
    ("phase-proxy", Some("probe")),
    ("dryrun", Some("dryrun")),
];

pub fn judge(facts: &Facts, trials: &Trials, verbs: &[&str]) -> Vec<Verdict> {
    let observers = vec![
        probes::uprobe(facts, trials),
        probes::bpf(facts, trials),
        probes::tracefs(facts),
        probes::preload(facts, trials),
        probes::ptrace(facts, trials),
        tools::maps(facts),
        tools::rocprofv3(facts, trials),
        logs::log("rocblas-log", "ROCBLAS_LAYER", "9", facts, trials),
        logs::log("tensile-log", "TENSILE_DB", "0x8000", facts, trials),
        logs::log("amd-log", "AMD_LOG_LEVEL", "3", facts, trials),
        tools::phase_proxy(facts, trials),
        tools::dryrun(facts, trials),
    ];
    observers.into_iter().map(|observer| with_user(observer, verbs)).collect()
}

fn with_user(observer: Verdict, verbs: &[&str]) -> Verdict {
    let user = USERS.iter().find(|(name, _)| *name == observer.name).and_then(|(_, verb)| *verb);
    let more = match user {
        None => say!("doctor-never-used"),
        Some(verb) if verbs.contains(&verb) => say!("doctor-used-by", verb),
        Some(verb) => say!("doctor-not-yet", verb),
    };
    observer.and(Some(more))
}
