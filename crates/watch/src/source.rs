//! What the verb polls: one interface for every live observer of launches.

use crate::claims::Claims;
use crate::{ObserverReport, Tally};
use std::time::Duration;
use sys::abi;

/// How a source stands after a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Something was seen.
    Busy,
    /// Nothing was seen in that time.
    Quiet,
    Ended(Ended),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every process that was watched has ended.
    TargetGone,
    /// The program that we started ended with this code.
    Code(i32),
    Signal(i32),
}

impl Ended {
    /// It came to no good end: what was seen is not the run that was asked for.
    pub fn failed(self) -> bool {
        matches!(self, Ended::Signal(_) | Ended::Code(1..) | Ended::Code(..=-1))
    }
}

/// What a signal is called (signal(7)), and what it means; empty for one that no program dies of by itself.
pub fn signal_name(signal: i32) -> (&'static str, &'static str) {
    match signal {
        abi::SIGHUP => ("SIGHUP", "hangup"),
        abi::SIGINT => ("SIGINT", "interrupt"),
        abi::SIGQUIT => ("SIGQUIT", "quit"),
        abi::SIGILL => ("SIGILL", "illegal instruction"),
        abi::SIGTRAP => ("SIGTRAP", "trap"),
        abi::SIGABRT => ("SIGABRT", "aborted"),
        abi::SIGBUS => ("SIGBUS", "bus error"),
        abi::SIGFPE => ("SIGFPE", "arithmetic error"),
        abi::SIGKILL => ("SIGKILL", "killed"),
        abi::SIGSEGV => ("SIGSEGV", "segmentation fault"),
        abi::SIGPIPE => ("SIGPIPE", "broken pipe"),
        abi::SIGTERM => ("SIGTERM", "terminated"),
        abi::SIGSYS => ("SIGSYS", "bad system call"),
        abi::SIGXCPU => ("SIGXCPU", "processor time limit"),
        abi::SIGXFSZ => ("SIGXFSZ", "file size limit"),
        _ => ("", ""),
    }
}

/// Why watching could not begin or go on. Nothing was touched, or everything was taken back.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {why}{}{fix}", if fix.is_empty() { "" } else { "\n  fix: " })]
pub struct WatchError {
    pub what: String,
    pub why: String,
    /// The command or setting that would let it.
    pub fix: String,
}

impl WatchError {
    pub fn new(what: impl Into<String>, why: impl Into<String>, fix: impl Into<String>) -> Self {
        WatchError { what: what.into(), why: why.into(), fix: fix.into() }
    }
}

pub trait Source {
    /// Waits at most `timeout`, and hands over what came.
    fn poll(&mut self, tally: &mut Tally, timeout: Duration) -> Result<State, WatchError>;

    /// Stops looking, hands over the rest, and tells how well it saw.
    fn finish(&mut self, tally: &mut Tally) -> Result<ObserverReport, WatchError>;

    /// A known event was seen in the target itself.
    fn canary_in_target(&mut self, _what: String) {}

    /// What the target said of itself in lines that this source reads anyway.
    fn claims(&mut self) -> Claims {
        Claims::default()
    }

    /// A line about something that a person should know now: a library that was opened, a process that joined.
    fn news(&mut self) -> Vec<String> {
        Vec::new()
    }
}
