//! The implementation for Linux, which supports every feature.

pub mod abi;
pub mod bpf;
pub mod child;
mod dynamic_library;
pub mod files;
pub mod guard;
pub mod heap;
pub mod hip_runtime;
pub mod host;
pub mod interrupt;
pub mod look_only;
pub mod mapped_call;
pub mod mount;
pub mod namespaces;
pub mod perf_event;
pub mod private_dir;
pub mod regular_file;
pub mod rights;
pub mod rooted;
pub mod terminal;
pub mod trial;
pub mod unix;
pub(crate) mod walk;

pub(crate) use std::os::unix::net::UnixStream;

/// Unguessable bytes.
pub(crate) fn fill(bytes: &mut [u8]) -> std::io::Result<()> {
    std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, bytes)
}

/// Some programs depend on the name they are called by (clang++ is a symlink to clang).
pub(crate) fn called(command: &mut std::process::Command, name: &std::ffi::OsStr) {
    std::os::unix::process::CommandExt::arg0(command, name);
}
