//! Which observer saw it: what its word is worth depends on it, so it is no text.

use evidence::{DeviceKind, Rung};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObserverKind {
    /// Probes, read by BPF.
    Uprobe,
    /// The same probes, without BPF.
    Perf,
    Preload,
    /// A Vulkan layer of ours in the program.
    Layer,
    /// The libraries' own logs, or a server's.
    Logs,
    /// A profiler's file.
    Import,
    /// A trace that `watch --trace` wrote.
    Trace,
    /// A trace of the stand-in.
    Dryrun,
}

impl ObserverKind {
    /// A plain noun, the same in the ledger, in JSON and in the documentation.
    pub fn name(self) -> &'static str {
        match self {
            ObserverKind::Uprobe => "uprobe",
            ObserverKind::Perf => "perf",
            ObserverKind::Preload => "preload",
            ObserverKind::Layer => "layer",
            ObserverKind::Logs => "logs",
            ObserverKind::Import => "import",
            ObserverKind::Trace => "trace",
            ObserverKind::Dryrun => "dryrun",
        }
    }

    /// What launches on such a device stand on, where this one saw them. A profile has the device's own times.
    pub fn rung(self, device: DeviceKind) -> Rung {
        match (device, self) {
            (DeviceKind::Real, ObserverKind::Import) => Rung::Completed,
            (DeviceKind::Real, _) => Rung::Launched,
            _ => Rung::Selected,
        }
    }
}
