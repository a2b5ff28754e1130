//! An examination in machine-readable form. Its sentences are always in one language, regardless of the reader's;
//! `code` and `id` identify them.

use crate::{Facts, Fix, Report, Status, Trials, Weight};
use evidence::Conclusion;
use say::Message;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

/// Which observers work on this machine, the known problems found here, and everything that was read and tried.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Examination<'r> {
    pub observers: Vec<ObserverVerdict>,
    pub cases: Vec<CaseFound>,
    /// Whether a known problem was found, as far as this machine could be examined.
    pub cases_found: Conclusion,
    pub host: &'r Facts,
    pub trials: &'r Trials,
}

impl answer::Answer for Examination<'_> {
    const SCHEMA: &'static str = "whichkernel.doctor/1";
}

/// Whether one observer works here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ObserverVerdict {
    pub name: &'static str,
    pub status: Status,
    pub why: String,
    /// A command, or an instruction if no command does it.
    pub fix: Option<String>,
    /// The command that undoes the fix.
    pub undo: Option<String>,
    /// The name of the first reason.
    pub code: Option<Cow<'static, str>>,
}

/// A known problem found on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CaseFound {
    pub id: &'static str,
    pub weight: Weight,
    pub what: String,
    pub fix: Vec<String>,
    pub undo: Vec<String>,
}

/// Renders messages in a language, joined the way that language joins sentences.
pub type Say<'s> = &'s dyn Fn(&[Message]) -> String;

impl Fix {
    /// The command, or the sentence rendered by `say`.
    pub fn text(&self, say: Say<'_>) -> String {
        match self {
            Fix::Run(command) | Fix::Change { run: command, .. } => command.to_string(),
            Fix::Do(message) => say(std::slice::from_ref(message)),
        }
    }

    /// The command that undoes the fix.
    pub fn undo(&self) -> Option<&str> {
        match self {
            Fix::Change { undo, .. } => Some(undo.as_str()),
            Fix::Run(_) | Fix::Do(_) => None,
        }
    }
}

impl Report {
    /// Whether one of the known cases applies here. The conclusion names what could not be examined.
    pub fn cases_found(&self) -> Conclusion {
        crate::cases::conclude(&self.facts, &self.cases)
    }

    /// The machine-readable answer. `say` renders a list of messages as one text.
    pub fn answer(&self, say: Say<'_>) -> Examination<'_> {
        let observer = |observer: &crate::Verdict| ObserverVerdict {
            name: observer.name,
            status: observer.status,
            why: say(&observer.why),
            fix: observer.fix.as_ref().map(|fix| fix.text(say)),
            undo: observer.fix.as_ref().and_then(Fix::undo).map(str::to_owned),
            code: observer.why.first().map(|message| message.key.clone()),
        };
        let case = |case: &crate::Case| CaseFound {
            id: case.id,
            weight: case.weight,
            what: say(std::slice::from_ref(&case.what)),
            fix: case.fix.iter().map(|fix| fix.text(say)).collect(),
            undo: case.fix.iter().filter_map(Fix::undo).map(str::to_owned).collect(),
        };
        Examination {
            observers: self.observers.iter().map(observer).collect(),
            cases: self.cases.iter().map(case).collect(),
            cases_found: self.cases_found(),
            host: &self.facts,
            trials: &self.trials,
        }
    }
}
