/* Asks hipBLASLt or rocBLAS which kernel it chooses for each product of a file.
 *
 *     oracle hipblaslt|rocblas LIBRARY PRODUCTS CATALOG
 *
 * A line of PRODUCTS holds numbers only: id m n k batch trans_a trans_b type_a type_b type_c type_d compute scale
 * epilogue bias_type lda ldb ldc ldd workspace requested beta batch_kind stride_a stride_b stride_c stride_d scale_ab
 * scale_cd deterministic, with the library's own numbers for types. bias_type, deterministic -1: not set. beta 2: 0.5.
 * batch_kind 0: strided, 1: arrays of pointers. scale_ab 0: none, 1: scalar, 2: vector.
 * hipBLASLt: prints "id status count index..." per line. rocBLAS: prints "@ id", then what TENSILE_DB=0x8000 prints,
 * then "= status". No headers are needed: the prototypes below are those of the public headers of ROCm 6 and 7. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint8_t data[16];
    size_t max_workspace;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
} result;

typedef long long i64;
static i64 v[30];
enum { ID, M, N, K, BATCH, TA, TB, A, B, C, D, COMPUTE, SCALE, EPILOGUE, BIAS, LDA, LDB, LDC, LDD, WORKSPACE, REQUESTED,
       BETA, KIND, SA, SB, SC, SD, SCALE_AB, SCALE_CD, DETERMINISTIC };

static void *library;

static void *symbol(const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "%s is not in the library\n", name);
        exit(2);
    }
    return found;
}

static int read_line(FILE *file) {
    for (int i = 0; i < 30; i++)
        if (fscanf(file, "%lld", &v[i]) != 1) return 0;
    return 1;
}

static void *layout(int type, i64 rows, i64 cols, i64 ld, int batch, int64_t stride) {
    static int (*create)(void **, int, uint64_t, uint64_t, int64_t);
    static int (*set)(void *, int, const void *, size_t);
    if (!create) {
        create = symbol("hipblasLtMatrixLayoutCreate");
        set = symbol("hipblasLtMatrixLayoutSetAttribute");
    }
    void *out = NULL;
    create(&out, type, rows, cols, ld);
    set(out, 0, &batch, sizeof batch);
    set(out, 1, &stride, sizeof stride);
    return out;
}

static void lt(FILE *file) {
    int (*create)(void **) = symbol("hipblasLtCreate");
    int (*desc_create)(void **, int, int) = symbol("hipblasLtMatmulDescCreate");
    int (*desc_set)(void *, int, const void *, size_t) = symbol("hipblasLtMatmulDescSetAttribute");
    int (*desc_destroy)(void *) = symbol("hipblasLtMatmulDescDestroy");
    int (*layout_destroy)(void *) = symbol("hipblasLtMatrixLayoutDestroy");
    int (*pref_create)(void **) = symbol("hipblasLtMatmulPreferenceCreate");
    int (*pref_set)(void *, int, const void *, size_t) = symbol("hipblasLtMatmulPreferenceSetAttribute");
    int (*pref_destroy)(void *) = symbol("hipblasLtMatmulPreferenceDestroy");
    int (*ask)(void *, void *, void *, void *, void *, void *, void *, int, result *, int *) =
        symbol("hipblasLtMatmulAlgoGetHeuristic");
    void *handle = NULL;
    if (create(&handle)) {
        fprintf(stderr, "hipblasLtCreate failed\n");
        exit(3);
    }
    while (read_line(file)) {
        void *desc = NULL, *pref = NULL;
        int status = desc_create(&desc, (int)v[COMPUTE], (int)v[SCALE]);
        int32_t ta = v[TA] ? 112 : 111, tb = v[TB] ? 112 : 111, bias = (int32_t)v[BIAS];
        uint32_t epilogue = (uint32_t)v[EPILOGUE];
        uint64_t workspace = (uint64_t)v[WORKSPACE];
        desc_set(desc, 0, &ta, sizeof ta);
        desc_set(desc, 1, &tb, sizeof tb);
        desc_set(desc, 2, &epilogue, sizeof epilogue);
        if (bias >= 0) desc_set(desc, 4, &bias, sizeof bias);
        if (epilogue & 128) {
            void *aux = (void *)0x10000000;
            int64_t ld = v[LDD], stride = v[SD];
            desc_set(desc, 10, &aux, sizeof aux);
            desc_set(desc, 11, &ld, sizeof ld);
            desc_set(desc, 12, &stride, sizeof stride);
        }
        void *scale = (void *)0x20000000;
        int32_t mode = v[SCALE_AB] == 2 ? 3 : 0;
        if (v[SCALE_AB]) {
            desc_set(desc, 5, &scale, sizeof scale);
            desc_set(desc, 6, &scale, sizeof scale);
            desc_set(desc, 31, &mode, sizeof mode);
            desc_set(desc, 32, &mode, sizeof mode);
        }
        if (v[SCALE_CD]) desc_set(desc, 8, &scale, sizeof scale);
        void *a = layout(v[A], v[TA] ? v[K] : v[M], v[TA] ? v[M] : v[K], v[LDA], v[BATCH], v[SA]);
        void *b = layout(v[B], v[TB] ? v[N] : v[K], v[TB] ? v[K] : v[N], v[LDB], v[BATCH], v[SB]);
        void *c = layout(v[C], v[M], v[N], v[LDC], v[BATCH], v[SC]);
        void *d = layout(v[D], v[M], v[N], v[LDD], v[BATCH], v[SD]);
        pref_create(&pref);
        pref_set(pref, 1, &workspace, sizeof workspace);
        int requested = (int)v[REQUESTED], returned = 0;
        result *results = calloc(requested ? requested : 1, sizeof *results);
        if (!status) status = ask(handle, desc, a, b, c, d, pref, requested, results, &returned);
        printf("%lld %d %d", v[ID], status, returned);
        for (int i = 0; i < returned && i < requested; i++) {
            int index;
            memcpy(&index, results[i].data, sizeof index);
            printf(" %d", index);
        }
        printf("\n");
        free(results);
        pref_destroy(pref);
        layout_destroy(a), layout_destroy(b), layout_destroy(c), layout_destroy(d);
        desc_destroy(desc);
    }
}

static void roc(FILE *file) {
    int (*create)(void **) = symbol("rocblas_create_handle");
    int (*one)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
               const void *, const void *, int, int, void *, int, int, int, int, int32_t, uint32_t) =
        symbol("rocblas_gemm_ex");
    int (*many)(void *, int, int, int, int, int, const void *, const void *, int, int, i64, const void *, int, int, i64,
                const void *, const void *, int, int, i64, void *, int, int, i64, int, int, int, int32_t, uint32_t) =
        symbol("rocblas_gemm_strided_batched_ex");
    int (*arrays)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                  const void *, const void *, int, int, void *, int, int, int, int, int, int32_t, uint32_t) =
        symbol("rocblas_gemm_batched_ex");
    int (*set_atomics)(void *, int) = symbol("rocblas_set_atomics_mode");
    int (*get_atomics)(void *, int *) = symbol("rocblas_get_atomics_mode");
    int usual = 0;
    void *handle = NULL;
    if (create(&handle) || get_atomics(handle, &usual)) {
        fprintf(stderr, "rocblas_create_handle failed\n");
        exit(3);
    }
    char *base = (char *)0x7f0000000000;
    void *a = base, *b = base + (1ll << 34), *c = base + (2ll << 34), *d;
    union { double d; float f; int32_t i; uint16_t h; } alpha, zero;
    while (read_line(file)) {
        memset(&alpha, 0, sizeof alpha);
        memset(&zero, 0, sizeof zero);
        double beta = v[BETA] == 2 ? 0.5 : v[BETA];
        if (v[COMPUTE] == 152) alpha.d = 1, zero.d = beta;
        else if (v[COMPUTE] == 162) alpha.i = 1, zero.i = v[BETA];
        else if (v[COMPUTE] == 150) alpha.h = 0x3c00, zero.h = (uint16_t[]){0xbc00, 0, 0x3c00, 0x3800}[v[BETA] + 1];
        else alpha.f = 1, zero.f = beta;
        set_atomics(handle, v[DETERMINISTIC] < 0 ? usual : !v[DETERMINISTIC]);
        int ta = v[TA] ? 112 : 111, tb = v[TB] ? 112 : 111, status;
        /* In place where rocBLAS allows it. */
        d = v[LDC] == v[LDD] && (v[BATCH] == 1 || v[KIND] == 1 || v[SC] == v[SD]) ? c : base + (3ll << 34);
        printf("@ %lld\n", v[ID]);
        fflush(stdout);
        if (v[KIND] == 1)
            status = arrays(handle, ta, tb, v[M], v[N], v[K], &alpha, a, v[A], v[LDA], b, v[B], v[LDB], &zero, c, v[C],
                            v[LDC], d, v[D], v[LDD], v[BATCH], v[COMPUTE], 0, 0, 0);
        else if (v[BATCH] == 1)
            status = one(handle, ta, tb, v[M], v[N], v[K], &alpha, a, v[A], v[LDA], b, v[B], v[LDB], &zero, c, v[C],
                         v[LDC], d, v[D], v[LDD], v[COMPUTE], 0, 0, 0);
        else
            status = many(handle, ta, tb, v[M], v[N], v[K], &alpha, a, v[A], v[LDA], v[SA], b, v[B], v[LDB], v[SB], &zero,
                          c, v[C], v[LDC], v[SC], d, v[D], v[LDD], v[SD], v[BATCH], v[COMPUTE], 0, 0, 0);
        fflush(stdout);
        printf("= %d\n", status);
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    setenv("HIPBLASLT_TENSILE_LIBPATH", argv[4], 1);
    setenv("ROCBLAS_TENSILE_LIBPATH", argv[4], 1);
    setenv("TENSILE_DB", !strcmp(argv[1], "rocblas") ? "0x8000" : "0", 1);
    library = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    FILE *file = fopen(argv[3], "r");
    if (!file) return 2;
    if (!strcmp(argv[1], "hipblaslt")) lt(file);
    else roc(file);
    return 0;
}
