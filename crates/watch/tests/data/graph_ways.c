/* Creates, clones, nests, changes and launches graphs in every possible way, in HIP, the CUDA runtime and the CUDA driver.
 * -DHIP, -DCUDA and -DCUDART build runtimes that keep real graphs and print at the end how often each kernel was launched;
 * -DUSE_HIP, -DUSE_CUDA, -DUSE_CUDART the program. With -DBYNAME the program looks up every function by name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { uint32_t x, y, z; } dim3;
#if defined(HIP) || defined(USE_HIP)
#define N(n) hip##n
#define REGISTER(n) __hip##n
typedef struct { dim3 block; void **extra; void *func; dim3 grid; void **args; uint32_t shared; } kp;
#define PARAMS(f) {{64, 1, 1}, 0, (f), {2, 1, 1}, 0, 0}
#elif defined(CUDART) || defined(USE_CUDART)
#define N(n) cuda##n
#define REGISTER(n) __cuda##n
typedef struct { void *func; dim3 grid, block; uint32_t shared; void **args, **extra; } kp;
#define PARAMS(f) {(f), {2, 1, 1}, {64, 1, 1}, 0, 0, 0}
#else
#define N(n) cu##n
typedef struct { void *func; dim3 grid, block; uint32_t shared; void **args, **extra; void *kern, *ctx; } kp;
#define PARAMS(f) {(f), {2, 1, 1}, {64, 1, 1}, 0, 0, 0, 0, 0}
#endif
typedef struct { int type, reserved[3]; union { kp kernel; void *child; char room[232]; }; long last; } np;
/* HIP has the flags second. */
typedef struct { uint64_t a, b, c, d; } ip;

#if defined(HIP) || defined(CUDA)
typedef struct node { int type; kp p; struct graph *child; struct node *next; } node;
typedef struct graph { node *first, **last; } graph;
/* A copy, node by node; the handle of a copy is its original. */
typedef struct xnode { node *of; int type, on; void *func; struct xnode *inner, *next; } xnode;
typedef struct exec { xnode *first; } exec;
static struct { void *key; const char *name; long count; } kernels[64];
static int known;
static graph *capture;
static long made_up;

static void name_it(void *key, const char *name) { kernels[known].key = key; kernels[known++].name = name; }
static void run(void *f) { for (int i = 0; i < known; i++) if (kernels[i].key == f) { kernels[i].count++; return; } abort(); }
__attribute__((destructor)) static void tell(void) {
    long all = made_up;
    for (int i = 0; i < known; i++) { printf("%s %ld\n", kernels[i].name, kernels[i].count); all += kernels[i].count; }
    printf("all %ld\n", all);
}
static graph *make(void) { graph *g = calloc(1, sizeof *g); g->last = &g->first; return g; }
static node *add(graph *g, int type, const kp *p, graph *child) {
    node *n = calloc(1, sizeof *n);
    n->type = type; if (p) n->p = *p; n->child = child;
    *g->last = n; g->last = &n->next;
    return n;
}
static graph *copy(graph *g) {
    graph *to = make();
    for (node *n = g->first; n; n = n->next) add(to, n->type, &n->p, n->child ? copy(n->child) : 0);
    return to;
}
static xnode *ready(graph *g) {
    xnode *first = 0, **last = &first;
    for (node *n = g->first; n; n = n->next) {
        xnode *x = calloc(1, sizeof *x);
        x->of = n; x->type = n->type; x->on = 1; x->func = n->p.func ? n->p.func : 0; x->inner = n->child ? ready(n->child) : 0;
        *last = x; last = &x->next;
    }
    return first;
}
static xnode *at(xnode *x, void *n) {
    for (; x; x = x->next) { if (x->of == n) return x; xnode *in = at(x->inner, n); if (in) return in; }
    return 0;
}
static void launch(xnode *x) { for (; x; x = x->next) { if (x->on && x->type == 0) run(x->func); launch(x->inner); } }
static int one(void *f) { if (capture) { kp p = PARAMS(f); add(capture, 0, &p, 0); } else run(f); return 0; }

int N(GraphCreate)(void **g, unsigned f) { (void)f; *g = make(); return 0; }
int N(GraphDestroy)(void *g) { (void)g; return 0; }
int N(GraphExecDestroy)(void *x) { free(x); return 0; }
int N(GraphClone)(void **to, void *g) { *to = copy(g); return 0; }
int N(GraphGetNodes)(graph *g, void **list, size_t *count) {
    size_t room = list ? *count : 0; *count = 0;
    for (node *n = g->first; n; n = n->next, ++*count) if (*count < room) list[*count] = n;
    return 0;
}
int N(GraphNodeGetType)(node *n, int *type) { *type = n->type; return 0; }
int N(GraphChildGraphNodeGetGraph)(node *n, void **g) { *g = n->child; return 0; }
int N(GraphDestroyNode)(node *gone) { gone->type = 5; return 0; }
int N(GraphAddChildGraphNode)(void **to, graph *g, void **d, size_t k, graph *child) { (void)d, (void)k; *to = add(g, 4, 0, copy(child)); return 0; }
int N(GraphExecChildGraphNodeSetParams)(exec *x, void *n, graph *child) { at(x->first, n)->inner = ready(child); return 0; }
int N(GraphNodeSetEnabled)(exec *x, void *n, unsigned on) { at(x->first, n)->on = on; return 0; }
int N(GraphUpload)(exec *x, void *s) { (void)x, (void)s; return 0; }
int N(GraphLaunch)(exec *x, void *s) { (void)s; launch(x->first); return 0; }
int N(StreamIsCapturing)(void *s, int *status) { (void)s; *status = capture != 0; return 0; }
int N(StreamEndCapture)(void *s, void **g) { (void)s; *g = capture; capture = 0; return 0; }
int N(StreamBeginCaptureToGraph)(void *s, graph *g, void **d, void *e, size_t k, int m) { (void)s, (void)d, (void)e, (void)k, (void)m; capture = g; return 0; }
int N(GraphExecNodeSetParams)(exec *x, void *n, np *p) { xnode *to = at(x->first, n); if (p->type) to->inner = ready(p->child); else to->func = p->kernel.func; return 0; }
int N(GraphInstantiateWithFlags)(void **to, graph *g, uint64_t f) { (void)f; exec *x = calloc(1, sizeof *x); x->first = ready(g); *to = x; return 0; }
int N(GraphInstantiateWithParams)(void **to, graph *g, ip *p) { (void)p; return N(GraphInstantiateWithFlags)(to, g, 0); }
#endif

#ifdef HIP
void **__hipRegisterFatBinary(void *w) { static void *m; (void)w; return &m; }
void __hipUnregisterFatBinary(void **m) { (void)m; }
void __hipRegisterFunction(void **m, void *h, char *a, const char *n, unsigned t, void *b, void *c, void *d, void *e, int *f) { (void)m, (void)a, (void)t, (void)b, (void)c, (void)d, (void)e, (void)f; name_it(h, n); }
int hipLaunchKernel(void *f, dim3 g, dim3 b, void **a, size_t s, void *o) { (void)g, (void)b, (void)a, (void)s, (void)o; return one(f); }
int hipStreamBeginCapture(void *s, int m) { (void)s, (void)m; capture = make(); return 0; }
int hipGraphAddKernelNode(void **to, graph *g, void **d, size_t k, kp *p) { (void)d, (void)k; *to = add(g, 0, p, 0); return 0; }
int hipGraphAddNode(void **to, graph *g, void **d, size_t k, np *p) { (void)d, (void)k; *to = add(g, p->type, &p->kernel, 0); return 0; }
int hipGraphKernelNodeGetParams(node *n, kp *p) { *p = n->p; return 0; }
int hipGraphKernelNodeSetParams(node *n, kp *p) { n->p = *p; return 0; }
int hipGraphExecKernelNodeSetParams(exec *x, void *n, kp *p) { at(x->first, n)->func = p->func; return 0; }
int hipGraphExecUpdate(exec *x, graph *g, void **n, void *r) { (void)n, (void)r; x->first = ready(g); return 0; }
int hipGraphInstantiate(void **to, graph *g, void *n, char *l, size_t k) { (void)n, (void)l, (void)k; return hipGraphInstantiateWithFlags(to, g, 0); }
/* Functions that the next release may have. */
int hipLaunchKernelAnew(void *f) { made_up++; (void)f; return 0; }
int hipGetProcAddress(const char *name, void **to, int v, uint64_t f, void *m) { (void)v, (void)f, (void)m; *to = dlsym(dlopen("libamdhip64.so.6", RTLD_NOW), name); return *to ? 0 : 500; }
#elif defined(CUDA)
typedef struct { const char *name; } function;
void *stub_function(const char *name) { function *f = calloc(1, sizeof *f); f->name = name; name_it(f, name); return f; }
int cuFuncGetName(const char **name, function *f) { *name = f->name; return 0; }
int cuLaunchKernel(void *f, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t g, uint32_t s, void *o, void **l, void **x) { (void)a, (void)b, (void)c, (void)d, (void)e, (void)g, (void)s, (void)o, (void)l, (void)x; return one(f); }
int cuModuleGetFunction(void **f, void *m, const char *n) { (void)m; *f = stub_function(n); return 0; }
int cuStreamBeginCapture_v2(void *s, int m) { (void)s, (void)m; capture = make(); return 0; }
int cuGraphAddKernelNode_v2(void **to, graph *g, void **d, size_t k, kp *p) { (void)d, (void)k; *to = add(g, 0, p, 0); return 0; }
int cuGraphAddNode_v2(void **to, graph *g, void **d, void *e, size_t k, np *p) { (void)d, (void)e, (void)k; *to = add(g, p->type, &p->kernel, 0); return 0; }
int cuGraphKernelNodeGetParams_v2(node *n, kp *p) { *p = n->p; return 0; }
int cuGraphKernelNodeSetParams_v2(node *n, kp *p) { n->p = *p; return 0; }
int cuGraphExecKernelNodeSetParams_v2(exec *x, void *n, kp *p) { at(x->first, n)->func = p->func; return 0; }
int cuGraphExecUpdate_v2(exec *x, graph *g, void *r) { (void)r; x->first = ready(g); return 0; }
int cuLaunchKernelAnew(void *f) { made_up++; (void)f; return 0; }
int cuGetProcAddress_v2(const char *name, void **to, int v, uint64_t f, void *m) {
    char full[96]; void *own = dlopen("libcuda.so.1", RTLD_NOW); (void)v, (void)f, (void)m;
    snprintf(full, sizeof full, "%s_v2", name);
    *to = dlsym(own, full);
    if (!*to) *to = dlsym(own, name);
    if (!*to && !strcmp(name, "cuGraphInstantiate")) *to = (void *)cuGraphInstantiateWithFlags;
    return *to ? 0 : 500;
}
#elif defined(CUDART)
typedef struct { void *func; dim3 grid, block; uint32_t shared; void **args, **extra; void *kern, *ctx; } dp;
void *stub_function(const char *);
int cuLaunchKernel(void *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, void *, void **, void **);
static struct { void *stub, *function; } stubs[64];
static int known;
static void *of(void *stub) { for (int i = 0; i < known; i++) if (stubs[i].stub == stub) return stubs[i].function; abort(); }
static dp driver(const kp *p) { dp d = {of(p->func), p->grid, p->block, p->shared, p->args, p->extra, 0, 0}; return d; }
void **__cudaRegisterFatBinary(void *w) { static void *m; (void)w; return &m; }
void __cudaUnregisterFatBinary(void **m) { (void)m; }
void __cudaRegisterFunction(void **m, void *h, char *a, const char *n, int t, void *b, void *c, void *d, void *e, int *f) { (void)m, (void)a, (void)t, (void)b, (void)c, (void)d, (void)e, (void)f; stubs[known].stub = h; stubs[known++].function = stub_function(n); }
int cudaLaunchKernel(void *f, dim3 g, dim3 b, void **a, size_t s, void *o) { return cuLaunchKernel(of(f), g.x, g.y, g.z, b.x, b.y, b.z, s, o, a, 0); }
#define W(n, c, decl, ...) int cu##c decl; int cuda##n decl { return cu##c(__VA_ARGS__); }
W(GraphCreate, GraphCreate, (void **a, unsigned b), a, b)
W(GraphDestroy, GraphDestroy, (void *a), a)
W(GraphExecDestroy, GraphExecDestroy, (void *a), a)
W(GraphClone, GraphClone, (void **a, void *b), a, b)
W(GraphDestroyNode, GraphDestroyNode, (void *a), a)
W(GraphAddChildGraphNode, GraphAddChildGraphNode, (void **a, void *b, void **c, size_t d, void *e), a, b, c, d, e)
W(GraphExecChildGraphNodeSetParams, GraphExecChildGraphNodeSetParams, (void *a, void *b, void *c), a, b, c)
W(GraphNodeSetEnabled, GraphNodeSetEnabled, (void *a, void *b, unsigned c), a, b, c)
W(GraphUpload, GraphUpload, (void *a, void *b), a, b)
W(GraphLaunch, GraphLaunch, (void *a, void *b), a, b)
W(StreamBeginCapture, StreamBeginCapture_v2, (void *a, int b), a, b)
W(StreamEndCapture, StreamEndCapture, (void *a, void **b), a, b)
W(StreamBeginCaptureToGraph, StreamBeginCaptureToGraph, (void *a, void *b, void **c, void *d, size_t e, int f), a, b, c, d, e, f)
W(GraphInstantiateWithFlags, GraphInstantiateWithFlags, (void **a, void *b, uint64_t c), a, b, c)
W(GraphInstantiateWithParams, GraphInstantiateWithParams, (void **a, void *b, ip *c), a, b, c)
W(GraphExecUpdate, GraphExecUpdate_v2, (void *a, void *b, void *c), a, b, c)
int cudaGraphInstantiate(void **a, void *b, uint64_t c) { return cuGraphInstantiateWithFlags(a, b, c); }
int cuGraphAddKernelNode_v2(void **, void *, void **, size_t, dp *), cuGraphAddNode_v2(void **, void *, void **, void *, size_t, void *);
int cuGraphKernelNodeSetParams_v2(void *, dp *), cuGraphExecKernelNodeSetParams_v2(void *, void *, dp *), cuGraphExecNodeSetParams(void *, void *, void *);
int cudaGraphAddKernelNode(void **to, void *g, void **d, size_t k, kp *p) { dp q = driver(p); return cuGraphAddKernelNode_v2(to, g, d, k, &q); }
int cudaGraphKernelNodeSetParams(void *n, kp *p) { dp q = driver(p); return cuGraphKernelNodeSetParams_v2(n, &q); }
int cudaGraphExecKernelNodeSetParams(void *x, void *n, kp *p) { dp q = driver(p); return cuGraphExecKernelNodeSetParams_v2(x, n, &q); }
static np inside(np p) { if (p.type == 0) { dp q = driver(&p.kernel); memcpy(p.room, &q, sizeof q); } return p; }
int cudaGraphAddNode(void **to, void *g, void **d, size_t k, np *p) { np q = inside(*p); return cuGraphAddNode_v2(to, g, d, 0, k, &q); }
int cudaGraphExecNodeSetParams(void *x, void *n, np *p) { np q = inside(*p); return cuGraphExecNodeSetParams(x, n, &q); }
#endif

#if defined(USE_HIP) || defined(USE_CUDA) || defined(USE_CUDART)
#define FUNCTIONS(X) X(GraphCreate, (void **, unsigned)) X(GraphDestroy, (void *)) X(GraphExecDestroy, (void *)) X(GraphClone, (void **, void *)) \
    X(GraphDestroyNode, (void *)) X(GraphAddChildGraphNode, (void **, void *, void **, size_t, void *)) \
    X(GraphExecChildGraphNodeSetParams, (void *, void *, void *)) X(GraphNodeSetEnabled, (void *, void *, unsigned)) \
    X(GraphUpload, (void *, void *)) X(GraphLaunch, (void *, void *)) X(StreamEndCapture, (void *, void **)) \
    X(StreamBeginCaptureToGraph, (void *, void *, void **, void *, size_t, int)) X(GraphInstantiateWithFlags, (void **, void *, uint64_t)) \
    X(GraphInstantiateWithParams, (void **, void *, ip *)) X(GraphExecNodeSetParams, (void *, void *, np *))
#ifdef USE_CUDA
#define VERSIONED(X) X(StreamBeginCapture, _v2, (void *, int)) X(GraphAddKernelNode, _v2, (void **, void *, void **, size_t, kp *)) \
    X(GraphAddNode, _v2, (void **, void *, void **, void *, size_t, np *)) X(GraphKernelNodeSetParams, _v2, (void *, kp *)) \
    X(GraphExecKernelNodeSetParams, _v2, (void *, void *, kp *)) X(GraphExecUpdate, _v2, (void *, void *, void *))
#else
#define VERSIONED(X) X(StreamBeginCapture, , (void *, int)) X(GraphAddKernelNode, , (void **, void *, void **, size_t, kp *)) \
    X(GraphAddNode, , (void **, void *, void **, size_t, np *)) X(GraphKernelNodeSetParams, , (void *, kp *)) \
    X(GraphExecKernelNodeSetParams, , (void *, void *, kp *)) X(GraphExecUpdate, , (void *, void *, void *))
#endif
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)
#ifdef BYNAME
#define DECLARE(n, sig) static int (*n) sig;
#define DECLARE_VERSIONED(n, v, sig) static int (*n) sig;
#else
#define DECLARE(n, sig) int N(n) sig; static int (*n) sig = N(n);
#define DECLARE_VERSIONED(n, v, sig) int CAT(N(n), v) sig; static int (*n) sig = CAT(N(n), v);
#endif
FUNCTIONS(DECLARE)
VERSIONED(DECLARE_VERSIONED)
static void *f[6], *stream = (void *)0x5000;
static const char *names[] = {"k0", "k1", "k2", "k3", "k4", "k5"};

#ifdef USE_CUDA
int cuModuleGetFunction(void **, void *, const char *), cuGetProcAddress_v2(const char *, void **, int, uint64_t, void *), cuLaunchKernelAnew(void *);
int cuLaunchKernel(void *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, void *, void **, void **);
static void launch(int k) { cuLaunchKernel(f[k], 2, 1, 1, 64, 1, 1, 0, stream, 0, 0); }
static void begin(void) { for (int i = 0; i < 6; i++) cuModuleGetFunction(&f[i], 0, names[i]); }
static void add_node(void **to, void *g, np *p) { GraphAddNode(to, g, 0, 0, 0, p); }
#else
int N(LaunchKernel)(void *, dim3, dim3, void **, size_t, void *);
void **REGISTER(RegisterFatBinary)(void *);
void REGISTER(RegisterFunction)(void **, void *, char *, const char *, unsigned, void *, void *, void *, void *, int *);
static char stubs[6];
static struct { uint32_t magic, version; void *binary, *unused; } wrapper = {0x48495046, 1, stubs, 0};
static void launch(int k) { dim3 g = {2, 1, 1}, b = {64, 1, 1}; N(LaunchKernel)(f[k], g, b, 0, 0, stream); }
static void begin(void) { void **m = REGISTER(RegisterFatBinary)(&wrapper); for (int i = 0; i < 6; i++) { f[i] = &stubs[i]; REGISTER(RegisterFunction)(m, f[i], 0, names[i], 0, 0, 0, 0, 0, 0); } }
static void add_node(void **to, void *g, np *p) { GraphAddNode(to, g, 0, 0, p); }
#endif
static kp params(int k) { kp p = PARAMS(f[k]); return p; }
static np any(int k) { np p = {0}; p.kernel = params(k); return p; }
static void replay(void *x, int times) { while (times--) GraphLaunch(x, stream); }

int main(int argc, char **argv) {
    void *g1, *g2, *g2b, *g3, *g3b, *g4, *x, *x1, *x5, *x6, *n1, *n2, *c, *c4, *n;
    const char *mode = argc > 1 ? argv[1] : "";
#ifdef BYNAME
#ifdef USE_CUDA
#define FIND(n) cuGetProcAddress_v2("cu" #n, (void **)&n, 12040, 0, 0);
#else
    void *library = dlopen(TEXT(LIBRARY), RTLD_NOW);
#define FIND(n) n = dlsym(library, TEXT(N(n)));
#endif
#define FIND_PLAIN(n, sig) FIND(n) if (!n) return 9;
#define FIND_VERSIONED(n, v, sig) FIND(n) if (!n) return 9;
    FUNCTIONS(FIND_PLAIN) VERSIONED(FIND_VERSIONED)
#endif
    begin();
#ifdef ANEW
    /* The program is built against an unknown release. */
    N(LaunchKernelAnew)(f[0]);
    launch(1);
    return 0;
#endif
    if (!strcmp(mode, "conditional") || !strcmp(mode, "device")) {
        np p = any(1);
        GraphCreate(&g1, 0);
        add_node(&n, g1, &p);
        p.type = 13;
        if (mode[0] == 'c') add_node(&n, g1, &p);
        GraphInstantiateWithFlags(&x, g1, mode[0] == 'd' ? 4 : 0);
        replay(x, 7);
        return 0;
    }
    /* Captured, replayed, and updated to another. */
    StreamBeginCapture(stream, 0); launch(0); launch(0); StreamEndCapture(stream, &g1);
    GraphInstantiateWithFlags(&x1, g1, 0); GraphUpload(x1, stream); replay(x1, 3);
    /* Added explicitly. */
    GraphCreate(&g2, 0);
    kp p = params(1); GraphAddKernelNode(&n1, g2, 0, 0, &p);
    np q = any(2); add_node(&n2, g2, &q);
    GraphInstantiateWithFlags(&x, g2, 0); replay(x, 2);
    /* Captured into the graph. */
    StreamBeginCaptureToGraph(stream, g2, 0, 0, 0, 0); launch(3); StreamEndCapture(stream, &g2);
    ip with = {0, 0, 0, 0}; GraphInstantiateWithParams(&x, g2, &with); replay(x, 1);
    /* Cloned. */
    GraphClone(&g2b, g2); GraphInstantiateWithFlags(&x, g2b, 0); replay(x, 1);
    /* Nested two levels deep. */
    GraphCreate(&g3, 0); p = params(4); GraphAddKernelNode(&n, g3, 0, 0, &p); GraphAddChildGraphNode(&c, g3, 0, 0, g2);
    GraphCreate(&g4, 0); p = params(0); GraphAddKernelNode(&n, g4, 0, 0, &p); GraphAddChildGraphNode(&c4, g4, 0, 0, g3);
    GraphInstantiateWithFlags(&x5, g4, 0); replay(x5, 2);
    /* Changed before and after it became executable. */
    p = params(5); GraphKernelNodeSetParams(n1, &p);
    GraphInstantiateWithFlags(&x6, g2, 0); replay(x6, 1);
    p = params(4); GraphExecKernelNodeSetParams(x6, n2, &p); replay(x6, 1);
    q = any(0); GraphExecNodeSetParams(x6, n1, &q); replay(x6, 1);
    GraphNodeSetEnabled(x6, n2, 0); replay(x6, 1);
    GraphNodeSetEnabled(x6, n2, 1); replay(x6, 1);
    GraphDestroyNode(n2); GraphInstantiateWithFlags(&x, g2, 0); replay(x, 1);
    GraphCreate(&g3b, 0); p = params(5); GraphAddKernelNode(&n, g3b, 0, 0, &p); GraphAddChildGraphNode(&c, g3b, 0, 0, g2);
    GraphExecChildGraphNodeSetParams(x5, c4, g3b); replay(x5, 3);
    StreamBeginCapture(stream, 0); launch(3); launch(3); StreamEndCapture(stream, &g1);
    GraphExecUpdate(x1, g1, 0); replay(x1, 2);
    launch(2);
    GraphExecDestroy(x1); GraphDestroy(g1);
    return 0;
}
#endif
