// What nvcc makes of a small program, without nvcc: a registered fatbin, launches, occupancy, a graph. Prints what the runtime
// says about the card.
#include <stddef.h>
#include <stdio.h>
#include <string.h>
typedef struct { unsigned x, y, z; } dim3;
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const void *, char *, const char *, int, void *, void *, void *, void *, int *);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
int cudaFuncSetAttribute(const void *, int, int);
int cudaDeviceGetAttribute(int *, int, int);
int PROPERTIES(char *, int);
int cudaRuntimeGetVersion(int *);
int cudaMalloc(void **, size_t);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaStreamCreate(void **);
int cudaStreamBeginCapture(void *, int);
int cudaStreamEndCapture(void *, void **);
int cudaGraphInstantiate(void **, void *, unsigned long long);
int cudaGraphLaunch(void *, void *);
const char *cudaGetErrorName(int);
int cudaArrayGetInfo(void *, void *, unsigned *, void *);
int cuGetExportTable(const void **, const void *);

__asm__(".section .nv_fatbin,\"a\"\n.balign 8\nfatbin:\n.incbin \"" FATBIN "\"\n.previous");
extern const char fatbin[];
static struct { int magic, version; const void *data; void *more; } wrapper = {0x466243b1, 1, fatbin, 0};
static void scale(void) {}
static void sum(void) {}
static void gone(void) {}

int main(int argc, char **argv) {
    static char card[2048];
    int release = 0, blocks = 0, value = 0, many = 0;
    void **module = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(module, (void *)scale, "scale", "scale", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFunction(module, (void *)sum, "sum", "sum", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFatBinaryEnd(module);
    if (PROPERTIES(card, 0)) return 2;
    cudaRuntimeGetVersion(&release);
    printf("%s, %d multiprocessors, CUDA %d\n", card, *(int *)(card + UNITS), release / 1000);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (void *)sum, 512, 0);
    printf("blocks %d\n", blocks);
    printf("unknown attribute: %s\n", cudaGetErrorName(cudaDeviceGetAttribute(&value, 88, 0)));
    dim3 grid = {64, 2, 1}, block = {128, 1, 1}, wide = {2048, 1, 1};
    printf("scale: %s\n", cudaGetErrorName(cudaLaunchKernel((void *)scale, grid, block, 0, 0, 0)));
    printf("too many threads: %s\n", cudaGetErrorName(cudaLaunchKernel((void *)scale, grid, wide, 0, 0, 0)));
    printf("much shared memory: %s\n", cudaGetErrorName(cudaLaunchKernel((void *)sum, grid, block, 0, 64 << 10, 0)));
    many = cudaFuncSetAttribute((void *)sum, 8, 64 << 10);
    printf("allowed: %s\n", cudaGetErrorName(many ? many : cudaLaunchKernel((void *)sum, grid, block, 0, 64 << 10, 0)));
    printf("not registered: %s\n", cudaGetErrorName(cudaLaunchKernel((void *)gone, grid, block, 0, 0, 0)));
    void *stream, *graph, *exec, *memory;
    if (cudaStreamCreate(&stream) || cudaStreamBeginCapture(stream, 0)) return 3;
    cudaLaunchKernel((void *)scale, block, block, 0, 0, stream);
    if (cudaStreamEndCapture(stream, &graph) || cudaGraphInstantiate(&exec, graph, 0)) return 4;
    for (int i = 0; i < 3; i++) cudaGraphLaunch(exec, stream);
    printf("array: %s\n", cudaGetErrorName(cudaArrayGetInfo(0, 0, 0, 0)));
    if (argc > 1) {
        const void *table = 0;
        printf("private table: %d\n", cuGetExportTable(&table, 0));
        if (cudaMalloc(&memory, 4096)) return 5;
        cudaMemcpy(&value, memory, sizeof value, 2);
        cudaLaunchKernel((void *)scale, grid, block, 0, 0, 0);
    }
    return 0;
}
