/* A small HIP program that needs no HIP compiler: it registers kernels as clang's output does, and launches them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct { uint32_t x, y, z; } dim3;
typedef struct { uint32_t magic, version; const void *bundle; void *unused; } wrapper_t;
void **__hipRegisterFatBinary(const void *);
void __hipRegisterFunction(void **, const void *, const char *, const char *, unsigned, void *, void *, void *, void *, int *);
void __hipUnregisterFatBinary(void **);
int hipLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int hipMemcpy(void *, const void *, size_t, int);
int hipMalloc(void **, size_t);

/* An offload bundle with no entries. */
static const char bundle[64] __attribute__((aligned(4096))) = "__CLANG_OFFLOAD_BUNDLE__";
static const wrapper_t wrapper = {0x48495046, 1, bundle, 0};
static char handles[8];
static void **modules;
static const char *names[8] = {"_Z5firstv", "_Z6secondPfi", "_Z5thirdv", "_Z6fourthv",
                               "_Z5fifthv", "_Z5sixthv", "_Z7seventhv", "_Z6eighthv"};

static void begin(void) {
    modules = __hipRegisterFatBinary(&wrapper);
    for (int i = 0; i < 8; i++) __hipRegisterFunction(modules, &handles[i], names[i], names[i], -1, 0, 0, 0, 0, 0);
}

static int launch(int kernel, uint32_t grid) {
    float *pointer = (float *)0x1000;
    int n = (int)grid;
    void *args[] = {&pointer, &n};
    dim3 g = {grid, 1, 1}, b = {64, 1, 1};
    return hipLaunchKernel(&handles[kernel], g, b, args, 0, 0);
}

static long each;
static void *work(void *arg) {
    for (long i = 0; i < each; i++) launch((int)((long)arg % 8), (uint32_t)(i + 1));
    return 0;
}

static int threads(long count) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_t *list = calloc((size_t)count, sizeof *list);
    for (long i = 0; i < count; i++)
        if (pthread_create(&list[i], &small, work, (void *)i)) return 3;
    for (long i = 0; i < count; i++) pthread_join(list[i], 0);
    return 0;
}

static volatile sig_atomic_t rang;
static void on_alarm(int signal) { (void)signal; launch(7, 9); rang++; }

/* A library that is opened and closed while others launch: `plugin` is this same file as a shared object. */
int plugin(uint32_t grid) { return launch(2, grid); }
__attribute__((destructor)) static void end(void) { if (modules) __hipUnregisterFatBinary(modules); modules = 0; }
#ifdef PLUGIN
__attribute__((constructor)) static void open_plugin(void) { names[2] = PLUGIN; begin(); }
#else

/* CPU time of this thread, including the kernel's part: independent of other programs. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "plain";
    long count = argc > 2 ? atol(argv[2]) : 10;
    each = argc > 3 ? atol(argv[3]) : 1;
    if (strcmp(mode, "plugins") && strcmp(mode, "rush")) begin();
    if (!strcmp(mode, "plain")) {
        int status = 0;
        for (long i = 0; i < count; i++) status = launch((int)(i % 8), (uint32_t)(i + 1));
        printf("status %d\n", status);
    } else if (!strcmp(mode, "threads")) {
        return threads(count);
    } else if (!strcmp(mode, "rush")) {
        /* Many threads make the very first call at once. */
        for (long i = 0; i < count; i++) {
            pid_t child = fork();
            if (child == 0) _exit(threads(16));
            waitpid(child, 0, 0);
        }
    } else if (!strcmp(mode, "forks")) {
        for (long i = 0; i < count; i++) {
            launch(0, 1);
            pid_t child = fork();
            if (child == 0) {
                launch(1, 2);
                if (i % 2) execl("/proc/self/exe", argv[0], "plain", "3", (char *)0);
                _exit(0);
            }
            waitpid(child, 0, 0);
        }
    } else if (!strcmp(mode, "alarm")) {
        struct itimerval often = {{0, 1000}, {0, 1000}};
        signal(SIGALRM, on_alarm);
        setitimer(ITIMER_REAL, &often, 0);
        for (long i = 0; i < count || rang < 50; i++) launch(0, 1);
        memset(&often, 0, sizeof often);
        setitimer(ITIMER_REAL, &often, 0);
        printf("rang %d\n", (int)rang);
    } else if (!strcmp(mode, "plugins")) {
        /* argv[3..]: the plugins, opened one after the other, locally. */
        for (long i = 0; i < count; i++)
            for (int p = 3; p < argc; p++) {
                void *library = dlopen(argv[p], RTLD_NOW | RTLD_LOCAL);
                if (!library) { fprintf(stderr, "%s\n", dlerror()); return 4; }
                int (*call)(uint32_t) = (int (*)(uint32_t))dlsym(library, "plugin");
                call((uint32_t)p);
                dlclose(library);
            }
    } else if (!strcmp(mode, "byname")) {
        /* Like Triton and a static CUDA runtime. */
        void *runtime = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
        int (*call)(const void *, dim3, dim3, void **, size_t, void *) =
            (int (*)(const void *, dim3, dim3, void **, size_t, void *))dlsym(runtime, "hipLaunchKernel");
        void *(*next)(size_t) = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
        dim3 one = {1, 1, 1};
        for (long i = 0; i < count; i++) call(&handles[0], one, one, 0, 0, 0);
        printf("%d %d\n", next == malloc, dlsym(RTLD_DEFAULT, "no such thing") == 0);
    } else if (!strcmp(mode, "until")) {
        /* Launches until it is killed; prints a line when it has begun. */
        for (long i = 0;; i++) {
            launch((int)(i % 8), 1);
            if (i == count) { printf("ready\n"); fflush(stdout); }
        }
    } else if (!strcmp(mode, "linger")) {
        /* Long enough for an observer to read its mappings. */
        for (long i = 0; i < count; i++)
            for (int k = 0; k < 8; k++) launch(k, 1);
        usleep(700000);
    } else if (!strcmp(mode, "tokens")) {
        void *device = 0;
        char host[64];
        hipMalloc(&device, 64);
        for (long i = 0; i < count; i++) {
            for (int k = 0; k < 8; k++) launch(k, 1);
            hipMemcpy(host, device, sizeof host, 2);
        }
    } else if (!strcmp(mode, "time")) {
        double best = 1e18;
        for (int round = 0; round < 20; round++) {
            double start = now();
            for (long i = 0; i < count; i++) launch((int)(i & 7), 1);
            double took = (now() - start) / (double)count;
            if (took < best) best = took;
        }
        printf("%.1f\n", best);
    }
    return 0;
}
#endif
