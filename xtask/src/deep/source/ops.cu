// The same program for the other operations: flash attention, RoPE, row lookup, products with experts. Reads questions from
// standard input, one per line, and prints them with the kernel's symbol: `OP TYPE COLUMNS numbers...`.
#define ORACLE_OPS
#include "driver.cu"
#include <csignal>
#include <strings.h>
static std::string asked;
static bool has(const std::string & n, const char * part) { return n.find(part) != std::string::npos; }
static bool decides(const std::string & n) {
    if (has(n, "fixup") || has(n, "combine") || has(n, "mask_to") || has(n, "norm_mul")) return false;
    if (asked == "flash-attn") return has(n, "flash_attn");
    if (asked == "rope") return has(n, "rope");
    if (asked == "get-rows") return has(n, "get_rows");
    return has(n, "mul_mat");
}
// If the host must sort by experts, it reads back those chosen on the device. With one token, each chosen expert gets one
// column; with several tokens, the result depends on data from here on.
static long tokens;
extern "C" void oracle_copy(int to_host) { if (to_host && tokens > 1 && asked == "mul-mat-id") { launched = "HOST"; longjmp(out, 1); } }
static void aborted(int) {
    sigset_t set; sigemptyset(&set); sigaddset(&set, SIGABRT); sigprocmask(SIG_UNBLOCK, &set, nullptr);
    launched = "ABORT"; longjmp(out, 1);
}
static ggml_type type_named(const char * name) {
    for (int t = 0; t < GGML_TYPE_COUNT; t++) { const char * n = ggml_type_name((ggml_type) t); if (n && !strcasecmp(n, name)) return (ggml_type) t; }
    return GGML_TYPE_COUNT;
}
static ggml_tensor * permuted(ggml_context * g, ggml_type type, long a, long b, long c) {
    return ggml_permute(g, ggml_new_tensor_3d(g, type, a, c, b), 0, 2, 1, 3);
}
int main(int, char ** argv) {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    P_arch = argv[1]; P_major = atoi(argv[2]); P_minor = atoi(argv[3]); P_warp = atoi(argv[4]); P_cus = atoi(argv[5]); P_smem = atol(argv[6]); P_smem_optin = atol(argv[7]);
    ggml_backend_cuda_context * ctx = new ggml_backend_cuda_context(0);
    ggml_backend_buffer_type_t buft = ggml_backend_cuda_buffer_type(0);
    ggml_backend_buffer_t weights = ggml_backend_buft_alloc_buffer(buft, (size_t) 1 << 40), compute = ggml_backend_buft_alloc_buffer(buft, (size_t) 1 << 40);
    ggml_backend_buffer_set_usage(weights, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    signal(SIGABRT, aborted);
    char line[4096], op[64], ty[64];
    while (fgets(line, sizeof line, stdin)) {
        long n = 0, a = 0, b = 0, c = 0, d = 0, e = 0, f = 0;
        if (sscanf(line, "%63s %63s %ld %ld %ld %ld %ld %ld %ld", op, ty, &n, &a, &b, &c, &d, &e, &f) < 3) continue;
        line[strcspn(line, "\n")] = 0;
        asked = op; tokens = n;
        ggml_type type = type_named(ty);
        struct ggml_init_params params = { 1 << 18, nullptr, true };
        struct ggml_context * g = ggml_init(params);
        ggml_tensor * dst = nullptr, * model = nullptr;
        launched = "none";
        if (type == GGML_TYPE_COUNT) { printf("%s\tUNKNOWN-TYPE\n", line); continue; }
        if (!setjmp(out)) {
            if (asked == "flash-attn") { // head head_v heads kv_heads kv mask
                ggml_tensor * q = permuted(g, GGML_TYPE_F32, a, n, c), * k = permuted(g, type, a, e, d), * v = permuted(g, type, b, e, d);
#ifdef GGML_KQ_MASK_PAD
                long rows = GGML_PAD(n, GGML_KQ_MASK_PAD);
#else
                long rows = n;
#endif
                ggml_tensor * mask = f ? ggml_new_tensor_2d(g, GGML_TYPE_F16, e, rows) : nullptr;
                dst = ggml_flash_attn_ext(g, q, k, v, mask, 1.0f / sqrtf(a), 0.0f, 0.0f);
            } else if (asked == "rope") { // head heads mode
                int sections[4] = { (int) a / 4, (int) a / 4, (int) a / 4, (int) a / 4 };
                bool many = c & 8; // M-RoPE: four positions per token
                ggml_tensor * x = ggml_new_tensor_3d(g, type, a, b, n), * at = ggml_new_tensor_1d(g, GGML_TYPE_I32, many ? 4 * n : n);
                int dims = c == 24 ? a / 2 : a;
#if defined(GGML_ROPE_TYPE_MROPE)
                if (many) dst = ggml_rope_multi(g, x, at, nullptr, dims, sections, c, 0, 10000.0f, 1.0f, 0.0f, 1.0f, 32.0f, 1.0f); else
#endif
                dst = ggml_rope_ext(g, x, at, nullptr, dims, c, 0, 10000.0f, 1.0f, 0.0f, 1.0f, 32.0f, 1.0f);
            } else if (asked == "get-rows") { // rows k
                model = ggml_new_tensor_2d(g, type, b, a);
                dst = ggml_get_rows(g, model, ggml_new_tensor_1d(g, GGML_TYPE_I32, n));
            } else { // rows k experts used
                model = ggml_new_tensor_3d(g, type, b, a, c);
                dst = ggml_mul_mat_id(g, model, ggml_new_tensor_3d(g, GGML_TYPE_F32, b, 1, n), ggml_new_tensor_2d(g, GGML_TYPE_I32, d, n));
            }
            size_t at = 0x7e0000000000;
            for (ggml_tensor * t = ggml_get_first_tensor(g); t; t = ggml_get_next_tensor(g, t)) {
                t->data = (void *) (t->view_src ? (size_t) t->view_src->data + t->view_offs : at); at += (size_t) 1 << 36; t->buffer = t == model ? weights : compute;
            }
            ggml_cuda_compute_forward(*ctx, dst);
        }
        printf("%s\t%s\n", line, launched.c_str());
        ggml_free(g);
    }
    fflush(stdout); _Exit(0);
}
