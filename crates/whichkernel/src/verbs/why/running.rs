//! A server process of this user: how it was started, how to stop it, and how to start it again.

use say::{Context as _, Message, Say as _, bail, say};
use server::process::{option, strings};
use server::{Endpoint, request};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use sys::files::{self, Access};
use sys::unix::CommandExt as _;
use sys::unix::MetadataExt as _;
use why::Change;

/// A setting with which to start the server.
#[derive(Debug)]
pub enum Setting {
    /// An option, with all of its names; the value None removes it.
    Option {
        names: Vec<String>,
        value: Option<String>,
    },
    Variable {
        name: String,
        value: Option<String>,
    },
}

impl Setting {
    pub fn new(change: &Change) -> Setting {
        match change {
            Change::Option { names, new, .. } => {
                let names = names.iter().map(|name| (*name).to_owned()).collect();
                Setting::Option { names, value: Some(new.clone()) }
            }
            Change::Variable { name, new, .. } => {
                Setting::Variable { name: (*name).to_owned(), value: Some(new.clone()) }
            }
        }
    }

    pub fn apply(&self, words: &mut Vec<String>, variables: &mut Vec<(String, String)>) {
        match self {
            Setting::Option { names, value } => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                match value {
                    Some(value) => why::fixes::set_option(words, &names, value),
                    None => why::fixes::remove_option(words, &names),
                }
            }
            Setting::Variable { name, value } => {
                variables.retain(|(known, _)| known != name);
                variables.extend(value.iter().map(|value| (name.clone(), value.clone())));
            }
        }
    }
}

/// The maximum time to wait for a server to end.
const STOP: Duration = Duration::from_secs(30);
/// Long enough to load a large model.
const START: Duration = Duration::from_secs(600);
const MOST: u64 = 4 << 20;

/// All information needed to start the server again. Read before it is stopped.
#[derive(Debug)]
pub struct Running {
    pub pid: u32,
    program: PathBuf,
    words: Vec<String>,
    variables: Vec<(String, String)>,
    directory: PathBuf,
    /// The path of the server's log file.
    log: Option<PathBuf>,
}

impl Running {
    pub fn read(pid: u32) -> say::Result<Running> {
        let owner = std::fs::metadata(format!("/proc/{pid}")).map(|meta| meta.uid()).ok();
        if owner != Some(sys::host::user()) {
            let user = owner.map_or_else(|| "?".to_owned(), user_name);
            bail!("why-fix-user", pid, user);
        }
        Running::any(pid)
    }

    /// A process of any user.
    pub fn any(pid: u32) -> say::Result<Running> {
        let proc = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
        let read = |name: &str| sys::regular_file::start(&proc(name), MOST).map(|bytes| strings(&bytes));
        let link = |name: &str| std::fs::read_link(proc(name));
        let (Ok(words), Ok(variables), Ok(program), Ok(directory)) =
            (read("cmdline"), read("environ"), link("exe"), link("cwd"))
        else {
            bail!("why-fix-command", pid)
        };
        if words.is_empty() || program.to_string_lossy().ends_with(" (deleted)") {
            bail!("why-fix-command", pid);
        }
        let pair = |text: &String| text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables = variables.iter().filter_map(pair).collect();
        let log = link("fd/2").ok().filter(|path| path.is_file());
        Ok(Running { pid, program, words, variables, directory, log })
    }

    /// The value that the change replaces; None if the setting was not there.
    pub fn before(&self, change: &Change) -> Option<String> {
        match change {
            Change::Option { names, .. } => option(&self.words, names).map(|value| value.to_string()),
            Change::Variable { name, .. } => self.variable(name).map(str::to_owned),
        }
    }

    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Enters its working directory, so that relative paths in its command line keep their meaning.
    pub fn enter(&self) -> say::Result<()> {
        std::env::set_current_dir(&self.directory).about(self.directory.display())
    }

    /// The server's environment without the address, because a test server has its own.
    pub fn environment(&self) -> Vec<(String, String)> {
        let address = ["OLLAMA_HOST", "LLAMA_ARG_HOST", "LLAMA_ARG_PORT"];
        self.variables.iter().filter(|(name, _)| !address.contains(&name.as_str())).cloned().collect()
    }

    /// The server's command line with the address of a test server and the changes of `edit`.
    pub fn test_command(&self, edit: impl FnOnce(&mut Vec<String>)) -> Vec<String> {
        let mut words = self.words.clone();
        if let Some(first) = words.first_mut() {
            *first = self.program.display().to_string();
        }
        // A Unix socket is given as a host, too.
        for (names, value) in [(["--port"], "{port}"), (["--host"], "127.0.0.1")] {
            if option(&words, &names).is_some() {
                why::fixes::set_option(&mut words, &names, value);
            }
        }
        edit(&mut words);
        words
    }

    /// Asks the process to end, and waits until it has ended.
    pub fn stop(&self) -> say::Result<()> {
        let _ = sys::host::signal(self.pid, sys::abi::SIGTERM);
        let begun = Instant::now();
        while !gone(self.pid) {
            if begun.elapsed() > STOP {
                bail!("why-fix-no-stop", pid = self.pid, seconds = STOP.as_secs());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Starts the server as it was, or with the change; returns the process ID once the server answers.
    pub fn start(&self, setting: Option<&Setting>, at: &Endpoint) -> Result<u32, Message> {
        let mut words = self.words.clone();
        let mut variables = self.variables.clone();
        if let Some(setting) = setting {
            setting.apply(&mut words, &mut variables);
        }
        let output = || match &self.log {
            Some(path) => files::append(path, Access::Public).map_or_else(|_| Stdio::null(), Stdio::from),
            None => Stdio::null(),
        };
        let mut line = sys::program::given(&self.program);
        // The process can be found again by this name.
        line.arg0(words.first().map_or("", String::as_str));
        line.args(words.iter().skip(1)).env_clear().envs(variables).current_dir(&self.directory);
        // The server outlives this command, and Ctrl-C must not reach it.
        line.stdin(Stdio::null()).stdout(output()).stderr(output()).process_group(0);
        let mut child = line.spawn().map_err(|error| error.message())?;
        let begun = Instant::now();
        loop {
            if let Ok(Some(status)) = child.try_wait() {
                let said = self.log.as_deref().map_or_else(|| say!("probe-serving-no-log"), last);
                return Err(say!("probe-serving-ended", status = status.to_string(), said));
            }
            if request::ready(at).unwrap_or(false) {
                return Ok(child.id());
            }
            if begun.elapsed() > START {
                return Err(say!("probe-serving-silent", to = at.to, seconds = START.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The account's name, or its number.
fn user_name(id: u32) -> String {
    let passwd = sys::regular_file::text(Path::new("/etc/passwd"), 64 << 20).unwrap_or_default();
    let name = passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(id)).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| format!("#{id}"))
}

/// The start time in the kernel's ticks, which distinguishes it from a later process with the same PID.
pub fn started(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Whether the process has ended; a zombie counts as ended.
fn gone(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state follows the name in parentheses, which may contain any character.
    stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

fn last(path: &Path) -> Message {
    let text = sys::regular_file::whole(path, 64 << 20).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    Message::verbatim(line.chars().take(200).collect::<String>())
}
