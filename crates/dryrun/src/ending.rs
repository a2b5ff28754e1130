//! How a program ended, and which answers are incomplete because of that.

use evidence::{Basis, LeftOutWhy};
use std::process::ExitStatus;
use sys::unix::ExitStatusExt;

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    Code(i32),
    Signal(i32),
}

/// How far a program got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    Whole,
    /// This signal stopped the program.
    Stopped(i32),
    Failed(Ending),
}

impl Finish {
    pub fn of(interrupted: Option<i32>, ending: Ending) -> Finish {
        /// Hang-up, interrupt and termination: signals that tell a program to stop. A shell adds 128 to them in its
        /// exit code.
        const ASKED: [i32; 3] = [1, 2, 15];
        match (interrupted, ending) {
            (_, Ending::Code(0)) => Finish::Whole,
            (Some(signal), _) => Finish::Stopped(signal),
            (None, Ending::Signal(signal)) if ASKED.contains(&signal) => Finish::Stopped(signal),
            (None, Ending::Code(code)) if ASKED.contains(&(code - 128)) => Finish::Stopped(code - 128),
            (None, ending) => Finish::Failed(ending),
        }
    }

    /// Records in the basis which answers are incomplete because of the early end.
    pub fn leave_out(self, basis: Basis) -> Basis {
        match self {
            Finish::Whole => basis,
            Finish::Stopped(signal) => basis.without(format!("signal {signal}"), None, LeftOutWhy::Stopped),
            Finish::Failed(Ending::Signal(signal)) => {
                basis.without(format!("signal {signal}"), None, LeftOutWhy::Failed)
            }
            Finish::Failed(Ending::Code(code)) => basis.without(format!("exit code {code}"), None, LeftOutWhy::Failed),
        }
    }
}

pub(crate) fn ending(status: ExitStatus) -> Ending {
    match status.signal() {
        Some(signal) => Ending::Signal(signal),
        None => Ending::Code(status.code().unwrap_or(-1)),
    }
}
