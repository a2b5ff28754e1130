//! The dry run for Vulkan: a real program, the real loader, RADV and its compiler, on a simulated kernel driver.
//!
//! Mesa's own stand-in replaces the kernel driver. RADV compiles each pipeline to the card's own instructions and
//! submits it. Nothing is computed, so all results are Selected. Fences signal at once and timestamps are zero, so
//! neither is evidence. Our layer records the dispatches, and the driver itself reports the code that it compiled.

mod answer;
mod cards;
mod cell;
mod difference;
mod dispatches;
mod rows;
mod sightings;
mod survey;
mod trace;

pub use answer::{VulkanCardMap, VulkanMaps, VulkanSelection};
pub use cards::VulkanCard;
pub use cell::VulkanCell;
pub use difference::{VulkanDiff, VulkanDifference};
pub use rows::{Code, VulkanRow, rows};
pub(crate) use rows::{is_dot, is_matrix};
pub(crate) use sightings::NAME;
pub use sightings::{VulkanDryrun, VulkanRecord, vulkan_library};
pub use survey::{VulkanMap, VulkanSurvey};
pub use trace::{VulkanStep, steps as vulkan_steps};

use crate::RunRoot;
use crate::ending::{Ending, ending};
use crate::error::{DryrunError, io_at};
use crate::products::Account;
use crate::program_file::{check_program, inside, seen_at};
use crate::run_records::{products_in, read_bytes};
use crate::sandbox::Enter;
use crate::session::{PRODUCTS, Streams, connect};
use crate::surroundings::Environment;
use crate::wait::wait;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use sys::files::{self, Access};
use sys::guard::GroupGuard;
use sys::private_dir::{MOST_FILES, SessionDir, put};
use vulkan::Run;

/// The name by which the loader knows the layer.
const LAYER: &str = "VK_LAYER_WHICHKERNEL_dispatch";
const DRIVER: &str = "usr/share/vulkan/icd.d/radeon_icd.json";
const STAND_IN: &str = "libamdgpu_noop_drm_shim.so";

#[derive(Debug)]
pub struct VulkanRequest<'a> {
    pub place: &'a RunRoot,
    pub card: VulkanCard,
    pub command: &'a [OsString],
    /// Files and directories that the program must see.
    pub show: &'a [PathBuf],
    pub streams: Streams,
    /// Whether the model is a skeleton. Mapping it must not fill memory with zeros.
    pub sparse_read: bool,
    /// Whether to ask the driver for the code of each pipeline.
    pub code: bool,
}

#[derive(Debug)]
pub struct VulkanOutcome {
    pub ending: Ending,
    pub interrupted: Option<i32>,
    /// The program's output, if captured.
    pub said: String,
    /// One for each process that opened Vulkan.
    pub runs: Vec<Run>,
    /// The products of the graphs that each process computed.
    pub products: Account,
}

impl VulkanOutcome {
    pub fn lost(&self) -> u64 {
        self.runs.iter().map(|run| run.lost).sum()
    }

    pub fn dispatches(&self) -> usize {
        self.runs.iter().map(|run| run.dispatches.len()).sum()
    }

    /// The device that received the dispatches, as its driver names it. A device that was only opened does not count.
    pub fn device(&self) -> Option<&vulkan::Device> {
        let used = |run: &'_ Run| run.dispatches.iter().find_map(|dispatch| run.device(dispatch).map(|of| of.handle));
        self.runs.iter().find_map(|run| {
            let handle = used(run)?;
            run.devices.iter().find(|device| device.handle == handle)
        })
    }
}

impl VulkanRequest<'_> {
    pub fn run(&self) -> Result<VulkanOutcome, DryrunError> {
        let RunRoot::Tree { root, name } = self.place else {
            return Err(DryrunError::NoVulkanTree { place: self.place.name() });
        };
        let stand_in = self.place.library(STAND_IN);
        let (Some(stand_in), true) = (stand_in, root.join(DRIVER).is_file()) else {
            return Err(DryrunError::NoVulkanTree { place: name.clone() });
        };
        let base = std::env::temp_dir();
        let session = SessionDir::new("dryrun", &base).map_err(io_at(base))?;
        let libraries = session.outer().join("lib");
        files::create_dir(&libraries, Access::Public).map_err(io_at(&libraries))?;
        lay_out(&libraries)?;
        let program = self.command.first().cloned().unwrap_or_default();
        let mut command = sys::program::given(&program);
        command.args(self.command.iter().skip(1).map(|word| self.argument(root, word)));
        let environment = Environment::of(std::env::vars_os(), Some(root));
        environment.give(&mut command, &session.home().map_err(io_at(session.inner()))?, Some(root));
        self.environment(&mut command, session.inner(), &libraries, &stand_in);
        connect(self.streams, &mut command)?;
        let guard = GroupGuard::new().map_err(io_at("a process that waits"))?;
        guard.enter_before_exec(&mut command);
        let found = inside(root, &program);
        let missing = || DryrunError::NoProgramInside { program: program.to_string_lossy().into_owned() };
        check_program(&found.ok_or_else(missing)?, root)?;
        let mut enter = Enter::new(root).bind(session.outer());
        for path in self.show {
            enter = enter.bind_as(path, seen_at(root, path), false);
        }
        let ended = wait(enter.spawn(&mut command)?, &program)?;
        let runs = collect(session.inner())?;
        let products = products_in(session.inner())?;
        let (ending, interrupted, said) = (ending(ended.status), ended.interrupted, ended.said);
        Ok(VulkanOutcome { ending, interrupted, said, runs, products })
    }

    fn argument(&self, root: &Path, word: &std::ffi::OsStr) -> OsString {
        let path = std::path::absolute(word).unwrap_or_default();
        if self.show.iter().any(|shown| path.starts_with(shown)) && path.exists() {
            return seen_at(root, &path).into_os_string();
        }
        word.to_owned()
    }

    fn environment(&self, command: &mut Command, directory: &Path, libraries: &Path, stand_in: &str) {
        let mut preload: OsString = stand_in.into();
        let sparse_read = self.sparse_read.then_some("libwhichkernel-sparse-read.so");
        for name in sparse_read.into_iter().chain(["libwhichkernel-graph.so"]) {
            preload.push(":");
            preload.push(libraries.join(name));
        }
        command.env(PRODUCTS, directory);
        command.env("LD_PRELOAD", preload).env("AMDGPU_GPU_ID", self.card.id);
        command.env("VK_DRIVER_FILES", format!("/{DRIVER}"));
        command.env("VK_ADD_LAYER_PATH", libraries).env("VK_INSTANCE_LAYERS", LAYER);
        command.env("WHICHKERNEL_VULKAN", directory);
        if self.code {
            command.env("WHICHKERNEL_VULKAN_CODE", "1");
        }
        // Enable names of pipelines and nodes, and make the driver compile every pipeline now.
        command.env("GGML_VK_DEBUG_MARKERS", "1").env("MESA_SHADER_CACHE_DISABLE", "true");
    }
}

fn lay_out(libraries: &Path) -> Result<(), DryrunError> {
    let write = |name: &str, bytes: &[u8]| {
        let path = libraries.join(name);
        put(&path, bytes).map_err(io_at(path))
    };
    write("libVkLayer_whichkernel.so", embedded_shims::VKLAYER)?;
    write("libwhichkernel-sparse-read.so", embedded_shims::SPARSE_READ)?;
    write("libwhichkernel-graph.so", embedded_shims::GRAPH)?;
    let library = libraries.join("libVkLayer_whichkernel.so");
    let manifest = format!(
        "{{\"file_format_version\":\"1.2.0\",\"layer\":{{\"name\":\"{LAYER}\",\"type\":\"GLOBAL\",\"library_path\":{:?},\
         \"api_version\":\"1.4.0\",\"implementation_version\":\"1\",\"description\":\"records compute dispatches\"}}}}",
        library.display().to_string()
    );
    write("whichkernel.json", manifest.as_bytes())
}

fn collect(directory: &Path) -> Result<Vec<Run>, DryrunError> {
    let mut runs = Vec::new();
    for entry in fs::read_dir(directory).map_err(io_at(directory))?.flatten().take(MOST_FILES) {
        if !entry.file_name().to_string_lossy().starts_with("seen.") {
            continue;
        }
        let path = entry.path();
        let Some(bytes) = read_bytes(&path)? else { continue };
        runs.push(Run::read(&bytes).map_err(|source| DryrunError::VulkanTrace { path, source })?);
    }
    runs.sort_by_key(|run| run.pid);
    Ok(runs)
}
