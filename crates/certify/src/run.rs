//! Runs the program once, with or without an observer or a wrapper: either to its end, or as a server that answers
//! requests and is stopped.

use crate::compare::UNNAMED;
use crate::process_tree::{processor, program_of, programs};
use crate::{Ending, Exit, Libraries, Run, Server, Stopped};
use say::say;
use server::claims::tree;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};
use sys::unix::ExitStatusExt;
use uprobe::{Options, Watcher};
use watch::layer;
use watch::logs::{LogReader, Variable, account as log_account};
use watch::preload::{Known, PreloadSource, Program, Session, Tree};
use watch::{Name, ObserverReport, Source, Tally, WatchError, Word};

/// The observer of a run.
#[derive(Debug, Clone)]
pub enum Observer<'a> {
    Nobody,
    Preload,
    /// The Vulkan layer of whichkernel.
    Layer,
    Uprobe(Options),
    /// The libraries' own logs. Log lines do not count as the program's output.
    Logs(&'a [(Variable, String)]),
}

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct Runner<'a> {
    pub command: &'a [OsString],
    /// Another observer: words to put before the command, in shell syntax.
    pub wrapper: Option<&'a str>,
    pub observer: Observer<'a>,
    /// Set if the program is a server: requests are sent to it, and it is then stopped.
    pub server: Option<&'a Server>,
}

/// The launches that the observer saw in a run.
#[derive(Debug)]
pub struct Observed {
    pub tally: Tally,
    pub account: ObserverReport,
}

impl Observed {
    /// Whether the observer claims to have seen every launch. If not, a smaller count shows nothing about the program.
    pub fn whole(&self) -> bool {
        self.lost_nothing() && self.account.whole()
    }

    /// Whether the observer claims to have seen every launch and a second, independent count confirms it. Only then
    /// does a smaller count say something about the program rather than the counter.
    pub fn vouched(&self) -> bool {
        self.whole() && self.account.second.witness.is_some()
    }

    /// Whether the observer reports no losses.
    pub fn lost_nothing(&self) -> bool {
        self.tally.lost == 0 && self.tally.unknown_replays == 0
    }
}

const STEP: Duration = Duration::from_millis(20);
/// If a program runs for a shorter time than this, the maps that were read would be random.
const LONG_ENOUGH: f64 = 0.5;
/// Long, because a model may have to be read from a slow disk.
const PATIENCE: Duration = Duration::from_secs(300);
/// A server that does not stop within this time is killed.
const FAREWELL: Duration = Duration::from_secs(20);

/// The program, shared between the observer and the waiter.
#[derive(Debug, Clone)]
struct Shared(Rc<RefCell<Child>>);

impl Program for Shared {
    fn ended(&mut self) -> std::io::Result<Option<ExitStatus>> {
        self.0.borrow_mut().try_wait()
    }

    fn wait(&mut self) {
        let _ = self.0.borrow_mut().wait();
    }
}

/// Runs the program once.
pub fn once(runner: &Runner<'_>) -> Result<(Run, Option<Observed>), WatchError> {
    let name = runner.command.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let failed = |error: std::io::Error| WatchError::about(&name, error).fix(say!("certify-give-program"));
    if let Some(server) = runner.server.filter(|server| server.ready()) {
        let why = say!("certify-answered-before", url = server.at.to.url());
        return Err(WatchError::about(name, why).fix(say!("certify-other-port")));
    }
    let mut start = command(runner);
    start.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Set up everything that can fail before the program runs.
    let session = matches!(runner.observer, Observer::Preload).then(|| Session::new(None)).transpose()?;
    start.envs(session.iter().flat_map(Session::environment));
    let layer = matches!(runner.observer, Observer::Layer).then(layer::Session::new).transpose()?;
    start.envs(layer.iter().flat_map(layer::Session::environment));
    let mut watcher = match &runner.observer {
        Observer::Uprobe(options) => Some(Watcher::ahead_of(runner.command, options.clone())?),
        Observer::Logs(variables) => {
            start.envs(variables.iter().map(|(variable, value)| (variable.name, value)));
            None
        }
        _ => None,
    };
    let from = watcher.as_ref().map(|watcher| watcher.before(&mut start));
    let tree = session.as_ref().and_then(|_| Tree::open().ok());
    let started = Instant::now();
    let mut child = start.spawn().map_err(failed)?;
    let pid = child.id();
    let out = child.stdout.take().map(|pipe| std::thread::spawn(move || whole(pipe)));
    let err = child.stderr.take().map(|pipe| std::thread::spawn(move || whole(pipe)));
    let child = Shared(Rc::new(RefCell::new(child)));
    if let (Some(watcher), Some(from)) = (&mut watcher, from) {
        watcher.adopt(pid, from)?;
    }
    let source: Option<Box<dyn Source>> = match (watcher, session, layer) {
        (Some(watcher), ..) => Some(Box::new(watcher)),
        (_, Some(session), _) => {
            let source = PreloadSource::new(session, Known::default(), Box::new(child.clone()));
            Some(Box::new(source.with_tree(tree, pid)))
        }
        (.., Some(session)) => Some(Box::new(layer::LayerSource::new(session, Box::new(child.clone())))),
        _ => None,
    };
    let mut stage = Stage {
        child,
        pid,
        programs: programs(runner.command),
        libraries: Libraries::default(),
        source,
        tally: Tally::default(),
        started,
        processor: None,
    };
    let mut run = match runner.server {
        Some(server) => stage.serve(server)?,
        None => stage.run_out()?,
    };
    let Stage { libraries, mut tally, source, .. } = stage;
    let account = source.map(|mut source| source.finish(&mut tally)).transpose()?;
    let text = |thread: Option<std::thread::JoinHandle<String>>| thread.and_then(|t| t.join().ok()).unwrap_or_default();
    let (said, err) = (text(out), text(err));
    run.libraries = libraries;
    let mut observed = account.map(|account| Observed { tally, account });
    let (said, err) = match &runner.observer {
        Observer::Logs(_) => {
            let (said, err, seen) = without_logs(&said, &err, run.seconds);
            observed = Some(seen);
            (said, err)
        }
        _ => (said, err),
    };
    // A server's output is log lines about itself; its generated text is in the answers.
    match runner.server {
        Some(_) => run.err = format!("{err}\n{said}"),
        None => (run.out, run.err) = (said, err),
    }
    if let Some(seen) = &observed {
        run.mix = Some(mix(&seen.tally));
        // A server's launches were counted while it answered.
        run.launches = if runner.server.is_some() { run.launches } else { seen.tally.launches() };
    }
    Ok((run, observed))
}

fn command(runner: &Runner<'_>) -> Command {
    match runner.wrapper {
        Some(wrapper) => {
            let mut shell = sys::program::given("/bin/sh");
            shell.arg("-c").arg(format!("exec {wrapper} \"$@\"")).arg("sh").args(runner.command);
            shell
        }
        None => {
            let mut start = sys::program::given(runner.command.first().cloned().unwrap_or_default());
            start.args(runner.command.iter().skip(1));
            start
        }
    }
}

/// A run in progress.
struct Stage {
    child: Shared,
    pid: u32,
    programs: Vec<String>,
    libraries: Libraries,
    source: Option<Box<dyn Source>>,
    tally: Tally,
    started: Instant,
    processor: Option<f64>,
}

impl Stage {
    /// Waits a moment and reads libraries and launches. Returns the exit status once the program has ended.
    fn step(&mut self) -> Result<Option<ExitStatus>, WatchError> {
        let broken = |error: std::io::Error| WatchError::about("certify", error);
        // Read this before the process is reaped, because it is not available afterwards.
        self.processor = processor(self.pid).or(self.processor);
        let ended = self.child.ended().map_err(broken)?;
        self.libraries.look(self.pid, &self.programs);
        match &mut self.source {
            Some(source) => drop(source.poll(&mut self.tally, STEP)?),
            None if ended.is_none() => std::thread::sleep(STEP),
            None => {}
        }
        Ok(ended)
    }

    fn run_out(&mut self) -> Result<Run, WatchError> {
        let status = loop {
            if let Some(status) = self.step()? {
                break status;
            }
        };
        let seconds = self.started.elapsed().as_secs_f64();
        if seconds < LONG_ENOUGH {
            self.libraries = Libraries::default();
        }
        Ok(Run { ending: Ending::Ended(exit(status)), seconds, processor: self.processor, ..Run::default() })
    }

    /// Waits until the server answers, sends the requests, and stops the server.
    fn serve(&mut self, server: &Server) -> Result<Run, WatchError> {
        let mut run = Run::default();
        while !server.ready() {
            if let Some(status) = self.step()? {
                run.ending = Ending::Early(exit(status));
                return Ok(run);
            }
            if self.started.elapsed() > PATIENCE {
                run.ending = Ending::Silent;
                self.stop(server)?;
                return Ok(run);
            }
        }
        let before = self.settled()?;
        let (asked, at) = (server.clone(), Instant::now());
        let answers = std::thread::spawn(move || asked.ask(PATIENCE));
        while !answers.is_finished() {
            self.step()?;
        }
        run.seconds = at.elapsed().as_secs_f64();
        run.launches = self.settled()?.saturating_sub(before);
        let answers = answers.join().unwrap_or_else(|_| Err(std::io::Error::other(say::say!("certify-no-answer"))));
        let stopped = self.stop(server)?;
        run.ending = match answers {
            Ok(answers) => {
                (run.out, run.speeds) = (answers.text, answers.speeds);
                Ending::Answered(stopped)
            }
            Err(error) => Ending::Unanswered(say::Say::message(&error), stopped),
        };
        Ok(run)
    }

    /// Waits until ten steps in a row show no new launches, then returns the number of launches. On a busy machine, the
    /// launches of the last answer arrive late.
    fn settled(&mut self) -> Result<u64, WatchError> {
        let (since, mut quiet) = (Instant::now(), 0);
        while self.source.is_some() && quiet < 10 && since.elapsed() < FAREWELL {
            let before = self.tally.launches();
            self.step()?;
            quiet = if self.tally.launches() == before { quiet + 1 } else { 0 };
        }
        Ok(self.tally.launches())
    }

    /// Tells the server itself to stop, as a service manager would, so that its wrappers can end properly.
    fn stop(&mut self, server: &Server) -> Result<Stopped, WatchError> {
        let ours = tree(vec![self.pid]);
        let named = |pid: &&u32| program_of(**pid).is_some_and(|name| name == server.program);
        let top = ours.iter().find(named).copied().unwrap_or(self.pid);
        let tell = |pid: u32, signal: i32| {
            let _ = sys::host::signal(pid, signal);
        };
        tell(top, sys::abi::SIGTERM);
        let asked = Instant::now();
        loop {
            if let Some(status) = self.step()? {
                return Ok(Stopped::Ended(exit(status)));
            }
            if asked.elapsed() > FAREWELL {
                // Our own child is not reaped yet, so none of these process ids can have been reused.
                tree(vec![self.pid]).into_iter().for_each(|pid| tell(pid, sys::abi::SIGKILL));
                self.child.wait();
                return Ok(Stopped::Unwilling);
            }
        }
    }
}

/// Launches by kernel.
fn mix(tally: &Tally) -> BTreeMap<String, u64> {
    let mut mix = BTreeMap::new();
    for row in tally.rows().iter().filter(|row| !matches!(row.name, Name::Call(_))) {
        let name = if matches!(row.name, Name::Unnamed(_)) { UNNAMED.to_owned() } else { row.name.text() };
        *mix.entry(name).or_default() += row.launches;
    }
    mix
}

/// The program's output without the log lines, and the launches that the log lines report.
fn without_logs(out: &str, err: &str, seconds: f64) -> (String, String, Observed) {
    let (mut reader, mut tally) = (LogReader::default(), Tally::default());
    let mut rest = |text: &str| {
        let own: Vec<&str> =
            text.split_inclusive('\n').filter(|line| !reader.line(line.trim_end(), &mut tally)).collect();
        own.concat()
    };
    let (out, err) = (rest(out), rest(err));
    reader.finish(&mut tally);
    let account = log_account(&reader, &mut tally, "", seconds, Word::Ours);
    (out, err, Observed { tally, account })
}

fn exit(status: ExitStatus) -> Exit {
    status.signal().map_or_else(|| Exit::Code(status.code().unwrap_or(-1)), Exit::Signal)
}

/// Reads everything, so that the program never blocks on the pipe, but keeps only the beginning.
fn whole(mut pipe: impl Read) -> String {
    const MOST: u64 = 256 << 20;
    let mut bytes = Vec::new();
    let _ = pipe.by_ref().take(MOST).read_to_end(&mut bytes);
    let _ = std::io::copy(&mut pipe, &mut std::io::sink());
    String::from_utf8_lossy(&bytes).into_owned()
}
