//! The interface of all live observers of launches, which the verb polls.

use crate::{ObserverReport, Tally};
use say::{Key, Message, Say, say};
use server::claims::Claims;
use std::fmt::Display;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};
use sys::abi;
use sys::unix::ExitStatusExt;

/// The state of a source after a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// At least one launch was seen.
    Busy,
    /// No launch was seen in that time.
    Quiet,
    Ended(Ended),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every watched process has ended.
    TargetGone,
    /// The program that we started ended with this code.
    Code(i32),
    Signal(i32),
}

impl Ended {
    /// Whether the program failed: the observed run is then not the requested one.
    pub fn failed(self) -> bool {
        matches!(self, Ended::Signal(_) | Ended::Code(1..) | Ended::Code(..=-1))
    }
}

/// The name of a signal (signal(7)) and its meaning; empty for all other signals.
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

/// Why watching could not start or continue. Nothing was changed, or every change was undone.
#[derive(Debug)]
pub struct WatchError {
    pub what: Message,
    pub why: Message,
    /// The command or setting that would fix the problem.
    pub fix: Option<Box<Message>>,
    /// The system call that was refused.
    pub call: Option<&'static str>,
}

impl Say for WatchError {
    fn message(&self) -> Message {
        let WatchError { what, why, fix, .. } = self;
        match fix {
            Some(fix) => say!("about-fixed", what, why, fix),
            None => say!("about-why", what, why),
        }
    }
}

say::spoken!(WatchError);

impl WatchError {
    pub fn new(what: impl Say, why: impl Say) -> Self {
        WatchError { what: what.message(), why: why.message(), fix: None, call: None }
    }

    /// An error about a file or a program.
    pub fn about(what: impl Display, why: impl Say) -> Self {
        WatchError::new(Message::verbatim(what), why)
    }

    pub fn fix(self, fix: Message) -> Self {
        WatchError { fix: Some(Box::new(fix)), ..self }
    }
}

/// Why no launch could have been observed: "none seen" is then not an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NothingInView {
    Layer,
    NoDispatch,
    Probes,
    Preload,
}

say::worded! { NothingInView {
    Layer => "watch-blind-layer",
    NoDispatch => "watch-blind-no-dispatch",
    Probes => "watch-blind-probes",
    Preload => "watch-blind-preload",
}}

/// Describes which calls of which processes were observed.
pub(crate) fn of_processes(calls: Key, pids: &[String]) -> Message {
    match pids.len() {
        0 => say!("view-of-none", calls),
        count => say!("view-of-processes", calls, count, pids),
    }
}

/// A watched program, started by `watch` or by a dry run.
pub trait Program {
    /// The exit status; None while the program runs.
    fn ended(&mut self) -> std::io::Result<Option<ExitStatus>>;
    /// Waits until the program ends.
    fn wait(&mut self);
}

impl Program for Child {
    fn ended(&mut self) -> std::io::Result<Option<ExitStatus>> {
        self.try_wait()
    }

    fn wait(&mut self) {
        let _ = Child::wait(self);
    }
}

/// A program that we started, whose output files are followed until its end.
pub(crate) trait Followed {
    /// The name used in errors.
    const NAME: &'static str;

    fn program(&mut self) -> &mut dyn Program;

    /// Reads the new data; `last` if no more will follow. Returns whether there was any. A damaged file affects only
    /// itself and is reported at the end.
    fn drain(&mut self, tally: &mut Tally, last: bool) -> bool;

    fn follow(&mut self, tally: &mut Tally, timeout: Duration) -> Result<State, WatchError> {
        /// The interval between reads while there is nothing to read.
        const STEP: Duration = Duration::from_millis(20);
        let until = Instant::now() + timeout;
        loop {
            // Checked before the files are read, so that everything the program wrote before its end is included.
            let ended = self.program().ended().map_err(|e| WatchError::about(Self::NAME, e))?;
            let any = self.drain(tally, false);
            if let Some(status) = ended {
                return Ok(State::Ended(match status.signal() {
                    Some(signal) => Ended::Signal(signal),
                    None => Ended::Code(status.code().unwrap_or(-1)),
                }));
            }
            if any {
                return Ok(State::Busy);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(State::Quiet);
            }
            std::thread::sleep(left.min(STEP));
        }
    }
}

pub trait Source {
    /// Waits at most `timeout`, and adds the new events to the tally.
    fn poll(&mut self, tally: &mut Tally, timeout: Duration) -> Result<State, WatchError>;

    /// Stops observing, adds the rest, and reports how complete the observation was.
    fn finish(&mut self, tally: &mut Tally) -> Result<ObserverReport, WatchError>;

    /// The lost launches and the report as of now; None if this source knows them only at the end.
    fn so_far(&self, _tally: &Tally) -> Option<(u64, ObserverReport)> {
        None
    }

    /// A canary event was seen in the target itself.
    fn canary_in_target(&mut self, _what: Message) {}

    /// The target's statements about itself in lines that this source reads anyway.
    fn claims(&mut self) -> Claims {
        Claims::default()
    }

    /// Messages that the user should see now: a library was opened, a process joined.
    fn news(&mut self) -> Vec<Message> {
        Vec::new()
    }
}
