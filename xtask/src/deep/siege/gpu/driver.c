/* The same with the driver API: modules, functions by name, explicit graphs, clones, children, changed and disabled nodes, captures.
     driver KERNELS.cubin
   Prints one line for each kernel: `ran COUNT NAME`. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS 10
static CUdeviceptr ran;
static CUfunction functions[KERNELS];
static void *args[] = {&ran};
static int failures;

static int said(CUresult status, const char *what) {
    const char *text = "?";
    if (status == CUDA_SUCCESS) return 1;
    cuGetErrorString(status, &text);
    fprintf(stderr, "%s: %s\n", what, text);
    failures++;
    return 0;
}
#define TRY(call) said(call, #call)

static CUDA_KERNEL_NODE_PARAMS params(int k) {
    CUDA_KERNEL_NODE_PARAMS p;
    memset(&p, 0, sizeof p);
    p.func = functions[k];
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = args;
    return p;
}
static void launch(int k, CUstream s) { TRY(cuLaunchKernel(functions[k], 1, 1, 1, 1, 1, 1, 0, s, args, 0)); }
static CUgraph create(void) { CUgraph g = 0; TRY(cuGraphCreate(&g, 0)); return g; }
static CUgraphNode add(CUgraph g, int k) { CUgraphNode n = 0; CUDA_KERNEL_NODE_PARAMS p = params(k); TRY(cuGraphAddKernelNode(&n, g, 0, 0, &p)); return n; }
static CUgraphNode add_any(CUgraph g, int k) {
    CUgraphNode n = 0;
    CUgraphNodeParams p;
    memset(&p, 0, sizeof p);
    p.type = CU_GRAPH_NODE_TYPE_KERNEL;
    p.kernel.func = functions[k];
    p.kernel.gridDimX = p.kernel.gridDimY = p.kernel.gridDimZ = p.kernel.blockDimX = p.kernel.blockDimY = p.kernel.blockDimZ = 1;
    p.kernel.kernelParams = args;
#if CUDA_VERSION >= 13000
    TRY(cuGraphAddNode(&n, g, 0, 0, 0, &p));
#else
    TRY(cuGraphAddNode(&n, g, 0, 0, &p));
#endif
    return n;
}
static CUgraphExec instantiate(CUgraph g) { CUgraphExec x = 0; TRY(cuGraphInstantiateWithFlags(&x, g, 0)); return x; }
static void replay(CUgraphExec x, int times) { for (int i = 0; i < times && x; i++) TRY(cuGraphLaunch(x, 0)); TRY(cuCtxSynchronize()); }

int main(int argc, char **argv) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    if (argc < 2 || !TRY(cuInit(0)) || !TRY(cuDeviceGet(&device, 0)) || !TRY(cuDevicePrimaryCtxRetain(&context, device)) || !TRY(cuCtxSetCurrent(context)) ||
        !TRY(cuModuleLoad(&module, argv[1])) || !TRY(cuMemAlloc(&ran, KERNELS * 8)) || !TRY(cuMemsetD32(ran, 0, KERNELS * 2)))
        return 2;
    for (int k = 0; k < KERNELS; k++) {
        char name[32];
        snprintf(name, sizeof name, "siege_k%d", k);
        if (!TRY(cuModuleGetFunction(&functions[k], module, name))) return 2;
    }
    for (int k = 0; k < KERNELS; k++) for (int i = 0; i <= k; i++) launch(k, 0);

    /* Nodes added by the specific function and by the generic one. */
    CUgraph g = create(), copy = 0, inner = create(), outer = create();
    CUgraphNode one = add(g, 1), node;
    add_any(g, 2);
    CUgraphExec x = instantiate(g);
    replay(x, 3);
    /* A copy, and the original changed afterwards. */
    CUDA_KERNEL_NODE_PARAMS p = params(4);
    if (TRY(cuGraphClone(&copy, g))) {
        add(copy, 3);
        TRY(cuGraphKernelNodeSetParams(one, &p));
        replay(instantiate(copy), 2), replay(instantiate(g), 2);
    }
    /* A node of the executable graph: gets another kernel, is disabled, is enabled. */
    p = params(5);
    TRY(cuGraphExecKernelNodeSetParams(x, one, &p));
    replay(x, 2);
    if (TRY(cuGraphNodeSetEnabled(x, one, 0))) {
        replay(x, 2);
        TRY(cuGraphNodeSetEnabled(x, one, 1));
        replay(x, 1);
    }
    /* Children of children. */
    add(inner, 6), add(outer, 7);
    TRY(cuGraphAddChildGraphNode(&node, outer, 0, 0, inner));
    CUgraph both = create();
    TRY(cuGraphAddChildGraphNode(&node, both, 0, 0, outer));
    TRY(cuGraphAddChildGraphNode(&node, both, 0, 0, inner));
    replay(instantiate(both), 3);
    /* Captured, captured again, used for an update; and captured into an existing graph. */
    CUstream s;
    CUgraph captured = 0;
    TRY(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    TRY(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch(8, s), launch(8, s);
    TRY(cuStreamEndCapture(s, &captured));
    x = instantiate(captured);
    replay(x, 3);
    TRY(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch(9, s), launch(1, s);
    TRY(cuStreamEndCapture(s, &captured));
    CUgraphExecUpdateResultInfo info;
    TRY(cuGraphExecUpdate(x, captured, &info));
    replay(x, 2);
#if CUDA_VERSION >= 12030
    CUgraph there = create();
    add(there, 0);
    if (TRY(cuStreamBeginCaptureToGraph(s, there, 0, 0, 0, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))) {
        launch(3, s);
        TRY(cuStreamEndCapture(s, &captured));
        replay(instantiate(captured), 4);
    }
#endif
    unsigned long long counts[KERNELS];
    TRY(cuCtxSynchronize());
    if (!TRY(cuMemcpyDtoH(counts, ran, sizeof counts))) return 3;
    for (int k = 0; k < KERNELS; k++) if (counts[k]) printf("ran %llu siege_k%d\n", counts[k], k);
    return 0;
}
