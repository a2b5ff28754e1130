// A HIP program for Debian's clang: launches, a refused launch, a graph, a variable of device code.
#include <cstdio>
#include <hip/hip_runtime.h>

__device__ float factor = 2.0f;

__global__ void scale(float *values, float by, int count) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) values[at] *= by * factor;
}

__global__ void __launch_bounds__(128) turn(float *values) {
    __shared__ float kept[128];
    kept[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = kept[127 - threadIdx.x];
}

int main() {
    int version = 0, blocks = 0;
    hipDeviceProp_t card;
    if (hipRuntimeGetVersion(&version) || hipGetDeviceProperties(&card, 0)) return 2;
    printf("%s, %s, HIP %d\n", card.name, card.gcnArchName, version / 10000000);
    float *values, by = 3.0f;
    if (hipMalloc(&values, 4096 * sizeof(float)) || hipMemcpyToSymbol(factor, &by, sizeof by)) return 3;
    scale<<<16, 256>>>(values, by, 4096);
    turn<<<1, 128>>>(values);
    printf("launches: %s\n", hipGetErrorName(hipGetLastError()));
    turn<<<1, 256>>>(values);
    printf("too many threads: %s\n", hipGetErrorName(hipGetLastError()));
    if (hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)turn, 128, 0)) return 4;
    printf("blocks: %d\n", blocks > 0);
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t node;
    int count = 4096;
    void *args[] = {&values, &by, &count};
    hipKernelNodeParams params = {};
    params.func = (void *)scale;
    params.gridDim = dim3(8);
    params.blockDim = dim3(512);
    params.kernelParams = args;
    if (hipGraphCreate(&graph, 0) || hipGraphAddKernelNode(&node, graph, nullptr, 0, &params)) return 5;
    if (hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0) || hipGraphLaunch(exec, 0) || hipGraphLaunch(exec, 0)) return 6;
    return hipDeviceSynchronize();
}
