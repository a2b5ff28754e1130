// Ten kernels that count, on the device, how often each of them ran. The runtime's and the driver's program share them.
#define KERNELS 10
#define KERNEL(n) extern "C" __global__ void siege_k##n(unsigned long long *ran) { atomicAdd(&ran[n], 1ULL); }
KERNEL(0) KERNEL(1) KERNEL(2) KERNEL(3) KERNEL(4) KERNEL(5) KERNEL(6) KERNEL(7) KERNEL(8) KERNEL(9)
