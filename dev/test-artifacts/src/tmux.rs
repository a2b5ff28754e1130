//! A real terminal for tests: a separate tmux server, with a shell in one window.

use crate::program;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use std::{env, process, thread};

#[derive(Debug)]
pub struct Tmux {
    program: PathBuf,
    socket: String,
}

impl Tmux {
    /// A shell in a terminal of this size. `name` is unique in the test program.
    ///
    /// # Panics
    /// If tmux does not start; with `CI=true` also if it is not installed.
    pub fn start(name: &str, columns: u16, rows: u16) -> Option<Tmux> {
        let program = program("tmux", "apt-get install tmux")?;
        let tmux = Tmux { program, socket: format!("whichkernel-{name}-{}", process::id()) };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let shell = ["new-session", "-d", "-x", &columns, "-y", &rows, "env", "PS1=$ ", "LC_ALL=C.UTF-8", "bash"];
        let shell = [&shell[..], &["--norc", "--noprofile"]].concat();
        let started = tmux.tmux(&shell);
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        Some(tmux)
    }

    fn tmux(&self, words: &[&str]) -> Output {
        let mut command = Command::new(&self.program);
        command.args(["-L", &self.socket, "-f", "/dev/null"]).args(words).env_remove("TMUX");
        // The server is UTF-8, whatever the caller's locale.
        command.env("LC_ALL", "C.UTF-8").env("TMUX_TMPDIR", env::temp_dir()).output().expect("tmux")
    }

    /// The visible screen; `-e` would add colours.
    pub fn screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p"]).stdout).into_owned()
    }

    /// The screen with its colours, as escape sequences.
    pub fn coloured(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p", "-e"]).stdout).into_owned()
    }

    /// Types a text unchanged.
    pub fn text(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Presses a key by tmux's name: `Enter`, `C-c`, `Tab`.
    pub fn key(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// Types a command line and Enter.
    pub fn line(&self, text: &str) {
        self.text(text);
        self.key("Enter");
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        self.tmux(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    fn told(&self, format: &str) -> String {
        String::from_utf8_lossy(&self.tmux(&["display-message", "-p", format]).stdout).trim().to_owned()
    }

    /// The process id of the shell.
    pub fn shell(&self) -> String {
        self.told("#{pane_pid}")
    }

    /// `1 0` while a full-screen program hides the cursor, `0 1` in a usual terminal.
    pub fn modes(&self) -> String {
        self.told("#{alternate_on} #{cursor_flag}")
    }

    /// The title that a program gave the terminal.
    pub fn title(&self) -> String {
        self.told("#{pane_title}")
    }

    /// Waits until the screen fits, and returns it.
    ///
    /// # Panics
    /// Panics if the screen does not fit within a minute.
    pub fn until(&self, what: &str, fits: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if fits(&screen) {
                return screen;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{what} never came:\n{screen}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
