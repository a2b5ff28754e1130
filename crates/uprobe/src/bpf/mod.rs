//! The kernel side: the programs, the records they write, and the ways to receive probe hits.

pub mod asm;
pub mod backend;
pub mod btf;
pub mod duty_cycle;
pub mod instrument;
pub mod perf_backend;
mod probe_place;
pub mod program;
pub mod wire;
