// Reads questions (operation, type, columns, sizes) and lets the Metal backend of a tree compute each of them on a device that is not there.
#include "ggml.h"
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-metal.h"
#include <cstdio>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

static ggml_type type_of(const char * name) {
    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        const char * known = ggml_type_name((ggml_type) i);
        if (known && strcasecmp(known, name) == 0) { return (ggml_type) i; }
    }
    return GGML_TYPE_COUNT;
}

int main() {
    ggml_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    char op[32], kind[32]; long n, a, b, c, d, e;
    while (scanf("%31s %31s %ld %ld %ld %ld %ld %ld", op, kind, &n, &a, &b, &c, &d, &e) == 8) {
        printf("%s %s %ld %ld %ld %ld %ld %ld", op, kind, n, a, b, c, d, e);
        fflush(stdout);
        // A failed assertion of the backend must not end the other questions.
        if (fork() == 0) {
            ggml_backend_dev_t dev = ggml_backend_reg_dev_get(ggml_backend_metal_reg(), 0);
            ggml_backend_t backend = ggml_backend_dev_init(dev, nullptr);
            ggml_type type = type_of(kind);
            ggml_context * ctx = ggml_init({ 1u << 20, nullptr, true });
            ggml_tensor * out = nullptr;
            if (strcmp(op, "mul_mat") == 0) {
                out = ggml_mul_mat(ctx, ggml_new_tensor_2d(ctx, type, b, a), ggml_new_tensor_2d(ctx, GGML_TYPE_F32, b, n));
            } else if (strcmp(op, "mul_mat_id") == 0) {
                out = ggml_mul_mat_id(ctx, ggml_new_tensor_3d(ctx, type, b, a, c), ggml_new_tensor_3d(ctx, GGML_TYPE_F32, b, 1, n), ggml_new_tensor_2d(ctx, GGML_TYPE_I32, d, n));
            } else {
                // Heads come after tokens in memory, as in a KV cache.
                auto view = [&](ggml_type type, long tokens, long heads) { return ggml_permute(ctx, ggml_new_tensor_3d(ctx, type, a, heads, tokens), 0, 2, 1, 3); };
                ggml_tensor * mask = e ? ggml_new_tensor_2d(ctx, GGML_TYPE_F16, d, n) : nullptr;
                out = ggml_flash_attn_ext(ctx, view(GGML_TYPE_F32, n, b), view(type, d, c), view(type, d, c), mask, 0.088f, 0, 0);
            }
            ggml_cgraph * graph = ggml_new_graph(ctx);
            ggml_build_forward_expand(graph, out);
            if (!ggml_backend_supports_op(backend, out)) { printf("\tunsupported"); fflush(stdout); _exit(0); }
            ggml_backend_alloc_ctx_tensors(ctx, backend);
            ggml_backend_graph_compute_async(backend, graph);
            fflush(stdout);
            _exit(0);
        }
        int status = 0;
        wait(&status);
        printf(status ? "\tabort\n" : "\n");
        fflush(stdout);
    }
}
