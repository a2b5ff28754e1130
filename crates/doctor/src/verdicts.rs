//! From facts and trials to one line per observer: works, blocked, absent or untested; why; what fixes it.
//!
//! Pure: the same facts and trials give the same verdicts. `works` is said only where a trial worked.

use crate::Facts;
use crate::trials::{Trial, Trials};
use answer::Message;
use say::shell::CommandLine;
use schemars::JsonSchema;
use serde::Serialize;

mod logs;
mod probes;
mod tools;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Works,
    Blocked,
    Absent,
    Untested,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Works => "works",
            Status::Blocked => "blocked",
            Status::Absent => "absent",
            Status::Untested => "untested",
        }
    }
}

/// What to do: a command to run as it stands, or a sentence where no command does it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fix {
    /// Leaves nothing behind that would have to be taken back.
    Run(CommandLine),
    /// Changes what lasts, with the command that puts it back.
    Change {
        run: CommandLine,
        undo: CommandLine,
    },
    Do(Message),
}

impl Fix {
    pub fn run(command: impl Into<CommandLine>) -> Option<Fix> {
        Some(Fix::Run(command.into()))
    }

    pub fn change(run: impl Into<CommandLine>, undo: impl Into<CommandLine>) -> Option<Fix> {
        Some(Fix::Change { run: run.into(), undo: undo.into() })
    }

    /// A kernel setting, put back to the value that was found.
    pub fn sysctl(name: &str, value: i64, found: i64) -> Option<Fix> {
        let set = |value: i64| CommandLine::new("sudo sysctl {}", [format!("{name}={value}")]);
        Fix::change(set(value), set(found))
    }

    pub fn say(key: &'static str) -> Option<Fix> {
        Some(Fix::Do(Message::new(key)))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub name: &'static str,
    pub status: Status,
    pub why: Vec<Message>,
    pub fix: Option<Fix>,
}

impl Verdict {
    fn new(name: &'static str, status: Status, why: Message, fix: Option<Fix>) -> Verdict {
        Verdict { name, status, why: vec![why], fix }
    }

    fn untested(name: &'static str) -> Verdict {
        Verdict::new(name, Status::Untested, Message::new("doctor-not-tried"), None)
    }

    fn and(mut self, more: Option<Message>) -> Verdict {
        self.why.extend(more);
        self
    }
}

/// Which verb of whichkernel uses which observer. `None`: never, because it disturbs its target.
const USERS: [(&str, Option<&str>); 12] = [
    ("uprobe", Some("watch")),
    ("bpf", Some("watch")),
    ("tracefs", Some("watch")),
    ("preload", Some("watch")),
    ("ptrace", None),
    ("maps", Some("inspect")),
    ("rocprofv3", None),
    ("rocblas-log", Some("watch")),
    ("tensile-log", Some("watch")),
    ("amd-log", Some("watch")),
    ("phase-proxy", Some("probe")),
    ("dryrun", Some("dryrun")),
];

pub fn judge(facts: &Facts, trials: &Trials, verbs: &[&str]) -> Vec<Verdict> {
    let observers = vec![
        probes::uprobe(facts, trials),
        probes::bpf(facts, trials),
        probes::tracefs(facts),
        probes::preload(facts, trials),
        probes::ptrace(facts, trials),
        tools::maps(facts),
        tools::rocprofv3(facts, trials),
        logs::log("rocblas-log", "ROCBLAS_LAYER", "9", facts, trials),
        logs::log("tensile-log", "TENSILE_DB", "0x8000", facts, trials),
        logs::log("amd-log", "AMD_LOG_LEVEL", "3", facts, trials),
        tools::phase_proxy(facts, trials),
        tools::dryrun(facts, trials),
    ];
    observers.into_iter().map(|observer| with_user(observer, verbs)).collect()
}

fn with_user(observer: Verdict, verbs: &[&str]) -> Verdict {
    let user = USERS.iter().find(|(name, _)| *name == observer.name).and_then(|(_, verb)| *verb);
    let more = match user {
        None => Message::new("doctor-never-used"),
        Some(verb) if verbs.contains(&verb) => Message::new("doctor-used-by").with("verb", verb),
        Some(verb) => Message::new("doctor-not-yet").with("verb", verb),
    };
    observer.and(Some(more))
}

/// `call: error` of a refusal.
fn refusal(trial: &Trial) -> Option<(&str, &str)> {
    match trial {
        Trial::Refused { call, error } => Some((call, error)),
        _ => None,
    }
}
