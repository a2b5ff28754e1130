//! cuDNN as a recorder: each execution is recorded by name, and its kernels are not known. The graph interface accepts any
//! graph and offers one plan without a workspace; of the older interface, batch normalization is answered.

use crate::{registry, stubs};
use core::ffi::{CStr, c_char, c_int, c_void};

type Status = u32;
const SUCCESS: Status = 0;
const BAD_PARAM: Status = 2000;
const NOT_SUPPORTED: Status = 3000;
const ALLOC_FAILED: Status = 4000;
const HANDLE: u64 = u64::from_le_bytes(*b"WKCUDNNH");
const DESCRIPTOR: u64 = u64::from_le_bytes(*b"WKCUDNND");
/// cuDNN 9.19.0, which PyTorch 2.11 is built with.
const VERSION: usize = 91_900;
const CUDART: usize = 13_000;

/// `cudnnBackendAttributeName_t`: the list of engine configurations, and the plan's workspace.
const HEURISTIC_RESULTS: c_int = 202;
const ENGINE: c_int = 300;
const WORKSPACE: c_int = 402;
const GLOBAL_INDEX: c_int = 1301;

#[repr(C)]
struct Handle {
    mark: u64,
    stream: *mut c_void,
}

#[repr(C)]
struct Descriptor {
    mark: u64,
    kind: c_int,
}

fn make<T: 'static>(to: *mut *mut c_void, fill: impl FnOnce(&mut T)) -> Status {
    if to.is_null() {
        return BAD_PARAM;
    }
    let Some(made) = registry::new::<T>() else { return ALLOC_FAILED };
    fill(made);
    // SAFETY: the caller's variable.
    unsafe { *to = core::ptr::from_mut(made).cast() };
    SUCCESS
}

fn find(handle: *mut c_void) -> Option<&'static mut Handle> {
    // SAFETY: a handle from the program.
    unsafe { registry::known(handle, HANDLE) }
}

fn is_descriptor(handle: *mut c_void) -> bool {
    // SAFETY: a handle from the program.
    unsafe { registry::known::<Descriptor>(handle, DESCRIPTOR) }.is_some()
}

/// SAFETY: `count` is null or the caller's variable; `to` has room for `wanted` values of the attribute's type.
unsafe fn attribute(handle: *mut c_void, name: c_int, wanted: i64, count: *mut i64, to: *mut c_void) -> Status {
    if !is_descriptor(handle) {
        return BAD_PARAM;
    }
    let answers = match name {
        // The caller created the descriptors that would be filled; they stay unchanged.
        HEURISTIC_RESULTS | ENGINE => 1,
        WORKSPACE | GLOBAL_INDEX => {
            if wanted > 0 && !to.is_null() {
                // SAFETY: one value of eight bytes.
                unsafe { to.cast::<i64>().write(0) };
            }
            1
        }
        // There are no notes, knobs or similar attributes.
        _ => 0,
    };
    if !count.is_null() {
        // SAFETY: the caller's variable.
        unsafe { *count = answers };
    }
    SUCCESS
}

forward! {
    extern fn cudnnCreate(to: *mut *mut c_void) = make(to, |made: &mut Handle| made.mark = HANDLE);
    extern fn cudnnDestroy(_handle: *mut c_void) = SUCCESS;
    extern fn cudnnSetStream(handle: *mut c_void, on: *mut c_void) = {
        let Some(handle) = find(handle) else { return BAD_PARAM };
        handle.stream = on;
        SUCCESS
    };
    extern fn cudnnGetStream(handle: *mut c_void, to: *mut *mut c_void) = {
        let (Some(handle), false) = (find(handle), to.is_null()) else { return BAD_PARAM };
        *to = handle.stream;
        SUCCESS
    };
    extern fn cudnnGetProperty(which: c_int, to: *mut c_int) = {
        if to.is_null() {
            return BAD_PARAM;
        }
        *to = match which { 0 => VERSION / 10_000, 1 => VERSION / 100 % 100, _ => VERSION % 100 } as c_int;
        SUCCESS
    };
    extern fn cudnnBackendCreateDescriptor(kind: c_int, to: *mut *mut c_void)
        = make(to, |made: &mut Descriptor| *made = Descriptor { mark: DESCRIPTOR, kind });
    extern fn cudnnBackendDestroyDescriptor(_handle: *mut c_void) = SUCCESS;
    extern fn cudnnBackendInitialize(handle: *mut c_void) = if is_descriptor(handle) { SUCCESS } else { BAD_PARAM };
    extern fn cudnnBackendFinalize(handle: *mut c_void) = if is_descriptor(handle) { SUCCESS } else { BAD_PARAM };
    extern fn cudnnBackendSetAttribute(handle: *mut c_void, _name: c_int, _kind: c_int, _count: i64, _from: *const c_void)
        = if is_descriptor(handle) { SUCCESS } else { BAD_PARAM };
    extern fn cudnnBackendGetAttribute(handle: *mut c_void, name: c_int, _kind: c_int, wanted: i64, count: *mut i64, to: *mut c_void)
        = attribute(handle, name, wanted, count, to);
    extern fn cudnnBackendExecute(handle: *mut c_void, _plan: *mut c_void, _values: *mut c_void) = {
        stubs::note(b"cudnnBackendExecute");
        if find(handle).is_some() { SUCCESS } else { BAD_PARAM }
    };
}

/// Descriptions of tensors and activations, which only calls below read.
macro_rules! descriptors {
    ($($create:ident $set:ident $destroy:ident;)*) => { forward! {$(
        extern fn $create(to: *mut *mut c_void) = make(to, |made: &mut Descriptor| *made = Descriptor { mark: DESCRIPTOR, kind: -1 });
        extern fn $set(handle: *mut c_void) = if is_descriptor(handle) { SUCCESS } else { BAD_PARAM };
        extern fn $destroy(_handle: *mut c_void) = SUCCESS;
    )*}};
}

descriptors! {
    cudnnCreateTensorDescriptor cudnnSetTensorNdDescriptor cudnnDestroyTensorDescriptor;
    cudnnCreateFilterDescriptor cudnnSetFilterNdDescriptor cudnnDestroyFilterDescriptor;
    cudnnCreateActivationDescriptor cudnnSetActivationDescriptor cudnnDestroyActivationDescriptor;
}

/// Calls whose results stay on the device.
macro_rules! executions {
    ($($name:ident)*) => { forward! {$(
        extern fn $name(handle: *mut c_void) = {
            stubs::note(stringify!($name).as_bytes());
            if find(handle).is_some() { SUCCESS } else { BAD_PARAM }
        };
    )*}};
}

executions! {
    cudnnBatchNormalizationForwardInference cudnnBatchNormalizationForwardTrainingEx cudnnBatchNormalizationBackwardEx
}

/// The workspace that the real library would request is unknown. Nothing is computed, so none is needed.
fn no_room(size: *mut usize) -> Status {
    if size.is_null() {
        return BAD_PARAM;
    }
    // SAFETY: the caller's variable.
    unsafe { *size = 0 };
    SUCCESS
}

forward! {
    extern fn cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
        _handle: *mut c_void, _mode: c_int, _ops: c_int, _x: *mut c_void, _z: *mut c_void, _y: *mut c_void, _scale: *mut c_void,
        _activation: *mut c_void, size: *mut usize
    ) = no_room(size);
    extern fn cudnnGetBatchNormalizationBackwardExWorkspaceSize(
        _handle: *mut c_void, _mode: c_int, _ops: c_int, _x: *mut c_void, _y: *mut c_void, _dy: *mut c_void, _dz: *mut c_void, _dx:
        *mut c_void, _scale: *mut c_void, _activation: *mut c_void, size: *mut usize
    ) = no_room(size);
    extern fn cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
        _handle: *mut c_void, _mode: c_int, _ops: c_int, _activation: *mut c_void, _x: *mut c_void, size: *mut usize
    ) = no_room(size);
}

fn text(status: Status) -> &'static CStr {
    match status {
        SUCCESS => c"CUDNN_STATUS_SUCCESS",
        BAD_PARAM => c"CUDNN_STATUS_BAD_PARAM",
        NOT_SUPPORTED => c"CUDNN_STATUS_NOT_SUPPORTED",
        ALLOC_FAILED => c"CUDNN_STATUS_ALLOC_FAILED",
        _ => c"CUDNN_STATUS_INTERNAL_ERROR",
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetErrorString(status: Status) -> *const c_char {
    text(status).as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnGetLastErrorString(to: *mut c_char, size: usize) {
    if !to.is_null() && size > 0 {
        // SAFETY: the caller gave `size` bytes.
        unsafe { *to = 0 };
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetVersion() -> usize {
    VERSION
}

#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetCudartVersion() -> usize {
    CUDART
}
