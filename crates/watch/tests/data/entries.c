/* Every launch call that the preload shim wraps, once each; and the runtimes, which return STUB_STATUS.
 * -DHIP, -DCUDART, -DCUDA build the runtimes, without any the program. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { uint32_t x, y, z; } dim3;
typedef struct { dim3 grid, block; size_t shared; void *on; } config;
typedef struct { uint32_t g[3], b[3], shared; void *on; void *attributes; uint32_t count; } driver_config;
typedef struct { dim3 block; void **extra; void *function; dim3 grid; void **args; uint32_t shared; } node;
#define BY_HANDLE(X) X(hipLaunchKernel) X(hipLaunchKernel_spt) X(hipLaunchCooperativeKernel) X(hipLaunchCooperativeKernel_spt)
#define CUDA_BY_HANDLE(X) X(cudaLaunchKernel) X(cudaLaunchKernel_ptsz) X(cudaLaunchCooperativeKernel) X(cudaLaunchCooperativeKernel_ptsz)
#define DRIVER(X) X(cuLaunchKernel) X(cuLaunchKernel_ptsz)
#define DRIVER_EX(X) X(cuLaunchKernelEx) X(cuLaunchKernelEx_ptsz)
#define DRIVER_COOPERATIVE(X) X(cuLaunchCooperativeKernel) X(cuLaunchCooperativeKernel_ptsz)
#define BEGIN(X) X(cuStreamBeginCapture) X(cuStreamBeginCapture_ptsz) X(cuStreamBeginCapture_v2) X(cuStreamBeginCapture_v2_ptsz)
#define COPY(X) X(cuMemcpyDtoH) X(cuMemcpyDtoH_v2) X(cuMemcpyDtoH_v2_ptds)

#if defined(HIP) || defined(CUDART) || defined(CUDA)
static int answer(void) { const char *text = getenv("STUB_STATUS"); return text ? atoi(text) : 0; }
#define HANDLE(n) int n(const void *h, dim3 g, dim3 b, void **a, size_t s, void *o) { (void)h; (void)g; (void)b; (void)a; (void)s; (void)o; return answer(); }
#endif

#ifdef HIP
BY_HANDLE(HANDLE)
int hipExtLaunchKernel(const void *h, dim3 g, dim3 b, void **a, size_t s, void *o, void *f, void *t, int l) { (void)h; (void)g; (void)b; (void)a; (void)s; (void)o; (void)f; (void)t; (void)l; return answer(); }
int hipLaunchKernelExC(const config *c, const void *h, void **a) { (void)c; (void)h; (void)a; return answer(); }
int hipModuleLaunchKernel(void *f, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t g, uint32_t s, void *o, void **l, void **x) { (void)f; (void)a; (void)b; (void)c; (void)d; (void)e; (void)g; (void)s; (void)o; (void)l; (void)x; return answer(); }
int hipModuleLaunchCooperativeKernel(void *f, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t g, uint32_t s, void *o, void **l) { (void)f; (void)a; (void)b; (void)c; (void)d; (void)e; (void)g; (void)s; (void)o; (void)l; return answer(); }
int hipExtModuleLaunchKernel(void *f, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t g, size_t s, void *o, void **l, void **x, void *y, void *z, uint32_t w) { (void)f; (void)a; (void)b; (void)c; (void)d; (void)e; (void)g; (void)s; (void)o; (void)l; (void)x; (void)y; (void)z; (void)w; return answer(); }
int hipStreamBeginCapture(void *o, int m) { (void)o; (void)m; return 0; }
int hipStreamEndCapture(void *o, void **g) { (void)o; *g = (void *)0x100; return 0; }
int hipGraphInstantiate(void **e, void *g, void *n, char *l, size_t s) { (void)g; (void)n; (void)l; (void)s; *e = (void *)0x200; return 0; }
int hipGraphLaunch(void *e, void *o) { (void)e; (void)o; return answer(); }
int hipGraphAddKernelNode(void **n, void *g, const void *d, size_t c, const node *p) { (void)n; (void)g; (void)d; (void)c; (void)p; return answer(); }
#elif defined(CUDART)
CUDA_BY_HANDLE(HANDLE)
int cudaLaunchKernelExC(const config *c, const void *h, void **a) { (void)c; (void)h; (void)a; return answer(); }
#elif defined(CUDA)
#define LAUNCH(n) int n(void *f, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t g, uint32_t s, void *o, void **l, void **x) { (void)f; (void)a; (void)b; (void)c; (void)d; (void)e; (void)g; (void)s; (void)o; (void)l; (void)x; return answer(); }
#define LAUNCH_EX(n) int n(const driver_config *c, void *f, void **l, void **x) { (void)c; (void)f; (void)l; (void)x; return answer(); }
#define TOGETHER(n) int n(void *f, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t g, uint32_t s, void *o, void **l) { (void)f; (void)a; (void)b; (void)c; (void)d; (void)e; (void)g; (void)s; (void)o; (void)l; return answer(); }
/* Each must have a separate address, as in the real driver. */
#define BEGINS(n) int n(void *o) { static volatile int own; own++; (void)o; return 0; }
#define COPIES(n) int n(void *t, uint64_t f, size_t l) { static volatile int own; own++; (void)t; (void)f; (void)l; return 0; }
DRIVER(LAUNCH) DRIVER_EX(LAUNCH_EX) DRIVER_COOPERATIVE(TOGETHER) BEGIN(BEGINS) COPY(COPIES)
int cuStreamEndCapture(void *o, void **g) { (void)o; *g = (void *)0x300; return 0; }
int cuGraphInstantiateWithFlags(void **e, void *g, uint64_t f) { (void)g; (void)f; *e = (void *)0x400; return 0; }
int cuGraphLaunch(void *e, void *o) { (void)e; (void)o; return answer(); }
/* The returned form depends on the version and on flags (2: the per-thread default stream), as in the real driver. */
int cuGetProcAddress_v2(const char *name, void **to, int version, uint64_t flags, int *more) {
    (void)more;
    *to = 0;
#define CHOOSE(n) if (!strcmp(name, #n)) *to = flags == 2 ? (void *)n##_v2_ptsz : version < 10010 ? (void *)n : (void *)n##_v2;
    CHOOSE(cuStreamBeginCapture)
    if (!strcmp(name, "cuMemcpyDtoH")) *to = flags == 2 ? (void *)cuMemcpyDtoH_v2_ptds : version < 3020 ? (void *)cuMemcpyDtoH : (void *)cuMemcpyDtoH_v2;
    if (!strcmp(name, "cuLaunchKernel")) *to = flags == 2 ? (void *)cuLaunchKernel_ptsz : (void *)cuLaunchKernel;
    if (!strcmp(name, "cuStreamEndCapture")) *to = (void *)cuStreamEndCapture;
    if (!strcmp(name, "cuGraphInstantiate")) *to = (void *)cuGraphInstantiateWithFlags;
    if (!strcmp(name, "cuGraphLaunch")) *to = (void *)cuGraphLaunch;
    return *to ? 0 : 500;
}
#else
#define DECLARE(n) int n(const void *, dim3, dim3, void **, size_t, void *);
BY_HANDLE(DECLARE) CUDA_BY_HANDLE(DECLARE)
int hipExtLaunchKernel(const void *, dim3, dim3, void **, size_t, void *, void *, void *, int);
int hipLaunchKernelExC(const config *, const void *, void **), cudaLaunchKernelExC(const config *, const void *, void **);
typedef int launch_t(void *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, void *, void **, void **);
launch_t hipModuleLaunchKernel, cuLaunchKernel, cuLaunchKernel_ptsz;
typedef int together_t(void *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, void *, void **);
together_t hipModuleLaunchCooperativeKernel, cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz;
int hipExtModuleLaunchKernel(void *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t, void *, void **, void **, void *, void *, uint32_t);
int cuLaunchKernelEx(const driver_config *, void *, void **, void **), cuLaunchKernelEx_ptsz(const driver_config *, void *, void **, void **);
int hipStreamBeginCapture(void *, int), hipStreamEndCapture(void *, void **), hipGraphInstantiate(void **, void *, void *, char *, size_t);
int hipGraphLaunch(void *, void *), hipGraphAddKernelNode(void **, void *, const void *, size_t, const node *);
int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);

static void *ask(const char *name, int version, uint64_t flags) {
    void *found = 0;
    if (cuGetProcAddress_v2(name, &found, version, flags, 0) || !found) exit(5);
    return found;
}

int main(void) {
    static char kernel[64];
    dim3 g = {2, 1, 1}, b = {64, 1, 1};
    config c = {g, b, 0, 0};
    driver_config d = {{2, 1, 1}, {64, 1, 1}, 0, 0, 0, 0};
    int direct = 0;
#define CALL(n) n(kernel, g, b, 0, 0, 0); direct++;
    BY_HANDLE(CALL) CUDA_BY_HANDLE(CALL)
    hipExtLaunchKernel(kernel, g, b, 0, 0, 0, 0, 0, 0); direct++;
    hipLaunchKernelExC(&c, kernel, 0); cudaLaunchKernelExC(&c, kernel, 0); direct += 2;
#define CALL_DRIVER(n) n(kernel, 2, 1, 1, 64, 1, 1, 0, 0, 0, 0); direct++;
    DRIVER(CALL_DRIVER) CALL_DRIVER(hipModuleLaunchKernel)
#define CALL_TOGETHER(n) n(kernel, 2, 1, 1, 64, 1, 1, 0, 0, 0); direct++;
    DRIVER_COOPERATIVE(CALL_TOGETHER) CALL_TOGETHER(hipModuleLaunchCooperativeKernel)
#define CALL_EX(n) n(&d, kernel, 0, 0); direct++;
    DRIVER_EX(CALL_EX)
    hipExtModuleLaunchKernel(kernel, 128, 1, 1, 64, 1, 1, 0, 0, 0, 0, 0, 0, 0); direct++;
    /* A graph of HIP: a captured launch and an explicitly added node, replayed three times. */
    void *stream = (void *)0x5000, *graph = 0, *exec = 0, *made = 0;
    node n = {b, 0, kernel, g, 0, 0};
    hipStreamBeginCapture(stream, 0);
    hipLaunchKernel(kernel, g, b, 0, 0, stream);
    hipStreamEndCapture(stream, &graph);
    hipGraphAddKernelNode(&made, graph, 0, 0, &n);
    hipGraphInstantiate(&exec, graph, 0, 0, 0);
    for (int i = 0; i < 3; i++) hipGraphLaunch(exec, 0);
    /* The same with the driver: every form of beginning a capture, functions looked up by name; a copy ends each. */
    struct { int version; uint64_t flags; } forms[] = {{10000, 0}, {12000, 0}, {12000, 2}};
    for (int i = 0; i < 3; i++) {
        int (*begin)(void *, int) = (int (*)(void *, int))ask("cuStreamBeginCapture", forms[i].version, forms[i].flags);
        int (*end)(void *, void **) = (int (*)(void *, void **))ask("cuStreamEndCapture", forms[i].version, forms[i].flags);
        int (*instantiate)(void **, void *, uint64_t) = (int (*)(void **, void *, uint64_t))ask("cuGraphInstantiate", 12000, 0);
        int (*replay)(void *, void *) = (int (*)(void *, void *))ask("cuGraphLaunch", 12000, 0);
        launch_t *launch = (launch_t *)ask("cuLaunchKernel", forms[i].version, forms[i].flags);
        int (*copy)(void *, uint64_t, size_t) = (int (*)(void *, uint64_t, size_t))ask("cuMemcpyDtoH", i ? forms[i].version : 2000, forms[i].flags);
        char host[8];
        begin(stream, 0);
        launch(kernel, 2, 1, 1, 64, 1, 1, 0, stream, 0, 0);
        end(stream, &graph);
        instantiate(&exec, graph, 0);
        replay(exec, 0);
        replay(exec, 0);
        copy(host, 0x1000, sizeof host);
    }
    printf("%d\n", direct);
    return 0;
}
#endif
