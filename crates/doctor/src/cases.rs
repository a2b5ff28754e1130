//! The cases people meet: "100% GPU" but slow, or on the CPU, or not found at all. Each is looked for in the facts;
//! only those that are here are told, with what shows them and what fixes them.

use crate::environment::Variable;
use crate::message::Message;
use crate::process::Process;
use crate::verdicts::Fix;
use crate::{Facts, Trials};
use serde::Serialize;

mod compute;
mod devices;
mod files;
mod variables;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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

    fn run(mut self, command: impl Into<String>) -> Case {
        self.fix.push(Fix::Run(command.into()));
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
    cases.sort_by_key(|case| case.weight);
    cases
}

/// A variable for the systemd service, in a file of its own that is easy to remove again.
pub fn set_in_unit(variable: &str, value: &str) -> String {
    let dir = "/etc/systemd/system/ollama.service.d";
    format!(
        "sudo mkdir -p {dir} && printf '[Service]\\nEnvironment=\"{variable}={value}\"\\n' | sudo tee \
         {dir}/whichkernel-{variable}.conf && sudo systemctl daemon-reload && sudo systemctl restart ollama"
    )
}

/// Every place where a variable is set: running processes first, then units, then this shell.
fn places<'a>(facts: &'a Facts, name: &'a str) -> Vec<(String, &'a str)> {
    let value = |list: &'a [Variable]| list.iter().find(|v| v.name == name).map(|v| v.value.as_str());
    let processes = facts.servers.running.iter();
    let mut found: Vec<(String, &str)> = processes
        .filter_map(|process: &Process| {
            Some((format!("{} {}", process.role.name(), process.pid), process.variable(name)?))
        })
        .collect();
    found.extend(facts.servers.units.iter().filter_map(|unit| Some((unit.path.clone(), value(&unit.environment)?))));
    found.extend(value(&facts.environment).map(|value| ("shell".to_owned(), value)));
    found
}
