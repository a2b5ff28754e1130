//! The GEMM calls: recorded, then forwarded if the real library is loaded.

use crate::handle::{SUCCESS, Status, behind, function, stream};
use crate::lt;
use crate::record::{Blas, blas, lane};
use core::ffi::{CStr, c_int, c_void};
use core::mem::transmute;

unsafe extern "C" {
    /// A function of the stand-in GPU, which the program under test has loaded as its HIP runtime.
    fn whichkernel_blas(call: *const Blas, on: *mut c_void);
    /// Reports a call of which only the name is known to the stand-in GPU.
    pub fn whichkernel_unsupported(name: *const core::ffi::c_char);
}

const R_32F: u32 = 0;
/// hipDataType and hipblasDatatype_t of a half.
pub const HALF: [u32; 2] = [2, 150];

pub const BLANK: Blas = Blas {
    time_ns: 0,
    stream: 0,
    graph: 0,
    call: 0,
    trans_a: 0,
    trans_b: 0,
    m: 0,
    n: 0,
    k: 0,
    lda: 0,
    ldb: 0,
    ldc: 0,
    stride_a: 0,
    stride_b: 0,
    stride_c: 0,
    batch: 1,
    type_a: R_32F,
    type_b: R_32F,
    type_c: R_32F,
    compute: 0,
    alpha: 0,
    beta: 0,
    bracket: 0,
    status: 0,
    lane: lane::NONE,
    solution: -1,
    device: 0,
    reserved: 0,
};

/// SAFETY: `at` must be null or a host scalar of the compute type. `compute` is hipblasComputeType_t (0 and 1: 16F) or,
/// in the old interface, a data type.
pub unsafe fn scalar(at: *const c_void, compute: u32) -> u64 {
    if at.is_null() {
        return 0;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        let value = if matches!(compute, 7 | 8) {
            at.cast::<f64>().read_unaligned()
        } else if matches!(compute, 0 | 1) || HALF.contains(&compute) {
            half(at.cast::<u16>().read_unaligned())
        } else {
            f64::from(at.cast::<f32>().read_unaligned())
        };
        value.to_bits()
    }
}

fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let power = |by: i32| f64::from_bits(((1023 + by) as u64) << 52);
    sign * match exponent {
        0 => fraction * power(-24),
        31 => f64::INFINITY,
        _ => (1.0 + fraction / 1024.0) * power(exponent - 15),
    }
}

/// Records the call, and brackets the forwarded call to each real library.
///
/// `operands`: A, B and C if hipBLASLt supports the same product; it does not accept arrays of pointers.
pub fn served(
    handle: *mut c_void,
    call: Blas,
    operands: Option<[*const c_void; 3]>,
    name: &CStr,
    real: impl FnOnce(*mut c_void, *mut c_void) -> Status,
) -> Status {
    let on = stream(handle);
    let behind_call = if name.is_empty() { core::ptr::null_mut() } else { function(name) };
    let note = |lane, bracket, status, solution| {
        let record = Blas { bracket, status, lane, solution, ..call };
        // SAFETY: the record lives for the call.
        unsafe { whichkernel_blas(&raw const record, on) };
    };
    let mut status = SUCCESS;
    let other = operands.filter(|_| lt::there());
    if !behind_call.is_null() {
        note(lane::ROCBLAS, 1, SUCCESS, -1);
        status = real(behind_call, behind(handle));
        note(lane::ROCBLAS, 2, status, -1);
    } else if other.is_none() {
        note(lane::NONE, 0, SUCCESS, -1);
    }
    if let Some(operands) = other {
        note(lane::HIPBLASLT, 1, SUCCESS, -1);
        // SAFETY: the caller's own operands.
        let (answer, solution) = unsafe { lt::multiply(&call, operands, on) };
        note(lane::HIPBLASLT, 2, answer, solution);
    }
    status
}

macro_rules! gemm_ex {
    ($($name:ident $text:literal)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
            alpha: *const c_void, a: *const c_void, a_type: u32, lda: c_int,
            b: *const c_void, b_type: u32, ldb: c_int,
            beta: *const c_void, c: *mut c_void, c_type: u32, ldc: c_int, compute: u32, algo: u32,
        ) -> Status {
            type Real = unsafe extern "C" fn(
                *mut c_void, u32, u32, c_int, c_int, c_int, *const c_void, *const c_void, u32, c_int,
                *const c_void, u32, c_int, *const c_void, *mut c_void, u32, c_int, u32, u32,
            ) -> Status;
            let call = Blas {
                call: blas::GEMM_EX, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
                lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(),
                type_a: a_type, type_b: b_type, type_c: c_type, compute,
                // SAFETY: host scalars of the compute type.
                alpha: unsafe { scalar(alpha, compute) }, beta: unsafe { scalar(beta, compute) }, ..BLANK
            };
            served(handle, call, Some([a, b, c.cast_const()]), $text, |real, handle| {
                // SAFETY: the real function of that name, with the caller's own arguments.
                unsafe {
                    transmute::<*mut c_void, Real>(real)(
                        handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, compute, algo,
                    )
                }
            })
        }
    )*};
}

macro_rules! batched_ex {
    ($($name:ident $text:literal)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
            alpha: *const c_void, a: *const c_void, a_type: u32, lda: c_int,
            b: *const c_void, b_type: u32, ldb: c_int,
            beta: *const c_void, c: *const c_void, c_type: u32, ldc: c_int, batch: c_int, compute: u32, algo: u32,
        ) -> Status {
            type Real = unsafe extern "C" fn(
                *mut c_void, u32, u32, c_int, c_int, c_int, *const c_void, *const c_void, u32, c_int,
                *const c_void, u32, c_int, *const c_void, *const c_void, u32, c_int, c_int, u32, u32,
            ) -> Status;
            let call = Blas {
                call: blas::GEMM_BATCHED_EX, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
                lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(), batch: batch.into(),
                type_a: a_type, type_b: b_type, type_c: c_type, compute,
                // SAFETY: host scalars of the compute type.
                alpha: unsafe { scalar(alpha, compute) }, beta: unsafe { scalar(beta, compute) }, ..BLANK
            };
            served(handle, call, None, $text, |real, handle| {
                // SAFETY: the real function of that name, with the caller's own arguments.
                unsafe {
                    transmute::<*mut c_void, Real>(real)(
                        handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, batch,
                        compute, algo,
                    )
                }
            })
        }
    )*};
}

macro_rules! strided_ex {
    ($($name:ident $text:literal)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
            alpha: *const c_void, a: *const c_void, a_type: u32, lda: c_int, sa: i64,
            b: *const c_void, b_type: u32, ldb: c_int, sb: i64,
            beta: *const c_void, c: *mut c_void, c_type: u32, ldc: c_int, sc: i64, batch: c_int, compute: u32, algo: u32,
        ) -> Status {
            type Real = unsafe extern "C" fn(
                *mut c_void, u32, u32, c_int, c_int, c_int, *const c_void, *const c_void, u32, c_int, i64,
                *const c_void, u32, c_int, i64, *const c_void, *mut c_void, u32, c_int, i64, c_int, u32, u32,
            ) -> Status;
            let call = Blas {
                call: blas::GEMM_STRIDED_BATCHED_EX, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
                lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(), stride_a: sa, stride_b: sb, stride_c: sc,
                batch: batch.into(), type_a: a_type, type_b: b_type, type_c: c_type, compute,
                // SAFETY: host scalars of the compute type.
                alpha: unsafe { scalar(alpha, compute) }, beta: unsafe { scalar(beta, compute) }, ..BLANK
            };
            served(handle, call, Some([a, b, c.cast_const()]), $text, |real, handle| {
                // SAFETY: the real function of that name, with the caller's own arguments.
                unsafe {
                    transmute::<*mut c_void, Real>(real)(
                        handle, ta, tb, m, n, k, alpha, a, a_type, lda, sa, b, b_type, ldb, sb, beta, c, c_type, ldc,
                        sc, batch, compute, algo,
                    )
                }
            })
        }
    )*};
}

gemm_ex! { hipblasGemmEx c"hipblasGemmEx" hipblasGemmEx_v2 c"hipblasGemmEx_v2" }
batched_ex! { hipblasGemmBatchedEx c"hipblasGemmBatchedEx" hipblasGemmBatchedEx_v2 c"hipblasGemmBatchedEx_v2" }
strided_ex! {
    hipblasGemmStridedBatchedEx c"hipblasGemmStridedBatchedEx"
    hipblasGemmStridedBatchedEx_v2 c"hipblasGemmStridedBatchedEx_v2"
}

/// Single-precision calls compute in single precision: HIPBLAS_COMPUTE_32F.
const COMPUTE_32F: u32 = 2;

macro_rules! plain {
    ($($name:ident $text:literal $call:ident $kind:literal $compute:expr)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
            alpha: *const c_void, a: *const c_void, lda: c_int, b: *const c_void, ldb: c_int,
            beta: *const c_void, c: *mut c_void, ldc: c_int,
        ) -> Status {
            type Real = unsafe extern "C" fn(
                *mut c_void, u32, u32, c_int, c_int, c_int, *const c_void, *const c_void, c_int, *const c_void, c_int,
                *const c_void, *mut c_void, c_int,
            ) -> Status;
            let call = Blas {
                call: blas::$call, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
                lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(),
                type_a: $kind, type_b: $kind, type_c: $kind, compute: $compute,
                // SAFETY: host scalars.
                alpha: unsafe { scalar(alpha, $compute) }, beta: unsafe { scalar(beta, $compute) }, ..BLANK
            };
            served(handle, call, Some([a, b, c.cast_const()]), $text, |real, handle| {
                // SAFETY: the real function of that name, with the caller's own arguments.
                unsafe {
                    transmute::<*mut c_void, Real>(real)(handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
                }
            })
        }
    )*};
}

plain! {
    hipblasSgemm c"hipblasSgemm" SGEMM 0 COMPUTE_32F
    hipblasHgemm c"hipblasHgemm" HGEMM 2 0
    hipblasDgemm c"hipblasDgemm" DGEMM 1 7
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasSgemmStridedBatched(
    handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
    alpha: *const c_void, a: *const c_void, lda: c_int, sa: i64, b: *const c_void, ldb: c_int, sb: i64,
    beta: *const c_void, c: *mut c_void, ldc: c_int, sc: i64, batch: c_int,
) -> Status {
    type Real = unsafe extern "C" fn(
        *mut c_void, u32, u32, c_int, c_int, c_int, *const c_void, *const c_void, c_int, i64, *const c_void, c_int, i64,
        *const c_void, *mut c_void, c_int, i64, c_int,
    ) -> Status;
    let call = Blas {
        call: blas::SGEMM_STRIDED_BATCHED, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
        lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(), stride_a: sa, stride_b: sb, stride_c: sc,
        batch: batch.into(), compute: COMPUTE_32F,
        // SAFETY: host scalars.
        alpha: unsafe { scalar(alpha, COMPUTE_32F) }, beta: unsafe { scalar(beta, COMPUTE_32F) }, ..BLANK
    };
    served(handle, call, Some([a, b, c.cast_const()]), c"hipblasSgemmStridedBatched", |real, handle| {
        // SAFETY: the real function of that name, with the caller's own arguments.
        unsafe {
            transmute::<*mut c_void, Real>(real)(
                handle, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, batch,
            )
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasSgemmBatched(
    handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
    alpha: *const c_void, a: *const c_void, lda: c_int, b: *const c_void, ldb: c_int,
    beta: *const c_void, c: *const c_void, ldc: c_int, batch: c_int,
) -> Status {
    type Real = unsafe extern "C" fn(
        *mut c_void, u32, u32, c_int, c_int, c_int, *const c_void, *const c_void, c_int, *const c_void, c_int,
        *const c_void, *const c_void, c_int, c_int,
    ) -> Status;
    let call = Blas {
        call: blas::SGEMM_BATCHED, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
        lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(), batch: batch.into(), compute: COMPUTE_32F,
        // SAFETY: host scalars.
        alpha: unsafe { scalar(alpha, COMPUTE_32F) }, beta: unsafe { scalar(beta, COMPUTE_32F) }, ..BLANK
    };
    served(handle, call, None, c"hipblasSgemmBatched", |real, handle| {
        // SAFETY: the real function of that name, with the caller's own arguments.
        unsafe {
            transmute::<*mut c_void, Real>(real)(handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, batch)
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasStrsmBatched(
    handle: *mut c_void, side: u32, fill: u32, ta: u32, diagonal: u32, m: c_int, n: c_int,
    alpha: *const c_void, a: *const c_void, lda: c_int, b: *const c_void, ldb: c_int, batch: c_int,
) -> Status {
    type Real = unsafe extern "C" fn(
        *mut c_void, u32, u32, u32, u32, c_int, c_int, *const c_void, *const c_void, c_int, *const c_void, c_int, c_int,
    ) -> Status;
    let call = Blas {
        call: blas::STRSM_BATCHED, trans_a: ta, m: m.into(), n: n.into(), lda: lda.into(), ldb: ldb.into(),
        batch: batch.into(), compute: COMPUTE_32F,
        // SAFETY: a host scalar.
        alpha: unsafe { scalar(alpha, COMPUTE_32F) }, ..BLANK
    };
    served(handle, call, None, c"hipblasStrsmBatched", |real, handle| {
        // SAFETY: the real function of that name, with the caller's own arguments.
        unsafe {
            transmute::<*mut c_void, Real>(real)(handle, side, fill, ta, diagonal, m, n, alpha, a, lda, b, ldb, batch)
        }
    })
}
