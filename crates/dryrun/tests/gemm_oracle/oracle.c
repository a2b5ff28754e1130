/* Asks hipBLASLt or rocBLAS which kernel it chooses for each product of a file.
 *
 *     oracle hipblaslt|rocblas LIBRARY PRODUCTS CATALOG
 *
 * A line of PRODUCTS holds numbers only: id m n k batch trans_a trans_b type_a type_b type_c type_d compute scale
 * epilogue bias_type lda ldb ldc ldd workspace requested, with the library's own numbers for types. bias_type -1: not set.
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
static i64 v[21];
enum { ID, M, N, K, BATCH, TA, TB, A, B, C, D, COMPUTE, SCALE, EPILOGUE, BIAS, LDA, LDB, LDC, LDD, WORKSPACE, REQUESTED };

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
    for (int i = 0; i < 21; i++)
        if (fscanf(file, "%lld", &v[i]) != 1) return 0;
    return 1;
}

static void *layout(int type, i64 rows, i64 cols, i64 ld, int batch) {
    static int (*create)(void **, int, uint64_t, uint64_t, int64_t);
    static int (*set)(void *, int, const void *, size_t);
    if (!create) {
        create = symbol("hipblasLtMatrixLayoutCreate");
        set = symbol("hipblasLtMatrixLayoutSetAttribute");
    }
    void *out = NULL;
    int64_t stride = ld * cols;
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
            int64_t ld = v[LDD], stride = v[LDD] * v[N];
            desc_set(desc, 10, &aux, sizeof aux);
            desc_set(desc, 11, &ld, sizeof ld);
            desc_set(desc, 12, &stride, sizeof stride);
        }
        void *a = layout(v[A], v[TA] ? v[K] : v[M], v[TA] ? v[M] : v[K], v[LDA], v[BATCH]);
        void *b = layout(v[B], v[TB] ? v[N] : v[K], v[TB] ? v[K] : v[N], v[LDB], v[BATCH]);
        void *c = layout(v[C], v[M], v[N], v[LDC], v[BATCH]);
        void *d = layout(v[D], v[M], v[N], v[LDD], v[BATCH]);
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
    void *handle = NULL;
    if (create(&handle)) {
        fprintf(stderr, "rocblas_create_handle failed\n");
        exit(3);
    }
    char *base = (char *)0x7f0000000000;
    void *a = base, *b = base + (1ll << 34), *c = base + (2ll << 34), *d;
    union { double d; float f; int32_t i; uint16_t h; } alpha, zero;
    memset(&zero, 0, sizeof zero);
    while (read_line(file)) {
        memset(&alpha, 0, sizeof alpha);
        if (v[COMPUTE] == 152) alpha.d = 1;
        else if (v[COMPUTE] == 162) alpha.i = 1;
        else if (v[COMPUTE] == 150) alpha.h = 0x3c00;
        else alpha.f = 1;
        int ta = v[TA] ? 112 : 111, tb = v[TB] ? 112 : 111, status;
        i64 sa = v[LDA] * (v[TA] ? v[M] : v[K]), sb = v[LDB] * (v[TB] ? v[K] : v[N]);
        /* In place where rocBLAS allows it. */
        d = v[LDC] == v[LDD] ? c : base + (3ll << 34);
        printf("@ %lld\n", v[ID]);
        fflush(stdout);
        if (v[BATCH] == 1)
            status = one(handle, ta, tb, v[M], v[N], v[K], &alpha, a, v[A], v[LDA], b, v[B], v[LDB], &zero, c, v[C],
                         v[LDC], d, v[D], v[LDD], v[COMPUTE], 0, 0, 0);
        else
            status = many(handle, ta, tb, v[M], v[N], v[K], &alpha, a, v[A], v[LDA], sa, b, v[B], v[LDB], sb, &zero, c,
                          v[C], v[LDC], v[LDC] * v[N], d, v[D], v[LDD], v[LDD] * v[N], v[BATCH], v[COMPUTE], 0, 0, 0);
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
