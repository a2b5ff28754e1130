//! A program that we start and watch from its first instruction.

use crate::bpf::backend::Backend;
use crate::options::Options;
use crate::probes::preprobe::candidates;
use crate::target::proc::clock;
use crate::target::stop_on_map::Hold;
use crate::watcher::Watcher;
use say::{Message, say};
use std::ffi::OsString;
use std::process::{Child, Command};
use std::time::Duration;
use sys::unix::ExitStatusExt;
use watch::{Ended, ObserverReport, Source, State, Tally, WatchError};

#[derive(Debug)]
pub struct Started {
    pub watcher: Watcher,
    child: Child,
    ended: Option<Ended>,
}

impl Watcher {
    /// Prepares for a program that is about to start: the runtimes that it may open already have their probes.
    pub fn ahead_of(command: &[OsString], options: Options) -> Result<Watcher, WatchError> {
        let mut watcher = Watcher::ready(options)?;
        if let Backend::Bpf(instrument) = &mut watcher.attached.backend {
            // Without it, a library that was not predicted is probed only after it was opened, which is a gap.
            match Hold::new(instrument.ring.map().fd()) {
                Ok(hold) => {
                    instrument.hold_by(hold.ours(), hold.told());
                    watcher.attached.hold = Some(hold);
                }
                Err(error) => watcher.news.push(say!("watch-news-not-held", error)),
            }
        }
        watcher.expect(&candidates(command))?;
        Ok(watcher)
    }
}

impl Watcher {
    /// Call this when a command is fully configured and about to start: the program will then stop whenever it maps
    /// code. Returns the time from which the program is to be watched (see [`Watcher::adopt`]).
    pub fn before(&self, start: &mut Command) -> u64 {
        if let Some(hold) = &self.attached.hold {
            hold.hold(start);
        }
        clock()
    }
}

impl Started {
    /// Makes all calls that may be refused before the program runs. The program's output goes to our standard error, so
    /// that it does not mix with the answer.
    pub fn new(command: &[OsString], options: Options) -> Result<Started, WatchError> {
        let mut watcher = Watcher::ahead_of(command, options)?;
        let program = command.first().cloned().unwrap_or_default();
        let failed =
            |error: std::io::Error| WatchError::about(program.to_string_lossy(), error).fix(say!("uprobe-give-path"));
        let errors = sys::host::standard_error().map_err(failed)?;
        let mut start = sys::program::given(&program);
        start.args(command.iter().skip(1)).stdout(errors);
        let from = watcher.before(&mut start);
        let child = start.spawn().map_err(failed)?;
        watcher.adopt(child.id(), from)?;
        Ok(Started { watcher, child, ended: None })
    }
}

impl Source for Started {
    fn poll(&mut self, tally: &mut Tally, timeout: Duration) -> Result<State, WatchError> {
        let state = self.watcher.poll(tally, timeout)?;
        if let Ok(Some(status)) = self.child.try_wait() {
            let code = status.signal().map_or(Ended::Code(status.code().unwrap_or(-1)), Ended::Signal);
            self.ended = Some(code);
        }
        // Children may outlive the program that started them.
        Ok(match (state, self.ended) {
            (State::Ended(_), Some(ended)) => State::Ended(ended),
            (State::Ended(_), None) => State::Quiet,
            (state, _) => state,
        })
    }

    fn finish(&mut self, tally: &mut Tally) -> Result<ObserverReport, WatchError> {
        let account = self.watcher.finish(tally);
        // The program may continue unobserved; our caller expects us to wait for its end.
        let _ = self.child.wait();
        account
    }

    fn so_far(&self, tally: &Tally) -> Option<(u64, ObserverReport)> {
        self.watcher.so_far(tally)
    }

    fn canary_in_target(&mut self, what: Message) {
        self.watcher.canary_in_target(what);
    }

    fn news(&mut self) -> Vec<Message> {
        self.watcher.news()
    }
}
