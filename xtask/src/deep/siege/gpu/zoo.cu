// Creates, changes and launches graphs in every way of the CUDA runtime, with ten kernels whose true counts the device keeps.
//   zoo [PART]      all parts, or one; `zoo threads`, `zoo children`
// Prints one line for each kernel: `ran COUNT NAME`. Parts that this CUDA version does not support are reported on standard error and left out.
#include "kernels.cuh"
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long long *ran;
static void *const functions[KERNELS] = {(void *)siege_k0, (void *)siege_k1, (void *)siege_k2, (void *)siege_k3, (void *)siege_k4,
                                         (void *)siege_k5, (void *)siege_k6, (void *)siege_k7, (void *)siege_k8, (void *)siege_k9};
static const char *part_name = "";
struct failed {};
static void must(cudaError_t status, const char *what) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "part %s: %s: %s\n", part_name, what, cudaGetErrorString(status));
    cudaGetLastError();
    throw failed();
}
#define MUST(call) must(call, #call)

static void *args[] = {&ran};
static cudaKernelNodeParams params(int k) {
    cudaKernelNodeParams p;
    memset(&p, 0, sizeof p);
    p.func = functions[k], p.gridDim = dim3(1), p.blockDim = dim3(1), p.kernelParams = args;
    return p;
}
static void launch(int k, cudaStream_t s) { MUST(cudaLaunchKernel(functions[k], dim3(1), dim3(1), args, 0, s)); }
static cudaGraph_t create() { cudaGraph_t g; MUST(cudaGraphCreate(&g, 0)); return g; }
static cudaGraphNode_t add(cudaGraph_t g, int k) { cudaGraphNode_t n; cudaKernelNodeParams p = params(k); MUST(cudaGraphAddKernelNode(&n, g, 0, 0, &p)); return n; }
static cudaGraphNode_t child(cudaGraph_t g, cudaGraph_t c) { cudaGraphNode_t n; MUST(cudaGraphAddChildGraphNode(&n, g, 0, 0, c)); return n; }
static cudaGraphExec_t instantiate(cudaGraph_t g) { cudaGraphExec_t x; MUST(cudaGraphInstantiate(&x, g, 0)); return x; }
static cudaStream_t stream() { cudaStream_t s; MUST(cudaStreamCreate(&s)); return s; }
static void replay(cudaGraphExec_t x, int times) { for (int i = 0; i < times; i++) MUST(cudaGraphLaunch(x, 0)); MUST(cudaDeviceSynchronize()); }
static void set(cudaGraphNode_t n, int k) { cudaKernelNodeParams p = params(k); MUST(cudaGraphKernelNodeSetParams(n, &p)); }
static bool update(cudaGraphExec_t x, cudaGraph_t g) {
    cudaGraphExecUpdateResultInfo info;
    bool ok = cudaGraphExecUpdate(x, g, &info) == cudaSuccess;
    cudaGetLastError();
    return ok;
}
#if CUDART_VERSION >= 12020
static cudaGraphNodeParams any(int k) {
    cudaGraphNodeParams p = {cudaGraphNodeTypeKernel};
    p.kernel.func = functions[k], p.kernel.gridDim = dim3(1), p.kernel.blockDim = dim3(1), p.kernel.kernelParams = args;
    return p;
}
static cudaGraphNode_t add_any(cudaGraph_t g, int k) {
    cudaGraphNode_t n;
    cudaGraphNodeParams p = any(k);
#if CUDART_VERSION >= 13000
    MUST(cudaGraphAddNode(&n, g, 0, 0, 0, &p));
#else
    MUST(cudaGraphAddNode(&n, g, 0, 0, &p));
#endif
    return n;
}
static void any_node() { cudaGraph_t g = create(); add_any(g, 4), add_any(g, 5), add(g, 4); replay(instantiate(g), 3); }
static void any_changed() {
    cudaGraph_t g = create();
    cudaGraphNode_t one = add(g, 1), two = add(g, 2);
    cudaGraphNodeParams p = any(6);
    MUST(cudaGraphNodeSetParams(one, &p));
    cudaGraphExec_t x = instantiate(g);
    replay(x, 2);
    p = any(7);
    MUST(cudaGraphExecNodeSetParams(x, two, &p));
    replay(x, 3);
}
#endif
static void direct() { for (int k = 0; k < KERNELS; k++) for (int i = 0; i <= k; i++) launch(k, 0); }
static void captured() {
    cudaStream_t s = stream();
    cudaGraph_t g;
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    launch(1, s), launch(1, s), launch(2, s);
    MUST(cudaStreamEndCapture(s, &g));
    replay(instantiate(g), 5);
}
static void by_hand() { cudaGraph_t g = create(); add(g, 1), add(g, 2), add(g, 9); replay(instantiate(g), 4); }
static void cloned() {
    cudaGraph_t g = create(), copy;
    cudaGraphNode_t one = add(g, 1), inside;
    add(g, 2);
    MUST(cudaGraphClone(&copy, g));
    add(copy, 3), set(one, 4);
    replay(instantiate(copy), 3), replay(instantiate(g), 2);
    MUST(cudaGraphNodeFindInClone(&inside, one, copy));
    set(inside, 8);
    replay(instantiate(copy), 2);
}
static void children_of() {
    cudaGraph_t inner = create(), middle = create(), outer = create();
    cudaGraphNode_t one = add(inner, 1);
    add(inner, 1), add(middle, 2), child(middle, inner), child(outer, middle), child(outer, inner), add(outer, 3);
    set(one, 7);
    replay(instantiate(outer), 3);
}
static void changed() {
    cudaGraph_t g = create();
    cudaGraphNode_t one = add(g, 1), two = add(g, 2);
    set(two, 6);
    cudaGraphExec_t x = instantiate(g);
    replay(x, 2);
    cudaKernelNodeParams p = params(5);
    MUST(cudaGraphExecKernelNodeSetParams(x, one, &p));
    replay(x, 3);
}
static void child_changed() {
    cudaGraph_t a = create(), b = create(), g = create();
    add(a, 1), add(b, 3);
    cudaGraphNode_t n = child(g, a);
    cudaGraphExec_t x = instantiate(g);
    replay(x, 2);
    MUST(cudaGraphExecChildGraphNodeSetParams(x, n, b));
    replay(x, 3);
}
static void disabled() {
    cudaGraph_t g = create();
    cudaGraphNode_t one = add(g, 1);
    add(g, 2);
    cudaGraphExec_t x = instantiate(g);
    replay(x, 1);
    MUST(cudaGraphNodeSetEnabled(x, one, 0));
    replay(x, 3);
    MUST(cudaGraphNodeSetEnabled(x, one, 1));
    replay(x, 1);
}
static void dropped() { cudaGraph_t g = create(); cudaGraphNode_t one = add(g, 1); add(g, 2); MUST(cudaGraphDestroyNode(one)); replay(instantiate(g), 3); }
static void left_alone() { cudaGraph_t g = create(); cudaGraphNode_t one = add(g, 1); cudaGraphExec_t x = instantiate(g); add(g, 2), set(one, 3); replay(x, 3); }
#if CUDART_VERSION >= 12030
static void into_a_graph() {
    cudaGraph_t g = create(), out;
    cudaStream_t s = stream();
    add(g, 1);
    MUST(cudaStreamBeginCaptureToGraph(s, g, 0, 0, 0, cudaStreamCaptureModeThreadLocal));
    launch(2, s), launch(3, s);
    MUST(cudaStreamEndCapture(s, &out));
    replay(instantiate(out), 4);
}
#endif
static void captured_again() {
    cudaStream_t s = stream();
    cudaGraph_t g;
    auto take = [&](int a, int b) {
        MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
        launch(a, s);
        if (b >= 0) launch(b, s);
        MUST(cudaStreamEndCapture(s, &g));
        return g;
    };
    cudaGraphExec_t x = instantiate(take(1, 2));
    replay(x, 2);
    if (!update(x, take(3, 4))) fprintf(stderr, "part captured-again: an update that fits was refused\n");
    replay(x, 3);
    if (update(x, take(5, -1))) fprintf(stderr, "part captured-again: an update that does not fit was taken\n");
    replay(x, 2);
}
static void instantiated() {
    cudaGraph_t g = create();
    cudaGraphExec_t x;
    add(g, 1), add(g, 6);
    replay(instantiate(g), 1);
    MUST(cudaGraphInstantiateWithFlags(&x, g, 0));
    replay(x, 2);
    cudaGraphInstantiateParams p;
    memset(&p, 0, sizeof p);
    MUST(cudaGraphInstantiateWithParams(&x, g, &p));
    replay(x, 3);
}
static void replayed_in_capture() {
    cudaGraph_t g = create(), outer;
    cudaStream_t s = stream();
    add(g, 1), add(g, 2);
    cudaGraphExec_t inner = instantiate(g);
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    launch(3, s);
    MUST(cudaGraphLaunch(inner, s));
    MUST(cudaStreamEndCapture(s, &outer));
    replay(instantiate(outer), 2), replay(inner, 1);
}
static void two_streams() {
    cudaStream_t a = stream(), b = stream();
    cudaEvent_t fork, join;
    cudaGraph_t g;
    MUST(cudaEventCreate(&fork)), MUST(cudaEventCreate(&join));
    MUST(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    launch(1, a);
    MUST(cudaEventRecord(fork, a)), MUST(cudaStreamWaitEvent(b, fork, 0));
    launch(2, b), launch(2, b);
    MUST(cudaEventRecord(join, b)), MUST(cudaStreamWaitEvent(a, join, 0));
    MUST(cudaStreamEndCapture(a, &g));
    cudaGraphExec_t x = instantiate(g);
    launch(2, b);
    replay(x, 3);
}
static void threads() {
    std::vector<std::thread> list;
    for (int t = 0; t < 8; t++) list.emplace_back([t] { try { for (int i = 0; i < 200; i++) launch((t + i) % KERNELS, 0); } catch (failed &) {} });
    for (auto &t : list) t.join();
}

static const struct { const char *name; void (*run)(); } PARTS[] = {
    {"direct", direct}, {"captured", captured}, {"by-hand", by_hand},
#if CUDART_VERSION >= 12020
    {"any-node", any_node}, {"any-changed", any_changed},
#endif
    {"clones", cloned}, {"children", children_of}, {"changed", changed}, {"child-changed", child_changed}, {"disabled", disabled},
    {"dropped", dropped}, {"left-alone", left_alone},
#if CUDART_VERSION >= 12030
    {"into-a-graph", into_a_graph},
#endif
    {"captured-again", captured_again}, {"instantiated", instantiated}, {"replayed-in-capture", replayed_in_capture}, {"two-streams", two_streams},
    {"threads", threads},
};

int main(int argc, char **argv) {
    const char *wanted = argc > 1 ? argv[1] : "all";
    if (!strcmp(wanted, "parts")) { for (auto &part : PARTS) printf("%s\n", part.name); return 0; }
    // Before this process uses the GPU: each child is a separate program.
    if (!strcmp(wanted, "processes")) {
        for (int i = 0; i < 4; i++) {
            pid_t pid = fork();
            if (!pid) { execl("/proc/self/exe", argv[0], i % 2 ? "captured" : "direct", (char *)0); _exit(9); }
            int status = 1;
            waitpid(pid, &status, 0);
            if (status) return 2;
        }
        return 0;
    }
    if (cudaMalloc(&ran, KERNELS * sizeof *ran) || cudaMemset(ran, 0, KERNELS * sizeof *ran)) { fprintf(stderr, "no device\n"); return 2; }
    for (auto &part : PARTS)
        if (!strcmp(wanted, "all") || !strcmp(wanted, part.name)) {
            part_name = part.name;
            try { part.run(); } catch (failed &) {}
        }
    unsigned long long counts[KERNELS];
    if (cudaDeviceSynchronize() || cudaMemcpy(counts, ran, sizeof counts, cudaMemcpyDeviceToHost)) { fprintf(stderr, "the device failed\n"); return 3; }
    for (int k = 0; k < KERNELS; k++) if (counts[k]) printf("ran %llu siege_k%d\n", counts[k], k);
    return 0;
}
