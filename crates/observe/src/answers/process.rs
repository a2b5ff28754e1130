//! The GPU stack that a process has loaded.

use super::shown;
use crate::process::{Loaded, Process, VulkanStack};
use answer::Answer;
use evidence::Conclusion;
use schemars::JsonSchema;
use serde::Serialize;

/// The libraries that a process has loaded, and the dependency through which each of them was loaded.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProcessAnswer {
    process: u32,
    name: String,
    program: String,
    ld_library_path: String,
    ld_preload: Vec<String>,
    libraries: Vec<Library>,
    /// Open or mapped archives with device code that was moved out of its library.
    kpack_archives: Vec<String>,
    /// ROCm releases, if there is more than one.
    mixed_releases: Vec<String>,
    /// cuda, hip, vulkan: backends with loaded libraries, in the order in which ggml registers them. A loaded backend
    /// is not necessarily used.
    backends: Vec<&'static str>,
    /// GPU device files that the process has open.
    devices: Vec<String>,
    /// The Vulkan libraries; null if Vulkan is not loaded.
    vulkan: Option<Vulkan>,
    /// Whether a library of a GPU stack is loaded.
    gpu_stack: Conclusion,
    /// Whether the information on the libraries is complete.
    conclusion: Conclusion,
}

/// The Vulkan stack of a process, as paths.
#[derive(Debug, Serialize, JsonSchema)]
struct Vulkan {
    loader: Vec<String>,
    drivers: Vec<String>,
    layers: Vec<String>,
    /// Whether Mesa's stand-in replaces the kernel driver, so that nothing is executed.
    stand_in: bool,
    /// Whether every loaded driver computes on the CPU.
    processor_only: bool,
}

impl Answer for ProcessAnswer {
    const SCHEMA: &'static str = "whichkernel.inspect-process/1";
}

#[derive(Debug, Serialize, JsonSchema)]
struct Library {
    path: String,
    soname: Option<String>,
    /// The part of the GPU stack that the library belongs to.
    part: Option<&'static str>,
    version: Option<String>,
    release: Option<String>,
    origin: &'static str,
    how: &'static str,
    needed_by: Vec<String>,
    deleted: bool,
    problem: Option<String>,
}

impl From<&Process> for ProcessAnswer {
    fn from(process: &Process) -> Self {
        let library = |library: &Loaded| Library {
            path: shown(&library.path),
            soname: library.soname.clone(),
            part: library.part,
            version: library.version.clone(),
            release: library.release.clone(),
            origin: library.origin.name(),
            how: library.how.name(),
            needed_by: library.needed_by.clone(),
            deleted: library.deleted,
            problem: library.problem.as_ref().map(ToString::to_string),
        };
        let vulkan = |of: VulkanStack| Vulkan {
            loader: of.loader,
            drivers: of.drivers,
            layers: of.layers,
            stand_in: of.stand_in,
            processor_only: of.processor_only,
        };
        ProcessAnswer {
            backends: process.backends(),
            devices: process.devices.clone(),
            vulkan: process.vulkan().map(vulkan),
            gpu_stack: process.gpu_stack(),
            conclusion: process.completeness(),
            process: process.pid,
            name: process.name.clone(),
            program: shown(&process.program),
            ld_library_path: process.library_path.clone(),
            ld_preload: process.preload.clone(),
            libraries: process.libraries.iter().map(library).collect(),
            kpack_archives: process.archives.iter().map(|path| shown(path)).collect(),
            mixed_releases: process.mixed_releases().into_iter().map(|(release, _)| release).collect(),
        }
    }
}
