//! The libraries that are loaded into other processes, embedded as bytes. They are written to disk when needed and
//! never installed.
//!
//! They are `no_std` Rust under `shims/`, outside the workspace. This crate's build script compiles them.
#![forbid(unsafe_code)]

/// Replaces `libamdhip64.so.5`.
pub const NULLGPU_5: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libnullgpu.so.5"));
/// Replaces `libamdhip64.so.6`.
pub const NULLGPU_6: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libnullgpu.so.6"));
/// Replaces `libamdhip64.so.7`.
pub const NULLGPU_7: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libnullgpu.so.7"));
/// Replaces hipBLAS (and the three rocBLAS functions that ggml calls directly). Records each GEMM.
pub const NULLBLAS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libnullblas.so"));
/// Replaces rocBLAS, for programs that call it without hipBLAS. Records each GEMM.
pub const NULLROCBLAS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libnullrocblas.so"));
/// Replaces rocSOLVER, which hipBLAS of ROCm 5 is linked to.
pub const NULLSOLVER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libnullsolver.so"));
/// Wraps the launch and registration calls of the HIP runtime in the process.
pub const PRELOAD: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libpreload.so"));

/// Records the graphs that a program computes on ggml's GPU backends.
pub const GRAPH: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libgraph.so"));

/// A Vulkan layer that records each dispatch.
pub const VKLAYER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libvklayer.so"));

/// A program that maps a runtime and calls its launch function: a known event for the preload shim.
pub const CANARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/canary"));
/// A runtime whose launch function returns at once, to measure the overhead of the preload shim.
pub const STUB: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libstub.so"));

/// Keeps skeleton models from filling memory with zeros.
pub const SPARSE_READ: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libsparse_read.so"));

/// The CUDA runtime, driver and vendor libraries without a GPU, in one library: `libwhichkernel-cuda.so`.
pub const NULLCUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libnullcuda.so"));
/// The names that programs ask for, each with an empty library that leads to [`NULLCUDA`].
pub const CUDA_CARRIERS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/carriers.rs"));

/// The stand-in for a library, by the name that programs ask for.
pub fn nullgpu(soname: &str) -> Option<&'static [u8]> {
    match soname {
        "libamdhip64.so.5" => Some(NULLGPU_5),
        "libamdhip64.so.6" => Some(NULLGPU_6),
        "libamdhip64.so.7" => Some(NULLGPU_7),
        _ => None,
    }
}

/// Whether a library is one of our stand-ins, identified by its GNU build id.
pub fn is_nullgpu(build_id: &[u8]) -> bool {
    nullgpu_of(build_id).is_some()
}

/// The name and the bytes of the stand-in with this build id.
pub fn nullgpu_of(build_id: &[u8]) -> Option<(&'static str, &'static [u8])> {
    let all = [("libamdhip64.so.5", NULLGPU_5), ("libamdhip64.so.6", NULLGPU_6), ("libamdhip64.so.7", NULLGPU_7)];
    all.into_iter().find(|(_, library)| build_id_of(library).is_some_and(|id| id == build_id))
}

pub fn build_id_of(library: &[u8]) -> Option<&[u8]> {
    use object::Object;
    let file = object::File::parse(library).ok()?;
    file.build_id().ok().flatten()
}
