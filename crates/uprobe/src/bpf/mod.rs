//! The kernel's side: the programs, what they write, and the ways to hear of a hit.

pub mod asm;
pub mod backend;
pub mod btf;
pub mod duty_cycle;
pub mod instrument;
pub mod perf_backend;
pub mod program;
pub mod wire;
