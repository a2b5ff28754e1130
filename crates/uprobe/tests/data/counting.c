/* A runtime that launches nothing and counts the launches of a real one, with graphs that behave like real ones: clones, graphs in
   graphs, nodes that are changed, disabled and removed, captures into graphs. With -DRUNTIME the runtime (HIP, or with -DCUDA the
   CUDA driver), else the program. The truth is the runtime's count by kernel; the width of the grid identifies a kernel. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { unsigned x, y, z; } dim3;
enum { KERNEL = 0, MEMSET = 2, CHILD = 4, CONDITIONAL = 13 };
#ifdef CUDA
#define N(name) cu##name
#define V2(name) cu##name##_v2
typedef struct { void *function; dim3 grid, block; unsigned shared; void **args, **extra; void *kernel, *context; } params_t;
#else
#define N(name) hip##name
#define V2(name) hip##name
typedef struct { dim3 block; void **extra; void *function; dim3 grid; void **args; unsigned shared; } params_t;
#endif
typedef struct { int type, reserved[3]; union { long all[29]; params_t kernel; void *graph; }; } any_t;
typedef struct { unsigned long flags; void *stream, *node; int result; } making_t;
typedef struct { void *function; dim3 grid, block; void **args; size_t shared; void *stream; } each_t;

#ifdef CUDA
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
int cuGraphAddNode_v2(void **, void *, void **, const void *, size_t, any_t *);
#else
int hipLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int hipLaunchCooperativeKernelMultiDevice(each_t *, int, unsigned);
int hipGraphAddNode(void **, void *, void **, size_t, any_t *);
#endif
int V2(StreamBeginCapture)(void *, int);
int N(StreamBeginCaptureToGraph)(void *, void *, void **, const void *, size_t, int);
int N(StreamEndCapture)(void *, void **);
int N(GraphCreate)(void **, unsigned);
int N(GraphClone)(void **, void *);
int N(GraphDestroy)(void *);
int V2(GraphAddKernelNode)(void **, void *, void **, size_t, const params_t *);
int N(GraphAddChildGraphNode)(void **, void *, void **, size_t, void *);
int N(GraphChildGraphNodeGetGraph)(void *, void **);
int N(GraphNodeFindInClone)(void **, void *, void *);
int N(GraphDestroyNode)(void *);
int V2(GraphKernelNodeSetParams)(void *, const params_t *);
int V2(GraphKernelNodeGetParams)(void *, params_t *);
int N(GraphGetNodes)(void *, void **, size_t *);
int N(GraphInstantiateWithFlags)(void **, void *, unsigned long);
int N(GraphInstantiateWithParams)(void **, void *, making_t *);
int V2(GraphExecKernelNodeSetParams)(void *, void *, const params_t *);
int N(GraphExecNodeSetParams)(void *, void *, any_t *);
int N(GraphExecChildGraphNodeSetParams)(void *, void *, void *);
int N(GraphNodeSetEnabled)(void *, void *, unsigned);
int V2(GraphExecUpdate)(void *, void *, void *, void *);
int N(GraphExecDestroy)(void *);
int N(GraphLaunch)(void *, void *);
int N(EventRecord)(void *, void *);
int N(StreamWaitEvent)(void *, void *, unsigned);
/* Functions that no real version has. */
int N(LaunchKernelOnTuesdays)(unsigned, void *);
int N(GraphAddQuietly)(void *, unsigned);
void stand_in_truth(FILE *);

#ifdef RUNTIME
struct graph;
struct node { int type, on; params_t params; struct graph *child; struct node *origin, *next; struct graph *in; };
struct graph { struct node *first; };
struct stream { struct graph *capture; };
static unsigned long truth[64];

static void launched(const params_t *p) { truth[p->grid.x % 64]++; }
static struct node *append(struct graph *g, int type) {
    struct node *n = calloc(1, sizeof *n), **at = &g->first;
    while (*at) at = &(*at)->next;
    n->type = type, n->on = 1, n->in = g;
    return *at = n;
}
static struct graph *copy(struct graph *g) {
    struct graph *made = calloc(1, sizeof *made);
    for (struct node *n = g->first; n; n = n->next) {
        struct node *m = append(made, n->type);
        m->params = n->params, m->on = n->on, m->origin = n;
        if (n->child) m->child = copy(n->child);
    }
    return made;
}
static void replay(struct graph *g) {
    for (struct node *n = g->first; n; n = n->next) {
        if (n->type == KERNEL && n->on) launched(&n->params);
        if (n->child) replay(n->child);
    }
}
static struct node *of(struct graph *g, struct node *origin) {
    for (struct node *n = g->first; n; n = n->next) {
        struct node *found = n->origin == origin ? n : n->child ? of(n->child, origin) : 0;
        if (found) return found;
    }
    return 0;
}
static int kernel(struct stream *s, const params_t *p) {
    if (s && s->capture) append(s->capture, KERNEL)->params = *p;
    else launched(p);
    return 0;
}
#ifdef CUDA
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *s, void **a, void **e) {
    params_t p = {.function = f, .grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared, .args = a, .extra = e};
    return f ? kernel(s, &p) : 1;
}
#else
int hipLaunchKernel(const void *f, dim3 g, dim3 b, void **a, size_t shared, void *s) {
    params_t p = {.function = (void *)f, .grid = g, .block = b, .shared = (unsigned)shared, .args = a};
    return f ? kernel(s, &p) : 1;
}
int hipLaunchCooperativeKernelMultiDevice(each_t *list, int count, unsigned flags) {
    (void)flags;
    for (int i = 0; i < count; i++) {
        params_t p = {.function = list[i].function, .grid = list[i].grid, .block = list[i].block};
        kernel(list[i].stream, &p);
    }
    return 0;
}
#endif
int V2(StreamBeginCapture)(void *s, int m) { (void)m; ((struct stream *)s)->capture = calloc(1, sizeof(struct graph)); return 0; }
int N(StreamBeginCaptureToGraph)(void *s, void *g, void **d, const void *e, size_t n, int m) {
    (void)d, (void)e, (void)n, (void)m;
    ((struct stream *)s)->capture = g;
    return 0;
}
static struct stream *joined[8];
int N(StreamEndCapture)(void *s, void **g) {
    struct stream *stream = s;
    if (!stream->capture) return 1;
    *g = stream->capture;
    for (int i = 0; i < 8; i++) if (joined[i] && joined[i]->capture == *g) joined[i]->capture = 0, joined[i] = 0;
    stream->capture = 0;
    return 0;
}
int N(EventRecord)(void *e, void *s) { *(struct graph **)e = ((struct stream *)s)->capture; return 0; }
int N(StreamWaitEvent)(void *s, void *e, unsigned f) {
    struct graph *capture = *(struct graph **)e;
    (void)f;
    for (int i = 0; capture && !((struct stream *)s)->capture && i < 8; i++) if (!joined[i]) { joined[i] = s, joined[i]->capture = capture; break; }
    return 0;
}
int N(GraphCreate)(void **g, unsigned f) { (void)f; return !(*g = calloc(1, sizeof(struct graph))); }
int N(GraphClone)(void **to, void *g) { *to = copy(g); return 0; }
int N(GraphDestroy)(void *g) { ((struct graph *)g)->first = 0; return 0; }
int V2(GraphAddKernelNode)(void **n, void *g, void **d, size_t k, const params_t *p) {
    (void)d, (void)k;
    if (!p->function) return 1;
    struct node *made = append(g, KERNEL);
    made->params = *p;
    *n = made;
    return 0;
}
static int any(void **n, void *g, any_t *p) {
    struct node *made = append(g, p->type);
    if (p->type == KERNEL) made->params = p->kernel;
    if (p->type == CHILD) made->child = copy(p->graph);
    *n = made;
    return 0;
}
#ifdef CUDA
int cuGraphAddNode_v2(void **n, void *g, void **d, const void *e, size_t k, any_t *p) { (void)d, (void)e, (void)k; return any(n, g, p); }
#else
int hipGraphAddNode(void **n, void *g, void **d, size_t k, any_t *p) { (void)d, (void)k; return any(n, g, p); }
#endif
int N(GraphAddChildGraphNode)(void **n, void *g, void **d, size_t k, void *c) {
    any_t p = {.type = CHILD, .graph = c};
    (void)d, (void)k;
    return any(n, g, &p);
}
int N(GraphChildGraphNodeGetGraph)(void *n, void **g) { return !(*g = ((struct node *)n)->child); }
int N(GraphNodeFindInClone)(void **n, void *o, void *g) { return !(*n = of(g, o)); }
int N(GraphDestroyNode)(void *n) {
    struct node **at = &((struct node *)n)->in->first;
    while (*at && *at != n) at = &(*at)->next;
    if (*at) *at = (*at)->next;
    return 0;
}
int V2(GraphKernelNodeSetParams)(void *n, const params_t *p) { ((struct node *)n)->params = *p; return 0; }
int V2(GraphKernelNodeGetParams)(void *n, params_t *p) { *p = ((struct node *)n)->params; return ((struct node *)n)->type != KERNEL; }
int N(GraphGetNodes)(void *g, void **list, size_t *count) {
    size_t have = 0;
    for (struct node *n = ((struct graph *)g)->first; n; n = n->next, have++) if (list && have < *count) list[have] = n;
    *count = have;
    return 0;
}
int N(GraphInstantiateWithFlags)(void **x, void *g, unsigned long f) { (void)f; *x = copy(g); return 0; }
int N(GraphInstantiateWithParams)(void **x, void *g, making_t *p) { (void)p; *x = copy(g); return 0; }
static int set(void *x, void *n, const params_t *p) {
    struct node *found = of(x, n);
    if (found) found->params = *p;
    return !found;
}
int V2(GraphExecKernelNodeSetParams)(void *x, void *n, const params_t *p) { return set(x, n, p); }
int N(GraphExecNodeSetParams)(void *x, void *n, any_t *p) { return p->type == KERNEL ? set(x, n, &p->kernel) : 1; }
int N(GraphExecChildGraphNodeSetParams)(void *x, void *n, void *g) {
    struct node *found = of(x, n);
    if (found) found->child = copy(g);
    return !found;
}
int N(GraphNodeSetEnabled)(void *x, void *n, unsigned on) {
    struct node *found = of(x, n);
    if (found) found->on = (int)on;
    return !found;
}
int V2(GraphExecUpdate)(void *x, void *g, void *a, void *b) {
    size_t had, have;
    (void)a, (void)b;
    N(GraphGetNodes)(x, 0, &had), N(GraphGetNodes)(g, 0, &have);
    if (had != have) return 910;
    ((struct graph *)x)->first = copy(g)->first;
    return 0;
}
int N(GraphExecDestroy)(void *x) { ((struct graph *)x)->first = 0; return 0; }
int N(GraphLaunch)(void *x, void *s) {
    struct stream *stream = s;
    if (!x) return 1;
    if (stream && stream->capture) append(stream->capture, CHILD)->child = copy(x);
    else replay(x);
    return 0;
}
int N(LaunchKernelOnTuesdays)(unsigned k, void *s) { params_t p = {.grid = {k, 1, 1}}; return kernel(s, &p); }
int N(GraphAddQuietly)(void *g, unsigned k) { append(g, KERNEL)->params.grid.x = k; return 0; }
void stand_in_truth(FILE *to) { for (int i = 0; i < 64; i++) if (truth[i]) fprintf(to, "kernel %d %lu\n", i, truth[i]); fflush(to); }

#else
static char handles[64];
static void *stream(void) { return calloc(1, 64); }
static params_t node(unsigned kernel) { return (params_t){.function = &handles[kernel], .grid = {kernel, 1, 1}, .block = {64, 1, 1}}; }
static void launch(unsigned kernel, void *s) {
#ifdef CUDA
    cuLaunchKernel(&handles[kernel], kernel, 1, 1, 64, 1, 1, 0, s, 0, 0);
#else
    hipLaunchKernel(&handles[kernel], (dim3){kernel, 1, 1}, (dim3){64, 1, 1}, 0, 0, s);
#endif
}
static void *kernel_node(void *graph, unsigned kernel) {
    params_t params = node(kernel);
    void *made = 0;
    V2(GraphAddKernelNode)(&made, graph, 0, 0, &params);
    return made;
}
static void *any_node(void *graph, any_t params) {
    void *made = 0;
#ifdef CUDA
    cuGraphAddNode_v2(&made, graph, 0, 0, 0, &params);
#else
    hipGraphAddNode(&made, graph, 0, 0, &params);
#endif
    return made;
}
static void *exec_of(void *graph) {
    void *exec = 0;
    N(GraphInstantiateWithFlags)(&exec, graph, 0);
    return exec;
}
static void times(int count, void *exec, void *s) { for (int i = 0; i < count; i++) N(GraphLaunch)(exec, s); }

static void everything(void) {
    void *s = stream(), *other = stream(), *event = calloc(1, 64), *captured, *built, *cloned, *outer, *inner, *again, *found, *list[8];
    /* Captured, with a second stream that joins. */
    V2(StreamBeginCapture)(s, 0);
    launch(1, s);
    N(EventRecord)(event, s), N(StreamWaitEvent)(other, event, 0);
    launch(2, other), launch(2, other);
    N(StreamEndCapture)(s, &captured);
    launch(1, s), launch(2, other);
    void *replayed = exec_of(captured);
    times(5, replayed, s);
    /* Nodes added by both functions; a fill, which is not a kernel. */
    N(GraphCreate)(&built, 0);
    void *three = kernel_node(built, 3);
    void *four = any_node(built, (any_t){.type = KERNEL, .kernel = node(4)});
    any_node(built, (any_t){.type = MEMSET});
    void *x = 0;
    making_t making = {0};
    N(GraphInstantiateWithParams)(&x, built, &making);
    times(3, x, s);
    /* A capture into the graph, and a graph that is launched during a capture. */
    N(StreamBeginCaptureToGraph)(s, built, 0, 0, 0, 0);
    launch(5, s);
    N(StreamEndCapture)(s, &again);
    void *y = exec_of(again);
    times(2, y, s);
    V2(StreamBeginCapture)(s, 0);
    N(GraphLaunch)(y, s);
    launch(6, s);
    N(StreamEndCapture)(s, &again);
    times(4, exec_of(again), s);
    /* A clone with a changed node; the original is unchanged. */
    N(GraphClone)(&cloned, built);
    N(GraphNodeFindInClone)(&found, three, cloned);
    params_t seven = node(7);
    V2(GraphKernelNodeSetParams)(found, &seven);
    times(3, exec_of(cloned), s), times(1, exec_of(built), s);
    /* Graphs in a graph: one by its own function, one by the generic one; a node is added to the inner graph. */
    N(GraphCreate)(&outer, 0);
    void *child;
    N(GraphAddChildGraphNode)(&child, outer, 0, 0, captured);
    any_node(outer, (any_t){.type = CHILD, .graph = cloned});
    N(GraphChildGraphNodeGetGraph)(child, &inner);
    kernel_node(inner, 8);
    void *nested = exec_of(outer);
    times(2, nested, s), times(2, exec_of(captured), s);
    N(GraphExecChildGraphNodeSetParams)(nested, child, built);
    times(2, nested, s);
    /* Nodes of an executable graph: changed, disabled, enabled, changed by the generic function; one is removed. */
    params_t nine = node(9);
    V2(GraphExecKernelNodeSetParams)(x, four, &nine);
    times(2, x, s);
    N(GraphNodeSetEnabled)(x, three, 0);
    times(2, x, s);
    N(GraphNodeSetEnabled)(x, three, 1);
    any_t ten = {.type = KERNEL, .kernel = node(10)};
    N(GraphExecNodeSetParams)(x, four, &ten);
    times(2, x, s);
    N(GraphDestroyNode)(four);
    times(1, exec_of(built), s);
    /* A captured node, queried and changed. */
    size_t count = 8;
    N(GraphGetNodes)(captured, list, &count);
    params_t was;
    V2(GraphKernelNodeGetParams)(list[0], &was);
    params_t eleven = node(11);
    V2(GraphExecKernelNodeSetParams)(replayed, list[0], &eleven);
    times(3, replayed, s);
    /* An update that is accepted and one that is refused; a refused launch. */
    N(GraphCreate)(&again, 0);
    kernel_node(again, 12), kernel_node(again, 12), kernel_node(again, 13);
    V2(GraphExecUpdate)(replayed, again, 0, 0);
    times(2, replayed, s);
    kernel_node(again, 14);
    V2(GraphExecUpdate)(replayed, again, 0, 0);
    times(2, replayed, s);
    N(GraphLaunch)(0, s);
    /* Destroyed; another graph gets its address. */
    N(GraphExecDestroy)(x), N(GraphDestroy)(cloned);
#ifndef CUDA
    each_t each[2] = {{.function = &handles[15], .grid = {15, 1, 1}, .block = {64, 1, 1}}, {.function = &handles[16], .grid = {16, 1, 1}, .block = {64, 1, 1}}};
    hipLaunchCooperativeKernelMultiDevice(each, 2, 0);
#endif
}

static void news(void) {
    void *s = stream(), *graph;
    launch(1, s);
    for (int i = 0; i < 3; i++) N(LaunchKernelOnTuesdays)(2, s);
    N(GraphCreate)(&graph, 0);
    kernel_node(graph, 3);
    N(GraphAddQuietly)(graph, 4);
    times(2, exec_of(graph), s);
}

static void decided_elsewhere(void) {
    void *s = stream(), *graph, *exec;
    N(GraphCreate)(&graph, 0);
    kernel_node(graph, 1);
    any_node(graph, (any_t){.type = CONDITIONAL});
    times(2, exec_of(graph), s);
    N(GraphCreate)(&graph, 0);
    kernel_node(graph, 2);
    N(GraphInstantiateWithFlags)(&exec, graph, 4);
    times(1, exec, s);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "everything";
    char line[8];
    void *s = 0, *early = 0;
    if (argc > 2) {
        /* A capture is in progress and a graph exists when an observer attaches. */
        if (!strcmp(mode, "early")) {
            s = stream(), early = 0;
            N(GraphCreate)(&early, 0);
            kernel_node(early, 1), kernel_node(early, 2);
            early = exec_of(early);
            V2(StreamBeginCapture)(s, 0);
            launch(3, s);
        }
        printf("ready\n");
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin)) return 2;
    }
    if (!strcmp(mode, "news")) news();
    else if (!strcmp(mode, "elsewhere")) decided_elsewhere();
    else if (early) {
        void *graph;
        launch(3, s), launch(3, s);
        N(StreamEndCapture)(s, &graph);
        times(4, exec_of(graph), s), times(3, early, s);
        launch(4, s);
    } else everything();
    stand_in_truth(stdout);
    return 0;
}
#endif
