//! A server on this machine, found as `doctor` finds it: a process with a listening socket. No other address is contacted.

use crate::context::Context;
use doctor::{Facts, Host, Process, Servers};
use evidence::DeviceKind;
use probe::record::Ground;
use say::bail;
use server::{Endpoint, Role};
use sys::http::Address;
use watch::{Device, Devices, Maker};

pub struct Found {
    pub at: Endpoint,
    /// The server's processes, if it is on this machine.
    pub pids: Vec<u32>,
    pub command: Vec<String>,
    /// Whether the server's log goes to the journal.
    pub journal: bool,
}

impl Found {
    pub fn at(at: Endpoint) -> Found {
        Found { at, pids: Vec::new(), command: Vec::new(), journal: false }
    }
}

/// The only listening server; if there are several, an error that names them.
pub fn server(context: &Context) -> say::Result<Found> {
    let servers = Servers::read(&Host::this());
    let fronts: Vec<(&Process, &Address)> = servers
        .running
        .iter()
        .filter(|process| process.role.answers())
        .filter(|process| {
            !servers.running.iter().any(|other| other.pid == process.parent && other.role == Role::OllamaServer)
        })
        .filter_map(|process| Some((process, process.listens.first()?)))
        .collect();
    let hidden = servers.running.iter().find(|process| process.role.answers() && process.listens.is_empty());
    match (fronts.as_slice(), hidden) {
        ([], Some(process)) => {
            bail!("probe-hidden-found", role = process.role.name(), pid = process.pid)
        }
        ([], None) => bail!("probe-none-found"),
        ([(process, at)], _) => {
            let args = [("role", process.role.name().into()), ("url", at.url().into())];
            context.note(&context.lang.text_with("probe-found", &args));
            Ok(Found::at(Endpoint::new((*at).clone())))
        }
        (several, _) => {
            let list: Vec<String> =
                several.iter().map(|(process, at)| format!("{} ({})", at.url(), process.role.name())).collect();
            bail!("probe-several-found", list)
        }
    }
}

/// Adds the process on this machine that belongs to the server.
pub fn process(found: Found) -> Found {
    if !found.at.to.is_here() {
        return found;
    }
    let servers = Servers::read(&Host::this());
    let port = |at: &Address| if let Address::Tcp { port, .. } = at { Some(*port) } else { None };
    let same = |at: &Address| *at == found.at.to || port(at).is_some() && port(at) == port(&found.at.to);
    let mine = |process: &&Process| process.listens.iter().any(same);
    let command = servers.running.iter().find(mine).map(|process| process.command.clone()).unwrap_or_default();
    let pids: Vec<u32> = servers.running.iter().filter(mine).map(|process| process.pid).collect();
    let unit = |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let journal = pids.iter().any(|pid| unit(pid).contains("/ollama.service"));
    Found { pids, command, journal, ..found }
}

/// The server's device, observed while its model is loaded: the device files that it and its children hold. The card that the
/// user chose for the rules is not part of it.
pub fn ground(found: &Found) -> Ground {
    if let Address::Tcp { host, .. } = &found.at.to
        && !found.at.to.is_here()
    {
        return Ground { host: Some(host.clone()), ..Ground::default() };
    }
    let (mut devices, mut installed) = (Devices::default(), std::collections::BTreeSet::new());
    let cache = runtime::Cache::from_env();
    for pid in server::claims::tree(found.pids.clone()) {
        for library in uprobe::runtimes_of(pid) {
            let stand_in = watch::is_stand_in(&library.path()) == Some(true);
            devices.launched(pid, Maker::of_library(&library.name), stand_in);
            installed.extend(runtime::installed::name(&library.path(), &cache));
        }
    }
    let held = devices.iter().filter_map(|(_, _, device)| match device {
        Device::Real { held } => Some(held.iter().map(String::as_str)),
        _ => None,
    });
    let files: std::collections::BTreeSet<&str> = held.flatten().collect();
    let facts = (!files.is_empty()).then(|| Facts::read(&Host::this()));
    let gpu = facts.as_ref().and_then(|facts| facts.gpu_held(files.iter().copied()));
    let device = match devices.kind() {
        // It has no GPU runtime; whether it computes on the CPU is the server's claim.
        DeviceKind::None if found.pids.is_empty() => DeviceKind::Unknown,
        kind => kind,
    };
    Ground {
        device: Some(device),
        target: gpu.and_then(|gpu| gpu.target.clone()),
        card: gpu.and_then(|gpu| gpu.card.clone()),
        // If the server has libraries of two installations, neither is used.
        runtime: installed.pop_first().filter(|_| installed.is_empty()),
        host: None,
    }
}
