/* A stand-in for the parts of the CUDA runtime and driver that a library compiled by nvcc needs to register and launch its kernels.
   As in the real ones, a kernel of the runtime and a function of the driver are separate objects that do not reveal the
   name. Compiled once with -DDRIVER. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct info { long unused[2]; const char *name; };
struct function { long kind; struct info *info; long launched; struct function *next; };
typedef struct { unsigned x, y, z; } dim3;

struct function *stub_function(const char *name);
int cuLaunchKernel(struct function *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

#ifdef DRIVER
static struct function *all;

struct function *stub_function(const char *name) {
    struct function *made = calloc(1, sizeof *made);
    made->info = calloc(1, sizeof *made->info);
    made->info->name = name;
    made->next = all;
    return all = made;
}

__attribute__((noinline)) int cuLaunchKernel(struct function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                             unsigned bz, unsigned shared, void *stream, void **args, void **extra) {
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)args, (void)extra;
    if (!f) return 1;
    f->launched++;
    return 0;
}

/* The launches since the last call, by name. */
void stub_tell(int print) {
    for (struct function *f = all; f; f = f->next) {
        if (f->launched && print) printf("launched %ld %s\n", f->launched, f->info->name);
        f->launched = 0;
    }
}
#else
struct kernel { const void *stub; const char *name; struct function *function; };
static struct kernel kernels[4096];
static int count;
static dim3 grid, block;
static size_t shared;
static void *stream;

void **__cudaRegisterFatBinary(void *wrapper) { static void *handle; (void)wrapper; return &handle; }
void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }
void __cudaRegisterVar(void **handle) { (void)handle; }
void __cudaRegisterFunction(void **handle, const char *stub, char *device, const char *name) {
    (void)handle, (void)device;
    kernels[count++] = (struct kernel){stub, name, 0};
}
unsigned __cudaPushCallConfiguration(dim3 g, dim3 b, size_t s, void *o) { grid = g, block = b, shared = s, stream = o; return 0; }
int __cudaPopCallConfiguration(dim3 *g, dim3 *b, size_t *s, void **o) { *g = grid, *b = block, *s = shared, *o = stream; return 0; }

static struct kernel *find(const void *stub) {
    for (int i = 0; i < count; i++)
        if (kernels[i].stub == stub) {
            if (!kernels[i].function) kernels[i].function = stub_function(kernels[i].name);
            return &kernels[i];
        }
    return 0;
}

int __cudaGetKernel(struct kernel **out, const void *stub) { return (*out = find(stub)) ? 0 : 98; }

__attribute__((noinline)) int __cudaLaunchKernel(struct kernel *k, dim3 g, dim3 b, void **args, size_t s, void *o) {
    return cuLaunchKernel(k->function, g.x, g.y, g.z, b.x, b.y, b.z, (unsigned)s, o, args, 0);
}
__attribute__((noinline)) int cudaLaunchKernel(const void *stub, dim3 g, dim3 b, void **args, size_t s, void *o) {
    struct kernel *k = find(stub);
    return k ? cuLaunchKernel(k->function, g.x, g.y, g.z, b.x, b.y, b.z, (unsigned)s, o, args, 0) : 98;
}
int cudaPeekAtLastError(void) { return 0; }
const char *cudaGetErrorString(int error) { (void)error; return "error"; }
#endif
