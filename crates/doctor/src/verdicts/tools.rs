//! Observers that work from outside or have their own environment: memory maps, rocprofv3, the phase proxy, the dry
//! run.

use crate::verdicts::{Status, Verdict};
use crate::{Facts, Fix, Look, Trial, Trials, rocm};
use say::shell::CommandLine;
use say::{Message, key, say};
use server::Kind;

pub fn maps(facts: &Facts) -> Verdict {
    let name = "maps";
    let running = &facts.servers.running;
    if let Some(process) = running.iter().find(|process| process.libraries.found().is_some()) {
        let count = process.libraries.found().map_or(0, Vec::len);
        let why = say!("doctor-maps-works", pid = process.pid, count);
        return Verdict::new(name, Status::Works, why, None);
    }
    match running.first() {
        Some(process) => {
            let why = say!("doctor-maps-denied", pid = process.pid);
            Verdict::new(name, Status::Blocked, why, Fix::run("sudo whichkernel doctor"))
        }
        None if !facts.servers.processes_seen => Verdict::new(name, Status::Untested, no_processes(), None),
        None => Verdict::new(name, Status::Untested, say!("doctor-no-server"), start_server(facts)),
    }
}

/// A file tree has no processes, so there is nothing to report or to start.
fn no_processes() -> Message {
    say!("doctor-no-processes")
}

pub fn rocprofv3(facts: &Facts, trials: &Trials) -> Verdict {
    let name = "rocprofv3";
    let Some(path) = facts.rocprofv3.first() else {
        return Verdict::new(name, Status::Absent, say!("doctor-rocprofv3-absent"), None);
    };
    if let Trial::Refused { error, .. } = &trials.rocprofv3 {
        return Verdict::new(name, Status::Blocked, say!("doctor-rocprofv3-broken", path, error), None);
    }
    if facts.gpus.is_empty() {
        return Verdict::new(name, Status::Blocked, say!("doctor-rocprofv3-no-gpu", path), None);
    }
    // ROCr reports a process to the tool through rocprofiler-register. A ROCr that was built without it does not.
    if let Some(runtime) = facts.runtimes.iter().find(|runtime| runtime.registers == Some(false)) {
        let why = say!("doctor-rocprofv3-unregistered", path, library = runtime.library);
        return Verdict::new(name, Status::Blocked, why, Fix::say(key!("doctor-rocprofv3-unregistered-fix")));
    }
    // Compare the tool's release with the others: a process with two releases aborts.
    let own = facts.rocm.iter().find(|release| path.starts_with(&format!("{}/", release.directory)));
    let others = facts.rocm.iter().filter(|release| Some(&release.version) != own.map(|own| &own.version));
    let others = rocm::versions(others);
    if let Some(own) = own.and_then(|own| own.version.as_deref())
        && !others.is_empty()
    {
        let why = say!("doctor-rocprofv3-mixed", path, own, others);
        return Verdict::new(name, Status::Blocked, why, Fix::say(key!("doctor-rocprofv3-mixed-fix")))
            .and(attach(facts, trials));
    }
    Verdict::new(name, Status::Untested, say!("doctor-rocprofv3-untested", path), None).and(attach(facts, trials))
}

/// The other requirements of `--attach`: the target was started with ROCP_TOOL_ATTACH=1, and ptrace is allowed.
fn attach(facts: &Facts, trials: &Trials) -> Option<Message> {
    if !trials.ptrace.ok() && trials.ptrace != Trial::NotTried {
        return Some(say!("doctor-attach-ptrace"));
    }
    let process = facts.servers.workers().next().or_else(|| facts.servers.running.first())?;
    Some(match (&process.environment, process.variable("ROCP_TOOL_ATTACH")) {
        (Look::Found(_), Some("1")) => say!("doctor-attach-ready", pid = process.pid),
        (Look::Found(_), _) => say!("doctor-attach-variable", pid = process.pid),
        _ => say!("doctor-attach-unseen", pid = process.pid),
    })
}

pub fn phase_proxy(facts: &Facts, trials: &Trials) -> Verdict {
    let name = "phase-proxy";
    if let Some(answer) = trials.answers.iter().find(|answer| answer.server.is_some()) {
        let why = say!(
            "doctor-proxy-works",
            server = answer.server.map_or("", Kind::name),
            version = answer.version.as_deref().unwrap_or("?"),
            url = answer.url
        );
        return Verdict::new(name, Status::Works, why, None);
    }
    if let Some(answer) = trials.answers.first() {
        let why = say!("doctor-proxy-silent", url = answer.url, error = answer.error);
        return Verdict::new(name, Status::Blocked, why, start_server(facts));
    }
    if !facts.servers.processes_seen {
        return Verdict::new(name, Status::Untested, no_processes(), None);
    }
    let status = if facts.servers.running.is_empty() { Status::Absent } else { Status::Untested };
    Verdict::new(name, status, say!("doctor-no-server"), start_server(facts))
}

fn start_server(facts: &Facts) -> Option<Fix> {
    let unit = facts.servers.units.iter().any(|unit| unit.path.ends_with("/ollama.service"));
    let found = |name: &str| facts.servers.binaries.iter().find(|binary| binary.path.ends_with(name));
    if unit {
        return Fix::change("sudo systemctl start ollama", "sudo systemctl stop ollama");
    }
    if let Some(binary) = found("/ollama") {
        return Fix::run(CommandLine::new("{} serve", [&binary.path]));
    }
    match found("/llama-server") {
        Some(binary) => Some(Fix::Do(say!("doctor-start-llama-fix", path = binary.path))),
        None => Fix::say(key!("doctor-install-server-fix")),
    }
}

pub fn dryrun(facts: &Facts, trials: &Trials) -> Verdict {
    let name = "dryrun";
    let permissions = &facts.permissions;
    match &trials.user_namespace {
        Trial::NotTried => Verdict::untested(name),
        Trial::Worked { .. } => Verdict::new(name, Status::Works, say!("doctor-dryrun-works"), None),
        _ if permissions.has("sys_chroot") && permissions.has("sys_admin") => {
            Verdict::new(name, Status::Works, say!("doctor-dryrun-root"), None)
        }
        Trial::Missing { what } => {
            Verdict::new(name, Status::Blocked, say!("doctor-refused", call = what, error = "?"), None)
        }
        Trial::Refused { call, error } => {
            let why = say!("doctor-dryrun-refused", call, error);
            let fix = if permissions.apparmor_restrict_unprivileged_userns.found() == Some(&1) {
                Fix::sysctl("kernel.apparmor_restrict_unprivileged_userns", 0, 1)
            } else if permissions.unprivileged_userns_clone.found() == Some(&0) {
                Fix::sysctl("kernel.unprivileged_userns_clone", 1, 0)
            } else if permissions.max_user_namespaces.found() == Some(&0) {
                Fix::sysctl("user.max_user_namespaces", 15000, 0)
            } else if facts.container.kind.is_some() {
                Fix::say(key!("doctor-container-userns-fix"))
            } else {
                Fix::run("sudo whichkernel dryrun")
            };
            Verdict::new(name, Status::Blocked, why, fix)
        }
    }
}
