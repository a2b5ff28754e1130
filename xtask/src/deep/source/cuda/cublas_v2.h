// The parts of the library that ggml's host code names: a product that reaches them counts as BLAS.
#pragma once
#include <library_types.h>
typedef void * cublasHandle_t;
enum cublasComputeType_t { CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_16F = 74, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasMath_t { CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH, CUBLAS_TF32_TENSOR_OP_MATH = 3 };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT, CUBLAS_GEMM_DEFAULT_TENSOR_OP };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT };
extern "C" void oracle_blas(const char *);
#define ORACLE_BLAS(f) template <class... A> static inline cublasStatus_t f(A...) { oracle_blas(#f); return CUBLAS_STATUS_SUCCESS; }
ORACLE_BLAS(cublasGemmEx) ORACLE_BLAS(cublasGemmBatchedEx) ORACLE_BLAS(cublasGemmStridedBatchedEx) ORACLE_BLAS(cublasSgemm) ORACLE_BLAS(cublasSgemmEx)
ORACLE_BLAS(cublasSgemmBatched) ORACLE_BLAS(cublasSgemmStridedBatched) ORACLE_BLAS(cublasHgemm) ORACLE_BLAS(cublasStrsmBatched) ORACLE_BLAS(cublasSgemv)
static inline cublasStatus_t cublasCreate(cublasHandle_t *h) { *h = (void*)1; return CUBLAS_STATUS_SUCCESS; }
static inline cublasStatus_t cublasCreate_v2(cublasHandle_t *h) { *h = (void*)1; return CUBLAS_STATUS_SUCCESS; }
template <class... A> static inline cublasStatus_t cublasDestroy(A...) { return CUBLAS_STATUS_SUCCESS; }
template <class... A> static inline cublasStatus_t cublasSetStream(A...) { return CUBLAS_STATUS_SUCCESS; }
template <class... A> static inline cublasStatus_t cublasSetMathMode(A...) { return CUBLAS_STATUS_SUCCESS; }
static inline const char * cublasGetStatusString(cublasStatus_t) { return ""; }
static inline const char * cublasGetStatusName(cublasStatus_t) { return ""; }
