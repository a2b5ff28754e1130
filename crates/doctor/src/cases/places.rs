//! The place where a variable is set: a process, a systemd unit, or this shell.

use crate::fix::{Fix, unset_in_unit};
use crate::servers::Unit;
use crate::{Facts, Process, Variable};
use say::say;
use say::shell::CommandLine;

/// The place where a variable is set.
#[derive(Debug, Clone, Copy)]
pub enum SetIn<'a> {
    Process(&'a Process),
    Unit(&'a Unit),
    Shell,
}

impl SetIn<'_> {
    pub fn name(self) -> String {
        match self {
            SetIn::Process(process) => format!("{} {}", process.role.name(), process.pid),
            SetIn::Unit(unit) => unit.path.clone(),
            SetIn::Shell => "shell".to_owned(),
        }
    }

    /// How to unset the variable there. A process keeps its environment, so it must be restarted. Starting a second one
    /// is not enough.
    pub fn unset(self, variable: &str) -> Fix {
        match self {
            SetIn::Unit(unit) => unset_in_unit(unit, variable),
            SetIn::Shell => Fix::Run(CommandLine::new("unset {}", [variable])),
            SetIn::Process(process) => Fix::Do(say!("doctor-unset-process-fix", pid = process.pid, name = variable)),
        }
    }
}

/// Every place where a variable is set: running processes first, then units, then this shell. A process that inherited
/// the variable from its unit is not listed separately.
pub fn places<'a>(facts: &'a Facts, name: &str) -> Vec<(SetIn<'a>, &'a str)> {
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
