// Calls the real dispatcher of a ggml tree with real tensors on a simulated GPU. The runtime below answers for the
// device named on the command line, records the first launched kernel that computes a product, and leaves the call there.
#include <cstring>
#include <cstdlib>
#include <cstdio>
#include <string>
#include DISPATCHER
#include <csetjmp>
#include <map>
static jmp_buf out; static std::string launched; static dim3 grid, configured;
static std::map<const void *, std::string> & names() { static std::map<const void *, std::string> m; return m; }
#ifndef ORACLE_OPS
static bool decides(const std::string & n) {
    // helpers come before the product: quantise, convert, copy
    return n.find("mul_mat") != std::string::npos && n.find("fixup") == std::string::npos;
}
#else
static bool decides(const std::string & n);
extern "C" void oracle_copy(int to_host);
#endif
extern "C" void oracle_blas(const char * f) { launched = std::string("BLAS ") + f; grid = dim3(1); longjmp(out, 1); }
static int P_major, P_minor, P_warp, P_cus; static size_t P_smem, P_smem_optin; static const char * P_arch;
#ifdef __HIP_PLATFORM_AMD__
extern "C" void ** __hipRegisterFatBinary(const void *) { static void * x; return &x; }
extern "C" void __hipUnregisterFatBinary(void **) {}
extern "C" void __hipRegisterFunction(void **, const void * f, char *, const char * name, unsigned, void *, void *, void *, void *, int *) { names()[f] = name; }
extern "C" hipError_t __hipPushCallConfiguration(dim3 g, dim3, size_t, hipStream_t) { configured = g; return hipSuccess; }
extern "C" hipError_t __hipPopCallConfiguration(dim3 * g, dim3 * b, size_t * s, hipStream_t * st) { *g = configured; *b = dim3(1); *s = 0; *st = 0; return hipSuccess; }
static void launch(const void * f, dim3 g) { std::string n = names()[f]; if (decides(n)) { launched = n; grid = g; longjmp(out, 1); } }
extern "C" hipError_t hipLaunchKernel(const void * f, dim3 g, dim3, void **, size_t, hipStream_t) { launch(f, g); return hipSuccess; }
extern "C" hipError_t hipLaunchCooperativeKernel(const void * f, dim3 g, dim3, void **, unsigned, hipStream_t) { launch(f, g); return hipSuccess; }
#ifdef ORACLE_OPS
extern "C" hipError_t hipMemcpyAsync(void *, const void *, size_t, hipMemcpyKind k, hipStream_t) { oracle_copy(k == hipMemcpyDeviceToHost); return hipSuccess; }
#endif
extern "C" hipError_t hipGetDeviceCount(int * n) { *n = 1; return hipSuccess; }
extern "C" hipError_t hipGetDevice(int * n) { *n = 0; return hipSuccess; }
extern "C" hipError_t hipDeviceGetAttribute(int * n, hipDeviceAttribute_t a, int) { *n = 0; if (a == hipDeviceAttributeMaxSharedMemoryPerBlock) *n = P_smem; if (a == hipDeviceAttributeWarpSize) *n = P_warp; return hipSuccess; }
extern "C" hipError_t hipMemGetInfo(size_t * f, size_t * t) { *f = *t = (size_t) 16 << 30; return hipSuccess; }
static size_t next = 0x7f0000000000;
extern "C" hipError_t hipMalloc(void ** p, size_t n) { *p = (void *) next; next += (n + 4095) & ~(size_t) 4095; return hipSuccess; }
extern "C" hipError_t hipHostMalloc(void ** p, size_t n, unsigned) { *p = malloc(n); return hipSuccess; }
extern "C" hipError_t hipMallocManaged(void ** p, size_t n, unsigned) { return hipMalloc(p, n); }
#undef hipGetDeviceProperties
static hipError_t props(hipDeviceProp_t * p) { memset(p, 0, sizeof *p); strcpy(p->name, P_arch); strcpy(p->gcnArchName, P_arch); p->major = P_major; p->minor = P_minor; p->warpSize = P_warp; p->multiProcessorCount = P_cus; p->sharedMemPerBlock = P_smem; p->sharedMemPerBlockOptin = P_smem_optin; p->totalGlobalMem = (size_t) 16 << 30; return hipSuccess; }
extern "C" hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_t * p, int) { return props(p); }
#else
static void launch(const void * f, dim3 g) { std::string n = names()[f]; if (decides(n)) { launched = n; grid = g; longjmp(out, 1); } }
extern "C" unsigned __cudaPushCallConfiguration(dim3 g, dim3, size_t, void *) { configured = g; return 0; }
extern "C" cudaError_t __cudaPopCallConfiguration(dim3 * g, dim3 * b, size_t * s, void * st) { *g = configured; *b = dim3(1); *s = 0; *(void **) st = 0; return cudaSuccess; }
extern "C" cudaError_t cudaLaunchKernel(const void * f, dim3 g, dim3, void **, size_t, cudaStream_t) { launch(f, g); return cudaSuccess; }
extern "C" cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t * c, const void * f, void **) { launch(f, c->gridDim); return cudaSuccess; }
extern "C" cudaError_t cudaLaunchCooperativeKernel(const void * f, dim3 g, dim3, void **, size_t, cudaStream_t) { launch(f, g); return cudaSuccess; }
#ifdef ORACLE_OPS
extern "C" cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind k, cudaStream_t) { oracle_copy(k == cudaMemcpyDeviceToHost); return cudaSuccess; }
#endif
extern "C" cudaError_t cudaGetDeviceCount(int * n) { *n = 1; return cudaSuccess; }
extern "C" cudaError_t cudaGetDevice(int * n) { *n = 0; return cudaSuccess; }
extern "C" cudaError_t cudaDeviceGetAttribute(int * n, cudaDeviceAttr a, int) { *n = 0; if (a == cudaDevAttrMaxSharedMemoryPerBlockOptin) *n = P_smem_optin; return cudaSuccess; }
extern "C" CUresult cuDeviceGetAttribute(int * n, CUdevice_attribute, CUdevice) { *n = 0; return CUDA_SUCCESS; }
extern "C" CUresult cuDeviceGet(CUdevice * n, int) { *n = 0; return CUDA_SUCCESS; }
extern "C" cudaError_t cudaMemGetInfo(size_t * f, size_t * t) { *f = *t = (size_t) 16 << 30; return cudaSuccess; }
static size_t next = 0x7f0000000000;
extern "C" cudaError_t cudaMalloc(void ** p, size_t n) { *p = (void *) next; next += (n + 4095) & ~(size_t) 4095; return cudaSuccess; }
extern "C" cudaError_t cudaMallocManaged(void ** p, size_t n, unsigned) { return cudaMalloc(p, n); }
extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp * p, int) { memset((void *) p, 0, sizeof *p); strcpy(p->name, P_arch); p->major = P_major; p->minor = P_minor; p->warpSize = P_warp; p->multiProcessorCount = P_cus; p->sharedMemPerBlock = P_smem; p->sharedMemPerBlockOptin = P_smem_optin; p->totalGlobalMem = (size_t) 16 << 30; return cudaSuccess; }
static int load = [] { if (FILE * f = fopen(getenv("NM"), "r")) { char line[65536]; while (fgets(line, sizeof line, f)) { char t; unsigned long long a; char * n = (char *) malloc(strlen(line) + 1); if (sscanf(line, "%llx %c %s", &a, &t, n) == 3) names()[(void *) a] = n; } fclose(f); } return 0; }();
#endif
#ifndef ORACLE_OPS
int main(int argc, char ** argv) {
    // arch major minor warp cus smem optin ; types ; columns
    setvbuf(stdout, nullptr, _IOLBF, 0); P_arch = argv[1]; P_major = atoi(argv[2]); P_minor = atoi(argv[3]); P_warp = atoi(argv[4]); P_cus = atoi(argv[5]); P_smem = atol(argv[6]); P_smem_optin = atol(argv[7]);
    int ntypes = atoi(argv[8]); char ** types = argv + 9; int ncols = argc - 9 - ntypes; char ** cols = argv + 9 + ntypes;
#ifdef OLD_GLOBALS
    // Until March 2024: devices in globals, no context, and the threads of a graph call the dispatcher.
    ggml_backend_cuda_init(0);
    printf("cc %d\n", (int) g_device_caps[0].cc);
    struct ggml_compute_params task = {};
    task.nth = 1;
    task.type = OLD_GLOBALS;
#else
    ggml_backend_cuda_context * ctx = new ggml_backend_cuda_context(0);
    printf("cc %d\n", ggml_cuda_info().devices[0].cc);
#endif
    ggml_backend_buffer_type_t buft = ggml_backend_cuda_buffer_type(0);
    ggml_backend_buffer_t weights = ggml_backend_buft_alloc_buffer(buft, 1 << 28), compute = ggml_backend_buft_alloc_buffer(buft, 1 << 28);
#ifdef BUFFER_USAGE
    ggml_backend_buffer_set_usage(weights, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
#endif
    for (int t = 0; t < ntypes; t++) {
        // The meaning of a type number may have changed: 19 was I16 before it was IQ1_S.
        if (atoi(types[t]) >= GGML_TYPE_COUNT || (atoi(types[t]) > 1 && !ggml_is_quantized((ggml_type) atoi(types[t])))) continue;
        for (int c = 0; c < ncols; c++) {
            struct ggml_init_params params = { 1 << 16, nullptr, true };
            struct ggml_context * g = ggml_init(params);
            ggml_tensor * a = ggml_new_tensor_2d(g, (ggml_type) atoi(types[t]), 4096, 4096);
            ggml_tensor * b = ggml_new_tensor_2d(g, GGML_TYPE_F32, 4096, atoi(cols[c]));
            ggml_tensor * d = ggml_mul_mat(g, a, b);
            ggml_tensor * all[] = { a, b, d };
            for (ggml_tensor * x : all) { x->data = (void *) (0x7e0000000000 + ((size_t) (x == a ? 0 : x == b ? 1 : 2) << 32)); x->buffer = x == a ? weights : compute;
#ifdef OLD_BACKEND
                x->backend = OLD_BACKEND;
#endif
#ifdef OLD_GLOBALS
                ggml_backend_buffer_init_tensor(x->buffer, x);
#endif
            }
            launched = "none"; grid = dim3(1);
#ifdef OLD_GLOBALS
            if (!setjmp(out)) { ggml_cuda_compute_forward(&task, d); }
#else
            if (!setjmp(out)) { ggml_cuda_compute_forward(*ctx, d); }
#endif
            printf("%s %s %u %s\n", types[t], cols[c], grid.y, launched.c_str());
            ggml_free(g);
        }
    }
    fflush(stdout); _Exit(0);
}
#endif
