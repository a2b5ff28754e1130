//! Running the program once, plain or observed, wrapped or not.

use super::Run;
use crate::preload::{Known, PreloadSource, Session};
use crate::watch::{Account, Name, Source, State, Tally, WatchError};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How a run is made.
#[derive(Debug, Clone, Copy)]
pub struct Runner<'a> {
    pub command: &'a [OsString],
    /// A foreign observer: words before the command, as a shell reads them.
    pub wrapper: Option<&'a str>,
    /// Whether our own shim counts.
    pub counted: bool,
}

/// What was seen in a run that was counted.
#[derive(Debug)]
pub struct Observed {
    pub tally: Tally,
    pub account: Account,
}

const STEP: Duration = Duration::from_millis(50);
const LONG_ENOUGH: f64 = 1.0;

/// Runs it to its end.
pub fn once(runner: &Runner<'_>) -> Result<(Run, Option<Observed>), WatchError> {
    let name = runner.command.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let failed = |error: std::io::Error| WatchError::new(name.clone(), error.to_string(), "");
    let mut start = match runner.wrapper {
        Some(wrapper) => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(format!("exec {wrapper} \"$@\"")).arg("sh").args(runner.command);
            shell
        }
        None => {
            let mut start = Command::new(runner.command.first().cloned().unwrap_or_default());
            start.args(runner.command.iter().skip(1));
            start
        }
    };
    start.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let session = if runner.counted { Some(Session::new(None)?) } else { None };
    if let Some(session) = &session {
        start.envs(session.environment());
    }
    let started = Instant::now();
    let mut child = start.spawn().map_err(failed)?;
    let out = child.stdout.take().map(|pipe| std::thread::spawn(move || whole(pipe)));
    let err = child.stderr.take().map(|pipe| std::thread::spawn(move || whole(pipe)));
    let program = Path::new(&name).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut libraries = BTreeSet::new();
    let (ending, observed) = match session {
        Some(session) => counted(child, session, &program, &mut libraries)?,
        None => (plain(child, &program, &mut libraries).map_err(failed)?, None),
    };
    let seconds = started.elapsed().as_secs_f64();
    // The map is looked at now and then: of a program that is over at once it would be a matter of luck.
    if seconds < LONG_ENOUGH {
        libraries.clear();
    }
    let text = |thread: Option<std::thread::JoinHandle<String>>| thread.and_then(|t| t.join().ok()).unwrap_or_default();
    let mix = observed.as_ref().map(|observed| {
        let mut mix = std::collections::BTreeMap::new();
        for row in observed.tally.rows().iter().filter(|row| !matches!(row.name, Name::Call(_))) {
            *mix.entry(row.name.text()).or_default() += row.launches;
        }
        mix
    });
    Ok((Run { ending, out: text(out), err: text(err), libraries, mix, seconds }, observed))
}

fn plain(mut child: Child, program: &str, libraries: &mut BTreeSet<String>) -> std::io::Result<String> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(ending(status));
        }
        mapped(child.id(), program, libraries);
        std::thread::sleep(STEP);
    }
}

fn counted(
    child: Child,
    session: Session,
    program: &str,
    libraries: &mut BTreeSet<String>,
) -> Result<(String, Option<Observed>), WatchError> {
    let id = child.id();
    let mut source = PreloadSource::new(session, Known::default(), Box::new(child));
    let mut tally = Tally::default();
    let ended = loop {
        mapped(id, program, libraries);
        if let State::Ended(ended) = source.poll(&mut tally, STEP)? {
            break ended;
        }
    };
    let account = source.finish(&mut tally)?;
    let ending = match ended {
        crate::watch::Ended::Code(code) => format!("code {code}"),
        crate::watch::Ended::Signal(signal) => format!("signal {signal}"),
        crate::watch::Ended::TargetGone => "gone".to_owned(),
    };
    Ok((ending, Some(Observed { tally, account })))
}

fn ending(status: ExitStatus) -> String {
    status.signal().map_or_else(|| format!("code {}", status.code().unwrap_or(-1)), |signal| format!("signal {signal}"))
}

fn whole(mut pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = pipe.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Libraries of the program and those of its children that are the same program: a wrapper's own do not count.
fn mapped(pid: u32, program: &str, libraries: &mut BTreeSet<String>) {
    let mut waiting = vec![pid];
    while let Some(pid) = waiting.pop() {
        let exe = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        if exe.file_name().is_some_and(|name| name.to_string_lossy() == program) {
            let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
            let paths = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
            let names = paths.filter(|path| path.contains(".so")).filter_map(|path| path.rsplit('/').next());
            libraries.extend(names.filter(|name| !name.starts_with("libwhichkernel-")).map(str::to_owned));
        }
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        waiting.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
}
