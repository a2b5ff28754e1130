//! A small handwritten tree with ggml's constructs, and questions to it.
#![allow(dead_code, reason = "each test that includes it uses its own part")]

use source::{Device, Outcome, Overrides, Path, Shape, Survey, Tree};

pub const GGML_H: &str = r#"
#pragma once
#define GGML_MAX_DIMS 4
enum ggml_type { GGML_TYPE_F32 = 0, GGML_TYPE_F16 = 1, GGML_TYPE_Q4_0 = 2, GGML_TYPE_Q4_K = 12, GGML_TYPE_COUNT };
enum ggml_op { GGML_OP_NONE = 0, GGML_OP_ADD, GGML_OP_MUL_MAT };
struct ggml_tensor {
    enum ggml_type type; struct ggml_backend_buffer * buffer; int64_t ne[GGML_MAX_DIMS]; size_t nb[GGML_MAX_DIMS];
    enum ggml_op op; int32_t op_params[16]; struct ggml_tensor * src[10]; struct ggml_tensor * view_src; void * data; char name[64];
};
#define GGML_LOCALS_1(type, prefix, pointer, array) const type prefix##0 = (pointer)->array[0]; GGML_UNUSED(prefix##0);
#define GGML_LOCALS(type, prefix, pointer, array) GGML_LOCALS_1(type, prefix, pointer, array) \
    const type prefix##1 = (pointer)->array[1]; GGML_UNUSED(prefix##1);
#define GGML_BINARY_LOCALS GGML_LOCALS(int64_t, ne0, src0, ne) GGML_LOCALS(int64_t, ne1, src1, ne)
size_t ggml_type_size(enum ggml_type type);
int64_t ggml_blck_size(enum ggml_type type);
bool ggml_is_quantized(enum ggml_type type);
"#;

pub const GGML_C: &str = r#"
#include "ggml.h"
#define QK_K 256
typedef struct { uint16_t d; uint8_t qs[16]; } block_q4_0;
typedef struct { union { struct { uint16_t d; uint16_t m; } s; uint32_t dm; } u; uint8_t scales[12]; uint8_t qs[QK_K/2]; } block_q4_K;
struct traits { const char * name; int64_t blck_size; size_t type_size; bool is_quantized; };
static const struct traits table[GGML_TYPE_COUNT] = {
    [GGML_TYPE_F32]  = { .name = "f32",  .blck_size = 1,    .type_size = sizeof(float), .is_quantized = false },
    [GGML_TYPE_F16]  = { .name = "f16",  .blck_size = 1,    .type_size = 2 },
    [GGML_TYPE_Q4_0] = { .name = "q4_0", .blck_size = 32,   .type_size = sizeof(block_q4_0), .is_quantized = true },
    [GGML_TYPE_Q4_K] = { .name = "q4_K", .blck_size = QK_K, .type_size = sizeof(block_q4_K), .is_quantized = true },
};
size_t ggml_type_size(enum ggml_type type) { assert(type < GGML_TYPE_COUNT); return table[type].type_size; }
int64_t ggml_blck_size(enum ggml_type type) { return table[type].blck_size; }
bool ggml_is_quantized(enum ggml_type type) { return table[type].is_quantized; }
"#;

pub const COMMON: &str = r#"
#pragma once
#include "ggml.h"
struct ggml_backend_buffer_type_i { const char * (*get_name)(void); };
struct ggml_backend_buffer_type { struct ggml_backend_buffer_type_i iface; void * context; };
struct ggml_backend_buffer_i { const char * (*get_name)(void); };
struct ggml_backend_buffer { struct ggml_backend_buffer_i iface; struct ggml_backend_buffer_type * buft; void * context; };
struct ggml_backend_cuda_context { int device; cudaStream_t stream(); };
#define CC_OFFSET_AMD 0x1000000
#define CC_CDNA (CC_OFFSET_AMD + 0x908)
#define CC_RDNA1 (CC_OFFSET_AMD + 0x1010)
#define CC_RDNA4 (CC_OFFSET_AMD + 0x1200)
#define CC_IS_CDNA(cc) (cc >= CC_CDNA && cc < CC_RDNA1)
#define CC_IS_RDNA4(cc) (cc >= CC_RDNA4)
#define MAX_BATCH 8
struct device_info { int cc; int nsm; size_t smpbo; int warp_size; };
struct ggml_cuda_device_info { int device_count; device_info devices[16]; };
const ggml_cuda_device_info & ggml_cuda_info();
int ggml_cuda_get_device();
// A host function and a device function of the same name.
static constexpr __device__ int get_rows_per_block() { return 64; }
static __host__ int get_rows_per_block(const int cc) { return CC_IS_RDNA4(cc) ? 128 : 64; }
"#;

pub const MMQ_CUH: &str = r#"
#pragma once
#include "common.cuh"
struct mmq_args { const char * x; int64_t nrows; int64_t ncols; };
#define CASE(type_, J_) if (type == (type_) && J == (J_)) { static_assert((J_) % 8 == 0, "bad"); return (J_); }
#include "tiles.inc"
#undef CASE
template <ggml_type type, int mmq_x, bool need_check>
static __global__ void mul_mat_q(const char * x) { NO_DEVICE_CODE; }
template <ggml_type type, int mmq_x>
static void launch_mul_mat_q(ggml_backend_cuda_context & ctx, const mmq_args & args, cudaStream_t stream) {
    const int cc = ggml_cuda_info().devices[ggml_cuda_get_device()].cc;
    const int rows = get_rows_per_block(cc);
    const dim3 grid((args.nrows + rows - 1)/rows, (args.ncols + mmq_x - 1)/mmq_x, 1);
    if (args.nrows % rows == 0) {
        constexpr bool need_check = false;
        mul_mat_q<type, mmq_x, need_check><<<grid, 256, 0, stream>>>(args.x);
    } else {
        mul_mat_q<type, mmq_x, true><<<grid, 256, 0, stream>>>(args.x);
    }
}
template <ggml_type type>
void mul_mat_q_case(ggml_backend_cuda_context & ctx, const mmq_args & args, cudaStream_t stream) {
    int best = 0;
    int ntiles_best = INT_MAX;
    for (int J = 8; J <= 64 && ntiles_best > 1; J += 8) {
        if (tile_of(type, J) == 0) { continue; }
        const int ntiles = (args.ncols + J - 1) / J;
        if (ntiles < ntiles_best) { best = J; ntiles_best = ntiles; }
    }
    switch (best) {
        case 16: launch_mul_mat_q<type, 16>(ctx, args, stream); break;
        case 32: launch_mul_mat_q<type, 32>(ctx, args, stream); break;
        case 64: launch_mul_mat_q<type, 64>(ctx, args, stream); break;
        default: GGML_ABORT("fatal error"); break;
    }
}
bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts = 0);
void op_mul_mat_q(ggml_backend_cuda_context & ctx, const ggml_tensor * src0, const ggml_tensor * src1, ggml_tensor * dst);
"#;

pub const TILES: &str = r#"
static constexpr __host__ __device__ int tile_of(ggml_type type, int J) {
    CASE(GGML_TYPE_Q4_0, 16); CASE(GGML_TYPE_Q4_0, 32);
    CASE(GGML_TYPE_Q4_K, 16); CASE(GGML_TYPE_Q4_K, 32); CASE(GGML_TYPE_Q4_K, 64);
    return 0;
}
"#;

pub const MMQ_CU: &str = r#"
#include "mmq.cuh"
void op_mul_mat_q(ggml_backend_cuda_context & ctx, const ggml_tensor * src0, const ggml_tensor * src1, ggml_tensor * dst) {
    const mmq_args args = { (const char *) src0->data, src0->ne[1], src1->ne[1] };
    switch (src0->type) {
        case GGML_TYPE_Q4_0: mul_mat_q_case<GGML_TYPE_Q4_0>(ctx, args, ctx.stream()); break;
        case GGML_TYPE_Q4_K: mul_mat_q_case<GGML_TYPE_Q4_K>(ctx, args, ctx.stream()); break;
        default: GGML_ABORT("fatal error");
    }
}
bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {
#ifdef GGML_CUDA_FORCE_CUBLAS
    return false;
#endif
    if (CC_IS_RDNA4(cc)) { return true; }
    if (CC_IS_CDNA(cc)) {
        return n_experts > 64 || (type == (GGML_TYPE_Q4_K) && ne11 <= 256
#ifdef TREE_WIDE
            || ne11 <= 512
#endif
        );
    }
    return ne11 < 64;
}
"#;

pub const MAIN: &str = r#"
#include "common.cuh"
#include "mmq.cuh"
template <ggml_type type, int ncols_dst> static __global__ void mul_mat_vec_q(const void * x) {}
static int parse_id(char name[]) {
    int major = 0; int minor = 0; int len = strlen(name);
    char copy[len + 1];
    strcpy(copy, &name[3]);
    len = strcspn(copy, ":");
    copy[len] = '\0';
    minor = (int) strtoul(&copy[len - 2], 0, 16);
    copy[len - 2] = '\0';
    major = (int) strtoul(copy, 0, 16);
    return CC_OFFSET_AMD + major*0x100 + minor;
}
int ggml_cuda_get_device() { int id; CUDA_CHECK(cudaGetDevice(&id)); return id; }
static ggml_cuda_device_info ggml_cuda_init() {
    ggml_cuda_device_info info = {};
    CUDA_CHECK(cudaGetDeviceCount(&info.device_count));
    for (int id = 0; id < info.device_count; ++id) {
        cudaDeviceProp prop;
        CUDA_CHECK(cudaGetDeviceProperties(&prop, id));
        info.devices[id].cc = parse_id(prop.gcnArchName);
        info.devices[id].nsm = prop.multiProcessorCount;
    }
    return info;
}
const ggml_cuda_device_info & ggml_cuda_info() { static ggml_cuda_device_info info = ggml_cuda_init(); return info; }
template <ggml_type type> static void mul_mat_vec_q_switch(const void * x, int ncols, cudaStream_t stream) {
    switch (ncols) {
        case 1: mul_mat_vec_q<type, 1><<<1, 32, 0, stream>>>(x); break;
        default: { const auto launch = [&](int n) { if (n > 4) { mul_mat_vec_q<type, 8><<<1, 32, 0, stream>>>(x); return; } mul_mat_vec_q<type, 4><<<1, 32, 0, stream>>>(x); };
            launch(ncols); } break;
    }
}
static void op_mul_mat_vec_q(ggml_backend_cuda_context & ctx, const ggml_tensor * src0, const ggml_tensor * src1, ggml_tensor * dst) {
    if (src0->type == GGML_TYPE_Q4_0) { mul_mat_vec_q_switch<GGML_TYPE_Q4_0>(src0->data, src1->ne[1], ctx.stream()); }
    else { mul_mat_vec_q_switch<GGML_TYPE_Q4_K>(src0->data, src1->ne[1], ctx.stream()); }
}
static void op_blas(ggml_backend_cuda_context & ctx, const ggml_tensor * src0, const ggml_tensor * src1, ggml_tensor * dst) {
    CUBLAS_CHECK(cublasGemmEx(nullptr, CUBLAS_OP_T, CUBLAS_OP_N, 1, 2, 3));
}
static void ggml_cuda_mul_mat(ggml_backend_cuda_context & ctx, const ggml_tensor * src0, const ggml_tensor * src1, ggml_tensor * dst) {
    GGML_BINARY_LOCALS
    const int cc = ggml_cuda_info().devices[ctx.device].cc;
    if (const bool quantized = ggml_is_quantized(src0->type); quantized && ne11 <= MAX_BATCH) {
        op_mul_mat_vec_q(ctx, src0, src1, dst);
    } else if (quantized && should_use_mmq(src0->type, cc, ne11)) {
        op_mul_mat_q(ctx, src0, src1, dst);
    } else {
        op_blas(ctx, src0, src1, dst);
    }
}
static bool ggml_cuda_compute_forward(ggml_backend_cuda_context & ctx, struct ggml_tensor * dst) {
    switch (dst->op) {
        case GGML_OP_ADD: return false;
        case GGML_OP_MUL_MAT: ggml_cuda_mul_mat(ctx, dst->src[0], dst->src[1], dst); break;
        default: return false;
    }
    return true;
}
static bool supports_op(void * dev, const ggml_tensor * op) {
    switch (op->op) { case GGML_OP_MUL_MAT: return op->src[0]->type != GGML_TYPE_COUNT; default: return false; }
}
"#;

pub const CMAKE: &str = r#"
project(small)
option(GGML_HIP "hip" OFF)
option(GGML_CUDA_FORCE_CUBLAS "blas" OFF)
option(TREE_WIDE "wide" ON)
if (GGML_HIP)
    add_compile_definitions(GGML_USE_HIP)
    if (GGML_CUDA_FORCE_CUBLAS)
        add_compile_definitions(GGML_CUDA_FORCE_CUBLAS)
    endif()
    if (NOT TREE_WIDE)
        add_compile_definitions(TREE_NARROW)
    endif()
endif()
"#;

pub fn files() -> Vec<(&'static str, String)> {
    vec![
        ("CMakeLists.txt", CMAKE.to_owned()),
        ("src/ggml.h", GGML_H.to_owned()),
        ("src/ggml.c", GGML_C.to_owned()),
        ("src/cuda/common.cuh", COMMON.to_owned()),
        ("src/cuda/mmq.cuh", MMQ_CUH.to_owned()),
        ("src/cuda/tiles.inc", TILES.to_owned()),
        ("src/cuda/mmq.cu", MMQ_CU.to_owned()),
        ("src/cuda/main.cu", MAIN.to_owned()),
    ]
}

pub fn tree(files: Vec<(&'static str, String)>) -> Tree {
    Tree::from_memory("small", files.into_iter().map(|(path, text)| (path.to_owned(), text.into_bytes())))
}

/// Path and variant at these columns; None if undetermined.
pub fn ask(tree: &Tree, gpu: &str, ty: &str, columns: &[i64], overrides: &Overrides) -> Vec<Option<(Path, i64)>> {
    let shape = Shape::MulMat { rows: 4096, k: 4096 };
    let question = shape.question(vec![Device::find(gpu).expect("known")], vec![ty.to_owned()], columns.to_vec());
    let survey = Survey::run(tree, question, overrides).expect("evaluates");
    columns
        .iter()
        .map(|&columns| match &survey.answer(0, 0, columns).expect("answered").outcome {
            Outcome::Chosen(choice) => Some((choice.path, choice.variant)),
            Outcome::Undetermined { place, why, .. } => {
                println!("{place}: {why}");
                None
            }
        })
        .collect()
}

pub fn plain(tree: &Tree, gpu: &str, ty: &str, columns: &[i64]) -> Vec<Option<(Path, i64)>> {
    ask(tree, gpu, ty, columns, &Overrides::default())
}

/// The tree with one text replaced; the text must be present.
pub fn changed(from: &str, to: &str) -> Tree {
    let mut files = files();
    let mut found = false;
    for (_, text) in &mut files {
        found |= text.contains(from);
        *text = text.replace(from, to);
    }
    assert!(found, "{from} is in the tree");
    tree(files)
}
