//! The file format of launch records: written by the stand-in GPU and the preload shim, read by all observers.
//!
//! Only `core` is used and nothing is allocated, because the shims include this file by path. A trace file is a header
//! page followed by records. Each record is 8-byte aligned, and none crosses a segment border. A record's length is
//! stored when its space is reserved, and its kind when it is complete. So if a process dies at any instruction, its
//! finished records can still be read.

/// First bytes of a trace file.
pub const MAGIC: [u8; 8] = *b"WKTRACE1";
/// The file grows by whole segments; each is mapped separately.
pub const SEGMENT: u64 = 2 << 20;
/// The first record follows the header page.
pub const FIRST: u64 = 4096;

/// The first word of a `__hip_fatbin_wrapper` whose code was moved out of the library (kpack). All of these wrappers
/// point to the same reference, so they are identified by their own address. Other wrappers are identified by the
/// address of their bundle.
pub const PACKED_WRAPPER: u32 = u32::from_le_bytes(*b"HIPK");

/// The header at offset 0. `used` counts reserved bytes from the start of the file, including the header.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Header {
    pub magic: [u8; 8],
    pub used: u64,
    /// Records that did not fit (disk full, mapping refused). The trace is then incomplete.
    pub lost: u64,
    pub pid: u32,
    pub ppid: u32,
    pub start_ns: u64,
    /// The writer: 1 is the stand-in GPU, 2 the preload shim.
    pub writer: u32,
    /// 1 if the reader has gone, so that nothing more needs to be written.
    pub closed: u32,
    /// Bytes that a live reader has consumed. Together with `limit`, this makes the file a ring buffer.
    pub consumed: u64,
    /// The maximum number of bytes that may wait for the reader. Further records count as lost. 0 means no limit.
    pub limit: u64,
}

/// Precedes every record's body.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Bytes including this head and the padding; 0 if the process died between reserving and writing.
    pub len: u32,
    /// The kind of the record. 0 until the body is complete.
    pub kind: u32,
}

/// Kinds of records.
pub mod kind {
    /// Fills the end of a segment.
    pub const PAD: u32 = 1;
    pub const MODULE: u32 = 2;
    pub const KERNEL: u32 = 3;
    pub const LAUNCH: u32 = 4;
    /// An executable graph was instantiated from a graph, updated to a graph, or launched.
    pub const GRAPH: u32 = 5;
    /// A call that the stand-in does not support, by name.
    pub const UNSUPPORTED: u32 = 6;
    pub const BLAS: u32 = 7;
    /// A copy from the device to the host. An evaluation ends where the host reads a result back.
    pub const READBACK: u32 = 8;
    /// An allocation that did not fit the card.
    pub const NO_MEMORY: u32 = 9;
    /// The path of the program.
    pub const PROCESS: u32 = 10;
    /// A runtime that launches: its build id in hexadecimal digits, a space, and its path.
    pub const RUNTIME: u32 = 11;
    /// The full description of a launch, written once. It does not count as a launch.
    pub const SHAPE: u32 = 12;
    /// One more launch like an earlier shape.
    pub const REPEAT: u32 = 13;
    /// A node of a graph as the runtime reports it, when the graph becomes executable or a node is changed.
    pub const NODE: u32 = 14;
    /// A device file that the process had open after it launched: its device number in decimal digits, a space, and its
    /// path.
    pub const DEVICE: u32 = 15;
    /// The program asked how long launches took: the call, a space, and the library that called.
    pub const TIMED: u32 = 16;
}

/// The call that made a launch.
pub mod api {
    pub const LAUNCH_KERNEL: u32 = 1;
    pub const LAUNCH_COOPERATIVE: u32 = 2;
    pub const MODULE_LAUNCH: u32 = 3;
    pub const EXT_MODULE_LAUNCH: u32 = 4;
    pub const EXT_LAUNCH: u32 = 5;
    pub const MODULE_COOPERATIVE: u32 = 6;
    pub const LAUNCH_EXC: u32 = 7;
    pub const CUDA_LAUNCH: u32 = 16;
    pub const CU_LAUNCH: u32 = 17;
    pub const CUDA_LAUNCH_EXC: u32 = 18;
    pub const CUDA_COOPERATIVE: u32 = 19;
    pub const CU_LAUNCH_EX: u32 = 20;
    pub const CU_COOPERATIVE: u32 = 21;
    /// A kernel node that was added to a graph explicitly.
    pub const GRAPH_NODE: u32 = 32;
    /// A node that contains a graph. It launches nothing by itself.
    pub const GRAPH_CHILD: u32 = 33;

    pub fn name(api: u32) -> &'static str {
        match api {
            LAUNCH_KERNEL => "hipLaunchKernel",
            LAUNCH_COOPERATIVE => "hipLaunchCooperativeKernel",
            MODULE_LAUNCH => "hipModuleLaunchKernel",
            EXT_MODULE_LAUNCH => "hipExtModuleLaunchKernel",
            EXT_LAUNCH => "hipExtLaunchKernel",
            MODULE_COOPERATIVE => "hipModuleLaunchCooperativeKernel",
            LAUNCH_EXC => "hipLaunchKernelExC",
            CUDA_LAUNCH => "cudaLaunchKernel",
            CU_LAUNCH => "cuLaunchKernel",
            CUDA_LAUNCH_EXC => "cudaLaunchKernelExC",
            CUDA_COOPERATIVE => "cudaLaunchCooperativeKernel",
            CU_LAUNCH_EX => "cuLaunchKernelEx",
            CU_COOPERATIVE => "cuLaunchCooperativeKernel",
            GRAPH_NODE => "GraphAddKernelNode",
            GRAPH_CHILD => "GraphAddChildGraphNode",
            _ => "?",
        }
    }
}

/// A registered fat binary, or a loaded image. Followed by `path_len` bytes of path.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Module {
    pub id: u32,
    pub path_len: u32,
    /// The address of the bundle in its file, if registered; 0 for a loaded image.
    pub address: u64,
    /// FNV-1a of a loaded image's bytes; 0 for a registered one.
    pub hash: u64,
    /// Bytes of a loaded image.
    pub size: u64,
}

/// Written when a kernel is launched for the first time. Followed by `name_len` bytes of mangled name.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    pub id: u32,
    pub module: u32,
    /// Index in the parent's kernel table, starting at 1. 0 means that the kernel is not in the table.
    pub entry: u32,
    pub name_len: u32,
}

/// Followed by `args_len` bytes of kernel arguments, laid out as in the kernarg segment.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    pub time_ns: u64,
    pub stream: u64,
    /// The graph that captures the launch. 0 means that it was launched immediately.
    pub graph: u32,
    pub kernel: u32,
    pub thread: u32,
    pub device: u32,
    pub api: u32,
    /// The result of the call. Any value except 0 is a rejected launch.
    pub status: u32,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub args_len: u32,
}

/// A launch that later launches repeat. Most launches repeat an earlier one, and a number instead of a whole record
/// keeps the file small.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub id: u32,
    pub reserved: u32,
    /// The launch is accepted, not captured, and without argument bytes. Its time is that of its first launch.
    pub launch: Launch,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeat {
    pub shape: u32,
    /// The time since the header's `start_ns`, in units of 2^`REPEAT_SHIFT` ns (about a millisecond). The range is more
    /// than seven weeks.
    pub time: u32,
}

pub const REPEAT_SHIFT: u32 = 20;

/// An event of a graph. `what` is one of `graph::*`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Graph {
    pub time_ns: u64,
    pub stream: u64,
    pub what: u32,
    pub exec: u32,
    pub graph: u32,
    pub status: u32,
}

pub mod graph {
    pub const INSTANTIATE: u32 = 1;
    pub const UPDATE: u32 = 2;
    pub const LAUNCH: u32 = 3;
    /// The runtime's response to a query for a graph's nodes. `stream` is the number of reported nodes, and `status` is
    /// one of `asked::*`. Comes before the record that the nodes belong to.
    pub const ASKED: u32 = 4;
    /// A node (`stream`) of an executable graph got new parameters, which are those of the last reported node.
    pub const SET: u32 = 5;
    /// A node (`stream`) of an executable graph contains another graph, which consists of the last reported nodes.
    pub const CHILD: u32 = 6;
    /// A node (`stream`) of an executable graph is enabled (`graph` 1) or not (0).
    pub const ENABLE: u32 = 7;
}

/// How much of a graph its runtime reported.
pub mod asked {
    pub const ALL: u32 = 0;
    /// A part of it was reported: the device decides how often some of it runs, or the graph was too large to query.
    pub const PART: u32 = 1;
    /// The program reported nothing, so the graph counts as it was captured.
    pub const NONE: u32 = 2;
}

/// Followed by a launch (with the number that the nodes share in `Launch::graph`) and its argument bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// The runtime's handle.
    pub node: u64,
    /// The node whose graph contains this node; 0 at the top level.
    pub under: u64,
}

/// One GEMM call at the BLAS interface. Types are hipDataType / rocblas_datatype values as passed.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blas {
    pub time_ns: u64,
    pub stream: u64,
    pub graph: u32,
    /// The function, one of `blas::*`.
    pub call: u32,
    pub trans_a: u32,
    pub trans_b: u32,
    pub m: i64,
    pub n: i64,
    pub k: i64,
    pub lda: i64,
    pub ldb: i64,
    pub ldc: i64,
    pub stride_a: i64,
    pub stride_b: i64,
    pub stride_c: i64,
    pub batch: i64,
    pub type_a: u32,
    pub type_b: u32,
    pub type_c: u32,
    pub compute: u32,
    /// The bits of `alpha` and `beta` as doubles.
    pub alpha: u64,
    pub beta: u64,
    /// 0 if the call was only recorded. 1 begins and 2 ends a call that the real library handles. Launches between the
    /// two are the library's own.
    pub bracket: u32,
    pub status: u32,
    /// The library that handles the call, one of `lane::*`.
    pub lane: u32,
    /// The solution's index, if the library reports it at the end of a bracket, otherwise negative.
    pub solution: i32,
    /// The current device; `NO_DEVICE` if the writer did not query it.
    pub device: u32,
    pub reserved: u32,
}

/// A value of [`Blas::device`]: the writer did not query the device.
pub const NO_DEVICE: u32 = u32::MAX;

pub mod lane {
    pub const NONE: u32 = 0;
    pub const ROCBLAS: u32 = 1;
    pub const HIPBLASLT: u32 = 2;

    pub fn name(lane: u32) -> &'static str {
        match lane {
            ROCBLAS => "rocBLAS",
            HIPBLASLT => "hipBLASLt",
            _ => "",
        }
    }
}

pub mod blas {
    pub const SGEMM: u32 = 1;
    pub const GEMM_EX: u32 = 2;
    pub const GEMM_STRIDED_BATCHED_EX: u32 = 3;
    pub const GEMM_BATCHED_EX: u32 = 4;
    pub const SGEMM_BATCHED: u32 = 5;
    pub const SGEMM_STRIDED_BATCHED: u32 = 6;
    pub const STRSM_BATCHED: u32 = 7;
    pub const HGEMM: u32 = 8;
    pub const DGEMM: u32 = 9;
    pub const ROCBLAS_GEMM_EX: u32 = 16;
    pub const ROCBLAS_GEMM_STRIDED_BATCHED_EX: u32 = 17;
    pub const ROCBLAS_GEMM_BATCHED_EX: u32 = 18;
    pub const ROCBLAS_SGEMM: u32 = 19;
    pub const ROCBLAS_HGEMM: u32 = 20;
    pub const ROCBLAS_DGEMM: u32 = 21;
    pub const LT_MATMUL: u32 = 32;
    pub const CUBLAS_SGEMM: u32 = 64;
    pub const CUBLAS_DGEMM: u32 = 65;
    pub const CUBLAS_CGEMM: u32 = 66;
    pub const CUBLAS_ZGEMM: u32 = 67;
    pub const CUBLAS_HGEMM: u32 = 68;
    pub const CUBLAS_GEMM_STRIDED_BATCHED: u32 = 69;
    pub const CUBLAS_GEMM_BATCHED: u32 = 70;
    pub const CUBLAS_GEMM_EX: u32 = 71;
    pub const CUBLAS_GEMM_STRIDED_BATCHED_EX: u32 = 72;
    pub const CUBLAS_GEMM_BATCHED_EX: u32 = 73;
    pub const CUBLAS_GEMV: u32 = 74;
    pub const CUBLAS_LT_MATMUL: u32 = 75;

    /// Whether it is a call of cuBLAS or cuBLASLt.
    pub fn is_cuda(call: u32) -> bool {
        (CUBLAS_SGEMM..=CUBLAS_LT_MATMUL).contains(&call)
    }

    pub fn name(call: u32) -> &'static str {
        match call {
            SGEMM => "hipblasSgemm",
            GEMM_EX => "hipblasGemmEx",
            GEMM_STRIDED_BATCHED_EX => "hipblasGemmStridedBatchedEx",
            GEMM_BATCHED_EX => "hipblasGemmBatchedEx",
            SGEMM_BATCHED => "hipblasSgemmBatched",
            SGEMM_STRIDED_BATCHED => "hipblasSgemmStridedBatched",
            STRSM_BATCHED => "hipblasStrsmBatched",
            HGEMM => "hipblasHgemm",
            DGEMM => "hipblasDgemm",
            ROCBLAS_GEMM_EX => "rocblas_gemm_ex",
            ROCBLAS_GEMM_STRIDED_BATCHED_EX => "rocblas_gemm_strided_batched_ex",
            ROCBLAS_GEMM_BATCHED_EX => "rocblas_gemm_batched_ex",
            ROCBLAS_SGEMM => "rocblas_sgemm",
            ROCBLAS_HGEMM => "rocblas_hgemm",
            ROCBLAS_DGEMM => "rocblas_dgemm",
            LT_MATMUL => "hipblasLtMatmul",
            CUBLAS_SGEMM => "cublasSgemm",
            CUBLAS_DGEMM => "cublasDgemm",
            CUBLAS_CGEMM => "cublasCgemm",
            CUBLAS_ZGEMM => "cublasZgemm",
            CUBLAS_HGEMM => "cublasHgemm",
            CUBLAS_GEMM_STRIDED_BATCHED => "cublasGemmStridedBatched",
            CUBLAS_GEMM_BATCHED => "cublasGemmBatched",
            CUBLAS_GEMM_EX => "cublasGemmEx",
            CUBLAS_GEMM_STRIDED_BATCHED_EX => "cublasGemmStridedBatchedEx",
            CUBLAS_GEMM_BATCHED_EX => "cublasGemmBatchedEx",
            CUBLAS_GEMV => "cublasGemv",
            CUBLAS_LT_MATMUL => "cublasLtMatmul",
            _ => "?",
        }
    }
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Readback {
    pub time_ns: u64,
    /// The number of bytes. 0 if it is not a result but the list of experts to compute, which does not end an
    /// evaluation.
    pub bytes: u64,
    pub stream: u64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoMemory {
    pub wanted: u64,
    pub free: u64,
    pub total: u64,
}

/// `len` bytes follow: the name of a call (UNSUPPORTED, TIMED), the path of a program (PROCESS), a library (RUNTIME) or a device
/// file (DEVICE).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text {
    pub len: u32,
    pub reserved: u32,
}

/// FNV-1a, 64 bit, for names in the kernel table and images of loaded modules.
pub const fn fnv(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

pub const FNV: u64 = 0xcbf2_9ce4_8422_2325;
