//! Every raw system call of the tool: perf_event, bpf(2), namespaces, signals; and the one HTTP client.
//!
//! The only room with `unsafe` outside the shims. Nothing here knows of GPUs, kernels or evidence: a function takes plain
//! values, makes its call, and gives back a value or an `io::Error`.
#![allow(unsafe_code, reason = "raw system calls have no safe form; each block says why it is sound")]

pub mod bpf;
pub mod child;
pub mod http;
pub mod interrupt;
pub mod namespaces;
pub mod perf_event;
pub mod private_dir;
mod program;
pub mod rights;

pub use program::on_path;
