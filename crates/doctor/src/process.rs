//! One running server process, as `/proc/PID` shows it to us: what it is, what it has mapped, what it was given.
//!
//! Nothing here touches the process. Whether we could attach is asked by opening `/proc/PID/mem`, which passes the
//! same gate as an attach (`PTRACE_MODE_ATTACH`, fs/proc/base.c) and disturbs nobody.

use crate::environment;
use crate::environment::Variable;
use crate::gpus::Gpu;
use crate::host::{Host, Look};
use crate::rocm;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    OllamaServer,
    OllamaRunner,
    LlamaServer,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Role::OllamaServer => "ollama serve",
            Role::OllamaRunner => "ollama runner",
            Role::LlamaServer => "llama-server",
        }
    }
}

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
    /// The variables that matter here, as the process was started with them.
    pub environment: Look<Vec<Variable>>,
    /// Shared libraries mapped into it.
    pub libraries: Look<Vec<Library>>,
    /// TCP ports that it listens on, or else the one that it was told.
    pub ports: Vec<u16>,
    /// Where it was seen to listen: nobody is asked anywhere else.
    #[serde(skip)]
    pub listens: Vec<SocketAddr>,
    /// Whether an attach would be allowed.
    pub attachable: Look<bool>,
    /// A compute context of the AMD kernel driver exists for it.
    pub kfd: bool,
}

impl Process {
    pub fn read(host: &Host, pid: u32) -> Option<Process> {
        let command: Vec<String> = split(&host.bytes(format!("/proc/{pid}/cmdline")).found().cloned()?);
        let role = role(&command)?;
        let status = host.text(format!("/proc/{pid}/status")).found().cloned().unwrap_or_default();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let uid = field("Uid:").and_then(|ids| ids.split_whitespace().nth(1)?.parse().ok());
        let environment = host.bytes(format!("/proc/{pid}/environ")).map(|bytes| {
            let pairs = split(&bytes).into_iter().filter_map(|pair| {
                let (name, value) = pair.split_once('=')?;
                Some((name.to_owned(), value.to_owned()))
            });
            environment::of_interest(pairs)
        });
        let listens = listens(host, pid);
        let mut ports: BTreeSet<u16> = listens.iter().map(SocketAddr::port).collect();
        if ports.is_empty() {
            ports.extend(named_port(&command));
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
            // Shown, and written into JSON and the ledger: without keys and prompts.
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

    /// The distinct ROCm releases among its libraries.
    pub fn releases(&self) -> Vec<&str> {
        let libraries = self.libraries.found().map(Vec::as_slice).unwrap_or_default();
        let set: BTreeSet<&str> = libraries.iter().filter_map(|library| library.release.as_deref()).collect();
        set.into_iter().collect()
    }

    /// The model's path, from the command line of a runner or a llama-server.
    pub fn model(&self) -> Option<&str> {
        let mut words = self.command.iter();
        while let Some(word) = words.next() {
            if matches!(word.as_str(), "--model" | "-model" | "-m") {
                return words.next().map(String::as_str);
            }
            if let Some(path) = word.strip_prefix("--model=") {
                return Some(path);
            }
        }
        None
    }
}

fn split(bytes: &[u8]) -> Vec<String> {
    let parts = bytes.split(|&byte| byte == 0).filter(|part| !part.is_empty());
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

/// By the program's own name and its first word, so that `grep ollama` is none.
fn role(command: &[String]) -> Option<Role> {
    let program = command.first()?.rsplit('/').next()?;
    let first = command.get(1).map(String::as_str);
    match (program, first) {
        ("ollama" | "ollama-lib", Some("serve" | "start")) => Some(Role::OllamaServer),
        ("ollama" | "ollama-lib", Some("runner")) => Some(Role::OllamaRunner),
        // Some packages install the server under their own name.
        ("llama-server" | "llama-server-impl", _) => Some(Role::LlamaServer),
        _ => None,
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

/// Sockets among its own file descriptors that listen, in the network that is ours too: at the same port of another network
/// namespace somebody else may listen. Where its descriptors cannot be read (another user's), it is not known to listen anywhere: a
/// listener of the same user may be any program.
fn listens(host: &Host, pid: u32) -> Vec<SocketAddr> {
    let network = |who: &str| host.link(format!("/proc/{who}/ns/net")).found().cloned();
    if network(&pid.to_string()) != network("self") {
        return Vec::new();
    }
    let fds = host.names(format!("/proc/{pid}/fd"));
    let numbers = fds.found().map(Vec::as_slice).unwrap_or_default();
    let links = numbers.iter().filter_map(|fd| host.link(format!("/proc/{pid}/fd/{fd}")).found().cloned());
    let inodes: BTreeSet<String> =
        links.filter_map(|link| Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())).collect();
    let tables = ["tcp", "tcp6"].map(|name| host.text(format!("/proc/{pid}/net/{name}")).found().cloned());
    let listeners: Vec<Listener> =
        tables.iter().flatten().flat_map(|text| text.lines().filter_map(Listener::parse)).collect();
    let own = listeners.iter().filter(|listener| inodes.contains(&listener.inode)).map(|listener| listener.at);
    own.collect::<BTreeSet<SocketAddr>>().into_iter().collect()
}

fn named_port(command: &[String]) -> Option<u16> {
    let after = |flag: &str| command.iter().position(|word| word == flag).and_then(|at| command.get(at + 1));
    after("--port").or_else(|| after("-port")).and_then(|port| port.parse().ok())
}

/// A line of `/proc/net/tcp` in state LISTEN (0A, include/net/tcp_states.h).
#[derive(Debug, PartialEq, Eq)]
struct Listener {
    at: SocketAddr,
    inode: String,
}

impl Listener {
    /// `sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode ...`
    fn parse(line: &str) -> Option<Listener> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (address, port) = fields.get(1)?.split_once(':')?;
        let at = SocketAddr::new(reached(address)?, u16::from_str_radix(port, 16).ok()?);
        let inode = (*fields.get(9)?).to_owned();
        (*fields.get(3)? == "0A").then_some(Listener { at, inode })
    }
}

/// The address as the kernel writes it: words of four bytes, each in the machine's own order. One that stands for all is reached at this
/// machine's own.
fn reached(hex: &str) -> Option<IpAddr> {
    let words: Vec<[u8; 4]> = hex
        .as_bytes()
        .chunks(8)
        .map(|word| Some(u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()?.to_le_bytes()))
        .collect::<Option<_>>()?;
    let address = match words.concat().as_slice() {
        four if four.len() == 4 => IpAddr::from(*four.first_chunk::<4>()?),
        all if all.len() == 16 => IpAddr::from(Ipv6Addr::from(*all.first_chunk::<16>()?)).to_canonical(),
        _ => return None,
    };
    Some(if address.is_unspecified() { Ipv4Addr::LOCALHOST.into() } else { address })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_told_from_bystanders() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(role(&words("/usr/local/bin/ollama serve")), Some(Role::OllamaServer));
        assert_eq!(role(&words("/usr/local/bin/ollama runner --model x")), Some(Role::OllamaRunner));
        assert_eq!(role(&words("grep ollama serve")), None);
        assert_eq!(role(&words("ollama run qwen")), None);
    }

    #[test]
    fn a_listening_socket_is_read() {
        let line = "   0: 0100007F:2CAA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  998        0 31337 1";
        let at = SocketAddr::from(([127, 0, 0, 1], 11434));
        assert_eq!(Listener::parse(line), Some(Listener { at, inode: "31337".to_owned() }));
        assert_eq!(reached("0900007F"), Some(IpAddr::from([127, 0, 0, 9])));
        assert_eq!(reached("00000000000000000000000000000000"), Some(Ipv4Addr::LOCALHOST.into()));
        assert_eq!(reached("0000000000000000FFFF00000100007F"), Some(Ipv4Addr::LOCALHOST.into()));
        assert_eq!(reached("00000000000000000000000001000000"), Some(Ipv6Addr::LOCALHOST.into()));
        assert_eq!(Listener::parse(&line.replace(" 0A ", " 01 ")), None);
    }
}
