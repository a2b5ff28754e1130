//! Why a dry run could not be made, and what to do.

use crate::sandbox::EnterError;
use std::{io, path::PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum DryrunError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path}: {source}")]
    Code { path: PathBuf, source: codeobject::Error },
    #[error(transparent)]
    Open(#[from] inventory::OpenError),
    #[error(transparent)]
    Enter(#[from] EnterError),
    #[error(transparent)]
    Target(#[from] gpu::target::TargetError),
    #[error(
        "there is no runtime `{name}` in the cache. Bring it with `whichkernel runtime fetch {}`, or name a directory with --runtime DIR",
        say::shell::word(name)
    )]
    NoRuntime { name: String },
    #[error("{count} devices are more than a dry run can tell apart; give at most 16 cards")]
    TooManyDevices { count: usize },
    #[error("{path} is no directory")]
    NotADirectory { path: PathBuf },
    #[error(
        "no library with AMD device code was found in {path}. A dry run needs the HIP backend (libggml-hip.so or the like); `whichkernel inspect {}` says what is there",
        say::shell::word(&path.to_string_lossy())
    )]
    NoDeviceCode { path: PathBuf },
    #[error(
        "{library} wants {soname}, and the stand-in plays libamdhip64.so.5, .so.6 and .so.7 only. Use a runtime of ROCm 5, 6 or 7"
    )]
    Soname { library: PathBuf, soname: String },
    #[error(
        "{place} has no {library}, which this BLAS lane needs. `whichkernel runtime fetch debian-sid --help` says how to bring it; --blas recorded stops at the call and needs none"
    )]
    NoBlas { place: String, library: &'static str },
    #[error("{program} was not found{}", if *inside { " in the runtime; programs are looked up in its /usr/bin" } else { " on PATH" })]
    NoProgram { program: String, inside: bool },
    #[error(
        "{program} is statically linked: no library can stand in for one that is built in. Use a build that loads libamdhip64.so dynamically"
    )]
    Static { program: String },
    #[error(
        "{program} asks for the loader {loader}, which is not there: it was built for another C library. Give the tree that it belongs to with --runtime DIR, or use a build for this one"
    )]
    Loader { program: String, loader: String },
    #[error("{program} is for another processor or format; a dry run needs a 64-bit x86 Linux program")]
    Foreign { program: String },
    #[error(
        "{program} could not be started: {source}. If it was built for another C library, give its own tree with --runtime DIR"
    )]
    Start { program: String, source: io::Error },
    #[error("no card that Mesa's stand-in can play is called {given}. It plays: {known}")]
    NoVulkanCard { given: String, known: String },
    #[error(
        "{place} is no unpacked system with RADV and Mesa's stand-in for the kernel driver (mesa-vulkan-drivers, mesa-drm-shim). `whichkernel runtime fetch debian-sid --parts tools,vulkan` brings them"
    )]
    NoVulkanTree { place: String },
    #[error("{path}: {source}")]
    VulkanTrace { path: PathBuf, source: vulkan::RunError },
    #[error("{path}: {source}")]
    Trace { path: PathBuf, source: launch::trace::TraceError },
}

say::in_english!(DryrunError);

pub(super) fn io_at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> DryrunError {
    let path = path.into();
    move |source| DryrunError::Io { path, source }
}
