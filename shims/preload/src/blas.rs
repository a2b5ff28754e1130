//! BLAS calls, bracketed: the launches between the start and the end of a call belong to it.
//!
//! hipBLAS calls rocBLAS, which may call hipBLASLt: the outermost call of a thread is the program's own.

use crate::record::{Blas, NO_DEVICE, blas, kind};
use crate::{graph, sys, thread, trace};
use core::ffi::{c_int, c_void};

const NOT_INITIALIZED: u32 = 1;
const R_32F: u32 = 0;
/// Single-precision calls compute in single precision: HIPBLAS_COMPUTE_32F.
const COMPUTE_32F: u32 = 2;

const BLANK: Blas = Blas {
    time_ns: 0, stream: 0, graph: 0, call: 0, trans_a: 0, trans_b: 0, m: 0, n: 0, k: 0, lda: 0, ldb: 0, ldc: 0,
    stride_a: 0, stride_b: 0, stride_c: 0, batch: 1, type_a: R_32F, type_b: R_32F, type_c: R_32F, compute: 0,
    alpha: 0, beta: 0, bracket: 0, status: 0, lane: 0, solution: -1, device: NO_DEVICE, reserved: 0,
};

/// Records the start, runs the call, records the end.
fn served(call: Blas, real: impl FnOnce() -> u32) -> u32 {
    let thread = thread::now();
    thread.multiplying += 1;
    let ours = thread.multiplying == 1;
    let note = |bracket, status| {
        if ours {
            // The stream belongs to the handle; a capture is recognised by any open capture of this thread.
            let record = Blas { time_ns: sys::now_ns(), graph: graph::any_open(), bracket, status, ..call };
            trace::write(kind::BLAS, &[trace::bytes(&record)]);
        }
    };
    note(1, 0);
    let status = real();
    note(2, status);
    let thread = thread::now();
    thread.multiplying = thread.multiplying.saturating_sub(1);
    status
}

macro_rules! gemm_ex {
    ($($name:ident)*) => { wrap! {$(
        fn $name(
            handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
            alpha: *const c_void, a: *const c_void, a_type: u32, lda: c_int, b: *const c_void, b_type: u32, ldb: c_int,
            beta: *const c_void, c: *mut c_void, c_type: u32, ldc: c_int, compute: u32, algo: u32,
        ) -> u32, or NOT_INITIALIZED; |real| {
            let call = Blas {
                call: blas::GEMM_EX, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
                lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(), type_a: a_type, type_b: b_type, type_c: c_type, compute,
                ..BLANK
            };
            // SAFETY: forwards the caller's own arguments.
            served(call, || unsafe {
                real(handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, compute, algo)
            })
        }
    )*} };
}

gemm_ex! { hipblasGemmEx hipblasGemmEx_v2 }

macro_rules! batched_ex {
    ($($name:ident)*) => { wrap! {$(
        fn $name(
            handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
            alpha: *const c_void, a: *const c_void, a_type: u32, lda: c_int, b: *const c_void, b_type: u32, ldb: c_int,
            beta: *const c_void, c: *const c_void, c_type: u32, ldc: c_int, batch: c_int, compute: u32, algo: u32,
        ) -> u32, or NOT_INITIALIZED; |real| {
            let call = Blas {
                call: blas::GEMM_BATCHED_EX, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
                lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(), batch: batch.into(),
                type_a: a_type, type_b: b_type, type_c: c_type, compute, ..BLANK
            };
            // SAFETY: forwards the caller's own arguments.
            served(call, || unsafe {
                real(handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, batch, compute, algo)
            })
        }
    )*} };
}

batched_ex! { hipblasGemmBatchedEx hipblasGemmBatchedEx_v2 }

macro_rules! strided_ex {
    ($($name:ident)*) => { wrap! {$(
        fn $name(
            handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
            alpha: *const c_void, a: *const c_void, a_type: u32, lda: c_int, sa: i64,
            b: *const c_void, b_type: u32, ldb: c_int, sb: i64,
            beta: *const c_void, c: *mut c_void, c_type: u32, ldc: c_int, sc: i64, batch: c_int, compute: u32, algo: u32,
        ) -> u32, or NOT_INITIALIZED; |real| {
            let call = Blas {
                call: blas::GEMM_STRIDED_BATCHED_EX, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
                lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(), stride_a: sa, stride_b: sb, stride_c: sc,
                batch: batch.into(), type_a: a_type, type_b: b_type, type_c: c_type, compute, ..BLANK
            };
            // SAFETY: forwards the caller's own arguments.
            served(call, || unsafe {
                real(
                    handle, ta, tb, m, n, k, alpha, a, a_type, lda, sa, b, b_type, ldb, sb, beta, c, c_type, ldc, sc, batch,
                    compute, algo,
                )
            })
        }
    )*} };
}

strided_ex! { hipblasGemmStridedBatchedEx hipblasGemmStridedBatchedEx_v2 }

wrap! {
    fn hipblasSgemm(
        handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
        alpha: *const c_void, a: *const c_void, lda: c_int, b: *const c_void, ldb: c_int,
        beta: *const c_void, c: *mut c_void, ldc: c_int,
    ) -> u32, or NOT_INITIALIZED; |real| {
        let call = Blas {
            call: blas::SGEMM, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
            lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(), compute: COMPUTE_32F, ..BLANK
        };
        // SAFETY: forwards the caller's own arguments.
        served(call, || unsafe { real(handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) })
    }
    fn rocblas_sgemm(
        handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
        alpha: *const c_void, a: *const c_void, lda: c_int, b: *const c_void, ldb: c_int,
        beta: *const c_void, c: *mut c_void, ldc: c_int,
    ) -> u32, or NOT_INITIALIZED; |real| {
        let call = Blas {
            call: blas::ROCBLAS_SGEMM, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
            lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(), compute: COMPUTE_32F, ..BLANK
        };
        // SAFETY: forwards the caller's own arguments.
        served(call, || unsafe { real(handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) })
    }
    fn rocblas_gemm_ex(
        handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
        alpha: *const c_void, a: *const c_void, a_type: u32, lda: c_int, b: *const c_void, b_type: u32, ldb: c_int,
        beta: *const c_void, c: *const c_void, c_type: u32, ldc: c_int, d: *mut c_void, d_type: u32, ldd: c_int,
        compute: u32, algo: u32, solution: i32, flags: u32,
    ) -> u32, or NOT_INITIALIZED; |real| {
        let call = Blas {
            call: blas::ROCBLAS_GEMM_EX, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
            lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(), type_a: a_type, type_b: b_type, type_c: c_type, compute, ..BLANK
        };
        // SAFETY: forwards the caller's own arguments.
        served(call, || unsafe {
            real(
                handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, d, d_type, ldd,
                compute, algo, solution, flags,
            )
        })
    }
    fn rocblas_gemm_batched_ex(
        handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
        alpha: *const c_void, a: *const c_void, a_type: u32, lda: c_int, b: *const c_void, b_type: u32, ldb: c_int,
        beta: *const c_void, c: *const c_void, c_type: u32, ldc: c_int, d: *mut c_void, d_type: u32, ldd: c_int,
        batch: c_int, compute: u32, algo: u32, solution: i32, flags: u32,
    ) -> u32, or NOT_INITIALIZED; |real| {
        let call = Blas {
            call: blas::ROCBLAS_GEMM_BATCHED_EX, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
            lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(), batch: batch.into(),
            type_a: a_type, type_b: b_type, type_c: c_type, compute, ..BLANK
        };
        // SAFETY: forwards the caller's own arguments.
        served(call, || unsafe {
            real(
                handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, d, d_type, ldd, batch,
                compute, algo, solution, flags,
            )
        })
    }
    fn rocblas_gemm_strided_batched_ex(
        handle: *mut c_void, ta: u32, tb: u32, m: c_int, n: c_int, k: c_int,
        alpha: *const c_void, a: *const c_void, a_type: u32, lda: c_int, sa: i64,
        b: *const c_void, b_type: u32, ldb: c_int, sb: i64,
        beta: *const c_void, c: *const c_void, c_type: u32, ldc: c_int, sc: i64, d: *mut c_void, d_type: u32, ldd: c_int, sd: i64,
        batch: c_int, compute: u32, algo: u32, solution: i32, flags: u32,
    ) -> u32, or NOT_INITIALIZED; |real| {
        let call = Blas {
            call: blas::ROCBLAS_GEMM_STRIDED_BATCHED_EX, trans_a: ta, trans_b: tb, m: m.into(), n: n.into(), k: k.into(),
            lda: lda.into(), ldb: ldb.into(), ldc: ldc.into(), stride_a: sa, stride_b: sb, stride_c: sc, batch: batch.into(),
            type_a: a_type, type_b: b_type, type_c: c_type, compute, ..BLANK
        };
        // SAFETY: forwards the caller's own arguments.
        served(call, || unsafe {
            real(
                handle, ta, tb, m, n, k, alpha, a, a_type, lda, sa, b, b_type, ldb, sb, beta, c, c_type, ldc, sc, d, d_type,
                ldd, sd, batch, compute, algo, solution, flags,
            )
        })
    }
    fn hipblasLtMatmul(
        handle: *mut c_void, what: *mut c_void, alpha: *const c_void, a: *const c_void, a_layout: *mut c_void,
        b: *const c_void, b_layout: *mut c_void, beta: *const c_void, c: *const c_void, c_layout: *mut c_void,
        d: *mut c_void, d_layout: *mut c_void, algo: *const c_void, room: *mut c_void, room_size: usize, on: *mut c_void,
    ) -> u32, or NOT_INITIALIZED; |real| {
        let (ta, tb) = (transposed(what, 0), transposed(what, 1));
        let (rows, columns) = ((shape(d_layout, 4), shape(d_layout, 5)), (shape(a_layout, 4), shape(a_layout, 5)));
        let call = Blas {
            call: blas::LT_MATMUL, stream: on as u64, trans_a: ta, trans_b: tb,
            m: rows.0 as i64, n: rows.1 as i64, k: if ta == 111 { columns.1 } else { columns.0 } as i64,
            lda: shape(a_layout, 6) as i64, ldb: shape(b_layout, 6) as i64, ldc: shape(d_layout, 6) as i64,
            batch: shape(d_layout, 0).max(1) as i64,
            type_a: shape(a_layout, 2) as u32, type_b: shape(b_layout, 2) as u32, type_c: shape(d_layout, 2) as u32, ..BLANK
        };
        // SAFETY: forwards the caller's own arguments.
        served(call, || unsafe {
            real(handle, what, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout, algo, room, room_size, on)
        })
    }
}

/// One attribute of a matrix layout (hipblasLtMatrixLayoutAttribute_t: 0 batch count, 2 type, 4 rows, 5 columns, 6
/// leading dimension), queried from the library; 0 if it fails.
fn shape(layout: *mut c_void, attribute: c_int) -> u64 {
    attribute_of(c"hipblasLtMatrixLayoutGetAttribute", layout, attribute, if matches!(attribute, 0 | 2) { 4 } else { 8 })
}

/// 111 plain, 112 transposed (hipblasLtMatmulDescAttributes_t: 0 A, 1 B).
fn transposed(what: *mut c_void, attribute: c_int) -> u32 {
    attribute_of(c"hipblasLtMatmulDescGetAttribute", what, attribute, 4) as u32
}

fn attribute_of(name: &core::ffi::CStr, of: *mut c_void, attribute: c_int, size: usize) -> u64 {
    let ask = crate::wrapped::unwrapped(name);
    if ask.is_null() || of.is_null() {
        return 0;
    }
    let (mut value, mut written) = (0_u64, 0_usize);
    // SAFETY: the library's own function on the caller's own object.
    unsafe {
        type Ask = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, usize, *mut usize) -> u32;
        core::mem::transmute::<*mut c_void, Ask>(ask)(of, attribute, (&raw mut value).cast(), size, &raw mut written);
    }
    value
}
