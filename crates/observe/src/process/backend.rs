//! The ways in which a process can use a GPU: backends with mapped libraries, Vulkan drivers and layers, and open
//! device files.

use super::Process;
use runtime::library_names::{DRM_STAND_IN, LAVAPIPE, VULKAN_LAYER, VULKAN_LOADER, is_vulkan_driver};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A path to a GPU, in the order in which ggml registers them (ggml-backend-reg.cpp, ggml_backend_load_all_from_path):
/// if two offer the same card, the first one is used.
const ORDER: [(&str, &[&str]); 3] =
    [("cuda", &["ggml-cuda", "cuda"]), ("hip", &["ggml-hip", "hip"]), ("vulkan", &["ggml-vulkan", VULKAN_LOADER])];

/// The parts of the Vulkan stack that a process has loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VulkanStack {
    /// File paths, as the process sees them.
    pub loader: Vec<String>,
    pub drivers: Vec<String>,
    pub layers: Vec<String>,
    /// Mesa's stand-in replaces the kernel driver: nothing is executed.
    pub stand_in: bool,
    /// Whether every loaded driver computes on the CPU.
    pub processor_only: bool,
}

impl Process {
    /// Backends with mapped libraries, in ggml's order. A loaded backend is not necessarily used.
    pub fn backends(&self) -> Vec<&'static str> {
        let has = |parts: &[&str]| {
            self.libraries.iter().any(|library| library.part.is_some_and(|part| parts.contains(&part)))
        };
        ORDER.into_iter().filter(|(_, parts)| has(parts)).map(|(name, _)| name).collect()
    }

    /// None if neither the Vulkan loader nor a Vulkan driver is mapped.
    pub fn vulkan(&self) -> Option<VulkanStack> {
        let of = |wanted: &dyn Fn(&str) -> bool| -> Vec<String> {
            let fits = self.libraries.iter().filter(|library| library.part.is_some_and(wanted));
            fits.map(|library| library.path.display().to_string()).collect()
        };
        let stack = VulkanStack {
            loader: of(&|part| part == VULKAN_LOADER),
            drivers: of(&is_vulkan_driver),
            layers: of(&|part| part == VULKAN_LAYER),
            stand_in: !of(&|part| part == DRM_STAND_IN).is_empty(),
            processor_only: false,
        };
        let lavapipe = of(&|part| part == LAVAPIPE);
        let processor_only = !stack.drivers.is_empty() && stack.drivers == lavapipe;
        let there = !stack.loader.is_empty() || !stack.drivers.is_empty();
        there.then_some(VulkanStack { processor_only, ..stack })
    }
}

/// The GPU device files that a process has open.
pub(super) fn devices(dir: &Path) -> Vec<String> {
    let open = fs::read_dir(dir.join("fd")).into_iter().flatten().flatten();
    let links = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    let names = links.map(|path| path.to_string_lossy().into_owned());
    let wanted = ["/dev/kfd", "/dev/dri/", "/dev/nvidia", "/dev/dxg"];
    let held: BTreeSet<String> = names.filter(|name| wanted.iter().any(|start| name.starts_with(start))).collect();
    held.into_iter().collect()
}
