struct dim3 { unsigned x = 1; unsigned y = 1; unsigned z = 1; };
struct uint2 { unsigned x; unsigned y; };
struct uint3 { unsigned x; unsigned y; unsigned z; };
uint3 make_uint3(unsigned x, unsigned y, unsigned z) { uint3 v; v.x = x; v.y = y; v.z = z; return v; }
struct int2 { int x; int y; };
struct int3 { int x; int y; int z; };
struct int4 { int x; int y; int z; int w; };
struct float2 { float x; float y; };
struct float4 { float x; float y; float z; float w; };
struct half { unsigned short bits; };
struct half2 { half x; half y; };
struct __half { unsigned short bits; };
struct nv_bfloat16 { unsigned short bits; };
struct nv_bfloat162 { nv_bfloat16 x; nv_bfloat16 y; };
struct __nv_bfloat16 { unsigned short bits; };
struct __nv_bfloat162 { nv_bfloat16 x; nv_bfloat16 y; };
struct hip_bfloat16 { unsigned short bits; };
struct __hip_bfloat16 { unsigned short bits; };
struct __hip_bfloat162 { __hip_bfloat16 x; __hip_bfloat16 y; };
struct true_type { static constexpr bool value = true; };
struct false_type { static constexpr bool value = false; };
template <typename T, T v> struct integral_constant { static constexpr T value = v; };
template <bool v> struct bool_constant { static constexpr bool value = v; };
template <typename A, typename B> struct pair { A first; B second; };
template <typename T, int n> struct array;
struct cudaDeviceProp {
    char name[256]; char gcnArchName[256]; size_t totalGlobalMem; size_t sharedMemPerBlock; size_t sharedMemPerBlockOptin;
    size_t sharedMemPerMultiprocessor; int major; int minor; int multiProcessorCount; int warpSize; int integrated;
    int regsPerBlock; int l2CacheSize; int maxThreadsPerBlock; int maxThreadsPerMultiProcessor; int clockRate; int pciDomainID;
    int pciBusID; int pciDeviceID; int cooperativeLaunch;
};
struct hipDeviceProp_t {
    char name[256]; char gcnArchName[256]; size_t totalGlobalMem; size_t sharedMemPerBlock; size_t sharedMemPerBlockOptin;
    size_t sharedMemPerMultiprocessor; int major; int minor; int multiProcessorCount; int warpSize; int integrated;
    int regsPerBlock; int l2CacheSize; int maxThreadsPerBlock; int maxThreadsPerMultiProcessor; int clockRate; int pciDomainID;
    int pciBusID; int pciDeviceID; int cooperativeLaunch;
};
struct cudaLaunchAttributeValue { int programmaticStreamSerializationAllowed; };
struct cudaLaunchAttribute { int id; cudaLaunchAttributeValue val; };
struct cudaLaunchConfig_t {
    dim3 gridDim; dim3 blockDim; size_t dynamicSmemBytes; void * stream; cudaLaunchAttribute * attrs; unsigned numAttrs;
};
struct hipLaunchConfig_t {
    dim3 gridDim; dim3 blockDim; size_t dynamicSmemBytes; void * stream; cudaLaunchAttribute * attrs; unsigned numAttrs;
};
