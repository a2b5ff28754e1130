// What a compiler makes of a small HIP program, without one: a registered bundle, launches, a graph built node by node, a loaded
// image, a measured time. Prints what the runtime says.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { unsigned x, y, z; } dim3;
typedef struct { dim3 block; void **extra; void *function; dim3 grid; void **args; unsigned shared; } KernelParams;
void **__hipRegisterFatBinary(const void *);
void __hipRegisterFunction(void **, const void *, const char *, const char *, unsigned, void *, void *, void *, void *, int *);
void __hipRegisterVar(void **, void *, char *, char *, int, size_t, int, int);
int hipLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int hipOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
int hipDeviceGetAttribute(int *, int, int);
int hipRuntimeGetVersion(int *);
int hipMalloc(void **, size_t);
int hipMemcpyHtoDAsync(void *, const void *, size_t, void *);
int hipMemcpyDtoHAsync(void *, void *, size_t, void *);
int hipMemsetD32Async(void *, int, size_t, void *);
int hipMemGetAddressRange(void **, size_t *, void *);
int hipPointerGetAttribute(void *, int, void *);
int hipDeviceGetUuid(char *, int);
int hipDevicePrimaryCtxRetain(void **, int);
int hipDeviceGetStreamPriorityRange(int *, int *);
int hipStreamCreateWithPriority(void **, unsigned, int);
int hipStreamGetPriority(void *, int *);
int hipLaunchHostFunc(void *, void (*)(void *), void *);
int hipMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int hipMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int hipGraphCreate(void **, unsigned);
int hipGraphAddKernelNode(void **, void *, const void *, size_t, const KernelParams *);
int hipGraphAddHostNode(void **, void *, const void *, size_t, const void *);
int hipGraphAddChildGraphNode(void **, void *, const void *, size_t, void *);
int hipGraphInstantiate(void **, void *, void **, char *, size_t);
int hipGraphExecKernelNodeSetParams(void *, void *, const KernelParams *);
int hipGraphLaunch(void *, void *);
int hipModuleLoadData(void **, const void *);
int hipModuleGetFunction(void **, void *, const char *);
int hipModuleLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
int hipFuncGetAttribute(int *, int, void *);
int hipEventCreate(void **);
int hipEventRecord(void *, void *);
int hipEventElapsedTime(float *, void *, void *);
const char *hipGetErrorName(int);

__asm__(".section .hip_fatbin,\"a\"\n.balign 4096\nfatbin:\n.incbin \"" BUNDLE "\"\n.previous");
extern const char fatbin[];
static struct { int magic, version; const void *data; void *more; } wrapper
    __attribute__((section(".hipFatBinSegment"), used)) = {0x48495046, 1, fatbin, 0};
static void live(void) {}
static int shadow;
static void count(void *at) { ++*(int *)at; }

int main(int argc, char **argv) {
    int value = 0, other = 0, calls = 0;
    float ms = 0;
    char id[16];
    void *memory, *at, *graph, *outer, *exec, *node, *hosted, *child, *stream, *module, *function, *start, *stop;
    size_t size = 0;
    void **bundle = __hipRegisterFatBinary(&wrapper);
    __hipRegisterFunction(bundle, (void *)live, "_Z4livePf", "_Z4livePf", -1, 0, 0, 0, 0, 0);
    __hipRegisterVar(bundle, &shadow, "shadow", "shadow", 0, sizeof shadow, 0, 0);
    hipRuntimeGetVersion(&value);
    printf("HIP %d\n", value / 10000000);
    other = hipDeviceGetAttribute(&value, 0, 0);
    printf("ecc: %s %d\n", hipGetErrorName(other), value);
    printf("unknown attribute: %s\n", hipGetErrorName(hipDeviceGetAttribute(&value, 7777, 0)));
    if (hipMalloc(&memory, 4096) || hipDeviceGetUuid(id, 0) || hipDevicePrimaryCtxRetain(&at, 0)) return 2;
    dim3 grid = {64, 2, 1}, block = {128, 1, 1}, wide = {512, 1, 1}, small = {3, 1, 1};
    void *args[] = {&memory};
    printf("live: %s\n", hipGetErrorName(hipLaunchKernel((void *)live, grid, block, args, 0, 0)));
    printf("512 threads: %s\n", hipGetErrorName(hipLaunchKernel((void *)live, grid, wide, args, 0, 0)));
    printf("64 KiB more: %s\n", hipGetErrorName(hipLaunchKernel((void *)live, grid, block, args, 64 << 10, 0)));
    // The rest of memory: ranges, attributes, fills, symbols.
    hipMemGetAddressRange(&at, &size, (char *)memory + 100);
    printf("range: %d %zu\n", at == memory, size);
    hipPointerGetAttribute(&value, 2, memory);
    printf("memory type: %d\n", value);
    hipMemsetD32Async(memory, 77, 4, 0);
    hipMemcpyDtoHAsync(&value, memory, sizeof value, 0);
    other = 5;
    hipMemcpyToSymbol(&shadow, &other, sizeof other, 0, 1);
    other = 0;
    hipMemcpyFromSymbol(&other, &shadow, sizeof other, 0, 2);
    printf("values: %d %d\n", value, other);
    hipDeviceGetStreamPriorityRange(&value, &other);
    if (hipStreamCreateWithPriority(&stream, 0, other)) return 3;
    hipStreamGetPriority(stream, &value);
    printf("priority: %d\n", value == other);
    // A graph with a kernel and a call, inside of another graph.
    KernelParams params = {block, 0, (void *)live, small, args, 0};
    struct { void (*call)(void *); void *data; } host = {count, &calls};
    if (hipGraphCreate(&graph, 0) || hipGraphCreate(&outer, 0)) return 4;
    other = hipGraphAddKernelNode(&node, graph, 0, 0, &params);
    printf("node: %s\n", hipGetErrorName(other));
    if (other) goto image;
    if (hipGraphAddHostNode(&hosted, graph, &node, 1, &host)) return 5;
    params.block = wide;
    printf("node of 512 threads: %s\n", hipGetErrorName(hipGraphAddKernelNode(&at, graph, 0, 0, &params)));
    params.block = block;
    if (hipGraphAddChildGraphNode(&child, outer, 0, 0, graph) || hipGraphAddKernelNode(&node, outer, &child, 1, &params)) return 6;
    if (hipGraphInstantiate(&exec, outer, 0, 0, 0) || hipGraphLaunch(exec, stream)) return 7;
    params.grid.x = 9;
    if (hipGraphExecKernelNodeSetParams(exec, node, &params) || hipGraphLaunch(exec, stream) || hipGraphLaunch(exec, stream)) return 8;
    hipLaunchHostFunc(stream, count, &calls);
    printf("host calls: %d\n", calls);
image: // An image that the program loads itself.
    other = hipModuleLoadData(&module, fatbin);
    printf("image: %s\n", hipGetErrorName(other));
    if (other) return 0;
    printf("no kernel: %s\n", hipGetErrorName(hipModuleGetFunction(&function, module, "absent")));
    if (hipModuleGetFunction(&function, module, "_Z4livePf") == 0) {
        hipFuncGetAttribute(&value, 4, function);
        hipFuncGetAttribute(&other, 1, function);
        printf("registers %d, LDS %d\n", value, other);
        hipModuleLaunchKernel(function, 5, 1, 1, 32, 1, 1, 0, 0, args, 0);
    }
    if (argc > 1) {
        hipEventCreate(&start);
        hipEventCreate(&stop);
        hipEventRecord(start, 0);
        hipLaunchKernel((void *)live, small, block, args, 0, 0);
        hipEventRecord(stop, 0);
        hipEventElapsedTime(&ms, start, stop);
        // A choice that may follow the time.
        if (strcmp(argv[1], "chosen") == 0) hipLaunchKernel((void *)live, block, block, args, 0, 0);
    }
    return 0;
}
