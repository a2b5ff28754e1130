//! NVIDIA's driver and cards, as the driver itself publishes them under `/proc/driver/nvidia`.

use crate::host::{Host, Look};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Nvidia {
    /// The kernel module's version, `580.95.05`.
    pub driver: Look<String>,
    pub cards: Vec<String>,
    pub devices: Vec<String>,
    /// Whether we could open `/dev/nvidiactl`.
    pub opens: bool,
}

impl Nvidia {
    pub fn read(host: &Host) -> Nvidia {
        let version = host.line("/proc/driver/nvidia/version").map(|line| driver_version(&line));
        let cards = host.entries("/proc/driver/nvidia/gpus").into_iter().filter_map(|slot| {
            let text = host.text(format!("/proc/driver/nvidia/gpus/{slot}/information")).found().cloned()?;
            text.lines().find_map(|line| line.strip_prefix("Model:")).map(|model| model.trim().to_owned())
        });
        let numbered = |name: &String| {
            name.strip_prefix("nvidia").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        };
        let control = host.opens("/dev/nvidiactl");
        Nvidia {
            driver: version,
            cards: cards.collect(),
            devices: host.entries("/dev").into_iter().filter(numbered).collect(),
            opens: control.is_ok(),
        }
    }

    pub fn present(&self) -> bool {
        self.driver.found().is_some() || !self.devices.is_empty()
    }
}

/// The version in `NVRM version: NVIDIA UNIX x86_64 Kernel Module 580.95.05 Tue Sep 23 ...`. The open module prints
/// another text, but the version is still the first word of digits and dots.
fn driver_version(line: &str) -> String {
    let number = |word: &&str| word.contains('.') && word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    line.split_whitespace().find(number).unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_modules_tell_their_version() {
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023";
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs@x)";
        assert_eq!(driver_version(closed), "535.129.03");
        assert_eq!(driver_version(open), "580.95.05");
    }
}
