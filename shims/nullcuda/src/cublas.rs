//! cuBLAS as a recorder: each product is recorded with its shape and types. Which kernel the real library would take is not
//! known here.

use crate::blas::whichkernel_blas;
use crate::record::{Blas, NO_DEVICE, blas, lane};
use crate::{registry, stubs};
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};

pub type Status = u32;
pub const SUCCESS: Status = 0;
pub const NOT_INITIALIZED: Status = 1;
pub const ALLOC_FAILED: Status = 3;
pub const INVALID_VALUE: Status = 7;
const MARK: u64 = u64::from_le_bytes(*b"WKCUBLAS");
/// The release of CUDA 13.0 (`cublas_api.h`).
const VERSION: c_int = 130_100;
/// cudaDataType.
pub const R_32F: u32 = 0;
pub const R_64F: u32 = 1;
pub const R_16F: u32 = 2;
const C_32F: u32 = 4;
const C_64F: u32 = 5;
/// cublasComputeType_t.
const COMPUTE_16F: u32 = 64;
const COMPUTE_32F: u32 = 68;
const COMPUTE_64F: u32 = 70;

#[repr(C)]
struct Handle {
    mark: u64,
    stream: *mut c_void,
    math: c_uint,
    pointers: c_uint,
    atomics: c_uint,
}

fn find(handle: *mut c_void) -> Option<&'static mut Handle> {
    // SAFETY: a handle from the program.
    unsafe { registry::known(handle, MARK) }
}

fn put<T>(to: *mut T, value: T) -> Status {
    if to.is_null() {
        return INVALID_VALUE;
    }
    // SAFETY: the caller's variable.
    unsafe { to.write(value) };
    SUCCESS
}

pub fn create(to: *mut *mut c_void) -> Status {
    let Some(handle) = registry::new::<Handle>() else { return ALLOC_FAILED };
    handle.mark = MARK;
    put(to, core::ptr::from_mut(handle).cast())
}

/// Changes a field of a handle.
fn set(handle: *mut c_void, change: impl FnOnce(&mut Handle)) -> Status {
    let Some(handle) = find(handle) else { return NOT_INITIALIZED };
    change(handle);
    SUCCESS
}

fn get<T>(handle: *mut c_void, to: *mut T, value: impl FnOnce(&Handle) -> T) -> Status {
    let Some(handle) = find(handle) else { return NOT_INITIALIZED };
    put(to, value(handle))
}

pub const BLANK: Blas = Blas {
    time_ns: 0,
    stream: 0,
    graph: 0,
    call: 0,
    trans_a: 111,
    trans_b: 111,
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
    compute: COMPUTE_32F,
    alpha: 0,
    beta: 0,
    bracket: 0,
    status: 0,
    lane: lane::NONE,
    solution: -1,
    device: NO_DEVICE,
    reserved: 0,
};

/// The record has the numbers of hipBLAS for operations: 111 none, 112 transposed, 113 conjugated.
pub fn operation(op: c_uint) -> u32 {
    111 + op.min(2)
}

pub fn record(call: &Blas, on: *mut c_void) {
    // SAFETY: the record lives for the call.
    unsafe { whichkernel_blas(call, on) };
}

fn served(handle: *mut c_void, call: &Blas) -> Status {
    let Some(handle) = find(handle) else { return NOT_INITIALIZED };
    if call.m < 0 || call.n < 0 || call.k < 0 || call.batch < 0 {
        return INVALID_VALUE;
    }
    record(call, handle.stream);
    SUCCESS
}

/// Type of the operands and of the computation, by the letter of a function.
const S: (u32, u32) = (R_32F, COMPUTE_32F);
const D: (u32, u32) = (R_64F, COMPUTE_64F);
const C: (u32, u32) = (C_32F, COMPUTE_32F);
const Z: (u32, u32) = (C_64F, COMPUTE_64F);
const H: (u32, u32) = (R_16F, COMPUTE_16F);

fn typed((of, compute): (u32, u32), call: u32, ops: [c_uint; 2], sizes: [c_int; 3], leading: [c_int; 3]) -> Blas {
    let ([ta, tb], [m, n, k], [lda, ldb, ldc]) = (ops.map(operation), sizes.map(i64::from), leading.map(i64::from));
    Blas { call, trans_a: ta, trans_b: tb, m, n, k, lda, ldb, ldc, type_a: of, type_b: of, type_c: of, compute, ..BLANK }
}

macro_rules! gemms {
    ($($plain:ident $strided:ident $batched:ident $kind:ident $code:ident;)*) => { forward! {$(
        extern fn $plain(
            handle: *mut c_void, ta: c_uint, tb: c_uint, m: c_int, n: c_int, k: c_int, _alpha: *const c_void, _a: *const c_void,
            lda: c_int, _b: *const c_void, ldb: c_int, _beta: *const c_void, _c: *mut c_void, ldc: c_int
        ) = served(handle, &typed($kind, blas::$code, [ta, tb], [m, n, k], [lda, ldb, ldc]));
        extern fn $strided(
            handle: *mut c_void, ta: c_uint, tb: c_uint, m: c_int, n: c_int, k: c_int, _alpha: *const c_void, _a: *const c_void,
            lda: c_int, sa: i64, _b: *const c_void, ldb: c_int, sb: i64, _beta: *const c_void, _c: *mut c_void, ldc: c_int, sc:
            i64, count: c_int
        ) = served(handle, &Blas {
            stride_a: sa, stride_b: sb, stride_c: sc, batch: i64::from(count),
            ..typed($kind, blas::CUBLAS_GEMM_STRIDED_BATCHED, [ta, tb], [m, n, k], [lda, ldb, ldc])
        });
        extern fn $batched(
            handle: *mut c_void, ta: c_uint, tb: c_uint, m: c_int, n: c_int, k: c_int, _alpha: *const c_void, _a: *const c_void,
            lda: c_int, _b: *const c_void, ldb: c_int, _beta: *const c_void, _c: *mut c_void, ldc: c_int, count: c_int
        ) = served(handle, &Blas {
            batch: i64::from(count), ..typed($kind, blas::CUBLAS_GEMM_BATCHED, [ta, tb], [m, n, k], [lda, ldb, ldc])
        });
    )*}};
}

gemms! {
    cublasSgemm_v2 cublasSgemmStridedBatched cublasSgemmBatched S CUBLAS_SGEMM;
    cublasDgemm_v2 cublasDgemmStridedBatched cublasDgemmBatched D CUBLAS_DGEMM;
    cublasCgemm_v2 cublasCgemmStridedBatched cublasCgemmBatched C CUBLAS_CGEMM;
    cublasZgemm_v2 cublasZgemmStridedBatched cublasZgemmBatched Z CUBLAS_ZGEMM;
    cublasHgemm cublasHgemmStridedBatched cublasHgemmBatched H CUBLAS_HGEMM;
}

macro_rules! gemvs {
    ($($name:ident $kind:ident;)*) => { forward! {$(
        extern fn $name(
            handle: *mut c_void, ta: c_uint, m: c_int, n: c_int, _alpha: *const c_void, _a: *const c_void, lda: c_int, _x: *const
            c_void, _incx: c_int, _beta: *const c_void, _y: *mut c_void, _incy: c_int
        ) = {
            // Recorded as a product with one column: `m` results of `k` terms each.
            let (rows, terms) = if ta == 0 { (m, n) } else { (n, m) };
            served(handle, &typed($kind, blas::CUBLAS_GEMV, [ta, 0], [rows, 1, terms], [lda, terms, rows]))
        };
    )*}};
}

gemvs! { cublasSgemv_v2 S; cublasDgemv_v2 D; cublasCgemv_v2 C; cublasZgemv_v2 Z; }

fn extended(call: u32, ops: [c_uint; 2], sizes: [c_int; 3], leading: [c_int; 3], types: [c_uint; 3], compute: c_uint) -> Blas {
    let [type_a, type_b, type_c] = types;
    Blas { type_a, type_b, type_c, compute, ..typed(S, call, ops, sizes, leading) }
}

forward! {
    extern fn cublasGemmEx(
        handle: *mut c_void, ta: c_uint, tb: c_uint, m: c_int, n: c_int, k: c_int, _alpha: *const c_void, _a: *const c_void, a:
        c_uint, lda: c_int, _b: *const c_void, b: c_uint, ldb: c_int, _beta: *const c_void, _c: *mut c_void, c: c_uint, ldc: c_int,
        compute: c_uint, _algo: c_int
    ) = served(handle, &extended(blas::CUBLAS_GEMM_EX, [ta, tb], [m, n, k], [lda, ldb, ldc], [a, b, c], compute));
    extern fn cublasSgemmEx(
        handle: *mut c_void, ta: c_uint, tb: c_uint, m: c_int, n: c_int, k: c_int, _alpha: *const c_void, _a: *const c_void, a:
        c_uint, lda: c_int, _b: *const c_void, b: c_uint, ldb: c_int, _beta: *const c_void, _c: *mut c_void, c: c_uint, ldc: c_int
    ) = served(handle, &extended(blas::CUBLAS_GEMM_EX, [ta, tb], [m, n, k], [lda, ldb, ldc], [a, b, c], COMPUTE_32F));
    extern fn cublasGemmStridedBatchedEx(
        handle: *mut c_void, ta: c_uint, tb: c_uint, m: c_int, n: c_int, k: c_int, _alpha: *const c_void, _a: *const c_void, a:
        c_uint, lda: c_int, sa: i64, _b: *const c_void, b: c_uint, ldb: c_int, sb: i64, _beta: *const c_void, _c: *mut c_void, c:
        c_uint, ldc: c_int, sc: i64, count: c_int, compute: c_uint, _algo: c_int
    ) = served(handle, &Blas {
        stride_a: sa, stride_b: sb, stride_c: sc, batch: i64::from(count),
        ..extended(blas::CUBLAS_GEMM_STRIDED_BATCHED_EX, [ta, tb], [m, n, k], [lda, ldb, ldc], [a, b, c], compute)
    });
    extern fn cublasGemmBatchedEx(
        handle: *mut c_void, ta: c_uint, tb: c_uint, m: c_int, n: c_int, k: c_int, _alpha: *const c_void, _a: *const c_void, a:
        c_uint, lda: c_int, _b: *const c_void, b: c_uint, ldb: c_int, _beta: *const c_void, _c: *mut c_void, c: c_uint, ldc: c_int,
        count: c_int, compute: c_uint, _algo: c_int
    ) = served(handle, &Blas {
        batch: i64::from(count),
        ..extended(blas::CUBLAS_GEMM_BATCHED_EX, [ta, tb], [m, n, k], [lda, ldb, ldc], [a, b, c], compute)
    });

    extern fn cublasCreate_v2(to: *mut *mut c_void) = create(to);
    extern fn cublasDestroy_v2(handle: *mut c_void) = set(handle, |handle| handle.mark = 0);
    extern fn cublasSetStream_v2(handle: *mut c_void, on: *mut c_void) = set(handle, |handle| handle.stream = on);
    extern fn cublasGetStream_v2(handle: *mut c_void, to: *mut *mut c_void) = get(handle, to, |handle| handle.stream);
    extern fn cublasSetWorkspace_v2(handle: *mut c_void, _at: *mut c_void, _size: usize) = set(handle, |_| ());
    extern fn cublasSetMathMode(handle: *mut c_void, mode: c_uint) = set(handle, |handle| handle.math = mode);
    extern fn cublasGetMathMode(handle: *mut c_void, to: *mut c_uint) = get(handle, to, |handle| handle.math);
    extern fn cublasSetPointerMode_v2(handle: *mut c_void, mode: c_uint) = set(handle, |handle| handle.pointers = mode);
    extern fn cublasGetPointerMode_v2(handle: *mut c_void, to: *mut c_uint) = get(handle, to, |handle| handle.pointers);
    extern fn cublasSetAtomicsMode(handle: *mut c_void, mode: c_uint) = set(handle, |handle| handle.atomics = mode);
    extern fn cublasGetAtomicsMode(handle: *mut c_void, to: *mut c_uint) = get(handle, to, |handle| handle.atomics);
    extern fn cublasSetSmCountTarget(handle: *mut c_void, _count: c_int) = set(handle, |_| ());
    extern fn cublasGetVersion_v2(_handle: *mut c_void, to: *mut c_int) = put(to, VERSION);
}

/// Solvers and products whose results stay on the device: the call is recorded by its name, and its kernels are not known.
macro_rules! named {
    ($($name:ident)*) => { forward! {$(
        extern fn $name(handle: *mut c_void) = {
            stubs::note(stringify!($name).as_bytes());
            if find(handle).is_some() { SUCCESS } else { NOT_INITIALIZED }
        };
    )*}};
}

named! {
    cublasStrsm_v2 cublasDtrsm_v2 cublasCtrsm_v2 cublasZtrsm_v2
    cublasStrsmBatched cublasDtrsmBatched cublasCtrsmBatched cublasZtrsmBatched
    cublasSgetrfBatched cublasDgetrfBatched cublasCgetrfBatched cublasZgetrfBatched
}

fn text(status: Status) -> &'static CStr {
    match status {
        SUCCESS => c"CUBLAS_STATUS_SUCCESS",
        NOT_INITIALIZED => c"CUBLAS_STATUS_NOT_INITIALIZED",
        ALLOC_FAILED => c"CUBLAS_STATUS_ALLOC_FAILED",
        INVALID_VALUE => c"CUBLAS_STATUS_INVALID_VALUE",
        15 => c"CUBLAS_STATUS_NOT_SUPPORTED",
        _ => c"CUBLAS_STATUS_INTERNAL_ERROR",
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cublasGetStatusString(status: Status) -> *const c_char {
    text(status).as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn cublasGetStatusName(status: Status) -> *const c_char {
    let name = text(status);
    name.as_ptr()
}
