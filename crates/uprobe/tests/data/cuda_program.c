/* Opens a library that nvcc compiled, launches some of its kernels and one that no library registered; repeats this on request. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*dequantize_t)(void *, void *, void *, void *, int, int, void *);
static const char *names[] = {"cdequantize_blockwise_fp32", "cdequantize_blockwise_fp16", "cdequantize_blockwise_bf16", "cdequantize_blockwise_fp32_nf4"};
void *stub_function(const char *);
void stub_tell(int);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static void *find(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found) { fprintf(stderr, "%s\n", dlerror()); exit(4); }
    return found;
}

int main(int argc, char **argv) {
    void *library = dlopen(argv[1], RTLD_LAZY);
    if (argc < 3 || !library) { fprintf(stderr, "%s\n", dlerror()); return 3; }
    void *foreign = stub_function("ampere_sgemm_32x32_nn");
    char some[64];
    for (long left = atol(argv[2]), told = 0; ; left--) {
        for (int i = 0; i < 4; i++)
            for (int n = 0; n <= i; n++) ((dequantize_t)find(library, names[i]))(some, some, some, some, 64, 640 * (i + 1), 0);
        cuLaunchKernel(foreign, 2, 3, 4, 64, 1, 1, 0, 0, 0, 0);
        if (!told) {
            char line[8];
            told = 1;
            stub_tell(0);
            printf("ready\n");
            fflush(stdout);
            if (!fgets(line, sizeof line, stdin)) return 2;
        } else if (left <= 0) {
            break;
        }
    }
    stub_tell(1);
    fflush(stdout);
    while (getchar() != EOF) {}
    return 0;
}
