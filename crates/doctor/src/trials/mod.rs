//! Trials answer questions that only an attempt can answer. Each is made on this process or its children, never on a
//! server.

mod http;
mod preload;
mod switches;
mod system_calls;
mod tool;
mod trial;
mod uprobe;

pub use crate::trials::http::Answer;
pub use crate::trials::switches::Switch;
pub(crate) use crate::trials::switches::contains;
pub use crate::trials::trial::Trial;

use crate::{Facts, Host};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Trials {
    /// A process of ours seizes another process that is not its descendant.
    pub ptrace: Trial,
    /// A plain software event on ourselves.
    pub perf: Trial,
    pub bpf: Trial,
    /// A uprobe on one of our functions, which is called a known number of times.
    pub uprobe: Trial,
    pub preload: Trial,
    pub user_namespace: Trial,
    /// Runs `rocprofv3 --version`.
    pub rocprofv3: Trial,
    /// Log variables that the libraries here know.
    pub switches: Vec<Switch>,
    /// The answers of servers that were asked to identify themselves.
    pub answers: Vec<Answer>,
}

impl Trials {
    /// The trials for a file tree: none was made.
    pub fn none() -> Trials {
        Trials::default()
    }

    pub fn make(host: &Host, facts: &Facts) -> Trials {
        if !host.live() {
            // Reading a file's bytes is possible in any tree.
            return Trials { switches: switches::find(host), ..Trials::none() };
        }
        Trials {
            ptrace: system_calls::seize_sibling(),
            perf: system_calls::count_own_time(),
            bpf: system_calls::load_bpf_program(),
            uprobe: uprobe::count_own_calls(facts.tracing.uprobe_pmu.found().copied()),
            preload: preload::map_into_child(host),
            user_namespace: system_calls::enter_own_namespaces(),
            rocprofv3: tool::version(&facts.rocprofv3),
            switches: switches::find(host),
            answers: http::ask(facts, host.environment()),
        }
    }

    /// Makes only the HTTP trials, which are enough for the one-sentence summary.
    pub fn answers_only(host: &Host, facts: &Facts) -> Trials {
        let answers = if host.live() { http::ask(facts, host.environment()) } else { Vec::new() };
        Trials { answers, ..Trials::none() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(trial: &Trial) -> bool {
        matches!(trial, Trial::Worked { .. } | Trial::Refused { .. } | Trial::Missing { .. })
    }

    #[test]
    fn every_trial_is_made_on_the_live_machine() {
        let host = Host::this();
        let trials = Trials::make(&host, &Facts::read(&host));
        for (name, trial) in [
            ("ptrace", &trials.ptrace),
            ("perf", &trials.perf),
            ("bpf", &trials.bpf),
            ("uprobe", &trials.uprobe),
            ("preload", &trials.preload),
            ("user namespace", &trials.user_namespace),
            ("rocprofv3", &trials.rocprofv3),
        ] {
            assert!(decided(trial), "{name}: {trial:?}");
        }
    }

    /// A refusal names the call and its errno, regardless of what the kernel of this machine allows.
    #[test]
    fn what_the_system_refuses_is_told_by_its_call() {
        use sys::fake::{Call, fail};
        let refused = |trial: Trial, call: &str, error: &str| {
            let Trial::Refused { call: told, error: why } = &trial else { panic!("{call}: {trial:?}") };
            assert!(told.starts_with(call) && why.to_string().starts_with(error), "{trial:?}");
        };
        let _bpf = (fail(Call::BpfProgram, sys::abi::EPERM), fail(Call::BpfMap, sys::abi::EPERM));
        let _perf = fail(Call::PerfEventOpen, sys::abi::EACCES);
        let _yama = fail(Call::Ptrace, sys::abi::EPERM);
        let _limit = fail(Call::Unshare, sys::abi::ENOSPC);
        refused(system_calls::load_bpf_program(), "bpf(BPF_PROG_LOAD)", "Operation not permitted");
        refused(system_calls::count_own_time(), "perf_event_open", "Permission denied");
        refused(system_calls::seize_sibling(), "PTRACE_SEIZE", "Operation not permitted");
        refused(system_calls::enter_own_namespaces(), "unshare(CLONE_NEWUSER", "No space left");
        if let Some(pmu) = sys::perf_event::pmu() {
            refused(uprobe::count_own_calls(Some(pmu.into())), "bpf (map)", "Operation not permitted");
        }
    }

    /// Lockdown also applies to root: the verdict must name lockdown, not a capability that root has.
    #[test]
    fn a_kernel_in_lockdown_is_given_as_the_reason() {
        use sys::fake::{Call, fail};
        let host = Host::this();
        let mut facts = Facts::read(&host);
        facts.permissions.lockdown = crate::Look::Found("confidentiality".to_owned());
        let (_map, _program) = (fail(Call::BpfMap, sys::abi::EPERM), fail(Call::BpfProgram, sys::abi::EPERM));
        let trials = Trials { bpf: system_calls::load_bpf_program(), ..Trials::none() };
        let report = crate::Report::judge(facts, trials, &[]);
        let verdict = report.observers.iter().find(|verdict| verdict.name == "bpf").expect("judged");
        assert_eq!(verdict.status, crate::Status::Blocked);
        assert!(verdict.why.iter().any(|why| why.key == "doctor-lockdown"), "{verdict:?}");
    }

    /// With a capability, the trials that need only that capability must succeed. Without this baseline there is
    /// nothing to compare with.
    #[test]
    fn the_outcomes_fit_our_permissions() {
        let facts = Facts::read(&Host::this());
        if facts.permissions.has("sys_ptrace") {
            assert!(system_calls::seize_sibling().ok());
        }
        if facts.permissions.has("sys_admin") && facts.tracing.uprobe_pmu.found().is_some() {
            assert!(uprobe::count_own_calls(facts.tracing.uprobe_pmu.found().copied()).ok());
        }
    }
}
