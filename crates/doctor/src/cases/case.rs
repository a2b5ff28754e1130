//! A case: its severity, its message and its fixes.

use crate::Fix;
use say::shell::CommandLine;
use say::{Key, Message, Say as _};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// The case breaks or slows a program that runs here.
    Problem,
    /// The case breaks or slows a program as soon as a program depends on it.
    Warning,
    /// Information only.
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
    pub(super) fn new(id: &'static str, weight: Weight, what: Message) -> Case {
        Case { id, weight, what, fix: Vec::new() }
    }

    pub(super) fn run(self, command: impl Into<CommandLine>) -> Case {
        self.with_fix(Fix::Run(command.into()))
    }

    pub(super) fn change(mut self, run: impl Into<CommandLine>, undo: impl Into<CommandLine>) -> Case {
        self.fix.extend(Fix::change(run, undo));
        self
    }

    pub(super) fn with_fix(mut self, fix: Fix) -> Case {
        self.fix.push(fix);
        self
    }

    pub(super) fn say(self, key: Key) -> Case {
        self.with_fix(Fix::Do(key.message()))
    }
}
