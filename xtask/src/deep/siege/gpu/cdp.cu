// Kernels that launch kernels (dynamic parallelism): 5 parents with 8 children each, and 7 that launch nothing. Each counts itself on the device.
#include <cstdio>
__device__ unsigned counts[3];
__global__ void child(int) { if (threadIdx.x == 0) atomicAdd(&counts[0], 1); }
__global__ void parent(int n) {
    if (threadIdx.x != 0) return;
    atomicAdd(&counts[1], 1);
    for (int i = 0; i < n; i++) child<<<1, 32>>>(i);
}
__global__ void plain(int) { if (threadIdx.x == 0) atomicAdd(&counts[2], 1); }
int main() {
    for (int i = 0; i < 5; i++) parent<<<1, 32>>>(8);
    for (int i = 0; i < 7; i++) plain<<<1, 32>>>(i);
    cudaDeviceSynchronize();
    unsigned host[3] = {};
    cudaMemcpyFromSymbol(host, counts, sizeof host);
    printf("ran %u _Z5childi\nran %u _Z6parenti\nran %u _Z5plaini\n", host[0], host[1], host[2]);
    return cudaGetLastError() != cudaSuccess;
}
