//! Why a dry run failed, and the remedy.

use crate::sandbox::EnterError;
use std::{io, path::PathBuf};

#[derive(Debug)]
pub enum DryrunError {
    Io { path: PathBuf, source: io::Error },
    Code { path: PathBuf, source: codeobject::Error },
    Open(inventory::OpenError),
    Enter(EnterError),
    Target(gpu::target::TargetError),
    System { only: say::Key },
    NoRuntime { name: String },
    TooManyDevices { count: usize },
    StaticCudart { program: PathBuf },
    CudaSoname { library: PathBuf, soname: String },
    MixedVendors,
    NotADirectory { path: PathBuf },
    NoDeviceCode { path: PathBuf },
    Soname { library: PathBuf, soname: String },
    NoBlas { place: String, library: &'static str },
    NoProgram { program: String },
    NoProgramInside { program: String },
    Static { program: String },
    Loader { program: String, loader: String },
    Foreign { program: String },
    Start { program: String, source: io::Error },
    NoVulkanCard { given: String, known: Vec<String> },
    NoVulkanTree { place: String },
    VulkanTrace { path: PathBuf, source: vulkan::RunError },
    Trace { path: PathBuf, source: launch::trace::TraceError },
}

say::worded! { DryrunError {
    Io { path, source } => "about-why" (what = path, why = source),
    Code { path, source } => "about-why" (what = path, why = source),
    Open(error) => error,
    Enter(error) => error,
    Target(error) => error,
    System { only } => "dryrun-system",
    NoRuntime { name } => "dryrun-no-runtime",
    TooManyDevices { count } => "dryrun-too-many-devices",
    StaticCudart { program } => "dryrun-static-cudart",
    CudaSoname { library, soname } => "dryrun-cuda-soname",
    MixedVendors => "dryrun-mixed-vendors",
    NotADirectory { path } => "dryrun-not-a-directory",
    NoDeviceCode { path } => "dryrun-no-device-code",
    Soname { library, soname } => "dryrun-soname",
    NoBlas { place, library } => "dryrun-no-blas",
    NoProgram { program } => "dryrun-no-program",
    NoProgramInside { program } => "dryrun-no-program-inside",
    Static { program } => "dryrun-static",
    Loader { program, loader } => "dryrun-loader",
    Foreign { program } => "dryrun-foreign",
    Start { program, source } => "dryrun-start",
    NoVulkanCard { given, known } => "dryrun-no-vulkan-card",
    NoVulkanTree { place } => "dryrun-no-vulkan-tree",
    VulkanTrace { path, source } => "about-why" (what = path, why = source),
    Trace { path, source } => "about-why" (what = path, why = source),
}}

say::wraps! { DryrunError { Open(inventory::OpenError), Enter(EnterError), Target(gpu::target::TargetError) }}

pub(super) fn io_at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> DryrunError {
    let path = path.into();
    move |source| DryrunError::Io { path, source }
}
