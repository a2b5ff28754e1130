// The parts of the library that ggml's host code names: a product that reaches them counts as BLAS.
#pragma once
#include <hip/hip_runtime.h>
#include <hip/library_types.h>
typedef void * hipblasHandle_t;
typedef hipDataType hipblasDatatype_t;
#define HIPBLAS_R_16F HIP_R_16F
#define HIPBLAS_R_16B HIP_R_16BF
#define HIPBLAS_R_32F HIP_R_32F
#define HIPBLAS_R_64F HIP_R_64F
#define HIPBLAS_R_8I HIP_R_8I
#define HIPBLAS_R_32I HIP_R_32I
enum hipblasComputeType_t { HIPBLAS_COMPUTE_16F, HIPBLAS_COMPUTE_32F, HIPBLAS_COMPUTE_32F_FAST_16F, HIPBLAS_COMPUTE_64F };
enum hipblasStatus_t { HIPBLAS_STATUS_SUCCESS, HIPBLAS_STATUS_NOT_INITIALIZED, HIPBLAS_STATUS_ALLOC_FAILED, HIPBLAS_STATUS_INVALID_VALUE, HIPBLAS_STATUS_MAPPING_ERROR, HIPBLAS_STATUS_EXECUTION_FAILED, HIPBLAS_STATUS_INTERNAL_ERROR, HIPBLAS_STATUS_NOT_SUPPORTED, HIPBLAS_STATUS_ARCH_MISMATCH, HIPBLAS_STATUS_UNKNOWN };
enum hipblasOperation_t { HIPBLAS_OP_N, HIPBLAS_OP_T, HIPBLAS_OP_C };
enum hipblasGemmAlgo_t { HIPBLAS_GEMM_DEFAULT };
enum hipblasSideMode_t { HIPBLAS_SIDE_LEFT, HIPBLAS_SIDE_RIGHT };
enum hipblasFillMode_t { HIPBLAS_FILL_MODE_UPPER, HIPBLAS_FILL_MODE_LOWER };
enum hipblasDiagType_t { HIPBLAS_DIAG_NON_UNIT, HIPBLAS_DIAG_UNIT };
extern "C" void oracle_blas(const char *);
#define ORACLE_BLAS(f) template <class... A> static inline hipblasStatus_t f(A...) { oracle_blas(#f); return HIPBLAS_STATUS_SUCCESS; }
ORACLE_BLAS(hipblasGemmEx) ORACLE_BLAS(hipblasGemmBatchedEx) ORACLE_BLAS(hipblasGemmStridedBatchedEx) ORACLE_BLAS(hipblasSgemm)
ORACLE_BLAS(hipblasSgemmBatched) ORACLE_BLAS(hipblasSgemmStridedBatched) ORACLE_BLAS(hipblasHgemm) ORACLE_BLAS(hipblasStrsmBatched) ORACLE_BLAS(hipblasSgemv)
static inline hipblasStatus_t hipblasCreate(hipblasHandle_t *h) { *h = (void*)1; return HIPBLAS_STATUS_SUCCESS; }
template <class... A> static inline hipblasStatus_t hipblasDestroy(A...) { return HIPBLAS_STATUS_SUCCESS; }
template <class... A> static inline hipblasStatus_t hipblasSetStream(A...) { return HIPBLAS_STATUS_SUCCESS; }
template <class... A> static inline hipblasStatus_t hipblasSetMathMode(A...) { return HIPBLAS_STATUS_SUCCESS; }
static inline const char * hipblasStatusToString(hipblasStatus_t) { return ""; }
