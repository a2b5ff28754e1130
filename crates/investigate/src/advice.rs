//! Advice on how to decide a claim on this machine: a command to copy, and the prerequisites that are missing.
//!
//! An investigation file uses placeholders (`{runtime}`, `{source:rocBLAS}`), which are replaced by this machine's
//! paths. A command with an unfilled placeholder is never shown. If a prerequisite is missing, the advice describes how
//! to get it.

use crate::feasible::Feasibility;
use evidence::{Looker, Reading, Reason, Why};
use say::shell::{self, CommandLine};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A requirement of a command that this machine does not meet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(tag = "need", content = "name", rename_all = "kebab-case")]
pub enum Need {
    /// An installation: `ollama-rocm-60303`.
    Runtime(String),
    /// A GPU of this target.
    Device(String),
    /// The machine with this name.
    Machine(String),
    /// A program that is not on the PATH.
    Program(String),
    /// A missing file or directory.
    File(String),
    /// A placeholder in the command: `FILE`.
    Filled(String),
    /// Privileges that this user lacks: `CAP_BPF`.
    Rights(String),
    /// A process with this name or ID.
    Process(String),
    /// A server at this address.
    Server(String),
    /// A network connection.
    Network,
}

/// A command without placeholders, and its missing prerequisites.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Advice {
    pub command: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
}

/// Paths on this machine.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Installations by name.
    pub runtimes: BTreeMap<String, PathBuf>,
    /// Source trees by name, in the form that `source` accepts.
    pub trees: BTreeMap<String, String>,
    /// Libraries that can be examined, by name.
    pub files: BTreeMap<String, PathBuf>,
    /// The server process that has the model loaded.
    pub runner: Option<u32>,
    pub server_log: Option<PathBuf>,
    /// Whether every observer has already looked here, so that another look would give the same result.
    pub looked: bool,
    /// Checks which prerequisites of a command are missing here; None if that is not checked.
    pub feasible: Option<Feasibility>,
    /// Whether the program's own parser accepts a command: a rejected command is not advised.
    pub takes: Option<fn(&str) -> bool>,
}

/// Whether the reason is that it was not attempted, and an automatic observer could check it.
fn in_view(reason: &Reason) -> bool {
    matches!(reason, Reason::NeverTried { observers } if observers.iter().any(|one| matches!(one, Looker::Itself(_))))
}

/// Fetches everything that can be fetched and runs all observers. This is how to get a source tree that is not here.
pub const FETCH: &str = "whichkernel investigate --yes";
const LOOK: &str = "whichkernel investigate";

impl Places {
    /// The advice that would decide the open parts of this reading. None if no command of this build can decide them.
    pub fn advise(&self, closes: &str, runtime: Option<&str>, reading: &Reading) -> Option<Advice> {
        match reading.grade.why()? {
            // An observer has already looked, and repeating that gives the same result.
            Why::Conflict | Why::Contaminated | Why::Blind | Why::NotInView => return None,
            Why::Blocked => {
                let fix = reading.reasons.iter().find_map(|reason| match reason {
                    Reason::Blocked { fix, .. } if !fix.is_empty() => Some(fix.clone()),
                    _ => None,
                });
                let fix = fix.filter(|fix| fix.starts_with("whichkernel ") || fix.starts_with("sudo whichkernel "));
                // The command may come from another machine's ledger.
                if let Some(command) = fix.as_deref().and_then(CommandLine::read) {
                    return Some(self.with_needs(Advice { command: command.into(), needs: Vec::new() }));
                }
            }
            Why::OtherMachine | Why::NotHere | Why::NoDevice | Why::NeverTried => {}
        }
        let machine = reading.reasons.iter().find_map(|reason| match reason {
            Reason::OtherMachine { host } => Some(host.clone()),
            _ => None,
        });
        if let Some(host) = machine {
            let command = format!("{LOOK} --here {}", shell::word(&host));
            return Some(Advice { command, needs: vec![Need::Machine(host)] });
        }
        let mut advice = if !self.looked && reading.reasons.iter().any(in_view) {
            Advice { command: LOOK.to_owned(), needs: Vec::new() }
        } else {
            self.fill(closes, runtime)
        };
        for reason in &reading.reasons {
            match reason {
                Reason::NotHere { what } => advice.needs.push(Need::Runtime(what.clone())),
                Reason::NoDevice { what } => advice.needs.push(Need::Device(what.clone())),
                _ => {}
            }
        }
        Some(self.with_needs(advice))
    }

    /// Adds the prerequisites of the command to those of the claim.
    pub fn with_needs(&self, mut advice: Advice) -> Advice {
        advice.needs.extend(self.feasible.iter().flat_map(|here| here.needs(&advice.command)));
        advice.needs.sort();
        advice.needs.dedup();
        advice
    }

    /// Fills this machine's paths into the command.
    pub fn fill(&self, closes: &str, runtime: Option<&str>) -> Advice {
        let mut command = String::new();
        let mut rest = closes;
        while let Some((before, (name, after))) =
            rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        {
            command.push_str(before);
            match self.path(name, runtime) {
                Ok(path) => command.push_str(&path),
                Err(instead) => return instead,
            }
            rest = after;
        }
        command.push_str(rest);
        Advice { command, needs: Vec::new() }
    }

    fn path(&self, name: &str, runtime: Option<&str>) -> Result<String, Advice> {
        let instead = |command: &str, needs: Vec<Need>| Err(Advice { command: command.to_owned(), needs });
        let quoted = |path: &PathBuf| shell::word(&path.to_string_lossy());
        match name.split_once(':').unwrap_or((name, "")) {
            ("runtime", _) => match runtime.and_then(|name| self.runtimes.get(name)) {
                Some(path) => Ok(quoted(path)),
                // If the runtime is installed, an investigation finds it automatically.
                None => instead(LOOK, runtime.map(|name| Need::Runtime(name.to_owned())).into_iter().collect()),
            },
            ("source", tree) => {
                let (name, _) = tree.split_once('@').unwrap_or((tree, ""));
                match self.trees.get(tree).or_else(|| self.trees.get(name)) {
                    Some(tree) => Ok(shell::word(tree)),
                    None => instead(FETCH, Vec::new()),
                }
            }
            ("file", file) => match self.files.get(file) {
                Some(path) => Ok(quoted(path)),
                None => instead("whichkernel runtime fetch debian-sid --yes", Vec::new()),
            },
            ("runner", _) => {
                Ok(self.runner.map_or_else(|| "$(pgrep -o -f 'ollama runner')".to_owned(), |pid| pid.to_string()))
            }
            ("server-log", _) => {
                Ok(self.server_log.as_ref().map_or_else(|| "<(journalctl -u ollama -o cat)".to_owned(), quoted))
            }
            // Unknown placeholders are kept, because the file belongs to the user.
            _ => Ok(format!("{{{name}}}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_this_machine_are_put_in() {
        let mut places = Places::default();
        let inspect = "whichkernel inspect {runtime}/libggml-hip.so --record";
        let missing = places.fill(inspect, Some("ollama-rocm-60303"));
        assert_eq!(missing, Advice { command: LOOK.into(), needs: vec![Need::Runtime("ollama-rocm-60303".into())] });
        places.runtimes.insert("ollama-rocm-60303".into(), "/opt/my ollama/rocm".into());
        let filled = places.fill(inspect, Some("ollama-rocm-60303")).command;
        assert_eq!(filled, "whichkernel inspect '/opt/my ollama/rocm'/libggml-hip.so --record");
        let chain = "whichkernel source {source:ollama@4fda6980} --chain --record";
        assert_eq!(places.fill(chain, None).command, FETCH);
        places.trees.insert("ollama".into(), "/src/ollama@4fda6980".into());
        assert_eq!(places.fill(chain, None).command, "whichkernel source /src/ollama@4fda6980 --chain --record");
        places.runner = Some(4711);
        assert_eq!(
            places.fill("whichkernel inspect {runner} --record", None).command,
            "whichkernel inspect 4711 --record"
        );
    }
}
