/* Graphs created in every possible way. With -DRUNTIME a runtime that returns handles and does nothing; else the program. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { unsigned x, y, z; } dim3;
typedef struct { dim3 block; void **extra; void *function; dim3 grid; void **args; unsigned shared; } params_t;
int hipLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int hipStreamBeginCapture(void *, int);
int hipStreamEndCapture(void *, void **);
int hipGraphCreate(void **, unsigned);
int hipGraphAddKernelNode(void **, void *, void **, size_t, const params_t *);
int hipGraphAddChildGraphNode(void **, void *, void **, size_t, void *);
int hipGraphInstantiate(void **, void *, void **, char *, size_t);
int hipGraphLaunch(void *, void *);
int hipGraphExecKernelNodeSetParams(void *, void *, const params_t *);
int hipEventRecord(void *, void *);
int hipStreamWaitEvent(void *, void *, unsigned);

#ifdef RUNTIME
static int give(void **out) { *out = malloc(64); return 0; }
int hipLaunchKernel(const void *h, dim3 g, dim3 b, void **a, size_t s, void *o) { (void)h, (void)g, (void)b, (void)a, (void)s, (void)o; return 0; }
int hipStreamBeginCapture(void *s, int m) { (void)s, (void)m; return 0; }
int hipStreamEndCapture(void *s, void **g) { (void)s; return give(g); }
int hipGraphCreate(void **g, unsigned f) { (void)f; return give(g); }
int hipGraphAddKernelNode(void **n, void *g, void **d, size_t k, const params_t *p) { (void)g, (void)d, (void)k, (void)p; return give(n); }
int hipGraphAddChildGraphNode(void **n, void *g, void **d, size_t k, void *c) { (void)g, (void)d, (void)k, (void)c; return give(n); }
int hipGraphInstantiate(void **x, void *g, void **n, char *l, size_t k) { (void)g, (void)n, (void)l, (void)k; return give(x); }
int hipGraphLaunch(void *x, void *s) { (void)x, (void)s; return 0; }
int hipGraphExecKernelNodeSetParams(void *x, void *n, const params_t *p) { (void)x, (void)n, (void)p; return 0; }
int hipEventRecord(void *e, void *s) { (void)e, (void)s; return 0; }
int hipStreamWaitEvent(void *s, void *e, unsigned f) { (void)s, (void)e, (void)f; return 0; }
#else
static char handles[4];
/* The width of the grid identifies the kernel. */
static void launch(unsigned kernel, void *stream) {
    hipLaunchKernel(&handles[kernel], (dim3){kernel, 1, 1}, (dim3){64, 1, 1}, 0, 0, stream);
}
static params_t node(unsigned kernel) {
    return (params_t){{64, 1, 1}, 0, &handles[kernel], {kernel, 1, 1}, 0, 0};
}
int main(void) {
    void *first = malloc(8), *second = malloc(8), *fork = malloc(8), *join = malloc(8);
    void *captured, *built, *replayed, *rebuilt, *one, *two, *child;
    char line[8];
    printf("ready\n");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin)) return 2;
    /* Two launches of the first kernel, and three of the second on a stream that joins. */
    hipStreamBeginCapture(first, 0);
    launch(1, first);
    hipEventRecord(fork, first);
    hipStreamWaitEvent(second, fork, 0);
    for (int i = 0; i < 3; i++) launch(2, second);
    hipEventRecord(join, second);
    hipStreamWaitEvent(first, join, 0);
    launch(1, first);
    hipStreamEndCapture(first, &captured);
    hipGraphInstantiate(&replayed, captured, 0, 0, 0);
    /* The second stream is free again, and so is the event. */
    launch(2, second);
    hipEventRecord(fork, second);
    hipStreamWaitEvent(first, fork, 0);
    launch(1, first);
    for (int i = 0; i < 5; i++) hipGraphLaunch(replayed, first);
    /* One launch of each kernel, and the whole first graph. */
    hipGraphCreate(&built, 0);
    params_t params = node(1);
    hipGraphAddKernelNode(&one, built, 0, 0, &params);
    params = node(2);
    hipGraphAddKernelNode(&two, built, &one, 1, &params);
    hipGraphAddChildGraphNode(&child, built, &two, 1, captured);
    hipGraphInstantiate(&rebuilt, built, 0, 0, 0);
    for (int i = 0; i < 3; i++) hipGraphLaunch(rebuilt, first);
    /* From now on its second node launches the third kernel. */
    params = node(3);
    hipGraphExecKernelNodeSetParams(rebuilt, two, &params);
    for (int i = 0; i < 2; i++) hipGraphLaunch(rebuilt, first);
    return 0;
}
#endif
