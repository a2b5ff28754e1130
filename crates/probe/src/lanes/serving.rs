//! A server that we start at its own address, wait for, and end together with everything it started.

use super::lane::Lane;
use crate::live::Ended;
use say::{Message, Say, say};
use server::dialect::listen_at;
use server::{Endpoint, Key, request};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use sys::files::{self, Access};
use sys::guard::GroupGuard;
use sys::http::Address;

/// Starts the server of a lane; the error gives the reason.
pub trait Starter: std::fmt::Debug {
    fn start(&self, lane: &Lane) -> Result<Box<dyn Served>, Ended>;
}

/// A server that a lane started.
pub trait Served {
    fn at(&self) -> &Endpoint;
    fn pid(&self) -> u32;
    fn command(&self) -> &[String];
    /// The file with its output.
    fn log(&self) -> Option<&Path>;
}

/// Starts every server as our own child, at a free port.
#[derive(Debug)]
pub struct Children<'a> {
    /// The command, with `{port}` and the lanes' variables in braces.
    pub command: &'a [String],
    pub key: Option<Key>,
    /// The directory for the servers' logs.
    pub home: &'a Path,
}

impl Starter for Children<'_> {
    fn start(&self, lane: &Lane) -> Result<Box<dyn Served>, Ended> {
        Ok(Box::new(Serving::start(lane, self.command, self.key.clone(), self.home)?))
    }
}

#[derive(Debug)]
struct Serving {
    at: Endpoint,
    log: PathBuf,
    command: Vec<String>,
    child: Child,
    /// Ends the server if we are killed.
    _guard: GroupGuard,
}

/// Long enough to load a large model.
const START: Duration = Duration::from_secs(600);
const END: Duration = Duration::from_secs(10);

impl Serving {
    /// Variables for the listening address come first, then the lane's.
    fn start(lane: &Lane, command: &[String], key: Option<Key>, home: &Path) -> Result<Serving, Ended> {
        let failed = |what: Message, why: std::io::Error| Ended::Server(say!("about-why", what, why));
        let port = free_port()?;
        let command = lane.fill(command, port).map_err(|error| Ended::Server(error.message()))?;
        let Some((program, words)) = command.split_first() else {
            return Err(Ended::Server(say!("probe-serving-no-command")));
        };
        let log = home.join(format!("{}.log", lane.name.replace('/', "_")));
        let file = files::create(&log, Access::Private).map_err(|error| failed(say!("probe-serving-log"), error))?;
        let second = file.try_clone().map_err(|error| failed(say!("probe-serving-log"), error))?;
        let guard = GroupGuard::new().map_err(|error| failed(say!("probe-serving-guard"), error))?;
        let mut line = sys::program::given(program);
        line.args(words)
            .envs(listen_at(port))
            .envs(lane.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(second);
        guard.enter_before_exec(&mut line);
        let child = line.spawn().map_err(|error| failed(Message::verbatim(program), error))?;
        let at = Endpoint { key, ..Endpoint::new(Address::tcp("127.0.0.1", port)) };
        let mut server = Serving { at, log, command: command.clone(), child, _guard: guard };
        server.wait()?;
        Ok(server)
    }

    /// Waits until the server answers.
    fn wait(&mut self) -> Result<(), Ended> {
        let start = Instant::now();
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                let (status, said) = (status.to_string(), self.last());
                return Err(Ended::Server(say!("probe-serving-ended", status, said)));
            }
            if sys::interrupt::asked() {
                return Err(Ended::Interrupted);
            }
            if request::ready(&self.at).unwrap_or(false) {
                return Ok(());
            }
            if start.elapsed() > START {
                let (to, seconds) = (&self.at.to, START.as_secs());
                return Err(Ended::Server(say!("probe-serving-silent", to, seconds)));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The last lines of its output: the reason may come before a final message.
    fn last(&self) -> Message {
        const LINES: usize = 8;
        let text = sys::regular_file::whole(&self.log, 64 << 20).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines.iter().skip(lines.len().saturating_sub(LINES));
        let last: Vec<String> = last.map(|line| line.chars().take(200).collect()).collect();
        if last.is_empty() { say!("probe-serving-no-log") } else { Message::verbatim(last.join(" | ")) }
    }
}

/// A free port of this machine.
pub fn free_port() -> Result<u16, Ended> {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr());
    let failed = |why: std::io::Error| Ended::Server(say!("about-why", what = say!("probe-serving-port"), why));
    Ok(port.map_err(failed)?.port())
}

impl Served for Serving {
    fn at(&self) -> &Endpoint {
        &self.at
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn command(&self) -> &[String] {
        &self.command
    }

    fn log(&self) -> Option<&Path> {
        Some(&self.log)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // The id cannot be reused before the process is reaped.
        let leader = self.child.id();
        let _ = sys::host::signal_group(leader, sys::abi::SIGTERM);
        let until = Instant::now() + END;
        while Instant::now() < until && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        // Runners that outlived their server belong to its process group.
        let _ = sys::host::signal_group(leader, sys::abi::SIGKILL);
        let _ = self.child.wait();
    }
}
