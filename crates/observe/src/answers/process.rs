//! The GPU stack that a process has loaded.

use super::shown;
use crate::process::{Loaded, Process, VulkanStack};
use answer::Answer;
use evidence::Conclusion;
use schemars::JsonSchema;
use serde::Serialize;

/// What a process has loaded, and the edge that brought each library.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProcessAnswer {
    process: u32,
    name: String,
    program: String,
    ld_library_path: String,
    ld_preload: Vec<String>,
    libraries: Vec<Library>,
    /// Archives with device code that left its library, open or mapped.
    kpack_archives: Vec<String>,
    /// ROCm releases, where there is more than one.
    mixed_releases: Vec<String>,
    /// cuda, hip, vulkan: those whose libraries are loaded, in the order in which ggml registers them. Loaded is not used.
    backends: Vec<&'static str>,
    /// Device files of GPUs that it holds open.
    devices: Vec<String>,
    /// null where Vulkan is not loaded.
    vulkan: Option<Vulkan>,
    /// Is a library of a GPU stack loaded?
    gpu_stack: Conclusion,
    /// Is what is told of the libraries all there is?
    conclusion: Conclusion,
}

/// What a process has of Vulkan, as paths.
#[derive(Debug, Serialize, JsonSchema)]
struct Vulkan {
    loader: Vec<String>,
    drivers: Vec<String>,
    layers: Vec<String>,
    /// Mesa's stand-in takes the place of a kernel driver: nothing is executed.
    stand_in: bool,
    /// Every driver that is loaded computes on the processor.
    processor_only: bool,
}

impl Answer for ProcessAnswer {
    const SCHEMA: &'static str = "whichkernel.inspect-process/1";
}

#[derive(Debug, Serialize, JsonSchema)]
struct Library {
    path: String,
    soname: Option<String>,
    /// The part of the GPU stack that it is.
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
