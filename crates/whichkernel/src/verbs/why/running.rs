//! A server process of this user: how it was started, how to stop it, and how to start it again.

use rustix::process::{Pid, Signal, kill_process};
use say::{Context as _, Message, Say as _, bail, say};
use server::process::{option, strings};
use server::{Endpoint, request};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use sys::files::{self, Access};
use why::Change;

/// The maximum time to wait for a server to end.
const STOP: Duration = Duration::from_secs(30);
/// Long enough to load a large model.
const START: Duration = Duration::from_secs(600);
const MOST: u64 = 4 << 20;

/// All information needed to start it again. Read before it is stopped.
pub struct Running {
    pub pid: u32,
    program: PathBuf,
    words: Vec<String>,
    variables: Vec<(String, String)>,
    directory: PathBuf,
    /// Its log file.
    log: Option<PathBuf>,
}

impl Running {
    pub fn read(pid: u32) -> say::Result<Running> {
        let proc = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
        let own = std::fs::metadata(proc("")).is_ok_and(|meta| meta.uid() == rustix::process::geteuid().as_raw());
        if !own {
            bail!("why-fix-user", pid);
        }
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

    /// Enters its working directory, so that relative paths in its command line keep their meaning.
    pub fn enter(&self) -> say::Result<()> {
        std::env::set_current_dir(&self.directory).about(self.directory.display())
    }

    /// Its environment without the address, because a test server has its own.
    pub fn environment(&self) -> Vec<(String, String)> {
        let address = ["OLLAMA_HOST", "LLAMA_ARG_HOST", "LLAMA_ARG_PORT"];
        self.variables.iter().filter(|(name, _)| !address.contains(&name.as_str())).cloned().collect()
    }

    /// Its command line with the address of a test server and the changes of `edit`.
    pub fn test_command(&self, edit: impl FnOnce(&mut Vec<String>)) -> Vec<String> {
        let mut words = self.words.clone();
        if let Some(first) = words.first_mut() {
            *first = self.program.display().to_string();
        }
        if option(&words, &["--port"]).is_some() {
            why::fixes::set_option(&mut words, &["--port"], "{port}");
        }
        edit(&mut words);
        words
    }

    /// Asks it to end, and waits for that.
    pub fn stop(&self) -> say::Result<()> {
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let begun = Instant::now();
        while !gone(self.pid) {
            if begun.elapsed() > STOP {
                bail!("why-fix-no-stop", pid = self.pid, seconds = STOP.as_secs());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Starts it unchanged or with the change; returns its process id once it answers.
    pub fn start(&self, change: Option<&Change>, at: &Endpoint) -> Result<u32, Message> {
        let mut words = self.words.clone();
        let mut variables = self.variables.clone();
        match change {
            Some(Change::Option { names, new, .. }) => why::fixes::set_option(&mut words, names, new),
            Some(Change::Variable { name, new, .. }) => {
                variables.retain(|(known, _)| known != name);
                variables.push(((*name).to_owned(), new.clone()));
            }
            None => {}
        }
        let output = || match &self.log {
            Some(path) => files::append(path, Access::Public).map_or_else(|_| Stdio::null(), Stdio::from),
            None => Stdio::null(),
        };
        let mut line = sys::program::given(&self.program);
        // It is found again by this name.
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

/// Whether it has ended; a zombie counts as ended.
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
