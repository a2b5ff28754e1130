//! The observers that the kernel itself must allow: uprobes, BPF, tracefs, preload, ptrace.

use crate::verdicts::{Status, Verdict};
use crate::{Facts, Fix, Look, Trial, Trials};
use answer::Message;

/// The least with which a watch of one's own processes starts (`rights::NEEDED`): tried one by one in crates/whichkernel/tests/rights.rs.
const SETCAP: &str = "sudo setcap cap_bpf,cap_perfmon+ep \"$(command -v whichkernel)\"";
const UNSETCAP: &str = "sudo setcap -r \"$(command -v whichkernel)\"";

pub fn uprobe(facts: &Facts, trials: &Trials) -> Verdict {
    let name = "uprobe";
    match &trials.uprobe {
        Trial::NotTried => Verdict::untested(name),
        Trial::Missing { what } => {
            let why = Message::new("doctor-uprobe-absent").with("what", what);
            Verdict::new(name, Status::Absent, why, Fix::say("doctor-uprobe-absent-fix"))
        }
        Trial::Worked { saw } => {
            let why = Message::new("doctor-uprobe-works").with("saw", saw);
            Verdict::new(name, Status::Works, why, None)
        }
        Trial::Refused { call, error } => {
            blocked_by_kernel(name, facts, (call, error), &["bpf", "perfmon"], "doctor-capabilities-uprobe")
        }
    }
}

pub fn bpf(facts: &Facts, trials: &Trials) -> Verdict {
    let name = "bpf";
    let btf = Message::new(if facts.tracing.btf { "doctor-btf" } else { "doctor-no-btf" });
    match &trials.bpf {
        Trial::Worked { .. } => {
            Verdict::new(name, Status::Works, Message::new("doctor-bpf-works"), None).and(Some(btf))
        }
        Trial::Refused { call, error } => {
            blocked_by_kernel(name, facts, (call, error), &["bpf", "perfmon"], "doctor-capabilities").and(Some(btf))
        }
        _ => Verdict::untested(name),
    }
}

/// The reasons in the order in which the kernel checks them.
fn blocked_by_kernel(
    name: &'static str,
    facts: &Facts,
    (call, error): (&str, &str),
    needed: &[&str],
    key: &'static str,
) -> Verdict {
    let refused = |key| Message::new(key).with("call", call).with("error", error);
    if let Some(mode) = facts.permissions.locked_down() {
        let why = refused("doctor-lockdown").with("mode", mode);
        return Verdict::new(name, Status::Blocked, why, Fix::say("doctor-lockdown-fix"));
    }
    let missing: Vec<String> = needed
        .iter()
        .filter(|capability| !facts.permissions.has(capability))
        .map(|capability| format!("CAP_{}", capability.to_uppercase()))
        .collect();
    if missing.is_empty() {
        return Verdict::new(name, Status::Blocked, refused("doctor-refused"), None);
    }
    let why = refused(key).with("missing", missing.join(", "));
    let fix = match facts.container.kind {
        Some(_) => Fix::say("doctor-container-caps-fix"),
        None => Fix::change(SETCAP, UNSETCAP),
    };
    Verdict::new(name, Status::Blocked, why, fix)
}

/// The way without root, after one privileged step: a probe made once through tracefs can be opened by its owner.
pub fn tracefs(facts: &Facts) -> Verdict {
    let name = "tracefs";
    let tracing = &facts.tracing;
    if !tracing.mounts_seen {
        return Verdict::untested(name);
    }
    let Some(place) = &tracing.tracefs else {
        let fix = Fix::change("sudo mount -t tracefs nodev /sys/kernel/tracing", "sudo umount /sys/kernel/tracing");
        return Verdict::new(name, Status::Blocked, Message::new("doctor-tracefs-unmounted"), fix);
    };
    let says = |key| Message::new(key).with("place", place);
    match (tracing.readable, tracing.writable) {
        (_, true) => Verdict::new(name, Status::Works, says("doctor-tracefs-works"), None),
        (true, false) => {
            Verdict::new(name, Status::Blocked, says("doctor-tracefs-readonly"), Fix::run("sudo whichkernel doctor"))
        }
        (false, false) => {
            Verdict::new(name, Status::Blocked, says("doctor-tracefs-denied"), Fix::run("sudo whichkernel doctor"))
        }
    }
}

pub fn preload(facts: &Facts, trials: &Trials) -> Verdict {
    let name = "preload";
    let why = match &trials.preload {
        Trial::NotTried => return Verdict::untested(name),
        Trial::Missing { what } => {
            let why = Message::new("doctor-preload-missing").with("what", what);
            return Verdict::new(name, Status::Absent, why, Fix::say("doctor-preload-missing-fix"));
        }
        Trial::Refused { error, .. } => {
            let why = Message::new("doctor-preload-refused").with("error", error);
            return Verdict::new(name, Status::Blocked, why, Fix::say("doctor-preload-missing-fix"));
        }
        Trial::Worked { saw } => Message::new("doctor-preload-works").with("saw", saw),
    };
    let deaf = facts.servers.binaries.iter().find(|binary| binary.setuid || binary.dynamic == Some(false));
    let caveat = deaf.map(|binary| {
        let key = if binary.setuid { "doctor-preload-setuid" } else { "doctor-preload-static" };
        Message::new(key).with("path", &binary.path)
    });
    Verdict::new(name, Status::Works, why, None).and(caveat)
}

pub fn ptrace(facts: &Facts, trials: &Trials) -> Verdict {
    let name = "ptrace";
    if trials.ptrace == Trial::NotTried {
        return Verdict::untested(name);
    }
    let scope = &facts.permissions.ptrace_scope;
    let denied = facts.servers.running.iter().find(|process| process.attachable == Look::Denied);
    let server = denied.map(|process| Message::new("doctor-ptrace-server").with("pid", process.pid));
    let Trial::Refused { call, error } = &trials.ptrace else {
        let why = match scope.found() {
            Some(scope) => Message::new("doctor-ptrace-works").with("scope", scope),
            None => Message::new("doctor-ptrace-works-no-yama"),
        };
        return Verdict::new(name, Status::Works, why, None).and(server);
    };
    let says = |key| Message::new(key).with("call", call).with("error", error);
    let (why, fix) = match scope.found() {
        Some(3) => (says("doctor-ptrace-scope").with("scope", 3), Fix::say("doctor-ptrace-reboot-fix")),
        Some(&scope) if scope > 0 => {
            (says("doctor-ptrace-scope").with("scope", scope), Fix::sysctl("kernel.yama.ptrace_scope", 0, scope))
        }
        _ if facts.container.kind.is_some() => (says("doctor-refused"), Fix::say("doctor-container-ptrace-fix")),
        _ => (says("doctor-refused"), None),
    };
    Verdict::new(name, Status::Blocked, why, fix).and(server)
}
