// Small graphs, mostly of one operation, by name: `nodes` lists them; `nodes NAME` computes one on the first GPU and writes it
// in the format of `whichkernel source --graph`. record-nodes.py creates the golden file from this and the dry run.
#include "ggml.h"
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ggml_backend_t backend;
static struct ggml_context *model, *context;

static void fresh(void) {
    struct ggml_init_params params = {ggml_tensor_overhead() * 256 + ggml_graph_overhead(), NULL, true};
    model = ggml_init(params);
    context = ggml_init(params);
}

static struct ggml_tensor *weight(enum ggml_type type, int64_t a, int64_t b, int64_t c, int64_t d) { return ggml_new_tensor_4d(model, type, a, b, c, d); }
static struct ggml_tensor *input(enum ggml_type type, int64_t a, int64_t b, int64_t c, int64_t d) { return ggml_new_tensor_4d(context, type, a, b, c, d); }
static struct ggml_tensor *f32(int64_t a, int64_t b, int64_t c, int64_t d) { return input(GGML_TYPE_F32, a, b, c, d); }

static const struct ggml_tensor *known[256];
static int count;

static int number(const struct ggml_tensor *t) {
    for (int i = 0; i < count; i++) if (known[i] == t) return i;
    return -1;
}

static void tell(const struct ggml_tensor *t) {
    if (number(t) >= 0) return;
    for (int i = 0; i < GGML_MAX_SRC; i++) if (t->src[i]) tell(t->src[i]);
    if (t->view_src) tell(t->view_src);
    known[count++] = t;
    printf("t%d = ", count - 1);
    if (t->op != GGML_OP_NONE) printf("%s ", ggml_op_name(t->op));
    char type[64];
    snprintf(type, sizeof type, "%s", ggml_type_name(t->type));
    for (char *c = type; *c; c++) if (*c >= 'a' && *c <= 'z') *c -= 32;
    printf("%s %ld,%ld,%ld,%ld strides %zu,%zu,%zu,%zu", type, (long) t->ne[0], (long) t->ne[1], (long) t->ne[2], (long) t->ne[3], t->nb[0], t->nb[1], t->nb[2], t->nb[3]);
    if (t->view_src) printf(" of t%d+%zu", number(t->view_src), t->view_offs);
    int last = GGML_MAX_SRC;
    while (last > 0 && !t->src[last - 1]) last--;
    for (int i = 0; i < last; i++) {
        printf(i ? "," : " from ");
        if (t->src[i]) printf("t%d", number(t->src[i])); else printf("-");
    }
    int words = GGML_MAX_OP_PARAMS / 4;
    while (words > 0 && !t->op_params[words - 1]) words--;
    for (int i = 0; i < words; i++) {
        printf(i ? "," : " with ");
        // No integer parameter is as large as the bits of a float.
        float real;
        memcpy(&real, &t->op_params[i], 4);
        if (t->op_params[i] > 1 << 23 || t->op_params[i] < -(1 << 23)) printf("%.9gf", real); else printf("%d", t->op_params[i]);
    }
    if (t->buffer && ggml_backend_buffer_get_usage(t->buffer) == GGML_BACKEND_BUFFER_USAGE_WEIGHTS) printf(" weights");
    printf("\n");
}

static const char *only;

// Indices of rows, experts and sequences: any valid ones.
static void fill(struct ggml_context *of) {
    for (struct ggml_tensor *t = ggml_get_first_tensor(of); t; t = ggml_get_next_tensor(of, t)) {
        if ((t->type != GGML_TYPE_I32 && t->type != GGML_TYPE_I64) || t->op != GGML_OP_NONE) continue;
        int64_t n = ggml_nelements(t);
        char *data = calloc(n, ggml_type_size(t->type));
        for (int64_t i = 0; i < n; i++) {
            if (t->type == GGML_TYPE_I64) ((int64_t *) data)[i] = i; else ((int32_t *) data)[i] = (int32_t) (i % 2);
        }
        ggml_backend_tensor_set(t, data, 0, ggml_nbytes(t));
        free(data);
    }
}

static void run(const char *name, struct ggml_tensor *result) {
    if (!only || strcmp(only, name) != 0) {
        if (!only) printf("* %s\n", name);
        ggml_free(context);
        ggml_free(model);
        fresh();
        return;
    }
    struct ggml_cgraph *graph = ggml_new_graph(context);
    ggml_build_forward_expand(graph, result);
    ggml_backend_buffer_t weights = ggml_backend_alloc_ctx_tensors(model, backend);
    if (weights) ggml_backend_buffer_set_usage(weights, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    ggml_backend_buffer_t rest = ggml_backend_alloc_ctx_tensors(context, backend);
    int supported = 1;
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) supported &= ggml_backend_supports_op(backend, ggml_graph_node(graph, i));
    if (supported) {
        printf("= %s\n", name);
        count = 0;
        for (int i = 0; i < ggml_graph_n_nodes(graph); i++) tell(ggml_graph_node(graph, i));
        fflush(stdout);
        fill(context);
        ggml_backend_graph_compute(backend, graph);
        ggml_backend_synchronize(backend);
        printf("! computed\n");
    } else {
        fprintf(stderr, "%s: not supported\n", name);
    }
    ggml_backend_buffer_free(weights);
    ggml_backend_buffer_free(rest);
    ggml_free(context);
    ggml_free(model);
    fresh();
}

static void products(void) {
    struct ggml_tensor *w, *x;
    // Attention without flash attention: a K cache of F16, heads of several tokens, grouped.
    w = ggml_permute(context, input(GGML_TYPE_F16, 128, 8, 256, 1), 0, 2, 1, 3);
    run("mul-mat-kq-1", ggml_mul_mat(context, w, ggml_permute(context, f32(128, 32, 1, 1), 0, 2, 1, 3)));
    w = ggml_permute(context, input(GGML_TYPE_F16, 128, 8, 512, 1), 0, 2, 1, 3);
    run("mul-mat-kq-512", ggml_mul_mat(context, w, ggml_permute(context, f32(128, 32, 512, 1), 0, 2, 1, 3)));
    w = input(GGML_TYPE_F16, 256, 128, 8, 1);
    run("mul-mat-kqv-1", ggml_mul_mat(context, w, f32(256, 1, 32, 1)));
    w = input(GGML_TYPE_F16, 512, 128, 8, 1);
    run("mul-mat-kqv-512", ggml_mul_mat(context, w, f32(512, 512, 32, 1)));
    // Several streams.
    w = input(GGML_TYPE_F16, 128, 256, 8, 4);
    run("mul-mat-streams-kq", ggml_mul_mat(context, w, f32(128, 16, 32, 4)));
    w = input(GGML_TYPE_F16, 256, 128, 8, 4);
    run("mul-mat-streams-kqv", ggml_mul_mat(context, w, f32(256, 16, 32, 4)));
    w = input(GGML_TYPE_F16, 128, 256, 32, 1);
    run("mul-mat-strided", ggml_mul_mat(context, w, f32(128, 64, 32, 1)));
    w = input(GGML_TYPE_F32, 128, 256, 4, 1);
    run("mul-mat-strided-f32", ggml_mul_mat(context, w, f32(128, 64, 4, 1)));
    w = input(GGML_TYPE_BF16, 1024, 1024, 1, 1);
    run("mul-mat-bf16", ggml_mul_mat(context, w, f32(1024, 256, 1, 1)));
    w = weight(GGML_TYPE_Q4_K, 4096, 1024, 2, 1);
    run("mul-mat-batched-q4", ggml_mul_mat(context, w, f32(4096, 96, 4, 1)));
    x = f32(4096, 512, 1, 1);
    w = weight(GGML_TYPE_F32, 4096, 128, 1, 1);
    run("mul-mat-router", ggml_mul_mat(context, w, x));
    // Experts: by the id kernels, or sorted on the host if no kernel supports the type.
    struct ggml_tensor *ids = input(GGML_TYPE_I32, 2, 1, 1, 1);
    w = weight(GGML_TYPE_Q4_K, 4096, 1024, 8, 1);
    run("mul-mat-id-1", ggml_mul_mat_id(context, w, f32(4096, 1, 1, 1), ids));
    ids = input(GGML_TYPE_I32, 2, 64, 1, 1);
    w = weight(GGML_TYPE_Q4_K, 4096, 1024, 8, 1);
    run("mul-mat-id-64", ggml_mul_mat_id(context, w, f32(4096, 1, 64, 1), ids));
    ids = input(GGML_TYPE_I32, 2, 64, 1, 1);
    w = weight(GGML_TYPE_F32, 512, 256, 8, 1);
    run("mul-mat-id-sorted", ggml_mul_mat_id(context, w, f32(512, 1, 64, 1), ids));
    run("out-prod", ggml_out_prod(context, f32(256, 64, 1, 1), f32(128, 64, 1, 1)));
}

static void ropes(void) {
    int sections[4] = {16, 24, 24, 0};
    struct ggml_tensor *pos = input(GGML_TYPE_I32, 64, 1, 1, 1);
    run("rope-norm", ggml_rope_ext(context, f32(128, 32, 64, 1), pos, NULL, 128, 0, 4096, 10000, 1, 0, 1, 32, 1));
    pos = input(GGML_TYPE_I32, 64, 1, 1, 1);
    run("rope-neox", ggml_rope_ext(context, f32(128, 32, 64, 1), pos, NULL, 128, GGML_ROPE_TYPE_NEOX, 4096, 10000, 1, 0, 1, 32, 1));
    pos = input(GGML_TYPE_I32, 64, 1, 1, 1);
    run("rope-neox-partial-f16", ggml_rope_ext(context, input(GGML_TYPE_F16, 128, 32, 64, 1), pos, NULL, 64, GGML_ROPE_TYPE_NEOX, 4096, 10000, 1, 0, 1, 32, 1));
    pos = input(GGML_TYPE_I32, 64, 1, 1, 1);
    run("rope-factors", ggml_rope_ext(context, f32(128, 32, 64, 1), pos, f32(64, 1, 1, 1), 128, 0, 8192, 500000, 1, 0, 1, 32, 1));
    pos = input(GGML_TYPE_I32, 256, 1, 1, 1);
    run("rope-multi", ggml_rope_multi(context, f32(128, 16, 64, 1), pos, NULL, 128, sections, GGML_ROPE_TYPE_MROPE, 32768, 1000000, 1, 0, 1, 32, 1));
    pos = input(GGML_TYPE_I32, 256, 1, 1, 1);
    run("rope-vision", ggml_rope_multi(context, f32(80, 16, 64, 1), pos, NULL, 40, sections, GGML_ROPE_TYPE_VISION, 32768, 10000, 1, 0, 1, 32, 1));
}

static void moves(void) {
    enum ggml_type types[] = {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0, GGML_TYPE_Q4_0, GGML_TYPE_Q5_1, GGML_TYPE_IQ4_NL};
    char name[64];
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        struct ggml_tensor *rows = input(GGML_TYPE_I64, 7, 1, 1, 1), *cache = input(types[i], 1024, 4096, 1, 1);
        snprintf(name, sizeof name, "set-rows-%s", ggml_type_name(types[i]));
        run(name, ggml_set_rows(context, cache, f32(1024, 7, 1, 1), rows));
        snprintf(name, sizeof name, "cpy-%s", ggml_type_name(types[i]));
        run(name, ggml_cpy(context, f32(1024, 7, 3, 1), input(types[i], 1024, 7, 3, 1)));
        rows = input(GGML_TYPE_I32, 7, 1, 1, 1);
        snprintf(name, sizeof name, "get-rows-%s", ggml_type_name(types[i]));
        run(name, ggml_get_rows(context, input(types[i], 1024, 4096, 1, 1), rows));
    }
    struct ggml_tensor *rows = input(GGML_TYPE_I32, 5, 1, 1, 1), *cache = input(GGML_TYPE_F16, 512, 64, 1, 1);
    run("set-rows-i32", ggml_set_rows(context, cache, f32(512, 5, 1, 1), rows));
    run("cpy-f16-f32", ggml_cpy(context, input(GGML_TYPE_F16, 1024, 7, 3, 1), f32(1024, 7, 3, 1)));
    run("cpy-q8_0-f32", ggml_cpy(context, input(GGML_TYPE_Q8_0, 1024, 7, 1, 1), f32(1024, 7, 1, 1)));
    run("cpy-same", ggml_cpy(context, f32(1024, 7, 1, 1), f32(1024, 7, 1, 1)));
    run("cont-transposed", ggml_cont(context, ggml_transpose(context, f32(96, 160, 3, 1))));
    run("cont-permuted", ggml_cont(context, ggml_permute(context, f32(128, 32, 64, 1), 0, 2, 1, 3)));
    run("dup", ggml_dup(context, f32(1000, 3, 1, 1)));
    for (int dim = 0; dim < 4; dim++) {
        snprintf(name, sizeof name, "concat-%d", dim);
        run(name, ggml_concat(context, f32(64, 5, 3, 2), f32(64, 5, 3, 2), dim));
    }
    run("concat-not-contiguous", ggml_concat(context, ggml_permute(context, f32(5, 64, 3, 1), 1, 0, 2, 3), f32(64, 5, 3, 1), 1));
    run("repeat", ggml_repeat(context, f32(64, 1, 3, 1), f32(64, 8, 3, 2)));
    run("pad", ggml_pad(context, f32(60, 5, 3, 1), 4, 3, 0, 0));
    run("get-rows-back", ggml_get_rows_back(context, f32(64, 5, 1, 1), input(GGML_TYPE_I32, 5, 1, 1, 1), f32(64, 100, 1, 1)));
}

static void norms(void) {
    run("norm", ggml_norm(context, f32(768, 33, 1, 1), 1e-5f));
    run("norm-wide", ggml_norm(context, f32(4096, 33, 1, 1), 1e-5f));
    run("rms-norm", ggml_rms_norm(context, f32(768, 33, 1, 1), 1e-5f));
    run("rms-norm-heads", ggml_rms_norm(context, f32(128, 32, 33, 1), 1e-5f));
    run("l2-norm", ggml_l2_norm(context, f32(128, 32, 33, 1), 1e-5f));
    run("group-norm", ggml_group_norm(context, f32(32, 32, 64, 2), 8, 1e-6f));
    run("soft-max", ggml_soft_max_ext(context, f32(256, 1, 32, 1), f32(256, 1, 1, 1), 0.088f, 0));
    run("soft-max-f16-mask", ggml_soft_max_ext(context, f32(512, 64, 32, 1), input(GGML_TYPE_F16, 512, 64, 1, 1), 0.088f, 0));
    run("soft-max-alibi", ggml_soft_max_ext(context, f32(512, 64, 32, 1), input(GGML_TYPE_F16, 512, 64, 1, 1), 0.088f, 8));
    run("soft-max-long", ggml_soft_max_ext(context, f32(20000, 4, 8, 1), NULL, 1, 0));
    struct ggml_tensor *soft = ggml_soft_max_ext(context, f32(300, 2, 8, 1), NULL, 1, 0);
    ggml_soft_max_add_sinks(soft, f32(8, 1, 1, 1));
    run("soft-max-sinks", soft);
    run("diag-mask-inf", ggml_diag_mask_inf(context, f32(64, 32, 2, 1), 3));
    run("sum-rows", ggml_sum_rows(context, f32(300, 17, 2, 1)));
    run("sum", ggml_sum(context, f32(3000, 17, 1, 1)));
    run("mean", ggml_mean(context, f32(300, 17, 2, 1)));
    run("argmax", ggml_argmax(context, f32(32000, 7, 1, 1)));
    run("argsort", ggml_argsort(context, f32(128, 7, 1, 1), GGML_SORT_ORDER_DESC));
    run("argsort-long", ggml_argsort(context, f32(3000, 7, 1, 1), GGML_SORT_ORDER_ASC));
    run("top-k", ggml_top_k(context, f32(128, 7, 1, 1), 8));
    run("cumsum", ggml_cumsum(context, f32(300, 17, 1, 1)));
}

static void elements(void) {
    char name[64];
    enum ggml_unary_op ops[] = {GGML_UNARY_OP_SILU, GGML_UNARY_OP_GELU, GGML_UNARY_OP_RELU, GGML_UNARY_OP_SIGMOID, GGML_UNARY_OP_TANH, GGML_UNARY_OP_SOFTPLUS, GGML_UNARY_OP_EXP};
    for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) {
        snprintf(name, sizeof name, "unary-%s", ggml_unary_op_name(ops[i]));
        run(name, ggml_unary(context, f32(1000, 7, 1, 1), ops[i]));
    }
    run("unary-f16", ggml_unary(context, input(GGML_TYPE_F16, 1000, 7, 1, 1), GGML_UNARY_OP_SILU));
    run("swiglu", ggml_swiglu(context, f32(1024, 7, 1, 1)));
    run("geglu-split", ggml_geglu_split(context, f32(1024, 7, 1, 1), f32(1024, 7, 1, 1)));
    run("swiglu-oai", ggml_swiglu_oai(context, f32(1024, 7, 1, 1), f32(1024, 7, 1, 1), 1.702f, 7));
    run("add", ggml_add(context, f32(1000, 7, 1, 1), f32(1000, 7, 1, 1)));
    run("add-broadcast", ggml_add(context, f32(1000, 7, 3, 2), f32(1000, 1, 3, 1)));
    run("mul-broadcast", ggml_mul(context, f32(4096, 33, 1, 1), f32(4096, 1, 1, 1)));
    run("sub", ggml_sub(context, f32(10, 7, 300, 2), f32(10, 7, 300, 2)));
    run("div", ggml_div(context, f32(1, 70000, 1, 1), f32(1, 1, 1, 1)));
    run("add-f16", ggml_add(context, input(GGML_TYPE_F16, 1000, 7, 1, 1), f32(1000, 7, 1, 1)));
    run("add-id", ggml_add_id(context, f32(1024, 2, 7, 1), f32(1024, 8, 1, 1), input(GGML_TYPE_I32, 2, 7, 1, 1)));
    run("scale", ggml_scale(context, f32(1000, 7, 1, 1), 0.5f));
    run("clamp", ggml_clamp(context, f32(1000, 7, 1, 1), 0, 1));
    run("sqr", ggml_sqr(context, f32(1000, 7, 1, 1)));
    run("sqrt", ggml_sqrt(context, f32(1000, 7, 1, 1)));
    run("sin", ggml_sin(context, f32(1000, 7, 1, 1)));
    run("log", ggml_log(context, f32(1000, 7, 1, 1)));
    run("leaky-relu", ggml_leaky_relu(context, f32(1000, 7, 1, 1), 0.1f, false));
    run("arange", ggml_arange(context, 0, 1000, 1));
    run("timestep", ggml_timestep_embedding(context, f32(7, 1, 1, 1), 320, 10000));
    run("acc", ggml_acc(context, f32(64, 32, 1, 1), f32(32, 16, 1, 1), 256, 8192, 8192, 0));
    run("fill", ggml_fill(context, f32(1000, 7, 1, 1), 2));
}

static void states(void) {
    run("ssm-conv", ggml_ssm_conv(context, f32(4 - 1 + 7, 1536, 1, 1), f32(4, 1536, 1, 1)));
    run("ssm-conv-long", ggml_ssm_conv(context, f32(4 - 1 + 64, 1536, 2, 1), f32(4, 1536, 1, 1)));
    run("ssm-scan-1", ggml_ssm_scan(context, f32(16, 1, 1536, 1), f32(1, 1536, 1, 1), f32(1536, 1, 1, 1), f32(16, 1536, 1, 1), f32(16, 1, 1, 1), f32(16, 1, 1, 1), input(GGML_TYPE_I32, 1, 1, 1, 1), 1));
    run("ssm-scan-mamba1", ggml_ssm_scan(context, f32(16, 1, 1536, 2), f32(1, 1536, 32, 2), f32(1536, 32, 2, 1), f32(16, 1536, 1, 1), f32(16, 1, 32, 2), f32(16, 1, 32, 2), input(GGML_TYPE_I32, 2, 1, 1, 1), 1));
    run("ssm-scan-mamba2", ggml_ssm_scan(context, f32(128, 64, 48, 1), f32(64, 48, 32, 1), f32(48, 32, 1, 1), f32(1, 48, 1, 1), f32(128, 1, 32, 1), f32(128, 1, 32, 1), input(GGML_TYPE_I32, 1, 1, 1, 1), 1));
    run("rwkv-wkv6", ggml_rwkv_wkv6(context, f32(64, 32, 7, 1), f32(64, 32, 7, 1), f32(64, 32, 7, 1), f32(64, 32, 1, 1), f32(64, 32, 7, 1), f32(64 * 64 * 32, 1, 1, 1)));
    run("rwkv-wkv7", ggml_rwkv_wkv7(context, f32(64, 32, 7, 1), f32(64, 32, 7, 1), f32(64, 32, 7, 1), f32(64, 32, 7, 1), f32(64, 32, 7, 1), f32(64, 32, 7, 1), f32(64 * 64 * 32, 1, 1, 1)));
    run("gla", ggml_gated_linear_attn(context, f32(64, 32, 7, 1), f32(64, 32, 7, 1), f32(64, 32, 7, 1), f32(64, 32, 7, 1), f32(64 * 64 * 32, 1, 1, 1), 0.125f));
}

static void convolutions(void) {
    run("im2col", ggml_im2col(context, input(GGML_TYPE_F16, 3, 3, 16, 32), f32(28, 28, 16, 2), 1, 1, 1, 1, 1, 1, true, GGML_TYPE_F16));
    run("im2col-1d", ggml_im2col(context, input(GGML_TYPE_F16, 3, 80, 512, 1), f32(3000, 80, 1, 1), 1, 0, 1, 0, 1, 0, false, GGML_TYPE_F16));
    run("im2col-f32", ggml_im2col(context, f32(3, 3, 16, 32), f32(28, 28, 16, 2), 2, 2, 1, 1, 1, 1, true, GGML_TYPE_F32));
    run("conv-2d-direct", ggml_conv_2d_direct(context, f32(3, 3, 16, 32), f32(28, 28, 16, 2), 1, 1, 1, 1, 1, 1));
    run("conv-2d-direct-f16", ggml_conv_2d_direct(context, input(GGML_TYPE_F16, 3, 3, 16, 32), f32(28, 28, 16, 2), 1, 1, 1, 1, 1, 1));
    run("conv-2d-dw", ggml_conv_2d_dw_direct(context, f32(3, 3, 1, 32), f32(28, 28, 32, 2), 1, 1, 1, 1, 1, 1));
    run("conv-transpose-1d", ggml_conv_transpose_1d(context, f32(3, 16, 32, 1), f32(100, 32, 1, 1), 2, 0, 1));
    run("conv-transpose-2d", ggml_conv_transpose_2d_p0(context, input(GGML_TYPE_F16, 2, 2, 16, 32), f32(14, 14, 32, 1), 2));
    run("pool-2d", ggml_pool_2d(context, f32(28, 28, 16, 2), GGML_OP_POOL_MAX, 2, 2, 2, 2, 0, 0));
    run("upscale", ggml_upscale(context, f32(14, 14, 16, 1), 2, GGML_SCALE_MODE_NEAREST));
    run("upscale-bilinear", ggml_upscale(context, f32(14, 14, 16, 1), 2, GGML_SCALE_MODE_BILINEAR));
    run("roll", ggml_roll(context, f32(64, 32, 1, 1), 3, 1, 0, 0));
}

static void attention(void) {
    char name[64];
    int columns[] = {1, 4, 64, 512}, heads[] = {64, 128, 256};
    for (int c = 0; c < 4; c++) {
        for (int h = 0; h < 3; h++) {
            struct ggml_tensor *q = ggml_permute(context, f32(heads[h], 32, columns[c], 1), 0, 2, 1, 3);
            struct ggml_tensor *k = ggml_permute(context, input(GGML_TYPE_F16, heads[h], 8, 512, 1), 0, 2, 1, 3);
            struct ggml_tensor *v = ggml_permute(context, input(GGML_TYPE_F16, heads[h], 8, 512, 1), 0, 2, 1, 3);
            snprintf(name, sizeof name, "flash-attn-%d-%d", heads[h], columns[c]);
            run(name, ggml_flash_attn_ext(context, q, k, v, input(GGML_TYPE_F16, 512, columns[c], 1, 1), 0.088f, 0, 0));
        }
        struct ggml_tensor *q = ggml_permute(context, f32(128, 32, columns[c], 1), 0, 2, 1, 3);
        struct ggml_tensor *k = ggml_permute(context, input(GGML_TYPE_Q8_0, 128, 8, 512, 1), 0, 2, 1, 3);
        struct ggml_tensor *v = ggml_permute(context, input(GGML_TYPE_Q8_0, 128, 8, 512, 1), 0, 2, 1, 3);
        snprintf(name, sizeof name, "flash-attn-q8_0-%d", columns[c]);
        run(name, ggml_flash_attn_ext(context, q, k, v, input(GGML_TYPE_F16, 512, columns[c], 1, 1), 0.088f, 0, 0));
    }
    struct ggml_tensor *q = ggml_permute(context, f32(128, 32, 8, 4), 0, 2, 1, 3);
    struct ggml_tensor *k = ggml_permute(context, input(GGML_TYPE_F16, 128, 8, 512, 4), 0, 2, 1, 3);
    struct ggml_tensor *v = ggml_permute(context, input(GGML_TYPE_F16, 128, 8, 512, 4), 0, 2, 1, 3);
    run("flash-attn-streams", ggml_flash_attn_ext(context, q, k, v, input(GGML_TYPE_F16, 512, 8, 1, 4), 0.088f, 0, 0));
}

int main(int argc, char **argv) {
    if (argc > 1) {
        only = argv[1];
        ggml_backend_load_all();
        backend = ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_GPU, NULL);
        if (!backend) return fprintf(stderr, "no GPU\n"), 1;
    }
    fresh();
    products();
    ropes();
    moves();
    norms();
    elements();
    states();
    convolutions();
    attention();
    return 0;
}
