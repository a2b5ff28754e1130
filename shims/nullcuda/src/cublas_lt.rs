//! cuBLASLt as a recorder: descriptions of operations and matrices, one answer of the heuristic, and the product.

use crate::cublas::{ALLOC_FAILED, BLANK, INVALID_VALUE, SUCCESS, Status, operation, record};
use crate::record::{Blas, blas};
use crate::registry;
use core::ffi::{c_float, c_int, c_uint, c_void};

/// CUDA 13.0 (`cublasLt.h`).
const VERSION: usize = 130_100;
const OPERATION: u64 = u64::from_le_bytes(*b"WKLTOPER");
const LAYOUT: u64 = u64::from_le_bytes(*b"WKLTLAYO");
const PREFERENCE: u64 = u64::from_le_bytes(*b"WKLTPREF");
const HANDLE: u64 = u64::from_le_bytes(*b"WKLTHAND");

/// `cublasLtMatmulDescAttributes_t`.
const TRANSPOSE_A: c_uint = 3;
const TRANSPOSE_B: c_uint = 4;
/// `cublasLtMatrixLayoutAttribute_t`.
const TYPE: c_uint = 0;
const ROWS: c_uint = 2;
const COLUMNS: c_uint = 3;
const LEADING: c_uint = 4;
const BATCH_COUNT: c_uint = 5;
const BATCH_STRIDE: c_uint = 6;

#[repr(C)]
struct Operation {
    mark: u64,
    compute: c_uint,
    a: c_uint,
    b: c_uint,
}

#[repr(C)]
struct Layout {
    mark: u64,
    kind: c_uint,
    batch: c_int,
    rows: u64,
    columns: u64,
    leading: i64,
    stride: i64,
}

/// Objects without content.
#[repr(C)]
struct Plain {
    mark: u64,
}

/// `cublasLtMatmulHeuristicResult_t`.
#[repr(C)]
pub struct Heuristic {
    algorithm: [u64; 8],
    workspace: usize,
    state: Status,
    waves: c_float,
    reserved: [c_int; 4],
}

fn make<T: 'static>(to: *mut *mut c_void, fill: impl FnOnce(&mut T)) -> Status {
    if to.is_null() {
        return INVALID_VALUE;
    }
    let Some(made) = registry::new::<T>() else { return ALLOC_FAILED };
    fill(made);
    // SAFETY: the caller's variable.
    unsafe { *to = core::ptr::from_mut(made).cast() };
    SUCCESS
}

/// A value of up to eight bytes.
///
/// SAFETY: `at` is null or has `size` bytes.
unsafe fn value(at: *const c_void, size: usize) -> Option<u64> {
    if at.is_null() || size > 8 {
        return None;
    }
    let mut bytes = [0_u8; 8];
    // SAFETY: guaranteed by the caller.
    unsafe { core::ptr::copy_nonoverlapping(at.cast::<u8>(), bytes.as_mut_ptr(), size) };
    Some(u64::from_le_bytes(bytes))
}

fn operation_of(handle: *mut c_void) -> Option<&'static mut Operation> {
    // SAFETY: a handle from the program.
    unsafe { registry::known(handle, OPERATION) }
}

fn layout_of(handle: *mut c_void) -> Option<&'static mut Layout> {
    // SAFETY: a handle from the program.
    unsafe { registry::known(handle, LAYOUT) }
}

/// Attributes that do not change shape or type (epilogues, scales, pointers) are accepted.
///
/// SAFETY: `at` is null or has `size` bytes.
unsafe fn set_operation(handle: *mut c_void, attribute: c_uint, at: *const c_void, size: usize) -> Status {
    // SAFETY: guaranteed by the caller.
    let (Some(operation), value) = (operation_of(handle), unsafe { value(at, size) }) else { return INVALID_VALUE };
    match (attribute, value) {
        (TRANSPOSE_A, Some(value)) => operation.a = value as c_uint,
        (TRANSPOSE_B, Some(value)) => operation.b = value as c_uint,
        _ => {}
    }
    SUCCESS
}

/// SAFETY: `at` is null or has `size` bytes.
unsafe fn set_layout(handle: *mut c_void, attribute: c_uint, at: *const c_void, size: usize) -> Status {
    // SAFETY: guaranteed by the caller.
    let (Some(layout), Some(value)) = (layout_of(handle), unsafe { value(at, size) }) else { return INVALID_VALUE };
    match attribute {
        TYPE => layout.kind = value as c_uint,
        ROWS => layout.rows = value,
        COLUMNS => layout.columns = value,
        LEADING => layout.leading = value.cast_signed(),
        BATCH_COUNT => layout.batch = value as c_int,
        BATCH_STRIDE => layout.stride = value.cast_signed(),
        _ => {}
    }
    SUCCESS
}

/// One answer, without a workspace. Which algorithm the real library would put first is not known here.
///
/// SAFETY: `results` has room for `wanted`, `count` is null or the caller's variable.
unsafe fn heuristic(wanted: c_int, results: *mut Heuristic, count: *mut c_int) -> Status {
    if results.is_null() || count.is_null() || wanted < 1 {
        return INVALID_VALUE;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        *results = Heuristic { algorithm: [0; 8], workspace: 0, state: SUCCESS, waves: 1.0, reserved: [0; 4] };
        *count = 1;
    }
    SUCCESS
}

fn multiply(operation_handle: *mut c_void, a: *mut c_void, b: *mut c_void, d: *mut c_void, on: *mut c_void) -> Status {
    let (Some(how), Some(a), Some(b), Some(d)) = (operation_of(operation_handle), layout_of(a), layout_of(b), layout_of(d)) else {
        return INVALID_VALUE;
    };
    let call = Blas {
        call: blas::CUBLAS_LT_MATMUL,
        trans_a: operation(how.a),
        trans_b: operation(how.b),
        m: d.rows.cast_signed(),
        n: d.columns.cast_signed(),
        k: if how.a == 0 { a.columns } else { a.rows }.cast_signed(),
        lda: a.leading,
        ldb: b.leading,
        ldc: d.leading,
        stride_a: a.stride,
        stride_b: b.stride,
        stride_c: d.stride,
        batch: i64::from(d.batch.max(1)),
        type_a: a.kind,
        type_b: b.kind,
        type_c: d.kind,
        compute: how.compute,
        ..BLANK
    };
    record(&call, on);
    SUCCESS
}

forward! {
    extern fn cublasLtCreate(to: *mut *mut c_void) = make(to, |made: &mut Plain| made.mark = HANDLE);
    extern fn cublasLtDestroy(_handle: *mut c_void) = SUCCESS;
    extern fn cublasLtMatmulDescCreate(to: *mut *mut c_void, compute: c_uint, _scale: c_uint)
        = make(to, |made: &mut Operation| *made = Operation { mark: OPERATION, compute, a: 0, b: 0 });
    extern fn cublasLtMatmulDescDestroy(_handle: *mut c_void) = SUCCESS;
    extern fn cublasLtMatmulDescSetAttribute(handle: *mut c_void, attribute: c_uint, at: *const c_void, size: usize)
        = set_operation(handle, attribute, at, size);
    extern fn cublasLtMatrixLayoutCreate(to: *mut *mut c_void, kind: c_uint, rows: u64, columns: u64, leading: i64)
        = make(to, |made: &mut Layout| *made = Layout { mark: LAYOUT, kind, batch: 1, rows, columns, leading, stride: 0 });
    extern fn cublasLtMatrixLayoutDestroy(_handle: *mut c_void) = SUCCESS;
    extern fn cublasLtMatrixLayoutSetAttribute(handle: *mut c_void, attribute: c_uint, at: *const c_void, size: usize)
        = set_layout(handle, attribute, at, size);
    extern fn cublasLtMatmulPreferenceCreate(to: *mut *mut c_void) = make(to, |made: &mut Plain| made.mark = PREFERENCE);
    extern fn cublasLtMatmulPreferenceDestroy(_handle: *mut c_void) = SUCCESS;
    extern fn cublasLtMatmulPreferenceSetAttribute(_handle: *mut c_void, _attribute: c_uint, _at: *const c_void, _size: usize) = SUCCESS;
    extern fn cublasLtMatmulAlgoGetHeuristic(
        _handle: *mut c_void, _operation: *mut c_void, _a: *mut c_void, _b: *mut c_void, _c: *mut c_void, _d: *mut c_void,
        _preference: *mut c_void, wanted: c_int, results: *mut Heuristic, count: *mut c_int
    ) = heuristic(wanted, results, count);
    extern fn cublasLtMatmul(
        _handle: *mut c_void, operation: *mut c_void, _alpha: *const c_void, _a: *const c_void, a: *mut c_void, _b: *const c_void, b:
        *mut c_void, _beta: *const c_void, _c: *const c_void, _c_layout: *mut c_void, _d: *mut c_void, d: *mut c_void, _algorithm:
        *const c_void, _workspace: *mut c_void, _size: usize, on: *mut c_void
    ) = multiply(operation, a, b, d, on);
}

#[unsafe(no_mangle)]
pub extern "C" fn cublasLtGetVersion() -> usize {
    VERSION
}
