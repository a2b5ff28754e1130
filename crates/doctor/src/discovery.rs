//! Finds Ollama's log, which `server::discovery_log` parses.

use crate::host::Host;
use server::discovery_log::{Discovery, parse};
use std::process::Stdio;

pub fn read(host: &Host) -> Vec<Discovery> {
    let home = host.environment().get("HOME").cloned().unwrap_or_default();
    // Each log is in a directory of the user who runs the server. A pipe, or a symlink to a file of another user, is
    // not accepted.
    let files = [
        ("/var/log", "/var/log/ollama.log".to_owned()),
        ("/usr/share/ollama", "/usr/share/ollama/.ollama/logs/server.log".to_owned()),
        (home.as_str(), format!("{home}/.ollama/logs/server.log")),
    ];
    let mut found: Vec<Discovery> = files
        .into_iter()
        .filter_map(|(owner, path)| host.text_of(owner, &path).found().map(|text| parse(path.clone(), text)))
        .filter(|discovery| *discovery != Discovery { log: discovery.log.clone(), ..Discovery::default() })
        .collect();
    if let Some(text) = journal(host) {
        found.push(parse("journalctl -u ollama".to_owned(), &text));
    }
    found
}

/// Available only if systemd keeps a journal and Ollama is one of its units.
pub fn journal(host: &Host) -> Option<String> {
    let unit = ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"];
    let has_unit = unit.iter().any(|dir| host.exists(format!("{dir}/ollama.service")));
    if !host.live() || !has_unit || !host.exists("/run/systemd/system") {
        return None;
    }
    let output = sys::program::command("journalctl")
        .ok()?
        .args(["-u", "ollama", "-b", "-n", "3000", "-o", "cat", "--no-pager", "-q"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
