//! One run of a kind: alone, or under an observer through the command, like a user would run it.

use super::count::Count;
use super::kinds::{Kind, Start};
use super::yard::Yard;
use anyhow::Context;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A timeout far above the time of any run: a longer run has hung.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observer {
    /// `watch --pid`, while the program waits before its first action.
    Attached,
    /// `watch -- PROGRAM`.
    Started,
    Preload,
    Logs,
}

impl Observer {
    pub const ALL: [Observer; 4] = [Observer::Attached, Observer::Started, Observer::Preload, Observer::Logs];

    pub fn name(self) -> &'static str {
        match self {
            Observer::Attached => "uprobe, attached",
            Observer::Started => "uprobe, started",
            Observer::Preload => "preload",
            Observer::Logs => "logs",
        }
    }

    pub fn fits(self, kind: &Kind) -> bool {
        self != Observer::Logs || kind.logs
    }
}

#[derive(Debug)]
pub struct Run {
    pub count: Count,
    /// The program's own output.
    pub line: Option<String>,
    /// The tool's exit code (the program's, if there is no tool); None if it did not end in time.
    pub exit: Option<i32>,
    pub report: Option<Value>,
    pub messages: String,
}

impl Run {
    /// The last line that the tool printed.
    pub fn message(&self) -> Option<String> {
        let own = |line: &&str| !line.trim().is_empty() && !line.starts_with("siege ");
        self.messages.lines().rev().find(own).map(|line| line.trim().to_owned())
    }
}

/// The files of one run.
struct Place {
    count: PathBuf,
    out: PathBuf,
    messages: PathBuf,
}

impl Place {
    fn new(yard: &Yard, start: &Start) -> anyhow::Result<Place> {
        let number = yard.number();
        let at = |what: &str| yard.path("home").join(format!("{what}-{number}"));
        let place = Place { count: at("count"), out: at("out"), messages: at("messages") };
        Count::fresh(&place.count)?;
        // The same file has the same name in another root.
        if let Some(root) = &start.root {
            let inside = root.join(place.count.strip_prefix("/")?);
            std::fs::create_dir_all(inside.parent().context("no parent")?)?;
            std::fs::hard_link(&place.count, inside)?;
        }
        Ok(place)
    }

    fn dress(&self, command: &mut Command, start: &Start, yard: &Yard) {
        command.env("SIEGE_COUNT", &self.count).env("LC_ALL", "C").env("HOME", yard.path("home"));
        command.envs(start.variables.iter().map(|(name, value)| (name, value)));
    }

    fn gather(&self, exit: Option<i32>, line: Option<String>) -> anyhow::Result<Run> {
        // If a process outlives its parent, wait for its end or until its counts stop changing: its launches count.
        const STILL: u32 = 10;
        let until = Instant::now() + Duration::from_secs(2);
        let mut count = Count::read(&self.count)?;
        let mut still = 0;
        while !count.done && still < STILL && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
            let now = Count::read(&self.count)?;
            still = if now.launches() > 0 && now.launches() == count.launches() { still + 1 } else { 0 };
            count = now;
        }
        let messages = String::from_utf8_lossy(&std::fs::read(&self.messages).unwrap_or_default()).into_owned();
        let out = String::from_utf8_lossy(&std::fs::read(&self.out).unwrap_or_default()).into_owned();
        let said = |text: &str| text.lines().find(|line| line.starts_with("siege ")).map(str::to_owned);
        let line = line.or_else(|| said(&messages)).or_else(|| said(&out));
        Ok(Run { count, line, exit, report: serde_json::from_str(&out).ok(), messages })
    }
}

/// Runs without an observer. None if the kind cannot be built here.
pub fn plain(yard: &Yard, kind: &Kind) -> anyhow::Result<Option<Run>> {
    let Some(start) = kind.start(yard)? else { return Ok(None) };
    let place = Place::new(yard, &start)?;
    let mut command = Command::new(&start.words[0]);
    place.dress(&mut command, &start, yard);
    command.args(&start.words[1..]).stdin(Stdio::null());
    command.stdout(File::create(&place.out)?).stderr(File::create(&place.messages)?);
    let mut child = command.spawn()?;
    let status = wait(&mut child, PATIENCE)?;
    place.gather(status.and_then(|status| status.code()), None).map(Some)
}

pub fn watched(yard: &Yard, kind: &Kind, observer: Observer) -> anyhow::Result<Option<Run>> {
    let Some(start) = kind.start(yard)? else { return Ok(None) };
    let place = Place::new(yard, &start)?;
    let mut tool = Command::new(&yard.tool);
    tool.arg("watch").args(["--format", "json"]).stdin(Stdio::null());
    tool.stdout(File::create(&place.out)?).stderr(File::create(&place.messages)?);
    place.dress(&mut tool, &start, yard);
    match observer {
        Observer::Attached => attached(yard, &start, &place, tool).map(Some),
        Observer::Started | Observer::Preload | Observer::Logs => {
            match observer {
                Observer::Preload => tool.args(["--how", "preload"]),
                Observer::Logs => tool.args(["--how", "logs", "--log", "AMD_LOG_LEVEL=3"]),
                _ => tool.args(["--how", "uprobe"]),
            };
            let mut child = tool.arg("--").args(&start.words).spawn()?;
            let status = wait(&mut child, PATIENCE)?;
            place.gather(code(status), None).map(Some)
        }
    }
}

fn attached(yard: &Yard, start: &Start, place: &Place, mut tool: Command) -> anyhow::Result<Run> {
    let mut command = Command::new(&start.words[0]);
    place.dress(&mut command, start, yard);
    command.args(&start.words[1..]).env("SIEGE_WAIT", "1");
    let mut program = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut lines = BufReader::new(program.stdout.take().context("no output")?);
    let mut ready = String::new();
    lines.read_line(&mut ready)?;
    anyhow::ensure!(ready == "ready\n", "{:?} did not come to its start", start.words);
    let mut tool = tool.args(["--how", "uprobe", "--pid", &program.id().to_string()]).spawn()?;
    // The tool reports when the probes are in place.
    let until = Instant::now() + PATIENCE;
    let watching = || std::fs::read_to_string(&place.messages).is_ok_and(|text| text.contains("Watching"));
    while !watching() && tool.try_wait()?.is_none() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    program.stdin.take().context("no input")?.write_all(b"go\n")?;
    let mut said = String::new();
    while lines.read_line(&mut said).is_ok_and(|count| count > 0) {}
    wait(&mut program, PATIENCE)?;
    let status = wait(&mut tool, PATIENCE)?;
    let line = said.lines().find(|line| line.starts_with("siege ")).map(str::to_owned);
    place.gather(code(status), line)
}

/// A signal is returned as a negative number.
fn code(status: Option<ExitStatus>) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    status.and_then(|status| status.code().or_else(|| status.signal().map(|signal| -signal)))
}

/// Returns the exit status, or None after a timeout; then the child is killed.
pub fn wait(child: &mut Child, patience: Duration) -> std::io::Result<Option<ExitStatus>> {
    let until = Instant::now() + patience;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= until {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
