//! Passes the same product to hipBLASLt, if WHICHKERNEL_HIPBLASLT names it.
//!
//! ggml never calls hipBLASLt itself; a rocBLAS that was built with it forwards the products of some targets. Debian's
//! was not, so this module finds the choice of hipBLASLt, using the heuristic's first answer like rocBLAS does.

use crate::handle::{Status, named};
use crate::real;
use crate::record::Blas;
use core::ffi::{CStr, c_int, c_void};
use core::mem::transmute;
use core::sync::atomic::{AtomicPtr, Ordering};

const NOT_SUPPORTED: Status = 7;
const FAILED: Status = 6;
const WORKSPACE: usize = 32 << 20;
const DEVICES: usize = 16;
/// hipDataType and hipblasComputeType_t of single precision: the scalars of every product here.
const R_32F: c_int = 0;
const COMPUTE_32F: u32 = 2;
const TRANSPOSE_A: c_int = 0;
const TRANSPOSE_B: c_int = 1;
const BATCH_COUNT: c_int = 0;
const BATCH_STRIDE: c_int = 1;
const MAX_WORKSPACE: c_int = 1;

/// `hipblasLtMatmulHeuristicResult_t` of hipBLASLt 0.x to 1.x (hipblaslt.h); the algorithm is its first 24 bytes.
#[repr(C)]
struct Heuristic {
    algorithm: [u64; 3],
    workspace: usize,
    state: Status,
    waves: f32,
    reserved: [c_int; 4],
}

unsafe extern "C" {
    // A function of the stand-in GPU.
    fn hipGetDevice(number: *mut c_int) -> u32;
    fn hipMalloc(to: *mut *mut c_void, bytes: usize) -> u32;
}

static HANDLES: [AtomicPtr<c_void>; DEVICES] = [const { AtomicPtr::new(core::ptr::null_mut()) }; DEVICES];
static ROOM: [AtomicPtr<c_void>; DEVICES] = [const { AtomicPtr::new(core::ptr::null_mut()) }; DEVICES];

pub fn library() -> *mut c_void {
    static LIBRARY: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
    named(&LIBRARY, c"WHICHKERNEL_HIPBLASLT")
}

pub fn there() -> bool {
    !library().is_null()
}

/// Calls a function with up to five words that returns a status.
fn call(name: &CStr, words: [usize; 5]) -> Status {
    let function = real::symbol(library(), name);
    if function.is_null() {
        return FAILED;
    }
    let [a, b, c, d, e] = words;
    // SAFETY: the library's function of that name; the calling convention ignores surplus arguments.
    unsafe {
        transmute::<*mut c_void, extern "C" fn(usize, usize, usize, usize, usize) -> Status>(function)(a, b, c, d, e)
    }
}

/// One per device, created at its first product.
fn kept(slot: &AtomicPtr<c_void>, make: impl FnOnce(*mut *mut c_void) -> u32) -> *mut c_void {
    let known = slot.load(Ordering::Acquire);
    if !known.is_null() {
        return known;
    }
    let mut made = core::ptr::null_mut();
    if make(&raw mut made) != 0 {
        return core::ptr::null_mut();
    }
    // If two threads create one at once, one of them stays unused.
    match slot.compare_exchange(core::ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => made,
        Err(other) => other,
    }
}

fn set(name: &CStr, object: *mut c_void, attribute: c_int, value: &[u8]) -> Status {
    call(name, [object as usize, attribute as usize, value.as_ptr() as usize, value.len(), 0])
}

/// A matrix in its memory layout, with its batch.
fn layout(kind: u32, rows: i64, columns: i64, leading: i64, batch: i64, stride: i64) -> Option<*mut c_void> {
    let mut made: *mut c_void = core::ptr::null_mut();
    let words = [&raw mut made as usize, modern(kind) as usize, rows as usize, columns as usize, leading as usize];
    if call(c"hipblasLtMatrixLayoutCreate", words) != 0 {
        return None;
    }
    if batch > 1 {
        set(c"hipblasLtMatrixLayoutSetAttribute", made, BATCH_COUNT, &(batch as c_int).to_ne_bytes());
        set(c"hipblasLtMatrixLayoutSetAttribute", made, BATCH_STRIDE, &stride.to_ne_bytes());
    }
    Some(made)
}

/// hipDataType from the older hipblasDatatype_t.
fn modern(kind: u32) -> u32 {
    match kind {
        150 => 2,
        151 => 0,
        168 => 14,
        other => other,
    }
}

/// Launches the heuristic's first choice for `product`; returns the status and the solution's index.
///
/// SAFETY: the operands are those of the caller's own call.
pub unsafe fn multiply(product: &Blas, operands: [*const c_void; 3], on: *mut c_void) -> (Status, i32) {
    let mut device = 0;
    // SAFETY: our variable.
    unsafe { hipGetDevice(&raw mut device) };
    let (Some(handle), Some(room)) = (HANDLES.get(device as usize), ROOM.get(device as usize)) else {
        return (FAILED, -1);
    };
    let handle = kept(handle, |to| call(c"hipblasLtCreate", [to as usize, 0, 0, 0, 0]));
    // SAFETY: our variable.
    let room = kept(room, |to| unsafe { hipMalloc(to, WORKSPACE) });
    if handle.is_null() || room.is_null() {
        return (FAILED, -1);
    }
    let mut how: *mut c_void = core::ptr::null_mut();
    let words = [&raw mut how as usize, COMPUTE_32F as usize, R_32F as usize, 0, 0];
    if call(c"hipblasLtMatmulDescCreate", words) != 0 {
        return (FAILED, -1);
    }
    set(c"hipblasLtMatmulDescSetAttribute", how, TRANSPOSE_A, &product.trans_a.to_ne_bytes());
    set(c"hipblasLtMatmulDescSetAttribute", how, TRANSPOSE_B, &product.trans_b.to_ne_bytes());
    const PLAIN: u32 = 111;
    let turned = |operation: u32, rows: i64, columns: i64| if operation == PLAIN { (rows, columns) } else { (columns, rows) };
    let (rows_a, columns_a) = turned(product.trans_a, product.m, product.k);
    let (rows_b, columns_b) = turned(product.trans_b, product.k, product.n);
    let batch = product.batch;
    let a = layout(product.type_a, rows_a, columns_a, product.lda, batch, product.stride_a);
    let b = layout(product.type_b, rows_b, columns_b, product.ldb, batch, product.stride_b);
    let c = layout(product.type_c, product.m, product.n, product.ldc, batch, product.stride_c);
    let (Some(a), Some(b), Some(c)) = (a, b, c) else { return (NOT_SUPPORTED, -1) };
    // SAFETY: the objects were just created, and the operands are the caller's.
    let answer = unsafe { launch(handle, how, [a, b, c], operands, product, room, on) };
    for matrix in [a, b, c] {
        call(c"hipblasLtMatrixLayoutDestroy", [matrix as usize, 0, 0, 0, 0]);
    }
    call(c"hipblasLtMatmulDescDestroy", [how as usize, 0, 0, 0, 0]);
    answer
}

unsafe fn launch(
    handle: *mut c_void,
    how: *mut c_void,
    [a, b, c]: [*mut c_void; 3],
    [at_a, at_b, at_c]: [*const c_void; 3],
    product: &Blas,
    room: *mut c_void,
    on: *mut c_void,
) -> (Status, i32) {
    type P = *mut c_void;
    type Ask = unsafe extern "C" fn(P, P, P, P, P, P, P, c_int, *mut Heuristic, *mut c_int) -> Status;
    type Multiply = unsafe extern "C" fn(
        P, P, *const f32, *const c_void, P, *const c_void, P, *const f32, *const c_void, P, *const c_void, P,
        *const [u64; 3], P, usize, P,
    ) -> Status;
    type Index = unsafe extern "C" fn(*mut [u64; 3]) -> c_int;
    let ask = real::symbol(library(), c"hipblasLtMatmulAlgoGetHeuristic");
    let multiply = real::symbol(library(), c"hipblasLtMatmul");
    // A C++ function: hipblaslt_ext::getIndexFromAlgo(hipblasLtMatmulAlgo_t&).
    let index = real::symbol(library(), c"_ZN13hipblaslt_ext16getIndexFromAlgoER22_hipblasLtMatmulAlgo_t");
    let mut wish: P = core::ptr::null_mut();
    if ask.is_null() || multiply.is_null() || call(c"hipblasLtMatmulPreferenceCreate", [&raw mut wish as usize, 0, 0, 0, 0]) != 0 {
        return (FAILED, -1);
    }
    set(c"hipblasLtMatmulPreferenceSetAttribute", wish, MAX_WORKSPACE, &WORKSPACE.to_ne_bytes());
    let mut best =
        Heuristic { algorithm: [0; 3], workspace: 0, state: 0, waves: 0.0, reserved: [0; 4] };
    let mut found = 0;
    let (alpha, beta) = (f64::from_bits(product.alpha) as f32, f64::from_bits(product.beta) as f32);
    // SAFETY: the library's functions of these names, with its own objects.
    unsafe {
        let status = transmute::<P, Ask>(ask)(handle, how, a, b, c, c, wish, 1, &raw mut best, &raw mut found);
        call(c"hipblasLtMatmulPreferenceDestroy", [wish as usize, 0, 0, 0, 0]);
        if status != 0 || found < 1 {
            return (if status == 0 { NOT_SUPPORTED } else { status }, -1);
        }
        let number = if index.is_null() { -1 } else { transmute::<P, Index>(index)(&raw mut best.algorithm) };
        let status = transmute::<P, Multiply>(multiply)(
            handle, how, &raw const alpha, at_a, a, at_b, b, &raw const beta, at_c, c, at_c, c,
            &raw const best.algorithm, room, WORKSPACE, on,
        );
        (status, number)
    }
}
