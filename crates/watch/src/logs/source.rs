//! A program that is started with its libraries' logs enabled.

use crate::logs::{LogReader, Variable, explain};
use crate::{
    Device, Ended, Gap, Maker, ObserverKind, ObserverReport, SecondAccount, Source, State, Tally, WatchError, Word,
};
use evidence::{Canary, Contamination, DeviceKind};
use say::say;
use server::claims::{Claims, of_line, tree};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use sys::unix::ExitStatusExt;

#[derive(Debug)]
pub struct LogSource {
    child: Child,
    lines: Receiver<String>,
    reader: LogReader,
    told: Vec<String>,
    started: Instant,
    ended: Option<ExitStatus>,
    /// The number of lines so far, and the claims in lines that do not belong to a library's log.
    number: usize,
    claims: Claims,
}

/// Longer lines are cut: no known log has such lines, and a program may print anything.
const LONGEST: u64 = 64 << 10;
/// How long to wait for the silent program after it was asked to end.
const PATIENCE: Duration = Duration::from_secs(5);

impl LogSource {
    pub fn start(command: &[OsString], variables: &[(Variable, String)]) -> Result<LogSource, WatchError> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| WatchError::about("logs", say!("watch-no-program")))?;
        let mut start = sys::program::given(program);
        start.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut told = Vec::new();
        for (variable, value) in variables {
            start.env(variable.name, value);
            told.push(explain(variable, value).to_string());
        }
        let name = program.to_string_lossy().into_owned();
        let mut child = start.spawn().map_err(|error| WatchError::about(name, error))?;
        let (send, lines) = channel();
        let pipes: [Option<Box<dyn Read + Send>>; 2] = [
            child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
            child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        ];
        for pipe in pipes.into_iter().flatten() {
            let send = send.clone();
            std::thread::spawn(move || {
                let mut pipe = BufReader::new(pipe);
                loop {
                    let mut line = Vec::new();
                    match pipe.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
                        Ok(0) | Err(_) => break,
                        Ok(_)
                            if send.send(String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned()).is_err() =>
                        {
                            break;
                        }
                        Ok(_) => {}
                    }
                }
            });
        }
        let (reader, claims) = (LogReader::default(), Claims::default());
        Ok(LogSource { child, lines, reader, told, started: Instant::now(), ended: None, number: 0, claims })
    }

    /// Program output that is not a log is passed on.
    fn take(&mut self, line: &str, tally: &mut Tally) {
        self.number += 1;
        if !self.reader.line(line, tally) {
            of_line("output", self.number, line, &mut self.claims);
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }
}

impl Source for LogSource {
    fn poll(&mut self, tally: &mut Tally, timeout: Duration) -> Result<State, WatchError> {
        let before = tally.launches() + self.reader.account.runtime + self.reader.account.choices;
        let dispatches = self.reader.account.dispatches;
        let until = Instant::now() + timeout;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => self.take(&line, tally),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait().map_err(|e| WatchError::about("logs", e))?;
                    self.ended = Some(status);
                    return Ok(State::Ended(match status.signal() {
                        Some(signal) => Ended::Signal(signal),
                        None => Ended::Code(status.code().unwrap_or(-1)),
                    }));
                }
            }
        }
        if self.reader.account.dispatches > dispatches {
            // Checked while lines arrive: the log comes from the program, but we must observe the device ourselves.
            tally.devices.launched_in(tree(vec![self.child.id()]), Maker::Amd);
        }
        let after = tally.launches() + self.reader.account.runtime + self.reader.account.choices;
        Ok(if after > before { State::Busy } else { State::Quiet })
    }

    fn claims(&mut self) -> Claims {
        std::mem::take(&mut self.claims)
    }

    fn finish(&mut self, tally: &mut Tally) -> Result<ObserverReport, WatchError> {
        while let Ok(line) = self.lines.try_recv() {
            self.take(&line, tally);
        }
        if self.ended.is_none() && matches!(self.child.try_wait(), Ok(None)) {
            // The output of the started processes has no reader now, and a write to it would kill them. All of them are
            // therefore ended properly.
            for pid in tree(vec![self.child.id()]) {
                let _ = sys::host::signal(pid, sys::abi::SIGTERM);
            }
            // A process that does not end keeps its output open; its last lines are not waited for.
            let until = Instant::now() + PATIENCE * 4;
            while Instant::now() < until
                && let Ok(line) = self.lines.recv_timeout(PATIENCE)
            {
                self.take(&line, tally);
            }
            if matches!(self.child.try_wait(), Ok(None)) {
                let _ = self.child.kill();
            }
            let _ = self.child.wait();
        }
        self.reader.finish(tally);
        let seconds = self.started.elapsed().as_secs_f64();
        Ok(account(&self.reader, tally, &self.told.join("; "), seconds, Word::Ours))
    }
}

/// The report on the completeness of a log. Only the runtime's own dispatch lines mention a device, and the device must
/// have been observed by us or, in an imported log, be named there.
pub fn account(reader: &LogReader, tally: &mut Tally, variables: &str, seconds: f64, word: Word) -> ObserverReport {
    let seen = &reader.account;
    if seen.dispatches > 0 && tally.devices.of(0, Maker::Amd).is_none() {
        let device = match (&word, &seen.device) {
            (Word::Ours, _) => Device::Unlooked { why: say!("watch-device-program-over") },
            (Word::File { .. }, Some(device)) => Device::Told { device: device.clone() },
            (Word::File { .. }, None) => Device::Unlooked { why: say!("watch-device-not-in-log") },
        };
        // All logs read here come from AMD's libraries.
        tally.devices.told(Maker::Amd, device);
    }
    let mut gaps = Vec::new();
    if seen.is_empty() {
        gaps.push(Gap::NoLogLine.into());
    } else if seen.dispatches == 0 {
        gaps.push(Gap::NoKernelLine.into());
    }
    if seen.calls.len() > 1 {
        let ways: Vec<&str> = seen.calls.keys().copied().collect();
        gaps.push(Gap::ToldTwice { ways: ways.join(", ") }.into());
    }
    ObserverReport {
        observer: ObserverKind::Logs,
        device: if seen.dispatches > 0 { tally.devices.kind() } else { DeviceKind::None },
        word,
        library: None,
        library_path: None,
        canary: Canary::None,
        contamination: Contamination::Unchecked,
        reach: match variables {
            "" => say!("view-logs-read"),
            _ => say!("view-logs-variables", variables),
        },
        blind: crate::logs::BLIND,
        gaps,
        second: SecondAccount::default(),
        seconds,
        cost_ns: None,
        ended: false,
    }
}

/// Reads a complete log from another source.
pub fn read_log(text: &str, tally: &mut Tally, word: Word) -> Option<ObserverReport> {
    let mut reader = LogReader::default();
    for line in text.lines() {
        reader.line(line, tally);
    }
    reader.finish(tally);
    (!reader.account.is_empty()).then(|| account(&reader, tally, "", 0.0, word))
}
