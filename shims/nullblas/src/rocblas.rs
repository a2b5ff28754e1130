//! rocBLAS called without hipBLAS: handles and products. These names are in a separate library, because the real
//! hipBLAS must not find them here.

use crate::gemm::{BLANK, HALF, served, whichkernel_unsupported};
use crate::handle::{Status, hipblasCreate, hipblasDestroy, hipblasSetMathMode, hipblasSetPointerMode, hipblasSetStream, stream};
use crate::record::{Blas, blas};
use core::ffi::{CStr, c_int, c_void};

const NOT_IMPLEMENTED: Status = 2;
const INVALID_POINTER: Status = 3;
/// rocblas_datatype.
const F16: u32 = 150;
const F32: u32 = 151;
const F64: u32 = 152;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_create_handle(to: *mut *mut c_void) -> Status {
    // SAFETY: the caller's variable.
    unsafe { hipblasCreate(to) }
}

#[unsafe(no_mangle)]
pub extern "C" fn rocblas_destroy_handle(handle: *mut c_void) -> Status {
    hipblasDestroy(handle)
}

#[unsafe(no_mangle)]
pub extern "C" fn rocblas_set_stream(handle: *mut c_void, on: *mut c_void) -> Status {
    hipblasSetStream(handle, on)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_get_stream(handle: *mut c_void, to: *mut *mut c_void) -> Status {
    if to.is_null() {
        return INVALID_POINTER;
    }
    // SAFETY: the caller's variable.
    unsafe { *to = stream(handle) };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn rocblas_set_pointer_mode(handle: *mut c_void, mode: c_int) -> Status {
    hipblasSetPointerMode(handle, mode)
}

#[unsafe(no_mangle)]
pub extern "C" fn rocblas_set_atomics_mode(_handle: *mut c_void, _mode: c_int) -> Status {
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn rocblas_set_math_mode(handle: *mut c_void, mode: c_int) -> Status {
    hipblasSetMathMode(handle, mode)
}

fn note(handle: *mut c_void, call: Blas, operands: Option<[*const c_void; 3]>) -> Status {
    served(handle, call, operands, c"", |_, _| NOT_IMPLEMENTED)
}

/// SAFETY: `at` must be null or a host scalar of this type.
unsafe fn scalar(at: *const c_void, kind: u32) -> u64 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match kind {
            _ if at.is_null() => 0,
            F64 => at.cast::<u64>().read_unaligned(),
            kind => crate::gemm::scalar(at, if HALF.contains(&kind) { F16 } else { F32 }),
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_gemm_ex(
    handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
    alpha: *const c_void, a: *const c_void, a_type: u32, lda: c_int, b: *const c_void, b_type: u32, ldb: c_int,
    beta: *const c_void, c: *const c_void, c_type: u32, ldc: c_int, _d: *mut c_void, _d_type: u32, _ldd: c_int,
    compute: u32, _algo: u32, _solution: i32, _flags: u32,
) -> Status {
    let call = Blas {
        call: blas::ROCBLAS_GEMM_EX, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
        lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(), type_a: a_type, type_b: b_type, type_c: c_type, compute,
        // SAFETY: host scalars of the compute type.
        alpha: unsafe { scalar(alpha, compute) }, beta: unsafe { scalar(beta, compute) }, ..BLANK
    };
    note(handle, call, Some([a, b, c]))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_gemm_batched_ex(
    handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
    alpha: *const c_void, _a: *const c_void, a_type: u32, lda: c_int, _b: *const c_void, b_type: u32, ldb: c_int,
    beta: *const c_void, _c: *const c_void, c_type: u32, ldc: c_int, _d: *mut c_void, _d_type: u32, _ldd: c_int,
    batch: c_int, compute: u32, _algo: u32, _solution: i32, _flags: u32,
) -> Status {
    let call = Blas {
        call: blas::ROCBLAS_GEMM_BATCHED_EX, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
        lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(), batch: batch.into(),
        type_a: a_type, type_b: b_type, type_c: c_type, compute,
        // SAFETY: host scalars of the compute type.
        alpha: unsafe { scalar(alpha, compute) }, beta: unsafe { scalar(beta, compute) }, ..BLANK
    };
    note(handle, call, None)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_gemm_strided_batched_ex(
    handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
    alpha: *const c_void, a: *const c_void, a_type: u32, lda: c_int, sa: i64,
    b: *const c_void, b_type: u32, ldb: c_int, sb: i64,
    beta: *const c_void, c: *const c_void, c_type: u32, ldc: c_int, sc: i64,
    _d: *mut c_void, _d_type: u32, _ldd: c_int, _sd: i64,
    batch: c_int, compute: u32, _algo: u32, _solution: i32, _flags: u32,
) -> Status {
    let call = Blas {
        call: blas::ROCBLAS_GEMM_STRIDED_BATCHED_EX, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
        lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(), stride_a: sa, stride_b: sb, stride_c: sc, batch: batch.into(),
        type_a: a_type, type_b: b_type, type_c: c_type, compute,
        // SAFETY: host scalars of the compute type.
        alpha: unsafe { scalar(alpha, compute) }, beta: unsafe { scalar(beta, compute) }, ..BLANK
    };
    note(handle, call, Some([a, b, c]))
}

macro_rules! gemm {
    ($($name:ident $call:ident $kind:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
            alpha: *const c_void, a: *const c_void, lda: c_int, b: *const c_void, ldb: c_int,
            beta: *const c_void, c: *mut c_void, ldc: c_int,
        ) -> Status {
            let call = Blas {
                call: blas::$call, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
                lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(),
                type_a: $kind, type_b: $kind, type_c: $kind, compute: $kind,
                // SAFETY: host scalars of the operands' type.
                alpha: unsafe { scalar(alpha, $kind) }, beta: unsafe { scalar(beta, $kind) }, ..BLANK
            };
            note(handle, call, Some([a, b, c.cast_const()]))
        }
    )*};
}

gemm! { rocblas_sgemm ROCBLAS_SGEMM F32 rocblas_hgemm ROCBLAS_HGEMM F16 rocblas_dgemm ROCBLAS_DGEMM F64 }

/// Calls other than products of two matrices: their names are recorded, and they return "not implemented".
fn unsupported(name: &CStr) -> Status {
    // SAFETY: the string lives for the call.
    unsafe { whichkernel_unsupported(name.as_ptr()) };
    NOT_IMPLEMENTED
}

macro_rules! stubs {
    ($($name:ident $text:literal)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Status {
            unsupported($text)
        }
    )*};
}

stubs! {
    rocblas_sgemv c"rocblas_sgemv" rocblas_dgemv c"rocblas_dgemv" rocblas_saxpy c"rocblas_saxpy"
    rocblas_daxpy c"rocblas_daxpy" rocblas_sdot c"rocblas_sdot" rocblas_ddot c"rocblas_ddot"
    rocblas_sscal c"rocblas_sscal" rocblas_dscal c"rocblas_dscal" rocblas_snrm2 c"rocblas_snrm2"
    rocblas_strsm c"rocblas_strsm" rocblas_dtrsm c"rocblas_dtrsm" rocblas_ssyrk c"rocblas_ssyrk"
    rocblas_cgemm c"rocblas_cgemm" rocblas_zgemm c"rocblas_zgemm" rocblas_axpy_ex c"rocblas_axpy_ex"
    rocblas_sgemm_strided_batched c"rocblas_sgemm_strided_batched"
    rocblas_hgemm_strided_batched c"rocblas_hgemm_strided_batched"
    rocblas_dgemm_strided_batched c"rocblas_dgemm_strided_batched"
    rocblas_sgemm_batched c"rocblas_sgemm_batched" rocblas_dgemm_batched c"rocblas_dgemm_batched"
}
