//! How Ollama found its GPUs, from its own log.
//!
//! At start the server runs one short-lived child per library directory, 30 seconds each, then a second, deeper pass
//! over the devices it found; a crash or a time-out in either drops the device, and the models run on the CPU without
//! another word (discover/runner.go at 4fda6980). The log says which of these happened.

use crate::host::Host;
use schemars::JsonSchema;
use serde::Serialize;
use std::process::Stdio;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Discovery {
    /// The log that was read.
    pub log: String,
    /// `library compute` of each "inference compute" line since the last start.
    pub devices: Vec<String>,
    /// Errors of discovery, as logged.
    pub failures: Vec<String>,
    /// Devices that the second pass dropped.
    pub dropped: Vec<String>,
    /// `offloaded 29/29 layers to GPU`, the last one.
    pub offloaded: Option<String>,
}

impl Discovery {
    pub fn cpu_only(&self) -> bool {
        !self.devices.is_empty() && self.devices.iter().all(|device| device.eq_ignore_ascii_case("cpu"))
    }
}

pub fn read(host: &Host) -> Vec<Discovery> {
    let home = host.environment().get("HOME").cloned().unwrap_or_default();
    // Each in a directory of whoever runs the server: a log that is a pipe, or a link to what is not theirs, is none.
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

/// Only where systemd keeps a journal and Ollama is one of its units.
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

/// Only what came after the last start counts.
fn parse(log: String, text: &str) -> Discovery {
    let start =
        text.rfind("discovering available GPUs").or_else(|| text.rfind("looking for compatible GPUs")).unwrap_or(0);
    let mut found = Discovery { log, ..Discovery::default() };
    for line in text.get(start..).unwrap_or_default().lines() {
        if line.contains("msg=\"inference compute\"") {
            let part = |name: &str| field(line, name).unwrap_or_default();
            found.devices.push(format!("{} {}", part("library"), part("compute")).trim().to_owned());
        } else if line.contains("failure during GPU discovery") {
            found.failures.push(field(line, "error").unwrap_or_else(|| line.trim().to_owned()));
        } else if line.contains("filtering device which didn't fully initialize") {
            found.dropped.push(field(line, "pci_id").or_else(|| field(line, "id")).unwrap_or_default());
        } else if let Some(at) = line.find("offloaded ") {
            found.offloaded = line.get(at..).map(|rest| rest.trim_end_matches('"').to_owned());
        }
    }
    found
}

/// `name=value` or `name="va lue"` of a slog line.
fn field(line: &str, name: &str) -> Option<String> {
    let at = line.find(&format!(" {name}="))? + name.len() + 2;
    let rest = line.get(at..)?;
    Some(match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?.to_owned(),
        None => rest.split(' ').next()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_start_decides() {
        let text = concat!(
            "time=1 level=INFO msg=\"discovering available GPUs...\"\n",
            "time=1 level=INFO source=types.go:42 msg=\"inference compute\" id=0 library=ROCm compute=gfx1201 name=ROCm0\n",
            "time=2 level=INFO msg=\"discovering available GPUs...\"\n",
            "time=2 level=INFO msg=\"failure during GPU discovery\" OLLAMA_LIBRARY_PATH=\"[/x]\" error=\"failed to finish discovery before timeout\"\n",
            "time=2 level=INFO source=types.go:60 msg=\"inference compute\" id=cpu library=cpu compute=\"\" name=cpu\n",
        );
        let found = parse("x".to_owned(), text);
        assert_eq!(found.devices, ["cpu"]);
        assert!(found.cpu_only());
        assert_eq!(found.failures, ["failed to finish discovery before timeout"]);
    }
}
