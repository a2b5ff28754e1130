//! A systemd service: its properties as systemd reports them, and how to restart it.

use say::{Message, Say as _, bail, say};
use server::{Endpoint, request};
use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};
use sys::unix::CommandExt as _;
use why::facts::Unit;

/// Long enough to load a large model.
const START: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub struct Systemd {
    pub unit: Unit,
}

impl Systemd {
    /// Only root may restart a service of the system.
    pub fn of(unit: &Unit) -> say::Result<Systemd> {
        if !unit.of_user && !sys::host::is_root() {
            bail!("why-fix-service-root", unit = unit.name);
        }
        Ok(Systemd { unit: unit.clone() })
    }

    fn systemctl(&self, words: &[&str]) -> Result<String, Message> {
        let failed = |why: Message| say!("why-run-systemctl", words = words.join(" "), why);
        let mut line = sys::program::command("systemctl").map_err(|error| failed(error.message()))?;
        if self.unit.of_user {
            line.arg("--user");
            // Programs that root starts get a clean environment, but these variables are needed to reach a user's
            // service manager.
            for name in ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"] {
                if let Some(value) = std::env::var_os(name) {
                    line.env(name, value);
                }
            }
        }
        // Ctrl-C must not end a restart halfway.
        line.args(["--no-ask-password", "--no-pager"]).args(words).stdin(Stdio::null()).process_group(0);
        let output = line.output().map_err(|error| failed(error.message()))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().lines().next().unwrap_or_default().to_owned();
        Err(failed(Message::verbatim(said)))
    }

    pub fn show(&self, keys: &[&str]) -> Result<BTreeMap<String, String>, Message> {
        let text = self.systemctl(&["show", "--property", &keys.join(","), "--", &self.unit.name])?;
        let pair = |line: &str| line.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
        Ok(text.lines().filter_map(pair).collect())
    }

    /// Restarts the service with the current drop-ins, and waits until it answers; returns its process. `holds` tells
    /// whether a process has the wanted settings, which EnvironmentFile= or a later drop-in can override.
    pub fn restart(&self, at: &Endpoint, holds: &dyn Fn(u32) -> Option<bool>) -> Result<u32, Message> {
        let name = self.unit.name.as_str();
        self.systemctl(&["daemon-reload"])?;
        // Without this reset, systemd refuses the sixth start within ten seconds.
        let _ = self.systemctl(&["reset-failed", "--", name]);
        self.systemctl(&["restart", "--", name])?;
        let (begun, mut looked) = (Instant::now(), Instant::now());
        loop {
            if request::ready(at).unwrap_or(false) {
                let pid = main_pid(&self.show(&["MainPID"])?).ok_or_else(|| self.ended())?;
                return if holds(pid) == Some(false) { Err(self.overruled()) } else { Ok(pid) };
            }
            if looked.elapsed() > Duration::from_millis(500) {
                looked = Instant::now();
                let shown = self.show(&["ActiveState", "SubState", "MainPID"])?;
                if main_pid(&shown).is_some_and(|pid| holds(pid) == Some(false)) {
                    return Err(self.overruled());
                }
                let of = |key: &str| shown.get(key).map_or("", String::as_str);
                if matches!(of("ActiveState"), "failed" | "inactive") || of("SubState") == "auto-restart" {
                    return Err(self.ended());
                }
            }
            if begun.elapsed() > START {
                return Err(say!("probe-serving-silent", to = at.to, seconds = START.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn overruled(&self) -> Message {
        say!("why-fix-service-overruled", unit = self.unit.name)
    }

    /// systemd's report about a service that did not keep running.
    fn ended(&self) -> Message {
        let shown = self.show(&["ActiveState", "SubState", "Result", "ExecMainStatus"]).unwrap_or_default();
        let said: Vec<String> = shown.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let log = if self.unit.of_user { "journalctl --user -u {}" } else { "journalctl -u {}" };
        let command = say::shell::CommandLine::new(log, [&self.unit.name]);
        say!("why-run-service-ended", unit = self.unit.name, said = said.join(" "), command)
    }
}

fn main_pid(shown: &BTreeMap<String, String>) -> Option<u32> {
    shown.get("MainPID")?.parse().ok().filter(|pid| *pid != 0)
}
