//! Reads from Ollama's log how it found its GPUs.
//!
//! At start the server runs one short-lived child per library directory, 30 seconds each, then a second, deeper pass
//! over the devices it found; a crash or a time-out in either drops the device, and the models then silently run on the
//! CPU (discover/runner.go at 4fda6980). The log shows which of these happened.

use schemars::JsonSchema;
use serde::Serialize;

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

/// Only lines after the last start count.
pub fn parse(log: String, text: &str) -> Discovery {
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
