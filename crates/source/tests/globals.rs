//! A dispatcher in the form used until March 2024: a function fills globals with the devices, there is no context, the
//! threads of a graph call it, memory comes from pool functions, and tiles are in variables.

mod ours;

use ours::{GGML_C, GGML_H, plain, tree};
use source::{Device, Overrides, Path, Shape, Survey, Tree};

use Path::{Blas, Dmmv, Mmq, Mmvq};

const CUDA: &str = r#"
#include "ggml.h"
#define CC_OFFSET_AMD 1000000
#define CC_RDNA2 (CC_OFFSET_AMD + 1030)
#define CC_RDNA3 (CC_OFFSET_AMD + 1100)
struct ggml_backend_buffer_type { void * context; };
struct ggml_backend_buffer { struct ggml_backend_buffer_type * buft; void * context; };
struct device_caps { int cc; size_t smpb; };
struct tensor_extra { void * data_device[16]; };
static int g_device_count = -1;
static int g_main_device = 0;
static bool g_loaded = false;
static device_caps g_caps[16] = { {0, 0} };
static size_t g_pool_size[16];
void init_devices() {
    static bool initialized = false;
    if (initialized) { return; }
    if (cudaGetDeviceCount(&g_device_count) != cudaSuccess) { initialized = true; return; }
    for (int id = 0; id < g_device_count; ++id) {
        cudaDeviceProp prop;
        CUDA_CHECK(cudaGetDeviceProperties(&prop, id));
        g_caps[id].cc = 100*prop.major + 10*prop.minor + CC_OFFSET_AMD;
        g_caps[id].smpb = prop.sharedMemPerBlock;
    }
    initialized = true;
    g_loaded = true;
}
static void * pool_malloc(int device, size_t size, size_t * actual) {
    if (g_pool_size[device] > size) { *actual = size; return nullptr; }
    void * ptr; CUDA_CHECK(cudaMalloc(&ptr, size)); return ptr;
}
static void ggml_backend_cuda_buffer_init_tensor(ggml_backend_buffer * buffer, ggml_tensor * tensor) {
    tensor->extra = new tensor_extra();
}
template <bool need_check> static __global__ void mul_mat_q4_K(const void * x) {}
static __global__ void mul_mat_vec_q(const void * x) {}
static __global__ void dequantize_mul_mat_vec(const void * x) {}
static void launch_mmq(const void * x, int ncols, int nrows) {
    int id; CUDA_CHECK(cudaGetDevice(&id));
    int mmq_x, mmq_y;
    if (g_caps[id].cc >= CC_RDNA2) { mmq_x = 64; mmq_y = 128; } else { mmq_x = 32; mmq_y = 100; }
    if (nrows % mmq_y == 0) {
        const bool need_check = false;
        mul_mat_q4_K<need_check><<<ncols, 256>>>(x);
    } else {
        const bool need_check = true;
        mul_mat_q4_K<need_check><<<ncols, 256>>>(x);
    }
}
typedef void (*mul_mat_t)(const ggml_tensor * src0, const ggml_tensor * src1, const void * dd);
static void op_q(const ggml_tensor * src0, const ggml_tensor * src1, const void * dd) { launch_mmq(dd, src1->ne[1], src0->ne[1]); }
static void op_vec_q(const ggml_tensor * src0, const ggml_tensor * src1, const void * dd) { mul_mat_vec_q<<<1, 32>>>(dd); }
static void op_dmmv(const ggml_tensor * src0, const ggml_tensor * src1, const void * dd) { dequantize_mul_mat_vec<<<1, 32>>>(dd); }
static void op_blas(const ggml_tensor * src0, const ggml_tensor * src1, const void * dd) { CUBLAS_CHECK(cublasGemmEx(nullptr, 1, 2)); }
static void op_mul_mat(const ggml_tensor * src0, const ggml_tensor * src1, ggml_tensor * dst, mul_mat_t op) {
    tensor_extra * extra = (tensor_extra *) src0->extra;
    for (int id = 0; id < g_device_count; ++id) {
        if (id != g_main_device) { continue; }
        size_t actual = 0;
        void * scratch = pool_malloc(id, src1->ne[1]*1024, &actual);
        GGML_ASSERT(actual > 0);
        op(src0, src1, extra->data_device[id]);
    }
}
static void mul_mat(const ggml_tensor * src0, const ggml_tensor * src1, ggml_tensor * dst) {
    int64_t min_cc = INT_MAX;
    for (int id = 0; id < g_device_count; ++id) { if (min_cc > g_caps[id].cc) { min_cc = g_caps[id].cc; } }
    const bool use_mul_mat_q = ggml_is_quantized(src0->type) && min_cc < CC_RDNA3;
    if (src1->ne[1] == 1) { op_mul_mat(src0, src1, dst, ggml_is_quantized(src0->type) ? op_vec_q : op_dmmv); }
    else if (use_mul_mat_q) { op_mul_mat(src0, src1, dst, op_q); }
    else { op_mul_mat(src0, src1, dst, op_blas); }
}
typedef void (*func_t)(const ggml_tensor * src0, const ggml_tensor * src1, ggml_tensor * dst);
bool compute_forward(struct ggml_compute_params * params, struct ggml_tensor * tensor) {
    if (!g_loaded) { return false; }
    func_t func;
    switch (tensor->op) {
        case GGML_OP_MUL_MAT: func = mul_mat; break;
        default: return false;
    }
    if (params->ith != 0) { return true; }
    if (params->type == GGML_TASK_INIT || params->type == GGML_TASK_FINALIZE) { return true; }
    func(tensor->src[0], tensor->src[1], tensor);
    return true;
}
"#;

fn old() -> Tree {
    let header = GGML_H.replace("void * data;", "void * extra; void * data;")
        + "enum ggml_task_type { GGML_TASK_INIT = 0, GGML_TASK_COMPUTE, GGML_TASK_FINALIZE };\n\
           struct ggml_compute_params { enum ggml_task_type type; int ith, nth; };\n";
    tree(vec![("ggml.h", header), ("ggml.c", GGML_C.to_owned()), ("ggml-cuda.cu", CUDA.to_owned())])
}

#[test]
fn devices_that_a_function_wrote_to_globals_decide() {
    let tree = old();
    let chosen = plain(&tree, "gfx1030", "Q4_K", &[1, 2, 512]);
    assert_eq!(chosen, [(Mmvq, 1), (Mmq, 64), (Mmq, 64)].map(Some));
    assert_eq!(plain(&tree, "gfx906", "Q4_K", &[1, 2]), [(Mmvq, 1), (Mmq, 32)].map(Some));
    assert_eq!(plain(&tree, "gfx1100", "Q4_K", &[1, 2]), [(Mmvq, 1), (Blas, 0)].map(Some));
    assert_eq!(plain(&tree, "gfx1100", "F16", &[1, 2]), [(Dmmv, 0), (Blas, 0)].map(Some));
}

#[test]
fn their_table_gives_the_compute_capability_and_the_tile_variable_the_check() {
    let tree = old();
    let devices = ["gfx906", "gfx1030"].map(|gpu| Device::find(gpu).expect("known")).to_vec();
    let question = Shape::MulMat { rows: 4096, k: 4096 }.question(devices, vec!["Q4_K".to_owned()], vec![65]);
    let survey = Survey::run(&tree, question, &Overrides::default()).expect("evaluates");
    let rows: Vec<_> = survey.rows().iter().map(|row| (row.cc, row.variant, row.tiles, row.need_check)).collect();
    assert_eq!(rows, [(Some(1_000_900), 32, 3, true), (Some(1_001_030), 64, 2, false)]);
}
