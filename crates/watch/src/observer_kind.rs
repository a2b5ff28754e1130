//! The kinds of observers: the rung that their rows reach, and the topics in their field of view.

use evidence::{DeviceKind, FieldOfView, Rung, View};
use schemars::JsonSchema;
use serde::Serialize;

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum ObserverKind: name {
        /// Probes that BPF reads.
        Uprobe = "uprobe",
        /// Uprobes through perf events, without BPF.
        Perf = "perf",
        Preload = "preload",
        /// The whichkernel Vulkan layer in the program.
        Layer = "layer",
        /// The libraries' own logs, or a server's.
        Logs = "logs",
        /// A profiler's file.
        Import = "import",
        /// A trace that `watch --trace` wrote.
        Trace = "trace",
        /// A trace of the stand-in.
        Dryrun = "dryrun",
    }
}

impl ObserverKind {
    /// The rung of launches that this observer saw on a device of this kind. A profile has the device's own times.
    pub fn rung(self, device: DeviceKind) -> Rung {
        match (device, self) {
            (DeviceKind::Real, ObserverKind::Import) => Rung::Completed,
            (DeviceKind::Real, _) => Rung::Launched,
            _ => Rung::Selected,
        }
    }
}

/// The topics of the rows of a watched window, which a sweep covers too.
const TOPICS: [&str; 6] = ["kernel", REFUSED, "matmul.*", "blas.call", "flash-attn.*", "server.claim.seen"];

/// Refused launches, which do not count as launches.
pub(crate) const REFUSED: &str = "kernel.refused";

/// The topics of Vulkan dispatches: paths and pipelines of another backend.
pub(crate) const VULKAN: &str = "vulkan.*";

/// The topics in an observer's field of view. An observer of one backend shows nothing about the other.
pub fn launches_in_view(kind: ObserverKind) -> FieldOfView {
    let topics: Vec<&str> = match kind {
        ObserverKind::Layer => vec![VULKAN, REFUSED, "server.claim.seen"],
        ObserverKind::Uprobe => TOPICS.into_iter().chain([VULKAN]).collect(),
        _ => TOPICS.to_vec(),
    };
    FieldOfView::new(topics.into_iter().map(View::new).collect())
}
