//! The cases people meet: "100% GPU" but slow, or on the CPU, or not found at all. Each is looked for in the facts;
//! only those that are here are told, with what shows them and what fixes them.

use crate::environment::Variable;
use crate::process::Process;
use crate::servers::Unit;
use crate::verdicts::Fix;
use crate::{Facts, HostObserver, Trials};
use answer::Message;
use evidence::{Basis, Blind, Conclusion, LeftOutWhy, Rung, THIS_HOST};
use say::shell::CommandLine;
use schemars::JsonSchema;
use serde::Serialize;

mod compute;
mod devices;
mod files;
mod variables;
mod vulkan;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// It breaks or slows what runs here.
    Problem,
    /// It will, as soon as somebody relies on it.
    Warning,
    /// Worth knowing.
    Note,
}

impl Weight {
    pub fn name(self) -> &'static str {
        match self {
            Weight::Problem => "problem",
            Weight::Warning => "warning",
            Weight::Note => "note",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    pub id: &'static str,
    pub weight: Weight,
    pub what: Message,
    pub fix: Vec<Fix>,
}

impl Case {
    fn new(id: &'static str, weight: Weight, what: Message) -> Case {
        Case { id, weight, what, fix: Vec::new() }
    }

    fn run(mut self, command: impl Into<CommandLine>) -> Case {
        self.fix.push(Fix::Run(command.into()));
        self
    }

    fn change(mut self, run: impl Into<CommandLine>, undo: impl Into<CommandLine>) -> Case {
        self.fix.extend(Fix::change(run, undo));
        self
    }

    fn with_fix(mut self, fix: Fix) -> Case {
        self.fix.push(fix);
        self
    }

    fn say(mut self, key: &'static str) -> Case {
        self.fix.push(Fix::Do(Message::new(key)));
        self
    }
}

/// Heaviest first; among equals in the order in which a GPU is found: card, device file, variable, library, process.
pub fn find(facts: &Facts, _trials: &Trials) -> Vec<Case> {
    let mut cases = devices::find(facts);
    cases.extend(variables::find(facts));
    cases.extend(files::find(facts));
    cases.extend(compute::find(facts));
    cases.extend(vulkan::find(facts));
    cases.sort_by_key(|case| case.weight);
    cases
}

/// Is any of them here? As far as could be looked: devices, and the variables and libraries of every server that runs.
pub fn conclude(facts: &Facts, cases: &[Case]) -> Conclusion {
    let looks = facts.servers.running.iter().flat_map(|process| {
        let of = |file: &str| format!("/proc/{}/{file}", process.pid);
        [(of("environ"), process.environment.found().is_some()), (of("maps"), process.libraries.found().is_some())]
    });
    let looks: Vec<(String, bool)> = looks.collect();
    let seen = looks.iter().filter(|(_, seen)| *seen).count() as u64 + u64::from(facts.devices_seen);
    let asked = looks.len() as u64 + u64::from(facts.devices_seen);
    // The servers were found by looking: there may be others.
    let mut basis = Basis::new(HostObserver::NAME, [THIS_HOST], Rung::Loaded, evidence::Unit::Settings, asked, seen)
        .cannot_see(Blind::HiddenDevices.spot())
        .cannot_see(Blind::OtherProcesses.spot());
    if !facts.devices_seen {
        // Without it no card, no driver and no device file can be seen, and nothing that is wrong with them.
        basis = basis.lacking("/sys", LeftOutWhy::Unreadable);
    }
    for (what, _) in looks.iter().filter(|(_, seen)| !seen) {
        basis = basis.without(what, Some(1), LeftOutWhy::Unreadable);
    }
    basis.presence(cases.len() as u64)
}

/// The unit that starts Ollama here.
pub fn ollama_unit(facts: &Facts) -> Option<&Unit> {
    facts.servers.units.iter().find(|unit| unit.path.ends_with("/ollama.service"))
}

/// A variable for a systemd service, in a file of its own that is easy to remove again.
pub fn set_in_unit(unit: &Unit, variable: &str, value: &str) -> Fix {
    drop_in(unit, variable, &format!("Environment=\"{variable}={value}\""))
}

/// A drop-in cannot take an `Environment=` of the unit back by an empty one without losing the others: this can.
pub fn unset_in_unit(unit: &Unit, variable: &str) -> Fix {
    drop_in(unit, &format!("unset-{variable}"), &format!("UnsetEnvironment={variable}"))
}

fn drop_in(unit: &Unit, name: &str, line: &str) -> Fix {
    let service = unit.path.rsplit('/').next().unwrap_or_default();
    let dir = format!("/etc/systemd/system/{service}.d");
    let file = format!("{dir}/whichkernel-{name}.conf");
    let restart = CommandLine::new("sudo systemctl daemon-reload && sudo systemctl restart {}", [service]);
    let write = CommandLine::new(
        "sudo mkdir -p {} && printf '%s\\n' '[Service]' {} | sudo tee {} >/dev/null",
        [dir.as_str(), line, &file],
    );
    Fix::Change { run: write.and(&restart), undo: CommandLine::new("sudo rm {}", [file]).and(&restart) }
}

/// Where a variable is set.
#[derive(Debug, Clone, Copy)]
enum SetIn<'a> {
    Process(&'a Process),
    Unit(&'a Unit),
    Shell,
}

impl SetIn<'_> {
    fn name(self) -> String {
        match self {
            SetIn::Process(process) => format!("{} {}", process.role.name(), process.pid),
            SetIn::Unit(unit) => unit.path.clone(),
            SetIn::Shell => "shell".to_owned(),
        }
    }

    /// How it is taken out there. A process keeps what it was started with: it has to be started anew, not a second one beside it.
    fn unset(self, variable: &str) -> Fix {
        match self {
            SetIn::Unit(unit) => unset_in_unit(unit, variable),
            SetIn::Shell => Fix::Run(CommandLine::new("unset {}", [variable])),
            SetIn::Process(process) => {
                Fix::Do(Message::new("doctor-unset-process-fix").with("pid", process.pid).with("name", variable))
            }
        }
    }
}

/// Every place where a variable is set: running processes first, then units, then this shell. A process that has it from its
/// unit is not a place of its own.
fn places<'a>(facts: &'a Facts, name: &str) -> Vec<(SetIn<'a>, &'a str)> {
    let value = |list: &'a [Variable]| list.iter().find(|v| v.name == name).map(|v| v.value.as_str());
    let units: Vec<(SetIn<'a>, &str)> =
        facts.servers.units.iter().filter_map(|unit| Some((SetIn::Unit(unit), value(&unit.environment)?))).collect();
    let from_unit = |given: &str| units.iter().any(|(_, value)| *value == given);
    let processes = facts.servers.running.iter();
    let mut found: Vec<(SetIn<'a>, &str)> = processes
        .filter_map(|process| Some((SetIn::Process(process), process.variable(name)?)))
        .filter(|(_, value)| !from_unit(value))
        .collect();
    found.extend(units);
    found.extend(value(&facts.environment).map(|value| (SetIn::Shell, value)));
    found
}
