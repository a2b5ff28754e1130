//! One running server process, from `/proc/PID`: its kind, its mappings, its arguments and variables.
//!
//! This module does not affect the process. Opening `/proc/PID/mem` tests whether we could attach, because the kernel
//! makes the same check as for an attach (`PTRACE_MODE_ATTACH`, fs/proc/base.c).

use crate::environment::{self, Variable};
use crate::{Gpu, Host, Look, rocm};
use schemars::JsonSchema;
use serde::Serialize;
use server::process::{option, strings};
use server::{Role, sockets};
use std::collections::BTreeSet;
use sys::http::Address;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Library {
    pub path: String,
    pub release: Option<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    pub role: Role,
    pub uid: Option<u32>,
    pub command: Vec<String>,
    pub exe: Look<String>,
    /// The variables that matter here, from the start of the process.
    pub environment: Look<Vec<Variable>>,
    /// Shared libraries mapped into the process.
    pub libraries: Look<Vec<Library>>,
    /// TCP ports that it listens on, or otherwise the port from its command line.
    pub ports: Vec<u16>,
    /// The addresses on which the process listens. Requests go to no other address.
    #[serde(skip)]
    pub listens: Vec<Address>,
    /// Whether an attach would be allowed.
    pub attachable: Look<bool>,
    /// Whether the AMD kernel driver has a compute context for the process.
    pub kfd: bool,
}

impl Process {
    pub fn read(host: &Host, pid: u32) -> Option<Process> {
        let command: Vec<String> = strings(&host.bytes(format!("/proc/{pid}/cmdline")).found().cloned()?);
        let role = Role::of(&command)?;
        let status = host.text(format!("/proc/{pid}/status")).found().cloned().unwrap_or_default();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let uid = field("Uid:").and_then(|ids| ids.split_whitespace().nth(1)?.parse().ok());
        let environment = host.bytes(format!("/proc/{pid}/environ")).map(|bytes| {
            let pairs = strings(&bytes).into_iter().filter_map(|pair| {
                let (name, value) = pair.split_once('=')?;
                Some((name.to_owned(), value.to_owned()))
            });
            environment::of_interest(pairs)
        });
        let listens = sockets::listens(host, pid, &command);
        let port = |at: &Address| if let Address::Tcp { port, .. } = at { Some(*port) } else { None };
        let mut ports: BTreeSet<u16> = listens.iter().filter_map(port).collect();
        if listens.is_empty() {
            ports.extend(option(&command, &["--port", "-port"]).and_then(|port| port.parse::<u16>().ok()));
        }
        Some(Process {
            pid,
            parent: field("PPid:").and_then(|text| text.parse().ok()).unwrap_or(0),
            role,
            uid,
            exe: host.link(format!("/proc/{pid}/exe")),
            environment,
            libraries: host.text(format!("/proc/{pid}/maps")).map(|maps| libraries(&maps)),
            ports: ports.into_iter().collect(),
            listens,
            attachable: Look::from(host.open(format!("/proc/{pid}/mem"))).map(|_| true),
            kfd: Gpu::used_by(host, pid),
            // The command is printed and written to JSON and the ledger, so keys and prompts are removed.
            command: ledger::redact::command(&command),
        })
    }

    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.found()?.iter().find(|variable| variable.name == name).map(|variable| variable.value.as_str())
    }

    pub fn loaded(&self, stem: &str) -> Option<bool> {
        let libraries = self.libraries.found()?;
        Some(libraries.iter().any(|library| library.path.rsplit('/').next().is_some_and(|name| name.starts_with(stem))))
    }

    /// The distinct ROCm releases among the process's libraries.
    pub fn releases(&self) -> Vec<&str> {
        let libraries = self.libraries.found().map(Vec::as_slice).unwrap_or_default();
        let set: BTreeSet<&str> = libraries.iter().filter_map(|library| library.release.as_deref()).collect();
        set.into_iter().collect()
    }

    /// The model's path, from the command line of a runner or a llama-server.
    pub fn model(&self) -> Option<String> {
        option(&self.command, &["--model", "-model", "-m"])
    }
}

fn libraries(maps: &str) -> Vec<Library> {
    let paths: BTreeSet<&str> = maps.lines().filter_map(|line| line.find('/').and_then(|at| line.get(at..))).collect();
    let is_library = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        name.starts_with("lib") && name.contains(".so")
    };
    let shared = paths.into_iter().filter(is_library);
    shared
        .map(|path| Library { path: path.to_owned(), release: path.rsplit('/').next().and_then(rocm::suffix) })
        .collect()
}
