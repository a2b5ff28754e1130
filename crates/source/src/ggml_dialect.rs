//! The additions of ggml's host code, CUDA and HIP to C++, as a dialect for the evaluator.

use crate::device_queries::{attribute, buffer_usage, hash_find, occupancy, properties};
use crate::path;
use cxx::ast::{ELSEWHERE, Expr, HERE, REMOTE};
use cxx::eval::dialect::ReadConfiguration;
use cxx::eval::{Builtin, Machine, Run, Value};
use cxx::{Dialect, Outside, Role, Vocabulary, Word};

pub static GGML: Dialect = Dialect {
    vocabulary: Vocabulary {
        words: &[
            ("__host__", Word::Mark(HERE)),
            ("__device__", Word::Mark(ELSEWHERE)),
            ("__global__", Word::Mark(REMOTE)),
            ("__shared__", Word::Storage),
            ("__constant__", Word::Ignored),
            ("__grid_constant__", Word::Ignored),
            ("__launch_bounds__", Word::WithArguments),
            ("__cluster_dims__", Word::WithArguments),
        ],
        kept: KEPT,
        unused: &["GGML_UNUSED"],
        prelude: include_str!("platform_types.hpp"),
        units: &["cu", "c", "cpp", "hip"],
        beside: &["cu", "c", "cpp"],
        own_header: ".cuh",
        // The device of the question is the first and only one.
        settled: &["g_main_device", "g_main_device_index"],
        answered: |name| BUILTINS.iter().any(|(known, _)| *known == name),
        role,
    },
    builtins: BUILTINS,
    constants: &[
        ("cudaSuccess", 0),
        ("hipSuccess", 0),
        ("CUDA_SUCCESS", 0),
        ("CUBLAS_STATUS_SUCCESS", 0),
        ("HIPBLAS_STATUS_SUCCESS", 0),
        // The type names of BLAS libraries (library_types.h of CUDA and HIP, hipblas.h before version 2).
        ("CUDA_R_32F", 0),
        ("CUDA_R_16F", 2),
        ("CUDA_R_16BF", 14),
        ("HIP_R_32F", 0),
        ("HIP_R_16F", 2),
        ("HIP_R_16BF", 14),
        ("HIPBLAS_R_16F", 150),
        ("HIPBLAS_R_32F", 151),
        ("HIPBLAS_R_16B", 168),
        // Operations and compute types (hipblas.h, cublas_api.h).
        ("HIPBLAS_OP_N", 111),
        ("HIPBLAS_OP_T", 112),
        ("HIPBLAS_COMPUTE_16F", 0),
        ("HIPBLAS_COMPUTE_32F", 2),
        ("HIPBLAS_COMPUTE_32F_FAST_16F", 4),
        ("CUBLAS_OP_N", 0),
        ("CUBLAS_OP_T", 1),
        ("CUBLAS_COMPUTE_16F", 64),
        ("CUBLAS_COMPUTE_32F", 68),
        ("CUBLAS_COMPUTE_32F_FAST_16F", 74),
    ],
    undeclared: |_, _| None,
    // The compilers align these to four bytes.
    aligned: &[("half2", 4), ("nv_bfloat162", 4)],
    hands_out_memory: |name| name.contains("pool") && (name.starts_with("ggml_") || name.contains("alloc")),
    outside,
    configuration,
    show,
    decision: path::decision,
};

/// Checks, logs and markers that do not affect a decision.
pub(crate) const KEPT: &[&str] = &[
    "GGML_ASSERT",
    "GGML_ABORT",
    "CUDA_CHECK",
    "CUBLAS_CHECK",
    "CU_CHECK",
    "NCCL_CHECK",
    "GGML_UNUSED",
    "GGML_UNUSED_VARS",
    "UNUSED",
    "GGML_LOG_INFO",
    "GGML_LOG_WARN",
    "GGML_LOG_ERROR",
    "GGML_LOG_DEBUG",
    "GGML_LOG_CONT",
    "GGML_CUDA_LOG_INFO",
    "GGML_CUDA_LOG_WARN",
    "GGML_CUDA_LOG_ERROR",
    "CUDA_SET_SHARED_MEMORY_LIMIT",
    "GGML_PRINT_DEBUG",
    "NO_DEVICE_CODE",
    "GGML_CUDA_ASSUME",
    "HIP_CHECK",
    "ROCBLAS_CHECK",
    "CURAND_CHECK",
];

/// Functions that return the number of devices. There is exactly one: the device of the question.
pub const DEVICE_COUNT: [&str; 2] = ["cudaGetDeviceCount", "hipGetDeviceCount"];

const BUILTINS: &[(&str, Builtin)] = &[
    ("GGML_UNUSED", Builtin::Ignore),
    ("GGML_UNUSED_VARS", Builtin::Ignore),
    ("UNUSED", Builtin::Ignore),
    ("GGML_LOG_INFO", Builtin::Ignore),
    ("GGML_LOG_WARN", Builtin::Ignore),
    ("GGML_LOG_ERROR", Builtin::Ignore),
    ("GGML_LOG_DEBUG", Builtin::Ignore),
    ("GGML_LOG_CONT", Builtin::Ignore),
    ("GGML_CUDA_LOG_INFO", Builtin::Ignore),
    ("GGML_CUDA_LOG_WARN", Builtin::Ignore),
    ("GGML_CUDA_LOG_ERROR", Builtin::Ignore),
    ("GGML_PRINT_DEBUG", Builtin::Ignore),
    ("NO_DEVICE_CODE", Builtin::Ignore),
    ("GGML_CUDA_ASSUME", Builtin::Ignore),
    ("CUDA_SET_SHARED_MEMORY_LIMIT", Builtin::Ignore),
    ("ggml_cuda_set_device", Builtin::Ignore),
    ("CUDA_CHECK", Builtin::Check),
    ("CUBLAS_CHECK", Builtin::Check),
    ("CU_CHECK", Builtin::Check),
    ("NCCL_CHECK", Builtin::Check),
    ("HIP_CHECK", Builtin::Check),
    ("ROCBLAS_CHECK", Builtin::Check),
    ("GGML_ASSERT", Builtin::Assert),
    ("GGML_ABORT", Builtin::Abort),
    ("ggml_abort", Builtin::Abort),
    ("cudaGetDevice", Builtin::Give(0)),
    ("hipGetDevice", Builtin::Give(0)),
    (DEVICE_COUNT[0], Builtin::Give(1)),
    (DEVICE_COUNT[1], Builtin::Give(1)),
    ("cudaGetDeviceProperties", Builtin::Answer(properties)),
    ("hipGetDeviceProperties", Builtin::Answer(properties)),
    ("hipGetDevicePropertiesR0600", Builtin::Answer(properties)),
    ("cudaDeviceGetAttribute", Builtin::Answer(attribute)),
    ("hipDeviceGetAttribute", Builtin::Answer(attribute)),
    ("cuDeviceGetAttribute", Builtin::Answer(attribute)),
    ("cudaOccupancyMaxActiveBlocksPerMultiprocessor", Builtin::Answer(occupancy)),
    ("hipOccupancyMaxActiveBlocksPerMultiprocessor", Builtin::Answer(occupancy)),
    ("ggml_backend_buffer_get_usage", Builtin::Answer(buffer_usage)),
    ("ggml_hash_find", Builtin::Answer(hash_find)),
    ("ggml_backend_buffer_get_alloc_size", Builtin::Unknown),
    ("init_fastdiv_values", Builtin::UnlessFollowed),
];

/// Memory pools and guards do not affect a choice. The backend's context provides streams and handles, which decide
/// nothing.
fn role(name: &str) -> Role {
    let pool = name.contains("pool") && !name.ends_with("_alloc");
    if pool || name.contains("scope") || name.contains("guard") {
        Role::Foreign
    } else if name.starts_with("ggml_backend_") && name.ends_with("_context") {
        Role::Context
    } else {
        Role::Plain
    }
}

fn outside(name: &str) -> Outside {
    if asks_about_kernel(name) {
        Outside::Query
    } else if is_blas(name) {
        Outside::Work
    } else if is_move(name) {
        Outside::Moves
    } else {
        Outside::Unknown
    }
}

/// Whether a function queries a kernel without launching it.
fn asks_about_kernel(name: &str) -> bool {
    ["FuncSetAttribute", "FuncGetAttributes", "Occupancy", "FuncSetCache", "SHARED_MEMORY_LIMIT", "FuncSetShared"]
        .iter()
        .any(|part| name.contains(part))
}

/// Whether a function is a copy or fill by the driver, which launches no kernel of the program.
pub(crate) fn is_move(name: &str) -> bool {
    let driver = ["cuda", "hip", "musa"].iter().find_map(|vendor| name.strip_prefix(vendor));
    driver.is_some_and(|call| call.starts_with("Memcpy") || call.starts_with("Memset"))
}

/// Whether a function is a matrix product of a BLAS library, under any vendor's name.
pub(crate) fn is_blas(name: &str) -> bool {
    let library = ["cublas", "hipblas", "rocblas", "mublas"].iter().any(|prefix| name.starts_with(prefix));
    library && ["gemm", "Gemm", "GEMM", "Matmul", "gemv"].iter().any(|part| name.contains(part))
}

/// The positions of grid, block and dynamic shared memory in the arguments of the driver's launch functions.
fn configuration(name: &str, args: &[Expr]) -> Option<ReadConfiguration> {
    let call = ["cuda", "hip", "musa"].iter().find_map(|vendor| name.strip_prefix(vendor))?;
    match call {
        "LaunchKernelEx" | "LaunchKernelExC" if args.len() > 1 => Some(of_struct),
        "LaunchKernel" | "LaunchCooperativeKernel" if args.len() > 4 => Some(of_arguments),
        _ => None,
    }
}

/// Reads grid, block and shared memory of `cudaLaunchKernelEx(&config, kernel, ...)`.
fn of_struct(machine: &mut Machine<'_>, args: &[Expr]) -> Run<Option<[Value; 3]>> {
    let Some(config) = args.first() else { return Ok(None) };
    let at = config.span;
    let Value::Ptr(place) = machine.eval(config)? else { return Ok(None) };
    let Value::Agg(config) = machine.read(place, at) else { return Ok(None) };
    let field = |name: &str| {
        let name = machine.program.interner.get(name);
        name.and_then(|name| machine.field_of(&config, name)).unwrap_or(Value::Opaque(at))
    };
    Ok(Some(["gridDim", "blockDim", "dynamicSmemBytes"].map(field)))
}

/// Reads grid, block and shared memory from the arguments of `cudaLaunchCooperativeKernel(kernel, grid, block, ...)`.
fn of_arguments(machine: &mut Machine<'_>, args: &[Expr]) -> Run<Option<[Value; 3]>> {
    let [_, grid, block, _, shared, ..] = args else { return Ok(None) };
    Ok(Some([machine.eval(grid)?, machine.eval(block)?, machine.eval(shared)?]))
}

/// Shows operations and types by name, and AMD's compute capabilities in the base in which ggml writes them.
fn show(machine: &mut Machine<'_>, variable: &str, number: i64) -> Option<String> {
    let of = match variable {
        "op" => Some("GGML_OP_NONE"),
        name if name.starts_with("type") => Some("GGML_TYPE_F32"),
        _ => None,
    };
    if let Some(of) = of
        && let Some((name, _)) = machine.siblings(of).into_iter().find(|(_, known)| *known == number)
    {
        return Some(name);
    }
    let capability = variable == "cc" || variable.ends_with("_cc") || variable == "compute_capability";
    (capability && number >= 0x100_0000).then(|| format!("{number:#x}"))
}
