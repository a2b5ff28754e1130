//! Contexts: one per device, the primary one. The handle of a context is the address of its device's entry in a list.

use crate::device::{by_number, select};
use crate::error::{INVALID_DEVICE, INVALID_VALUE, SUCCESS, Status};
use crate::world::thread;
use core::ffi::{c_int, c_uint, c_void};

const INVALID_CONTEXT: Status = 201;
/// Larger than any number of devices.
static PLACES: [u64; 64] = [0; 64];

fn of(number: usize) -> *mut c_void {
    PLACES.get(number).map_or(core::ptr::null_mut(), |place| core::ptr::from_ref(place).cast_mut().cast())
}

fn number(context: *mut c_void) -> Option<c_int> {
    let place = (context as usize).checked_sub(PLACES.as_ptr() as usize)? / size_of::<u64>();
    let known = by_number(place as c_int).is_some() && of(place) == context;
    known.then_some(place as c_int)
}

fn put<T>(to: *mut T, value: T) -> Status {
    if to.is_null() {
        return INVALID_VALUE;
    }
    // SAFETY: the caller's variable.
    unsafe { to.write(value) };
    SUCCESS
}

fn enter(context: *mut c_void) -> Status {
    match number(context) {
        Some(number) => select(number),
        None if context.is_null() => SUCCESS,
        None => INVALID_CONTEXT,
    }
}

fn primary(to: *mut *mut c_void, device: c_int) -> Status {
    if by_number(device).is_some() { put(to, of(device as usize)) } else { INVALID_DEVICE }
}

forward! {
    extern fn cuDevicePrimaryCtxRetain(to: *mut *mut c_void, device: c_int) = primary(to, device);
    extern fn cuDevicePrimaryCtxRelease_v2(_device: c_int) = SUCCESS;
    extern fn cuDevicePrimaryCtxReset_v2(_device: c_int) = SUCCESS;
    extern fn cuDevicePrimaryCtxSetFlags_v2(_device: c_int, _flags: c_uint) = SUCCESS;
    extern fn cuDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int) = {
        if by_number(device).is_none() {
            INVALID_DEVICE
        } else {
            put(flags, 0);
            put(active, 1)
        }
    };
    extern fn cuCtxGetCurrent(to: *mut *mut c_void) = put(to, of(thread().device as usize));
    extern fn cuCtxSetCurrent(context: *mut c_void) = enter(context);
    extern fn cuCtxPushCurrent_v2(context: *mut c_void) = enter(context);
    extern fn cuCtxPopCurrent_v2(to: *mut *mut c_void) = {
        if to.is_null() { SUCCESS } else { put(to, of(thread().device as usize)) }
    };
    extern fn cuCtxGetDevice(to: *mut c_int) = put(to, thread().device as c_int);
    extern fn cuCtxGetFlags(to: *mut c_uint) = put(to, 0);
    extern fn cuCtxGetApiVersion(_context: *mut c_void, to: *mut c_uint) = put(to, 3020);
    extern fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int)
        = crate::device::cudaDeviceGetStreamPriorityRange(least, greatest);
    extern fn cuCtxSynchronize() = SUCCESS;
    extern fn cuCtxSetLimit(_limit: c_uint, _value: usize) = SUCCESS;
    extern fn cuCtxCreate_v2(to: *mut *mut c_void, _flags: c_uint, device: c_int) = made(to, device);
    extern fn cuCtxCreate_v4(to: *mut *mut c_void, _params: *mut c_void, _flags: c_uint, device: c_int) = made(to, device);
    extern fn cuCtxDestroy_v2(_context: *mut c_void) = SUCCESS;
}

/// A new context becomes the current one.
fn made(to: *mut *mut c_void, device: c_int) -> Status {
    let status = primary(to, device);
    if status == SUCCESS { select(device) } else { status }
}
