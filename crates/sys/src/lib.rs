//! Every raw system call of the tool, and its one HTTP client.
//!
//! The only crate with `unsafe` outside the shims. A function takes plain values, makes its call, and returns a value
//! or an `io::Error`. Nothing here knows about GPU kernels or evidence, and only `hip_runtime` about GPUs. Calls that
//! need no `unsafe` (rustix) are made where they are needed.
//!
//! | module | what for |
//! |---|---|
//! | [`abi`] | the kernel's numbers, for rooms that only write or compare them |
//! | [`bpf`] | bpf(2): maps, programs, links, and the ring that a program tells through |
//! | [`perf_event`] | perf_event_open(2): probes, counters, and the buffers of their samples |
//! | [`child`] | the one fork: a child that runs a function of ours, killed and reaped with its owner |
//! | [`mapped_call`] | children that map a file of ours and call a function in it: the canary, and what a probe costs |
//! | [`guard`] | children that outlive us for a moment, to end or let go on what we would leave behind |
//! | [`trial`] | what only trying tells: ptrace of a sibling, namespaces of our own |
//! | [`namespaces`] | the steps of a sandbox between fork and exec |
//! | [`mount`] | mount(2), and tracefs |
//! | [`interrupt`] | Ctrl-C and TERM as a question that is asked |
//! | [`rights`] | capabilities: which are kept and for what, all else given up |
//! | [`look_only`] | a process that can only look: Landlock |
//! | [`private_dir`] | directories that nobody else can list, and that the next one clears away |
//! | [`files`] | the one place where files and directories are made, replaced, renamed and removed |
//! | [`rooted`] | paths as a process with another root sees them |
//! | [`program`] | the one place where programs are started |
//! | [`regular_file`] | files that somebody else named: judged before they are opened |
//! | [`hip_runtime`] | the system's own HIP runtime, asked for its devices |
//! | [`clock`] | the time of day as text: the one calendar |
//! | [`random`] | numbers that nobody can guess, and a seeded sequence |
//! | [`heap`] | memory in large pages, for who fills much of it and ends |
//! | [`http`] | one small HTTP client, bounded in time and size |
//! | [`fake`] | for tests: a system call that fails as the test says |
#![allow(unsafe_code, reason = "raw system calls have no safe form; each block says why it is sound")]

pub mod abi;
pub mod bpf;
pub mod child;
pub mod clock;
mod dynamic_library;
pub mod fake;
pub mod files;
pub mod guard;
pub mod heap;
pub mod hip_runtime;
pub mod http;
pub mod interrupt;
pub mod look_only;
pub mod mapped_call;
pub mod mount;
pub mod namespaces;
pub mod perf_event;
pub mod private_dir;
pub mod program;
pub mod random;
pub mod regular_file;
pub mod rights;
pub mod rooted;
pub mod trial;
mod walk;

pub use program::on_path;
