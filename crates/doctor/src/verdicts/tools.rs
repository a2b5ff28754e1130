//! Observers that look from outside or bring their own world: memory maps, rocprofv3, the phase proxy, the dry run.

use crate::verdicts::{Status, Verdict};
use crate::{Facts, Fix, Look, Trial, Trials, rocm};
use answer::Message;
use say::shell::CommandLine;
use server::Kind;

pub fn maps(facts: &Facts) -> Verdict {
    let name = "maps";
    let running = &facts.servers.running;
    if let Some(process) = running.iter().find(|process| process.libraries.found().is_some()) {
        let count = process.libraries.found().map_or(0, Vec::len);
        let why = Message::new("doctor-maps-works").with("pid", process.pid).with("count", count);
        return Verdict::new(name, Status::Works, why, None);
    }
    match running.first() {
        Some(process) => {
            let why = Message::new("doctor-maps-denied").with("pid", process.pid);
            Verdict::new(name, Status::Blocked, why, Fix::run("sudo whichkernel doctor"))
        }
        None if !facts.servers.processes_seen => Verdict::new(name, Status::Untested, no_processes(), None),
        None => Verdict::new(name, Status::Untested, Message::new("doctor-no-server"), start_server(facts)),
    }
}

/// A tree of files has no processes: nothing is said about any, and none is to be started.
fn no_processes() -> Message {
    Message::new("doctor-no-processes")
}

pub fn rocprofv3(facts: &Facts, trials: &Trials) -> Verdict {
    let name = "rocprofv3";
    let Some(path) = facts.rocprofv3.first() else {
        return Verdict::new(name, Status::Absent, Message::new("doctor-rocprofv3-absent"), None);
    };
    let says = |key| Message::new(key).with("path", path);
    if let Trial::Refused { error, .. } = &trials.rocprofv3 {
        return Verdict::new(name, Status::Blocked, says("doctor-rocprofv3-broken").with("error", error), None);
    }
    if facts.gpus.is_empty() {
        return Verdict::new(name, Status::Blocked, says("doctor-rocprofv3-no-gpu"), None);
    }
    // The tool is told of a process by its ROCr, through rocprofiler-register; one built without it tells nobody.
    if let Some(runtime) = facts.runtimes.iter().find(|runtime| runtime.registers == Some(false)) {
        let why = says("doctor-rocprofv3-unregistered").with("library", &runtime.library);
        return Verdict::new(name, Status::Blocked, why, Fix::say("doctor-rocprofv3-unregistered-fix"));
    }
    // The tool's own release against each other one: in one process they abort.
    let own = facts.rocm.iter().find(|release| path.starts_with(&format!("{}/", release.directory)));
    let others = facts.rocm.iter().filter(|release| Some(&release.version) != own.map(|own| &own.version));
    let others = rocm::versions(others);
    if let Some(own) = own.and_then(|own| own.version.as_deref())
        && !others.is_empty()
    {
        let why = says("doctor-rocprofv3-mixed").with("own", own).with("others", others.join(", "));
        return Verdict::new(name, Status::Blocked, why, Fix::say("doctor-rocprofv3-mixed-fix"))
            .and(attach(facts, trials));
    }
    Verdict::new(name, Status::Untested, says("doctor-rocprofv3-untested"), None).and(attach(facts, trials))
}

/// What `--attach` needs besides: the target started with ROCP_TOOL_ATTACH=1, and ptrace.
fn attach(facts: &Facts, trials: &Trials) -> Option<Message> {
    if !trials.ptrace.ok() && trials.ptrace != Trial::NotTried {
        return Some(Message::new("doctor-attach-ptrace"));
    }
    let process = facts.servers.workers().next().or_else(|| facts.servers.running.first())?;
    let key = match (&process.environment, process.variable("ROCP_TOOL_ATTACH")) {
        (Look::Found(_), Some("1")) => "doctor-attach-ready",
        (Look::Found(_), _) => "doctor-attach-variable",
        _ => "doctor-attach-unseen",
    };
    Some(Message::new(key).with("pid", process.pid))
}

pub fn phase_proxy(facts: &Facts, trials: &Trials) -> Verdict {
    let name = "phase-proxy";
    if let Some(answer) = trials.answers.iter().find(|answer| answer.server.is_some()) {
        let why = Message::new("doctor-proxy-works")
            .with("server", answer.server.map_or("", Kind::name))
            .with("version", answer.version.as_deref().unwrap_or("?"))
            .with("url", &answer.url);
        return Verdict::new(name, Status::Works, why, None);
    }
    if let Some(answer) = trials.answers.first() {
        let error = answer.error.as_deref().unwrap_or_default();
        let why = Message::new("doctor-proxy-silent").with("url", &answer.url).with("error", error);
        return Verdict::new(name, Status::Blocked, why, start_server(facts));
    }
    if !facts.servers.processes_seen {
        return Verdict::new(name, Status::Untested, no_processes(), None);
    }
    let status = if facts.servers.running.is_empty() { Status::Absent } else { Status::Untested };
    Verdict::new(name, status, Message::new("doctor-no-server"), start_server(facts))
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
        Some(binary) => Some(Fix::Do(Message::new("doctor-start-llama-fix").with("path", &binary.path))),
        None => Fix::say("doctor-install-server-fix"),
    }
}

pub fn dryrun(facts: &Facts, trials: &Trials) -> Verdict {
    let name = "dryrun";
    let permissions = &facts.permissions;
    match &trials.user_namespace {
        Trial::NotTried => Verdict::untested(name),
        Trial::Worked { .. } => Verdict::new(name, Status::Works, Message::new("doctor-dryrun-works"), None),
        _ if permissions.has("sys_chroot") && permissions.has("sys_admin") => {
            Verdict::new(name, Status::Works, Message::new("doctor-dryrun-root"), None)
        }
        Trial::Missing { what } => Verdict::new(
            name,
            Status::Blocked,
            Message::new("doctor-refused").with("call", what).with("error", "?"),
            None,
        ),
        Trial::Refused { call, error } => {
            let why = Message::new("doctor-dryrun-refused").with("call", call).with("error", error);
            let fix = if permissions.apparmor_restrict_unprivileged_userns.found() == Some(&1) {
                Fix::sysctl("kernel.apparmor_restrict_unprivileged_userns", 0, 1)
            } else if permissions.unprivileged_userns_clone.found() == Some(&0) {
                Fix::sysctl("kernel.unprivileged_userns_clone", 1, 0)
            } else if permissions.max_user_namespaces.found() == Some(&0) {
                Fix::sysctl("user.max_user_namespaces", 15000, 0)
            } else if facts.container.kind.is_some() {
                Fix::say("doctor-container-userns-fix")
            } else {
                Fix::run("sudo whichkernel dryrun")
            };
            Verdict::new(name, Status::Blocked, why, fix)
        }
    }
}
