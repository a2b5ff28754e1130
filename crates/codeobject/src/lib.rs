//! GPU code inside host files: offload bundles, CCOB, device ELF, kernel metadata and descriptors, the static launch
//! map of a host library, NVIDIA fatbins.
//!
//! No I/O, no unsafe, no panic on any input, memory bounded by what the caller allows. Errors carry offset and field.
#![forbid(unsafe_code)]
pub mod launch_map;
