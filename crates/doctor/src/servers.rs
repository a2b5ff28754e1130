//! Inference servers: installed, configured, running.

use crate::environment::{self, Variable};
use crate::{Host, Process, rocm};
use schemars::JsonSchema;
use serde::Serialize;
use server::process::{PROGRAMS, UNITS};
use std::io::Read as _;
use sys::abi;

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Binary {
    pub path: String,
    /// Whether the program is set-user-ID. The loader ignores LD_PRELOAD for it; a static program has no loader at all.
    pub setuid: bool,
    pub dynamic: Option<bool>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Unit {
    pub path: String,
    pub user: Option<String>,
    /// The variables that matter here, from `Environment=` of the unit and its drop-ins.
    pub environment: Vec<Variable>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Servers {
    pub binaries: Vec<Binary>,
    /// Directories below Ollama's library directory (`rocm`, `cuda_v12`, ...).
    pub ollama_libraries: Vec<String>,
    pub units: Vec<Unit>,
    pub running: Vec<Process>,
    /// Whether processes could be examined. A file tree may have none, so that running servers are unknown.
    pub processes_seen: bool,
}

impl Servers {
    pub fn read(host: &Host) -> Servers {
        let mut binaries = Vec::new();
        for name in PROGRAMS {
            binaries.extend(rocm::tools(host, name).into_iter().map(|path| binary(host, path)));
        }
        let libraries = ["/usr/local/lib/ollama", "/usr/lib/ollama"].into_iter().flat_map(|base| {
            let dirs = host.entries(base).into_iter().map(move |name| format!("{base}/{name}"));
            dirs.filter(|path| host.is_dir(path)).collect::<Vec<_>>()
        });
        Servers {
            binaries,
            ollama_libraries: libraries.collect(),
            units: units(host),
            running: running(host),
            processes_seen: processes_seen(host),
        }
    }

    /// The unit that starts Ollama here.
    pub fn ollama_unit(&self) -> Option<&Unit> {
        self.units.iter().find(|unit| unit.path.ends_with("/ollama.service"))
    }

    /// The processes that compute: Ollama's runners, vLLM's engines and llama-servers, not the front server.
    pub fn workers(&self) -> impl Iterator<Item = &Process> {
        self.running.iter().filter(|process| process.role.computes())
    }
}

fn processes_seen(host: &Host) -> bool {
    host.live() || host.entries("/proc").iter().any(|name| name.parse::<u32>().is_ok())
}

fn running(host: &Host) -> Vec<Process> {
    let pids = host.entries("/proc").into_iter().filter_map(|name| name.parse().ok());
    let mut found: Vec<Process> = pids.filter_map(|pid| Process::read(host, pid)).collect();
    found.sort_by_key(|process| process.pid);
    found
}

fn binary(host: &Host, path: String) -> Binary {
    let setuid = host.mode(&path).is_some_and(|mode| mode & (abi::S_ISUID | abi::S_ISGID) != 0);
    Binary { setuid, dynamic: head(host, &path).and_then(|bytes| dynamic(&bytes)), path }
}

fn head(host: &Host, path: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    host.open(path).ok()?.take(64 << 10).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Whether a 64-bit ELF has a program header of type PT_INTERP (3): only then does a loader run. None if it is not an
/// ELF.
fn dynamic(bytes: &[u8]) -> Option<bool> {
    let half = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    if bytes.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let table = usize::try_from(u64::from_le_bytes(bytes.get(32..40)?.try_into().ok()?)).ok()?;
    let (size, count) = (usize::from(half(54)?), usize::from(half(56)?));
    let kind =
        |i: usize| bytes.get(table.checked_add(i.checked_mul(size)?)?..)?.get(..4).map(|word| word == [3, 0, 0, 0]);
    Some((0..count).any(|i| kind(i) == Some(true)))
}

/// Reads the units. As in systemd, the first unit file wins, and the drop-ins of every directory are added to it.
fn units(host: &Host) -> Vec<Unit> {
    const DIRS: [&str; 4] =
        ["/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"];
    let mut found = Vec::new();
    for name in UNITS {
        let path = DIRS.iter().map(|dir| format!("{dir}/{name}")).find(|path| host.exists(path));
        let Some(path) = path else { continue };
        let mut text = host.text(&path).found().cloned().unwrap_or_default();
        for dir in DIRS {
            let drop_ins = format!("{dir}/{name}.d");
            for file in host.entries(&drop_ins).into_iter().filter(|file| file.ends_with(".conf")) {
                text.push('\n');
                text.push_str(host.text(format!("{drop_ins}/{file}")).found().map_or("", String::as_str));
            }
        }
        let user = text.lines().filter_map(|line| line.trim().strip_prefix("User=")).next_back().map(str::to_owned);
        found.push(Unit { path, user, environment: unit_environment(&text) });
    }
    found
}

/// Reads lines like `Environment="A=1" "B=2"`. A later line for the same name wins, an empty one discards all before
/// it, and `UnsetEnvironment=` removes variables at the end (systemd.exec(5)).
fn unit_environment(text: &str) -> Vec<Variable> {
    let mut all = std::collections::BTreeMap::new();
    for line in text.lines().filter_map(|line| line.trim().strip_prefix("Environment=")) {
        if line.trim().is_empty() {
            all.clear();
        }
        let quoted = line.split('"').enumerate();
        for (i, piece) in quoted {
            let words: Vec<&str> = if i % 2 == 1 { vec![piece] } else { piece.split_whitespace().collect() };
            all.extend(words.into_iter().filter_map(|word| word.split_once('=')));
        }
    }
    for line in text.lines().filter_map(|line| line.trim().strip_prefix("UnsetEnvironment=")) {
        for word in line.split_whitespace().map(|word| word.trim_matches('"')) {
            all.retain(|name, value| word != *name && word != format!("{name}={value}"));
        }
    }
    environment::of_interest(all.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_variables_are_read_quoted_and_not() {
        let text =
            "[Service]\nEnvironment=\"HSA_OVERRIDE_GFX_VERSION=11.0.0\" OLLAMA_DEBUG=1\nEnvironment=\"PATH=/bin\"\n";
        let found = unit_environment(text);
        let names: Vec<&str> = found.iter().map(|variable| variable.name.as_str()).collect();
        assert_eq!(names, ["HSA_OVERRIDE_GFX_VERSION", "OLLAMA_DEBUG"]);
    }

    #[test]
    fn this_test_is_a_dynamic_program() {
        let exe = std::env::current_exe().unwrap();
        let bytes = std::fs::read(exe).unwrap();
        assert_eq!(dynamic(&bytes), Some(true));
        assert_eq!(dynamic(b"#!/bin/sh\n"), None);
    }
}
