//! Every raw system call of the tool, and its one HTTP client: the only layer that knows which system it runs on.
//!
//! The only crate with `unsafe` outside the shims. A function takes plain values, makes its call, and returns a value
//! or an `io::Error`. This crate does not depend on GPU kernels or evidence, and only `hip_runtime` deals with GPUs.
//!
//! Linux has all of it (`linux/`). On other systems (`elsewhere/`: Windows, WebAssembly) the modules below have the
//! same functions: those about files use only the standard library, those that need Linux return an error of the kind
//! `Unsupported`. So the other crates contain no condition on the system.
//!
//! | module | what for |
//! |---|---|
//! | [`abi`] | the kernel's constants, for crates that only write or compare them |
//! | [`bpf`] | bpf(2): maps, programs, links, and the ring for a program's records |
//! | [`perf_event`] | perf_event_open(2): probes, counters, and the buffers of their samples |
//! | [`child`] | the only fork: a child that runs one of our functions, killed and reaped with its owner |
//! | [`mapped_call`] | children that map our file and call a function in it: the canary, and a probe's overhead |
//! | [`guard`] | children that outlive this process for a moment, to end or resume what it leaves behind |
//! | [`trial`] | trials of what is permitted: ptrace of a sibling, new namespaces |
//! | [`namespaces`] | the steps of a sandbox between fork and exec |
//! | [`mount`] | mount(2), and tracefs |
//! | [`interrupt`] | Ctrl-C, TERM and HUP as a flag to poll |
//! | [`rights`] | capabilities: which are kept and why; all others are given up |
//! | [`look_only`] | restricts this process to reading: Landlock |
//! | [`private_dir`] | directories that other users cannot list, removed by the next session if left behind |
//! | [`files`] | the only module that creates, replaces, renames and removes files and directories |
//! | [`rooted`] | paths as a process with another root sees them |
//! | [`program`] | the only module that starts programs |
//! | [`regular_file`] | files with untrusted names: checked before they are opened |
//! | [`hip_runtime`] | queries the system's HIP runtime for its devices |
//! | [`unix`] | the extension traits of `std::os::unix` and `std::os::fd`, on every system |
//! | [`host`] | this user, the name of this machine, free space, and signals to processes |
//! | [`terminal`] | the size of the terminal, and full-screen views that every exit restores |
//! | [`places`] | the user's own directories |
//! | [`support`] | what this system lacks, as sentences |
//! | [`clock`] | the time of day as text |
//! | [`random`] | unguessable numbers, and a seeded sequence |
//! | [`heap`] | memory in large pages, for programs that fill much of it and end |
//! | [`http`] | a small HTTP client, limited in time and size |
//! | [`fake`] | for tests: makes a system call fail |
#![allow(unsafe_code, reason = "raw system calls have no safe form; each block says why it is sound")]

pub mod clock;
pub mod fake;
pub mod http;
mod kernel_types;
pub mod places;
pub mod program;
pub mod random;
pub mod support;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
use elsewhere as system;
#[cfg(target_os = "linux")]
use linux as system;

pub use program::on_path;
pub use system::*;
