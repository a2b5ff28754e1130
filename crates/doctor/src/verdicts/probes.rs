//! The observers that need the kernel's permission: uprobes, BPF, tracefs, preload, ptrace.

use crate::verdicts::{Status, Verdict};
use crate::{Facts, Fix, Look, Trial, Trials};
use say::{Message, key, say};

/// The minimum capabilities for watching one's own processes (`rights::NEEDED`). crates/whichkernel/tests/rights.rs
/// tests each of them.
const SETCAP: &str = "sudo setcap cap_bpf,cap_perfmon+ep \"$(command -v whichkernel)\"";
const UNSETCAP: &str = "sudo setcap -r \"$(command -v whichkernel)\"";

pub fn uprobe(facts: &Facts, trials: &Trials) -> Verdict {
    let name = "uprobe";
    match &trials.uprobe {
        Trial::NotTried => Verdict::untested(name),
        Trial::Missing { what } => {
            let why = say!("doctor-uprobe-absent", what);
            Verdict::new(name, Status::Absent, why, Fix::say(key!("doctor-uprobe-absent-fix")))
        }
        Trial::Worked { saw } => {
            let why = say!("doctor-uprobe-works", saw);
            Verdict::new(name, Status::Works, why, None)
        }
        Trial::Refused { call, error } => blocked_by_kernel(name, facts, (call, error), &["bpf", "perfmon"], true),
    }
}

pub fn bpf(facts: &Facts, trials: &Trials) -> Verdict {
    let name = "bpf";
    let btf = if facts.tracing.btf { say!("doctor-btf") } else { say!("doctor-no-btf") };
    match &trials.bpf {
        Trial::Worked { .. } => Verdict::new(name, Status::Works, say!("doctor-bpf-works"), None).and(Some(btf)),
        Trial::Refused { call, error } => {
            blocked_by_kernel(name, facts, (call, error), &["bpf", "perfmon"], false).and(Some(btf))
        }
        _ => Verdict::untested(name),
    }
}

/// The reasons in the order in which the kernel checks them.
fn blocked_by_kernel(
    name: &'static str,
    facts: &Facts,
    (call, error): (&str, &Message),
    needed: &[&str],
    probes: bool,
) -> Verdict {
    if let Some(mode) = facts.permissions.locked_down() {
        let why = say!("doctor-lockdown", call, error, mode);
        return Verdict::new(name, Status::Blocked, why, Fix::say(key!("doctor-lockdown-fix")));
    }
    let missing: Vec<String> = needed
        .iter()
        .filter(|capability| !facts.permissions.has(capability))
        .map(|capability| format!("CAP_{}", capability.to_uppercase()))
        .collect();
    if missing.is_empty() {
        return Verdict::new(name, Status::Blocked, say!("doctor-refused", call, error), None);
    }
    let why = match probes {
        true => say!("doctor-capabilities-uprobe", call, error, missing),
        false => say!("doctor-capabilities", call, error, missing),
    };
    let fix = match facts.container.kind {
        Some(_) => Fix::say(key!("doctor-container-caps-fix")),
        None => Fix::change(SETCAP, UNSETCAP),
    };
    Verdict::new(name, Status::Blocked, why, fix)
}

/// The way without root, after one privileged step: once a probe was created through tracefs, the user who owns it can
/// open it.
pub fn tracefs(facts: &Facts) -> Verdict {
    let name = "tracefs";
    let tracing = &facts.tracing;
    if !tracing.mounts_seen {
        return Verdict::untested(name);
    }
    let Some(place) = &tracing.tracefs else {
        let fix = Fix::change("sudo mount -t tracefs nodev /sys/kernel/tracing", "sudo umount /sys/kernel/tracing");
        return Verdict::new(name, Status::Blocked, say!("doctor-tracefs-unmounted"), fix);
    };
    match (tracing.readable, tracing.writable) {
        (_, true) => Verdict::new(name, Status::Works, say!("doctor-tracefs-works", place), None),
        (true, false) => Verdict::new(
            name,
            Status::Blocked,
            say!("doctor-tracefs-readonly", place),
            Fix::run("sudo whichkernel doctor"),
        ),
        (false, false) => Verdict::new(
            name,
            Status::Blocked,
            say!("doctor-tracefs-denied", place),
            Fix::run("sudo whichkernel doctor"),
        ),
    }
}

pub fn preload(facts: &Facts, trials: &Trials) -> Verdict {
    let name = "preload";
    let why = match &trials.preload {
        Trial::NotTried => return Verdict::untested(name),
        Trial::Missing { what } => {
            let why = say!("doctor-preload-missing", what);
            return Verdict::new(name, Status::Absent, why, Fix::say(key!("doctor-preload-missing-fix")));
        }
        Trial::Refused { error, .. } => {
            let why = say!("doctor-preload-refused", error);
            return Verdict::new(name, Status::Blocked, why, Fix::say(key!("doctor-preload-missing-fix")));
        }
        Trial::Worked { saw } => say!("doctor-preload-works", saw),
    };
    let deaf = facts.servers.binaries.iter().find(|binary| binary.setuid || binary.dynamic == Some(false));
    let caveat = deaf.map(|binary| {
        let path = &binary.path;
        if binary.setuid { say!("doctor-preload-setuid", path) } else { say!("doctor-preload-static", path) }
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
    let server = denied.map(|process| say!("doctor-ptrace-server", pid = process.pid));
    let Trial::Refused { call, error } = &trials.ptrace else {
        let why = match scope.found() {
            Some(scope) => say!("doctor-ptrace-works", scope),
            None => say!("doctor-ptrace-works-no-yama"),
        };
        return Verdict::new(name, Status::Works, why, None).and(server);
    };
    let (why, fix) = match scope.found() {
        Some(3) => (say!("doctor-ptrace-scope", call, error, scope = 3), Fix::say(key!("doctor-ptrace-reboot-fix"))),
        Some(&scope) if scope > 0 => {
            (say!("doctor-ptrace-scope", call, error, scope), Fix::sysctl("kernel.yama.ptrace_scope", 0, scope))
        }
        _ if facts.container.kind.is_some() => {
            (say!("doctor-refused", call, error), Fix::say(key!("doctor-container-ptrace-fix")))
        }
        _ => (say!("doctor-refused", call, error), None),
    };
    Verdict::new(name, Status::Blocked, why, fix).and(server)
}
