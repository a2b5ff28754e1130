//! A server on this machine, found as `doctor` finds it: a process that is seen to listen. Nobody else is asked.

use crate::context::Context;
use anyhow::bail;
use doctor::{Host, Process, Role, Servers};
use evidence::DeviceKind;
use sys::http::Address;

pub struct Found {
    pub to: Address,
    /// The server's process, where it is on this machine.
    pub pids: Vec<u32>,
    pub command: Vec<String>,
    pub device: DeviceKind,
}

impl Default for Found {
    fn default() -> Self {
        Found {
            to: Address { host: String::new(), port: 0 },
            pids: Vec::new(),
            command: Vec::new(),
            device: DeviceKind::Unknown,
        }
    }
}

/// The one that listens; of several, they are named.
pub fn server(context: &Context) -> anyhow::Result<Found> {
    let servers = Servers::read(&Host::this());
    let fronts: Vec<(&Process, std::net::SocketAddr)> = servers
        .running
        .iter()
        // An Ollama's runner answers nobody but its server.
        .filter(|process| process.role != Role::OllamaRunner)
        .filter(|process| {
            !servers.running.iter().any(|other| other.pid == process.parent && other.role == Role::OllamaServer)
        })
        .filter_map(|process| Some((process, *process.listens.first()?)))
        .collect();
    match fronts.as_slice() {
        [] => bail!("{}", context.lang.text("probe-none-found")),
        [(process, at)] => {
            let to = Address { host: at.ip().to_string(), port: at.port() };
            let args = [("role", process.role.name().into()), ("url", format!("http://{to}").into())];
            context.note(&context.lang.text_with("probe-found", &args));
            Ok(Found { to, ..Found::default() })
        }
        several => {
            let list: Vec<String> =
                several.iter().map(|(process, at)| format!("http://{at} ({})", process.role.name())).collect();
            bail!("{}", context.lang.text_with("probe-several-found", &[("list", list.join(", ").into())]))
        }
    }
}

/// Which process of this machine that is, and whether the kernel's driver knows it: then its GPU is a real one.
pub fn process(found: Found) -> Found {
    let here = found.to.host == "localhost" || found.to.host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    if !here {
        return found;
    }
    let servers = Servers::read(&Host::this());
    let mine = |process: &&Process| process.listens.iter().any(|at| at.port() == found.to.port);
    let command = servers.running.iter().find(mine).map(|process| process.command.clone()).unwrap_or_default();
    let pids: Vec<u32> = servers.running.iter().filter(mine).map(|process| process.pid).collect();
    let family = |process: &&Process| pids.contains(&process.pid) || pids.contains(&process.parent);
    let real = servers.running.iter().filter(family).any(|process| process.kfd);
    Found { device: if real { DeviceKind::Real } else { found.device }, pids, command, ..found }
}
